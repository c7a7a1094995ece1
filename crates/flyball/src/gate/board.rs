//! Where each gate of a run of gates stands: which can begin, which no longer can, and what came of each.

use flyball_core::GateName;
use flyball_core::gate::{Check, CheckStatus};

use super::plan::Gate;
use super::run::{GateProgress, GateRunner, Known, Observe};

/// Where each gate stands.
pub(super) struct Board<'a> {
    places: Vec<(&'a Gate, Place)>,
    observe: Observe<'a>,
    begun: usize,
    wanted: usize,
}

#[expect(clippy::large_enum_variant, reason = "a handful of gates")]
enum Place {
    Waiting,
    Running,
    Done(Check),
}

impl<'a> Board<'a> {
    pub(super) fn new(of: &'a GateRunner, observe: Observe<'a>) -> Self {
        let names = if of.only.is_empty() { of.plan.names() } else { of.plan.with_needs(&of.only) };
        let place = |gate: &'a Gate| {
            let asked = names.contains(&gate.name);
            let skipped = || Place::Done(Check::skipped(gate.name.as_str(), "not asked for"));
            (gate, if asked { Place::Waiting } else { skipped() })
        };
        let places = of.plan.gates().iter().map(place).collect();
        Self { places, observe, begun: 0, wanted: names.len() }
    }

    /// The next gate that can run now; those that no longer can are skipped.
    pub(super) fn next(&mut self) -> Option<usize> {
        while let Some((at, reason)) = self.hopeless() {
            let Some((gate, _)) = self.places.get(at) else { break };
            self.end(at, Check::skipped(gate.name.as_str(), reason));
        }
        let ready = |(gate, place): &(&Gate, Place)| {
            matches!(place, Place::Waiting)
                && gate.needs.iter().all(|need| self.status(need) == Some(&CheckStatus::Passed))
        };
        self.places.iter().position(ready)
    }

    /// A gate that waits for one that is not green, and why it is skipped.
    fn hopeless(&self) -> Option<(usize, String)> {
        let waiting =
            self.places.iter().enumerate().filter(|(_, (_, p))| matches!(p, Place::Waiting));
        waiting.into_iter().find_map(|(at, (gate, _))| {
            gate.needs.iter().find_map(|need| match self.status(need)? {
                CheckStatus::Passed => None,
                CheckStatus::Failed => Some((at, format!("`{need}` failed"))),
                CheckStatus::TimedOut => Some((at, format!("`{need}` timed out"))),
                CheckStatus::Skipped { .. } => Some((at, format!("`{need}` was skipped"))),
            })
        })
    }

    fn status(&self, name: &GateName) -> Option<&CheckStatus> {
        self.places.iter().find_map(|(gate, place)| match place {
            Place::Done(check) if gate.name == *name => Some(&check.status),
            Place::Done(_) | Place::Waiting | Place::Running => None,
        })
    }

    /// Takes a gate's known result, or notes that it runs; says whether it was known.
    pub(super) fn begin(&mut self, at: usize, known: Known<'_>) -> bool {
        self.begun = self.begun.saturating_add(1);
        let Some((gate, place)) = self.places.get_mut(at) else { return true };
        if let Some(check) = known(gate) {
            *place = Place::Done(check.clone());
            (self.observe)(GateProgress::Cached(check));
            return true;
        }
        *place = Place::Running;
        let name = gate.name.clone();
        (self.observe)(GateProgress::Started { name, index: self.begun, of: self.wanted });
        false
    }

    pub(super) fn end(&mut self, at: usize, check: Check) {
        if let Some((_, place)) = self.places.get_mut(at) {
            *place = Place::Done(check.clone());
            (self.observe)(GateProgress::Finished(check));
        }
    }

    pub(super) fn checks(self) -> Vec<Check> {
        let checks = self.places.into_iter().map(|(gate, place)| match place {
            Place::Done(check) => check,
            // Not possible after all have ended; still nothing that could be taken for green.
            Place::Waiting | Place::Running => Check::failed(gate.name.as_str()),
        });
        checks.collect()
    }
}
