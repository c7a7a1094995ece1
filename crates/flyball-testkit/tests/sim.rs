//! The governor in a closed world: every run ends, in the right outcome, within its limits.

#[cfg(test)]
mod sim {
    use flyball_core::guard::Rung;
    use flyball_core::{GuardKind, Outcome};
    use flyball_testkit::sim::{Persona, Sim, Way, sweep};

    #[test]
    fn every_run_ends_as_it_must_and_every_guard_and_outcome_is_reached() {
        let coverage = sweep(0..3_000);
        assert!(coverage.failing.is_empty(), "{:#?}", coverage.failing);
        assert_eq!(coverage.silent_guards(), [], "guards that never fired");
        assert_eq!(coverage.missing_outcomes(), [], "outcomes never reached");
        assert_eq!(coverage.unheard_advice(), [], "advice that never reached an agent");
        for way in [Way::Steer, Way::Door, Way::Briefing] {
            assert!(coverage.advice.keys().any(|(_, by)| *by == way), "nothing by {way:?}");
        }
        let loops: Vec<GuardKind> = coverage.loops.keys().copied().collect();
        assert_eq!(loops, LOOP_GUARDS, "guards of an agent builder's loop");
        assert_eq!(coverage.personas.len(), Persona::ALL.len());
        // The configured agent, its fallback, the one that helps; who wrote, and who only reviews.
        for role in [(false, 0), (false, 1), (false, 3), (true, 0), (true, 2)] {
            assert!(coverage.roles.contains_key(&role), "{role:?} of {:?}", coverage.roles);
        }
    }

    /// Every guard there is in an agent builder's loop (D).
    const LOOP_GUARDS: [GuardKind; 4] = [
        GuardKind::MaxIterations,
        GuardKind::CircuitBreaker,
        GuardKind::QualityRegression,
        GuardKind::Thrashing,
    ];

    /// What each character comes to under flyball's defaults when nothing goes wrong.
    const CALM: [(Persona, &[Outcome]); 59] = [
        (Persona::Honest, &[Outcome::Complete]),
        (Persona::HonestWithReview, &[Outcome::Complete]),
        (Persona::Idle, &[Outcome::Stuck]),
        (Persona::Chatty, &[Outcome::CircuitBreaker]),
        (Persona::Lying, &[Outcome::QualityGateExhausted]),
        (Persona::Crashing, &[Outcome::CircuitBreaker]),
        (Persona::IgnoringStop, &[Outcome::CircuitBreaker]),
        (Persona::FlipFlopping, &[Outcome::Stuck]),
        (Persona::Looping, &[Outcome::CircuitBreaker]),
        (Persona::Silent, &[Outcome::CircuitBreaker]),
        (Persona::Nonsense, &[Outcome::CircuitBreaker]),
        (Persona::ToolFailer, &[Outcome::CircuitBreaker]),
        (Persona::TokenSpender, &[Outcome::MaxTokens]),
        (Persona::MoneySpender, &[Outcome::MaxCost]),
        (Persona::Limited, &[Outcome::Complete]),
        (Persona::LimitedBlindly, &[Outcome::Complete]),
        (Persona::LimitedForLong, &[Outcome::UsageLimit]),
        (Persona::Unreachable, &[Outcome::UsageLimit]),
        (Persona::Unauthorised, &[Outcome::AgentRefused]),
        (Persona::NotStartable, &[Outcome::AgentNotStarted]),
        (Persona::SelfStopped, &[Outcome::CircuitBreaker]),
        (Persona::Blocker, &[Outcome::Blocked]),
        (Persona::Decider, &[Outcome::Decide]),
        (Persona::SelfApprover, &[Outcome::Stuck]),
        (Persona::StoryRemover, &[Outcome::Stuck, Outcome::QualityGateExhausted]),
        (Persona::Tamperer, &[Outcome::Decide]),
        (
            Persona::RedMaker,
            &[Outcome::CircuitBreaker, Outcome::QualityRegression, Outcome::Thrashing],
        ),
        (Persona::Regressor, &[Outcome::CircuitBreaker]),
        (Persona::Thrasher, &[Outcome::Thrashing, Outcome::CircuitBreaker]),
        (Persona::Improver, &[Outcome::Complete]),
        (Persona::Revisiter, &[Outcome::Complete]),
        (Persona::TaskCycler, &[Outcome::Blocked]),
        (Persona::ContextFiller, &[Outcome::Complete]),
        (Persona::LargeResponder, &[Outcome::Complete]),
        (Persona::SlowSteady, &[Outcome::MaxIterations]),
        (Persona::Sleeper, &[Outcome::MaxRuntime]),
        (Persona::AskingLooper, &[Outcome::CircuitBreaker]),
        (
            Persona::StopsRed,
            &[Outcome::Complete, Outcome::QualityGateExhausted, Outcome::QualityRegression],
        ),
        (Persona::StopsUncommitted, &[Outcome::Complete, Outcome::QualityGateExhausted]),
        (Persona::StopsAgain, &[Outcome::QualityGateExhausted]),
        (Persona::Undead, &[Outcome::Fault]),
        (Persona::Hopeless, &[Outcome::Fault, Outcome::Blocked, Outcome::Decide]),
        (Persona::Trusted, &[Outcome::CompleteUnverified]),
        (Persona::LapRunner, &[Outcome::CircuitBreaker]),
        (Persona::OldCallShuffler, &[Outcome::CircuitBreaker]),
        (Persona::Reapplier, &[Outcome::CircuitBreaker]),
        (Persona::PatientPoller, &[Outcome::Complete]),
        (Persona::Twins, &[Outcome::Complete]),
        (Persona::CancelledSiblings, &[Outcome::Complete]),
        (Persona::Redirected, &[Outcome::Complete]),
        (Persona::MalformedClaimer, &[Outcome::ValidationFailure]),
        (Persona::StoryByStory, &[Outcome::Complete]),
        (Persona::Uncoverer, &[Outcome::Complete]),
        (Persona::Rescued, &[Outcome::Complete]),
        (Persona::Unmetered, &[Outcome::MaxTokens]),
        (Persona::Chanter, &[Outcome::Complete]),
        (Persona::Asker, &[Outcome::Complete]),
        (Persona::Inserter, &[Outcome::Complete]),
        (Persona::LoopBuilder, &[Outcome::Complete]),
    ];

