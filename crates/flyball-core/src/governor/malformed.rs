//! Claims in tags that are none (A4): they are read when a session ends.

use alloc::format;

use super::judging::Judgement;
use super::phase::{Closed, Phase};
use super::state::RunState;
use super::{StepOutput, finish};
use crate::guard::{GuardKind, Trip};
use crate::iteration::IterationVerdict;

/// A4: malformed claims are read when a session ends, so their streak is one of iterations. One that
/// was lost says nothing.
pub(super) fn count(closed: &Closed, judgement: &Judgement, state: &mut RunState) {
    if judgement.verdict == IterationVerdict::Unjudged {
        return;
    }
    let counts = !closed.exit.claims.failures.is_empty() && !judgement.progressed;
    state.last.malformed_claims =
        if counts { state.last.malformed_claims.saturating_add(1) } else { 0 };
}

/// A4: too many iterations in a row with a malformed claim and without progress.
pub(super) fn halt(closed: &Closed, state: &mut RunState, out: &mut StepOutput) -> Option<Phase> {
    let (count, limit) = (state.last.malformed_claims, state.policy.calls.max_validation_failures);
    let failure = closed.exit.claims.failures.last().filter(|_| count >= limit)?;
    let last = crate::call::texts::validation_evidence(failure);
    let times = crate::text::count(count.into(), "iteration");
    let evidence = format!(
        "{times} in a row ended with a malformed claim and without progress, the last \
         one with: {last}"
    );
    let trip = Trip::new(GuardKind::Validation, count, limit, evidence);
    let safety = state.ring.may_start(&state.policy);
    let also = safety.trip.into_iter().chain(safety.also).collect();
    Some(finish::halt(trip, also, state, out))
}
