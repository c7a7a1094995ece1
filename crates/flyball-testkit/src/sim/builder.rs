//! An agent builder's loop: [`IterationSession`] driven as its tools drive it, kept as text between
//! any two steps, and held against what the world itself counts.

use flyball_core::iteration_session::{
    CompleteStep, Evidence, IterationSession, NextStep, Report, RuleOutcome, SessionRules,
    SessionStatus, Signal,
};
use flyball_core::policy::Policy;
use flyball_core::{GuardKind, Moment};

use super::rng::Rng;
use super::world::World;

/// What the agent says when it is done.
const PROMISE: &str = "<promise>COMPLETE</promise>";
/// What a red rule says.
const RED: &str = "a fails, file: src/a.rs";

/// A loop, and what is known of it outside.
#[derive(Clone, Debug)]
pub(crate) struct Builder {
    /// The session as it is kept.
    kept: String,
    /// The same red finding this often in a row, the iteration at hand included.
    reds: u32,
    judged: bool,
    over: bool,
}

/// What the iteration at hand came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Green,
    /// Red as before: nothing is gone and nothing is new.
    RedAsBefore,
    /// Red in another way: something is gone that was there before.
    RedInANewWay(u64),
}

impl Builder {
    fn begin(rng: &mut Rng, at: Moment) -> Option<Self> {
        let mut rules = SessionRules::new(rng.small(1, 30));
        rules.circuit_breaker_threshold = rng.small(1, 9);
        let session = IterationSession::begin(rules, at).ok()?;
        let kept = serde_json::to_string(&session).ok()?;
        Some(Self { kept, reds: 0, judged: false, over: false })
    }
}

impl World {
    /// The next step of the agent's own loop; a new one where the last is over.
    pub(super) fn build(&mut self) {
        let at = self.wall();
        let mut builder = match self.builder.take().filter(|builder| !builder.over) {
            Some(builder) => builder,
            None => match Builder::begin(&mut self.rng, at) {
                Some(builder) => builder,
                None => return self.witness.broken(String::from("a loop could not begin")),
            },
        };
        let Ok(mut session) = serde_json::from_str::<IterationSession>(&builder.kept) else {
            return self.witness.broken(String::from("a loop could not be read back"));
        };
        let policy = self.scenario.policy.clone();
        match self.rng.below(10) {
            0..5 => self.judge_work(&mut builder, &mut session, &policy),
            5..9 => self.next_iteration(&mut builder, &mut session, &policy),
            _ => self.complete_work(&mut builder, &mut session, &policy),
        }
        match serde_json::to_string(&session) {
            Ok(kept) => builder.kept = kept,
            Err(error) => self.witness.broken(format!("a loop could not be kept: {error}")),
        }
        if session.iteration() > session.rules().max_iterations {
            self.witness.broken(format!("iteration {} of a loop", session.iteration()));
        }
        self.builder = Some(builder);
    }

    fn judge_work(
        &mut self,
        builder: &mut Builder,
        session: &mut IterationSession,
        policy: &Policy,
    ) {
        if builder.judged {
            return;
        }
        let work = match self.rng.below(6) {
            0 => Work::Green,
            1 => Work::RedInANewWay(self.rng.next()),
            _ => Work::RedAsBefore,
        };
        builder.reds = match work {
            Work::Green => 0,
            Work::RedAsBefore => builder.reds + 1,
            // Where it moves on, it neither counts nor resets.
            Work::RedInANewWay(_) => builder.reds,
        };
        builder.judged = true;
        let judged = self.judged(session, policy, work, "");
        if judged == Signal::Complete {
            self.witness.broken(String::from("a loop is complete without a promise"));
        }
    }

