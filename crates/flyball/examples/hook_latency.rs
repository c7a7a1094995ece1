//! Figures of `flyball hook`, end to end: from the start of the process to its end, one journalled
//! event each, with 10,000 earlier ones; and the same hook as a node script, in the same run.
//!
//! `cargo build --release -p flyball && cargo run --release -p flyball --example hook_latency`

#![expect(clippy::print_stdout, reason = "figures are printed")]

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use flyball::journal::{HookChange, HookStep, Journal, NewRun};
use flyball_core::{AgentFact, Event, IterationNo, Moment, Policy, RunId};
use serde_json::json;

const EARLIER: usize = 10_000;
const ROUNDS: u64 = 400;
const AT_ONCE: u64 = 50;
/// How often many hooks are asked at once.
const WAVES: u64 = 10;
/// What none of them may take longer than.
const MOST: Duration = Duration::from_millis(100);

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

type Figures = Result<Vec<Duration>, Box<dyn Error + Send + Sync>>;

/// How a hook is started.
#[derive(Clone)]
struct Hook {
    argv: Vec<String>,
    env: Vec<(String, String)>,
    dir: PathBuf,
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let state = folder.path().join("state");
    let run = fill(&state, folder.path())?;
    let program = std::env::current_exe()?.with_file_name("../flyball").canonicalize()?;
    let script = folder.path().join("hook.js");
    std::fs::write(&script, NODE)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let own = |env: Vec<(String, String)>| Hook {
        argv: vec![text(&program), "hook".into(), "claude".into(), "PreToolUse".into()],
        env,
        dir: folder.path().to_path_buf(),
    };
    let place = vec![("FLYBALL_STATE".to_owned(), text(&state))];
    let mut inside = place.clone();
    inside.push(("FLYBALL_RUN".to_owned(), run.to_string()));
    inside.push(("FLYBALL_ITERATION".to_owned(), "1".to_owned()));
    let node = Hook {
        argv: vec!["node".into(), text(&script), text(folder.path())],
        env: Vec::new(),
        dir: folder.path().to_path_buf(),
    };
    // What starting any process costs here, and no hook can be faster than.
    let nothing = Hook { argv: vec!["true".into()], env: Vec::new(), dir: folder.path().into() };
    let hooks = [
        ("in a run", own(inside)),
        ("in a session", own(place)),
        ("node script", node),
        ("true", nothing),
    ];
    // A run keeps the journal open all the time.
    let held = Journal::open(&state)?;
    for (name, hook) in &hooks {
        let rounds = if *name == "node script" { ROUNDS / 8 } else { ROUNDS };
        report(name, one_by_one(hook, rounds)?);
    }
    for (name, hook) in &hooks {
        let (mut all, mut within) = (Vec::new(), 0);
        for wave in 0..WAVES {
            let times = at_once(hook, wave)?;
            within += u64::from(times.iter().all(|time| *time <= MOST));
            all.extend(times);
        }
        report(&format!("{name}, {AT_ONCE} at once"), all);
        println!("{:32} none over {MOST:?} in {within} of {WAVES} waves", "");
    }
    let kept = held.hooks_after(&run, 0)?.len() - EARLIER;
    println!("kept of the hooks in the run: {kept} of {}", ROUNDS + WAVES * AT_ONCE);
    Ok(())
}

/// A journal with earlier events, and a run whose hooks are asked.
fn fill(state: &Path, root: &Path) -> Result<RunId, Box<dyn Error + Send + Sync>> {
    let mut journal = Journal::open(state)?;
    let run = RunId::new("bench");
    journal.start_run(&NewRun {
        run: run.clone(),
        root: root.to_path_buf(),
        agent: "claude".to_owned(),
        pid: std::process::id(),
        started: Moment::from_millis(1),
        max_iterations: 15,
    })?;
    let event = Event::Agent { iteration: IterationNo::new(1), fact: AgentFact::ShowedLife };
    let events: Vec<(Moment, &Event)> =
        (0..EARLIER).map(|_| (Moment::from_millis(1), &event)).collect();
    journal.append_all(&run, &events)?;
    let step = HookStep { run: Some(&run), session: "earlier", at: Moment::from_millis(1) };
    for _ in 0..EARLIER {
        journal.hook_step(&step, |_| {
            (HookChange { state: None, report: Some("{}".to_owned()) }, ())
        })?;
    }
    let folder = state.join("runs/bench");
    std::fs::create_dir_all(&folder)?;
    let guards = json!({
        "root": root, "policy": Policy::default(), "fails_closed": false, "timeout": 10_000,
        "loop_dir": ".flyball", "tasks_file": "tasks.json", "parallel": false,
    });
    std::fs::write(folder.join("guards.json"), guards.to_string())?;
    Ok(run)
}

fn ask(hook: &Hook, n: u64) -> Result<Duration, std::io::Error> {
    let input = json!({
        "session_id": "bench", "cwd": hook.dir, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_use_id": format!("toolu_{n}"),
        "tool_input": { "command": format!("cargo test -p crate-{n}"), "description": "run" },
    });
    let (program, args) = hook.argv.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    #[expect(clippy::disallowed_methods, reason = "this measures")]
    let begun = Instant::now();
    let mut child = Command::new(program)
        .args(args)
        .envs(hook.env.iter().cloned())
        .current_dir(&hook.dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that reads nothing may be gone already.
        stdin.write_all(input.to_string().as_bytes()).ok();
    }
    let status = child.wait()?;
    let took = begun.elapsed();
    if status.success() { Ok(took) } else { Err(std::io::Error::other("the hook failed")) }
}

fn one_by_one(hook: &Hook, rounds: u64) -> Figures {
    Ok((0..rounds).map(|n| ask(hook, n)).collect::<Result<_, _>>()?)
}

fn at_once(hook: &Hook, wave: u64) -> Figures {
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

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| {
        let index = (times.len() * share / 100).min(times.len().saturating_sub(1));
        times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    println!("{name:32} p50 {:6.2} ms  p95 {:6.2} ms  max {:6.2} ms", at(50), at(95), at(100));
}
