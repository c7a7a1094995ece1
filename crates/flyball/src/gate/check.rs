//! One check: its process tree, its time limit, and what its end means. The exit code decides
//! whether it is green; what was printed only says what was found.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flyball_core::Millis;
use flyball_core::effect::Force;
use flyball_core::event::ExitHow;
use flyball_core::gate::{Check, CheckStatus, Finding, FindingKind};
use flyball_gates::{Exit, Parsed, Tree};

use super::cancel::{Cancel, Cancelled};
use super::capture::Capture;
use super::plan::Gate;
use super::run::GateRunner;
use crate::clock::{Clock, Deadline};
use crate::process::{ProcessEvent, Spec, StartError, Supervised};
use crate::project::{AsGate, Fault, Place, Purpose, as_gate};

/// How long a check that ran into its limit may take to print what it knows before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long a killed tree is waited for.
const KILLED_MAX: Duration = Duration::from_secs(10);
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

/// Runs one gate, and again while it is red and may be tried again.
pub(super) fn run(gate: &Gate, of: &GateRunner, cancel: &Cancel) -> Result<Check, Cancelled> {
    let look = of.look.as_ref().filter(|_| gate.retry > 0);
    let before = look.map(|look| (look, look.now()));
    let first = run_once(gate, of, cancel)?;
    let mut took = first.duration;
    let mut red = first;
    for tries in 1..=gate.retry {
        if !red.status.is_red() {
            break;
        }
        // On another tree green would say nothing of this one.
        let changed = before.as_ref().map(|(look, before)| look.changed_since(before.as_ref()));
        if let Some(changed) = changed.map(|seen| seen.unwrap_or_else(|| vec![UNSEEN.to_owned()]))
            && !changed.is_empty()
        {
            red.findings.push(changed_meanwhile(gate, &changed));
            break;
        }
        let again = run_once(gate, of, cancel)?;
        took = took.plus(again.duration);
        if !again.status.is_red() {
            return Ok(Check { duration: took, ..again }.flaky_after(&red));
        }
        red = Check { tries: Some(tries.saturating_add(1)), duration: took, ..again };
    }
    Ok(red)
}

/// Stands for files when nobody can see whether they are the same.
const UNSEEN: &str = "nobody can see which";

/// Why a red gate is not tried again.
fn changed_meanwhile(gate: &Gate, changed: &[String]) -> Finding {
    const NAMED: usize = 3;
    let shown = changed.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = changed.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("files changed while it ran ({shown}{more}), so it was not tried again");
    Finding::new(FindingKind::Other, message).named(gate.name.as_str())
}

/// Runs one gate to its end.
fn run_once(gate: &Gate, of: &GateRunner, cancel: &Cancel) -> Result<Check, Cancelled> {
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
    let mut check = judge(gate, ending, parsed, duration);
    locate(&mut check.findings, gate, &of.root);
    Ok(check)
}

fn spec(gate: &Gate, of: &GateRunner) -> Spec {
    let mut words = gate.command.argv().into_iter();
    let mut spec = Spec::new(words.next().unwrap_or_default(), of.root.join(&gate.cwd));
    spec.args = words.collect();
    spec.env = GIT_VARIABLES.iter().map(|name| ((*name).to_owned(), None)).collect();
    // Tools that would wait for a person, or for changes, end by themselves where this is set.
    if std::env::var_os("CI").is_none() {
        spec.env.push(("CI".to_owned(), Some("1".to_owned())));
    }
    spec.env.push(("FLYBALL_GATE".to_owned(), Some(gate.name.to_string())));
    spec.env.extend(of.compiled.iter().filter_map(|compiled| compiled.variable()));
    spec.env.extend(of.env.iter().cloned());
    let own = gate.env.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
    spec.env.extend(own);
    spec.walls.clone_from(&of.walls);
    spec.run.clone_from(&of.run);
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
    let finding =
        Finding::new(FindingKind::CouldNotRun, error.to_string()).named(gate.name.as_str());
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
    let lost = matches!(ending, Ending::Exit(ExitHow::Lost))
        .then(|| Finding::new(FindingKind::Crash, "it was ended from outside, with its keeper"));
    let findings = lost.into_iter().chain(parsed.findings);
    Check {
        counts: parsed.counts,
        executed: parsed.executed,
        findings: findings.map(|finding| of_gate(finding, gate, ending)).collect(),
        findings_left_out: parsed.findings_left_out,
        duration,
        tail: parsed.tail,
        ..Check::bare(name, status)
    }
}

