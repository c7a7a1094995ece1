//! One check: its process tree, its time limit, and what its end means. The exit code decides
//! whether it is green; what was printed only says what was found.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flyball_core::Millis;
use flyball_core::effect::Force;
use flyball_core::event::ExitHow;
use flyball_core::gate::{Check, CheckStatus, Finding, FindingKind};
use flyball_core::text;
use flyball_gates::{Exit, Parsed};

use super::cancel::{Cancel, Cancelled};
use super::capture::Capture;
use super::plan::Gate;
use super::run::GateRunner;
use crate::clock::{Clock, Deadline};
use crate::process::{ProcessEvent, Spec, StartError, Supervised};

/// How long a check that ran into its limit may take to print what it knows before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long a killed tree is waited for.
const KILLED_MAX: Duration = Duration::from_secs(10);
/// The exit codes of a shell that could not start a program: not executable, not found.
const NOT_STARTED: [i32; 2] = [126, 127];
/// Git's own variables: a hook that runs flyball has them set, and they would mislead the checks.
const GIT_VARIABLES: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// What a check is told while it waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum News {
    Ended(ExitHow),
    Cancelled,
}

/// How a check came to its end.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Exit(ExitHow),
    TimedOut,
}

/// Runs one gate to its end.
pub(super) fn run(gate: &Gate, of: &GateRunner, cancel: &Cancel) -> Result<Check, Cancelled> {
    let clock = Clock::start();
    let begun = clock.now();
    let capture = Arc::new(Mutex::new(Some(Capture::new(&gate.command.to_string()))));
    let (sender, news) = channel();
    let _told = cancel.tell(sender.clone());
    let sink = {
        let capture = Arc::clone(&capture);
        move |event| match event {
            ProcessEvent::Started { .. } => {}
            ProcessEvent::Output { stream, bytes } => {
                if let Some(capture) =
                    capture.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
                {
                    capture.take(stream, &bytes);
                }
            }
            // Nobody listens any more after a cancel.
            ProcessEvent::Exited { how, .. } => sender.send(News::Ended(how)).unwrap_or_default(),
        }
    };
    let supervised = match Supervised::start_with(&of.keeper, &spec(gate, of), sink) {
        Ok(supervised) => supervised,
        Err(error) => return Ok(not_started(gate, &error)),
    };
    let ending = wait(gate.timeout, &supervised, &news)?;
    drop(supervised);
    let exit = match ending {
        Ending::Exit(ExitHow::Code(code)) => Exit::Code(code),
        Ending::Exit(ExitHow::Signal(signal)) => Exit::Signal(signal),
        Ending::Exit(ExitHow::Lost) => Exit::Unknown,
        Ending::TimedOut => Exit::TimedOut,
    };
    let capture = capture.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (parsed, kept) = capture.map(|capture| capture.finish(exit)).unwrap_or_default();
    if let Some(dir) = &of.log_dir {
        write_log(dir, gate, &kept);
    }
    let duration = clock.now().since(begun);
    Ok(judge(gate, ending, parsed, duration))
}

fn spec(gate: &Gate, of: &GateRunner) -> Spec {
    let mut words = gate.command.argv().into_iter();
    let mut spec = Spec::new(words.next().unwrap_or_default(), &of.root);
    spec.args = words.collect();
    spec.env = GIT_VARIABLES.iter().map(|name| ((*name).to_owned(), None)).collect();
    spec.env.push(("FLYBALL_GATE".to_owned(), Some(gate.name.to_string())));
    spec.env.extend(of.env.iter().cloned());
    spec
}

