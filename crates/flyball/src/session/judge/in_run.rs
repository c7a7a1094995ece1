//! The run judges: every question goes to its door, and so does what was spent, so that a budget ends
//! a session before the next call and not a little later.

use std::time::Duration;

use flyball_core::call::{ToolCall, ToolResult, ValidationFailure, texts};
use flyball_core::door::DoorAnswer;
use flyball_core::event::Spend;
use flyball_core::guard::Rung;
use flyball_core::{Millis, Moment, SubAgent};

use super::{Judge, Kept, Rest, Spoken};
use crate::clock::Clock;
use crate::door::{DoorError, Input, RunSession};
use crate::error::CliError;
use crate::gate::Observe;

/// The run's one ring, at its door.
pub(crate) struct InRun {
    run: RunSession,
    clock: Clock,
    began: Moment,
    latest_life: Moment,
}

impl InRun {
    /// The judge at this door.
    pub(crate) fn at(run: RunSession) -> Self {
        let clock = Clock::start();
        let now = clock.now();
        Self { run, clock, began: now, latest_life: now }
    }

    fn ask(&self, input: Input, context: Option<u16>) -> Spoken {
        match self.run.ask(input, context) {
            Ok(DoorAnswer { rung, message, trip, .. }) => {
                Spoken { rung, message: Some(message).filter(|text| !text.is_empty()), trip }
            }
            // Whoever does not judge any more has ended this session.
            Err(error) => Spoken { rung: Rung::Halt, message: Some(error.to_string()), trip: None },
        }
    }
}

impl Judge for InRun {
    fn before(&mut self, call: &ToolCall) -> Spoken {
        self.ask(Input::Call(call.clone()), None)
    }

    fn after(&mut self, result: &ToolResult) -> Spoken {
        self.ask(Input::Result(result.clone()), None)
    }

    fn invalid(&mut self, failure: &ValidationFailure) -> Spoken {
        self.ask(Input::Invalid(failure.clone()), None)
    }

    fn spoke(&mut self, _agent: &SubAgent, _words: &str) -> Spoken {
        // The run reads it in the stream.
        Spoken::pass()
    }

    fn filled(&mut self, permille: u16) -> Spoken {
        self.ask(Input::Nothing, Some(permille))
    }

    fn spent(&mut self, spend: Spend) -> Spoken {
        self.ask(Input::Spent(spend), None)
    }

    fn time_left(&self) -> Option<Duration> {
        None
    }

    fn life(&mut self) {
        self.latest_life = self.clock.now();
    }

    fn stalled(&mut self) -> Spoken {
        let now = self.clock.now();
        let idle: Millis = now.since(self.latest_life);
        self.latest_life = now;
        let message = Some(texts::stall(idle, now.since(self.began), None));
        Spoken { rung: Rung::Nudge, message, trip: None }
    }

    fn human(&mut self) {}

    fn resumed(&mut self) {}

    fn rest(&mut self, said: &str, _watch: Observe<'_>) -> Result<Rest, CliError> {
        let stop = Input::Stop { said: Some(said.to_owned()) };
        match self.run.ask(stop, None) {
            Ok(DoorAnswer { rung, message, .. }) if rung >= Rung::Refuse => {
                Ok(Rest::Refused(message))
            }
            // A run that is over has no use for more.
            Ok(_) | Err(DoorError::Over | DoorError::Unreachable(_)) => Ok(Rest::Allowed),
            Err(error) => Err(CliError::io("the run cannot be asked").cause(error)),
        }
    }

    fn kept(&self) -> Option<Kept> {
        None
    }
}
