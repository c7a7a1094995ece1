//! Turns the output of a check into counts and findings, line by line as it streams in.
//!
//! It never starts anything, never reads a file and never decides whether a gate is green: it
//! only reads what a tool printed. Memory is bounded whatever the size of the output.

mod ansi;
mod cargo_test;
mod document;
mod eslint;
mod gcc;
mod generic;
mod github;
mod go_build;
mod go_test;
mod golangci;
mod gradle;
mod hints;
mod javac;
mod jest;
mod js_frame;
mod junit;
mod jvm;
mod libtest_json;
mod lines;
mod maven;
mod merge;
mod mocha;
mod mypy;
mod nextest;
mod node_error;
mod node_test;
mod panel;
mod panic;
mod place;
mod prettier;
mod prove;
mod pytest;
mod python_lint;
mod recogniser;
mod report;
mod rspec;
mod rustc;
mod rustc_json;
mod rustfmt;
#[cfg(test)]
mod shapes;
mod start;
mod tail;
mod tap;
mod tap_diagnostics;
mod text;
mod tsc;
mod unittest;
mod vitest;

use flyball_core::gate::{Counts, Finding};

use self::hints::Hints;
use self::lines::Lines;
use self::panel::Panel;
use self::tail::Tail;

/// What the output of one check says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Tests counted, summed over all runners that printed a count.
    pub counts: Option<Counts>,
    /// What is red, in the order of the output; at most [`Parsed::FINDINGS_MAX`], none on exit 0.
    pub findings: Vec<Finding>,
    /// How many further findings were seen and left out.
    pub findings_left_out: u64,
    /// The last lines of the output, without colours.
    pub tail: String,
    /// The formats that were recognised.
    pub tools: Vec<&'static str>,
}

impl Parsed {
    /// How many findings are kept.
    pub const FINDINGS_MAX: usize = 200;
}

/// Reads the output of one check as it arrives.
pub struct Parser {
    lines: Lines,
    tail: Tail,
    panel: Panel,
}

impl Parser {
    /// A parser for the output of `command`. The command line is only a hint: what a tool prints
    /// decides.
    pub fn new(command: &str) -> Self {
        Self { lines: Lines::default(), tail: Tail::default(), panel: Panel::new(command) }
    }

    /// Takes the next bytes of stdout or stderr, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self { lines, tail, panel } = self;
        lines.feed(bytes, |line| {
            // What is certain to be pushed out again by the same bytes need not be kept.
            if line.further < Tail::LINES_MAX {
                tail.push(line.text);
            }
            panel.line(line.text, line.hints);
        });
    }

    /// What it all says, now that the check has ended with `exit_code` (none: it was killed).
    pub fn finish(mut self, exit_code: Option<i32>) -> Parsed {
        let Self { lines, tail, panel } = &mut self;
        lines.finish(|line| {
            tail.push(line);
            panel.line(line, Hints::UNKNOWN);
        });
        let mut parsed = merge::merge(self.panel.finish(), exit_code);
        parsed.tail = self.tail.finish();
        parsed
    }
}
