//! What TAP says below a failed test: a YAML block, comments, or plain text.

use crate::{Finding, FindingKind};

use super::js_frame;
use crate::place;
use crate::text;

/// A finding for the test `name` with the lines below it.
pub(super) fn finding(name: &str, block: &str) -> Finding {
    let lines: Vec<&str> = block.lines().collect();
    let (message, place) = if let Some(begin) = lines.iter().position(|l| l.trim() == "---") {
        // What comes behind its end says nothing of this test.
        let after = lines.iter().skip(begin).position(|line| line.trim() == "...");
        yaml(lines.get(..after.map_or(lines.len(), |end| begin + end)).unwrap_or(&lines))
    } else if lines.iter().any(|line| line.trim_start().starts_with('#')) {
        comments(&lines)
    } else {
        plain(block)
    };
    let message = if message.is_empty() { "test failed".to_owned() } else { message };
    let place = place.or_else(|| lines.iter().find_map(|line| bats_place(line.trim())));
    let mut finding = Finding::new(js_frame::test_kind(&message), message);
    if unread(&finding.message) {
        finding.kind = FindingKind::Compile;
    }
    if !name.is_empty() {
        // A mark that would begin a directive is escaped, and so is what escapes it.
        finding = finding.named(name.replace("\\#", "#").replace("\\\\", "\\"));
    }
    if let Some((file, line, column)) = place {
        finding = finding.at(file, line, column);
    }
    if block.trim().is_empty() { finding } else { finding.with_excerpt(block) }
}

/// Whether a shell could not read the test file itself: `a.bats: line 3: syntax error near …`.
fn unread(message: &str) -> bool {
    let is_shell = |line: &str| line.contains(": line ") && line.contains(": syntax error");
    let first = message.lines().next().unwrap_or_default();
    first.contains(": syntax error") || (is_shell_place(first) && message.lines().any(is_shell))
}

/// Whether a shell speaks of a place in a test file.
fn is_shell_place(line: &str) -> bool {
    line.split_once(": line ").is_some_and(|(file, _)| place::has_extension(file, &["bats"]))
}

type At = (String, u32, Option<u32>);

/// The keys that matter of a YAML block.
fn yaml(lines: &[&str]) -> (String, Option<At>) {
    if let Some(told) = lines.iter().find_map(|line| json(line.trim())) {
        return told;
    }
    // Keys further in may belong to values that are quoted.
    let first = lines.iter().skip_while(|line| line.trim() != "---").nth(1);
    let depth = first.map_or(0, |line| text::indent(line));
    let value = |key: &str, deepest: usize| {
        let own = lines.iter().enumerate().filter(|(_, line)| text::indent(line) <= deepest);
        let tell = |(at, line): (usize, &&str)| {
            let value = line.trim_start().strip_prefix(key)?.strip_prefix(':')?.trim();
            let text = if value.starts_with('|') || value.starts_with('>') {
                below(lines, at)
            } else {
                unquote(value)
            };
            (!text.is_empty()).then_some(text)
        };
        // Of an error that was expected the stack comes before the test's own.
        if key == "stack" { own.rev().find_map(tell) } else { own.into_iter().find_map(tell) }
    };
    let scalar = |key: &str| value(key, depth).or_else(|| value(key, usize::MAX));
    let own = value("message", depth).or_else(|| value("error", depth));
    let message = match (detail(lines), own) {
        // What the test says of it comes before what differs.
        (Some(detail), Some(own)) if !detail.starts_with(&own) => Some(format!("{own}\n{detail}")),
        (detail, own) => detail.or(own),
    };
    let message = message.or_else(|| scalar("message")).or_else(|| scalar("error"));
    let message = message.or_else(|| compared(lines, &scalar)).or_else(|| differing(&scalar));
    let message = message.unwrap_or_default();
    let stack = scalar("stack").unwrap_or_default();
    let message = if message.is_empty() {
        let is_frame = |line: &&str| js_frame::is_frame(line) || js_frame::bare(line).is_some();
        stack.lines().next().filter(|line| !is_frame(line)).unwrap_or_default().to_owned()
    } else {
        message
    };
    let own = |line: &&str| !place::is_foreign(line);
    let stacked = stack.lines().filter(own).find_map(js_frame::bare);
    let named = scalar("location").or_else(|| scalar("at"));
    let named = named
        .as_deref()
        .and_then(|at| place::prefix(place::tidy(at)).or_else(|| js_frame::bare(at)));
    let keyed = || Some((scalar("file")?, text::small(&scalar("line")?)?.0, None));
    let at = stacked.or(named).map(|p| (p.file.to_owned(), p.line, p.column)).or_else(keyed);
    (message, at)
}

/// What deno says in one line of JSON: the message with its stack.
fn json(line: &str) -> Option<(String, Option<At>)> {
    #[derive(serde::Deserialize)]
    struct Told {
        message: String,
    }
    let told: Told = serde_json::from_str(line.strip_prefix('{').map(|_| line)?).ok()?;
    let (message, place) = js_frame::of_stack(&told.message);
    let at = place.map(|p| (place::tidy(p.file).to_owned(), p.line, p.column));
    Some((message.lines().next().unwrap_or_default().to_owned(), at))
}

