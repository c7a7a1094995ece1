//! The scores of many captures, per tool and in three groups.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use super::{Capture, Score};

/// The tools the documentation names as understood from the beginning.
const DOCUMENTED: &[&str] = &[
    "cargo-test",
    "nextest",
    "rustc",
    "clippy",
    "rustfmt",
    "pytest",
    "unittest",
    "jest",
    "vitest",
    "mocha",
    "node-test",
    "go-test",
    "go-build",
    "eslint",
    "tsc",
    "prettier",
    "ruff",
    "flake8",
    "pylint",
    "black",
    "mypy",
    "gcc",
    "clang",
    "clang-tidy",
    "javac",
    "maven",
    "rspec",
    "tape",
    "tap",
    "bats",
];

/// What may not be fallen below, in percent: recall, named, precision, place, message, verdict.
const FLOOR: [(Group, [f64; 6]); 3] = [
    (Group::Documented, [99.5, 99.5, 99.0, 99.0, 99.0, 99.0]),
    (Group::Other, [98.0, 97.0, 98.5, 98.5, 98.5, 98.5]),
    (Group::Wrapped, [99.0, 85.0, 98.0, 98.0, 85.0, 97.0]),
];

/// Which group a capture counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// Tools the documentation names from the beginning.
    Documented,
    /// All other tools.
    Other,
    /// Whatever the tool, something stands around it.
    Wrapped,
}

impl Group {
    /// The group of a capture.
    fn of(capture: &Capture) -> Self {
        if !capture.record.wrapper.is_empty() {
            Self::Wrapped
        } else if DOCUMENTED.contains(&capture.record.tool.as_str()) {
            Self::Documented
        } else {
            Self::Other
        }
    }
}

/// Sums of scores.
#[derive(Debug, Default)]
struct Sums {
    runs: usize,
    clean: usize,
    verdicts: usize,
    score: Score,
}

/// One line per tool and per group.
#[derive(Debug, Default)]
pub(crate) struct Table {
    tools: BTreeMap<String, Sums>,
    groups: BTreeMap<Group, Sums>,
    all: Sums,
}

impl Table {
    /// Adds the score of a capture.
    pub(crate) fn add(&mut self, capture: &Capture, score: &Score) {
        let group = Group::of(capture);
        if group != Group::Wrapped {
            self.tools.entry(capture.record.tool.clone()).or_default().add(score);
        }
        self.groups.entry(group).or_default().add(score);
        self.all.add(score);
    }

    /// What fell below the floor of the project's own captures, in words.
    pub(crate) fn sunk(&self) -> Vec<String> {
        const NAMES: [&str; 6] = ["recall", "named", "precision", "place", "message", "verdict"];
        let mut sunk = Vec::new();
        for (group, floor) in FLOOR {
            let Some(sums) = self.groups.get(&group) else { continue };
            for ((percent, least), name) in sums.percents().into_iter().zip(floor).zip(NAMES) {
                if let Some(percent) = percent.filter(|percent| *percent < least) {
                    sunk.push(format!("{group:?} {name}: {percent:.2} %, no less than {least} %"));
                }
            }
        }
        sunk
    }
}

impl Sums {
    fn add(&mut self, score: &Score) {
        self.runs += 1;
        self.clean += usize::from(score.is_clean());
        self.verdicts += usize::from(score.verdict);
        let sum = &mut self.score;
        for (own, more) in [
            (&mut sum.facts, score.facts),
            (&mut sum.hit, score.hit),
            (&mut sum.tests, score.tests),
            (&mut sum.named, score.named),
            (&mut sum.placeable, score.placeable),
            (&mut sum.placed, score.placed),
            (&mut sum.tellable, score.tellable),
            (&mut sum.told, score.told),
            (&mut sum.found, score.found),
            (&mut sum.invented, score.invented),
        ] {
            *own += more;
        }
    }

    /// Percent, with one place after the point: recall, named, precision, place, message, verdict.
    fn percents(&self) -> [Option<f64>; 6] {
        let Self { runs, verdicts, score, .. } = self;
        [
            percent(score.hit, score.facts),
            percent(score.named, score.tests),
            percent(score.found - score.invented, score.found),
            percent(score.placed, score.placeable),
            percent(score.told, score.tellable),
            percent(*verdicts, *runs),
        ]
    }
}

fn percent(part: usize, whole: usize) -> Option<f64> {
    let [part, whole] = [part, whole].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    (whole > 0).then(|| 100.0 * f64::from(part) / f64::from(whole))
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:26}{:>5}{:>7}{:>8}{:>8}{:>8}{:>8}{:>8}{:>9}{:>12}",
            "tool", "runs", "facts", "recall", "named", "prec.", "place", "msg", "verdict", "clean"
        )?;
        for (tool, sums) in &self.tools {
            line(f, tool, sums)?;
        }
        for (group, sums) in &self.groups {
            let name = match group {
                Group::Documented => "= documented tools",
                Group::Other => "= other tools",
                Group::Wrapped => "= wrapped, prefixed",
            };
            line(f, name, sums)?;
        }
        line(f, "TOTAL", &self.all)
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, sums: &Sums) -> fmt::Result {
    write!(f, "{name:26}{:>5}{:>7}", sums.runs, sums.score.facts)?;
    for (at, percent) in sums.percents().into_iter().enumerate() {
        let width = if at == 5 { 9 } else { 8 };
        match percent {
            Some(percent) => write!(f, "{percent:>width$.1}")?,
            None => write!(f, "{:>width$}", "–")?,
        }
    }
    writeln!(f, "{:>12}", format!("{}/{}", sums.clean, sums.runs))
}
