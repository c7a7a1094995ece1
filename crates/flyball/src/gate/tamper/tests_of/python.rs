//! Python: functions whose name begins with `test`, as pytest and unittest find them.

use super::{Line, Test, lines, part};
use crate::gate::tamper::source::{Language, Source};

/// What in a decorator says that a test is not run, or may fail.
const SKIPS: [&str; 7] = [
    "mark.skip",
    "mark.xfail",
    "unittest.skip",
    "skipIf",
    "skipUnless",
    "expectedFailure",
    "@skip",
];
/// Calls that end a test without a result.
const SKIPPING: [&str; 4] = ["pytest.skip(", "pytest.xfail(", "self.skipTest(", "SkipTest("];

#[expect(clippy::too_many_lines, reason = "a table: one arm per case")]
pub(super) fn tests(source: &Source) -> Vec<Test> {
    let bare = lines(&source.bare);
    let deep = inside_brackets(&bare);
    let begins = |index: usize| !deep.get(index).copied().unwrap_or(true);
    let mut state = State::default();
    let mut tests: Vec<Test> = Vec::new();
    let mut index = 0_usize;
    while let Some(line) = bare.get(index) {
        let next = index.saturating_add(1);
        let here = index;
        index = next;
        if line.text.is_empty() || !begins(here) {
            continue;
        }
        state.classes.retain(|(indent, _)| *indent < line.indent);
        state.blocks.retain(|(indent, _)| *indent < line.indent);
        let text = line.text;
        if text.starts_with('@') {
            state.decorators.get_or_insert(line.at);
            continue;
        }
        let begin = state.decorators.take();
        let decoration = begin.map_or("", |begin| part(&source.code, begin, line.at));
        let skipped = SKIPS.iter().any(|skip| decoration.contains(skip));
        if text.starts_with("class ") {
            state.classes.push((line.indent, skipped));
            state.class_begins = tests.len();
            state.blocks.extend(uncollected_class(text).map(|class| (line.indent, class)));
        } else if let Some(condition) = block(text) {
            state.blocks.push((line.indent, condition.to_owned()));
        } else if text == "__test__ = False" {
            match state.classes.last_mut().filter(|(indent, _)| *indent < line.indent) {
                Some((_, skipped)) => {
                    *skipped = true;
                    tests.iter_mut().skip(state.class_begins).for_each(|test| test.skipped = true);
                }
                None => state.all_skipped = true,
            }
        } else if line.indent == 0 && SKIPPING.iter().any(|call| text.starts_with(call)) {
            state.all_skipped = true;
        } else if line.indent == 0 && text.contains("importorskip(") {
            state.whole_file.push(part_line(&source.code, line).to_owned());
        } else if line.indent == 0 && text.starts_with("pytestmark") {
            state.all_skipped |= SKIPS.iter().any(|skip| text.contains(skip));
        } else if let Some(name) = function_name(text) {
            if !name.starts_with("test") || decoration.contains("fixture") {
                continue;
            }
            let end = body_end(&bare, here, &begins);
            let until = bare.get(end).map_or(source.bare.len(), |line| line.at);
            let whole = part(&source.code, begin.unwrap_or(line.at), until);
            let body = body(part(&source.bare, line.at, until));
            let in_class = state.classes.iter().any(|(_, skipped)| *skipped);
            let never = |(_, condition): &(usize, String)| {
                matches!(condition.as_str(), "if False" | "if 0" | "if not True" | "if None")
            };
            let in_class = in_class || state.blocks.iter().any(never);
            let conditions = state.blocks.iter().map(|(_, condition)| condition.clone());
            tests.push(Test {
                language: Language::Python,
                name: name.to_owned(),
                line: source.line(line.at),
                whole: whole.to_owned(),
                body: body.to_owned(),
                skipped: skipped || in_class || SKIPPING.iter().any(|call| body.contains(call)),
                expects: false,
                first_line: source.line(begin.unwrap_or(line.at)),
                conditions: conditions.collect(),
            });
            index = end;
        }
    }
    for test in &mut tests {
        test.skipped |= state.all_skipped;
        test.conditions.extend(state.whole_file.iter().cloned());
    }
    tests
}

/// What was seen above the line that is looked at.
#[derive(Default)]
struct State {
    decorators: Option<usize>,
    /// Classes around: their indentation, and whether they are skipped.
    classes: Vec<(usize, bool)>,
    /// How many tests came before the class around.
    class_begins: usize,
    all_skipped: bool,
    /// Conditions around: their indentation, and what they say.
    blocks: Vec<(usize, String)>,
    /// Conditions of the whole file.
    whole_file: Vec<String>,
}

/// The condition of a block that begins on this line.
fn block(text: &str) -> Option<&str> {
    let condition = text.strip_suffix(':')?;
    let is_one = ["if ", "elif ", "while "].iter().any(|word| condition.starts_with(word))
        || condition == "else";
    // A script's own end holds no tests that a runner would look for.
    (is_one && !condition.contains("__name__")).then_some(condition)
}

/// A class whose methods no runner takes for tests, by its name and what it is made from.
fn uncollected_class(text: &str) -> Option<String> {
    let name = text.strip_prefix("class ")?.split(['(', ':']).next()?.trim();
    let collected = name.starts_with("Test") || text.contains("Test") || text.contains("Case");
    (!collected).then(|| format!("class {name}"))
}

/// The line as it is written.
fn part_line<'a>(code: &'a str, line: &Line<'_>) -> &'a str {
    part(code, line.at, code.len()).lines().next().unwrap_or("").trim()
}

/// For each line whether it begins inside brackets.
fn inside_brackets(lines: &[Line<'_>]) -> Vec<bool> {
    let mut depth = 0_usize;
    let inside = |line: &Line<'_>| {
        let before = depth > 0;
        for byte in line.text.bytes() {
            match byte {
                b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        before
    };
    lines.iter().map(inside).collect()
}

fn function_name(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("async ").unwrap_or(text).strip_prefix("def ")?;
    rest.split('(').next().map(str::trim)
}

/// The first line after the body of the function that begins on this line.
fn body_end(lines: &[Line<'_>], at: usize, begins: &impl Fn(usize) -> bool) -> usize {
    let indent = lines.get(at).map_or(0, |line| line.indent);
    let rest = lines.iter().enumerate().skip(at.saturating_add(1));
    rest.filter(|(index, line)| !line.text.is_empty() && begins(*index))
        .find(|(_, line)| line.indent <= indent)
        .map_or(lines.len(), |(index, _)| index)
}

/// What comes after the signature.
fn body(function: &str) -> &str {
    let mut depth = 0_usize;
    for (at, byte) in function.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return part(function, at.saturating_add(1), function.len()),
            _ => {}
        }
    }
    ""
}
