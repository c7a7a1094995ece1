//! Keeps the last lines of the output.

use std::collections::VecDeque;

use crate::text;

const CHARS_MAX: usize = 4_000;
const LINE_CHARS_MAX: usize = 500;

/// The last lines seen.
#[derive(Default)]
pub(crate) struct Tail {
    lines: VecDeque<String>,
}

impl Tail {
    /// How many lines are kept.
    pub(crate) const LINES_MAX: usize = 40;

    /// Takes the next line.
    pub(crate) fn push(&mut self, line: &str) {
        let mut slot = if self.lines.len() < Self::LINES_MAX {
            String::new()
        } else {
            self.lines.pop_front().unwrap_or_default()
        };
        slot.clear();
        slot.push_str(text::clip(line.trim_end(), LINE_CHARS_MAX));
        self.lines.push_back(slot);
    }

    /// The last lines as one text.
    pub(crate) fn finish(self) -> String {
        let mut chars = 0_usize;
        let mut kept = VecDeque::new();
        for line in self.lines.into_iter().rev() {
            chars = chars.saturating_add(line.chars().count() + 1);
            if chars > CHARS_MAX + 1 {
                break;
            }
            kept.push_front(line);
        }
        let lines: Vec<String> = kept.into();
        lines.join("\n").trim_matches('\n').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{CHARS_MAX, Tail};

    #[test]
    fn only_the_last_lines_are_kept_within_both_limits() {
        let mut tail = Tail::default();
        for number in 0..100 {
            tail.push(&format!("line {number}"));
        }
        let text = tail.finish();
        assert_eq!(text.lines().count(), Tail::LINES_MAX);
        assert!(text.starts_with("line 60\n") && text.ends_with("line 99"), "{text}");

        let mut tail = Tail::default();
        for _ in 0..Tail::LINES_MAX {
            tail.push(&"x".repeat(400));
        }
        assert!(tail.finish().chars().count() <= CHARS_MAX);
    }
}
