//! Whether a test still checks what it checked: never how well.

mod alive;
mod inverted;
#[cfg(test)]
mod tests;

use self::alive::alive;
use self::inverted::inverted;
use super::source::{Language, words};
use super::tests_of::Test;

/// Beginnings of words that state what must hold, however they are used.
const STATES: [&str; 6] = ["assert", "prop_assert", "is_expected", "refute", "raises", "should"];
/// Beginnings of words that state it when they are called.
const CALLS: [&str; 8] =
    ["expect", "verify", "ensure", "require", "must", "check", "fail", "panic"];
/// Methods of test objects that state it in languages without the words above.
const METHODS: [&str; 5] = ["is", "ok", "not", "like", "pass"];
/// Beginnings of such methods.
const METHOD_BEGINS: [&str; 16] = [
    "Error",
    "Fatal",
    "Fail",
    "equal",
    "notEqual",
    "deepEqual",
    "notDeepEqual",
    "strictEqual",
    "deepStrictEqual",
    "same",
    "throws",
    "notThrows",
    "doesNotThrow",
    "rejects",
    "truthy",
    "falsy",
];
/// Beginnings of what minitest says of a thing, with no brackets behind it.
const MINITEST: [&str; 2] = ["must_", "wont_"];
/// Words that say nothing by themselves.
const NOISE: [&str; 40] = [
    "true",
    "false",
    "True",
    "False",
    "None",
    "null",
    "nil",
    "undefined",
    "pass",
    "return",
    "t",
    "self",
    "this",
    "async",
    "await",
    "function",
    "done",
    "toBe",
    "toEqual",
    "toBeTruthy",
    "toStrictEqual",
    "toBeDefined",
    "toBeFalsy",
    "not",
    "let",
    "const",
    "var",
    "_",
    "do",
    "end",
    "be",
    "eq",
    "to",
    "Assertions",
    "Assert",
    "Ok",
    "void",
    "fun",
    "be_truthy",
    "isTrue",
];
/// Statements that come with the language or its test library: they say nothing without the program.
/// Any other `assert…` is someone's own and may say a lot.
const PLAIN: [&str; 24] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "assert_true",
    "assert_equal",
    "assertTrue",
    "assertFalse",
    "assertEqual",
    "assertEquals",
    "assertNotNull",
    "assertNull",
    "assertIsNone",
    "assertThat",
    "expect",
    "expects",
    "should",
    "require",
    "refute",
    "equal",
    "is",
    "ok",
    "truthy",
];
/// Calls that check nothing.
const IDLE: [&str; 33] = [
    "println",
    "print",
    "eprintln",
    "eprint",
    "dbg",
    "drop",
    "log",
    "warn",
    "info",
    "debug",
    "Println",
    "Printf",
    "Log",
    "Logf",
    "Ok",
    "Some",
    "Err",
    "setTimeout",
    "str",
    "repr",
    "black_box",
    "format",
    "puts",
    "done",
    "range",
    "suppress",
    "assertRaises",
    "raises",
    "lambda",
    "setImmediate",
    "nextTick",
    "queueMicrotask",
    "unref",
];

/// How a test became weaker, in words that follow its name; none when it did not.
pub(super) fn weakness(before: &Test, after: &Test) -> Option<&'static str> {
    if is_empty(after) && !is_empty(before) {
        return Some("was emptied");
    }
    if returns_at_once(after) && !returns_at_once(before) {
        return Some("returns before it checks anything");
    }
    if catches(after) > catches(before) && checks(after) <= checks(before) {
        return Some("now catches its own failures");
    }
    if always(after) > always(before) {
        return Some("now holds whatever the program does");
    }
    if inverted(after) > inverted(before) {
        return Some("is now expected to fail");
    }
    let same =
        |one: &Test, other: &Test| one.body.split_whitespace().eq(other.body.split_whitespace());
    if after.expects && !before.expects && checks(before) > 0 && same(before, after) {
        return Some("is now expected to fail");
    }
    let lost = checks(before) > 0 && checks(after) == 0;
    (lost && !calls_something_new(before, after)).then_some("no longer checks anything")
}

/// Whether a word tells nothing of the program.
pub(super) fn says_nothing(word: &str) -> bool {
    NOISE.contains(&word) || PLAIN.contains(&word) || word.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether nothing of the program is even mentioned.
fn is_empty(test: &Test) -> bool {
    !test.expects && words(&test.body).all(|(_, word)| says_nothing(word))
}

/// How often something is stated that always holds: `or True`, or a thing compared with itself.
fn always(test: &Test) -> usize {
    let body: String = test.body.split_whitespace().collect::<Vec<_>>().join(" ");
    let either = ["or True", "|| true", "||true", "or 1 ", "|| 1)", "or not False", "or true"];
    let either: usize = either.iter().map(|mark| body.matches(mark).count()).sum();
    // Strings are blank in the body: what is compared is looked for where they are not.
    let whole: String = test.whole.split_whitespace().collect();
    let with_itself = whole.match_indices('(').filter(|(at, _)| {
        let rest = whole.get(at.saturating_add(1)..).unwrap_or("");
        let Some((inside, after)) = closed(rest) else { return false };
        let (one, other) = match top_comma(inside) {
            Some((one, other)) => (one, other),
            // `expect(x).toBe(x)`.
            None => match after.split_once('(').map(|(name, rest)| (name, closed(rest))) {
                Some((name, Some((other, _)))) if name.starts_with(".to") => (inside, other),
                _ => return false,
            },
        };
        let name = whole.get(..*at).unwrap_or("").trim_end_matches('!');
        let word = name.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        // What someone's own check does with two equal texts is not known.
        let is_text = one.starts_with(['"', '\'', '`']) && !PLAIN.contains(&word);
        let states = begins_with(word, &STATES) || stating(word);
        one == other && one.contains('(') && states && !is_text
    });
    let compared = body.lines().flat_map(|line| line.split("assert ").skip(1)).filter(|stated| {
        let stated = stated.split([';', '\n']).next().unwrap_or("");
        let end = stated.find(" assert ").unwrap_or(stated.len());
        let stated = stated.get(..end).unwrap_or("").trim();
        stated.split_once(" == ").is_some_and(|(one, other)| {
            one.contains('(')
                && other.trim_end().starts_with(one.trim())
                && other.trim() == one.trim()
        })
    });
    either.saturating_add(with_itself.count()).saturating_add(compared.count())
}

/// What stands up to the bracket that closes, and what comes after it.
pub(super) fn closed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
            b')' | b']' | b'}' if depth == 0 => {
                return Some((text.get(..at)?, text.get(at.saturating_add(1)..)?));
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The first two things of a list; none when it has only one.
fn top_comma(inside: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let mut places = Vec::new();
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => places.push(at),
            _ => {}
        }
    }
    let first = *places.first()?;
    let end = places.get(1).copied().unwrap_or(inside.len());
    Some((inside.get(..first)?, inside.get(first.saturating_add(1)..end)?))
}

