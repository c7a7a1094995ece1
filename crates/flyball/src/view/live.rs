//! How a run stands right now, in one line: the parts that matter most first, so that a narrow
//! terminal loses the others.

use flyball_core::governor::{RunPhase, RunStanding};
use flyball_core::{GateName, IterationNo, Millis, Moment};

use super::words;
use crate::clock;
use crate::gate::GateProgress;

/// What is known of the moment beside the governor's standing.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// The iteration and since when it is at work.
    began: Option<(IterationNo, Moment)>,
    /// The call that runs, in words.
    call: Option<(String, String)>,
    /// When the agent was heard last.
    heard: Option<Moment>,
    /// The gates that run, and since when.
    gates: Vec<(GateName, String, Moment)>,
}

impl Live {
    /// A call begins.
    pub(super) fn calls(&mut self, id: &str, words: &str) {
        // In one line the two blanks would look like a part of their own.
        self.call = Some((id.to_owned(), words.replacen("  ", " ", 1)));
    }

    /// A call is over.
    pub(super) fn returned(&mut self, id: &str) {
        if self.call.as_ref().is_some_and(|(open, _)| open == id) {
            self.call = None;
        }
    }

    /// The agent gave a sign.
    pub(super) fn hears(&mut self, at: Moment) {
        self.heard = Some(at);
    }

    /// An iteration begins, or its agent is gone.
    pub(super) fn forget(&mut self) {
        (self.call, self.heard) = (None, None);
    }

    /// A gate begins or ends.
    pub(super) fn gate(&mut self, at: Moment, progress: &GateProgress) {
        match progress {
            GateProgress::Started { name, index, of } => {
                let place = if *of > 1 { format!(" ({index} of {of})") } else { String::new() };
                self.gates.push((name.clone(), format!("gate {name}{place}"), at));
            }
            GateProgress::Finished(check) | GateProgress::Cached(check) => {
                self.gates.retain(|(name, ..)| *name != check.gate);
            }
        }
    }

    /// All gates have ended.
    pub(super) fn no_gates(&mut self) {
        self.gates.clear();
    }

    /// The parts of the line, the most wanted first.
    pub(super) fn parts(&mut self, now: Moment, standing: &RunStanding<'_>) -> Vec<String> {
        let number = standing.iteration;
        let began = self.since(now, number);
        let limits = standing.limits;
        let mut parts = vec![match limits.iterations {
            _ if number == IterationNo::BASELINE => "baseline".to_owned(),
            0 => format!("#{number}"),
            max => format!("#{number}/{max}"),
        }];
        parts.extend(standing.task.map(|task| words::line(task.as_str(), 40)));
        parts.extend(self.activity(now, began, standing));
        let tally = standing.tally;
        parts.extend((tally.tokens > 0).then(|| format!("{} tokens", words::count(tally.tokens))));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a limit of money"
        )]
        let most = (limits.cost_usd.max(0.0) * 1e6) as u64;
        match (tally.cost_micro_usd, most) {
            (0, 0) => {}
            (spent, 0) => parts.push(words::dollars(spent)),
            (spent, most) => {
                parts.push(format!("{} of {}", words::dollars(spent), words::dollars(most)));
            }
        }
        if !limits.runtime.is_zero() {
            let left = limits.runtime.minus(Millis::new(tally.runtime_ms));
            parts.push(format!("{} left", words::short_span(left)));
        }
        parts
    }

    /// What is being done, and for how long.
    pub(super) fn doing(&mut self, now: Moment, standing: &RunStanding<'_>) -> Vec<String> {
        let began = self.since(now, standing.iteration);
        self.activity(now, began, standing)
    }

    /// Since when the iteration is at work, as far as was looked.
    fn since(&mut self, now: Moment, number: IterationNo) -> Moment {
        let began = match self.began {
            Some((of, began)) if of == number => began,
            Some(_) | None => now,
        };
        self.began = Some((number, began));
        began
    }

    fn activity(&self, now: Moment, began: Moment, standing: &RunStanding<'_>) -> Vec<String> {
        let since = |moment: Moment| words::short_span(now.since(moment));
        if let Some((_, gate, began)) = self.gates.last() {
            return vec![gate.clone(), since(*began)];
        }
        match standing.phase {
            RunPhase::Iterating => {
                let call = self.call.as_ref().map(|(_, words)| words.clone());
                let doing = call.unwrap_or_else(|| standing.mode.as_str().to_owned());
                let mut parts = vec![doing, since(began)];
                let heard = self.heard.filter(|heard| now.since(*heard).get() >= 1_000);
                parts.extend(heard.map(|heard| format!("last output {} ago", since(heard))));
                parts
            }
            RunPhase::Baselining | RunPhase::Gating => vec!["gates".to_owned()],
            RunPhase::Waiting => {
                let until = standing.waiting_until;
                let left =
                    until.map(|until| format!("{} left", words::short_span(until.since(now))));
                let goes_on =
                    until.map(|until| format!("goes on at {}", clock::time_of_day(until)));
                ["waits".to_owned()].into_iter().chain(left).chain(goes_on).collect()
            }
            RunPhase::Inspecting => vec!["looks at the work".to_owned()],
            RunPhase::Stopping => vec!["stops the agent".to_owned(), since(began)],
            RunPhase::Finished => vec!["ends".to_owned()],
        }
    }
}
