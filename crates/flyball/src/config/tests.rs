//! Layers, origins and messages, without touching the user's files or environment.

use std::fs;

use flyball_core::policy::{OnBlocked, OnStuck};

use super::*;
use crate::error::ErrorKind;
use crate::terminal::{Paint, error_text};

/// A configuration made of texts.
#[derive(Default)]
struct Given {
    user: &'static str,
    project: &'static str,
    environment: &'static [(&'static str, &'static str)],
    overrides: Vec<Override>,
    profile: Option<&'static str>,
}

impl Given {
    fn project(project: &'static str) -> Self {
        Self { project, ..Self::default() }
    }

    fn env(environment: &'static [(&'static str, &'static str)]) -> Self {
        Self { environment, ..Self::default() }
    }

    fn load(self) -> Result<Config, CliError> {
        let folder = tempfile::tempdir().unwrap();
        let user_file = folder.path().join("user.toml");
        fs::write(&user_file, self.user).unwrap();
        fs::write(folder.path().join(FILE_NAME), self.project).unwrap();
        let environment =
            self.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let sources = Sources {
            root: folder.path().to_owned(),
            project_file: None,
            is_record: false,
            user_file: Some(user_file),
            environment,
            overrides: self.overrides,
            profile: self.profile.map(str::to_owned),
        };
        sources.load()
    }

    fn config(self) -> Config {
        self.load().unwrap_or_else(|error| panic!("{}", error_text(&error, Paint::OFF)))
    }

    fn error(self) -> String {
        let error = self.load().expect_err("should be refused");
        assert_eq!(error.kind, ErrorKind::Config, "{error}");
        error_text(&error, Paint::OFF)
    }
}

fn origin(config: &Config, key: &str) -> String {
    let text = config.origin(key).unwrap().to_string();
    match text.split_once("user.toml") {
        Some((_, rest)) => format!("user.toml{rest}"),
        None => text,
    }
}

#[test]
fn the_embedded_defaults_are_the_policy_s_defaults() {
    let config = Given::default().config();
    assert_eq!(config.policy.clone().into_rules(), Policy::default().into_rules());
    assert_eq!(config.preset, Preset::Recommended);
    let three = config.policy.tasks.clone().with_preset(config.preset);
    assert_eq!(three, config.policy.tasks);
    assert_eq!(config.loop_dir, Path::new(".flyball"));
    assert_eq!(config.tasks_file, Path::new("tasks.json"));
    assert_eq!(config.agent.command, None);
    assert_eq!(config.agent.output, None);
    assert_eq!(config.gates, GateSettings { checks: Vec::new(), parallel: false });
}

#[test]
fn every_setting_with_a_fixed_name_has_a_default_and_every_choice_can_be_read() {
    let config = Given::default().config();
    for setting in schema::SETTINGS.iter().filter(|setting| !setting.key.contains('*')) {
        let is_read = setting.reader != Reader::Nobody;
        assert_eq!(config.origin(setting.key).is_some(), is_read, "{}", setting.key);
        let schema::Kind::Choice(words) = setting.kind else { continue };
        for word in words {
            let overrides = vec![Override {
                key: setting.key,
                value: Value::Text((*word).to_owned()),
                flag: "--test",
            }];
            Given { overrides, ..Given::default() }.config();
        }
    }
}

#[test]
fn every_line_of_the_defaults_is_explained() {
    let unexplained: Vec<&str> = DEFAULT_TOML
        .lines()
        .filter(|line| line.contains(" = ") && !line.starts_with('#') && !line.contains('#'))
        .filter(|line| !line.starts_with("iterations.on_"))
        .filter(|line| *line != "check = []")
        .collect();
    assert_eq!(unexplained, [""; 0]);
}

