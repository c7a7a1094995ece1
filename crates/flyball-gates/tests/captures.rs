//! Recorded outputs of many tools, with the truth from the tools themselves: how much of it is
//! found may rise and never sinks.
//!
//! `cargo xtask gates` prints the table, `cargo xtask gates --misses` what is wrong.

#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail loudly")]

mod score;

use std::path::Path;

use self::score::{Group, Table, captures, judge};

/// What may not be fallen below: recall, named, precision, place, message, verdict.
const FLOOR: [(Group, [f64; 6]); 3] =
    [(Group::Documented, [0.0; 6]), (Group::Other, [0.0; 6]), (Group::Wrapped, [0.0; 6])];

#[test]
fn what_is_found_in_recorded_outputs_does_not_sink() {
    let folder = std::env::var("GATES_CASES")
        .unwrap_or_else(|_| format!("{}/tests/captures", env!("CARGO_MANIFEST_DIR")));
    let only = std::env::var("GATES_ONLY").unwrap_or_default();
    let mut table = Table::default();
    for capture in captures(Path::new(&folder)).expect("the captures") {
        if !capture.label.starts_with(&only) {
            continue;
        }
        let score = judge(&capture, &capture.told());
        if std::env::var_os("GATES_MISSES").is_some() && !score.remarks.is_empty() {
            println!(
                "\n== {} [{}] exit {}",
                capture.label, capture.record.command, capture.record.exit
            );
            for remark in score.remarks.iter().take(6) {
                println!("   {remark}");
            }
        }
        table.add(&capture, &score);
    }
    println!("{table}");
    for (group, floor) in FLOOR {
        let sums = table.group(group);
        for (percent, floor) in sums.percents().into_iter().zip(floor) {
            assert!(
                percent.is_none_or(|percent| percent >= floor),
                "{group:?} of {} sank: {:?}",
                sums.runs(),
                sums.percents()
            );
        }
    }
}