    fn judged(
        &mut self,
        session: &mut IterationSession,
        policy: &Policy,
        work: Work,
        said: &str,
    ) -> Signal {
        let (rules, report) = match work {
            Work::Green => ([RuleOutcome::passed("tests")], None),
            Work::RedAsBefore => ([RuleOutcome::failed("tests", RED)], None),
            Work::RedInANewWay(number) => {
                let messages = Vec::from([format!("finding {number}")]);
                let report = Report { passed: false, score: Some(0.5), messages };
                ([RuleOutcome::passed("tests")], Some(report))
            }
        };
        let evidence = Evidence { output: said, rules: &rules, report: report.as_ref() };
        let judged = session.judge(policy, self.wall(), &evidence);
        let trips = !judged.safety.can_continue();
        if (judged.signal == Signal::Escalate) != trips {
            self.witness.broken(format!("{:?} beside {:?}", judged.signal, judged.safety));
        }
        if judged.passed != (work == Work::Green) {
            self.witness.broken(format!("{work:?} was judged as passed: {}", judged.passed));
        }
        judged.signal
    }

    fn next_iteration(
        &mut self,
        builder: &mut Builder,
        session: &mut IterationSession,
        policy: &Policy,
    ) {
        let (iteration, rules) = (session.iteration(), session.rules().clone());
        let must_stop =
            iteration >= rules.max_iterations || builder.reds >= rules.circuit_breaker_threshold;
        match session.next(policy) {
            Ok(NextStep::Began(due)) => {
                if !builder.judged || must_stop || due.iteration != iteration {
                    self.witness.broken(format!("iteration {iteration} of a loop went on"));
                }
                builder.judged = false;
            }
            Ok(NextStep::JudgeFirst) if builder.judged || must_stop => {
                self.witness.broken(format!("iteration {iteration} was judged, or is the last"));
            }
            Ok(NextStep::JudgeFirst) => {}
            Ok(NextStep::Stopped { safety, .. }) => {
                self.stopped(builder, session, safety.trip.as_ref());
            }
            Err(error) => self.witness.broken(format!("an open loop did not go on: {error}")),
        }
    }

    /// A guard ended the loop: it never goes on again.
    fn stopped(
        &mut self,
        builder: &mut Builder,
        session: &mut IterationSession,
        trip: Option<&flyball_core::Trip>,
    ) {
        builder.over = true;
        let Some(trip) = trip else {
            return self.witness.broken(String::from("a loop was stopped by no guard"));
        };
        let is_one = matches!(
            trip.guard,
            GuardKind::MaxIterations
                | GuardKind::CircuitBreaker
                | GuardKind::QualityRegression
                | GuardKind::Thrashing
        );
        if !is_one || session.status() != SessionStatus::Blocked {
            self.witness.broken(format!("a loop was stopped by {}", trip.guard));
        }
        self.witness.loops.insert(trip.guard);
        let policy = self.scenario.policy.clone();
        if session.next(&policy).is_ok() || session.complete(PROMISE, None).is_ok() {
            self.witness.broken(String::from("a loop that was stopped goes on"));
        }
    }

    fn complete_work(
        &mut self,
        builder: &mut Builder,
        session: &mut IterationSession,
        policy: &Policy,
    ) {
        if self.rng.chance(15) {
            let step = session.complete("<promise>BLOCKED:no key</promise>", None);
            if !matches!(step, Ok(CompleteStep::Blocked { .. })) {
                self.witness.broken(format!("BLOCKED came to {step:?}"));
            }
            builder.over = true;
            return;
        }
        let Ok(CompleteStep::JudgeFirst { said, .. }) = session.complete(PROMISE, None) else {
            return self.witness.broken(String::from("a promise of an open loop was refused"));
        };
        let is_green = self.rng.chance(50);
        let rules = [if is_green {
            RuleOutcome::passed("tests")
        } else {
            RuleOutcome::failed("tests", RED)
        }];
        let evidence = Evidence { output: &said, rules: &rules, report: None };
        let judged = session.judge(policy, self.wall(), &evidence);
        let finished = session.finish(&judged);
        // Judged anew, this is what the iteration came to.
        builder.reds = if is_green { 0 } else { builder.reds.max(1) };
        builder.judged = true;
        if finished.is_ok() != (is_green && judged.safety.can_continue()) {
            self.witness.broken(format!("green: {is_green}, and completion came to {finished:?}"));
        }
        builder.over = finished.is_ok();
    }
}
