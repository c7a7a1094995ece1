//! Text of others made safe for a terminal: colours pass, nothing else that could move the cursor,
//! set a title, reach the clipboard or turn the reading direction.
//!
//! Whole escape sequences are left out. Single control characters are written as `\u001b`, which a
//! person can see and which means the same inside a JSON string: what is printed as JSON loses
//! nothing.

use std::fmt::Write;

/// The longest sequence that is waited for: one that never ends does not hide what follows it.
const SEQUENCE_MAX: usize = 4096;
/// The longest list of numbers of a colour.
const COLOUR_MAX: usize = 64;

/// Text safe for a terminal.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    PlainText::default().push(text, &mut out);
    out
}

/// Makes text safe that comes in pieces: a sequence may begin in one piece and end in another.
#[derive(Clone, Debug, Default)]
pub struct PlainText {
    state: State,
    /// What of a sequence has come so far, where it matters.
    held: String,
    /// How long the sequence is so far.
    length: usize,
    /// Bytes of a character that is not yet complete.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// A carriage return: the line feed that may follow belongs to it.
    Return,
    /// After an escape.
    Escape,
    /// An escape and a blank to `/`: one more character follows.
    Intermediate,
    /// A control sequence: numbers, then a letter.
    Control,
    /// A string for the terminal: a title, the clipboard.
    Words,
    /// An escape inside such a string: its end, if a backslash follows.
    WordsEscape,
}

impl PlainText {
    /// Adds a piece; what is safe of it goes to `out`.
    pub fn push(&mut self, text: &str, out: &mut String) {
        for character in text.chars() {
            self.take(character, out);
        }
    }

    /// Adds bytes that may end within a character.
    pub fn push_bytes(&mut self, bytes: &[u8], out: &mut String) {
        let mut all = std::mem::take(&mut self.bytes);
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return self.push(text, out),
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.push(&String::from_utf8_lossy(good), out);
                    let Some(length) = error.error_len() else {
                        self.bytes = bad.to_vec();
                        return;
                    };
                    self.take(char::REPLACEMENT_CHARACTER, out);
                    rest = bad.get(length..).unwrap_or_default();
                }
            }
        }
    }

    fn take(&mut self, character: char, out: &mut String) {
        self.length = self.length.saturating_add(1);
        match self.state {
            State::Text => self.text(character, out),
            State::Return => {
                self.state = State::Text;
                if character != '\n' {
                    self.text(character, out);
                }
            }
            State::Escape => self.escape(character, out),
            State::Intermediate => match character {
                ' '..='/' => {}
                '0'..='~' => self.state = State::Text,
                _ => self.abandon(character, out),
            },
            State::Control => self.control(character, out),
            State::Words | State::WordsEscape => self.words(character, out),
        }
    }

    fn text(&mut self, character: char, out: &mut String) {
        match character {
            '\u{1b}' => self.begin(State::Escape),
            '\r' => {
                self.state = State::Return;
                out.push('\n');
            }
            '\n' | '\t' => out.push(character),
            shown if is_safe(shown) => out.push(shown),
            hidden => {
                // Into a string this cannot fail.
                write!(out, "\\u{:04x}", u32::from(hidden)).ok();
            }
        }
    }

    fn begin(&mut self, state: State) {
        self.state = state;
        self.held.clear();
        self.length = 0;
    }

    fn escape(&mut self, character: char, out: &mut String) {
        match character {
            '[' => self.begin(State::Control),
            ']' | 'P' | 'X' | '^' | '_' => self.begin(State::Words),
            ' '..='/' => self.state = State::Intermediate,
            '0'..='~' => self.state = State::Text,
            _ => self.abandon(character, out),
        }
    }

    fn control(&mut self, character: char, out: &mut String) {
        match character {
            ' '..='?' if self.length <= SEQUENCE_MAX => {
                if self.held.len() <= COLOUR_MAX {
                    self.held.push(character);
                }
            }
            '@'..='~' => {
                if character == 'm' && is_colour(&self.held) {
                    out.push_str("\u{1b}[");
                    out.push_str(&self.held);
                    out.push('m');
                }
                self.state = State::Text;
            }
            _ => self.abandon(character, out),
        }
    }

    fn words(&mut self, character: char, out: &mut String) {
        match (self.state, character) {
            (State::WordsEscape, '\\') | (_, '\u{7}' | '\u{9c}') => self.state = State::Text,
            (_, '\u{1b}') => self.state = State::WordsEscape,
            // No terminal takes a line's end into such a string, and text must not be lost in it.
            (_, '\n' | '\r') => self.abandon(character, out),
            _ if self.length > SEQUENCE_MAX => self.abandon(character, out),
            _ => self.state = State::Words,
        }
    }

    /// This was no sequence after all: the text goes on with this character.
    fn abandon(&mut self, character: char, out: &mut String) {
        self.state = State::Text;
        self.text(character, out);
    }
}

