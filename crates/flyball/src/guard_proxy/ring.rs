//! Who judges the calls: the run this proxy works in, or a ring of its own. One judge per session.

use std::sync::{Mutex, MutexGuard, PoisonError};

use flyball_core::SubAgent;
use flyball_core::call::{CallRing, ToolCall, ToolResult, ValidationFailure, Verdict};
use flyball_core::door::DoorAnswer;
use flyball_core::guard::Rung;
use flyball_core::policy::CallRules;

use crate::clock::Clock;
use crate::door::{DoorError, Input, RunSession};

/// What is done with a call or a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spoken {
    /// Whether the call does not run.
    pub(super) refused: bool,
    /// What the agent is told.
    pub(super) message: Option<String>,
}

impl Spoken {
    fn of(verdict: &Verdict) -> Self {
        Self { refused: !verdict.may_run(), message: verdict.message().map(str::to_owned) }
    }

    fn answered(answer: DoorAnswer) -> Self {
        let refused = answer.rung >= Rung::Refuse;
        Self { refused, message: Some(answer.message).filter(|message| !message.is_empty()) }
    }
}

/// The judge of the calls.
#[derive(Debug)]
pub(super) struct Ring {
    rules: CallRules,
    clock: Clock,
    own: Mutex<CallRing>,
    /// The run, when this proxy works in one.
    run: Option<RunSession>,
    /// Calls through this proxy are a track of their own: the agent's stream does not know them.
    agent: SubAgent,
}

impl Ring {
    pub(super) fn new(rules: CallRules) -> Self {
        Self {
            rules,
            clock: Clock::start(),
            own: Mutex::default(),
            run: RunSession::of_process("mcp-guard"),
            agent: SubAgent::new(format!("mcp-guard-{}", std::process::id())),
        }
    }

    /// The limits.
    pub(super) const fn rules(&self) -> &CallRules {
        &self.rules
    }

    /// A call is about to run.
    pub(super) fn before(&self, call: ToolCall) -> Spoken {
        let call = call.by(self.agent.clone());
        self.ask_run(Input::Call(call.clone()))
            .unwrap_or_else(|| Spoken::of(&self.own().before(&self.rules, self.clock.now(), &call)))
    }

    /// A call was answered.
    pub(super) fn after(&self, result: ToolResult) -> Spoken {
        let result = result.by(self.agent.clone());
        self.ask_run(Input::Result(result.clone())).unwrap_or_else(|| {
            Spoken::of(&self.own().after(&self.rules, self.clock.now(), &result))
        })
    }

    /// A call was none the server could understand.
    pub(super) fn invalid(&self, failure: &ValidationFailure) -> Spoken {
        self.ask_run(Input::Invalid(failure.clone())).unwrap_or_else(|| {
            Spoken::of(&self.own().invalid(&self.rules, self.clock.now(), failure))
        })
    }

    /// The run's word; none when it is not the run's to judge. A run that does not answer lets
    /// everything pass: another judge beside it would be worse.
    fn ask_run(&self, input: Input) -> Option<Spoken> {
        match self.run.as_ref()?.ask(input, None) {
            Ok(answer) => Some(Spoken::answered(answer)),
            Err(DoorError::Refused(_)) => None,
            Err(DoorError::Over | DoorError::Unreachable(_) | DoorError::Unreadable(_)) => {
                Some(Spoken::default())
            }
        }
    }

    fn own(&self) -> MutexGuard<'_, CallRing> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
