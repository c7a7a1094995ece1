//! A few lines of output, within limits.

use crate::text;

/// A few lines collected while a block is open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    text: String,
    lines: usize,
}

impl Block {
    const LINES_MAX: usize = 60;
    const CHARS_MAX: usize = 6_000;
    const LINE_CHARS_MAX: usize = 1_000;

    /// One that takes nothing.
    pub(crate) const fn closed() -> Self {
        Self { text: String::new(), lines: Self::LINES_MAX }
    }

    /// Whether it takes nothing, and never did.
    pub(crate) const fn is_closed(&self) -> bool {
        self.lines >= Self::LINES_MAX && self.text.is_empty()
    }

    /// Adds a line while there is room.
    pub(crate) fn push(&mut self, line: &str) {
        if self.has_room() {
            self.text.push_str(text::clip(line, Self::LINE_CHARS_MAX));
            self.text.push('\n');
            self.lines += 1;
        }
    }

    /// Whether there is room for another line.
    pub(crate) const fn has_room(&self) -> bool {
        self.lines < Self::LINES_MAX && self.text.len() < Self::CHARS_MAX
    }

    /// Whether nothing but blanks was collected.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// What was collected.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Starts anew.
    pub(crate) fn clear(&mut self) {
        self.lines = 0;
        self.text.clear();
    }

    /// Takes what was collected and starts anew.
    pub(crate) fn take(&mut self) -> String {
        self.lines = 0;
        std::mem::take(&mut self.text)
    }
}
