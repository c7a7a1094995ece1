//! Java, Kotlin and Groovy: methods with a test annotation.

use super::{Test, next_of, part, word_at};
use crate::gate::tamper::source::{Language, Source};

const TEST: [&str; 5] =
    ["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate"];

pub(super) fn tests(source: &Source) -> Vec<Test> {
    let bare = source.bare.as_str();
    let mut reader = Reader::default();
    let mut at = 0_usize;
    while let Some(byte) = bare.as_bytes().get(at) {
        match byte {
            b'@' => at = reader.annotation(source, at),
            b'`' => {
                let end = next_of(bare, at.saturating_add(1), b"`\n").unwrap_or(bare.len());
                reader.last_word = (at.saturating_add(1), end);
                at = end.saturating_add(1);
            }
            b'(' => at = reader.parenthesis(source, at),
            b'{' | b'}' | b';' => {
                reader.annotations.clear();
                at = at.saturating_add(1);
            }
            byte if byte.is_ascii_alphabetic() || *byte == b'_' => {
                let (begin, word) = word_at(bare, at).unwrap_or((at, "_"));
                at = begin.saturating_add(word.len());
                if matches!(word, "class" | "interface" | "object") {
                    reader.class(source, at);
                }
                reader.last_word = (begin, at);
            }
            _ => at = at.saturating_add(1),
        }
    }
    let Reader { mut tests, skipped_classes, .. } = reader;
    for (begin, test) in &mut tests {
        test.skipped |= skipped_classes.iter().any(|(from, to)| from < begin && *begin < *to);
    }
    tests.into_iter().map(|(_, test)| test).collect()
}

#[derive(Default)]
struct Reader {
    /// Annotations right above: where they begin, and their last names.
    annotations: Vec<(usize, String)>,
    last_word: (usize, usize),
    skipped_classes: Vec<(usize, usize)>,
    tests: Vec<(usize, Test)>,
}

impl Reader {
    fn annotation(&mut self, source: &Source, at: usize) -> usize {
        let bare = source.bare.as_str();
        let rest = part(bare, at.saturating_add(1), bare.len());
        let end = rest.find(|c: char| !c.is_alphanumeric() && !"_.:".contains(c));
        let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or("");
        let last = name.rsplit(['.', ':']).next().unwrap_or("").to_owned();
        self.annotations.push((at, last));
        let after = at.saturating_add(1).saturating_add(name.len());
        if part(bare, after, after.saturating_add(1)) == "(" { source.close(after) } else { after }
    }

    fn has_test(&self) -> bool {
        self.annotations.iter().any(|(_, name)| TEST.contains(&name.as_str()))
    }

    /// Whether it is skipped, or runs under a condition only: `@Disabled`, `@EnabledIfSystemProperty`.
    fn has_skip(&self) -> bool {
        self.annotations.iter().any(|(_, name)| {
            name == "Ignore" || name.starts_with("Disabled") || name.starts_with("Enabled")
        })
    }

    /// The parameters of a method, perhaps of a test; answers where to go on.
    fn parenthesis(&mut self, source: &Source, at: usize) -> usize {
        if !self.has_test() {
            return at.saturating_add(1);
        }
        let bare = source.bare.as_str();
        let after = source.close(at);
        let open = next_of(bare, after, b"{;=").unwrap_or(bare.len());
        // Kotlin: `fun x() = …` goes to the end of the line or of what opens on it.
        let end = match part(bare, open, open.saturating_add(1)) {
            "{" => source.close(open),
            _ => next_of(bare, open, b"\n{").map_or(bare.len(), |place| {
                if part(bare, place, place.saturating_add(1)) == "{" {
                    source.close(place)
                } else {
                    place
                }
            }),
        };
        let begin = self.annotations.first().map_or(at, |(place, _)| *place);
        let (from, to) = self.last_word;
        let annotations = part(&source.code, begin, from);
        let test = Test {
            language: Language::Jvm,
            name: part(&source.code, from, to).to_owned(),
            line: source.line(from),
            whole: part(&source.code, begin, end).to_owned(),
            body: part(bare, open, end).to_owned(),
            skipped: self.has_skip(),
            expects: annotations.contains("expected"),
            first_line: source.line(begin),
            conditions: Vec::new(),
        };
        self.tests.push((begin, test));
        self.annotations.clear();
        end
    }

    fn class(&mut self, source: &Source, at: usize) {
        if self.has_skip()
            && let Some(open) = next_of(&source.bare, at, b"{")
        {
            self.skipped_classes.push((open, source.close(open)));
        }
        self.annotations.clear();
    }
}
