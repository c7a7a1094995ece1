//! Weakened checks that are open need somebody, whatever ended the run.

use flyball_core::effect::{Ending, Tally};
use flyball_core::gate::TamperFinding;
use flyball_core::{Outcome, RunId};
use serde_json::{Value, json};

use super::house::House;
use crate::clock;
use crate::journal::{BaseBody, Journal, KeptFinding, NewRun, TamperBase};
use crate::watch::Reader;

const RUN: &str = "20261115-100000-weak";

/// A run the breaker ended, with a deleted test nobody has looked at.
fn broken_off(journal: &mut Journal, root: &std::path::Path) {
    let run = RunId::new(RUN);
    let (agent, started) = ("claude".to_owned(), clock::wall());
    let new = NewRun {
        run: run.clone(),
        root: root.to_path_buf(),
        agent,
        pid: 1,
        started,
        max_iterations: 15,
    };
    journal.start_run(&new).unwrap();
    let ending = json!({ "outcome": Outcome::CircuitBreaker, "why": "three died", "tally": Tally::default() });
    let ending: Ending = serde_json::from_value(ending).unwrap();
    journal.finish_run(&run, clock::wall(), &ending).unwrap();
    let repository = journal.repository(&["here".to_owned()]).unwrap();
    let mut base = TamperBase {
        key: 0,
        root: root.to_path_buf(),
        tree: "t0".to_owned(),
        head: None,
        run: run.clone(),
        at: clock::wall(),
        examined: true,
        body: BaseBody::default(),
    };
    base.key = journal.begin_tamper_base(repository, &base).unwrap();
    let finding = TamperFinding::about("test:pays", "`pays` was <deleted>");
    let kept = KeptFinding { finding, before: Vec::new() };
    journal.keep_tamper(&base, (&run, clock::wall()), &[kept]).unwrap();
}

#[test]
fn a_run_the_breaker_ended_with_weakened_checks_needs_somebody() {
    let root = tempfile::tempdir().unwrap();
    let house = House::with(|journal| broken_off(journal, root.path()));
    let page = house.get("/");
    assert!(page.contains("1 run needs you"), "{page}");
    assert!(page.contains("was &lt;deleted&gt;"), "{page}");
    assert!(page.contains(&format!("/runs/{RUN}/tamper")), "{page}");
    let asks: Value = serde_json::from_str(&house.get("/api/asks")).unwrap();
    assert_eq!(asks["asks"][0]["kind"], "tamper", "{asks}");
    let metrics = house.get("/metrics");
    assert!(metrics.contains("flyball_asks{kind=\"tamper\"} 1"), "{metrics}");
    let books = house.window.books();
    let mut reader = Reader::default();
    reader.look(&books.journal, clock::wall()).unwrap();
    assert_eq!(reader.board().counts(), (1, 0), "the terminal says the same");
}

#[test]
fn what_is_accepted_or_whose_worktree_is_gone_needs_nobody() {
    let root = tempfile::tempdir().unwrap();
    let house = House::with(|journal| {
        broken_off(journal, root.path());
        let repository = journal.repository(&["here".to_owned()]).unwrap();
        let open = journal.open_tamper(repository).unwrap();
        assert_eq!(open.len(), 1);
        journal.accept_tamper(&[open[0].key], clock::wall()).unwrap();
    });
    assert!(house.get("/api/asks").contains("\"asks\":[]"));
    let gone = tempfile::tempdir().unwrap();
    let house = House::with(|journal| broken_off(journal, gone.path()));
    gone.close().unwrap();
    assert!(house.get("/api/asks").contains("\"asks\":[]"));
}

#[test]
fn a_finding_that_cannot_be_read_is_one_and_hides_no_page() {
    let root = tempfile::tempdir().unwrap();
    let house = House::with(|journal| {
        broken_off(journal, root.path());
        journal.spoil_findings("{\"finding\": 7");
    });
    assert!(house.get("/").contains("a weakened check whose row cannot be read"));
}
