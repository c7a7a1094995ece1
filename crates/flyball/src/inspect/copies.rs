//! Sessions that were forked or resumed into a new file repeat the one they came from: what stands in
//! an earlier session counts there, and only there.

use std::collections::HashSet;

use flyball_core::hindsight::{Cost, Firings, Loop};

use super::overview::Listed;
use super::session::SessionReport;

/// Takes what was copied out of the sums of later sessions, in the order they are given.
pub(super) fn count_once(listed: &mut [Listed]) {
    let mut seen = HashSet::new();
    for session in listed.iter_mut().map(|one| &mut one.session) {
        let copied = session.model_calls.iter().take_while(|call| seen.contains(&call.key)).count();
        seen.extend(session.model_calls.iter().map(|call| call.key));
        if copied > 0 {
            leave_out(session, copied);
        }
    }
}

fn leave_out(session: &mut SessionReport, copied: usize) {
    let next = session.model_calls.get(copied).map(|call| call.step);
    let steps = next.unwrap_or(session.judged.steps);
    let costs = session.model_calls.iter().take(copied).map(|call| call.cost);
    let cost = costs.fold(Cost::default(), Cost::plus);
    let judged = &mut session.judged;
    session.copied = steps;
    judged.spent = judged.spent.minus(cost);
    judged.calls = judged.calls.saturating_sub(cost.calls);
    judged.steps = judged.steps.saturating_sub(steps);
    let before = judged.loops.len();
    judged.loops.retain(|one| one.nudge.as_ref().is_some_and(|nudge| nudge.step >= steps));
    judged.loops_total = judged.loops_total.saturating_sub((before - judged.loops.len()) as u64);
    let first = |rung: usize| {
        let reached = |one: &Loop| one.rungs().get(rung).copied().flatten().map(|it| it.step);
        judged.loops.iter().filter_map(reached).min()
    };
    judged.firsts = Firings { nudge: first(0), refuse: first(1), halt: first(2) };
    for (rung, sum) in judged.waste.iter_mut().enumerate() {
        let after = |one: &Loop| one.rungs().get(rung).copied().flatten().map(|it| it.after);
        *sum = judged.loops.iter().filter_map(after).fold(Cost::default(), Cost::plus);
    }
    for (rung, harmed) in judged.harmed.iter_mut().enumerate() {
        let harms = |one: &Loop| {
            one.rungs().get(rung).copied().flatten().is_some_and(|it| it.changed_later)
        };
        *harmed = judged.loops.iter().any(harms);
    }
}
