//! What of a test is run when the test is: without what stands under a condition that never holds, in
//! a function nobody calls, or where nobody hears of a failure.

use crate::gate::tamper::source::{Language, Source, words};
use crate::gate::tamper::tests_of::Test;

/// Conditions that never hold.
const NEVER: [&str; 9] =
    ["False", "false", "0", "None", "not True", "!true", "not __debug__", "1 == 0", "null"];
/// What a loop goes over and finds nothing in.
const NOTHING: [&str; 6] = ["()", "[]", "{}", "range(0)", "set()", "dict()"];
/// Failures of checks among others.
const DEAF: [&str; 2] = ["AssertionError", "BaseException"];
/// Calls that do something later, when the test may be over.
const LATER: [&str; 5] =
    ["setTimeout", "setImmediate", "nextTick", "queueMicrotask", "requestAnimationFrame"];
/// Words of a test that waits for what comes later.
const WAITING: [&str; 7] =
    ["done", "resolve", "await", "useFakeTimers", "runAllTimers", "advanceTimersByTime", "Promise"];

/// The largest body that is looked at so closely.
const BODY_MAX: usize = 8 * 1024;

/// The body of a test without what is not run.
pub(super) fn alive(test: &Test) -> String {
    if test.body.len() > BODY_MAX {
        return test.body.clone();
    }
    match test.language {
        Language::Python => python(test),
        Language::JavaScript | Language::Rust | Language::Go | Language::Jvm => brackets(test),
        Language::Ruby => test.body.clone(),
    }
}

fn mentioned(text: &str, name: &str) -> usize {
    words(text).filter(|(_, word)| *word == name).count()
}

fn indent(line: &str) -> usize {
    line.len().saturating_sub(line.trim_start().len())
}

fn python(test: &Test) -> String {
    let body = test.body.as_str();
    let has = |name: &str| mentioned(body, name) > 0;
    // A generator is made and thrown away; so is a coroutine that waits for nothing.
    let is_coroutine = test.whole.lines().any(|line| line.trim_start().starts_with("async def "));
    if has("yield") || (is_coroutine && !has("await")) {
        return String::new();
    }
    let lines: Vec<&str> = body.lines().collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut dead: Option<usize> = None;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        if dead.is_some_and(|depth| indent(line) > depth) {
            continue;
        }
        dead = None;
        if ends_deaf(&lines, at) {
            // What was to fail is forgotten on the way out.
            kept.clear();
        }
        if never_run(text, body) || is_tuple(text) {
            dead = Some(indent(line));
            continue;
        }
        kept.push(line);
    }
    kept.join("\n")
}

/// `finally:` with a `return` in it.
fn ends_deaf(lines: &[&str], at: usize) -> bool {
    let Some(line) = lines.get(at).filter(|line| line.trim() == "finally:") else { return false };
    let inside = lines.iter().skip(at.saturating_add(1));
    inside
        .take_while(|other| other.trim().is_empty() || indent(other) > indent(line))
        .any(|other| other.trim() == "return")
}

/// Whether what begins on a line is never run, or never heard of.
fn never_run(text: &str, body: &str) -> bool {
    let head = text.split_once(':').map_or(text, |(head, _)| head).trim();
    let condition = ["if ", "while "].iter().find_map(|word| head.strip_prefix(word));
    if condition.is_some_and(|condition| NEVER.contains(&condition.trim_matches(['(', ')', ' ']))) {
        return true;
    }
    let over = head.strip_prefix("for ").and_then(|head| head.split_once(" in "));
    if over.is_some_and(|(_, over)| NOTHING.contains(&over.trim())) {
        return true;
    }
    let guards =
        ["suppress", "assertRaises", "raises"].iter().any(|word| mentioned(head, word) > 0);
    if head.starts_with("with ") && guards && DEAF.iter().any(|word| mentioned(head, word) > 0) {
        return true;
    }
    let function = head.strip_prefix("async ").unwrap_or(head).strip_prefix("def ");
    if let Some(name) = function.and_then(|rest| rest.split('(').next()) {
        return mentioned(body, name.trim()) < 2;
    }
    // `_ = lambda: …`.
    let named = text.split_once('=').filter(|(_, right)| right.trim_start().starts_with("lambda"));
    named.is_some_and(|(name, _)| mentioned(body, name.trim()) < 2 || name.trim() == "_")
}

/// `assert (x, "why")` holds whatever x is.
fn is_tuple(text: &str) -> bool {
    let Some(stated) = text.strip_prefix("assert ").or_else(|| text.strip_prefix("assert(")) else {
        return false;
    };
    let stated = if text.starts_with("assert(") { format!("({stated}") } else { stated.to_owned() };
    let Some((inside, after)) = stated.trim().strip_prefix('(').and_then(super::closed) else {
        return false;
    };
    after.trim().is_empty() && super::top_comma(inside).is_some()
}

