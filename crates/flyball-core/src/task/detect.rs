//! Seeing loops in attempts (C2): four patterns, looked for in order, and what is due about each.
//! Looks and never changes anything.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{AppliedRemedy, Attempt, AttemptStatus, Pattern, Remedy, TaskRing};
use crate::id::{RunId, TaskId};
use crate::moment::Moment;
use crate::policy::TaskRules;

/// The longest round between tasks that is looked for.
const ROUND_MAX: usize = 4;
/// How often the agent is told to leave a finished task alone before a human is told.
const DIRECTIVES_MAX: u32 = 2;

/// A loop that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detection {
    /// Which kind.
    pub pattern: Pattern,
    /// The task that was looked at.
    pub task: TaskId,
    /// What is due now; none when enough was done and not enough was tried since.
    pub remedy: Option<Remedy>,
    /// Attempts at the task in the window.
    pub attempts: u32,
    /// The attempts that make the pattern, oldest first.
    pub evidence: Vec<Attempt>,
    /// What is in the way, where something is.
    pub blockers: BTreeSet<String>,
    /// The tasks of a round, in its order; empty for the other patterns.
    pub tasks_in_cycle: Vec<TaskId>,
}

impl TaskRing {
    /// The first pattern in the attempts at a task, and what is due about it.
    ///
    /// Attempts of the current run always count; those of another run, or of none, while they are
    /// younger than the window.
    pub fn detect(
        &self,
        rules: &TaskRules,
        run: &RunId,
        now: Moment,
        task: &TaskId,
    ) -> Option<Detection> {
        let window: Vec<&Attempt> =
            self.attempts.iter().filter(|one| counts(one, rules, run, now)).collect();
        let own: Vec<&Attempt> = window.iter().copied().filter(|one| one.task == *task).collect();
        let found = self.single(rules, &own);
        // Advice that was given and not heeded does not hide that the agent goes round.
        let advised = found
            .as_ref()
            .is_none_or(|it| it.pattern == Pattern::NoProgressRepeat && it.remedy.is_none());
        let round = if advised { self.round(rules, &window, &own) } else { None };
        round.or(found)
    }

    /// The patterns of one task by itself.
    fn single(&self, rules: &TaskRules, own: &[&Attempt]) -> Option<Detection> {
        let last = last(own, limit(rules))?;
        let newest = *last.last()?;
        let alike = |one: &&Attempt| one.status == newest.status && one.blockers == newest.blockers;
        let idle = last.iter().all(alike) && nothing_new(last, &mut known_before(own, last));
        let (pattern, remedy) = if last.iter().all(|one| one.status == AttemptStatus::Done) {
            (Pattern::CompletedTaskRevisit, self.revisit_remedy(rules, newest))
        } else if !idle {
            return None;
        } else if newest.status == AttemptStatus::Blocked && !newest.blockers.is_empty() {
            (Pattern::BlockedTaskSpin, self.spin_remedy(rules, newest))
        } else {
            (Pattern::NoProgressRepeat, self.idle_remedy(rules, own, newest))
        };
        Some(Detection {
            pattern,
            task: newest.task.clone(),
            remedy,
            attempts: saturated(own.len()),
            evidence: last.iter().copied().cloned().collect(),
            blockers: newest.blockers.clone(),
            tasks_in_cycle: Vec::new(),
        })
    }

    /// Going round between tasks, the newest attempt being at the task that is looked at.
    fn round(&self, rules: &TaskRules, window: &[&Attempt], own: &[&Attempt]) -> Option<Detection> {
        let newest = window.last().filter(|one| own.last().is_some_and(|own| own == *one))?;
        let evidence = (2..=ROUND_MAX).find_map(|tasks| rounds(window, tasks, limit(rules)))?;
        let (tasks, all) = evidence;
        let blockers = all.iter().flat_map(|one| one.blockers.iter().cloned()).collect();
        let pattern = Pattern::TaskCycle;
        Some(Detection {
            pattern,
            task: newest.task.clone(),
            remedy: self.unless_recent(rules, newest, pattern, Remedy::Escalate),
            attempts: saturated(own.len()),
            evidence: all.iter().copied().cloned().collect(),
            blockers,
            tasks_in_cycle: tasks,
        })
    }

    /// The directive, twice; a task that is worked on after both is a human's affair, once.
    fn revisit_remedy(&self, rules: &TaskRules, newest: &Attempt) -> Option<Remedy> {
        let pattern = Pattern::CompletedTaskRevisit;
        let applied = |remedy: Remedy| {
            self.remedies_for(&newest.task, pattern).find(|one| one.remedy == remedy)
        };
        if applied(Remedy::Escalate).is_some() {
            return None;
        }
        match applied(Remedy::ForceNext) {
            Some(one) if one.times >= DIRECTIVES_MAX => {
                (self.total(&one.task) > one.attempts).then_some(Remedy::Escalate)
            }
            Some(_) | None => self.unless_recent(rules, newest, pattern, Remedy::ForceNext),
        }
    }

    /// The grant first, where it may be given; then, with the same blockers, a human.
    fn spin_remedy(&self, rules: &TaskRules, newest: &Attempt) -> Option<Remedy> {
        let pattern = Pattern::BlockedTaskSpin;
        let last =
            self.remedies_for(&newest.task, pattern).find(|one| one.blockers == newest.blockers);
        match last {
            None if rules.auto_unblock => Some(Remedy::UnblockAuthority),
            None => Some(Remedy::Escalate),
            Some(one) => self.is_past(rules, one).then_some(Remedy::Escalate),
        }
    }