/// How often failures are caught.
fn catches(test: &Test) -> usize {
    let word = match test.language {
        Language::Python => "except",
        Language::JavaScript | Language::Jvm => "catch",
        Language::Ruby => "rescue",
        Language::Rust => "catch_unwind",
        Language::Go => "recover",
    };
    words(&test.body).filter(|(_, found)| *found == word).count()
}

fn begins_with(word: &str, beginnings: &[&str]) -> bool {
    let lower = word.to_ascii_lowercase();
    !["expected", "assertionerror", "assertionfailed"].iter().any(|no| lower.starts_with(no))
        && beginnings.iter().any(|begin| lower.starts_with(begin))
}

/// How many statements of what must hold there are.
pub(super) fn checks(test: &Test) -> usize {
    checks_in(test.language, &alive(test)).saturating_add(usize::from(test.expects))
}

/// How many of them there are in a piece of code without comments and strings.
pub(super) fn checks_in(language: Language, body: &str) -> usize {
    let stated = words(body).filter(|(at, word)| {
        let before = body.get(..*at).unwrap_or("");
        let after = body.get(at.saturating_add(word.len())..).unwrap_or("");
        let called = after.trim_start_matches([' ', '!']).starts_with(['(', '{', '[']);
        let method = before.ends_with('.');
        let by_call = match language {
            // `.expect(…)` is how Rust unwraps.
            Language::Rust => called && !method,
            Language::JavaScript => called && !word.starts_with("require"),
            Language::Python | Language::Go | Language::Jvm | Language::Ruby => called,
        };
        begins_with(word, &STATES)
            || (by_call && begins_with(word, &CALLS))
            || (method && called && is_stating_method(word))
            || (method && language == Language::Ruby && begins_with(word, &MINITEST))
    });
    stated.count()
}

/// How many lines of a text state what must hold, in whatever language it is.
pub(super) fn statements(text: &str) -> usize {
    const MARKS: [&str; 13] = [
        "assert",
        "Assert",
        "ASSERT_",
        "expect",
        "EXPECT_",
        "should",
        "@test",
        "CHECK",
        "REQUIRE",
        "is_deeply",
        "ok(",
        "exit 1",
        "[ \"$",
    ];
    let is_comment = |line: &str| ["#", "//", "*", "--", ";"].iter().any(|c| line.starts_with(c));
    let states = |line: &&str| {
        let line = line.trim();
        let mark = line.starts_with("@test") || !is_comment(line);
        mark && (line.starts_with("ok ") || MARKS.iter().any(|mark| line.contains(mark)))
    };
    text.lines().filter(states).count()
}

/// Whether a word is one that states what must hold, or a method that does.
pub(super) fn stating(word: &str) -> bool {
    begins_with(word, &STATES)
        || ["expect", "fail"].iter().any(|begin| word.starts_with(begin))
        || METHOD_BEGINS.iter().any(|begin| word.starts_with(begin))
}

fn is_stating_method(word: &str) -> bool {
    METHODS.contains(&word) || METHOD_BEGINS.iter().any(|begin| word.starts_with(begin))
}

fn returns_at_once(test: &Test) -> bool {
    let body = test.body.as_str();
    let inner = match test.language {
        Language::Python | Language::Ruby => Some(body),
        Language::Rust | Language::Go | Language::Jvm => body.split_once('{').map(|(_, rest)| rest),
        Language::JavaScript => {
            let function = body.split_once("=>").or_else(|| body.split_once("function"));
            function.and_then(|(_, rest)| rest.split_once('{')).map(|(_, rest)| rest)
        }
    };
    let after = inner.and_then(|inner| inner.trim_start().strip_prefix("return"));
    after.is_some_and(|rest| {
        let rest = rest.trim_start_matches([' ', '\t', '\r']);
        rest.is_empty() || rest.starts_with([';', '\n', '}'])
    })
}

/// Whether the test now calls something it did not call before: what it checked may be there.
fn calls_something_new(before: &Test, after: &Test) -> bool {
    let (old, new) = (called(&before.body), alive(after));
    called(&new).iter().any(|word| !old.contains(word) && !IDLE.contains(word))
}

fn called(body: &str) -> Vec<&str> {
    let is_called = |(at, word): &(usize, &str)| {
        let after = body.get(at.saturating_add(word.len())..).unwrap_or("");
        after.starts_with(['(', '!'])
    };
    words(body).filter(is_called).map(|(_, word)| word).collect()
}
