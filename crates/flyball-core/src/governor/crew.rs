//! The agents of a run: which one takes an iteration, who goes on when one cannot, and what each
//! role has used (B13, C4).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::effect::{Rescue, Role, RoleSpend};
use crate::event::{RunStart, Spend};
use crate::id::TaskId;
use crate::policy::AgentTraits;
use crate::tasklist::Mode;

/// The agents there are, and which one is at work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Crew {
    /// The configured one, then the others.
    pub(super) agents: Vec<AgentTraits>,
    /// What they are called, in the same order.
    #[serde(default)]
    names: Vec<String>,
    /// The one of the latest session.
    pub(super) in_session: u32,
    /// How many can go on when one cannot.
    fallbacks: u32,
    /// Which one works: 0 is the configured one, then its fallbacks.
    at_work: u32,
    /// The one that reviews.
    #[serde(default)]
    review: Option<u32>,
    /// The one that helps before a guard ends the run.
    rescue: Option<u32>,
    /// Where it has helped.
    pub(super) rescues: Vec<Rescue>,
    /// Those that cannot work in this run any more.
    #[serde(default)]
    out: BTreeSet<u32>,
    /// What each role has used, in the order they came.
    #[serde(default)]
    pub(super) spent: Vec<RoleSpend>,
}

/// Why an agent does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// A limit or an outage: it may work again later.
    ForNow,
    /// Its program is not there, or its credentials are refused.
    ForGood,
}

impl Crew {
    /// The agents a run begins with.
    pub(super) fn of(start: &RunStart) -> Self {
        Self {
            agents: core::iter::once(&start.agent).chain(&start.other_agents).copied().collect(),
            names: start.agent_names.clone(),
            fallbacks: start.fallbacks,
            review: start.review,
            rescue: start.rescue,
            ..Self::default()
        }
    }

    /// What is known of the agent of the latest session.
    pub(super) fn traits(&self) -> Option<AgentTraits> {
        self.agents.get(usize::try_from(self.in_session).ok()?).copied()
    }

    /// The agent that takes an iteration of this mode.
    pub(super) fn for_mode(&self, mode: Mode) -> u32 {
        match (mode, self.review) {
            (Mode::Review, Some(reviewer)) if !self.out.contains(&reviewer) => reviewer,
            (Mode::Implement | Mode::Review | Mode::ReviewFix, _) => self.at_work,
        }
    }

    /// The agent that helps with this task, unless it has already.
    pub(super) fn rescuer(&self, task: Option<&TaskId>) -> Option<u32> {
        let is_spent = self.rescues.iter().any(|rescue| rescue.task.as_ref() == task);
        self.rescue.filter(|rescuer| !is_spent && !self.out.contains(rescuer))
    }

    /// The agent of the latest session cannot go on: who takes its place at once. None where nobody
    /// can; after a limit the first of all has its turn again, later.
    pub(super) fn replace(&mut self, absence: Absence) -> Option<u32> {
        let absent = self.in_session;
        let only_reviews = absent != self.at_work;
        if absence == Absence::ForGood || only_reviews && self.fallbacks > 0 {
            self.out.insert(absent);
        }
        if only_reviews {
            let takes_over = self.out.contains(&absent) && !self.out.contains(&self.at_work);
            return takes_over.then_some(self.at_work);
        }
        let can = |agent: &u32| !self.out.contains(agent);
        let next = (absent.saturating_add(1)..=self.fallbacks).find(can);
        let first = (0..=self.fallbacks).find(can);
        match (next, first, absence) {
            (Some(next), ..) => self.at_work = next,
            (None, Some(first), Absence::ForGood) => self.at_work = first,
            (None, first, _) => {
                self.at_work = first.unwrap_or(self.at_work);
                return None;
            }
        }
        Some(self.at_work)
    }

    /// What an agent is called.
    fn name(&self, agent: u32) -> String {
        let name = usize::try_from(agent).ok().and_then(|at| self.names.get(at));
        name.cloned().unwrap_or_else(|| format!("agent {agent}"))
    }

    /// The role of the agent of the latest session.
    #[expect(clippy::fn_params_excessive_bools, reason = "one flag, named by its parameter")]
    fn role(&self, mode: Mode, is_rescue: bool) -> Role {
        match mode {
            _ if is_rescue => Role::Rescue,
            Mode::Review => Role::Review,
            Mode::Implement | Mode::ReviewFix if self.in_session > 0 => Role::Fallback,
            Mode::Implement | Mode::ReviewFix => Role::Work,
        }
    }

    /// A session of this kind begins.
    #[expect(clippy::fn_params_excessive_bools, reason = "one flag, named by its parameter")]
    pub(super) fn begins(&mut self, mode: Mode, is_rescue: bool) {
        let (role, agent) = (self.role(mode, is_rescue), self.name(self.in_session));
        let same = |one: &RoleSpend| one.role == role && one.agent == agent;
        if let Some(at) = self.spent.iter().position(same) {
            // The latest is the last: what is used is booked there.
            let mut known = self.spent.remove(at);
            known.sessions = known.sessions.saturating_add(1);
            self.spent.push(known);
        } else {
            let (sessions, tokens, cost_micro_usd) = (1, 0, 0);
            self.spent.push(RoleSpend { role, agent, sessions, tokens, cost_micro_usd });
        }
    }

