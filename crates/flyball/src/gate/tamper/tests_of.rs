//! The tests of a source file, by name, with what they do and whether they are skipped.

mod cfg;
mod go;
mod javascript;
mod jvm;
mod python;
mod ruby;
mod rust;

pub(super) use self::go::condition_of_name;
pub(super) use self::javascript::picked_out;
use super::source::{Language, Source};

/// How many tests of one file are looked at where they can be inside each other.
const TESTS_MAX: usize = 2_000;
/// How much of such a test is looked at.
const BODY_MAX: usize = 64 * 1024;

/// A test as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) language: Language,
    /// Its name or title, without where it is nested.
    pub(super) name: String,
    /// Where it begins, from 1.
    pub(super) line: u32,
    /// All of it without comments, with its attributes or decorators.
    pub(super) whole: String,
    /// Its body without comments and without what is in strings.
    pub(super) body: String,
    /// Whether the runner is told not to run it.
    pub(super) skipped: bool,
    /// Whether something beside its body says what must happen, such as `should_panic`.
    pub(super) expects: bool,
    /// The line its attributes or decorators begin on.
    pub(super) first_line: u32,
    /// Conditions under which it is there at all, as far as nobody can tell here whether they hold.
    pub(super) conditions: Vec<String>,
}

impl Test {
    /// The first and the last of its lines.
    pub(super) fn lines(&self) -> (u32, u32) {
        let more = self.whole.trim_end().lines().count().saturating_sub(1);
        let last = self.first_line.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        (self.first_line, last.max(self.line))
    }
}

/// Whether runners look for tests in a file of this name.
pub(super) fn may_hold_tests(language: Language, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let in_folder =
        |names: &[&str]| path.split('/').rev().skip(1).any(|part| names.contains(&part));
    match language {
        Language::Rust | Language::Jvm => true,
        Language::Go => name.ends_with("_test.go"),
        Language::Python => {
            stem.starts_with("test_")
                || stem.ends_with("_test")
                || matches!(stem, "test" | "tests")
                || in_folder(&["test", "tests", "testing"])
        }
        Language::JavaScript => {
            name.contains(".test.")
                || name.contains(".spec.")
                || name.contains(".cy.")
                || stem.ends_with("_test")
                || stem.starts_with("test_")
                || stem == "test"
                || in_folder(&["__tests__", "test", "tests", "spec", "e2e"])
        }
        Language::Ruby => {
            stem.ends_with("_spec")
                || stem.ends_with("_test")
                || stem.starts_with("test_")
                || in_folder(&["spec", "test"])
        }
    }
}

/// All tests of a file, in order.
pub(super) fn tests_of(language: Language, text: &str) -> Vec<Test> {
    let source = Source::new(language, text);
    match language {
        Language::Rust => rust::tests(&source),
        Language::Python => python::tests(&source),
        Language::JavaScript => javascript::tests(&source),
        Language::Go => go::tests(&source, text),
        Language::Jvm => jvm::tests(&source),
        Language::Ruby => ruby::tests(&source),
    }
}

/// Part of a view; nothing when it is not there.
fn part(view: &str, from: usize, to: usize) -> &str {
    view.get(from..to).unwrap_or("")
}

/// The same, of a length that any number of tests inside each other can have.
fn clipped(view: &str, from: usize, to: usize) -> &str {
    let most = view.floor_char_boundary(to.min(from.saturating_add(BODY_MAX)));
    part(view, from, most)
}

/// The first place at or after `from` where one of these bytes stands.
fn next_of(view: &str, from: usize, bytes: &[u8]) -> Option<usize> {
    let rest = view.as_bytes().get(from..)?;
    Some(from.saturating_add(rest.iter().position(|byte| bytes.contains(byte))?))
}

/// The word that begins at or after `from`, with blanks before it only.
fn word_at(view: &str, from: usize) -> Option<(usize, &str)> {
    let rest = view.get(from..)?;
    let begin = rest.len().saturating_sub(rest.trim_start().len());
    let word = rest.get(begin..)?;
    let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
    (end > 0).then(|| (from.saturating_add(begin), word.get(..end).unwrap_or("")))
}

/// A line of a view: where it begins, how far it is indented, and what stands there.
struct Line<'a> {
    at: usize,
    indent: usize,
    text: &'a str,
}

/// The lines of a view with their places.
fn lines(view: &str) -> Vec<Line<'_>> {
    let mut at = 0_usize;
    let line = |whole: &'_ str| {
        let begin = at;
        at = at.saturating_add(whole.len());
        (begin, whole.len())
    };
    let places: Vec<(usize, usize)> = view.split_inclusive('\n').map(line).collect();
    let lines = places.into_iter().map(|(at, length)| {
        let whole = part(view, at, at.saturating_add(length));
        let text = whole.trim();
        Line { at, indent: whole.len().saturating_sub(whole.trim_start().len()), text }
    });
    lines.collect()
}
