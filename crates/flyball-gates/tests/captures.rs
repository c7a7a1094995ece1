//! Recorded outputs of many tools, with the truth from the tools themselves: how much of it is
//! found may rise and never sinks.
//!
//! `cargo xtask gates` prints the table, `cargo xtask gates --misses` what is wrong.

#![expect(clippy::expect_used, reason = "a test may fail loudly")]

mod score;

use std::collections::BTreeSet;
use std::path::Path;

use flyball_gates::Parser;

use self::score::{Capture, Table, captures, judge, wrapped};

fn all() -> Vec<Capture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    captures(&folder).expect("the captures")
}

#[test]
fn what_is_found_in_recorded_outputs_does_not_sink() {
    let mut table = Table::default();
    for capture in all() {
        table.add(&capture, &judge(&capture, &capture.told()));
    }
    let sunk = table.sunk();
    assert!(sunk.is_empty(), "below the floor: {sunk:#?}\n{table}");
}

/// Every capture behind every prefix is `cargo xtask gates --wrapped`.
#[test]
fn what_stands_before_each_line_changes_nothing() {
    let sameness = wrapped(&all(), 12);
    let some: Vec<&String> = sameness.remarks.iter().take(5).collect();
    assert!(sameness.percent() >= 99.0, "{sameness}\n{some:#?}");
}

#[test]
fn the_captures_are_many_and_of_many_tools() {
    let captures = all();
    let tools: BTreeSet<&str> = captures.iter().map(|one| one.record.tool.as_str()).collect();
    assert!(captures.len() >= 400, "{} captures", captures.len());
    assert!(tools.len() >= 50, "{} tools: {tools:?}", tools.len());
}

#[test]
fn how_the_bytes_arrive_makes_no_difference() {
    for capture in all() {
        let whole = capture.parsed();
        let mut parser = Parser::new(&capture.record.command);
        for piece in capture.output.chunks(7) {
            parser.feed(piece);
        }
        assert_eq!(parser.finish(capture.exit()), whole, "{}", capture.label);
    }
}

#[test]
fn a_cut_output_is_read_as_far_as_it_goes() {
    for capture in all() {
        for part in 1..8 {
            let cut = capture.output.len() * part / 8;
            let mut parser = Parser::new(&capture.record.command);
            parser.feed(capture.output.get(..cut).unwrap_or_default());
            let parsed = parser.finish(capture.exit());
            assert!(parsed.findings.len() <= 200, "{}", capture.label);
        }
    }
}

#[test]
fn nothing_personal_is_recorded() {
    for capture in all() {
        let text = String::from_utf8_lossy(&capture.output);
        for word in ["/root/", "/work/", "srv/tools"] {
            assert!(!text.contains(word), "{} holds {word}", capture.label);
        }
    }
}
