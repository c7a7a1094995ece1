//! The command rule: a shell command, its whole process tree, a time limit, and the exit code that
//! was expected. The end of what it printed is kept.

use std::collections::VecDeque;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flyball_core::event::ExitHow;
use flyball_core::text;

use super::Judged;
use crate::clock::Deadline;
use crate::mcp::site::Call;
use crate::process::{ProcessEvent, Spec, Supervised};

/// Bytes kept of the end of what a command prints.
const KEPT: usize = 16 * 1024;
/// Characters of it that are told.
const TOLD: usize = 3_000;
/// How often it is asked whether the caller has gone away.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug)]
enum Ending {
    Exit(ExitHow),
    TimedOut,
    Cancelled,
}

pub(super) fn run(call: Call<'_>, command: &str, expected: i32, seconds: u64) -> Judged {
    let mut spec = Spec::new("sh", &call.site.root);
    spec.args = vec!["-c".to_owned(), command.to_owned()];
    let kept = Arc::new(Mutex::new(VecDeque::new()));
    let (sender, ended) = channel();
    let sink = {
        let kept = Arc::clone(&kept);
        move |event| match event {
            ProcessEvent::Started { .. } => {}
            ProcessEvent::Output { bytes, .. } => {
                keep(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), &bytes);
            }
            // Nobody listens any more once the time is over.
            ProcessEvent::Exited { how, .. } => sender.send(how).unwrap_or_default(),
        }
    };
    let process = match Supervised::start(&spec, sink) {
        Ok(process) => process,
        Err(error) => return Judged::failed(error.to_string()),
    };
    let deadline = Deadline::after(Duration::from_secs(seconds));
    let ending = loop {
        match ended.recv_timeout(deadline.left().min(LOOK)) {
            Ok(how) => break Ending::Exit(how),
            Err(RecvTimeoutError::Disconnected) => break Ending::Exit(ExitHow::Lost),
            Err(RecvTimeoutError::Timeout) if call.cancel.is_cancelled() => {
                break Ending::Cancelled;
            }
            Err(RecvTimeoutError::Timeout) if deadline.passed() => break Ending::TimedOut,
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    // Kills what still runs, with all it has started.
    drop(process);
    let printed: Vec<u8> =
        kept.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
    judge(ending, (expected, seconds), &String::from_utf8_lossy(&printed))
}

fn judge(ending: Ending, (expected, seconds): (i32, u64), printed: &str) -> Judged {
    let how = match ending {
        Ending::Exit(ExitHow::Code(code)) if code == expected => {
            return Judged::passed(format!("exited with {code}"));
        }
        Ending::Exit(ExitHow::Code(code)) => {
            format!("exited with {code}, expected was {expected}")
        }
        Ending::Exit(ExitHow::Signal(signal)) => format!("was ended by signal {signal}"),
        Ending::Exit(ExitHow::Lost) => "was lost".to_owned(),
        Ending::TimedOut => format!("took longer than {seconds} s and was ended"),
        Ending::Cancelled => "was ended because the call was cancelled".to_owned(),
    };
    let printed = printed.trim_end();
    if printed.is_empty() {
        return Judged::failed(format!("{how}; it printed nothing"));
    }
    Judged::failed(format!("{how}; its last lines:\n{}", text::tail(printed, TOLD)))
}

fn keep(kept: &mut VecDeque<u8>, bytes: &[u8]) {
    let skipped = bytes.len().saturating_sub(KEPT);
    kept.extend(bytes.get(skipped..).unwrap_or_default());
    let excess = kept.len().saturating_sub(KEPT);
    kept.drain(..excess);
}
