//! What the doctor found, and how bad it is.

use serde::Serialize;

use super::super::words;
use crate::error::{CliError, ErrorKind};

/// How much is said of one thing.
const WHAT_MAX: usize = 1_000;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// A run can begin, but somebody should look.
    Warn,
    /// A run cannot begin, or could not be trusted.
    Fail,
}

impl Level {
    /// The word at the beginning of the line.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Diagnosis {
    /// What was looked at, in one word.
    pub(super) check: &'static str,
    /// How bad it is.
    pub(super) level: Level,
    /// What was found.
    pub(super) what: String,
    /// What to type about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remedy: Option<String>,
    #[serde(skip)]
    kind: Option<ErrorKind>,
}

/// Everything that was found, in the order it was looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// The findings.
    pub(super) findings: Vec<Diagnosis>,
}

impl Report {
    /// Something is as it should be.
    pub(super) fn ok(&mut self, check: &'static str, what: impl Into<String>) {
        let (level, what) = (Level::Ok, what.into());
        self.findings.push(Diagnosis { check, level, what, remedy: None, kind: None });
    }

    /// Somebody should look.
    pub(super) fn warn(
        &mut self,
        check: &'static str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let (level, what, remedy) = (Level::Warn, what.into(), Some(remedy.into()));
        self.findings.push(Diagnosis { check, level, what, remedy, kind: None });
    }

    /// A run cannot begin.
    pub(super) fn fail(
        &mut self,
        (check, kind): (&'static str, ErrorKind),
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let (level, what, remedy) = (Level::Fail, what.into(), Some(remedy.into()));
        self.findings.push(Diagnosis { check, level, what, remedy, kind: Some(kind) });
    }

    /// A run cannot begin, for a reason another command would give too. Its own hint is the remedy
    /// when it has one.
    pub(super) fn error(&mut self, check: &'static str, error: &CliError, remedy: &str) {
        // As the run would say it, with the lines it shows of a file.
        let mut lines = vec![error.message.clone()];
        lines.extend(error.causes.iter().map(|cause| format!("  caused by: {cause}")));
        let what = flyball_core::text::head(&words::lines(&lines.join("\n")), WHAT_MAX);
        let remedy = error.hints.first().map_or(remedy, String::as_str);
        self.fail((check, error.kind), what, remedy);
    }

    /// What the first failure exits with.
    pub(super) fn failure(&self) -> Option<ErrorKind> {
        self.findings.iter().find_map(|finding| finding.kind)
    }
}
