//! What a session's calls add up to.

use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::failures::Failures;
use crate::call::{ToolOutcome, texts};

/// Tools counted by name; calls of further ones are counted together.
const MAX_TOOLS: usize = 48;

/// The counts of a session, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallStatus {
    /// Calls in all, refused ones included.
    pub calls: u64,
    /// Calls per tool.
    pub tools: BTreeMap<String, u64>,
    /// Calls of tools beyond those counted by name.
    pub other_tools: u64,
    /// Identical calls in a row, of the sub-agent that called last.
    pub streak: u64,
    /// What speaks for going nowhere, 0 to 40, of the sub-agent that called last (A3).
    #[serde(default)]
    pub evidence: u8,
    /// Refused calls since the session began or a human spoke.
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
    pub(super) failures: Failures,
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

    /// A call ran, like this.
    pub(super) const fn count_answer(&mut self, outcome: ToolOutcome) {
        match outcome {
            ToolOutcome::Ok | ToolOutcome::Exit => self.count_success(),
            ToolOutcome::Tool => self.failures.count(),
            ToolOutcome::Refused => {}
        }
    }

    /// A call that ran, whatever its program answered, ends both streaks.
    const fn count_success(&mut self) {
        self.failures.succeeded();
        self.validation_streak = 0;
    }

    /// A human spoke: refusals are forgotten, and every streak is over.
    pub(super) const fn begin_anew(&mut self) {
        self.refusals = 0;
        self.count_success();
    }

    pub(super) const fn count_invalid(&mut self) -> u32 {
        self.validation_failures = self.validation_failures.saturating_add(1);
        self.validation_streak = self.validation_streak.saturating_add(1);
        self.validation_streak
    }

    pub(super) const fn end_invalid(&mut self) {
        self.validation_streak = 0;
    }

    pub(super) fn status(&self, streak: u64, evidence: u8, context_percent: u8) -> CallStatus {
        CallStatus {
            calls: self.calls,
            tools: self.tools.clone(),
            other_tools: self.other_tools,
            streak,
            evidence,
            refusals: self.refusals,
            failure_streak: self.failures.streak(),
            failures: self.failures.total(),
            validation_streak: self.validation_streak,
            validation_failures: self.validation_failures,
            context_percent,
        }
    }
}
