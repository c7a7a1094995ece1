//! The command line as it is and as it will be, checked by clap's own rules.

use clap::{CommandFactory, Parser, Subcommand};

use super::*;
use crate::config::{Override, Value};

/// Every command with arguments written down, working yet or not.
#[derive(Debug, Parser)]
#[command(name = "flyball")]
struct Whole {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Every,
}

#[derive(Debug, Subcommand)]
enum Every {
    Accept(accept::AcceptArgs),
    Answer(answer::AnswerArgs),
    Archive(archive::ArchiveArgs),
    Attach(attach::AttachArgs),
    Context(context::ContextArgs),
    Demo(demo::DemoArgs),
    Doctor(doctor::DoctorArgs),
    Drop(drop::DropArgs),
    Gate(gate::GateArgs),
    Land(land::LandArgs),
    Limits(limits::LimitsArgs),
    Log(log::LogArgs),
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpArgs),
    #[cfg(feature = "mcp")]
    McpGuard(mcp_guard::McpGuardArgs),
    Plan(plan::PlanArgs),
    Prune(prune::PruneArgs),
    Report(report::ReportArgs),
    Restore(restore::RestoreArgs),
    Rewind(rewind::RewindArgs),
    Run(Box<run::RunArgs>),
    Stats(stats::StatsArgs),
    Status(status::StatusArgs),
    Stop(stop::StopArgs),
    Tasks(tasks::TasksArgs),
    Tell(tell::TellArgs),
    Unblock(unblock::UnblockArgs),
}

fn parse(line: &str) -> Result<Whole, clap::Error> {
    Whole::try_parse_from(line.split_whitespace())
}

fn run_args(line: &str) -> run::RunArgs {
    let Every::Run(args) = parse(&format!("flyball run {line}")).unwrap().command else {
        panic!("{line} is a run")
    };
    *args
}

#[test]
fn the_command_lines_are_well_formed() {
    Cli::command().debug_assert();
    Whole::command().debug_assert();
}

#[test]
fn commands_of_a_feature_are_there_with_it_and_only_with_it() {
    let whole = Cli::command();
    for name in ["mcp", "mcp-guard"] {
        assert_eq!(whole.find_subcommand(name).is_some(), cfg!(feature = "mcp"), "{name}");
    }
}

#[test]
fn no_command_has_a_flag_with_the_id_of_a_global_one() {
    for whole in [Cli::command(), Whole::command()] {
        let globals: Vec<_> = whole.get_arguments().map(clap::Arg::get_id).collect();
        assert!(globals.len() >= 3);
        for command in whole.get_subcommands() {
            let mixed = command.get_arguments().find(|own| globals.contains(&own.get_id()));
            assert!(mixed.is_none(), "{} {mixed:?}", command.get_name());
        }
    }
}

#[test]
fn every_argument_has_a_help_text() {
    for whole in [Cli::command(), Whole::command()] {
        for command in whole.get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {argument}", command.get_name());
            }
        }
    }
}

