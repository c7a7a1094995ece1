//! Figures of `flyball hook`, end to end: from the start of the process to its end, with the run's door
//! and without a run, beside `flyball --version` and the same hook as a node script, in the same run.
//!
//! The measuring is done by the agent of a real `flyball run`: this program, started by it.
//!
//! `cargo build --release -p flyball && cargo run --release -p flyball --example hook_latency`

#![expect(clippy::print_stdout, reason = "figures are printed")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use flyball::journal::{Journal, RunFilter};
use flyball_core::door::Matter;
use flyball_core::{AgentFact, Event};
use serde_json::json;

const ROUNDS: u64 = 400;
const AT_ONCE: u64 = 50;
/// How often many hooks are asked at once.
const WAVES: u64 = 10;
/// Where the agent writes what it measured.
const FIGURES: &str = "HOOK_LATENCY_FIGURES";

const NODE: &str = r#"
const fs = require("node:fs")
const input = JSON.parse(fs.readFileSync(0, "utf8"))
const place = process.argv[2] + "/state.json"
let state = { calls: 0 }
try { state = JSON.parse(fs.readFileSync(place, "utf8")) } catch {}
state.calls += 1
fs.writeFileSync(place + ".tmp" + process.pid, JSON.stringify(state))
fs.renameSync(place + ".tmp" + process.pid, place)
fs.appendFileSync(process.argv[2] + "/trail.jsonl", JSON.stringify(input) + "\n")
"#;

type Failed = Box<dyn Error + Send + Sync>;

/// How a program is started.
#[derive(Clone)]
struct Hook {
    argv: Vec<String>,
    /// Whether it is told of the run.
    inside: bool,
    dir: PathBuf,
}

fn main() -> Result<(), Failed> {
    match std::env::var_os(FIGURES) {
        Some(figures) => fs::write(figures, measure()?)?,
        None => run()?,
    }
    Ok(())
}

fn flyball() -> Result<PathBuf, Failed> {
    Ok(std::env::current_exe()?.with_file_name("../flyball").canonicalize()?)
}

/// A run in a repository of its own, whose agent is this program.
fn run() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (root, state) = (folder.path().join("repo"), folder.path().join("state"));
    let figures = folder.path().join("figures");
    fs::create_dir(&root)?;
    let own = std::env::current_exe()?;
    let config = format!(
        "[agent]\ncommand = [\"{}\"]\n[[gates.check]]\nname = \"tests\"\ncommand = \"true\"\n",
        own.display()
    );
    fs::write(root.join("flyball.toml"), config)?;
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"],
    ] {
        Command::new("git").args(arguments).current_dir(&root).status()?;
    }
    Command::new(flyball()?)
        .args(["run", "--once"])
        .current_dir(&root)
        .env("FLYBALL_STATE", &state)
        .env(FIGURES, &figures)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    print!("{}", fs::read_to_string(&figures)?);
    let journal = Journal::open(&state)?;
    let mut kept = 0_u64;
    for run in journal.runs(&RunFilter::default())? {
        for entry in journal.events(&run.run)? {
            if let Event::Agent { fact: AgentFact::Asked(question), .. } = entry?.event {
                kept += u64::from(matches!(question.matter, Matter::Call(_)));
            }
        }
    }
    println!("judged of the hooks in the run: {kept} of {}", ROUNDS + WAVES * AT_ONCE);
    Ok(())
}

/// The figures, as the agent of a run.
fn measure() -> Result<String, Failed> {
    let dir = tempfile::tempdir()?;
    let script = dir.path().join("hook.js");
    fs::write(&script, NODE)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let program = text(&flyball()?);
    let start = |argv: Vec<String>, inside| Hook { argv, inside, dir: dir.path().to_path_buf() };
    let hook = || vec![program.clone(), "hook".into(), "claude".into(), "PreToolUse".into()];
    let hooks = [
        ("flyball --version", start(vec![program.clone(), "--version".into()], true)),
        ("in a run", start(hook(), true)),
        ("in a session", start(hook(), false)),
        ("node script", start(vec!["node".into(), text(&script), text(dir.path())], true)),
        ("true", start(vec!["true".into()], true)),
    ];
    let mut figures = String::new();
    for (name, hook) in &hooks {
        let rounds = if *name == "node script" { ROUNDS / 8 } else { ROUNDS };
        let times = (0..rounds).map(|n| ask(hook, n)).collect::<Result<_, _>>()?;
        report(&mut figures, name, times)?;
    }
    for (name, hook) in &hooks {
        let (mut all, mut whole) = (Vec::new(), Vec::new());
        for wave in 0..WAVES {
            let times = at_once(hook, wave)?;
            whole.extend(times.iter().max().copied());
            all.extend(times);
        }
        report(&mut figures, &format!("{name}, {AT_ONCE} at once"), all)?;
        report(&mut figures, "  the slowest of each wave", whole)?;
    }
    Ok(figures)
}

fn ask(hook: &Hook, n: u64) -> Result<Duration, std::io::Error> {
    let input = json!({
        "session_id": "bench", "cwd": hook.dir, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_use_id": format!("toolu_{n}"),
        "tool_input": { "command": format!("cargo test -p crate-{n}"), "description": "run" },
    });
    let (program, args) = hook.argv.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(args).current_dir(&hook.dir).stdin(Stdio::piped()).stdout(Stdio::null());
    if !hook.inside {
        command.env_remove("FLYBALL_RUN").env_remove("FLYBALL_ITERATION");
    }
    #[expect(clippy::disallowed_methods, reason = "this measures")]
    let begun = Instant::now();
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that reads nothing may be gone already.
        stdin.write_all(input.to_string().as_bytes()).ok();
    }
    let status = child.wait()?;
    let took = begun.elapsed();
    if status.success() { Ok(took) } else { Err(std::io::Error::other("the hook failed")) }
}

fn at_once(hook: &Hook, wave: u64) -> Result<Vec<Duration>, Failed> {
    let start = Arc::new(Barrier::new(usize::try_from(AT_ONCE)?));
    let threads: Vec<_> = (0..AT_ONCE)
        .map(|n| {
            let (hook, start) = (hook.clone(), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                ask(&hook, ROUNDS + wave * AT_ONCE + n)
            })
        })
        .collect();
    let mut times = Vec::new();
    for thread in threads {
        times.push(thread.join().map_err(|_| "a thread panicked")??);
    }
    Ok(times)
}

fn report(to: &mut String, name: &str, mut times: Vec<Duration>) -> Result<(), std::fmt::Error> {
    times.sort_unstable();
    let at = |share: usize| {
        let index = (times.len() * share / 100).min(times.len().saturating_sub(1));
        times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    let (p50, p95, max) = (at(50), at(95), at(100));
    writeln!(to, "{name:34} p50 {p50:6.2} ms  p95 {p95:6.2} ms  max {max:6.2} ms")
}
