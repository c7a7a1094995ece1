//! Weakened checks (B10): what the shell saw, what it is about, and how it is undone.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::fewer::TestBounds;
use super::{Finding, FindingKind};
use crate::text;

/// The gate name that weakened checks are known under.
pub const TAMPER: &str = "tamper";

/// What a finding about flyball's own settings is about: they decide nothing while it is open.
pub const SETTINGS: &str = "settings:flyball";

/// How flyball's own question about weakened checks begins; an agent's question never does.
const QUESTION: &str = "The work verifies only with weakened tests or gates.";

/// Something of the starting tree that checks the work and no longer does, or may not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TamperFinding {
    /// What was seen, and where.
    pub finding: Finding,
    /// What of the starting tree it is about. Whatever else is done to the same thing has one of
    /// these too, so that a second change does not pass for the end of the first.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// The tree it was compared with.
    #[serde(default)]
    pub base: String,
    /// A digest of what stands there now: a human's yes is to this and nothing else.
    #[serde(default)]
    pub now: String,
    /// Tests that no longer run because of it, as far as that can be counted.
    #[serde(default)]
    pub tests: u32,
    /// Whether it may turn out to be harmless.
    #[serde(default)]
    pub weight: Weight,
    /// What brings back what was there.
    #[serde(default)]
    pub restore: Vec<Restore>,
    /// For a check that ran fewer tests: how many it ran before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_before: Option<u64>,
    /// For a change that matters to tests that were red: which they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_tests: Vec<String>,
    /// And in which files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_files: Vec<String>,
}

/// Whether a weakened check may turn out to be harmless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It stands whatever the gates say.
    #[default]
    Firm,
    /// It is harmless when every test still runs and none is newly skipped.
    UnlessAllRun,
    /// It is harmless when nothing else was weakened: tests may skip themselves.
    UnlessAlone,
    /// It matters only when the tests it is about were red before the work began.
    IfRedFirst,
    /// Nothing is weaker: tests became part of others, which is why fewer of them run.
    TakenIn,
}

/// One deed that brings back what was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "deed", rename_all = "snake_case")]
pub enum Restore {
    /// The whole file comes back.
    File {
        /// Which.
        path: String,
    },
    /// The file goes: it was not there.
    Remove {
        /// Which.
        path: String,
    },
    /// These lines come back, of the file as it was; the rest of it stays as it is.
    Lines {
        /// Of which file.
        path: String,
        /// The first, from 1.
        from: u32,
        /// The last.
        to: u32,
    },
}

impl Restore {
    /// The file it is about.
    pub fn path(&self) -> &str {
        match self {
            Self::File { path } | Self::Remove { path } | Self::Lines { path, .. } => path,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::File { path } => format!("put `{path}` back as it was"),
            Self::Remove { path } => format!("remove `{path}`"),
            Self::Lines { path, from, to } if from == to => {
                format!("put line {from} of `{path}` back")
            }
            Self::Lines { path, from, to } => {
                format!("put lines {from} to {to} of `{path}` back as they were")
            }
        }
    }
}

impl TamperFinding {
    /// A finding of which nothing else is known.
    pub fn bare(finding: Finding) -> Self {
        Self {
            finding,
            subjects: Vec::new(),
            base: String::new(),
            now: String::new(),
            tests: 0,
            weight: Weight::Firm,
            restore: Vec::new(),
            ran_before: None,
            of_tests: Vec::new(),
            of_files: Vec::new(),
        }
    }

    /// A finding with these words about this thing.
    pub fn about(subject: impl Into<String>, message: impl Into<String>) -> Self {
        let mut this = Self::bare(Finding::new(FindingKind::Tamper, message));
        this.subjects.push(subject.into());
        this
    }

    /// What a human says yes to: this change, from this tree, to what stands there now.
    pub fn key(&self) -> String {
        let identity = self.finding.identity(TAMPER);
        if self.base.is_empty() && self.now.is_empty() {
            return identity;
        }
        format!("{identity}@{}@{}", text::prefix(&self.base, 40), text::prefix(&self.now, 40))
    }

    /// Whether a yes with this key was said to the same change, whatever it was compared with then.
    pub fn is_same_change(&self, key: &str) -> bool {
        let identity = self.finding.identity(TAMPER);
        let now = format!("@{}", text::prefix(&self.now, 40));
        key == identity
            || key.strip_prefix(identity.as_str()).is_some_and(|rest| {
                rest.starts_with('@') && rest.ends_with(&now) && !self.now.is_empty()
            })
    }

    /// What stays the same while the same thing is changed again and again.
    pub fn thread(&self) -> String {
        if self.subjects.is_empty() {
            return self.finding.identity(TAMPER);
        }
        format!("{}@{}", self.subjects.join("\n"), text::prefix(&self.base, 40))
    }

