//! The bar that shows how far reading has come, on a terminal's standard error.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;

use crate::terminal::{self, Control, Reader};

/// Less than this is read before a bar can be looked at.
const BYTES_MIN: u64 = 8 << 20;
/// Cells of the bar.
const CELLS: u64 = 24;

/// The bar.
pub(super) struct Bar {
    is_on: bool,
    /// What was shown last, in thousandths; two threads tell.
    shown: Mutex<Option<u64>>,
}

impl Bar {
    /// A bar, unless a program reads the output or nobody looks.
    pub(super) fn new(reader: Reader) -> Self {
        let is_on = reader == Reader::Person && stderr().is_terminal();
        Self { is_on, shown: Mutex::new(None) }
    }

    /// So many bytes of so many were read.
    pub(super) fn show(&self, done: u64, whole: u64) {
        if !self.is_on || whole < BYTES_MIN {
            return;
        }
        let now = done.min(whole).saturating_mul(1_000).checked_div(whole).unwrap_or(0);
        let Ok(mut shown) = self.shown.lock() else { return };
        // What another thread has told meanwhile may be further on.
        if shown.is_none_or(|shown| shown < now) {
            *shown = Some(now);
            terminal::control_err(Control::ClearLive);
            terminal::write_err(&text(now, whole));
        }
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        if self.shown.lock().is_ok_and(|shown| shown.is_some()) {
            terminal::control_err(Control::ClearLive);
        }
    }
}

fn text(thousandths: u64, whole: u64) -> String {
    let full = usize::try_from(thousandths * CELLS / 1_000).unwrap_or(0);
    let empty = usize::try_from(CELLS).unwrap_or(0).saturating_sub(full);
    let percent = thousandths / 10;
    format!("reading {}{} {percent:3} % of {} MB", "█".repeat(full), "░".repeat(empty), whole >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_up() {
        assert!(text(0, 5 << 20).contains("░░   0 % of 5 MB"));
        assert!(text(1_000, 5 << 20).contains("██ 100 % of 5 MB"));
        assert_eq!(text(500, 1).matches('█').count(), 12);
    }
}