#[test]
fn a_later_layer_wins_and_says_so() {
    let flag = Override { key: "limits.stuck", value: Value::Number(9), flag: "--max-stuck" };
    let config = Given {
        user: "[limits]\nstuck = 4\ntokens = 10\niterations = 20\nruntime = \"1h30m\"",
        project: "[limits]\nstuck = 5\ntokens = 11\n\niterations = 21",
        environment: &[("FLYBALL_LIMITS__STUCK", "6"), ("FLYBALL_LIMITS__TOKENS", "12")],
        overrides: vec![flag],
        profile: None,
    }
    .config();
    let limits = &config.policy.limits;
    assert_eq!((limits.stuck, limits.tokens, limits.iterations), (9, 12, 21));
    assert_eq!(limits.runtime, Millis::from_secs(5400));
    let cases = [
        ("limits.stuck", "--max-stuck"),
        ("limits.tokens", "FLYBALL_LIMITS__TOKENS"),
        ("limits.iterations", "flyball.toml:5"),
        ("limits.runtime", "user.toml:5"),
        ("limits.wait", "default"),
    ];
    for (key, expected) in cases {
        assert_eq!(origin(&config, key), expected, "{key}");
    }
}

#[test]
fn arrays_replace_and_tables_merge() {
    let config = Given {
        user: "[agent.env]\nA = \"1\"\nB = \"1\"\n[calls]\nfree_text = [\"a\"]",
        project: "[agent.env]\nB = \"2\"\n[calls]\nfree_text = [\"b\"]",
        ..Given::default()
    }
    .config();
    assert_eq!(config.policy.calls.free_text, ["b"]);
    let env: Vec<_> = config.agent.env.into_iter().collect();
    assert_eq!(env, [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())]);
}

#[test]
fn a_setting_that_does_nothing_any_more_is_read_with_a_warning() {
    assert!(Given::default().config().warnings().is_empty());
    let config = Given::project("[calls]\npolling = [\"wait\"]").config();
    let [warning] = config.warnings().try_into().unwrap();
    assert!(
        warning.starts_with("`calls.polling` (flyball.toml:2) does nothing any more"),
        "{warning}"
    );
    assert!(Given::project("[calls]\npolling = 3").load().is_err());
}

