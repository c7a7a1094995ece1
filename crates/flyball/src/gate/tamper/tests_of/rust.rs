//! Rust: functions with a test attribute.

use super::{Test, next_of, part, word_at};
use crate::gate::tamper::source::{Language, Source};

/// The last part of attributes that make a test of a function.
const TEST: [&str; 6] =
    ["test", "rstest", "test_case", "wasm_bindgen_test", "quickcheck", "bench_test"];
/// Words that stand between attributes and `fn`.
const BETWEEN: [&str; 8] = ["pub", "async", "unsafe", "const", "extern", "crate", "super", "in"];

pub(super) fn tests(source: &Source) -> Vec<Test> {
    let bare = source.bare.as_str();
    let mut tests = Vec::new();
    let mut attributes: Vec<(usize, usize)> = Vec::new();
    let mut at = 0_usize;
    while let Some(byte) = bare.as_bytes().get(at) {
        match byte {
            b'#' => {
                let open =
                    next_of(bare, at, b"[\n").filter(|open| part(bare, *open, open + 1) == "[");
                let Some(open) = open else {
                    at = at.saturating_add(1);
                    continue;
                };
                let end = source.close(open);
                attributes.push((at, end));
                at = end;
            }
            byte if byte.is_ascii_alphabetic() || *byte == b'_' => {
                let (_, word) = word_at(bare, at).unwrap_or((at, "_"));
                let end = at.saturating_add(word.len());
                at = if word == "fn" {
                    let found = function(source, &attributes, end);
                    attributes.clear();
                    tests.extend(found.0);
                    found.1
                } else {
                    if !BETWEEN.contains(&word) {
                        attributes.clear();
                    }
                    end
                };
            }
            b'{' | b'}' | b';' => {
                attributes.clear();
                at = at.saturating_add(1);
            }
            _ => at = at.saturating_add(1),
        }
    }
    tests
}

/// The test a function is, if it is one, and where to go on.
fn function(source: &Source, attributes: &[(usize, usize)], at: usize) -> (Option<Test>, usize) {
    let bare = source.bare.as_str();
    let Some((name_at, name)) = word_at(bare, at) else { return (None, at) };
    let body = next_of(bare, name_at, b"{;").unwrap_or(bare.len());
    let texts: Vec<String> = attributes
        .iter()
        .map(|(from, to)| {
            let text = part(&source.code, *from, *to);
            let inner = text.trim_start_matches(['#', '!']).trim().trim_start_matches('[');
            inner.trim_end_matches(']').chars().filter(|c| !c.is_whitespace()).collect()
        })
        .collect();
    let path = |text: &String| text.split('(').next().unwrap_or("").to_owned();
    let is_test = |text: &String| TEST.contains(&path(text).rsplit("::").next().unwrap_or(""));
    if !texts.iter().any(is_test) {
        return (None, body.saturating_add(1));
    }
    let end = source.close(body);
    let begin = attributes.first().map_or(name_at, |(from, _)| *from);
    let skipped = texts.iter().any(|text| {
        path(text) == "ignore"
            || text.starts_with("ignore=")
            || (path(text) == "cfg_attr" && text.contains(",ignore"))
            || ["cfg(any())", "cfg(false)", "cfg(FALSE)", "cfg(not(test))"].contains(&text.as_str())
    });
    let test = Test {
        language: Language::Rust,
        name: name.to_owned(),
        line: source.line(name_at),
        whole: part(&source.code, begin, end).to_owned(),
        body: part(bare, body, end).to_owned(),
        skipped,
        expects: texts.iter().any(|text| path(text).starts_with("should_panic")),
    };
    (Some(test), end)
}