    /// The agent of the latest session used something.
    pub(super) fn spend(&mut self, spend: Spend) {
        if let Some(last) = self.spent.last_mut() {
            let tokens = spend.input_tokens.saturating_add(spend.output_tokens);
            last.tokens = last.tokens.saturating_add(tokens);
            last.cost_micro_usd = last.cost_micro_usd.saturating_add(spend.cost_micro_usd);
        }
    }

    /// What each role has used, the work first.
    pub(super) fn by_role(&self) -> Vec<RoleSpend> {
        let mut roles = self.spent.clone();
        roles.sort_by(|one, other| (one.role, &one.agent).cmp(&(other.role, &other.agent)));
        roles
    }
}

#[cfg(test)]
mod tests {
    use std::prelude::rust_2024::*;

    use super::*;

    fn crew(fallbacks: u32, review: Option<u32>) -> Crew {
        let names = ["main", "next", "last", "critic"].map(String::from).to_vec();
        Crew { names, fallbacks, review, ..Crew::default() }
    }

    #[test]
    fn the_one_who_reviews_need_not_be_the_one_who_wrote() {
        let crew = crew(0, Some(3));
        assert_eq!(crew.for_mode(Mode::Review), 3);
        assert_eq!((crew.for_mode(Mode::Implement), crew.for_mode(Mode::ReviewFix)), (0, 0));
        assert_eq!(self::crew(0, None).for_mode(Mode::Review), 0);
    }

    #[test]
    fn who_goes_on_when_one_cannot() {
        use Absence::{ForGood, ForNow};
        // Fallbacks, then who is absent and why, and who takes the place.
        type Case = (u32, &'static [(u32, Absence, Option<u32>)]);
        let table: [Case; 7] = [
            (0, &[(0, ForNow, None)]),
            (0, &[(0, ForGood, None)]),
            (2, &[(0, ForNow, Some(1)), (1, ForNow, Some(2)), (2, ForNow, None)]),
            (2, &[(0, ForGood, Some(1)), (1, ForGood, Some(2)), (2, ForGood, None)]),
            // One that only reached its limit has its turn again when the others are gone.
            (1, &[(0, ForNow, Some(1)), (1, ForGood, Some(0))]),
            // One that is gone is not waited for.
            (
                2,
                &[
                    (0, ForGood, Some(1)),
                    (1, ForNow, Some(2)),
                    (2, ForNow, None),
                    (1, ForNow, Some(2)),
                ],
            ),
            (
                2,
                &[
                    (0, ForNow, Some(1)),
                    (1, ForGood, Some(2)),
                    (2, ForNow, None),
                    (0, ForNow, Some(2)),
                ],
            ),
        ];
        for (number, (fallbacks, steps)) in table.into_iter().enumerate() {
            let mut crew = crew(fallbacks, None);
            for (step, (absent, why, expected)) in steps.iter().enumerate() {
                assert_eq!(crew.for_mode(Mode::Implement), *absent, "{number}.{step}");
                crew.in_session = *absent;
                assert_eq!(crew.replace(*why), *expected, "{number}.{step}");
            }
        }
    }

    #[test]
    fn a_reviewer_that_cannot_is_waited_for_or_replaced() {
        let absent = |fallbacks, absence| {
            let mut crew = crew(fallbacks, Some(3));
            crew.in_session = 3;
            (crew.replace(absence), crew.for_mode(Mode::Review))
        };
        assert_eq!(absent(0, Absence::ForNow), (None, 3), "waited for");
        assert_eq!(absent(0, Absence::ForGood), (Some(0), 0));
        assert_eq!(absent(1, Absence::ForNow), (Some(0), 0), "fallbacks are there to go on");
    }

    #[test]
    fn what_each_role_used_is_told_apart() {
        let mut crew = crew(1, Some(3));
        let spend = |tokens| Spend { input_tokens: tokens, output_tokens: 1, cost_micro_usd: 10 };
        let sessions = [
            (0, Mode::Implement, false),
            (3, Mode::Review, false),
            (0, Mode::ReviewFix, false),
            (1, Mode::Implement, false),
            (2, Mode::Implement, true),
        ];
        for (agent, mode, is_rescue) in sessions {
            crew.in_session = agent;
            crew.begins(mode, is_rescue);
            crew.spend(spend(u64::from(agent) + 1));
        }
        let told: Vec<(Role, String, u32, u64)> =
            crew.by_role().into_iter().map(|r| (r.role, r.agent, r.sessions, r.tokens)).collect();
        assert_eq!(
            told,
            [
                (Role::Work, "main".into(), 2, 4),
                (Role::Review, "critic".into(), 1, 5),
                (Role::Rescue, "last".into(), 1, 4),
                (Role::Fallback, "next".into(), 1, 3),
            ]
        );
    }
}
