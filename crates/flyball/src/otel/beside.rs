//! What sends a run while it goes on: a process of its own, which reads the journal as everybody may.
//! The run waits for nothing of it; it looks once, at its end, whether there is something to be said.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use flyball_core::RunId;
use opentelemetry_proto::tonic::trace::v1::Span;

use super::outgoing::{Outgoing, PARCEL};
use super::sink::{HttpSink, Sink};
use super::target::Target;
use crate::clock::Deadline;
use crate::desk::{Life, life};
use crate::error::CliError;
use crate::files;
use crate::journal::{Journal, JournalError};
use crate::process;
use crate::run_record::sends_content;
use crate::terminal;

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// After a failure, and at most.
const PAUSE: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_mins(1);
/// Spans that wait for a collector; what is more can be sent later.
const WAITING_MAX: usize = 8 * PARCEL;
/// How much of what it said is read.
const SAID_MAX: u64 = 2048;

/// The sender of a run.
#[derive(Debug)]
pub(crate) struct Beside {
    said: PathBuf,
    /// Kept, so that it is waited for when it ends first.
    _process: process::Background,
}

impl Beside {
    /// Starts it, where the environment names a place to send to, for all that comes from now on.
    pub(crate) fn start(
        state_dir: &Path,
        run: &RunId,
        journal: &Journal,
    ) -> Result<Option<Self>, CliError> {
        if Target::of_environment()?.is_none() {
            return Ok(None);
        }
        let failed = |error: std::io::Error| {
            CliError::io("what sends telemetry could not be started").cause(error)
        };
        let said = said(state_dir, run);
        files::private_folder(&state_dir.join("runs")).map_err(failed)?;
        files::remove(&said).ok();
        let output = files::append_private(&said).map_err(failed)?;
        let after = journal.run(run)?.events;
        let words: [OsString; 5] = [
            "export".into(),
            "otel".into(),
            run.as_str().into(),
            "--follow-after".into(),
            after.to_string().into(),
        ];
        let process = process::start_alone(&words, &output).map_err(failed)?;
        Ok(Some(Self { said, _process: process }))
    }

    /// What it had to say so far, on one line.
    pub(crate) fn said(&self) -> Option<String> {
        let text = files::read_end(&self.said, SAID_MAX).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        text.lines().next().map(str::to_owned)
    }
}

fn said(state_dir: &Path, run: &RunId) -> PathBuf {
    state_dir.join("runs").join(format!("{run}.otel.out"))
}

/// Sends a run as it goes on, until it does so no longer; what came up to an event was sent before.
pub(crate) fn follow(state_dir: &Path, run: &RunId, after: u64) -> Result<(), CliError> {
    let Some(target) = Target::of_environment()? else { return Ok(()) };
    let journal = Journal::open(state_dir)?;
    let mut follower = Follower::new(&journal, (run, after), target)?;
    loop {
        let row = match journal.run(run) {
            Ok(row) => row,
            Err(JournalError::UnknownRun { .. }) => break,
            Err(error) => return Err(error.into()),
        };
        let is_over = life(&row) != Life::Running;
        follower.look(&journal, run)?;
        if is_over {
            follower.waiting.append(&mut follower.outgoing.rest(&row));
            follower.hand_over(run);
            follower.measure(&journal, run);
            break;
        }
        if follower.pause.passed() {
            follower.hand_over(run);
            follower.measure(&journal, run);
        }
        thread::sleep(LOOK_EVERY);
    }
    if !follower.has_spoken {
        files::remove(&said(state_dir, run)).ok();
    }
    Ok(())
}

struct Follower {
    outgoing: Outgoing,
    sink: HttpSink,
    waiting: Vec<Span>,
    measured: Option<u64>,
    failures: u32,
    pause: Deadline,
    has_spoken: bool,
}

impl Follower {
    fn new(
        journal: &Journal,
        (run, after): (&RunId, u64),
        target: Target,
    ) -> Result<Self, CliError> {
        let row = journal.run(run)?;
        let mut outgoing = Outgoing::new(&row, sends_content(run));
        outgoing.skip(journal, run, after)?;
        Ok(Self {
            outgoing,
            sink: HttpSink::new(target),
            waiting: Vec::new(),
            measured: None,
            failures: 0,
            pause: Deadline::after(Duration::ZERO),
            has_spoken: false,
        })
    }

    /// Reads what is new. What nobody takes for long is left to be sent later.
    fn look(&mut self, journal: &Journal, run: &RunId) -> Result<(), CliError> {
        loop {
            let (mut spans, is_all) = self.outgoing.read(journal, run)?;
            self.waiting.append(&mut spans);
            let surplus = self.waiting.len().saturating_sub(WAITING_MAX);
            self.waiting.drain(..surplus);
            if is_all {
                return Ok(());
            }
        }
    }

    fn hand_over(&mut self, run: &RunId) {
        while !self.waiting.is_empty() {
            let parcel: Vec<Span> = self.waiting.iter().take(PARCEL).cloned().collect();
            let count = parcel.len();
            match self.sink.spans(run, parcel) {
                Ok(()) => {
                    self.waiting.drain(..count);
                    self.failures = 0;
                }
                Err(why) => return self.failed(run, &why),
            }
        }
    }

    /// Figures are sent when an iteration was closed, and at the end.
    fn measure(&mut self, journal: &Journal, run: &RunId) {
        let Ok(row) = journal.run(run) else { return };
        let counted = self.outgoing.trace.iterations();
        if self.failures > 0 || (self.measured == Some(counted) && row.ended.is_none()) {
            return;
        }
        match self.sink.metrics(run, self.outgoing.trace.metrics(&row)) {
            Ok(()) => self.measured = Some(counted),
            Err(why) => self.failed(run, &why),
        }
    }

    /// Said once; the run tells it at its end.
    fn failed(&mut self, run: &RunId, why: &str) {
        let pause = PAUSE.saturating_mul(2_u32.saturating_pow(self.failures.min(8)));
        self.failures = self.failures.saturating_add(1);
        self.pause = Deadline::after(pause.min(PAUSE_MAX));
        if !self.has_spoken {
            self.has_spoken = true;
            terminal::write_err(&format!(
                "telemetry was not sent: {why}; `flyball export otel {run}` sends it later\n"
            ));
        }
    }
}
