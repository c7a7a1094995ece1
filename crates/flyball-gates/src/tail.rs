//! Keeps the last lines of the output.

use std::collections::VecDeque;

use crate::{Exit, text};

const CHARS_MAX: usize = 4_000;
const LINE_CHARS_MAX: usize = 500;

/// How many lines that speak of an error may come before the last lines.
const ERRORS_MAX: usize = 10;

/// The last lines seen.
#[derive(Clone, Default)]
pub(crate) struct Tail {
    lines: VecDeque<String>,
    /// Whether there was more than white space.
    spoke: bool,
    /// How many lines there were, where all were counted.
    total: u64,
}

impl Tail {
    /// How many lines are kept.
    pub(crate) const LINES_MAX: usize = 40;

    /// Takes the next line, the `number`th.
    pub(crate) fn push(&mut self, line: &str, number: u64) {
        let mut slot = if self.lines.len() < Self::LINES_MAX {
            String::new()
        } else {
            self.lines.pop_front().unwrap_or_default()
        };
        slot.clear();
        slot.push_str(text::clip(line.trim_end(), LINE_CHARS_MAX));
        self.spoke |= !slot.is_empty();
        self.total = number;
        self.lines.push_back(slot);
    }

    /// The last lines as one text, with `errors` before them as far as they are not among them.
    pub(crate) fn finish(self, exit: Exit, errors: &[(u64, &str)]) -> String {
        if !self.spoke && !exit.is_success() {
            return format!("it printed nothing and ended with {exit}");
        }
        let since = self.total.saturating_sub(Self::LINES_MAX as u64);
        let errors = errors.iter().filter(|(number, _)| *number <= since).take(ERRORS_MAX);
        let mut kept: Vec<&str> = errors.map(|(_, line)| *line).collect();
        let mut chars: usize = kept.iter().map(|line| line.chars().count() + 1).sum();
        if !kept.is_empty() {
            kept.push("[…]");
            chars = chars.saturating_add(4);
        }
        let mut last = VecDeque::new();
        for line in self.lines.iter().rev().take(Self::LINES_MAX.saturating_sub(kept.len())) {
            chars = chars.saturating_add(line.chars().count() + 1);
            if chars > CHARS_MAX + 1 {
                break;
            }
            last.push_front(line.as_str());
        }
        kept.extend(last);
        text::clip(kept.join("\n").trim_matches('\n'), CHARS_MAX).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{CHARS_MAX, Tail};
    use crate::Exit;

    #[test]
    fn only_the_last_lines_are_kept_within_both_limits() {
        let mut tail = Tail::default();
        for number in 0..100 {
            tail.push(&format!("line {number}"), number + 1);
        }
        let text = tail.finish(Exit::Code(1), &[]);
        assert_eq!(text.lines().count(), Tail::LINES_MAX);
        assert!(text.starts_with("line 60\n") && text.ends_with("line 99"), "{text}");

        let mut tail = Tail::default();
        for number in 0..40 {
            tail.push(&"x".repeat(400), number + 1);
        }
        assert!(tail.finish(Exit::Code(1), &[]).chars().count() <= CHARS_MAX);
    }
    #[test]
    fn an_error_before_much_noise_is_still_there_and_silence_has_a_code() {
        let mut tail = Tail::default();
        for number in 0..500 {
            tail.push(&format!("line {number}"), number + 1);
        }
        let text = tail.finish(Exit::Code(2), &[(1, "FATAL: no"), (499, "x")]);
        assert!(text.starts_with("FATAL: no\n[…]\nline 462"), "{text}");
        assert_eq!(text.lines().count(), Tail::LINES_MAX);
        let silent = Tail::default().finish(Exit::Code(3), &[]);
        assert_eq!(silent, "it printed nothing and ended with exit code 3");
    }
}
