//! Rust: functions with a test attribute.

use super::cfg::{Truth, truth};
use super::{Test, next_of, part, word_at};
use crate::gate::tamper::source::{Language, Source};

/// The last part of attributes that make a test of a function.
const TEST: [&str; 6] =
    ["test", "rstest", "test_case", "wasm_bindgen_test", "quickcheck", "bench_test"];
/// Words that stand between attributes and `fn`.
const BETWEEN: [&str; 8] = ["pub", "async", "unsafe", "const", "extern", "crate", "super", "in"];

pub(super) fn tests(source: &Source) -> Vec<Test> {
    let bare = source.bare.as_str();
    let mut reader = Reader::of(source);
    let mut at = 0_usize;
    while let Some(byte) = bare.as_bytes().get(at) {
        at = match byte {
            b'#' => reader.attribute(at),
            byte if byte.is_ascii_alphabetic() || *byte == b'_' => reader.word(at),
            b'{' | b'}' | b';' => {
                reader.attributes.clear();
                at.saturating_add(1)
            }
            _ => at.saturating_add(1),
        };
    }
    reader.tests
}

struct Reader<'a> {
    source: &'a Source,
    /// Attributes right above.
    attributes: Vec<(usize, usize)>,
    /// Conditions that hold up to a place: of modules around, and of the whole file.
    around: Vec<(usize, String)>,
    tests: Vec<Test>,
}

impl<'a> Reader<'a> {
    const fn of(source: &'a Source) -> Self {
        Self { source, attributes: Vec::new(), around: Vec::new(), tests: Vec::new() }
    }

    fn attribute(&mut self, at: usize) -> usize {
        let bare = self.source.bare.as_str();
        let open = next_of(bare, at, b"[\n").filter(|open| part(bare, *open, open + 1) == "[");
        let Some(open) = open else { return at.saturating_add(1) };
        let end = self.source.close(open);
        if part(bare, at, open).contains('!') {
            // `#![cfg(…)]` is about all that comes.
            let text = self.text((at, end));
            let until = self.source.bare.len();
            self.around.extend(condition(&text).map(|condition| (until, condition)));
        } else {
            self.attributes.push((at, end));
        }
        end
    }

    fn word(&mut self, at: usize) -> usize {
        let bare = self.source.bare.as_str();
        let (_, word) = word_at(bare, at).unwrap_or((at, "_"));
        let end = at.saturating_add(word.len());
        match word {
            "fn" => {
                let next = self.function(end);
                self.attributes.clear();
                next
            }
            "mod" => {
                let open =
                    next_of(bare, end, b"{;").filter(|open| part(bare, *open, open + 1) == "{");
                if let Some(open) = open {
                    let until = self.source.close(open);
                    let conditions = self.texts().into_iter().filter_map(|text| condition(&text));
                    let conditions: Vec<(usize, String)> =
                        conditions.map(|condition| (until, condition)).collect();
                    self.around.extend(conditions);
                }
                self.attributes.clear();
                end
            }
            word => {
                if !BETWEEN.contains(&word) {
                    self.attributes.clear();
                }
                end
            }
        }
    }

    /// An attribute without its brackets and blanks.
    fn text(&self, (from, to): (usize, usize)) -> String {
        let text = part(&self.source.code, from, to);
        let inner = text.trim_start_matches(['#', '!', ' ']).trim().trim_start_matches('[');
        let inner = inner.strip_suffix(']').unwrap_or(inner);
        inner.chars().filter(|c| !c.is_whitespace()).collect()
    }

    fn texts(&self) -> Vec<String> {
        self.attributes.iter().map(|place| self.text(*place)).collect()
    }

    /// Takes the test a function is, if it is one; where to go on.
    fn function(&mut self, at: usize) -> usize {
        let bare = self.source.bare.as_str();
        let Some((name_at, name)) = word_at(bare, at) else { return at };
        let body = next_of(bare, name_at, b"{;").unwrap_or(bare.len());
        let texts = self.texts();
        let path = |text: &String| text.split('(').next().unwrap_or("").to_owned();
        let is_test = |text: &String| TEST.contains(&path(text).rsplit("::").next().unwrap_or(""));
        if !texts.iter().any(is_test) {
            return body.saturating_add(1);
        }
        let end = self.source.close(body);
        let begin = self.attributes.first().map_or(name_at, |(from, _)| *from);
        let around = self.around.iter().filter(|(until, _)| *until > name_at);
        let own = texts.iter().filter_map(|text| condition(text));
        let all: Vec<String> = around.map(|(_, text)| text.clone()).chain(own).collect();
        let never = |condition: &String| truth(condition) == Truth::Never;
        let unknown = |condition: &String| truth(condition) == Truth::Unknown;
        let ignored = texts.iter().any(|text| {
            path(text) == "ignore"
                || text.starts_with("ignore=")
                || (path(text) == "cfg_attr" && text.contains(",ignore"))
        });
        self.tests.push(Test {
            language: Language::Rust,
            name: name.to_owned(),
            line: self.source.line(name_at),
            first_line: self.source.line(begin),
            whole: part(&self.source.code, begin, end).to_owned(),
            body: part(bare, body, end).to_owned(),
            skipped: ignored || all.iter().any(never),
            expects: texts.iter().any(|text| path(text).starts_with("should_panic")),
            conditions: all.into_iter().filter(unknown).collect(),
        });
        end
    }
}

/// The condition of a `cfg` attribute.
fn condition(attribute: &str) -> Option<String> {
    attribute.strip_prefix("cfg(")?.strip_suffix(')').map(str::to_owned)
}
