//! What a session's calls add up to.

use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::call::texts;

/// Tools counted by name; calls of further ones are counted together.
const MAX_TOOLS: usize = 48;

/// The counts of a session, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallStatus {
    /// Calls in all, refused ones included.
    pub calls: u64,
    /// Calls per tool.
    pub tools: BTreeMap<String, u64>,
    /// Calls of tools beyond those counted by name.
    pub other_tools: u64,
    /// Identical calls in a row, of the sub-agent that called last.
    pub streak: u64,
    /// Refused calls.
    pub refusals: u32,
    /// Failed tool executions in a row.
    pub failure_streak: u32,
    /// Failed tool executions in all.
    pub failures: u64,
    /// Validation failures in a row.
    pub validation_streak: u32,
    /// Validation failures in all.
    pub validation_failures: u64,
    /// The highest step of context fill crossed, in percent; 0 before the first.
    pub context_percent: u8,
}

/// The counts as they are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    calls: u64,
    tools: BTreeMap<String, u64>,
    other_tools: u64,
    refusals: u32,
    failure_streak: u32,
    failures: u64,
    validation_streak: u32,
    validation_failures: u64,
}

impl Tally {
    pub(super) const fn calls(&self) -> u64 {
        self.calls
    }

    pub(super) fn count_call(&mut self, tool: &str) {
        self.calls = self.calls.saturating_add(1);
        // The name is only copied for a tool's first call.
        if let Some(count) = self.tools.get_mut(tool) {
            *count = count.saturating_add(1);
            return;
        }
        let name = texts::stored_name(tool);
        if self.tools.len() < MAX_TOOLS || self.tools.contains_key(&name) {
            let count = self.tools.entry(name).or_default();
            *count = count.saturating_add(1);
        } else {
            self.other_tools = self.other_tools.saturating_add(1);
        }
    }

    pub(super) const fn count_refusal(&mut self) -> u32 {
        self.refusals = self.refusals.saturating_add(1);
        self.refusals
    }

    /// A call that ran, whatever its program answered, ends both streaks.
    pub(super) const fn count_success(&mut self) {
        self.failure_streak = 0;
        self.validation_streak = 0;
    }

    pub(super) const fn count_failure(&mut self) -> u32 {
        self.failures = self.failures.saturating_add(1);
        self.failure_streak = self.failure_streak.saturating_add(1);
        self.failure_streak
    }

    pub(super) const fn count_invalid(&mut self) -> u32 {
        self.validation_failures = self.validation_failures.saturating_add(1);
        self.validation_streak = self.validation_streak.saturating_add(1);
        self.validation_streak
    }

    pub(super) const fn end_invalid(&mut self) {
        self.validation_streak = 0;
    }

    pub(super) fn status(&self, streak: u64, context_percent: u8) -> CallStatus {
        CallStatus {
            calls: self.calls,
            tools: self.tools.clone(),
            other_tools: self.other_tools,
            streak,
            refusals: self.refusals,
            failure_streak: self.failure_streak,
            failures: self.failures,
            validation_streak: self.validation_streak,
            validation_failures: self.validation_failures,
            context_percent,
        }
    }
}
