//! B10: gate results and the blocking event.

use std::collections::{BTreeMap, BTreeSet};

use flyball_core::gate::blocking::Refusal;
use flyball_core::gate::{BlockingEvent, Check, CheckStatus, GateResult};
use serde::Deserialize;

use super::vector::Vector;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    lines: Option<Vec<String>>,
    green: Option<bool>,
    blocked_by: Option<Vec<String>>,
}

pub(crate) fn check(vector: &Vector) {
    let Config {} = vector.config();
    let expect: Expect = vector.expect();
    let result = result(&vector.input());
    let none = BTreeSet::new();
    let event = BlockingEvent::new(Refusal {
        request: "the work",
        now: &result,
        before: None,
        baseline: &none,
        missing: &[],
    });
    if let Some(lines) = expect.lines {
        vector.same(result.status_lines(), lines.clone());
        let text = event.to_text();
        assert!(lines.iter().all(|line| text.contains(line)), "{}: {text}", vector.id);
    }
    if let Some(green) = expect.green {
        vector.same(result.is_green(), green);
    }
    if let Some(gates) = expect.blocked_by {
        vector.same(event.blocked_by.iter().map(ToString::to_string).collect(), gates);
    }
}

/// The gates in the order they are configured in.
fn result(statuses: &BTreeMap<String, String>) -> GateResult {
    let known = ["tests", "lint", "build"];
    assert!(statuses.keys().all(|gate| known.contains(&gate.as_str())), "{statuses:?}");
    let check = |gate: &&str| {
        let status = match statuses.get(*gate)?.as_str() {
            "passed" => CheckStatus::Passed,
            "failed" => CheckStatus::Failed,
            "skipped" => CheckStatus::Skipped { reason: String::new() },
            "timed_out" => CheckStatus::TimedOut,
            other => panic!("`{other}` is no status"),
        };
        Some(Check::bare(*gate, status))
    };
    GateResult { tree: "t".into(), checks: known.iter().filter_map(check).collect() }
}
