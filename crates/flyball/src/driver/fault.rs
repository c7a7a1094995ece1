//! flyball itself fails in the middle of a run: the disk is full, the journal is gone, the worktree was
//! deleted. The run ends all the same, cleanly and with what is known: nothing keeps running, what can
//! still be written is written, and people read a summary with the next step.

use std::collections::BTreeMap;

use flyball_core::effect::Ending;
use flyball_core::event::StopCause;
use flyball_core::{Effect, Event, Moment, Outcome};

use super::Driver;
use super::resume::records;
use crate::error::CliError;

impl Driver {
    /// Ends the run after a failure. Someone who wanted it to end gets the end they asked for.
    pub(super) fn fail(&mut self, error: CliError) -> Result<Ending, CliError> {
        self.end_all();
        let now = self.clock.now();
        let mut ending = match self.ending.take() {
            // It had ended; only the last row could not be written.
            Some(ending) => ending,
            None => self.ending_by(now, &error),
        };
        let asked = match self.pace.watchdog.asked() {
            Some(StopCause::Interrupt) => Some(Outcome::Interrupted),
            Some(StopCause::Terminate | StopCause::Command) => Some(Outcome::Terminated),
            None => None,
        };
        let code = asked.map_or(error.kind.code(), Outcome::exit_code);
        ending.outcome = asked.unwrap_or(Outcome::Fault);
        ending.why = in_a_line(&error);
        let hints = error.hints.iter().filter(|hint| !ending.next_steps.contains(hint));
        ending.next_steps = hints.chain(&ending.next_steps).cloned().collect();
        // The journal may be what failed: then the run is found as lost, and can be resumed.
        self.journal.finish_run(&self.run, now, &ending).ok();
        self.take_leave(now, &ending, code);
        if asked.is_some() { Ok(ending) } else { Err(error) }
    }

    /// The end the governor makes of it. What it wants recorded is recorded where that still works.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds mean the same here")]
    fn ending_by(&mut self, now: Moment, error: &CliError) -> Ending {
        let event = Event::ShellFailed { why: in_a_line(error) };
        self.journal.append(&self.run, now, &event).ok();
        self.reporter.event(now, &event);
        let mut ending = None;
        for effect in self.governor.step(now, &event) {
            match effect {
                Effect::FinishRun(by_governor) => ending = Some(by_governor),
                other if records(&other) => {
                    self.perform(now, other).ok();
                }
                _ => {}
            }
        }
        ending.unwrap_or_else(|| self.ending_before_the_first())
    }

    /// The end of a run of which not even the beginning could be recorded.
    fn ending_before_the_first(&self) -> Ending {
        Ending {
            outcome: Outcome::Fault,
            why: String::new(),
            trip: None,
            also: Vec::new(),
            left: Vec::new(),
            nothing_left: false,
            rescues: Vec::new(),
            roles: Vec::new(),
            flaky: BTreeMap::new(),
            next_steps: vec![format!("flyball run --resume {}", self.run)],
            tally: self.governor.standing().map(|standing| standing.tally).unwrap_or_default(),
        }
    }
}

/// The error with its causes.
fn in_a_line(error: &CliError) -> String {
    let causes = error.causes.iter().map(String::as_str);
    std::iter::once(error.message.as_str()).chain(causes).collect::<Vec<_>>().join(": ")
}
