//! Hands each line to the recognisers that may care for it.

use super::document::Documents;
use super::recogniser::{Attention, Line, Recogniser};
use super::report::Report;
use super::{
    cargo_test, eslint, gcc, generic, github, go_build, go_test, golangci, gradle, javac, jest,
    junit, libtest_json, maven, mocha, mypy, nextest, node_error, node_test, place, prettier,
    prove, pytest, python_lint, rspec, rustc, rustc_json, rustfmt, start, tap, tsc, unittest,
    vitest,
};

/// All recognisers, and which of them want which line.
pub(super) struct Panel {
    members: Vec<Box<dyn Recogniser>>,
    /// Per first byte of a line, the members that want it, one bit each.
    by_first: Vec<u64>,
    /// The members that want lines beginning with a place.
    by_place: u64,
    /// The members in the middle of something.
    busy: u64,
    /// JSON documents, of which one output may hold several.
    documents: Documents,
    in_document: Attention,
    number: u64,
}

impl Panel {
    /// All recognisers, with the command as a hint.
    pub(super) fn new(command: &str) -> Self {
        let members = members(command);
        let mut by_first = vec![0_u64; 256];
        let mut by_place = 0;
        for (index, member) in members.iter().enumerate().take(64) {
            let bit = 1_u64 << index;
            let cues = member.cues();
            for first in cues.first {
                if let Some(mask) = by_first.get_mut(usize::from(*first)) {
                    *mask |= bit;
                }
            }
            if cues.place {
                by_place |= bit;
            }
        }
        Self {
            members,
            by_first,
            by_place,
            busy: 0,
            documents: Documents::default(),
            in_document: Attention::Idle,
            number: 0,
        }
    }

    /// Hands over one line.
    pub(super) fn line(&mut self, text: &str) {
        self.number = self.number.saturating_add(1);
        let first = text.bytes().find(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(b'\n');
        let place = place::prefix(text);
        let mut wanted = self.busy | self.by_first.get(usize::from(first)).copied().unwrap_or(0);
        if place.is_some() {
            wanted |= self.by_place;
        }
        let line = Line { text, number: self.number, place };
        if self.in_document == Attention::Busy || text.starts_with(['{', '[']) {
            self.in_document = self.documents.line(line);
        }
        while wanted != 0 {
            let index = wanted.trailing_zeros();
            let bit = 1_u64 << index;
            wanted &= !bit;
            let Some(member) = self.members.get_mut(index as usize) else { break };
            match member.line(line) {
                Attention::Busy => self.busy |= bit,
                Attention::Idle => self.busy &= !bit,
            }
        }
    }

    /// What each of them has understood.
    pub(super) fn finish(mut self) -> Vec<Report> {
        let mut reports: Vec<Report> =
            self.members.iter_mut().filter_map(|member| member.finish()).collect();
        reports.extend(self.documents.finish());
        reports
    }
}

fn members(command: &str) -> Vec<Box<dyn Recogniser>> {
    vec![
        Box::new(cargo_test::CargoTest::default()),
        Box::new(nextest::Nextest::default()),
        Box::new(libtest_json::LibtestJson::default()),
        Box::new(rustc::Rustc::new(command)),
        Box::new(rustc_json::RustcJson::default()),
        Box::new(rustfmt::Rustfmt::new(command)),
        Box::new(pytest::Pytest::default()),
        Box::new(unittest::Unittest::default()),
        Box::new(jest::Jest::default()),
        Box::new(vitest::Vitest::default()),
        Box::new(mocha::Mocha::default()),
        Box::new(node_test::NodeTest::default()),
        Box::new(node_error::NodeError::default()),
        Box::new(tap::Tap::default()),
        Box::new(prove::Prove::default()),
        Box::new(go_test::GoTest::default()),
        Box::new(go_build::GoBuild::new(command)),
        Box::new(golangci::Golangci::default()),
        Box::new(eslint::Eslint::default()),
        Box::new(tsc::Tsc::default()),
        Box::new(python_lint::PythonLint::new(command)),
        Box::new(mypy::Mypy::default()),
        Box::new(gcc::Gcc::new(command)),
        Box::new(javac::Javac::default()),
        Box::new(maven::Maven::default()),
        Box::new(gradle::Gradle::default()),
        Box::new(rspec::Rspec::default()),
        Box::new(junit::Junit::default()),
        Box::new(prettier::Prettier::new(command)),
        Box::new(github::Github::default()),
        Box::new(start::Start::default()),
        Box::new(generic::Generic::default()),
    ]
}
