//! Characters that go nowhere with their calls, and characters that only look like it.

use flyball_core::RoundId;
use flyball_core::call::ToolOutcome;
use flyball_core::door::Matter;
use flyball_core::event::AgentFact;

use super::{Act, Writer};
use crate::sim::persona::Persona;

#[expect(clippy::wildcard_enum_match_arm, reason = "everyone else is written elsewhere")]
impl Writer<'_, '_> {
    /// What they do; false for everyone else.
    pub(super) fn calling(&mut self) -> bool {
        match self.stage.persona {
            Persona::LapRunner => self.laps(),
            Persona::OldCallShuffler => self.shuffled(),
            Persona::Reapplier => self.reapplied(),
            Persona::PatientPoller => self.polled(),
            Persona::Twins => self.twins(),
            Persona::CancelledSiblings => self.cancelled(),
            Persona::Redirected => self.redirected(),
            Persona::MalformedClaimer => self.says("<promise>BLOCKED:</promise>"),
            _ => return false,
        }
        true
    }

    fn laps(&mut self) {
        let pause = self.rng.between(500, 5_000);
        for number in 0..3 + self.stage.quirk % 4 {
            let (call, result) = self.call(&format!("stop {number} of the lap"), ToolOutcome::Ok);
            self.tail.push((pause, Act::Fact(AgentFact::CalledTool(call))));
            self.tail.push((1, Act::Fact(AgentFact::ToolReturned(result))));
        }
    }

    fn shuffled(&mut self) {
        for number in 0..6 {
            self.calls(&format!("look at file {number}"), ToolOutcome::Ok);
        }
        let mut last = 0;
        for _ in 0..80 {
            // Never the same twice in a row, and in no order.
            last = (last + 1 + self.rng.below(5)) % 6;
            self.calls(&format!("look at file {last}"), ToolOutcome::Ok);
        }
        self.says("");
    }

    fn reapplied(&mut self) {
        for what in ["write one way", "write the other way"].repeat(20) {
            let (call, result) = self.call(what, ToolOutcome::Ok);
            self.fact(AgentFact::CalledTool(call.changing_files()));
            self.fact(AgentFact::ToolReturned(result));
        }
        self.says("");
    }

    /// Asks about each call by a hook as well, as clients with hooks do.
    fn polled(&mut self) {
        for number in 0..24 {
            let (call, mut result) = self.call("poll", ToolOutcome::Ok);
            result.result = flyball_core::call::fingerprint_result(&format!("line {number} of it"));
            result.raw = None;
            self.asks(Matter::Call(call.clone()));
            self.fact(AgentFact::CalledTool(call));
            self.fact(AgentFact::ToolReturned(result));
        }
        self.honest();
    }

    fn twins(&mut self) {
        for round in 0..3 {
            let mut results = Vec::new();
            for _ in 0..7 {
                let (call, result) = self.call("the same at once", ToolOutcome::Ok);
                let call = call.in_round(RoundId::new(format!("turn {round}")));
                self.fact(AgentFact::CalledTool(call));
                results.push(result);
            }
            for result in results {
                self.fact(AgentFact::ToolReturned(result));
            }
        }
        self.honest();
    }

    fn cancelled(&mut self) {
        for round in 0..8 {
            let mut results = Vec::new();
            for number in 0..4 {
                let outcome = if number == 0 { ToolOutcome::Tool } else { ToolOutcome::Refused };
                let (call, result) = self.call(&format!("{number} of round {round}"), outcome);
                let call = call.in_round(RoundId::new(format!("turn {round}")));
                self.fact(AgentFact::CalledTool(call));
                results.push(result);
            }
            for result in results {
                self.fact(AgentFact::ToolReturned(result));
            }
        }
        self.honest();
    }

    fn redirected(&mut self) {
        for _ in 0..5 {
            for _ in 0..4 {
                self.calls("what the human asked for", ToolOutcome::Ok);
            }
            self.fact(AgentFact::HeardHuman);
        }
        self.honest();
    }
}