/// What node-tap shows of two values: `diff: |`, without the headings of a patch.
fn differing(scalar: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let diff = scalar("diff")?;
    let heads = ["--- expected", "+++ actual", "@@ "];
    let own = diff.lines().filter(|line| !heads.iter().any(|head| line.starts_with(head)));
    let own: Vec<&str> = own.collect();
    Some(format!("expected (-) and actual (+) differ:\n{}", own.join("\n")))
}

/// What was expected and what came, where there is no message.
fn compared(lines: &[&str], scalar: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let (mut expected, mut actual) = (scalar("expected")?, scalar("actual").unwrap_or_default());
    if expected == actual {
        // A text and what it looks like: its quotes tell them apart.
        let quoted = |key: &str| lines.iter().find_map(|line| line.trim_start().strip_prefix(key));
        if let (Some(one), Some(other)) = (quoted("expected:"), quoted("actual:")) {
            (expected, actual) = (one.trim().to_owned(), other.trim().to_owned());
        }
    }
    let operator = scalar("operator").map(|operator| format!("operator: {operator}\n"));
    Some(format!("{}expected: {expected}\nactual: {actual}", operator.unwrap_or_default()))
}

/// The first text below `details:`, with its heading.
fn detail(lines: &[&str]) -> Option<String> {
    let at = lines.iter().position(|line| line.trim() == "details:")? + 1;
    let heading = lines.get(at)?.trim().split(": |").next()?.trim_matches(['\'', '"']);
    Some(format!("{heading}\n{}", below(lines, at)))
}

/// The indented lines below a block scalar.
fn below(lines: &[&str], at: usize) -> String {
    let depth = lines.get(at).map_or(0, |line| text::indent(line));
    let kept: Vec<&str> = lines
        .iter()
        .skip(at + 1)
        .take_while(|line| line.trim().is_empty() || text::indent(line) > depth)
        .map(|line| text::dedent(line, depth + 2).trim_end())
        .collect();
    text::trim_lines(&kept.join("\n")).to_owned()
}

fn unquote(value: &str) -> String {
    // A closing quote without its opening one belongs to the words; an opening one alone begins a
    // text of several lines.
    let bare = ['"', '\''].into_iter().find_map(|quote| {
        let rest = value.strip_prefix(quote)?;
        let Some(inner) = rest.strip_suffix(quote) else { return Some(rest) };
        // What is quoted may only begin and end so: `'1.1' is not '1.2'`.
        let is_whole = !inner.replace("''", "").replace("\\\"", "").contains(quote);
        Some(if is_whole { inner } else { value })
    });
    bare.unwrap_or(value).replace("\\\"", "\"")
}

/// The `#` lines of perl and bats.
fn comments(lines: &[&str]) -> (String, Option<At>) {
    let mut at = None;
    let mut kept = Vec::new();
    for line in lines {
        let Some(comment) = line.trim_start().strip_prefix('#') else { continue };
        let words = comment.trim();
        if words.starts_with("(from function `") && words.ends_with(',') {
            // Where the test called it comes next.
        } else if let Some(found) = perl_place(unnamed(words)).or_else(|| bats_place(words)) {
            at = at.or(Some(found));
        } else if !words.starts_with("Failed test") && !words.starts_with("Looks like you") {
            kept.push(comment.trim_end());
        }
    }
    let depth = kept.iter().filter(|l| !l.trim().is_empty()).map(|l| text::indent(l)).min();
    let kept: Vec<&str> = kept.iter().map(|l| text::dedent(l, depth.unwrap_or(0))).collect();
    (text::trim_lines(&kept.join("\n")).to_owned(), at)
}

/// What follows `Failed test ` of a test without a name.
fn unnamed(words: &str) -> &str {
    words.strip_prefix("Failed test ").filter(|rest| rest.starts_with("at ")).unwrap_or(words)
}

/// `at t/a.t line 3.`
pub(super) fn perl_place(words: &str) -> Option<At> {
    let (file, line) = words.strip_prefix("at ")?.rsplit_once(" line ")?;
    Some((file.to_owned(), text::small(line)?.0, None))
}

/// `(in test file a.bats, line 3)`
pub(super) fn bats_place(words: &str) -> Option<At> {
    // Behind the helper functions it was in, which have lines of their own.
    let words = words.strip_prefix('(').unwrap_or(words);
    let (before, rest) = words.split_once("in test file ")?;
    let (file, line) = rest
        .split_once(", line ")
        .filter(|_| !before.contains('`') || before.starts_with("from function"))?;
    Some((file.to_owned(), text::small(line)?.0, None))
}

/// Indented text with a stack, as mocha prints it: the message, then the error again.
fn plain(block: &str) -> (String, Option<At>) {
    let at = block.lines().find_map(js_frame::own).map(|p| (p.file.to_owned(), p.line, p.column));
    let depth = block.lines().filter(|l| !l.trim().is_empty()).map(text::indent).min();
    let lines: Vec<&str> = block
        .lines()
        .take_while(|line| !js_frame::is_frame(line))
        .take(20)
        .map(|line| text::dedent(line, depth.unwrap_or(0)).trim_end())
        .collect();
    let kept = js_frame::once(&lines);
    (text::trim_lines(&kept.join("\n")).to_owned(), at)
}
