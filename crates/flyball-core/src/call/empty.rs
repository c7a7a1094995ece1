//! Answers that say nothing (A3): asking again for one of them is less of a sign than asking again
//! for something that was told.

use crate::text;

/// Shorter answers say nothing.
const SHORT: usize = 12;
/// Longer ones are no acknowledgement.
const LONG: usize = 200;

/// Words for "nothing came of it" in answers that are longer than a word.
const NOTHING: [&str; 4] = [
    "did not produce any output",
    "completed with no output",
    "ran without output",
    "no output was produced",
];

/// Whether a tool's answer is empty: fewer than 12 characters, nothing but punctuation, or a bare
/// acknowledgement.
pub fn is_empty_answer(answer: &str) -> bool {
    let answer = answer.trim();
    if text::prefix(answer, SHORT - 1).len() == answer.len() {
        return true;
    }
    if text::prefix(answer, LONG - 1).len() != answer.len() {
        return false;
    }
    let says_nothing = |c: char| !c.is_alphanumeric() && c != '_';
    let contains = |words: &&str| {
        answer
            .as_bytes()
            .windows(words.len())
            .any(|part| part.eq_ignore_ascii_case(words.as_bytes()))
    };
    answer.chars().all(says_nothing) || NOTHING.iter().any(contains)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_answers_acknowledgements_and_punctuation_say_nothing() {
        let long_line = "-".repeat(199);
        for empty in [
            "",
            "  \n",
            "ok",
            "0 failures.",
            &long_line,
            "(Bash completed with no output)",
            "Your command ran successfully and did not produce any output.",
        ] {
            assert!(is_empty_answer(empty), "{empty}");
        }
        let listing = "x did not produce any output ".repeat(10);
        for informative in ["12 failures.", "fn main() {}", "äöüäöüäöüäöü", &listing] {
            assert!(!is_empty_answer(informative), "{informative}");
        }
    }
}
