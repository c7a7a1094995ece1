//! Failures that can only be counted: nothing of them is kept, and most of their lines are passed over.

use super::{Part, Pytest};
use crate::skim::{self, Skimmed};

/// The lines at the start of these that no section begins or ends with, whatever follows in them.
pub(super) fn plain(lines: &[u8]) -> Skimmed {
    // Bytes that say more than others; a line without one of them goes on with the section.
    skim::up_to_other(
        lines,
        |[first, ..]| matches!(first, b'=' | b'F' | b'n' | b'_' | b'-' | b'0'..=b'9' | 0x80..),
    )
}

impl Pytest {
    /// Whether nothing is kept of the section that is told now.
    pub(super) fn is_passing(&self) -> bool {
        let is_counted = self.section.as_ref().is_some_and(super::Section::is_counted);
        is_counted && self.part == Part::Failures
    }

    /// Takes a line of a section of which nothing is kept, or the title of the next one like it.
    pub(super) fn counted(&mut self, line: &[u8]) -> bool {
        let may_end = |ends: &[u8]| line.last().is_some_and(|last| ends.contains(last));
        match line.first() {
            Some(b'=' | 0xe2) => false,
            Some(b'F') => !line.starts_with(b"FAIL "),
            Some(b'n' | b'0'..=b'9') => !may_end(b"s)= "),
            Some(b'-') => {
                let is_captured = line.starts_with(b"-----")
                    && memchr::memmem::find(line, b" Captured ").is_some();
                if let Some(section) = self.section.as_mut().filter(|_| is_captured) {
                    section.is_captured = true;
                }
                true
            }
            Some(b'_') => {
                let Ok(text) = std::str::from_utf8(line) else { return false };
                if self.heading(text).is_none() {
                    return true;
                }
                let is_counting = self.is_counting();
                if let Some(section) = self.section.as_mut().filter(|_| is_counting) {
                    section.is_captured = false;
                    self.sections_left_out = self.sections_left_out.saturating_add(1);
                }
                is_counting
            }
            _ => true,
        }
    }
}
