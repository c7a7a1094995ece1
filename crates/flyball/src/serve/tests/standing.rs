//! What pages say of a run at work, of tasks that are remembered, and of rows that are damaged.

use std::path::Path;

use axum::body::Body;
use axum::http::{StatusCode, header};
use flyball_core::task::{AppliedRemedy, Attempt, AttemptStatus, Pattern, Remedy, Standing};
use flyball_core::{AgentFact, Event, Millis, Moment, RunId, TaskId};
use flyball_testkit::sim::{Persona, Sim};
use serde_json::json;

use super::house::{House, seed_with, simulated};
use crate::clock;
use crate::journal::{Journal, NewRun};
use crate::serve::access::Visitor;

const RUN: &str = "20261115-100000-work";

fn new_run(root: &Path) -> NewRun {
    NewRun {
        run: RunId::new(RUN),
        root: root.to_path_buf(),
        agent: "claude".to_owned(),
        pid: std::process::id(),
        started: clock::wall(),
        max_iterations: 15,
    }
}

#[test]
fn a_run_in_its_first_iteration_is_in_its_first_iteration_and_costs_what_nobody_knows() {
    let house = House::with(|journal| {
        journal.start_run(&new_run(Path::new("/nowhere/shop"))).unwrap();
        let (_, events) = Sim::calm(Persona::Honest, 1).run_with_journal();
        let starts = |(_, event): &(Moment, Event)| {
            matches!(event, Event::Agent { fact: AgentFact::Started { .. }, .. })
        };
        let first = events.iter().position(starts).unwrap();
        let rows: Vec<(Moment, &Event)> =
            events[..=first].iter().map(|(at, event)| (*at, event)).collect();
        journal.append_all(&RunId::new(RUN), &rows).unwrap();
    });
    let page = house.get("/");
    assert!(page.contains("<span>iteration</span><b>1</b> <small>of "), "{page}");
    assert!(page.contains("<span>cost</span><b>–</b>"), "{page}");
    let page = house.get(&format!("/runs/{RUN}"));
    assert!(page.contains("<dt>iterations</dt><dd>1<small> of "), "{page}");
    assert!(!page.contains("$0.00"), "{page}");
}

#[test]
fn a_row_that_is_damaged_is_shown_as_that_and_spoils_no_other() {
    let seed = seed_with(2);
    let other = "20261115-100000-good";
    let house = House::with(|journal| {
        simulated(journal, (RUN, "/nowhere/shop"), seed, |event| event);
        simulated(journal, (other, "/nowhere/bank"), seed, |event| event);
        journal.spoil_ending(RUN, "{\"outcome\": 7");
    });
    let page = house.get("/");
    assert!(page.contains(RUN) && page.contains(other), "{page}");
    assert!(page.contains("damaged: how it ended cannot be read"), "{page}");
    let page = house.get(&format!("/runs/{RUN}"));
    assert!(page.contains("Only a part could be read: how it ended cannot be read"), "{page}");
    for path in ["/guards", "/tasks", "/metrics", "/api/asks", "/api/stats?since=36500d"] {
        house.get(path);
    }
    let rows: serde_json::Value = serde_json::from_str(&house.get("/api/runs")).unwrap();
    let damaged = |row: &&serde_json::Value| row["damaged"].is_string();
    let rows = rows["runs"].as_array().unwrap();
    assert_eq!((rows.len(), rows.iter().filter(damaged).count()), (2, 1));
}

/// Attempts that were blocked, and one that got past it.
fn attempt(journal: &mut Journal, root: &str, (minute, status): (u64, AttemptStatus)) {
    let at = clock::wall().minus(Millis::from_secs(3600)).plus(Millis::from_secs(60 * minute));
    let attempt = json!({
        "task": "US-7", "at": at, "run": "r", "iteration": 1, "status": status,
        "blockers": if status == AttemptStatus::Blocked { vec!["No key for the <mail> server"] } else { Vec::new() },
        "work": if status == AttemptStatus::Blocked { Vec::new() } else { vec!["src/mail.rs"] },
    });
    let attempt: Attempt = serde_json::from_value(attempt).unwrap();
    journal.record_attempt(Path::new(root), &attempt).unwrap();
}

#[test]
fn tasks_that_looped_and_blockers_that_went_away_elsewhere_are_told_and_left_ones_brought_back() {
    let root = tempfile::tempdir().unwrap();
    let here = root.path().to_string_lossy().into_owned();
    let house = House::with(|journal| {
        journal.start_run(&new_run(root.path())).unwrap();
        attempt(journal, "/nowhere/bank", (1, AttemptStatus::Blocked));
        attempt(journal, "/nowhere/bank", (2, AttemptStatus::Done));
        attempt(journal, &here, (3, AttemptStatus::Blocked));
        let remedy = AppliedRemedy {
            task: TaskId::new("US-7"),
            pattern: Pattern::BlockedTaskSpin,
            remedy: Remedy::UnblockAuthority,
            at: clock::wall(),
            attempts: 3,
            blockers: std::collections::BTreeSet::new(),
            times: 2,
        };
        journal.record_remedy(root.path(), &remedy).unwrap();
        let standing = (Standing::SetAside, clock::wall());
        journal.mark_task(root.path(), &TaskId::new("US-7"), standing).unwrap();
    });
    let page = house.get("/tasks");
    for words in [
        "Went in circles before",
        "2 times, last",
        "Blocked by what went away elsewhere",
        "No key for the &lt;mail&gt; server",
        "at task US-7 in bank, after 1 attempt, the task was done",
        "Blockers that come again",
        "met 2 times in 2 projects",
        "Try again",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let again = |house: &House| {
        let token = house.window.access.page_token(Visitor::Page(1), &here);
        let request = house
            .request("POST", "/api/tasks/retry")
            .header(header::ORIGIN, format!("http://{}", house.host()))
            .header(header::CONTENT_TYPE, "application/json")
            .header("x-flyball-page", token);
        let body = json!({ "root": here, "task": "US-7" }).to_string();
        house.ask(request.body(Body::from(body)).unwrap())
    };
    let said = again(&house);
    assert_eq!(said.status, StatusCode::OK, "{}", said.text);
    assert!(said.text.contains("was set aside and stands open again"), "{}", said.text);
    assert_eq!(again(&house).status, StatusCode::CONFLICT, "somebody was faster");
    assert!(!house.get("/tasks").contains("Try again"));
}
