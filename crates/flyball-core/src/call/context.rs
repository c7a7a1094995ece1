//! How full the agent's context window is (A8): one notice per step, never back down, advice only.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::texts;
use crate::guard::{GuardKind, Trip};

/// The steps, in percent, highest first.
const STEPS: [u8; 5] = [90, 80, 70, 60, 50];

/// How urgent a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ContextLevel {
    /// From 50 %.
    Notice,
    /// From 70 %.
    Warning,
    /// From 90 %.
    Critical,
}

impl fmt::Display for ContextLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Notice => "NOTICE",
            Self::Warning => "WARNING",
            Self::Critical => "CRITICAL",
        })
    }
}

/// A step of context fill was crossed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextNotice {
    /// How urgent it is.
    pub level: ContextLevel,
    /// The step crossed, in percent.
    pub percent: u8,
    /// What the agent is told.
    pub message: String,
    /// What was measured, in percent.
    pub trip: Trip,
}

/// The highest step crossed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ContextFill(u8);

impl ContextFill {
    pub(super) const fn percent(&self) -> u8 {
        self.0
    }

    /// A notice for the highest step newly crossed.
    pub(super) fn fill(&mut self, permille: u16) -> Option<ContextNotice> {
        let step = STEPS.into_iter().find(|step| permille >= u16::from(*step) * 10)?;
        if step <= self.0 {
            return None;
        }
        self.0 = step;
        let level = match step {
            90.. => ContextLevel::Critical,
            70.. => ContextLevel::Warning,
            _ => ContextLevel::Notice,
        };
        let message = texts::context(level, step);
        let measured = u64::from(permille) / 10;
        let evidence = texts::context_evidence(measured);
        let trip = Trip::new(GuardKind::ContextFill, measured, step, evidence);
        Some(ContextNotice { level, percent: step, message, trip })
    }
}
