//! Bounded text: every text flyball hands to an agent or stores has a limit that says what was cut.

use alloc::format;
use alloc::string::String;

/// The first `max` characters, with a note when something was cut. Never cuts inside a character.
pub fn head(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => String::from(text),
        Some((cut, _)) => {
            let left = text.get(cut..).map_or(0, |rest| rest.chars().count());
            format!("{}… ({left} more characters)", text.get(..cut).unwrap_or(""))
        }
    }
}

/// The first `max` characters and nothing else.
pub fn prefix(text: &str, max: usize) -> &str {
    // No more bytes than characters are wanted: nothing to count.
    if text.len() <= max {
        return text;
    }
    match text.char_indices().nth(max) {
        None => text,
        Some((cut, _)) => text.get(..cut).unwrap_or(""),
    }
}

/// The last `max` characters, beginning at a line where possible.
pub fn tail(text: &str, max: usize) -> &str {
    let count = text.chars().count();
    if count <= max {
        return text;
    }
    let cut = text.char_indices().nth(count - max).map_or(0, |(at, _)| at);
    let rest = text.get(cut..).unwrap_or("");
    match rest.find('\n') {
        Some(newline) if newline + 1 < rest.len() => rest.get(newline + 1..).unwrap_or(rest),
        _ => rest,
    }
}

/// The first line, trimmed.
pub fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or("").trim()
}

/// `1 file`, `2 files`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_falls_inside_a_character_and_says_how_much_is_missing() {
        assert_eq!(head("äöü", 2), "äö… (1 more characters)");
        assert_eq!(head("äöü", 3), "äöü");
        assert_eq!(prefix("äöü", 1), "ä");
    }

    #[test]
    fn the_tail_begins_at_a_line() {
        assert_eq!(tail("one\ntwo\nthree", 7), "three");
        assert_eq!(tail("short", 50), "short");
        // A line that is cut is better than none.
        assert_eq!(tail("one long line\n", 6), " line\n");
    }
}