    #[test]
    fn under_the_defaults_every_character_meets_its_own_end() {
        for (persona, outcomes) in CALM {
            for seed in 0..20 {
                let report = Sim::calm(persona, seed).run();
                assert!(report.broken.is_empty(), "{report:#?}");
                let outcome = report.outcome.unwrap();
                assert!(outcomes.contains(&outcome), "{persona:?} {seed}: {outcome}");
            }
        }
    }

    /// Who goes nowhere is told, refused and stopped; who only looks like it never is.
    #[test]
    fn the_call_ring_fires_at_those_who_go_nowhere_and_at_nobody_else() {
        let nowhere = [Persona::LapRunner, Persona::OldCallShuffler, Persona::Reapplier];
        let patient = [
            Persona::PatientPoller,
            Persona::Twins,
            Persona::CancelledSiblings,
            Persona::Redirected,
        ];
        let rungs = [Rung::Nudge, Rung::Halt];
        for seed in 0..20 {
            for persona in nowhere {
                let report = Sim::calm(persona, seed).run();
                for rung in rungs {
                    let fired = report.rungs.contains(&(GuardKind::GoingNowhere, rung));
                    assert!(fired, "{persona:?} {seed}: {rung:?} in {:?}", report.rungs);
                }
            }
            for persona in patient {
                let report = Sim::calm(persona, seed).run();
                let hard = report.rungs.iter().find(|(guard, rung)| {
                    let is_calls = matches!(
                        guard,
                        GuardKind::Repetition | GuardKind::GoingNowhere | GuardKind::ToolFailures
                    );
                    is_calls && *rung >= Rung::Refuse
                });
                assert_eq!(hard, None, "{persona:?} {seed}");
            }
        }
    }

    #[test]
    fn agents_that_ask_too_early_are_sent_back_and_then_let_go() {
        let meet = |persona| {
            let mut stops = flyball_testkit::sim::Stops::default();
            for seed in 0..20 {
                let report = Sim::calm(persona, seed).run();
                assert!(report.stops.refused > 0, "{report:#?}");
                stops.refused += report.stops.refused;
                stops.allowed.extend(report.stops.allowed);
            }
            stops.allowed.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(meet(Persona::StopsRed), ["Done", "Exhausted"]);
        assert_eq!(meet(Persona::StopsUncommitted), ["Done"]);
        assert_eq!(meet(Persona::StopsAgain), ["Exhausted"]);
    }

    #[test]
    fn a_seed_tells_the_same_story_twice() {
        for seed in 0..200 {
            assert_eq!(Sim::new(seed).run_with_journal(), Sim::new(seed).run_with_journal());
        }
    }
}