/// Files as paths in the repository, wherever the gate runs and whatever its tools print.
fn locate(findings: &mut [Finding], gate: &Gate, root: &Path) {
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let (root, real) = (root.to_string_lossy(), real.to_string_lossy());
    let has = |path: &str| Path::new(&*real).join(path).is_file();
    let command = gate.command.to_string();
    let folder = match (gate.cwd.as_str(), entered(&command)) {
        (cwd, None) => cwd.to_owned(),
        ("", Some(entered)) => entered,
        (cwd, Some(entered)) => format!("{cwd}/{entered}"),
    };
    let tree = Tree { roots: &[&root, &real], folder: &folder, has: &has };
    for finding in findings {
        finding.locate(&tree);
    }
}

/// The folder below that a line for the shell enters first: `cd web && npm test`, `npm exec -c 'cd web &&
/// jest'`.
fn entered(line: &str) -> Option<String> {
    let inner = || line.split_once(" '").map(|(_, inner)| inner);
    let from = line.strip_prefix("cd ").or_else(|| inner()?.strip_prefix("cd "))?;
    let (folder, _) = from.split_once(" && ")?;
    let quoted = folder.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let folder = quoted.unwrap_or(folder).trim_end_matches('/');
    let is_below = !folder.starts_with(['/', '~', '-', '.']) && !folder.contains(['$', '\'', '"']);
    (is_below && (quoted.is_some() || !folder.contains(' '))).then(|| folder.to_owned())
}

/// The finding as one of this gate: what broke the check itself has the gate's name, so that it is
/// the same the next time.
fn of_gate(mut finding: Finding, gate: &Gate, ending: Ending) -> Finding {
    let is_of_check = matches!(
        finding.kind,
        FindingKind::Crash | FindingKind::Timeout | FindingKind::CouldNotRun
    );
    if is_of_check && finding.name.is_none() && finding.file.is_none() {
        finding.name = Some(gate.name.to_string());
    }
    if matches!(ending, Ending::TimedOut) && finding.name.as_deref() == Some(gate.name.as_str()) {
        let place = Place::default().with_purpose(Purpose::of_gate(gate.name.as_str())).in_ci();
        let watches = match as_gate(&gate.command.to_string(), &place) {
            AsGate::Instead(line, Fault::Watches) => {
                format!(": {}; `{line}` ends", Fault::Watches)
            }
            AsGate::Never(Fault::Watches) => format!(": {}", Fault::Watches),
            AsGate::Fits | AsGate::Instead(..) | AsGate::Never(_) => String::new(),
        };
        finding.message = format!("it ran into its time limit of {}{watches}", gate.timeout);
    }
    finding
}

/// Keeps the beginning and the end of the output for people.
fn write_log(dir: &Path, gate: &Gate, kept: &[u8]) {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = gate.name.as_str().chars().map(plain).collect();
    // The log is an extra: a full disk must not make a green gate red.
    crate::files::write_whole(&dir.join(format!("gate-{name}.log")), kept).ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CommandLine;

    #[test]
    fn a_folder_that_a_line_enters_first_is_known() {
        for (line, folder) in [
            ("cd web && npm test", Some("web")),
            ("cd 'my web/app' && npm test && cd b && x", Some("my web/app")),
            ("cd ../web && npm test", None),
            ("cd $HOME && npm test", None),
            ("cd 'it'\\''s' && npm test", None),
            ("npm test", None),
            ("npm exec -c 'cd web && jest'", Some("web")),
        ] {
            assert_eq!(entered(line).as_deref(), folder, "{line}");
        }
    }

    #[test]
    fn a_gate_that_waits_for_changes_is_told_what_ends() {
        let told = |line: &str| {
            let command = CommandLine::Shell(line.to_owned());
            let gate = Gate::new("types", command, Millis::from_secs(1));
            let finding = Finding::new(FindingKind::Timeout, "x").named("types");
            of_gate(finding, &gate, Ending::TimedOut).message
        };
        let limit = "it ran into its time limit of 1s";
        assert_eq!(told("tsc --noEmit"), limit);
        let watches = "it waits for changes and never ends";
        assert_eq!(told("tsc -w"), format!("{limit}: {watches}; `tsc --noEmit` ends"));
        assert_eq!(told("nodemon x"), format!("{limit}: {watches}"));
    }
}