/// Waits for the end, and brings it about when the time is over or someone cancels.
fn wait(
    limit: Millis,
    supervised: &Supervised,
    news: &Receiver<News>,
) -> Result<Ending, Cancelled> {
    let deadline = Deadline::after(Duration::from_millis(limit.get()));
    match news.recv_timeout(deadline.left()) {
        Ok(News::Ended(how)) => return Ok(Ending::Exit(how)),
        Ok(News::Cancelled) => return Err(kill(supervised, news)),
        Err(RecvTimeoutError::Disconnected) => return Ok(Ending::Exit(ExitHow::Lost)),
        Err(RecvTimeoutError::Timeout) => {}
    }
    // Stopping fails only when the keeper is gone, and then there is nothing left to stop.
    supervised.stop(Force::Terminate).ok();
    match news.recv_timeout(GRACE) {
        Ok(News::Ended(_)) | Err(RecvTimeoutError::Disconnected) => {}
        Ok(News::Cancelled) => return Err(kill(supervised, news)),
        Err(RecvTimeoutError::Timeout) => {
            kill(supervised, news);
        }
    }
    Ok(Ending::TimedOut)
}

/// Kills the whole tree and waits until it is gone.
fn kill(supervised: &Supervised, news: &Receiver<News>) -> Cancelled {
    // As above: no keeper, nothing to stop.
    supervised.stop(Force::Kill).ok();
    let deadline = Deadline::after(KILLED_MAX);
    while let Ok(News::Cancelled) = news.recv_timeout(deadline.left()) {}
    Cancelled
}

fn not_started(gate: &Gate, error: &StartError) -> Check {
    let finding = Finding::new(FindingKind::Crash, error.to_string()).named(gate.name.as_str());
    Check { findings: vec![finding], ..Check::failed(gate.name.as_str()) }
}

/// What the end of a check means.
fn judge(gate: &Gate, ending: Ending, parsed: Parsed, duration: Millis) -> Check {
    let name = gate.name.as_str();
    if matches!(ending, Ending::Exit(ExitHow::Code(0))) {
        return Check {
            counts: parsed.counts,
            executed: parsed.executed,
            duration,
            ..Check::passed(name)
        };
    }
    let status = match ending {
        Ending::Exit(_) => CheckStatus::Failed,
        Ending::TimedOut => CheckStatus::TimedOut,
    };
    let leading = leading_finding(gate, ending, &parsed.tail);
    Check {
        counts: parsed.counts,
        executed: parsed.executed,
        findings: leading.into_iter().chain(parsed.findings).collect(),
        findings_left_out: parsed.findings_left_out,
        duration,
        tail: parsed.tail,
        ..Check::bare(name, status)
    }
}

/// What flyball itself has to say about the end, before what the check found.
fn leading_finding(gate: &Gate, ending: Ending, tail: &str) -> Option<Finding> {
    let (kind, message) = match ending {
        Ending::TimedOut => {
            (FindingKind::Timeout, format!("it ran into its time limit of {}", gate.timeout))
        }
        Ending::Exit(ExitHow::Code(code)) if NOT_STARTED.contains(&code) => {
            let said = tail.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
            let said = text::head(said.trim(), 200);
            let command = text::head(&gate.command.to_string(), 200);
            let what = if code == 127 { "was not found" } else { "could not be started" };
            let message = format!("a program of `{command}` {what} (exit code {code})");
            (
                FindingKind::Crash,
                if said.is_empty() { message } else { format!("{message}: {said}") },
            )
        }
        Ending::Exit(ExitHow::Code(_)) => return None,
        Ending::Exit(ExitHow::Signal(signal)) => {
            (FindingKind::Crash, format!("it was ended by signal {signal}"))
        }
        Ending::Exit(ExitHow::Lost) => {
            (FindingKind::Crash, "it was ended from outside, with its keeper".to_owned())
        }
    };
    Some(Finding::new(kind, message).named(gate.name.as_str()))
}

/// Keeps the beginning and the end of the output for people.
fn write_log(dir: &Path, gate: &Gate, kept: &[u8]) {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = gate.name.as_str().chars().map(plain).collect();
    // The log is an extra: a full disk must not make a green gate red.
    fs::write(dir.join(format!("gate-{name}.log")), kept).ok();
}
