//! How often people's own commits look like weakened checks (B10).
//!
//! `cargo run --release -p flyball --example honest_history -- REPOSITORY COMMITS [GATE…]` compares
//! each of the newest commits that have one parent with it, as a run compares its start with its end,
//! and prints every finding with its commit, then counts. Gates are command lines; without any, those
//! that flyball finds in the worktree as it stands.
#![expect(clippy::print_stdout, reason = "figures are for reading")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};

use flyball::config::{CommandLine, Sources};
use flyball::gate::{Gate, GatePlan, tamper};
use flyball::process::serve_keeper_if_asked;
use flyball::worktree::Worktree;
use flyball_core::Millis;
use flyball_core::gate::Weight;

type Done<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Done<ExitCode> {
    if let Some(code) = serve_keeper_if_asked() {
        return Ok(code);
    }
    let mut words = std::env::args().skip(1);
    let (Some(root), Some(count)) = (words.next(), words.next()) else {
        return Err("which repository, and how many commits?".into());
    };
    let root = Path::new(&root);
    let gates: Vec<Gate> = words
        .enumerate()
        .map(|(number, line)| {
            let command = CommandLine::Shell(line);
            Gate::new(format!("gate-{number}"), command, Millis::from_secs(600))
        })
        .collect();
    let plan = if gates.is_empty() {
        GatePlan::resolve(&Sources::default().load()?, root, &[])?
    } else {
        GatePlan::of(gates)?
    };
    let commands = plan.gates().iter().map(|gate| gate.command.to_string());
    println!("gates: {}", commands.collect::<Vec<_>>().join(" · "));
    let worktree = Worktree::open(root)?;
    let commits =
        git(root, &["log", "--no-merges", "--min-parents=1", "--format=%H", "-n", &count])?;
    let (mut all, mut firm, mut soft) = (0_u32, 0_u32, 0_u32);
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    for commit in commits.lines() {
        let trees = git(
            root,
            &["rev-parse", &format!("{commit}^^{{tree}}"), &format!("{commit}^{{tree}}")],
        )?;
        let Some((before, after)) = trees.trim().split_once('\n') else { continue };
        let found = tamper(&worktree, (before, after), &plan, &plan)?;
        all += 1;
        if found.iter().any(|finding| finding.weight == Weight::Firm) {
            firm += 1;
        } else if found
            .iter()
            .any(|finding| matches!(finding.weight, Weight::UnlessAllRun | Weight::UnlessAlone))
        {
            soft += 1;
        }
        for finding in found {
            let weight = match finding.weight {
                Weight::Firm => "firm",
                Weight::UnlessAllRun => "unless all run",
                Weight::UnlessAlone => "unless alone",
                // Only tests that were red count, and nobody ran them here.
                Weight::IfRedFirst | Weight::TakenIn => continue,
            };
            let place = finding.finding.file.as_deref().unwrap_or("-");
            let line = finding.finding.line.map_or_else(String::new, |line| format!(":{line}"));
            let short = commit.get(..10).unwrap_or(commit);
            println!("{short} {weight} | {place}{line} | {}", finding.finding.message);
            *kinds.entry(format!("{weight} | {}", kind(&finding.finding.message))).or_default() +=
                1;
        }
    }
    println!(
        "\n{all} commits: {firm} with a finding that stands, {soft} with one that the gates may clear"
    );
    for (kind, count) in kinds {
        println!("{count:5} {kind}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The words of a finding without the names in them.
fn kind(message: &str) -> String {
    message.split('`').step_by(2).collect::<Vec<_>>().join("…")
}

fn git(root: &Path, args: &[&str]) -> Done<String> {
    let output = Command::new("git").arg("-C").arg(root).args(args).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
