//! The governor in a closed world: every run ends, in the right outcome, within its limits.

#[cfg(test)]
mod sim {
    use flyball_testkit::sim::{Persona, Sim, sweep};

    #[test]
    fn every_run_ends_as_it_must_and_every_guard_and_outcome_is_reached() {
        let coverage = sweep(0..3_000);
        assert!(coverage.failing.is_empty(), "{:#?}", coverage.failing);
        assert_eq!(coverage.silent_guards(), [], "guards that never fired");
        assert_eq!(coverage.missing_outcomes(), [], "outcomes never reached");
        assert_eq!(coverage.personas.len(), Persona::ALL.len());
    }

    #[test]
    fn a_seed_tells_the_same_story_twice() {
        for seed in 0..200 {
            assert_eq!(Sim::new(seed).run_with_journal(), Sim::new(seed).run_with_journal());
        }
    }
}
