//! The call ring on recorded runs.

#[cfg(test)]
mod detect {
    use flyball_testkit::detect::{Guards, Table, firings, recordings};

    /// Every fifth run: `cargo xtask detect` plays them all.
    #[test]
    fn the_account_alone_speaks_when_its_reference_does() {
        let runs = recordings(5).unwrap();
        assert_eq!(runs.len(), 439);
        for run in &runs {
            let fired = firings(run, Guards::AccountAlone).as_array();
            assert_eq!(Some(fired), run.account, "{}", run.id);
        }
    }

    #[test]
    fn all_guards_together_catch_dead_tails_and_let_people_work() {
        let [_, refuse, halt] = Table::of(&recordings(3).unwrap(), Guards::All).rows();
        assert!(refuse.caught * 100 >= refuse.dead * 97, "{refuse:?}");
        assert!(refuse.harmed * 200 <= refuse.good && halt.harmed * 200 <= halt.good, "{halt:?}");
        assert_eq!((refuse.wild, halt.wild), (0, 0));
    }
}
