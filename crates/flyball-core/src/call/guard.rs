//! The call ring with its rules and a clock: what an agent builder holds.

use serde_json::Value;

use super::context::ContextNotice;
use super::ring::{CallRing, CallStatus, Stall};
use super::verdict::Verdict;
use super::{Chant, Fingerprint, ToolCall, ToolResult, ValidationFailure};
use crate::id::{CallId, SubAgent};
use crate::moment::{Millis, Moment};
use crate::policy::CallRules;

/// The guards around one agent session, with rules and clock. The order of calls: [`before`] each
/// call, [`after`] each result, [`spoke`] or [`only_spoke`] when the model has answered in words, and
/// [`chanted`] when they end in a [`Chant`].
///
/// [`before`]: CallGuard::before
/// [`after`]: CallGuard::after
/// [`spoke`]: CallGuard::spoke
/// [`only_spoke`]: CallGuard::only_spoke
/// [`chanted`]: CallGuard::chanted
#[derive(Clone, Debug)]
pub struct CallGuard<C> {
    rules: CallRules,
    ring: CallRing,
    clock: C,
}

impl<C: FnMut() -> Moment> CallGuard<C> {
    /// Guards a session that begins now; the clock is asked at each report.
    pub fn new(rules: CallRules, clock: C) -> Self {
        Self::with_ring(rules, CallRing::new(), clock)
    }

    /// Guards a session whose ring was stored.
    pub const fn with_ring(rules: CallRules, ring: CallRing, clock: C) -> Self {
        Self { rules, ring, clock }
    }

    /// A call of the main agent, as the rules identify it.
    pub fn call(&self, id: CallId, tool: &str, args: &Value) -> ToolCall {
        ToolCall::new(id, tool, args, &self.rules)
    }

    /// [`CallRing::ask`] with these rules, now.
    pub fn ask(&mut self, call: &ToolCall) -> Verdict {
        self.ring.ask(&self.rules, (self.clock)(), call)
    }

    /// [`CallRing::before`] with these rules, now.
    pub fn before(&mut self, call: &ToolCall) -> Verdict {
        self.ring.before(&self.rules, (self.clock)(), call)
    }

    /// [`CallRing::after`] with these rules, now.
    pub fn after(&mut self, result: &ToolResult) -> Verdict {
        self.ring.after(&self.rules, (self.clock)(), result)
    }

    /// [`CallRing::invalid`] with these rules, now.
    pub fn invalid(&mut self, failure: &ValidationFailure) -> Verdict {
        self.ring.invalid(&self.rules, (self.clock)(), failure)
    }

    /// [`CallRing::spoke`], now.
    pub fn spoke(&mut self) {
        self.ring.spoke((self.clock)());
    }

    /// [`CallRing::only_spoke`] with these rules, now.
    pub fn only_spoke(&mut self, agent: &SubAgent, words: Option<Fingerprint>) -> Verdict {
        self.ring.only_spoke(&self.rules, (self.clock)(), agent, words)
    }

    /// [`CallRing::chanted`] with these rules, now.
    pub fn chanted(&mut self, chant: &Chant) -> Verdict {
        self.ring.chanted(&self.rules, (self.clock)(), chant)
    }

    /// [`CallRing::human`], now.
    pub fn human(&mut self) {
        self.ring.human((self.clock)());
    }

    /// [`CallRing::life`], now.
    pub fn life(&mut self) {
        self.ring.life((self.clock)());
    }

    /// [`CallRing::context`].
    pub fn context(&mut self, permille: u16) -> Option<ContextNotice> {
        self.ring.context(permille)
    }

    /// [`CallRing::stalled`], now.
    pub fn stalled(&mut self, stall_after: Millis) -> Option<Stall> {
        self.ring.stalled((self.clock)(), stall_after)
    }

    /// [`CallRing::overdue`], now.
    pub fn overdue(&mut self, timeout: Millis) -> Option<Stall> {
        self.ring.overdue((self.clock)(), timeout)
    }

    /// What has been counted.
    pub fn status(&self) -> CallStatus {
        self.ring.status()
    }

    /// The ring, to be stored.
    pub const fn ring(&self) -> &CallRing {
        &self.ring
    }

    /// The rules.
    pub const fn rules(&self) -> &CallRules {
        &self.rules
    }
}
