//! A recorded run played to the core's call ring. Calls that would have been refused still happened,
//! and the run goes on: what counts is when each rung is first reached.

use flyball_core::call::{CallGuard, Fingerprint, ToolOutcome, ToolResult};
use flyball_core::guard::Rung;
use flyball_core::policy::CallRules;
use flyball_core::{CallId, Moment, Policy, RoundId, SubAgent};

use super::recording::{Recording, Step};

/// Which guards judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// The evidence account by itself (A3).
    AccountAlone,
    /// All of the call ring, under flyball's defaults.
    All,
}

impl Guards {
    fn rules(self) -> CallRules {
        let mut rules = Policy::default().calls.clone();
        if self == Self::AccountAlone {
            rules.nudge_after = u32::MAX;
            rules.refuse_after = u32::MAX;
            rules.max_consecutive_failures = u32::MAX;
        }
        rules
    }
}

/// The step of the first nudge, refusal and halt; messages of humans are no steps. A higher rung
/// reaches the lower ones, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firings {
    /// The first advice.
    pub nudge: Option<usize>,
    /// The first call that would not have run.
    pub refuse: Option<usize>,
    /// The end of the session.
    pub halt: Option<usize>,
}

impl Firings {
    fn reach(&mut self, rung: Rung, step: usize) {
        let firsts = [&mut self.nudge, &mut self.refuse, &mut self.halt];
        for (first, least) in firsts.into_iter().zip([Rung::Nudge, Rung::Refuse, Rung::Halt]) {
            if rung >= least {
                first.get_or_insert(step);
            }
        }
    }

    /// As the recordings hold them.
    pub const fn as_array(&self) -> [Option<usize>; 3] {
        [self.nudge, self.refuse, self.halt]
    }
}

/// Plays a run.
pub fn firings(run: &Recording, guards: Guards) -> Firings {
    let mut time = 0;
    let clock = move || {
        time += 1;
        Moment::from_millis(time)
    };
    let mut guard = CallGuard::new(guards.rules(), clock);
    let mut first = Firings::default();
    let mut number = 0;
    for step in &run.steps {
        if step.is_human() {
            guard.human();
            continue;
        }
        if step.is_words() {
            // The account by itself hears that words were said, and not which.
            let known = step.text_hash.as_deref().filter(|_| guards == Guards::All);
            let verdict = guard.only_spoke(&SubAgent::default(), known.map(Fingerprint::of_text));
            first.reach(verdict.rung(), number);
        } else {
            first.reach(play(&mut guard, step, number, guards), number);
        }
        number += 1;
    }
    first
}

fn play<C: FnMut() -> Moment>(
    guard: &mut CallGuard<C>,
    step: &Step,
    number: usize,
    guards: Guards,
) -> Rung {
    let id = CallId::new(number.to_string());
    // Each step is a turn of its own: whatever it leaves open stays so.
    let mut call =
        guard.call(id.clone(), &step.tool, &step.args).in_round(RoundId::new(number.to_string()));
    call.mutating = step.edit;
    let before = guard.before(&call).rung();
    let Some(result) = &step.result_nhash else { return before };
    let outcome = match (step.error, step.error_kind.as_deref()) {
        (true, _) if guards == Guards::All && !step.ran() => ToolOutcome::Refused,
        (true, Some("tool")) => ToolOutcome::Tool,
        (true, _) => ToolOutcome::Exit,
        (false, _) => ToolOutcome::Ok,
    };
    let raw = Fingerprint::of_text(step.result_hash.as_deref().unwrap_or(result));
    let mut result = ToolResult::identified(id, outcome, Fingerprint::of_text(result), raw);
    result.empty = step.is_empty();
    before.max(guard.after(&result).rung())
}