fn brackets(test: &Test) -> String {
    let source = Source::new(test.language, &test.body);
    let bare = source.bare.clone();
    let mut alive = bare.clone().into_bytes();
    let mut blank = |from: usize, to: usize| {
        for byte in alive.get_mut(from..to).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    let waits = WAITING.iter().any(|word| mentioned(&bare, word) > 0);
    for (at, word) in words(&bare) {
        let end = at.saturating_add(word.len());
        let rest = bare.get(end..).unwrap_or("");
        if ["if", "while"].contains(&word) {
            if let Some((open, close)) = never_block(&source, end) {
                blank(open, close);
            }
        } else if LATER.contains(&word) && rest.starts_with('(') && !waits {
            blank(end, source.close(end));
        } else if ["fn", "function", "func"].contains(&word) {
            let named =
                words(rest).next().filter(|(place, _)| *place == 1 && rest.starts_with(' '));
            let name = named.map(|(_, name)| name);
            let open = rest.find('{').map(|open| end.saturating_add(open));
            if let (Some(name), Some(open)) = (name, open)
                && mentioned(&bare, name) < 2
            {
                blank(open, source.close(open));
            }
        } else if ["let", "const", "var"].contains(&word)
            && let Some((from, to)) = unused_closure(&source, end)
        {
            blank(from, to);
        }
    }
    String::from_utf8(alive).unwrap_or(bare)
}

/// The block of a condition that never holds, which begins here.
fn never_block(source: &Source, at: usize) -> Option<(usize, usize)> {
    let rest = source.bare.get(at..)?;
    let brace = at.saturating_add(rest.find('{')?);
    let condition = source.bare.get(at..brace)?.trim();
    let inner = condition.strip_prefix('(').and_then(|c| c.strip_suffix(')')).unwrap_or(condition);
    NEVER.contains(&inner.trim()).then(|| (brace, source.close(brace)))
}

/// `let name = || …;` where nobody says the name again.
fn unused_closure(source: &Source, at: usize) -> Option<(usize, usize)> {
    let rest = source.bare.get(at..)?;
    let (name, right) = rest.split_once('=')?;
    let name = name.split(':').next()?.trim().trim_start_matches("mut ");
    if name.contains(|c: char| !c.is_alphanumeric() && c != '_') {
        return None;
    }
    let begin = source.bare.len().saturating_sub(right.len());
    let right = right.trim_start().trim_start_matches("move").trim_start();
    let is_closure = right.starts_with('|')
        || right.starts_with("func(")
        || right.split(['\n', ';', '{']).next().is_some_and(|line| line.contains("=>"));
    let used = mentioned(&source.bare, name) > 1 && name != "_";
    let open = source.bare.get(begin..)?.find(['\n', ';', '{'])?;
    let open = begin.saturating_add(open);
    let end = if source.bare.get(open..)?.starts_with('{') { source.close(open) } else { open };
    (is_closure && !used).then_some((begin, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tamper::strength::checks;
    use crate::gate::tamper::tests_of::tests_of;

    fn checks_of(language: Language, text: &str) -> usize {
        tests_of(language, text).first().map_or(99, checks)
    }

    #[test]
    fn checks_that_are_not_run_are_none() {
        let python = |body: &str| {
            let body: String = body.lines().flat_map(|line| ["    ", line, "\n"]).collect();
            checks_of(Language::Python, &format!("def test_a(self):\n{body}"))
        };
        for (body, expected) in [
            ("assert f() == 1", 1),
            ("def inner():\n    assert f() == 1", 0),
            ("def inner():\n    assert f() == 1\ninner()", 1),
            ("_ = lambda: self.assertEqual(f(), 1)", 0),
            ("for _ in ():\n    assert f()", 0),
            ("for x in CASES:\n    assert f(x)", 1),
            ("if False:\n    assert f()\nassert g()", 1),
            ("if not __debug__:\n    assert f()", 0),
            ("with contextlib.suppress(AssertionError):\n    assert f()", 0),
            ("with self.assertRaises(AssertionError):\n    assert f()", 0),
            ("with self.assertRaises(ValueError):\n    f()", 1),
            ("try:\n    assert f()\nfinally:\n    return", 0),
            ("try:\n    assert f()\nfinally:\n    close()", 1),
            ("assert (f() == 1, 'one')", 0),
            ("assert (f() == 1), 'one'", 1),
            ("assert f() == 1\nyield", 0),
        ] {
            assert_eq!(python(body), expected, "{body}");
        }
        let coroutine = "async def test_a():\n    assert f()\n";
        assert_eq!(checks_of(Language::Python, coroutine), 0);
        let awaits = "async def test_a():\n    assert await f()\n";
        assert_eq!(checks_of(Language::Python, awaits), 1);
        let javascript =
            |body: &str| checks_of(Language::JavaScript, &format!("test('a', () => {{ {body} }})"));
        for (body, expected) in [
            ("assert(f())", 1),
            ("setTimeout(() => assert(f()), 1)", 0),
            ("const later = () => { assert(f()) }", 0),
            ("const later = () => { assert(f()) }; later()", 1),
            ("if (false) { assert(f()) }", 0),
        ] {
            assert_eq!(javascript(body), expected, "{body}");
        }
        let rust = |body: &str| {
            checks_of(Language::Rust, &format!("#[test]\nfn a() {{\n    {body}\n}}\n"))
        };
        for (body, expected) in [
            ("assert_eq!(f(), 1);", 1),
            ("let _ = || assert_eq!(f(), 1);", 0),
            ("let same = |x| assert_eq!(f(), x);\n    same(1);", 1),
            ("fn inner() { assert!(f()); }", 0),
            ("fn inner() { assert!(f()); }\n    inner();", 1),
            ("if false { assert!(f()); }", 0),
        ] {
            assert_eq!(rust(body), expected, "{body}");
        }
    }
}