#[test]
fn command_lines_of_the_contract_are_understood() {
    let lines = [
        "flyball -C x --config y.toml --color never run --once",
        "flyball run --max-iterations 3 --max-stuck 2 --max-runtime 1h30m --max-cost 5.00 --max-tokens 9",
        "flyball run --agent codex --model m --skip-review --review-cap 2 --resume latest",
        "flyball run --profile overnight --trust-claims --format json --dry-run -- bash agent.sh -x",
        "flyball run --max-iterations 3 fix --max-stuck 2 -- sh agent.sh",
        "flyball run --file - --once",
        "flyball run - --dry-run",
        "flyball demo --keep",
        "flyball status --watch --json",
        "flyball log R --iteration 7 --json",
        "flyball answer yes",
        "flyball unblock",
        "flyball stop R --no-wait",
        "flyball gate tests lint --no-cache --format github",
        "flyball gate --json",
        "flyball tasks retry US-1",
        "flyball tasks add title --criterion c --criterion d --after US-1 --priority 2",
        "flyball tasks edit US-1",
        "flyball tasks drop US-1 --force",
        "flyball plan text --add --agent codex --model m --json",
        "flyball plan --file - --replace -- sh agent.sh",
        "flyball tasks",
        "flyball context --topic loop_recovery",
        "flyball accept tamper",
        "flyball accept tamper --run r --json",
        "flyball restore tamper --run r --force --json",
        "flyball rewind R 3 --branch b",
        "flyball rewind R 0 --worktree p",
        "flyball archive --label L --include-logs",
        "flyball prune --older-than 2d",
        "flyball doctor --json",
        #[cfg(feature = "mcp")]
        "flyball mcp --http 127.0.0.1:8790",
        #[cfg(feature = "mcp")]
        "flyball mcp-guard --nudge-after 2 --refuse-after 4 --polling wait -- npx server --flag",
    ];
    for line in lines {
        parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

#[test]
fn command_lines_that_make_no_sense_are_refused() {
    let lines = [
        "flyball run --once --max-iterations 3",
        "flyball run --max-runtime 5",
        "flyball run --max-cost -1",
        "flyball run --max-cost nan",
        "flyball run --max-iterations many",
        "flyball run one two",
        "flyball run text --file f",
        "flyball run text --resume r",
        "flyball gate --json --format text",
        "flyball accept everything",
        "flyball rewind R",
        "flyball rewind R 3 --branch b --worktree p",
        "flyball tasks --json retry US-1",
        "flyball tasks add",
        "flyball plan --add --replace",
        "flyball plan one --file two",
        "flyball mcp-guard",
        "flyball mcp-guard npx",
    ];
    for line in lines {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn flags_of_run_stand_for_settings() {
    let given = |key, value, flag| Override { key, value, flag };
    let args = run_args("--max-iterations 3 --max-runtime 90m --max-cost 5 --skip-review");
    assert_eq!(
        args.overrides(),
        [
            given("limits.iterations", Value::Number(3), "--max-iterations"),
            given(
                "limits.runtime",
                Value::Duration(flyball_core::Millis::from_secs(5400)),
                "--max-runtime"
            ),
            given("limits.cost_usd", Value::Money(5.0), "--max-cost"),
            given("review.enabled", Value::Flag(false), "--skip-review"),
        ]
    );
    assert_eq!(run_args("").overrides(), []);
    let once = run_args("--once --trust-claims").overrides();
    assert_eq!(once[0], given("limits.iterations", Value::Number(1), "--once"));
    assert_eq!(once[1].key, "iterations.trust_claims");
}

#[test]
fn every_flag_of_run_names_a_setting_that_exists() {
    let line = "--max-iterations 3 --max-stuck 2 --max-runtime 1h --max-cost 5 --max-tokens 9 \
                --agent a --model m --skip-review --review-cap 2 --trust-claims -- x y";
    let overrides = run_args(line).overrides();
    assert_eq!(overrides.len(), 11);
    let sources = crate::config::Sources { overrides, ..crate::config::Sources::default() };
    let config = sources.load().unwrap();
    assert_eq!(config.agent.command.unwrap().argv(), ["x", "y"]);
    assert_eq!(config.agent.name, "a");
    assert_eq!(config.policy.limits.tokens, 9);
    assert!(!config.policy.review.enabled);
}

#[test]
fn resume_without_a_run_means_the_latest() {
    assert_eq!(run_args("--resume").resume.as_deref(), Some("latest"));
    assert_eq!(run_args("--resume R7").resume.as_deref(), Some("R7"));
    assert_eq!(run_args("--resume -- x").resume.as_deref(), Some("latest"));
    assert_eq!(run_args("").resume, None);
}

#[test]
fn help_starts_with_what_a_command_does() {
    let mut whole = Whole::command();
    let help = whole.find_subcommand_mut("run").unwrap().render_long_help().to_string();
    assert!(help.starts_with("Run the agent until the work is verifiably done\n"), "{help}");
    assert!(help.contains("--max-stuck <N>"), "{help}");
}
