//! Ruby: `RSpec`'s examples, `test "…" do`, and methods whose name begins with `test_`.

use super::{Line, Test, lines, part};
use crate::gate::tamper::source::{Language, Source};

const TESTS: [&str; 8] =
    ["it", "specify", "example", "scenario", "test", "xit", "xspecify", "xexample"];
const SKIPPED_GROUPS: [&str; 3] = ["xdescribe", "xcontext", "xfeature"];

pub(super) fn tests(source: &Source) -> Vec<Test> {
    let bare = lines(&source.bare);
    let code = lines(&source.code);
    let mut tests = Vec::new();
    let mut skipped_until = 0_usize;
    for (index, line) in bare.iter().enumerate() {
        let word = line.text.split([' ', '(']).next().unwrap_or("");
        let end = block_end(&bare, index);
        if SKIPPED_GROUPS.contains(&word) {
            skipped_until = skipped_until.max(end);
        }
        let written = code.get(index).map_or("", |line| line.text);
        let Some(name) = name(word, written) else { continue };
        let until = bare.get(end).map_or(source.bare.len(), |line| line.at);
        let body = inside(&bare, index, end, &source.bare);
        let has_block = line.text.ends_with(" do")
            || line.text.contains(" do |")
            || line.text.contains('{')
            || word == "def";
        let says_so = body.lines().any(|line| {
            let first = line.trim().split([' ', '(']).next().unwrap_or("");
            matches!(first, "skip" | "pending")
        });
        let metadata = ["skip: true", ":skip", "pending: true", ":pending", "skip: \"", "skip: '"];
        tests.push(Test {
            language: Language::Ruby,
            name,
            line: source.line(line.at),
            whole: part(&source.code, line.at, until).to_owned(),
            body: body.to_owned(),
            skipped: word.starts_with('x')
                || index < skipped_until
                || says_so
                || !has_block
                || metadata.iter().any(|text| written.contains(text)),
            expects: false,
            first_line: source.line(line.at),
            conditions: Vec::new(),
        });
    }
    tests
}

/// The title or method name, when the line begins a test.
fn name(word: &str, written: &str) -> Option<String> {
    if word == "def" {
        let name = written.strip_prefix("def ")?.split(['(', ' ', ';']).next()?;
        return name.starts_with("test_").then(|| name.to_owned());
    }
    if !TESTS.contains(&word) {
        return None;
    }
    let rest = written.strip_prefix(word)?.trim_start_matches(['(', ' ']);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    match quote {
        Some(quote) => rest.get(1..)?.split(quote).next().map(str::to_owned),
        // `it { is_expected.to … }`: the block is the title.
        None => (rest.starts_with('{') || rest.starts_with("do")).then(|| rest.to_owned()),
    }
}

/// The line after the `end` that stands under the line; the next line without a block.
fn block_end(lines: &[Line<'_>], at: usize) -> usize {
    let next = at.saturating_add(1);
    let Some(line) = lines.get(at) else { return next };
    let opens = line.text.ends_with(" do") || line.text.contains(" do |");
    if !opens && !line.text.starts_with("def ") {
        return next;
    }
    let rest = lines.iter().enumerate().skip(next);
    rest.filter(|(_, line)| !line.text.is_empty())
        .find(|(_, other)| other.indent <= line.indent)
        .map_or(lines.len(), |(index, _)| index.saturating_add(1))
}

/// What stands between the first and the last line of a block, or in its braces.
fn inside<'a>(lines: &[Line<'_>], at: usize, end: usize, bare: &'a str) -> &'a str {
    let Some(line) = lines.get(at) else { return "" };
    if end == at.saturating_add(1) {
        let open = line.text.find('{').map_or(line.text.len(), |open| open.saturating_add(1));
        let from = line.at.saturating_add(line.indent).saturating_add(open);
        let to = line.at.saturating_add(line.indent).saturating_add(line.text.len());
        return part(bare, from, to);
    }
    let from = lines.get(at.saturating_add(1)).map_or(bare.len(), |line| line.at);
    let to = lines.get(end.saturating_sub(1)).map_or(bare.len(), |line| line.at);
    part(bare, from, to)
}
