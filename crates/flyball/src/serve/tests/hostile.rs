//! A journal full of what an agent may write to harm who looks: all of it is text.

use flyball_core::Event;
use serde_json::Value;

use super::house::{House, seed_with, simulated};

const RUN: &str = "20261115-100000-evil";
const SCRIPT: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg/onload=alert(3)>\u{1b}]0;title\u{7}\u{1b}[31mred\u{202e}txt.exe\u{0} sk-ant-A1b2C3d4E5f6G7h8I9j0";

/// Every text an agent or a tool wrote, made hostile.
fn spoiled(event: Event) -> Event {
    let mut value = serde_json::to_value(&event).unwrap();
    spoil(&mut value);
    serde_json::from_value(value).unwrap_or(event)
}

fn spoil(value: &mut Value) {
    const TEXTS: [&str; 11] = [
        "preview",
        "last_words",
        "message",
        "subject",
        "why",
        "evidence",
        "tail",
        "tool",
        "reason",
        "changed",
        "name",
    ];
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let is_text = TEXTS.contains(&key.as_str());
                match inner {
                    Value::String(text) if is_text => *text = format!("{SCRIPT}{text}"),
                    Value::Array(list) if is_text => {
                        for one in list {
                            if let Value::String(text) = one {
                                *text = format!("{SCRIPT}{text}");
                            } else {
                                spoil(one);
                            }
                        }
                    }
                    Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_)
                    | Value::Object(_) => spoil(inner),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(spoil),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The pages of a run.
fn pages() -> Vec<String> {
    let mut pages = vec!["/".to_owned(), "/guards".to_owned(), "/tasks".to_owned()];
    pages.push(format!("/runs/{RUN}"));
    for show in ["story", "guards", "gates", "calls", "everything"] {
        pages.push(format!("/runs/{RUN}/events?show={show}"));
    }
    pages.push(format!("/compare?a={RUN}&b={RUN}"));
    pages.push(format!("/runs/{RUN}/report"));
    pages
}

#[track_caller]
fn is_harmless(path: &str, page: &str) {
    for tag in
        ["<script>", "<img", "<svg/", "onerror=alert(2)>\"", "\u{1b}", "\u{202e}", "\u{0}", "\u{7}"]
    {
        assert!(!page.contains(tag), "{path} holds {tag:?}");
    }
    assert!(!page.contains("A1b2C3d4E5f6G7h8I9j0"), "{path} holds a secret");
}

#[test]
fn what_an_agent_writes_is_shown_as_text() {
    let seed = seed_with(4);
    let house = House::with(|journal| {
        simulated(journal, (RUN, "/nowhere/<b>shop</b>"), seed, spoiled);
    });
    let mut seen = false;
    for path in pages() {
        let page = house.get(&path);
        is_harmless(&path, &page);
        seen |= page.contains("&lt;script&gt;alert(1)&lt;/script&gt;");
    }
    assert!(seen, "it is shown, and as text");
    assert!(
        !house.get(&format!("/api/runs/{RUN}/events?limit=1000")).contains("A1b2C3d4E5f6G7h8I9j0")
    );
}

#[test]
fn a_line_of_a_megabyte_makes_no_page_large() {
    let seed = seed_with(4);
    let long = |event: Event| {
        let mut value = serde_json::to_value(&event).unwrap();
        if let Some(fact) = value.get_mut("fact")
            && let Some(words) = fact.get_mut("last_words")
        {
            *words = Value::String("word ".repeat(200_000));
        }
        serde_json::from_value(value).unwrap_or(event)
    };
    let house = House::with(|journal| {
        simulated(journal, (RUN, "/nowhere/shop"), seed, long);
    });
    for path in pages() {
        let most = if path.ends_with("/report") { 200_000 } else { 50_000 };
        assert!(house.get(&path).len() <= most, "{path}");
    }
}

#[test]
fn an_event_that_cannot_be_read_ends_its_run_and_no_other() {
    let seed = seed_with(2);
    let house = House::with(|journal| {
        simulated(journal, (RUN, "/nowhere/shop"), seed, |event| event);
        simulated(journal, ("20261115-100000-good", "/nowhere/other"), seed, |event| event);
        journal.spoil_event(RUN, 3, "{\"type\":\"nonsense\",");
    });
    for path in pages() {
        house.get(&path);
    }
    assert!(house.get(&format!("/runs/{RUN}")).contains("Only a part could be read"));
    assert!(!house.get("/runs/20261115-100000-good").contains("Only a part could be read"));
    let events = house.get(&format!("/api/runs/{RUN}/events"));
    let events: Value = serde_json::from_str(&events).unwrap();
    assert_eq!(events["events"][2]["unreadable"], Value::Bool(true));
}