    /// Whether both are about the same thing.
    pub fn shares_subject(&self, other: &Self) -> bool {
        self.subjects.iter().any(|subject| other.subjects.contains(subject))
    }

    /// For a check that ran fewer tests and names how many: how many are missing.
    pub fn missing(&self) -> Option<u64> {
        let now: u64 = self.now.strip_prefix(TAMPER)?.strip_prefix(':')?.parse().ok()?;
        self.ran_before?.checked_sub(now)
    }

    /// Whether it is about flyball's own settings.
    pub fn is_about_settings(&self) -> bool {
        self.subjects.iter().any(|subject| subject == SETTINGS)
    }

    /// What was seen and what to put back, in one line.
    pub fn words(&self) -> String {
        let seen = text::head(&self.finding.message, 300);
        match self.restore_words() {
            Some(restore) => format!("{seen}; {restore}"),
            None => seen,
        }
    }

    /// What to put back, in words.
    pub fn restore_words(&self) -> Option<String> {
        let mut words: Vec<String> = self.restore.iter().take(3).map(Restore::words).collect();
        let more = self.restore.len().saturating_sub(words.len());
        if more > 0 {
            words.push(format!("{more} more"));
        }
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The files it is about.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.finding.file.as_deref().into_iter().chain(self.restore.iter().map(Restore::path))
    }
}

/// What a look at the worktree says about its checks and about what is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TamperSight {
    /// Weakened checks, compared with the tree the run began on, and those of earlier runs that
    /// are still there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<TamperFinding>,
    /// What earlier runs left to compare with; only told at the beginning of a run.
    #[serde(default, skip_serializing_if = "TestBounds::is_empty")]
    pub bounds: TestBounds,
    /// Files that say what is wanted and are not as they were when the run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<String>,
}

impl TamperSight {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The question a human is asked about these before a completion.
pub fn question(open: &[&TamperFinding]) -> String {
    asked(QUESTION, open)
}

/// The question about these where the run ended otherwise.
pub fn question_after(open: &[&TamperFinding]) -> String {
    asked("The run ended, and tests or gates it weakened are still so.", open)
}

fn asked(head: &str, open: &[&TamperFinding]) -> String {
    let mut list: Vec<String> =
        open.iter().take(10).map(|one| format!("- {}", one.words())).collect();
    let more = open.len().saturating_sub(list.len());
    if more > 0 {
        list.push(format!("- and {more} more"));
    }
    format!(
        "{head} Are these changes meant?\n{}\nIf not: `flyball restore tamper` puts back what \
         was there. If so: `flyball accept tamper`. Then `flyball run`.",
        list.join("\n")
    )
}

/// Whether this is flyball's own question about weakened checks.
pub fn is_question(text: &str) -> bool {
    text.trim_start().starts_with(QUESTION) && text.contains("`flyball accept tamper`")
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    fn changed(now: &str) -> TamperFinding {
        let mut finding = TamperFinding::about("file:check.sh", "`check.sh` was changed");
        finding.base = String::from("b");
        finding.now = String::from(now);
        finding
    }

    #[test]
    fn a_yes_is_to_what_stands_there_now_and_to_nothing_else() {
        assert_ne!(changed("1").key(), changed("2").key());
        assert_eq!(changed("1").thread(), changed("2").thread());
        let other = TamperFinding { base: String::from("c"), ..changed("1") };
        assert_ne!(changed("1").key(), other.key());
        assert!(changed("1").shares_subject(&other));
    }

    #[test]
    fn what_to_put_back_is_said_in_words() {
        let mut finding = changed("1");
        assert_eq!(finding.words(), "`check.sh` was changed");
        let path = String::from("check.sh");
        finding.restore = vec![
            Restore::File { path: path.clone() },
            Restore::Lines { path: path.clone(), from: 3, to: 3 },
            Restore::Lines { path: path.clone(), from: 3, to: 9 },
            Restore::Remove { path },
        ];
        assert_eq!(
            finding.words(),
            "`check.sh` was changed; put `check.sh` back as it was, put line 3 of `check.sh` back, \
             put lines 3 to 9 of `check.sh` back as they were, 1 more"
        );
    }

    #[test]
    fn flyballs_own_question_is_known_again() {
        let finding = changed("1");
        let text = question(&[&finding]);
        assert!(is_question(&text) && text.contains("- `check.sh` was changed"), "{text}");
        assert!(!is_question("Shall I `flyball accept tamper`?"));
    }

    #[test]
    fn a_sight_is_empty_when_it_tells_nothing() {
        assert!(TamperSight::default().is_empty());
        let told = TamperSight { findings: vec![changed("1")], ..TamperSight::default() };
        assert!(!told.is_empty());
        let wanted = vec![String::from("prompt.md")];
        assert!(!TamperSight { wanted, ..TamperSight::default() }.is_empty());
    }
}
