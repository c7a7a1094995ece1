//! JavaScript and TypeScript: `it(…)` and `test(…)` as jest, vitest, mocha, node and others have them.

use super::{TESTS_MAX, Test, clipped, next_of, word_at};
use crate::gate::tamper::source::{Language, Source, words};

const TESTS: [&str; 9] =
    ["it", "test", "xit", "xtest", "fit", "specify", "xspecify", "ftest", "fspecify"];
const GROUPS: [&str; 8] =
    ["describe", "xdescribe", "fdescribe", "context", "xcontext", "fcontext", "suite", "xsuite"];
/// Modifiers that keep a test from being run, or let it fail.
const SKIPS: [&str; 5] = ["skip", "todo", "failing", "fixme", "fails"];
/// Modifiers that are called themselves before the test is.
const TABLES: [&str; 4] = ["each", "skipIf", "runIf", "for"];
/// What in a body ends the test without a result.
const SKIPPING: [&str; 8] = [
    ".skip()",
    "t.skip(",
    "t.todo(",
    ".todo()",
    "ctx.skip(",
    "skip: true",
    "todo: true",
    "this.skip(",
];

pub(super) fn tests(source: &Source) -> Vec<Test> {
    let calls: Vec<Call<'_>> = calls(source).collect();
    let around = |call: &Call<'_>, at: usize| call.open < at && at < call.end;
    let tests = calls.iter().filter(|call| call.is_test() && call.has_body);
    tests
        .map(|call| {
            let in_skipped = calls.iter().any(|other| {
                GROUPS.contains(&other.word) && other.skips() && around(other, call.at)
            });
            // `test.skip(condition)` inside of a test, as Playwright has it.
            let skips_itself = calls.iter().any(|other| {
                other.is_test() && other.skips() && !other.has_body && around(call, other.at)
            });
            let body = clipped(&source.bare, call.after_title, call.end);
            let says_so = SKIPPING.iter().any(|text| body.contains(text)) || by_option(body);
            Test {
                language: Language::JavaScript,
                name: call.title(source),
                line: source.line(call.at),
                whole: clipped(&source.code, call.at, call.end).to_owned(),
                body: body.to_owned(),
                skipped: call.skips() || in_skipped || skips_itself || says_so,
                expects: false,
                first_line: source.line(call.at),
                conditions: Vec::new(),
            }
        })
        .collect()
}

/// Whether an option of the test's says when it is not run: `{ skip: process.env.CI }`.
fn by_option(body: &str) -> bool {
    let options = body.split("=>").next().unwrap_or("").split("function").next().unwrap_or("");
    ["skip:", "todo:"].iter().any(|option| {
        let value = options.split_once(option).map(|(_, value)| value.trim_start());
        value.is_some_and(|value| !value.starts_with("false"))
    })
}

/// The lines on which one test or group is picked out, so that no other of the file runs.
pub(in crate::gate::tamper) fn picked_out(source: &Source) -> Vec<u32> {
    calls(source)
        .filter(|call| {
            call.modifiers.contains(&"only") || (call.word.starts_with('f') && call.has_body)
        })
        .map(|call| source.line(call.at))
        .collect()
}

fn calls(source: &Source) -> impl Iterator<Item = Call<'_>> {
    words(&source.bare)
        .filter(|(_, word)| TESTS.contains(word) || GROUPS.contains(word))
        .filter_map(|(at, word)| Call::read(source, at, word))
        .take(TESTS_MAX)
}

/// A call of `it`, `test`, `describe` or one of their relatives.
struct Call<'a> {
    at: usize,
    word: &'a str,
    modifiers: Vec<&'a str>,
    open: usize,
    after_title: usize,
    end: usize,
    /// Whether there is a function, or at least a title, so that this declares a test.
    has_body: bool,
}

impl<'a> Call<'a> {
    fn read(source: &'a Source, at: usize, word: &'a str) -> Option<Self> {
        let bare = source.bare.as_str();
        let before = bare.get(..at)?.trim_end_matches([' ', '\t']);
        if before.ends_with(['.', '$', '#']) || before.ends_with("function") {
            return None;
        }
        let mut place = at.saturating_add(word.len());
        let mut modifiers = Vec::new();
        loop {
            match bare.get(place..)?.chars().next()? {
                '.' => {
                    let (begin, modifier) = word_at(bare, place.saturating_add(1))?;
                    modifiers.push(modifier);
                    place = begin.saturating_add(modifier.len());
                    if TABLES.contains(&modifier) {
                        place = after_table(source, place)?;
                    }
                }
                '<' => place = next_of(bare, place, b"(\n")?,
                '(' => break,
                _ => return None,
            }
        }
        let end = source.close(place);
        let after_title = title_end(source, place, end);
        let mut call = Self { at, word, modifiers, open: place, after_title, end, has_body: false };
        call.has_body = call.declares(source);
        Some(call)
    }

    fn is_test(&self) -> bool {
        TESTS.contains(&self.word)
    }

    fn skips(&self) -> bool {
        self.word.starts_with('x') || self.modifiers.iter().any(|word| SKIPS.contains(word))
    }

    fn declares(&self, source: &Source) -> bool {
        let body = clipped(&source.bare, self.after_title, self.end);
        let title = clipped(&source.bare, self.open, self.after_title);
        body.contains("=>")
            || body.contains("function")
            || self.modifiers.contains(&"todo")
            || (self.skips() && title.contains(['\'', '"', '`']) && body.trim() == ")")
    }

    fn title(&self, source: &Source) -> String {
        let title = clipped(&source.code, self.open.saturating_add(1), self.after_title).trim();
        let title = title.trim_end_matches(',').trim();
        title.trim_matches(['\'', '"', '`']).to_owned()
    }
}

/// Where the call goes on after a table in brackets or backticks.
fn after_table(source: &Source, at: usize) -> Option<usize> {
    match source.bare.get(at..)?.chars().next()? {
        '(' => Some(source.close(at)),
        '`' => Some(next_of(&source.bare, at.saturating_add(1), b"`")?.saturating_add(1)),
        _ => None,
    }
}

/// Where the first argument ends, or the call.
fn title_end(source: &Source, open: usize, end: usize) -> usize {
    let mut depth = 0_usize;
    let inside = clipped(&source.bare, open, end);
    for (index, byte) in inside.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => return open.saturating_add(index),
            _ => {}
        }
    }
    end.saturating_sub(1)
}
