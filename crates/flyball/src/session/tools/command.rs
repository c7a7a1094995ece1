//! A line of the shell: with a time limit, its whole tree ended with it, and its output bounded in memory
//! however much it prints.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flyball_core::call::{ToolOutcome, texts};
use flyball_core::effect::Force;
use flyball_core::event::ExitHow;
use flyball_core::policy::CallRules;

use super::super::ground::Ground;
use super::Done;
use crate::clock::Deadline;
use crate::process::{Leash, ProcessEvent, Spec, Supervised};
use crate::project::Programs;
use crate::spill::Spill;

/// How much of an output is held in memory.
const HELD_MAX: usize = 1024 * 1024;
/// How much of it goes to a file.
const FILE_MAX: u64 = 256 * 1024 * 1024;
/// Pieces of output that may wait; a program that prints faster is held up.
const WAITING_MAX: usize = 16;

/// A command to run.
pub(super) struct Order<'a> {
    pub(super) line: &'a str,
    pub(super) limit: Duration,
    pub(super) ground: &'a Ground,
}

/// The command at work, so that others can end it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Running(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    leash: Option<Leash>,
    is_ended: bool,
}

impl Running {
    /// Ends it with everything it started.
    pub(crate) fn end(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_ended = true;
        if let Some(leash) = &state.leash {
            // One that has ended by itself needs no end.
            leash.pull(Force::Kill).ok();
        }
    }

    /// From now on it runs on.
    pub(crate) fn begin_anew(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = State::default();
    }

    fn hold(&self, leash: Option<Leash>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).leash = leash;
    }

    fn is_ended(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_ended
    }
}

pub(super) fn run(
    order: &Order<'_>,
    (spill, rules): (&Spill, &CallRules),
    running: &Running,
) -> Result<Done, String> {
    let shell = if Programs::on_path().has("bash") { "bash" } else { "sh" };
    let mut spec = Spec::new(shell, &order.ground.root);
    spec.args = vec!["-c".to_owned(), order.line.to_owned()];
    spec.env.clone_from(&order.ground.env);
    spec.walls.clone_from(&order.ground.walls);
    let (sender, receiver) = sync_channel(WAITING_MAX);
    let process = Supervised::start(&spec, move |event| {
        // Nobody listens any more once the time is over.
        sender.send(event).ok();
    })
    .map_err(|error| error.to_string())?;
    running.hold(process.leash().ok());
    let mut output = Output::new(spill);
    let how = listen(&receiver, Deadline::after(order.limit), &mut output);
    running.hold(None);
    // What is still there goes with it.
    drop(process);
    Ok(output.done(&ending(how, order.limit, running), rules))
}

/// Hears a program out; none when its time is over.
fn listen(
    from: &Receiver<ProcessEvent>,
    limit: Deadline,
    output: &mut Output<'_>,
) -> Option<ExitHow> {
    loop {
        match from.recv_timeout(limit.left()) {
            Ok(ProcessEvent::Started { .. }) => {}
            Ok(ProcessEvent::Output { bytes, .. }) => output.take(&bytes),
            Ok(ProcessEvent::Exited { how, .. }) => return Some(how),
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => return Some(ExitHow::Lost),
        }
    }
}

/// How it ended, for the model.
fn ending(how: Option<ExitHow>, limit: Duration, running: &Running) -> (ToolOutcome, String) {
    match how {
        _ if running.is_ended() => (ToolOutcome::Tool, "[ended by the human]".to_owned()),
        Some(ExitHow::Code(0)) => (ToolOutcome::Ok, String::new()),
        Some(ExitHow::Code(code)) => (ToolOutcome::Exit, format!("[exit code {code}]")),
        Some(ExitHow::Signal(signal)) => (ToolOutcome::Exit, format!("[ended by signal {signal}]")),
        Some(ExitHow::Lost) => {
            (ToolOutcome::Tool, "[it was lost: somebody ended its keeper]".to_owned())
        }
        None => {
            let secs = limit.as_secs();
            let text = format!(
                "[ended after {secs} s, its time limit, with everything it had started: ask for more with \
                 timeout_secs, or do it in smaller steps]"
            );
            (ToolOutcome::Tool, text)
        }
    }
}

/// What a command prints: its beginning in memory, and all of it in a file once that is too much.
struct Output<'s> {
    spill: &'s Spill,
    held: Vec<u8>,
    file: Option<(std::path::PathBuf, File)>,
    bytes: u64,
    chars: u64,
}

impl<'s> Output<'s> {
    const fn new(spill: &'s Spill) -> Self {
        Self { spill, held: Vec::new(), file: None, bytes: 0, chars: 0 }
    }

    fn take(&mut self, piece: &[u8]) {
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        // Every byte that begins a character.
        self.chars += piece.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64;
        if self.file.is_none() && self.held.len() + piece.len() > HELD_MAX {
            // One that cannot be written is cut: its beginning is there.
            self.file = self.begin_file().ok();
        }
        match &mut self.file {
            Some((_, file)) if self.bytes <= FILE_MAX => {
                file.write_all(piece).ok();
            }
            Some(_) => {}
            None => {
                let room = HELD_MAX.saturating_sub(self.held.len());
                self.held.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
            }
        }
    }

    fn begin_file(&self) -> io::Result<(std::path::PathBuf, File)> {
        let mut kept = None;
        let path = self.spill.write_with(|file| {
            file.write_all(&self.held)?;
            kept = Some(file.try_clone()?);
            Ok(())
        })?;
        kept.map(|file| (path, file)).ok_or_else(|| io::Error::other("no file"))
    }

    fn done(self, (outcome, ending): &(ToolOutcome, String), rules: &CallRules) -> Done {
        let mut text = String::from_utf8_lossy(&self.held).into_owned();
        let spilled = self.file.as_ref().map(|(path, _)| {
            let mut told = texts::spilled(rules, &text, self.chars, &path.to_string_lossy());
            if self.bytes > FILE_MAX {
                told.push_str("\n[only the first 256 MB of it are in the file]");
            }
            format!("{told}\n{ending}").trim_end().to_owned()
        });
        let is_silent = text.is_empty() && ending.is_empty();
        if !ending.is_empty() {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            text = format!("{text}{gap}{ending}");
        }
        if is_silent {
            text.push_str("(no output)");
        }
        Done { outcome: *outcome, spilled, ..Done::said(text) }
    }
}
