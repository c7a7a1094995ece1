//! What tests state things with, and what their runners are made of, replaced by something that may
//! state nothing: in the languages in which anybody can do so from anywhere.

use std::collections::BTreeSet;

use super::Edited;
use super::source::{Language, Source, words};
use super::suspicion::Suspicion;

/// What tests state things with.
const STATING: [&str; 9] =
    ["TestCase", "assert", "expect", "chai", "should", "Assert", "RSpec", "jest", "Minitest"];
/// Modules of it, every part of which is about checking.
const MODULES: [&str; 2] = ["unittest", "node:assert"];
/// How the names of such things begin.
const STATEMENTS: [&str; 12] = [
    "assert", "fail", "expect", "equal", "strict", "deep", "ok", "throws", "rejects", "match",
    "run", "not",
];
/// Parts of runners that decide how a test went.
const PARTS: [&str; 8] = [
    "addFailure",
    "addError",
    "addSubTest",
    "wasSuccessful",
    "_callTestMethod",
    "testPartExecutor",
    "failureException",
    "pytest_runtest_makereport",
];
/// Settings of theirs that only say how much is told.
const HARMLESS: [&str; 4] = ["maxDiff", "longMessage", "config", "truncateThreshold"];
/// Calls that set a member by its name.
const SETTING: [&str; 4] = ["Object.assign(", "Object.defineProperty(", "Reflect.set(", "setattr("];

/// What is newly replaced in a file.
pub(super) fn replaced(edit: &Edited) -> Option<Suspicion> {
    let language = Language::of(&edit.path).filter(|language| {
        matches!(language, Language::Python | Language::JavaScript | Language::Ruby)
    })?;
    let lines =
        |text: &Option<String>| lines(&Source::new(language, text.as_deref().unwrap_or("")));
    let before = lines(&edit.before);
    let new = lines(&edit.after).into_iter().find(|line| !before.contains(line))?;
    let (path, shown) = (&edit.path, flyball_core::text::head(&new, 60));
    let message = format!("what tests check with is replaced in `{path}`: `{shown}`");
    Some(Suspicion::of_file(path, "replaced", message).whole(edit))
}

/// The statements that replace something of the kind.
fn lines(source: &Source) -> Vec<String> {
    let mut known = Known::default();
    let mut found = Vec::new();
    for statement in source.code.lines().flat_map(|line| line.split(';')).map(str::trim) {
        if known.is_replaced(statement) {
            found.push(statement.to_owned());
        }
        known.learn(statement);
    }
    found
}

/// The names by which what states things goes here.
#[derive(Default)]
struct Known(BTreeSet<String>);

impl Known {
    fn holds(&self, word: &str) -> bool {
        STATING.contains(&word) || MODULES.contains(&word) || self.0.contains(word)
    }

    fn mentions(&self, text: &str) -> bool {
        words(text).any(|(_, word)| self.holds(word))
    }

    /// `import unittest as u`, `T = u.TestCase`, `const a = require("assert")`.
    fn learn(&mut self, statement: &str) {
        let imported =
            statement.strip_prefix("import ").or_else(|| statement.strip_prefix("from "));
        if let Some((what, name)) = imported.and_then(|rest| rest.rsplit_once(" as ")) {
            if self.mentions(what) {
                self.0.insert(name.trim().to_owned());
            }
            return;
        }
        let Some((left, right)) = assignment(statement) else { return };
        let name = left.rsplit(' ').next().unwrap_or(left);
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        let called = right.contains('(') && !right.trim_start().starts_with("require(");
        if is_name && !name.is_empty() && !called && self.mentions(right) {
            self.0.insert(name.to_owned());
        }
    }

    fn is_replaced(&self, statement: &str) -> bool {
        if let Some((_, rest)) = SETTING.iter().find_map(|call| statement.split_once(call)) {
            let owner = rest.split(',').next().unwrap_or("");
            let named = rest.contains("assert") || PARTS.iter().any(|part| rest.contains(part));
            return self.mentions(owner) && (named || !rest.contains("config"));
        }
        let Some((left, right)) = assignment(statement) else { return false };
        // `R.addFailure = R.addError = fine`: each of them counts.
        self.is_member(left, right) || (right.contains(" = ") && self.is_replaced(right))
    }

