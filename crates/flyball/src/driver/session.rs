//! One agent process at work: its output goes to the log, to the terminal and to its reader.

use std::thread::JoinHandle;
use std::time::Duration;

use flyball_core::effect::Force;
use flyball_core::event::{Exit, ExitHow};
use flyball_core::iteration::micro_usd;
use flyball_core::{AgentFact, IterationNo, Millis, Moment};

use super::session_files::SessionFiles;
use super::steer::SteerLine;
use super::usage_file::UsageFileWatch;
use crate::client::{Fact, Reader};
use crate::process::{Stream, Supervised};
use crate::report::Reporter;
use crate::telemetry::IterationLog;

/// How long a stop command may take.
const STOP_COMMAND_MAX: Duration = Duration::from_secs(5);

/// An agent at work.
pub(super) struct Session {
    pub(super) iteration: IterationNo,
    pub(super) started: Moment,
    pub(super) process: Supervised,
    pub(super) reader: Box<dyn Reader>,
    pub(super) usage_file: UsageFileWatch,
    pub(super) log: IterationLog,
    /// What a wrapper's inside is ended with.
    pub(super) stop_command: Option<Vec<String>>,
    /// Stop commands at work.
    pub(super) stopping: Vec<JoinHandle<()>>,
    /// The way to tell it something while it works, where it listens.
    pub(super) steer: Option<SteerLine>,
    /// Files that are gone afterwards.
    pub(super) files: SessionFiles,
    pub(super) cpu: (Moment, Duration),
    pub(super) printed: bool,
    pub(super) told_life: Moment,
    /// Counted only where tokens or money are limited.
    pub(super) text: Option<TextMeter>,
}

/// How much an agent printed, and what that would cost, for one that tells no usage (B4).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextMeter {
    bytes: u64,
    /// Dollars for a million tokens written; 0 when that is unknown.
    usd_per_mtok: f64,
}

impl TextMeter {
    /// A meter for a model with this price.
    pub(super) fn new(usd_per_mtok: f64) -> Self {
        Self { bytes: 0, usd_per_mtok }
    }

    fn count(&mut self, bytes: &[u8]) {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
    }

    fn fact(self) -> AgentFact {
        #[expect(clippy::cast_precision_loss, reason = "an estimate of money")]
        let tokens = self.bytes as f64 / 4.0;
        let cost_micro_usd = micro_usd(tokens * self.usd_per_mtok / 1e6);
        AgentFact::Printed { bytes: self.bytes, cost_micro_usd }
    }
}

impl Session {
    /// Takes output in.
    pub(super) fn read(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        facts: &mut Vec<Fact>,
        reporter: &mut Reporter,
    ) {
        self.printed = true;
        if let Some(note) = self.log.write(bytes) {
            reporter.note(self.iteration, &note);
        }
        match stream {
            Stream::Stdout => {
                if let Some(text) = &mut self.text {
                    text.count(bytes);
                }
                self.reader.stdout(bytes, facts);
            }
            Stream::Stderr => {
                reporter.agent_stderr(bytes);
                self.reader.stderr(bytes, facts);
            }
        }
    }

    /// The program is gone, with all it started; the process is handed back for its keeper to leave.
    pub(super) fn finish(
        self,
        how: ExitHow,
        swept: u32,
        facts: &mut Vec<Fact>,
        reporter: &mut Reporter,
    ) -> (Exit, Supervised) {
        if swept > 0 {
            let noun = if swept == 1 { "process" } else { "processes" };
            reporter.note(self.iteration, &format!("{swept} {noun} outlived the agent; ended"));
        }
        drop(self.files);
        let exit = self.reader.finish(how, facts);
        facts.extend(self.text.map(|text| Fact::Agent(text.fact())));
        (exit, self.process)
    }

    /// Whether there is a sign of life worth telling: output, or at least 1 % of a core since the
    /// last look. Told at most four times per stall limit.
    pub(super) fn is_alive(&mut self, now: Moment, stall_after: Millis) -> bool {
        if stall_after.is_zero() {
            return false;
        }
        let pause = Millis::new((stall_after.get() / 4).clamp(250, 30_000));
        if now.since(self.told_life) < pause {
            return false;
        }
        let (since, before) = self.cpu;
        let used = self.process.cpu();
        self.cpu = (now, used);
        self.told_life = now;
        let spent = used.saturating_sub(before).as_millis();
        let is_busy = spent * 100 >= u128::from(now.since(since).get()) && spent > 0;
        std::mem::take(&mut self.printed) || is_busy
    }

    /// Stops the whole tree with this much force, and has what runs inside a wrapper stopped, which
    /// does not see our signals. Waits for neither.
    pub(super) fn stop(&mut self, force: Force) {
        self.process.stop(force).ok();
        if let Some([program, args @ ..]) = self.stop_command.as_deref()
            && force != Force::Interrupt
        {
            let (program, args) = (program.clone(), args.to_vec());
            let stop = move || crate::process::run_briefly(&program, &args, STOP_COMMAND_MAX);
            self.stopping.extend(std::thread::Builder::new().spawn(stop).ok());
        }
    }

    /// Waits until the stop commands have ended; they are ended themselves when they take too long.
    pub(super) fn finish_stopping(&mut self) {
        for stopping in self.stopping.drain(..) {
            // It only runs a program: there is nothing to learn from how it ended.
            stopping.join().ok();
        }
    }
}

/// A fact as the driver's queue takes it.
pub(super) fn could_not_start(why: String) -> AgentFact {
    AgentFact::CouldNotStart { why }
}
