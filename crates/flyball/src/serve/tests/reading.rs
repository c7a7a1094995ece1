//! What a page reads: its own rows and what is new, never a run it knows.

use flyball_core::{AgentFact, Event, IterationNo, Millis, RunId};

use super::house::{House, seed_with, simulated};
use crate::view::Replay;

const RUN: &str = "20261115-100000-aaaa";
const SHOWN: [&str; 5] = ["story", "guards", "gates", "calls", "everything"];

fn house() -> House {
    let seed = seed_with(6);
    House::with(|journal| {
        simulated(journal, (RUN, "/nowhere/shop"), seed, |event| event);
    })
}

fn address(show: &str) -> String {
    format!("/runs/{RUN}/events?show={show}")
}

/// The address a link with this text leads to.
fn link(page: &str, text: &str) -> Option<String> {
    let before =
        page.split(&format!("\">{text}</a>")).next().filter(|part| part.len() < page.len());
    Some(before?.rsplit("href=\"").next()?.replace("&amp;", "&"))
}

#[test]
fn a_run_that_was_told_is_not_read_again() {
    let house = house();
    let pages = || -> Vec<String> {
        let events = SHOWN.iter().flat_map(|show| [address(show), address(show) + "&before=9"]);
        events.chain([format!("/runs/{RUN}")]).map(|path| house.get(&path)).collect()
    };
    let before = pages();
    // Whoever read it from its beginning would stumble.
    house.window.books().journal.spoil_event(RUN, 2, "{}");
    assert_eq!(pages(), before);
    assert!(before.iter().all(|page| !page.contains("cannot be read")));
    // What is new is read from where it was.
    let run = RunId::new(RUN);
    let sign = Event::Agent { iteration: IterationNo::new(1), fact: AgentFact::ShowedLife };
    {
        let journal = &mut house.window.books().journal;
        let last = journal.run(&run).unwrap().last_at;
        journal.append(&run, last.plus(Millis::new(1)), &sign).unwrap();
    }
    let after = house.get(&address("everything"));
    assert!(!after.contains("cannot be read") && after.contains("sign of the agent"));
}

#[test]
fn going_back_shows_every_line_once() {
    let house = house();
    let told = {
        let books = house.window.books();
        let row = books.journal.run(&RunId::new(RUN)).unwrap();
        let mut replay = Replay::new(&row);
        let events = books.journal.events(&row.run).unwrap();
        let lines = events.map(|one| one.unwrap()).map(|one| {
            let count = replay.step(one.at, &one.event).lines.len();
            count.max(1)
        });
        lines.sum::<usize>()
    };
    let (mut path, mut seen, mut pages) = (address("everything"), 0, 0);
    loop {
        let page = house.get(&path);
        // The head of the table is no line.
        seen += page.matches("<tr").count() - 1;
        pages += 1;
        let Some(earlier) = link(&page, "Earlier") else { break };
        path = earlier;
    }
    assert!(pages > 1, "more than one page");
    assert_eq!(seen, told);
}

#[test]
fn runs_that_made_room_are_told_anew() {
    let seed = seed_with(2);
    let names: Vec<String> = (0..40).map(|n| format!("20261115-100000-{n:04}")).collect();
    let house = House::with(|journal| {
        for name in &names {
            simulated(journal, (name, "/nowhere/shop"), seed, |event| event);
        }
    });
    let pages = || -> Vec<String> {
        let rows = names.iter().map(|name| house.get(&format!("/runs/{name}/events?show=calls")));
        let rows = rows.map(|page| page.split("<tbody>").nth(1).unwrap_or("").to_owned());
        rows.map(|rows| rows.split("</tbody>").next().unwrap_or("").to_owned()).collect()
    };
    let first = pages();
    assert_eq!(first, pages());
    assert!(first.iter().all(|page| *page == first[0]), "the same run under other names");
}

#[test]
fn a_run_that_ended_is_counted_once() {
    let seed = seed_with(3);
    let house = House::with(|journal| {
        for name in ["a", "b"] {
            simulated(journal, (name, "/nowhere/shop"), seed, |event| event);
        }
    });
    let stats =
        |path: &str| -> serde_json::Value { serde_json::from_str(&house.get(path)).unwrap() };
    let (all, some) = ("/api/stats?since=36500d", "/api/stats?since=36500d&project=shop");
    let before = stats(all);
    for name in ["a", "b"] {
        house.window.books().journal.spoil_event(name, 2, "{}");
    }
    assert_eq!(stats(some), before, "other words for the same runs");
    simulated(&mut house.window.books().journal, ("c", "/nowhere/other"), seed, |event| event);
    let after = stats(all);
    assert_eq!(after["all"]["runs"], 3);
    let spent = |stats: &serde_json::Value| stats["all"]["spent"]["tokens"].as_u64().unwrap();
    assert_eq!(spent(&after) * 2, spent(&before) * 3, "nothing was read again");
}
