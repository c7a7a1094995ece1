//! The content rule: a regular expression over a file or over what the agent said.

use std::io;
use std::path::Path;

use regex::{Regex, RegexBuilder};

use super::Judged;
use crate::mcp::site::Site;

/// The longest part of a file that is read.
const READ_MAX: u64 = 16 * 1024 * 1024;
/// The largest compiled pattern.
const PATTERN_MAX: usize = 1024 * 1024;

/// What is wanted of the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Match,
    NoMatch,
}

impl Wanted {
    #[expect(clippy::fn_params_excessive_bools, reason = "what the rule's JSON says")]
    pub(super) const fn of(must_match: bool) -> Self {
        if must_match { Self::Match } else { Self::NoMatch }
    }
}

pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .multi_line(true)
        .size_limit(PATTERN_MAX)
        .build()
        .map_err(|error| error.to_string())
}

pub(super) fn run(
    site: &Site,
    path: Option<&str>,
    pattern: &str,
    (wanted, output): (Wanted, &str),
) -> Judged {
    let pattern = match compile(pattern) {
        Ok(pattern) => pattern,
        Err(why) => return Judged::failed(why),
    };
    let read;
    let (place, text) = match path {
        None => ("the agent's output".to_owned(), output),
        Some(path) => match read_bounded(&site.path(path)) {
            Ok(text) => {
                read = text;
                (format!("`{path}`"), read.as_str())
            }
            Err(error) => {
                return Judged::failed(format!("file: {path} could not be read: {error}"));
            }
        },
    };
    match (pattern.find(text), wanted) {
        (Some(_), Wanted::Match) => Judged::passed(format!("{place} matches")),
        (None, Wanted::NoMatch) => Judged::passed(format!("{place} does not match, as it should")),
        (None, Wanted::Match) => Judged::failed(format!("{place} does not match `{pattern}`")),
        (Some(found), Wanted::NoMatch) => {
            let before = text.get(..found.start()).unwrap_or_default();
            let line = before.matches('\n').count().saturating_add(1);
            Judged::failed(format!("{place} matches `{pattern}` at line {line} and must not"))
        }
    }
}

/// The text of a file, as far as it is looked at; what is no UTF-8 is replaced.
pub(super) fn read_bounded(path: &Path) -> io::Result<String> {
    let bytes = crate::files::read_start(path, READ_MAX)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
