//! `/metrics`, read by the grammar of `OpenMetrics`.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use serde_json::Value;

use super::house::{House, simulated};
use crate::journal::RunFilter;
use crate::view::RunView;

/// A line of figures: name, labels, value.
fn figures(text: &str) -> Vec<(String, BTreeMap<String, String>, f64)> {
    let mut types = BTreeMap::new();
    let mut found = Vec::new();
    assert!(text.ends_with("# EOF\n"));
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let (what, name) = (words.next().unwrap(), words.next().unwrap());
            assert!(["HELP", "TYPE", "UNIT"].contains(&what), "{line}");
            if what == "TYPE" {
                let kind = words.next().unwrap().to_owned();
                assert!(types.insert(name.to_owned(), kind).is_none(), "{name} stands twice");
            }
            continue;
        }
        let (front, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = match front.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}').unwrap()),
            None => (front, ""),
        };
        let is_name = |name: &str| {
            let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        assert!(is_name(name), "{line}");
        let mut read = BTreeMap::new();
        let mut rest = labels;
        while !rest.is_empty() {
            let (label, tail) = rest.split_once("=\"").unwrap();
            assert!(is_name(label), "{line}");
            let end = (0..tail.len())
                .find(|at| {
                    tail.as_bytes()[*at] == b'"' && (*at == 0 || tail.as_bytes()[at - 1] != b'\\')
                })
                .unwrap();
            read.insert(label.to_owned(), tail[..end].to_owned());
            rest = tail[end + 1..].trim_start_matches(',');
        }
        let family = types.keys().find(|family| {
            let suffix = name.strip_prefix(family.as_str());
            suffix
                .is_some_and(|suffix| ["", "_total", "_bucket", "_sum", "_count"].contains(&suffix))
        });
        let kind = types[family.unwrap_or_else(|| panic!("{line} has no type"))].as_str();
        assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
        found.push((name.to_owned(), read, value.parse().unwrap()));
    }
    found
}

/// The figures as Prometheus asks for them.
fn open_metrics(house: &House) -> String {
    let request = house.request("GET", "/metrics");
    let accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
    let said = house.ask(request.header("accept", accept).body(Body::empty()).unwrap());
    let kind = said.headers["content-type"].to_str().unwrap();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    said.text
}

#[test]
fn who_asks_for_no_grammar_gets_the_older_one_with_the_same_figures() {
    let house = House::with(|journal| {
        simulated(journal, ("20261115-100000-0001", "/nowhere"), 7, |event| event);
    });
    let said = house.ask(house.request("GET", "/metrics").body(Body::empty()).unwrap());
    assert_eq!(said.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let samples = |text: &str| -> Vec<String> {
        let of = text.lines().filter(|line| !line.starts_with('#'));
        let of = of.filter(|line| !line.starts_with("flyball_scrape_seconds"));
        // In which order labels come is nobody's affair.
        let mut samples: Vec<String> = of.map(str::to_owned).collect();
        samples.sort_unstable();
        samples
    };
    assert_eq!(samples(&said.text), samples(&open_metrics(&house)));
    let mut described = BTreeSet::new();
    for line in said.text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
            assert!(
                said.text.contains(&format!("# HELP {name} ")),
                "{name} says nothing of itself"
            );
            described.insert(name.to_owned());
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap();
            let family =
                ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let known =
                described.contains(name) || family.is_some_and(|family| described.contains(family));
            assert!(known, "{line} is described nowhere");
        } else {
            assert!(line.starts_with("# HELP "), "{line}");
        }
    }
}

#[test]
fn the_figures_follow_the_grammar_and_are_those_of_stats() {
    let house = House::with(|journal| {
        for seed in 0..80_u64 {
            let name = format!("20261115-100000-{seed:04}");
            simulated(journal, (&name, "/nowhere/\"shop\"\\n"), seed, |event| event);
        }
    });
    let read = figures(&open_metrics(&house));
    let stats: Value = serde_json::from_str(&house.get("/api/stats?since=36500d")).unwrap();
    let sum = |name: &str, label: &str, value: &str| -> f64 {
        let fits = |labels: &BTreeMap<String, String>| {
            label.is_empty() || labels.get(label).is_some_and(|found| found == value)
        };
        read.iter()
            .filter(|(known, labels, _)| known == name && fits(labels))
            .map(|(.., value)| value)
            .sum()
    };
    let all = &stats["all"];
    let is = |counted: f64, told: &Value| (counted - told.as_f64().unwrap()).abs() < 1e-6;
    // An iteration without a result has none to be counted under; `stats` counts it all the same.
    let open = {
        let books = house.window.books();
        let runs = books.journal.runs(&RunFilter::default()).unwrap();
        let views = runs.iter().map(|run| RunView::read(&books.journal, run).unwrap());
        let open = views.flat_map(|view| view.iterations).filter(|one| one.result.is_none());
        u32::try_from(open.count()).unwrap()
    };
    let closed = sum("flyball_iterations_total", "", "");
    assert!(is(closed + f64::from(open), &all["iterations"]), "{closed} {open}");
    assert!(is(sum("flyball_stories_verified_total", "", ""), &all["stories"]));
    let refused = sum("flyball_claims_total", "verdict", "refused");
    assert!(is(refused, &stats["claims_refused"]));
    let verified = sum("flyball_runs_ended_total", "outcome", "complete");
    assert!(is(verified, &all["verified"]));
    let cost = sum("flyball_cost_usd_total", "", "");
    assert!((cost - all["spent"]["micro_usd"].as_f64().unwrap() / 1e6).abs() < 1e-6);
    let mut trips = BTreeMap::new();
    for (name, labels, value) in &read {
        if name == "flyball_guard_trips_total" {
            *trips.entry((labels["guard"].clone(), labels["rung"].clone())).or_insert(0.0) += value;
        }
    }
    assert!(!trips.is_empty());
    for ((guard, rung), count) in trips {
        assert_eq!(stats["guards"][&guard]["rungs"][&rung].as_f64(), Some(count), "{guard} {rung}");
    }
    // A histogram's last bucket is without bound and holds all there is.
    let all = |name: &str, label: &str| -> Vec<(String, f64)> {
        let of = read.iter().filter(|(known, labels, _)| {
            known == name && labels.get("le").is_none_or(|le| le == "+Inf")
        });
        of.map(|(_, labels, value)| (labels[label].clone(), *value)).collect()
    };
    for (name, label) in [("iteration", "agent"), ("gate", "gate")] {
        let name = format!("flyball_{name}_duration_seconds");
        let counts = all(&format!("{name}_count"), label);
        assert!(!counts.is_empty(), "{name}");
        assert_eq!(all(&format!("{name}_bucket"), label), counts, "{name}");
    }
    // Counters do not jump between two looks at the same journal.
    assert_eq!(figures(&open_metrics(&house)).len(), read.len());
}
