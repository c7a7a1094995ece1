//! Characters that go nowhere with their calls, and characters that only look like it.

use flyball_core::call::{Chant, ToolOutcome, ToolResult, fingerprint_words};
use flyball_core::door::Matter;
use flyball_core::event::AgentFact;
use flyball_core::{RoundId, SubAgent};

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
            Persona::Chanter => self.chants(),
            Persona::Asker => self.asks_in_vain(),
            Persona::Inserter => self.inserts(),
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

    /// Says the same, in one turn and turn after turn, and then does its work.
    fn chants(&mut self) {
        if let Some(chant) = Chant::at_end_of(&"I will try again. ".repeat(20)) {
            self.fact(AgentFact::Chanted(chant));
        }
        let words = fingerprint_words("Let me try again.");
        for _ in 0..self.rng.between(3, 8) {
            self.fact(AgentFact::OnlySpoke { agent: SubAgent::default(), words });
        }
        self.honest();
    }

    /// Changes something new each time and gets the old answer; asks something new each time and gets
    /// the old answer.
    fn asks_in_vain(&mut self) {
        for number in 0..6 {
            let (call, result) = self.call(&format!("edit {number}"), ToolOutcome::Ok);
            self.fact(AgentFact::CalledTool(call.changing_files()));
            self.fact(AgentFact::ToolReturned(result));
            self.answers("run the tests", "the test of the parser still fails");
        }
        for number in 0..8 {
            self.answers(&format!("search for word {number}"), "there is nothing of that kind");
        }
        self.honest();
    }

    /// Makes the same change again and again, and each time it brings something else.
    fn inserts(&mut self) {
        for number in 0..5 {
            let (call, result) = self.call("insert a line", ToolOutcome::Ok);
            let text = format!("the file has {number} lines more");
            self.fact(AgentFact::CalledTool(call.changing_files()));
            self.fact(AgentFact::ToolReturned(ToolResult::new(result.id, result.outcome, &text)));
        }
        self.honest();
    }

    fn answers(&mut self, what: &str, answer: &str) {
        let (call, result) = self.call(what, ToolOutcome::Ok);
        self.fact(AgentFact::CalledTool(call));
        self.fact(AgentFact::ToolReturned(ToolResult::new(result.id, result.outcome, answer)));
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
