//! Whether a test still checks what it checked: never how well.

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
const IDLE: [&str; 24] = [
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
    checks_in(test.language, &test.body).saturating_add(usize::from(test.expects))
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
    });
    stated.count()
}

/// How many lines of a text state what must hold, in whatever language it is.
pub(super) fn statements(text: &str) -> usize {
    const MARKS: [&str; 9] =
        ["assert", "expect", "should", "@test", "CHECK", "REQUIRE", "is_deeply", "ok(", "exit 1"];
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
    let old = called(&before.body);
    called(&after.body).iter().any(|word| !old.contains(word) && !IDLE.contains(word))
}

fn called(body: &str) -> Vec<&str> {
    let is_called = |(at, word): &(usize, &str)| {
        let after = body.get(at.saturating_add(word.len())..).unwrap_or("");
        after.starts_with(['(', '!'])
    };
    words(body).filter(is_called).map(|(_, word)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests_of::tests_of;
    use super::Language::{Go, JavaScript, Jvm, Python, Ruby, Rust};
    use super::*;

    fn weakened(language: Language, before: &str, after: &str) -> Option<&'static str> {
        let one = |text| tests_of(language, text).into_iter().next().unwrap();
        weakness(&one(before), &one(after))
    }

    const EMPTIED: Option<&str> = Some("was emptied");
    const RETURNS: Option<&str> = Some("returns before it checks anything");
    const NOTHING: Option<&str> = Some("no longer checks anything");
    const CATCHES: Option<&str> = Some("now catches its own failures");

    #[test]
    fn a_test_that_lost_its_checks_is_weaker_and_a_rewritten_one_is_not() {
        let rust = "#[test]\nfn a() { let x = f(1); assert_eq!(x, 2); }";
        let tried =
            "def test_a():\n  try:\n    assert f(1) == 2\n  except AssertionError:\n    pass\n";
        let python = "def test_a():\n    x = f(1)\n    assert x == 2\n";
        let js = "it('a', async () => { const x = await f(1); expect(x).toBe(2) })";
        let go = "func TestA(t *testing.T) { if f(1) != 2 { t.Fatalf(\"no\") } }";
        let java = "class T { @Test void a() { assertEquals(2, f(1)); } }";
        let ruby = "it \"a\" do\n  expect(f(1)).to eq(2)\nend\n";
        let cases = [
            (Rust, rust, "#[test]\nfn a() { }", EMPTIED),
            (Rust, rust, "#[test]\nfn a() { assert!(true); }", EMPTIED),
            (Rust, rust, "#[test]\nfn a() { assert_eq!(1, 1) }", EMPTIED),
            (Rust, rust, "#[test]\nfn a() { return; let x = f(1); assert_eq!(x, 2); }", RETURNS),
            (Python, python, tried, CATCHES),
            (
                JavaScript,
                js,
                "it('a', () => { try { expect(f(1)).toBe(2) } catch (e) {} })",
                CATCHES,
            ),
            (Rust, rust, "#[test]\nfn a() { let x = f(1); }", NOTHING),
            (
                Rust,
                rust,
                "#[test]\nfn a() { let expected = f(1); println!(\"{expected}\"); }",
                NOTHING,
            ),
            (Rust, rust, "#[test]\nfn a() { f(1).expect(\"x\"); }", None),
            (Rust, rust, "#[test]\nfn a() { let y = f(1); assert_eq!(2, y); }", None),
            (Rust, rust, "#[test]\nfn a() { works(1, 2); }", None),
            (Rust, rust, "#[test]\n#[should_panic]\nfn a() { f(1); }", None),
            (Python, python, "def test_a():\n    pass\n", EMPTIED),
            (Python, python, "def test_a():\n    \"\"\"Assert x.\"\"\"\n", EMPTIED),
            (Python, python, "def test_a():\n    ...\n", EMPTIED),
            (Python, python, "def test_a():\n    return\n    assert f(1) == 2\n", RETURNS),
            (Python, python, "def test_a():\n    x = f(1)\n    # assert x == 2\n", NOTHING),
            (Python, python, "def test_a():\n    with pytest.raises(E):\n        f(1)\n", None),
            (Python, python, "def test_a(f):\n    self.assertEqual(f(1), 2)\n", None),
            (JavaScript, js, "it('a', () => {})", EMPTIED),
            (JavaScript, js, "it('a', () => { expect(true).toBe(true) })", EMPTIED),
            (JavaScript, js, "it('a', async () => { const x = await f(1); })", NOTHING),
            (JavaScript, js, "it('a', () => { return; expect(f(1)).toBe(2) })", RETURNS),
            (JavaScript, js, "it('a', () => { return expect(f(1)).resolves.toBe(2) })", None),
            (JavaScript, js, "it('a', () => f(1).should.equal(2))", None),
            (JavaScript, js, "test('a', async t => { await assertUnhandled(t); })", None),
            (JavaScript, js, "test('a', async t => { await t.throwsAsync(f(1)); })", None),
            (JavaScript, js, "test('a', t => { t.is(true, true); })", EMPTIED),
            (Go, go, "func TestA(t *testing.T) { }", EMPTIED),
            (Go, go, "func TestA(t *testing.T) { f(1) }", NOTHING),
            (Go, go, "func TestA(t *testing.T) { require.Equal(t, 2, f(1)) }", None),
            (
                Go,
                go,
                "func TestA(t *testing.T) { t.Run(\"x\", func(t *T) { t.Error(f(1)) }) }",
                None,
            ),
            (Jvm, java, "class T { @Test void a() { } }", EMPTIED),
            (Jvm, java, "class T { @Test void a() { assertTrue(true); } }", EMPTIED),
            (Jvm, java, "class T { @Test void a() { f(1); } }", NOTHING),
            (Jvm, java, "class T { @Test void a() { assertThat(f(1)).isEqualTo(2); } }", None),
            (Ruby, ruby, "it \"a\" do\nend\n", EMPTIED),
            (Ruby, ruby, "it \"a\" do\n  f(1)\nend\n", NOTHING),
            (Ruby, ruby, "it \"a\" do\n  f(1).should eq(2)\nend\n", None),
        ];
        for (language, before, after, expected) in cases {
            assert_eq!(weakened(language, before, after), expected, "{after}");
            assert_eq!(weakened(language, after, after), None, "{after}");
        }
    }
}
