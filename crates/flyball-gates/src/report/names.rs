//! Which tests ran, by name.

use super::NAME_CHARS_MAX;
use crate::{Executed, text};

/// The names of the tests that ran; nothing is kept for the many tools that tell none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(Option<Box<Executed>>);

impl Names {
    /// A test ran.
    pub(crate) fn ran(&mut self, name: &str) {
        self.0.get_or_insert_default().add(text::clip(name, NAME_CHARS_MAX));
    }

    /// Another test ran; false, and nothing was noted, when its name cannot be read.
    pub(crate) fn ran_bytes(&mut self, name: &[u8], bare: fn(&str) -> &str) -> bool {
        if let Some(executed) = self.0.as_deref_mut().filter(|own| own.is_full()) {
            executed.names_left_out = executed.names_left_out.saturating_add(1);
            return true;
        }
        let name = std::str::from_utf8(name);
        name.map(|name| self.ran(bare(name))).is_ok()
    }

    /// A test of a package ran.
    pub(crate) fn ran_in(&mut self, package: &str, name: &str) {
        let executed = self.0.get_or_insert_default();
        if executed.is_full() {
            executed.names_left_out = executed.names_left_out.saturating_add(1);
        } else {
            executed.add(text::clip(&format!("{package} {name}"), NAME_CHARS_MAX));
        }
    }

    /// Further tests ran, of which no name was kept.
    pub(crate) fn leave_out(&mut self, more: u64) {
        if more > 0 {
            let executed = self.0.get_or_insert_default();
            executed.names_left_out = executed.names_left_out.saturating_add(more);
        }
    }

    /// What is known of them.
    pub(super) fn told(&self) -> Executed {
        self.0.as_deref().cloned().unwrap_or_default()
    }

    /// Whether there is none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether further names can only be counted.
    pub(crate) fn is_full(&self) -> bool {
        self.0.as_deref().is_some_and(Executed::is_full)
    }

    /// All that are kept.
    #[cfg(test)]
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.iter().flat_map(|executed| executed.names.iter().cloned()).collect()
    }

    /// Adds those of another report.
    pub(super) fn absorb(&mut self, other: Self) {
        let Some(other) = other.0 else { return };
        let own = self.0.get_or_insert_default();
        for name in &other.names {
            own.add(name);
        }
        own.names_left_out = own.names_left_out.saturating_add(other.names_left_out);
    }
}
