//! A journalled run told again: every event is given to a governor anew, so that what was decided
//! is known without having been stored.

use flyball_core::{Effect, Event, Governor, Moment};

use super::line::Line;
use super::narrator::Narrator;
use super::opening::Opening;
use crate::journal::RunSummary;

/// What one event led to.
#[derive(Debug)]
pub struct Step {
    /// What was decided.
    pub effects: Vec<Effect>,
    /// What is told of it.
    pub lines: Vec<Line>,
}

/// Tells a run again, event by event.
#[derive(Debug)]
pub struct Replay {
    governor: Governor,
    narrator: Narrator,
    root: String,
    agent: String,
}

impl Replay {
    /// From its beginning.
    pub fn new(run: &RunSummary) -> Self {
        Self {
            governor: Governor::new(),
            narrator: Narrator::of(&run.root.to_string_lossy()),
            root: run.root.to_string_lossy().into_owned(),
            agent: run.agent.clone(),
        }
    }

    /// The next event.
    pub fn step(&mut self, at: Moment, event: &Event) -> Step {
        let mut lines = Vec::new();
        if let Event::RunStarted(start) = event {
            lines.extend(Opening::journalled(start, &self.root, &self.agent).lines(at));
        }
        lines.extend(self.narrator.happened(at, event));
        let effects = self.governor.step(at, event);
        for effect in &effects {
            lines.extend(self.narrator.decided(at, effect));
        }
        Step { effects, lines }
    }

    /// How the run stands right now, in parts, the most wanted first; none before it began.
    pub fn live(&mut self, now: Moment) -> Option<Vec<String>> {
        let standing = self.governor.standing()?;
        Some(self.narrator.live(now, &standing))
    }

    /// What is being done right now, and for how long; none before it began.
    pub fn doing(&mut self, now: Moment) -> Option<Vec<String>> {
        let standing = self.governor.standing()?;
        Some(self.narrator.doing(now, &standing))
    }

    /// The governor these events led to.
    pub const fn governor(&self) -> &Governor {
        &self.governor
    }
}
