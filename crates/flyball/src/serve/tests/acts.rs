//! Acts: the same as the commands', written down; of two at once one is first.

use std::fs;
use std::path::Path;
use std::thread;

use axum::body::Body;
use axum::http::{StatusCode, header};
use flyball_core::effect::{Ending, Tally};
use flyball_core::{Outcome, RunId};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::house::{House, Said};
use crate::clock;
use crate::journal::NewRun;
use crate::serve::access::Visitor;

const RUN: &str = "20261115-100000-asks";

/// A run that ended and waits for a human, with a file that says so.
fn waiting(outcome: Outcome, file: &str, text: &str) -> (House, TempDir) {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join(".flyball")).unwrap();
    fs::write(root.path().join(".flyball").join(file), text).unwrap();
    let place = root.path().to_path_buf();
    let house = House::with(|journal| {
        let new = NewRun {
            run: RunId::new(RUN),
            root: place,
            agent: "claude".to_owned(),
            pid: 1,
            started: clock::wall(),
            max_iterations: 15,
        };
        journal.start_run(&new).unwrap();
        let ending = json!({ "outcome": outcome, "why": "it waits", "tally": Tally::default() });
        let ending: Ending = serde_json::from_value(ending).unwrap();
        journal.finish_run(&RunId::new(RUN), clock::wall(), &ending).unwrap();
    });
    (house, root)
}

const QUESTION: &str = "## Question (from iteration 2, now)\nBlue or green?\n\n---\n## Answer\n\n";

fn decide(text: &str) -> (House, TempDir) {
    waiting(Outcome::Decide, "decide.txt", text)
}

fn post(house: &House, act: &str, body: &Value) -> Said {
    let request = house
        .request("POST", &format!("/api/runs/{RUN}/{act}"))
        .header(header::ORIGIN, format!("http://{}", house.host()))
        .header(header::CONTENT_TYPE, "application/json")
        .header("x-flyball-page", house.window.access.page_token(Visitor::Page(1), RUN));
    house.ask(request.body(Body::from(body.to_string())).unwrap())
}

/// What the page shows of the question.
fn about(house: &House) -> String {
    let asks: Value = serde_json::from_str(&house.get("/api/asks")).unwrap();
    asks["asks"][0]["about"].as_str().unwrap().to_owned()
}

fn answer_in(root: &Path) -> String {
    fs::read_to_string(root.join(".flyball/decide.txt")).unwrap()
}

#[test]
fn of_two_who_answer_at_once_one_is_first_and_the_other_is_told() {
    let (house, root) = decide(QUESTION);
    let about = about(&house);
    let answers: Vec<StatusCode> = thread::scope(|scope| {
        let one = |text: &'static str| {
            let (house, about) = (&house, about.clone());
            scope.spawn(move || {
                post(house, "answer", &json!({ "text": text, "about": about })).status
            })
        };
        let both = [one("blue"), one("green")];
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(
        answers.contains(&StatusCode::OK) && answers.contains(&StatusCode::CONFLICT),
        "{answers:?}"
    );
    let text = answer_in(root.path());
    // The question names both.
    let (_, answer) = text.split_once("## Answer").unwrap();
    assert!(answer.contains("blue") != answer.contains("green"), "{text}");
    let acts = house.window.books().journal.acts(&RunId::new(RUN), 10).unwrap();
    let results: Vec<(&str, &str, &str)> =
        acts.iter().map(|act| (act.act.as_str(), act.by.as_str(), act.result.as_str())).collect();
    assert!(results.contains(&("answer", "page", "done")), "{results:?}");
    assert!(results.contains(&("answer", "page", "too_late")), "{results:?}");
    assert!(house.get("/").contains("Nothing needs you"), "it is answered");
}

#[test]
fn an_answer_is_to_the_question_that_was_shown() {
    let (house, root) = decide(QUESTION);
    let shown = about(&house);
    let other = QUESTION.replace("Blue or green?", "Delete everything?");
    fs::write(root.path().join(".flyball/decide.txt"), other).unwrap();
    let said = post(&house, "answer", &json!({ "text": "yes", "about": shown }));
    assert_eq!(said.status, StatusCode::CONFLICT, "{}", said.text);
    assert!(!answer_in(root.path()).contains("yes"));
    let said = post(&house, "answer", &json!({ "text": "   " }));
    assert_eq!(said.status, StatusCode::BAD_REQUEST);
}

#[test]
fn a_form_without_a_script_leads_back_to_the_page() {
    let (house, root) = decide(QUESTION);
    let page = house.get(&format!("/runs/{RUN}"));
    let token = page.split("name=\"page\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let body = format!("page={token}&text=both+of+them&about={}&then=", about(&house));
    let request = house
        .request("POST", &format!("/api/runs/{RUN}/answer"))
        .header(header::ORIGIN, format!("http://{}", house.host()))
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let said = house.ask(request.body(Body::from(body)).unwrap());
    assert_eq!(said.status, StatusCode::SEE_OTHER, "{}", said.text);
    assert_eq!(said.headers.get(header::LOCATION).unwrap(), &format!("/runs/{RUN}"));
    assert!(answer_in(root.path()).contains("both of them"));
}

#[test]
fn a_block_is_cleared_once() {
    let (house, root) = waiting(Outcome::Blocked, "blocked.txt", "no key");
    assert!(house.get("/").contains("no key"));
    let said = post(&house, "unblock", &json!({ "about": about(&house) }));
    assert_eq!(said.status, StatusCode::OK, "{}", said.text);
    assert!(!root.path().join(".flyball/blocked.txt").exists());
    assert_eq!(post(&house, "unblock", &json!({})).status, StatusCode::CONFLICT);
}

#[test]
fn what_is_not_there_any_more_cannot_be_acted_on() {
    let (house, _root) = decide(QUESTION);
    for (act, body) in [
        ("stop", json!({})),
        ("stop", json!({ "after_iteration": true })),
        ("tell", json!({ "text": "hello" })),
        ("limits", json!({ "iterations": 3 })),
        ("unblock", json!({})),
    ] {
        let said = post(&house, act, &body);
        assert_eq!(said.status, StatusCode::CONFLICT, "{act}: {}", said.text);
    }
    for (act, body) in [
        ("tell", json!({ "text": "" })),
        ("limits", json!({ "iteration": 3 })),
        ("limits", json!({})),
        ("answer", json!({ "text": "x", "path": "/etc" })),
        ("answer", json!(["text"])),
    ] {
        let said = post(&house, act, &body);
        assert_eq!(said.status, StatusCode::BAD_REQUEST, "{act}: {}", said.text);
    }
    assert_eq!(post(&house, "dance", &json!({})).status, StatusCode::NOT_FOUND);
}
