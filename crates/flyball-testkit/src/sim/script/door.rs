//! Characters that ask at their door: about calls, and whether they may stop.

use std::collections::BTreeSet;

use flyball_core::call::ToolOutcome;
use flyball_core::door::{DoorQuestion, Matter};
use flyball_core::event::{AgentFact, ExitHow};

use super::{Act, Words, Writer};
use crate::sim::persona::Persona;
use crate::sim::repo::{Deed, Step, TESTS};

#[expect(clippy::wildcard_enum_match_arm, reason = "each function knows its own characters")]
impl Writer<'_, '_> {
    /// Characters that ask before they end, too early.
    pub(super) fn stopper(&mut self) {
        let reds = match self.stage.persona {
            Persona::StopsUncommitted => BTreeSet::new(),
            _ => (0..self.rng.between(1, 4)).map(|number| (number * 3) % TESTS).collect(),
        };
        self.deed(Deed::Work(reds));
        if self.stage.persona != Persona::StopsAgain {
            self.deed(Deed::Step(Step::Forward));
        }
        if self.stage.persona != Persona::StopsUncommitted {
            self.deed(Deed::Commit(String::from("work")));
        }
        self.push(Act::AskToStop);
        match self.stage.persona {
            Persona::StopsAgain => self.says("<promise>COMPLETE</promise>"),
            _ => self.exit(ExitHow::Code(0), Words::Honest),
        }
    }

    pub(super) fn asking_looper(&mut self) {
        for _ in 0..12 {
            let (call, result) = self.call("the same", ToolOutcome::Ok);
            self.asks(Matter::Call(call.clone()));
            self.fact(AgentFact::CalledTool(call));
            self.asks(Matter::Result(result.clone()));
            self.fact(AgentFact::ToolReturned(result));
        }
        self.says("");
    }

    pub(super) fn asks(&mut self, matter: Matter) {
        self.asked += 1;
        let (number, hears) = (self.asked, self.rng.chance(50));
        self.fact(AgentFact::Asked(DoorQuestion { number, matter, hears, context: None }));
    }
}
