//! What is known of an agent program, and the policy as it holds while that agent is at work.

use serde::{Deserialize, Serialize};

use super::Policy;
use crate::moment::Millis;

/// What an agent can be told, what it tells, and what must be heeded for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentTraits {
    /// Whether a message can reach it in mid-session.
    pub steerable: bool,
    /// The most identical calls it can be allowed, so that one is refused before its own loop guard
    /// acts; none where it has none.
    #[serde(default)]
    pub refuse_after_at_most: Option<u32>,
    /// Its silence says nothing, as with a plain-text agent that thinks: no stall is looked for.
    #[serde(default)]
    pub may_be_silent: bool,
    /// Where its calls are known from.
    #[serde(default)]
    pub record: CallRecord,
}

/// Where the calls of an agent are known from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallRecord {
    /// What it asks, and what it shows if it shows any.
    #[default]
    Questions,
    /// Its stream, which shows every call it makes: what is only asked about was not made.
    Stream,
}

impl Policy {
    /// The policy while this agent is at work.
    #[must_use]
    pub fn for_agent(&self, agent: &AgentTraits) -> Self {
        let mut rules = self.0.clone();
        if let Some(most) = agent.refuse_after_at_most {
            // Never below the nudge, so that the policy stays a sensible one. Such a loop guard looks
            // at no results, so neither may the limit.
            let calls = &mut rules.calls;
            calls.refuse_after = calls.refuse_after.min(most).max(calls.nudge_after);
            calls.refuse_after_changing = calls.refuse_after_changing.min(calls.refuse_after);
        }
        if agent.may_be_silent {
            rules.limits.stall_after = Millis::ZERO;
        }
        Self(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_lowers_limits_and_raises_none() {
        let agent = |most| AgentTraits { refuse_after_at_most: most, ..AgentTraits::default() };
        let policy = Policy::default();
        for (most, refuse_after) in [(None, 5), (Some(9), 5), (Some(3), 3), (Some(1), 2)] {
            assert_eq!(policy.for_agent(&agent(most)).calls.refuse_after, refuse_after, "{most:?}");
        }
        assert_eq!(policy.for_agent(&agent(None)), policy);
        let silent = AgentTraits { may_be_silent: true, ..AgentTraits::default() };
        assert_eq!(policy.for_agent(&silent).limits.stall_after, Millis::ZERO);
    }
}
