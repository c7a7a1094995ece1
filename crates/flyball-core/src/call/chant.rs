//! What the agent says, reduced to what the ring needs: who says the same again, and words that end
//! in a chant.
//!
//! A chant is a unit (a line, a sentence, a phrase, a syllable) said again and again at the *end* of
//! a turn: one that was found out of does not count. Code fences, table rows and lines without a
//! letter or digit are left out, and so is a unit without a letter.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Fingerprint, fingerprint_result};
use crate::text::prefix;

/// The end of a text that is looked at, in characters.
const WINDOW: usize = 8_192;
/// Said [`Chant::TIMES`] times in a row it is a chant…
const TIMES: usize = Chant::TIMES as usize;
/// …when it is this long in all, so that a laugh is none.
const LENGTH: usize = 40;
/// A unit of one or two characters needs more.
const SYLLABLE: usize = 2;
const SYLLABLES_LENGTH: usize = 200;
/// Whole paragraphs are a chant earlier.
const LONG_TIMES: usize = 5;
const LONG_LENGTH: usize = 1_000;
/// Characters of the unit that are kept.
const UNIT: usize = 100;

/// Words said again and again at the end of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Chant {
    /// What is repeated, its first characters.
    pub unit: String,
    /// How often in a row.
    pub times: u32,
}

impl Chant {
    /// How often a short unit is said before it counts.
    pub const TIMES: u32 = 10;

    /// The chant a turn's words end in, if they do.
    pub fn at_end_of(words: &str) -> Option<Self> {
        let said = plain(words);
        let mut reversed: Vec<char> = said.chars().rev().take(WINDOW).collect();
        let (length, period) = longest_chant(&reversed)?;
        reversed.truncate(period);
        let unit: String = reversed.iter().rev().collect();
        let times = u32::try_from(laps(length, period)).unwrap_or(u32::MAX);
        Some(Self { unit: String::from(prefix(unit.trim(), UNIT)), times })
    }
}

/// Identity of a turn's words without what is volatile in them; none where there is no word.
pub fn fingerprint_words(words: &str) -> Option<Fingerprint> {
    words.chars().any(char::is_alphabetic).then(|| fingerprint_result(words))
}

/// The words without code, tables and dividers, a blank between any two.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut in_code = false;
    for line in text.lines() {
        let line = line.trim();
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        in_code ^= is_fence;
        let says_something = line.chars().any(char::is_alphanumeric);
        if in_code || is_fence || line.starts_with('|') || !says_something {
            continue;
        }
        for word in line.split_whitespace() {
            if !plain.is_empty() {
                plain.push(' ');
            }
            plain.push_str(word);
        }
    }
    plain
}

/// How often a unit of this length stands in a chant of that length; the last one has no blank
/// behind it.
const fn laps(length: usize, period: usize) -> usize {
    match (length + 1).checked_div(period) {
        Some(laps) => laps,
        None => 0,
    }
}

/// The longest beginning of a reversed text that is a chant, with its period. The failure function
/// of Knuth, Morris and Pratt gives the shortest period of every beginning in one pass.
fn longest_chant(reversed: &[char]) -> Option<(usize, usize)> {
    let at = |index: usize| reversed.get(index).copied();
    let mut borders: Vec<usize> = Vec::with_capacity(reversed.len());
    let border_of = |borders: &[usize], length: usize| {
        length.checked_sub(1).and_then(|last| borders.get(last)).copied().unwrap_or(0)
    };
    let mut longest = None;
    for index in 0..reversed.len() {
        let mut border = border_of(&borders, index);
        while border > 0 && at(border) != at(index) {
            border = border_of(&borders, border);
        }
        border += usize::from(index > 0 && at(border) == at(index));
        borders.push(border);
        let (length, period) = (index + 1, index + 1 - border);
        if is_chant(length, period) {
            longest = Some((length, period));
        }
    }
    let has_letter =
        |(_, period): &(usize, usize)| reversed.iter().take(*period).any(|c| c.is_alphabetic());
    longest.filter(has_letter)
}

const fn is_chant(length: usize, period: usize) -> bool {
    let times = laps(length, period);
    let least = if period <= SYLLABLE { SYLLABLES_LENGTH } else { LENGTH };
    (times >= TIMES && length >= least) || (times >= LONG_TIMES && length >= LONG_LENGTH)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn chant(words: &str) -> Option<(String, u32)> {
        Chant::at_end_of(words).map(|chant| (chant.unit, chant.times))
    }

    #[test]
    fn what_is_said_ten_times_in_a_row_at_the_end_is_a_chant() {
        let times = |unit: &str, times: usize| unit.repeat(times);
        assert_eq!(chant(&times("I am stuck. ", 9)), None);
        assert_eq!(chant(&times("I am stuck. ", 10)), Some(("I am stuck.".into(), 10)));
        let bullets = times("* I will not say a word.\n", 12);
        assert_eq!(chant(&bullets), Some(("* I will not say a word.".into(), 12)));
        assert_eq!(chant(&times("ABCDE", 100)).map(|(_, times)| times), Some(100));
        let before = format!("Let me look at it first. {}", times("Now I wait. ", 20));
        assert_eq!(chant(&before), Some(("Now I wait.".into(), 20)));
        let cut = format!("{}I will try ag", times("I will try again now. ", 30));
        assert_eq!(chant(&cut).map(|(_, times)| times), Some(30));
        // Ever longer laps need fewer of them.
        let paragraph = format!("{}\n", times("one two three four five ", 1).trim().repeat(12));
        assert!(chant(&times(&format!("{paragraph} and so on. "), 5)).is_some());
    }

    #[test]
    fn what_looks_alike_and_is_none() {
        let list: Vec<String> = (0..40).map(|n| format!("- projects/p/services/{n}")).collect();
        let list = list.join("\n");
        let code = format!("```\n{}\n```", "let x = 1;\n".repeat(40));
        let table = "| a | b |\n".repeat(40);
        let found = format!("{}but then I found it in the tables", "retry now ".repeat(40));
        for words in [
            "",
            "hahahahahahahahahahaha",
            "no no no",
            "Nooooooooooooooooooooooooooooooooooooooooo",
            &list,
            &code,
            &table,
            &found,
            &"-".repeat(500),
            &"- - - ".repeat(100),
            &"12 ".repeat(50),
        ] {
            assert_eq!(chant(words), None, "{words}");
        }
        // A fence that is never closed hides what stands in it, and nothing of the next turn.
        assert_eq!(chant(&format!("```\n{}", "say it ".repeat(40))), None);
    }

    #[test]
    fn any_length_is_looked_at_in_a_window() {
        let long = "never again, I say, ".repeat(100_000);
        assert!(chant(&long).is_some_and(|(unit, times)| unit.len() < 40 && times > 300));
    }

    #[test]
    fn the_same_words_are_known_without_their_clock_and_blanks() {
        assert_eq!(fingerprint_words("..."), None);
        let first = fingerprint_words("Retrying   the\nsame plan at 09:48:01.");
        assert_eq!(first, fingerprint_words("Retrying the same plan at 09:49:59."));
        assert_ne!(first, fingerprint_words("Retrying another plan at 09:49:59."));
    }
}