    /// Whether something of the kind is given another value.
    fn is_member(&self, left: &str, right: &str) -> bool {
        let left = left.rsplit([' ', '\t', ')']).next().unwrap_or(left);
        if let Some((owner, index)) = left.strip_suffix(']').and_then(|left| left.rsplit_once('['))
        {
            let name = index.trim_matches(['"', '\'', '`']);
            let literal = name != index;
            return self.mentions(owner) && (!literal || begins(name) || PARTS.contains(&name));
        }
        let Some((owner, name)) = left.rsplit_once('.') else { return false };
        let name = name.trim();
        let own =
            ["exports", "module", "self", "this", "cls"].iter().any(|one| owner.contains(one));
        let is_helper =
            name.starts_with("assert") || ["same", "eq", "equal", "expect"].contains(&name);
        let is_function =
            right.contains("lambda") || right.contains("=>") || right.contains("function");
        let global = ["global", "globalThis", "window", "builtins"].contains(&owner)
            && ["expect", "assert", "test", "it"].contains(&name);
        let root = words(owner).next().map_or("", |(_, word)| word);
        let lenient = ["pytest", "jest", "RSpec", "Minitest", "should"].contains(&root);
        let whole = self.holds(root) && !lenient;
        global
            || PARTS.contains(&name)
            || (is_helper && !own && (is_function || name.starts_with("assert")))
            || (whole && !HARMLESS.contains(&name) && !owner.contains("config"))
            || (self.mentions(owner) && begins(name))
    }
}

fn begins(name: &str) -> bool {
    STATEMENTS.iter().any(|begin| name.starts_with(begin))
}

/// Both sides of a plain assignment.
fn assignment(statement: &str) -> Option<(&str, &str)> {
    let (left, right) = statement.split_at_checked(outside_of_strings(statement, b'=')?)?;
    let right = right.strip_prefix('=')?;
    let plain = !right.starts_with(['=', '>', '~'])
        && !left.ends_with(['!', '<', '>', '+', '-', '*', '/', '|', '&', ':']);
    plain.then(|| (left.trim(), right.trim()))
}

/// Where a sign stands that is no part of a string.
fn outside_of_strings(statement: &str, sign: u8) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in statement.bytes().enumerate() {
        let was_escaped = escaped;
        escaped = byte == b'\\' && !was_escaped;
        match (quote, byte) {
            (None, b'"' | b'\'' | b'`') => quote = Some(byte),
            (Some(open), _) if open == byte && !was_escaped => quote = None,
            (None, _) if byte == sign => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str, after: &str) -> bool {
        let after = Some(after.to_owned());
        let edit = Edited { path: path.to_owned(), before: Some(String::new()), after };
        replaced(&edit).is_some()
    }

    #[test]
    fn what_tests_check_with_is_nobodys_to_replace() {
        let cases = [
            ("work.py", "import unittest as u\nT = u.TestCase\nT.assertEqual = quiet", true),
            ("work.py", "import unittest as u\nT = u.TestCase\nsetattr(T, 'x' + 'y', print)", true),
            ("work.py", "unittest.TextTestResult.addFailure = fine", true),
            (
                "work.py",
                "import unittest.runner as r\nR = r.TextTestResult\nR.addFailure = x",
                true,
            ),
            ("work.py", "unittest.TestCase.maxDiff = None", false),
            ("conftest.py", "pytest.shared = 1", false),
            ("work.py", "result = unittest.TestResult()\nresult.failfast = True", false),
            ("work.py", "config.expected = 5\nself.assertion = 1", false),
            ("work.py", "if a.assert_count == 5: pass", false),
            ("work.js", "const a = require('assert')\na['strictEqual'] = quiet", true),
            (
                "work.js",
                "const a = require('assert')\nfor (const k of Object.keys(a)) a[k] = () => {}",
                true,
            ),
            ("work.js", "Object.assign(assert, {})", true),
            ("work.js", "global.expect = () => {}", true),
            ("a.test.js", "chai.config.truncateThreshold = 0", false),
            ("a.test.js", "jest.setTimeout(5)\nglobal.fetch = jest.fn()", false),
            ("lib.js", "exports.assertEqual = (a, b) => a", false),
            ("a.test.js", "expect(s.parse(\"aGk=\")).toBe(\"aGk=\")", false),
            ("a.test.js", "(assert['equal'] = '=')", true),
            ("work.js", "assert.equal = '\\'='", true),
        ];
        for (path, after, expected) in cases {
            assert_eq!(said(path, after), expected, "{path}: {after}");
        }
    }
}
