//! What pages say, and how large they get.

use flyball_core::{AgentFact, Event, IterationNo, Millis, RunId};
use serde_json::Value;

use super::house::{House, seed_with, simulated};
use crate::journal::Journal;

const RUN: &str = "20261115-100000-aaaa";
const PAGE_MAX: usize = 50_000;

/// Every id of a page, which must be there once.
#[track_caller]
fn check_page(path: &str, page: &str) {
    let mut ids: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "{path}: an id stands twice");
    assert!(page.starts_with("<!DOCTYPE html>"), "{path}");
    assert!(!page.contains("style=\""), "{path}: style in the markup");
    for live in page.split("data-live").skip(1).zip(page.split("data-live")) {
        let tag = live.1.rsplit('<').next().unwrap();
        assert!(
            tag.contains("id=\"") || live.0.split('>').next().unwrap().contains("id=\""),
            "{path}: a live part without an id: {tag}"
        );
    }
}

fn pages(run: &str) -> Vec<String> {
    ["/", "/tasks", "/guards", "/?q=shop", "/compare"]
        .into_iter()
        .map(str::to_owned)
        .chain([
            format!("/runs/{run}"),
            format!("/runs/{run}/events"),
            format!("/runs/{run}/events?show=everything"),
            format!("/compare?a={run}&b={run}"),
        ])
        .collect()
}

#[test]
fn an_empty_journal_says_how_to_begin() {
    let house = House::with(|_| {});
    let page = house.get("/");
    check_page("/", &page);
    assert!(page.contains("Nothing needs you") && page.contains("flyball run"));
}

#[test]
fn a_thousand_runs_make_small_pages() {
    let house = House::with(|journal| {
        for number in 0..1_000_u64 {
            let name = format!("20261115-100000-{number:04}");
            let root = format!("/nowhere/project-{}", number % 40);
            simulated(journal, (&name, &root), number % 60, |event| event);
        }
    });
    let run = "20261115-100000-0007";
    for path in pages(run) {
        let page = house.get(&path);
        check_page(&path, &page);
        assert!(page.len() <= PAGE_MAX, "{path} has {} bytes", page.len());
    }
    // Going on leads to every one of them.
    let mut path = "/".to_owned();
    let mut seen = std::collections::BTreeSet::new();
    loop {
        let page = house.get(&path);
        let links = page.split("href=\"/runs/").skip(1).filter_map(|rest| rest.split('"').next());
        seen.extend(links.map(str::to_owned));
        let older =
            page.split("<a href=\"/?before=").nth(1).and_then(|rest| rest.split('"').next());
        let Some(older) = older else { break };
        path = format!("/?before={older}");
    }
    assert_eq!(seen.len(), 1_000);
}

#[test]
fn a_run_of_a_hundred_thousand_events_makes_small_pages() {
    let seed = seed_with(6);
    let house = House::with(|journal| {
        simulated(journal, (RUN, "/nowhere/shop"), seed, |event| event);
        lengthen(journal, 100_000);
    });
    for path in pages(RUN) {
        let page = house.get(&path);
        check_page(&path, &page);
        assert!(page.len() <= PAGE_MAX, "{path} has {} bytes", page.len());
    }
    let page = house.get(&format!("/runs/{RUN}/events?show=everything"));
    assert_eq!(page.matches("<tr").count(), 101, "a hundred lines and a heading");
}

/// Adds signs of life at the end.
fn lengthen(journal: &mut Journal, count: usize) {
    let run = RunId::new(RUN);
    let last = journal.run(&run).unwrap().last_at;
    let event = Event::Agent { iteration: IterationNo::new(1), fact: AgentFact::ShowedLife };
    let rows: Vec<_> = (0..count).map(|n| (last.plus(Millis::new(n as u64)), &event)).collect();
    journal.append_all(&run, &rows).unwrap();
}

#[test]
fn a_run_that_grows_is_read_only_from_where_it_was() {
    let seed = seed_with(3);
    let house = House::with(|journal| {
        simulated(journal, (RUN, "/nowhere/shop"), seed, |event| event);
    });
    let path = format!("/api/runs/{RUN}/iterations");
    let before = house.get(&path);
    let fresh = House::with(|journal| {
        simulated(journal, (RUN, "/nowhere/shop"), seed, |event| event);
        lengthen(journal, 50);
    });
    lengthen(&mut house.window.books().journal, 50);
    assert_eq!(
        house.get(&path),
        fresh.get(&path),
        "what was fed is what is told from the beginning"
    );
    assert!(!before.is_empty());
}

#[test]
fn the_data_is_that_of_the_commands() {
    let seed = seed_with(3);
    let house = House::with(|journal| {
        for number in 0..120 {
            let name = format!("20261115-100000-{number:04}");
            simulated(journal, (&name, "/nowhere/shop"), seed, |event| event);
        }
    });
    let json = |path: &str| -> Value { serde_json::from_str(&house.get(path)).unwrap() };
    let first = json("/api/runs");
    assert_eq!(first["runs"].as_array().unwrap().len(), 50);
    let before = first["before"].as_str().unwrap();
    let second = json(&format!("/api/runs?before={before}&limit=200"));
    assert_eq!(second["runs"].as_array().unwrap().len(), 70);
    assert!(second["before"].is_null());
    let run = json("/api/runs/20261115-100000-0003");
    assert_eq!(run["run"]["run"], "20261115-100000-0003");
    assert!(run["limits"]["iterations"].is_number());
    let events = json("/api/runs/20261115-100000-0003/events?limit=2&after=1");
    assert_eq!(events["events"][0]["seq"], 2);
    assert_eq!(events["after"], 3);
    assert!(json("/api/runs/20261115-100000-0003/story")["story"].is_array());
    assert!(json("/api/runs/20261115-100000-0003/matrix")["matrix"]["columns"].is_array());
    assert!(json("/api/asks")["asks"].is_array());
    let stats = json("/api/stats?since=36500d");
    assert_eq!(stats["all"]["runs"], 120);
}

#[test]
fn lost_runs_need_a_human_and_stand_first() {
    let seed = seed_with(2);
    let house = House::with(|journal| {
        simulated(journal, ("20261115-100000-done", "/nowhere/a"), seed, |event| event);
        let new = crate::journal::NewRun {
            run: RunId::new("20261115-110000-gone"),
            root: "/nowhere/b".into(),
            agent: "claude".to_owned(),
            pid: u32::MAX - 1,
            started: crate::clock::wall(),
            max_iterations: 15,
        };
        journal.start_run(&new).unwrap();
    });
    let page = house.get("/");
    assert!(page.contains("1 run needs you"));
    let (asks, ended) = (page.find("ask-20261115-110000-gone"), page.find("20261115-100000-done"));
    assert!(asks.unwrap() < ended.unwrap());
    assert_eq!(page.matches("/runs/20261115-110000-gone\"").count(), 1, "not among the ended too");
    assert!(house.get("/api/asks").contains("\"kind\":\"lost\""));
}
