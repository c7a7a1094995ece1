//! What a human says to a run while it goes on, and what the run answers.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::id::IterationNo;
use crate::moment::Millis;
use crate::policy::{LimitRules, Policy, PolicyError};

/// The longest word a human can put in at once, in characters: it stands in a briefing whole.
pub const WORD_MAX: usize = 4_000;

/// How many words are kept that have not reached an agent yet.
pub const WORDS_MAX: usize = 4;

/// What a human wants of a run that goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "wish", rename_all = "snake_case")]
pub enum HumanWish {
    /// A word for the agent: at once where it listens, else with the next briefing.
    Tell {
        /// The word.
        text: String,
    },
    /// Other limits from now on: all of them, or none when one makes no sense.
    ChangeLimits {
        /// Which.
        limits: Vec<LimitChange>,
    },
    /// No further iteration begins.
    StopAfterIteration,
}

/// A limit of the run, as it shall be from now on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "limit", content = "value", rename_all = "snake_case")]
pub enum LimitChange {
    /// `limits.iterations`
    Iterations(u32),
    /// `limits.stuck`
    Stuck(u32),
    /// `limits.runtime`
    Runtime(Millis),
    /// `limits.tokens`
    Tokens(u64),
    /// `limits.cost_usd`
    CostUsd(f64),
    /// `limits.iteration_timeout`
    IterationTimeout(Millis),
    /// `limits.stall_after`
    StallAfter(Millis),
    /// `limits.wait`
    Wait(Millis),
    /// `limits.stop_grace`
    StopGrace(Millis),
}

impl LimitChange {
    /// The policy with these limits; the first senseless one is the error.
    ///
    /// ```
    /// use flyball_core::Policy;
    /// use flyball_core::human::LimitChange;
    ///
    /// let policy = LimitChange::applied(&[LimitChange::Iterations(30)], &Policy::default()).unwrap();
    /// assert_eq!(policy.limits.iterations, 30);
    /// assert!(LimitChange::applied(&[LimitChange::Stuck(0)], &policy).is_err());
    /// ```
    pub fn applied(changes: &[Self], policy: &Policy) -> Result<Policy, PolicyError> {
        let mut rules = policy.clone().into_rules();
        for change in changes {
            change.put(&mut rules.limits);
        }
        Policy::new(rules)
    }

    const fn put(&self, limits: &mut LimitRules) {
        match *self {
            Self::Iterations(count) => limits.iterations = count,
            Self::Stuck(count) => limits.stuck = count,
            Self::Runtime(span) => limits.runtime = span,
            Self::Tokens(count) => limits.tokens = count,
            Self::CostUsd(money) => limits.cost_usd = money,
            Self::IterationTimeout(span) => limits.iteration_timeout = span,
            Self::StallAfter(span) => limits.stall_after = span,
            Self::Wait(span) => limits.wait = span,
            Self::StopGrace(span) => limits.stop_grace = span,
        }
    }
}

/// What a human is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum HumanReply {
    /// The agent has been told.
    Steered,
    /// The agent is told when it next asks at its door, or the next one in its briefing.
    AtItsDoor,
    /// The next briefing says it.
    NextBriefing,
    /// The limits hold.
    Changed,
    /// Nothing was changed.
    Refused {
        /// Why.
        why: String,
    },
    /// The run ends once this iteration is over.
    StopsAfter {
        /// Which.
        iteration: IterationNo,
    },
    /// No iteration was under way: the run ends now.
    EndsNow,
}

/// How a human's word reached an agent, or that it did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WordWay {
    /// It was pushed to it.
    Steer,
    /// It came with an answer at its door.
    Door,
    /// It stood in its briefing.
    Briefing,
    /// Newer words took its place before anyone could hear it.
    Forgotten,
    /// The run ended before anyone could hear it; a resume says it first.
    Unheard,
}