#[test]
fn an_unknown_setting_is_shown_with_its_place_and_a_suggestion() {
    let cases = [
        (
            "[limits]\nstuk = 5\n",
            "error: flyball.toml:2:1: unknown setting `limits.stuk`\n  2 | stuk = 5\n    | ^^^^\n  \
             hint: did you mean `limits.stuck`?\n",
        ),
        (
            "[limit]\nstuck = 5\n",
            "error: flyball.toml:1:2: unknown setting `limit`\n  1 | [limit]\n    |  ^^^^^\n  \
             hint: did you mean `limits`?\n",
        ),
        (
            "[limits]\ncircuit_breaker = 5\n",
            "error: flyball.toml:2:1: unknown setting `limits.circuit_breaker`\n  \
             2 | circuit_breaker = 5\n    | ^^^^^^^^^^^^^^^\n  \
             hint: did you mean `iterations.circuit_breaker`?\n",
        ),
        (
            "[review]\nzzzzzzz = 1\n",
            "error: flyball.toml:2:1: unknown setting `review.zzzzzzz`\n  2 | zzzzzzz = 1\n    | \
             ^^^^^^^\n  hint: known here: enabled, cap\n",
        ),
        (
            "[[gates.check]]\nname = \"t\"\ncomand = \"x\"\n",
            "error: flyball.toml:3:1: unknown setting `gates.check.comand`\n  3 | comand = \"x\"\n    \
             | ^^^^^^\n  hint: did you mean `command`?\n",
        ),
        (
            "[profile.night]\nlimits.stuk = 5\n",
            "error: flyball.toml:2:8: unknown setting `limits.stuk`\n  2 | limits.stuk = 5\n    |        \
             ^^^^\n  hint: did you mean `limits.stuck`?\n",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(Given::project(text).error(), expected);
    }
}

#[test]
fn a_gate_s_folder_is_the_root_when_it_is_empty() {
    let text = "[[gates.check]]\nname = \"t\"\ncommand = \"x\"\ncwd = \"\"\n";
    assert_eq!(Given::project(text).config().gates.checks[0].cwd, "");
}

#[test]
fn a_wrong_value_says_what_is_expected_and_where() {
    let cases = [
        ("[limits]\nstuck = \"five\"", "2:9: `limits.stuck` must be a whole number from 0 to"),
        ("[limits]\nstuck = -1", "not -1"),
        (
            "[[gates.check]]\nname = \"t\"\ncommand = \"x\"\npaths = [\"src\", \"../x\"]",
            "4:9: `gates.check.paths`: `../x` must be a relative path that stays inside",
        ),
        (
            "[[gates.check]]\nname = \"t\"\ncommand = \"x\"\ncwd = \"../x\"",
            "4:7: `gates.check.cwd` must be a relative path that stays inside",
        ),
        ("[limits]\nstuck = 4294967296", "not 4294967296"),
        ("[limits]\nruntime = 90", "`limits.runtime` must be a duration such as \"90s\""),
        ("[limits]\nruntime = \"90\"", "not \"90\""),
        (
            "[limits]\ncost_usd = \"much\"",
            "a sum in US dollars such as 5 or \"5.00\", not \"much\"",
        ),
        ("[limits]\ncost_usd = -1.5", "not -1.5"),
        ("[review]\nenabled = 1", "`review.enabled` must be true or false, not 1"),
        ("[gates]\nbaseline = \"blok\"", "hint: did you mean `block`?"),
        ("[gates]\ncheck = [1]", "an array of tables, [[gates.check]]"),
        ("[agent]\nwrapper = \"docker\"", "`agent.wrapper` must be an array of strings"),
        ("[agent]\nname = \"\"", "`agent.name` must be a string that is not empty"),
        ("[loop]\ndir = \"../x\"", "`loop.dir` must be a relative path that stays inside"),
        ("[loop]\ndir = \"/x\"", "`loop.dir` must be a relative path that stays inside"),
        ("[notify]\nwebhook = \"ftp://x\"", "an http:// or https:// address"),
        ("limits = 3", "`limits` is a section, not a setting"),
        ("[limits\n", "flyball.toml:1:8: "),
        ("[[gates.check]]\nname = \"t\"", "a gate needs a `command`"),
        ("[[gates.check]]\ncommand = \"t\"", "a gate needs a `name`"),
        ("[[gates.check]]\nname = \"t\"\ncommand = []", "must not be empty or 0"),
        (
            "[[gates.check]]\nname = \"t\"\ncommand = \"x\"\nneeds = [\"b\"]",
            "4:9: gate `t` needs `b`, and there is no such gate",
        ),
        (
            "[[gates.check]]\nname = \"t\"\ncommand = \"x\"\n[[gates.check]]\nname = \"t\"\ncommand = \"y\"",
            "5:8: two gates are called `t`",
        ),
        (
            "[[gates.check]]\nname = \"t\"\ncommand = \"x\"\nneeds = [\"t\"]",
            "gates wait for each other: `t`",
        ),
    ];
    for (text, expected) in cases {
        let error = Given::project(text).error();
        assert!(error.contains(expected), "{error} should hold {expected}");
        assert!(error.starts_with("error: flyball.toml:"), "{error}");
    }
}

#[test]
fn a_senseless_value_names_the_setting_and_who_set_it() {
    assert_eq!(
        Given::project("[limits]\nstuck = 0").error(),
        "error: `limits.stuck` must be at least 1, not 0\n  \
         caused by: `limits.stuck = 0` comes from flyball.toml:2\n"
    );
    assert_eq!(
        Given::project("[log]\nmax_bytes = 0").error(),
        "error: `log.max_bytes` must be more than 0\n  \
         caused by: `log.max_bytes = 0` comes from flyball.toml:2\n"
    );
    assert_eq!(
        Given::env(&[("FLYBALL_MAX_REPETITIONS", "1")]).error(),
        "error: `calls.refuse_after` (1) must not be below `calls.nudge_after` (2)\n  \
         caused by: `calls.refuse_after = 1` comes from FLYBALL_MAX_REPETITIONS\n  \
         caused by: `calls.nudge_after = 2` comes from default\n"
    );
}

#[test]
fn the_short_environment_names_reach_their_settings() {
    let config = Given::env(&[
        ("FLYBALL_MAX_RUNTIME_HOURS", "0.5"),
        ("FLYBALL_MAX_REPETITIONS", "7"),
        ("FLYBALL_MAX_VALIDATION_FAILURES", "8"),
        ("FLYBALL_LARGE_RESPONSE_THRESHOLD", "5000"),
        ("FLYBALL_QUALITY_BACKPRESSURE", "false"),
    ])
    .config();
    assert_eq!(config.policy.limits.runtime, Millis::from_secs(1800));
    assert_eq!(config.policy.calls.refuse_after, 7);
    assert_eq!(config.policy.calls.max_validation_failures, 8);
    assert_eq!(config.policy.calls.large_response, 5000);
    assert!(!config.policy.gates.backpressure);
    for (alias, key) in ALIASES {
        assert_eq!(origin(&config, key), alias);
    }
}

#[test]
fn the_long_environment_name_outranks_the_short_one_in_any_order() {
    const ONE: (&str, &str) = ("FLYBALL_MAX_REPETITIONS", "7");
    const OTHER: (&str, &str) = ("FLYBALL_CALLS__REFUSE_AFTER", "8");
    for environment in [&[ONE, OTHER], &[OTHER, ONE]] {
        let given = Given { environment, ..Given::default() };
        assert_eq!(given.config().policy.calls.refuse_after, 8);
    }
}

#[test]
fn unknown_and_empty_variables_are_no_settings() {
    let config = Given::env(&[
        ("FLYBALL_RUN", "r1"),
        ("FLYBALL_DIR", "/x"),
        ("FLYBALL_LIMITS__STUK", "x"),
        ("FLYBALL_LIMITS", "x"),
        ("FLYBALL_LIMITS__STUCK", ""),
        ("OTHER", "x"),
    ])
    .config();
    assert_eq!(config.policy, Policy::default());
}

#[test]
fn a_wrong_value_of_a_known_variable_names_the_variable() {
    let cases: [&'static [(&str, &str)]; 5] = [
        &[("FLYBALL_LIMITS__STUCK", "five")],
        &[("FLYBALL_MAX_RUNTIME_HOURS", "-1")],
        &[("FLYBALL_QUALITY_BACKPRESSURE", "maybe")],
        &[("FLYBALL_AGENT__WRAPPER", "docker")],
        &[("FLYBALL_AGENT__COMMAND", "[1]")],
    ];
    for environment in cases {
        let error = Given::env(environment).error();
        assert!(error.contains(environment[0].0), "{error}");
        assert!(error.contains("must be"), "{error}");
    }
}

#[test]
fn lists_in_the_environment_are_written_as_in_the_file() {
    let config = Given::env(&[
        ("FLYBALL_AGENT__COMMAND", r#"["bash", "a.sh"]"#),
        ("FLYBALL_GATES__CHECK", r#"[{ name = "lint", command = "make lint" }]"#),
    ])
    .config();
    assert_eq!(config.agent.command.unwrap().argv(), ["bash", "a.sh"]);
    assert_eq!(config.gates.checks[0].timeout, Millis::from_secs(120));
}

#[test]
fn a_profile_adds_to_the_built_in_one_and_is_outranked_by_the_environment() {
    let project =
        "[profile.overnight]\nlimits.iterations = 100\n[profile.overnight.limits]\nstuck = 6\n";
    let config = Given {
        project: "[profile.overnight]\nlimits.iterations = 100\nlimits.stuck = 6",
        profile: Some("overnight"),
        environment: &[("FLYBALL_LIMITS__STUCK", "7")],
        ..Given::default()
    }
    .config();
    assert_eq!(config.policy.iterations.on_stuck, OnStuck::Next);
    assert_eq!(config.policy.iterations.on_blocked, OnBlocked::Next);
    assert_eq!((config.policy.limits.iterations, config.policy.limits.stuck), (100, 7));
    assert_eq!(origin(&config, "iterations.on_stuck"), "profile overnight (default)");
    assert_eq!(origin(&config, "limits.iterations"), "profile overnight (flyball.toml:2)");
    assert!(Given::project(project).load().is_err(), "TOML forbids defining a table twice");
}

#[test]
fn a_profile_that_was_not_chosen_changes_nothing() {
    let given = Given::project(
        "[profile.fast.limits]\nstuck = 9\n[profile.fast.tasks]\npreset = \"aggressive\"",
    );
    assert_eq!(given.config().policy, Policy::default());
}

#[test]
fn an_unknown_profile_lists_the_known_ones() {
    let given = Given { profile: Some("overnite"), ..Given::project("[profile.fast]") };
    assert_eq!(
        given.error(),
        "error: there is no profile `overnite`\n  hint: known profiles: fast, overnight\n  \
         hint: did you mean `overnight`?\n"
    );
}

#[test]
fn a_preset_sets_three_values_unless_its_layer_or_a_higher_one_does() {
    let tasks = |given: Given| {
        let tasks = given.config().policy.tasks.clone();
        (tasks.max_attempts, tasks.max_attempts_before_force_next, tasks.auto_unblock)
    };
    let conservative = "[tasks]\npreset = \"conservative\"";
    assert_eq!(tasks(Given::project(conservative)), (5, 8, false));
    let own = "[tasks]\npreset = \"conservative\"\nmax_attempts = 4";
    assert_eq!(tasks(Given::project(own)), (4, 8, false));
    let higher = Given { user: conservative, ..Given::project("[tasks]\nauto_unblock = true") };
    assert_eq!(tasks(higher), (5, 8, true));
    let lower = Given { user: "[tasks]\nmax_attempts = 4", ..Given::project(conservative) };
    assert_eq!(tasks(lower), (5, 8, false));
    let environment = &[("FLYBALL_TASKS__PRESET", "aggressive")];
    assert_eq!(tasks(Given { environment, ..Given::project(conservative) }), (2, 3, true));
    let config = Given::project(conservative).config();
    assert_eq!(origin(&config, "tasks.max_attempts"), "flyball.toml:2 (by `tasks.preset`)");
}

#[test]
fn a_command_names_its_agent_and_another_agent_does_away_with_the_command() {
    let project = "[agent]\ncommand = [\"bash\", \"agent.sh\"]\noutput = \"flyball\"";
    let config = Given::project(project).config();
    assert_eq!(config.agent.name, "bash");
    assert_eq!(config.agent.output, Some(OutputFormat::Client("flyball")));
    let flag =
        |key, value: &str, flag| Override { key, value: Value::Text(value.to_owned()), flag };
    let overrides = vec![flag("agent.name", "codex", "--agent")];
    let config = Given { overrides, ..Given::project(project) }.config();
    assert_eq!((config.agent.name.as_str(), config.agent.command), ("codex", None));
    assert_eq!(config.agent.output, None);
    let overrides = vec![flag("agent.name", "bash", "--agent")];
    let config = Given { overrides, ..Given::project(project) }.config();
    assert!(config.agent.command.is_some(), "the same name changes nothing");
    let overrides = vec![flag("agent.name", "codex", "--agent")];
    let environment = &[("FLYBALL_AGENT__MODEL", "m")];
    let config = Given { environment, overrides, ..Given::default() }.config();
    assert_eq!(config.agent.model.as_deref(), Some("m"), "only files are outdated by a new name");
}

#[test]
fn program_and_arguments_belong_to_the_agent_they_were_written_for() {
    let project = "[agent]\nname = \"claude\"\nprogram = \"/opt/c\"\nargs = [\"--debug\"]";
    let config = Given::project(project).config();
    assert_eq!(config.agent.program.as_deref(), Some("/opt/c"));
    assert_eq!(config.agent.args, ["--debug"]);
    let codex = Value::Text("codex".to_owned());
    let command = Value::Command(CommandLine::Argv(vec!["./agent.sh".to_owned()]));
    for (key, value, flag) in [("agent.name", codex, "--agent"), ("agent.command", command, "--")] {
        let overrides = vec![Override { key, value, flag }];
        let config = Given { overrides, ..Given::project(project) }.config();
        assert_eq!((config.agent.program, config.agent.args.len()), (None, 0), "{flag}");
    }
    let both = "[agent]\ncommand = [\"./agent.sh\"]\nargs = [\"--debug\"]";
    let error = Given::project(both).load().unwrap_err();
    assert!(error.to_string().contains("`agent.args` is for an agent that has no command"));
}

#[test]
fn prices_and_gates_are_typed() {
    let config = Given::project(
        "[prices.\"m-4.1\"]\ninput_usd_per_mtok = 3\noutput_usd_per_mtok = \"15.00\"\n\
         [[gates.check]]\nname = \"build\"\ncommand = \"make\"\nenabled = false\n\
         [[gates.check]]\nname = \"tests\"\ncommand = [\"make\", \"test\"]\ntimeout = \"90s\"\nneeds = [\"build\"]",
    )
    .config();
    let price = Price { input_usd_per_mtok: 3.0, output_usd_per_mtok: 15.0 };
    assert_eq!(config.prices["m-4.1"], price);
    let [build, tests] = &config.gates.checks[..] else { panic!("two gates") };
    assert_eq!((build.enabled, build.timeout), (false, Millis::from_secs(300)));
    assert_eq!(
        (tests.timeout, &tests.needs[..]),
        (Millis::from_secs(90), &["build".to_owned()][..])
    );
    assert_eq!(tests.command.argv(), ["make", "test"]);
}

#[test]
fn what_is_shown_can_be_read_back() {
    let project = "[agent]\nname = \"x y\"\ncommand = \"a 'b' \\\"c\\\"\"\n[agent.env]\n\"A.B\" = \"1\"\n\
         [prices.\"m-4.1\"]\ninput_usd_per_mtok = 3\noutput_usd_per_mtok = 0.25\n\
         [[gates.check]]\nname = \"t\"\ncommand = \"make\"\n[[gates.check]]\nname = \"u\"\ncommand = [\"x\"]\nneeds = [\"t\"]\nenabled = false\n";
    let config = Given::project(project).config();
    for detail in [Detail::Values, Detail::Origins] {
        let text: &'static str = config.to_toml(detail).leak();
        let again = Given::project(text).config();
        assert_eq!(again.to_json(Detail::Values), config.to_json(Detail::Values), "{text}");
        assert_eq!(again.policy, config.policy);
    }
}

#[test]
fn origins_are_shown_beside_the_values() {
    let config = Given::project("[limits]\nstuck = 5").config();
    let text = config.to_toml(Detail::Origins);
    assert!(
        text.contains("\nstuck = 5                                    # flyball.toml:2\n"),
        "{text}"
    );
    assert!(
        text.contains("\nruntime = \"4h\"                               # default\n"),
        "{text}"
    );
    let json = config.to_json(Detail::Origins);
    assert_eq!(json["limits.stuck"]["origin"], "flyball.toml:2");
    assert_eq!(config.to_json(Detail::Values)["limits"]["runtime"], "4h");
}

#[test]
fn a_named_config_file_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.toml");
    let error = Sources { project_file: Some(missing), ..Sources::default() }.load().unwrap_err();
    assert_eq!(error.kind, ErrorKind::NoInput);
}

#[test]
fn the_outline_of_the_contract_is_a_valid_file() {
    let config = Given::project(
        r#"
[agent]
name = "claude"
command = ["bash", "agent.sh"]
prompt = "stdin"
output = "text"
wrapper = []
[limits]
iterations = 15
stuck = 3
runtime = "4h"
tokens = 0
cost_usd = 0
iteration_timeout = "1h"
stall_after = "10m"
wait = "6h"
[iterations]
on_session_halt = "restart"
progress = "commit"
[tasks]
file = "tasks.json"
preset = "recommended"
force_next_marks = "set_aside"
[gates]
backpressure = true
baseline = "block"
on_tamper = "ask"
[[gates.check]]
name = "tests"
command = "cargo test"
timeout = "300s"
needs = []
[notify]
command = []
webhook = ""
[profile.overnight]
iterations.on_stuck = "next"
iterations.on_blocked = "next"
"#,
    )
    .config();
    assert_eq!(config.policy, Policy::default());
    assert_eq!(config.agent.prompt, Some(PromptVia::Stdin));
    assert_eq!(
        (config.agent.name.as_str(), config.agent.output),
        ("claude", Some(OutputFormat::Text))
    );
}