    /// Advice once, and leaving the task when there were enough attempts in all.
    fn idle_remedy(&self, rules: &TaskRules, own: &[&Attempt], newest: &Attempt) -> Option<Remedy> {
        let pattern = Pattern::NoProgressRepeat;
        let enough = usize::try_from(rules.max_attempts_before_force_next).unwrap_or(usize::MAX);
        if own.len() >= enough {
            return self.unless_recent(rules, newest, pattern, Remedy::ForceNext);
        }
        let begun = self.total(&newest.task).saturating_sub(idle_streak(own));
        let told = self
            .remedies_for(&newest.task, pattern)
            .any(|one| one.remedy == Remedy::Advise && one.attempts > begun);
        (!told).then_some(Remedy::Advise)
    }

    /// The remedy, unless it was applied and the task was not tried often enough since.
    fn unless_recent(
        &self,
        rules: &TaskRules,
        newest: &Attempt,
        pattern: Pattern,
        remedy: Remedy,
    ) -> Option<Remedy> {
        let mut applied = self.remedies_for(&newest.task, pattern);
        let last = applied.find(|one| one.remedy == remedy);
        last.is_none_or(|one| self.is_past(rules, one)).then_some(remedy)
    }

    /// Whether a whole pattern's worth of attempts came after a remedy.
    fn is_past(&self, rules: &TaskRules, remedy: &AppliedRemedy) -> bool {
        let since = self.total(&remedy.task).saturating_sub(remedy.attempts);
        since >= u64::from(rules.max_attempts)
    }
}

fn counts(attempt: &Attempt, rules: &TaskRules, run: &RunId, now: Moment) -> bool {
    let current = !run.as_str().is_empty() && attempt.run == *run;
    current || now.since(attempt.at) < rules.attempt_window
}

/// How many attempts make a pattern.
fn limit(rules: &TaskRules) -> usize {
    usize::try_from(rules.max_attempts).unwrap_or(usize::MAX).max(1)
}

fn last<'a, 'b>(attempts: &'a [&'b Attempt], number: usize) -> Option<&'a [&'b Attempt]> {
    attempts.get(attempts.len().checked_sub(number)?..)
}

/// How many attempts at the end are alike and bring nothing new.
fn idle_streak(own: &[&Attempt]) -> u64 {
    let is_idle = |number: usize| {
        last(own, number).is_some_and(|last| {
            let first = last.first();
            let alike = |one: &&Attempt| {
                first.is_some_and(|it| it.status == one.status && it.blockers == one.blockers)
            };
            last.iter().all(alike) && nothing_new(last, &mut Known::new())
        })
    };
    let longest = (1..=own.len()).rev().find(|number| is_idle(*number)).unwrap_or(0);
    u64::try_from(longest).unwrap_or(u64::MAX)
}

/// Work already seen, per task.
type Known<'a> = BTreeMap<&'a TaskId, BTreeSet<&'a str>>;

/// Work of the attempts before the last ones: what they had already is nothing new now.
fn known_before<'a>(own: &[&'a Attempt], last: &[&'a Attempt]) -> Known<'a> {
    let mut known = Known::new();
    for attempt in own.iter().take(own.len().saturating_sub(last.len())) {
        known.entry(&attempt.task).or_default().extend(attempt.work.iter().map(String::as_str));
    }
    known
}

/// Whether no attempt brings work that an earlier one at the same task had not. The very first
/// attempt at a task brings what it brings.
fn nothing_new<'a>(attempts: &[&'a Attempt], known: &mut Known<'a>) -> bool {
    attempts.iter().all(|attempt| {
        let mut work = attempt.work.iter().map(String::as_str);
        match known.get_mut(&attempt.task) {
            None => {
                known.insert(&attempt.task, work.collect());
                true
            }
            Some(seen) => !work.any(|item| seen.insert(item)),
        }
    })
}

/// The tasks gone round and the attempts at them, when the window ends in `limit` full rounds over
/// exactly this many tasks in one order, none finished and nothing new in any.
fn rounds<'a, 'b>(
    window: &'a [&'b Attempt],
    tasks: usize,
    limit: usize,
) -> Option<(Vec<TaskId>, &'a [&'b Attempt])> {
    let all = last(window, tasks.checked_mul(limit)?)?;
    let (first, _) = all.split_at_checked(tasks)?;
    let distinct: BTreeSet<&TaskId> = first.iter().map(|one| &one.task).collect();
    let in_order = all.iter().zip(first.iter().cycle()).all(|(one, of)| one.task == of.task);
    let unfinished = all.iter().all(|one| one.status != AttemptStatus::Done);
    if distinct.len() != tasks || !in_order || !unfinished {
        return None;
    }
    // Work in the first round is new as well, unless an attempt before it had it already.
    let mut known: Known<'_> = distinct.into_iter().map(|task| (task, BTreeSet::new())).collect();
    let earlier = window.get(..window.len().saturating_sub(all.len())).unwrap_or(&[]);
    for attempt in earlier {
        if let Some(seen) = known.get_mut(&attempt.task) {
            seen.extend(attempt.work.iter().map(String::as_str));
        }
    }
    let names = first.iter().map(|one| one.task.clone()).collect();
    nothing_new(all, &mut known).then_some((names, all))
}

fn saturated(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