/// Whether a character only shows something.
fn is_safe(character: char) -> bool {
    let turns = matches!(
        character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    !character.is_control() && !turns
}

/// Whether the numbers of `ESC [ … m` choose colours and weights, and hide nothing.
fn is_colour(numbers: &str) -> bool {
    if numbers.len() > COLOUR_MAX {
        return false;
    }
    let mut numbers = numbers.split([';', ':']);
    while let Some(number) = numbers.next() {
        let skipped = match number {
            "" => 0,
            // A colour of a table, or of three parts.
            "38" | "48" | "58" => match numbers.next() {
                Some("5") => 1,
                Some("2") => 3,
                Some(_) | None => return false,
            },
            other => match other.parse::<u32>() {
                Ok(0..=7 | 9 | 21..=27 | 29..=37 | 39..=47 | 49 | 59 | 90..=97 | 100..=107) => 0,
                Ok(_) | Err(_) => return false,
            },
        };
        for _ in 0..skipped {
            if !numbers.next().is_some_and(|part| part.bytes().all(|b| b.is_ascii_digit())) {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_pass_and_nothing_else() {
        let cases = [
            ("a\u{1b}[31mred\u{1b}[0m", "a\u{1b}[31mred\u{1b}[0m"),
            (
                "\u{1b}[1;38;5;200mx\u{1b}[m\u{1b}[48;2;1;2;3my",
                "\u{1b}[1;38;5;200mx\u{1b}[m\u{1b}[48;2;1;2;3my",
            ),
            ("\u{1b}[8mhidden", "hidden"),
            ("\u{1b}[38;5;8mgrey", "\u{1b}[38;5;8mgrey"),
            ("a\u{1b}[2Jb\u{1b}[H\u{1b}[1;1H\u{1b}[?25lc", "abc"),
            ("\u{1b}]0;title\u{7}x\u{1b}]52;c;aGk=\u{1b}\\y", "xy"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}Pq#0\u{1b}\\a\u{1b}_b\u{1b}\\c\u{1b}cd\u{1b}(Be", "acde"),
            ("\u{9b}2J\u{85}\u{7f}\u{8}\u{7}", "\\u009b2J\\u0085\\u007f\\u0008\\u0007"),
            ("\u{202e}evil\u{2066}", "\\u202eevil\\u2066"),
            ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
            ("\u{1b}[>4;1m\u{1b}[?1049h\u{1b}[6nz", "z"),
            ("tab\tblank ünïcödé 漢字 🙂", "tab\tblank ünïcödé 漢字 🙂"),
        ];
        for (text, shown) in cases {
            assert_eq!(plain(text), shown, "{text:?}");
        }
    }

    #[test]
    fn a_sequence_that_never_ends_does_not_hide_what_follows() {
        assert_eq!(plain("\u{1b}]0;never\nseen"), "\nseen");
        assert_eq!(plain("\u{1b}[\nseen"), "\nseen");
        assert!(plain(&format!("\u{1b}]{}end", "x".repeat(2 * SEQUENCE_MAX))).ends_with("xend"));
    }

    #[test]
    fn what_is_json_stays_the_same_json() {
        let value = serde_json::json!({ "a": "x\u{9b}2J\u{202e}\u{7f}\u{1b}[31m\r\n" });
        let shown = plain(&value.to_string());
        assert!(shown.chars().all(|c| !c.is_control()), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    proptest! {
        #[test]
        fn pieces_give_what_the_whole_gives(text in "(\\PC|[\u{1b}\u{9b}\r\n\u{7}\\\\\\[\\]m;0-9]){0,60}", at in 0usize..200) {
            let bytes = text.as_bytes();
            let (first, second) = bytes.split_at(at.min(bytes.len()));
            let mut out = String::new();
            let mut cleaner = PlainText::default();
            cleaner.push_bytes(first, &mut out);
            cleaner.push_bytes(second, &mut out);
            prop_assert_eq!(&out, &plain(&text));
        }

        #[test]
        fn nothing_but_colours_is_left(text in "(\\PC|[\u{1b}\u{9b}\u{90}\r\n\u{7}\\\\\\[\\]PX^_m;:?0-9A-Z]){0,80}") {
            let shown = plain(&text);
            let mut rest = shown.as_str();
            while let Some(at) = rest.find('\u{1b}') {
                let after = &rest[at + 1..];
                let end = after.find('m').unwrap();
                prop_assert!(after.starts_with('[') && after[1..end].chars().all(|c| c.is_ascii_digit() || ";:".contains(c)));
                rest = &after[end..];
            }
            let is_shown = |c: char| matches!(c, '\n' | '\t' | '\u{1b}') || !c.is_control();
            prop_assert!(shown.chars().all(is_shown));
        }
    }
}
