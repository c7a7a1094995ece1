//! A word of the glossary names one type in the whole tree: whoever reads it need not ask which one.

use std::collections::BTreeMap;

/// The words of the glossary (ARCHITECTURE.md) that are, or could be, names of types.
const WORDS: [&str; 24] = [
    "Run",
    "RunState",
    "Iteration",
    "Session",
    "Task",
    "Attempt",
    "Claim",
    "Gate",
    "Finding",
    "BlockingEvent",
    "Briefing",
    "Guard",
    "Trip",
    "Rung",
    "Remedy",
    "Outcome",
    "Verdict",
    "Effect",
    "Journal",
    "Checkpoint",
    "Vault",
    "Clerk",
    "Keeper",
    "Walls",
];

/// Where each word of the glossary is the name of a type.
#[derive(Default)]
pub(super) struct Glossary {
    named: BTreeMap<&'static str, Vec<String>>,
}

impl Glossary {
    /// Takes note of the types a source file declares; tests may call their own as they like.
    pub(super) fn add(&mut self, name: &str, text: &str) {
        if !name.contains("/src/") || name.contains("/tests/") || name.ends_with("tests.rs") {
            return;
        }
        for line in text.lines() {
            let Some(declared) = declared(line) else { continue };
            if let Some(word) = WORDS.into_iter().find(|word| *word == declared) {
                self.named.entry(word).or_default().push(name.to_owned());
            }
        }
    }

    /// Complains of every word with two meanings.
    pub(super) fn double_meanings(&self, complaints: &mut Vec<String>) {
        for (word, places) in &self.named {
            if places.len() > 1 {
                let places = places.join(", ");
                complaints.push(format!("`{word}` is the name of more than one type: {places}"));
            }
        }
    }
}

/// The type a line declares.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().peekable();
    if words.peek()?.starts_with("pub") {
        words.next();
        // `pub(in crate::…)`
        if words.peek()?.ends_with(')') {
            words.next();
        }
    }
    match words.next()? {
        "struct" | "enum" | "trait" => {}
        _ => return None,
    }
    words.next()?.split(|c: char| !c.is_alphanumeric()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_two_meanings_is_found_and_one_with_one_is_not() {
        let mut glossary = Glossary::default();
        glossary.add("a/src/one.rs", "pub(super) struct Session<'a> {\nenum Gate {}\n");
        glossary.add("a/src/two.rs", "    pub(in crate::x) enum Session {\n");
        glossary.add("a/src/two/tests.rs", "struct Gate;\n");
        glossary.add("a/src/three.rs", "// struct Gate\nlet session = Session::new();\n");
        let mut complaints = Vec::new();
        glossary.double_meanings(&mut complaints);
        assert_eq!(
            complaints,
            ["`Session` is the name of more than one type: a/src/one.rs, a/src/two.rs"]
        );
    }
}
