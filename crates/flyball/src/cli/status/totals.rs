//! What all runs come to, in one line.

use serde::Serialize;

use super::super::runs::{self, Life};
use super::super::words;
use crate::journal::RunSummary;

/// The runs of a repository and those of the machine.
#[derive(Debug, Default, Serialize)]
pub(super) struct Totals {
    /// None outside of a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    here: Option<Total>,
    machine: Total,
}

/// What some runs come to.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Total {
    runs: u64,
    at_work: u64,
    iterations: u64,
    tokens: u64,
    cost_micro_usd: u64,
}

impl Totals {
    /// Of all runs there are.
    pub(super) fn of(known: &[RunSummary], is_here: Option<&dyn Fn(&RunSummary) -> bool>) -> Self {
        let mut machine = Total::default();
        let mut inside = is_here.map(|_| Total::default());
        for run in known {
            machine.add(run);
            if let (Some(inside), Some(true)) = (&mut inside, is_here.map(|is_here| is_here(run))) {
                inside.add(run);
            }
        }
        Self { here: inside, machine }
    }

    /// Whether there are no runs at all.
    pub(super) const fn is_empty(&self) -> bool {
        self.machine.runs == 0
    }

    /// The line below the runs: those here, and how many there are besides.
    pub(super) fn text(&self) -> String {
        let Some(here) = self.here else { return format!("In all: {}\n", self.machine.words()) };
        let elsewhere = self.machine.runs - here.runs;
        let mut text = format!("Here: {}\n", here.words());
        if elsewhere > 0 {
            let runs = words::counted(usize::try_from(elsewhere).unwrap_or(usize::MAX), "run");
            let machine = self.machine.words();
            text = format!(
                "{text}On this machine: {machine}\n{runs} elsewhere: `flyball status --all`\n"
            );
        }
        text
    }
}

impl Total {
    fn add(&mut self, run: &RunSummary) {
        self.runs += 1;
        self.at_work += u64::from(runs::life(run) == Life::Running);
        self.iterations += u64::from(run.state.iteration.get());
        self.tokens = self.tokens.saturating_add(run.state.tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(run.state.cost_micro_usd);
    }

    fn words(&self) -> String {
        let many = |number: u64, noun: &str| {
            words::counted(usize::try_from(number).unwrap_or(usize::MAX), noun)
        };
        let mut parts = vec![many(self.runs, "run")];
        if self.at_work > 0 {
            parts.push(format!("{} at work", self.at_work));
        }
        parts.push(many(self.iterations, "iteration"));
        if self.tokens > 0 {
            parts.push(format!("{} tokens", words::count(self.tokens)));
        }
        if self.cost_micro_usd > 0 {
            parts.push(words::dollars(self.cost_micro_usd));
        }
        parts.join(" · ")
    }
}
