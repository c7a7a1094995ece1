//! A run shown by somebody who only watches it: the same lines and the same live line as at the run's
//! own terminal.

use super::status_line::StatusLine;
use crate::terminal::{self, Paint, PlainText};
use crate::view::{FRONT, Line, Weight, hanging, terminal_lines};

/// The longest line of the run's own that is waited for, in bytes.
const LINE_MAX: usize = 64 * 1024;

/// Shows a run that goes on elsewhere.
#[derive(Debug)]
pub struct Watcher {
    paint: Paint,
    status: StatusLine,
    /// What the run has printed, made safe piece by piece, and the line that has begun.
    safe: PlainText,
    open: String,
}

impl Watcher {
    /// In colour or not.
    pub fn new(paint: Paint) -> Self {
        let (safe, open) = (PlainText::default(), String::new());
        Self { paint, status: StatusLine::new(), safe, open }
    }

    /// What is told.
    pub fn lines(&mut self, lines: &[Line]) {
        let columns = terminal::err_columns();
        let told = lines.iter().filter(|line| line.weight <= Weight::Call);
        let rows: Vec<String> =
            told.flat_map(|line| terminal_lines(line, self.paint, columns)).collect();
        if !rows.is_empty() {
            self.status.print(rows);
        }
    }

    /// A sentence of flyball's own.
    pub fn remark(&mut self, text: &str) {
        self.status.print(text.lines().map(str::to_owned));
    }

    /// What the run itself has printed, line by line.
    pub fn printed(&mut self, bytes: &[u8]) {
        self.safe.push_bytes(bytes, &mut self.open);
        let end = match self.open.rfind('\n') {
            Some(end) => end + 1,
            None if self.open.len() > LINE_MAX => self.open.len(),
            None => return,
        };
        let columns = terminal::err_columns();
        let whole: String = self.open.drain(..end).collect();
        self.status.print(whole.lines().flat_map(|line| hanging(line, FRONT, columns)));
    }

    /// Draws the live line anew, of these parts.
    pub fn tick(&mut self, parts: &[String]) {
        self.status.draw(parts);
    }

    /// Takes the live line away.
    pub fn clear(&mut self) {
        self.status.clear();
    }
}
