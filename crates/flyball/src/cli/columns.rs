//! Rows of cells, set in aligned columns.

use crate::terminal::{self, Paint};

/// What a cell's colour says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tint {
    /// Nothing.
    #[default]
    Plain,
    /// It went well.
    Good,
    /// It did not.
    Bad,
    /// Somebody should look.
    Warn,
    /// A name.
    Name,
    /// It matters less.
    Dim,
}

impl Tint {
    /// The text in this colour.
    pub(super) fn on(self, text: &str, paint: Paint) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Good => paint.green(text),
            Self::Bad => paint.red(text),
            Self::Warn => paint.yellow(text),
            Self::Name => paint.cyan(text),
            Self::Dim => paint.dim(text),
        }
    }
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    text: String,
    tint: Tint,
}

impl Cell {
    /// A cell in a colour.
    pub(super) fn new(text: impl Into<String>, tint: Tint) -> Self {
        Self { text: text.into(), tint }
    }

    /// A cell without colour.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Tint::Plain)
    }

    fn width(&self) -> usize {
        terminal::width(&self.text)
    }
}

/// The heading of a table.
pub(super) fn heading(words: &[&str]) -> Vec<Cell> {
    words.iter().map(|word| Cell::new(*word, Tint::Dim)).collect()
}

/// How wide the rows come out.
pub(super) fn width(rows: &[Vec<Cell>]) -> usize {
    render(rows, Paint::OFF).lines().map(terminal::width).max().unwrap_or(0)
}

/// The rows, two spaces between columns, nothing after the last cell with text.
pub(super) fn render(rows: &[Vec<Cell>], paint: Paint) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (place, cell) in row.iter().enumerate() {
            match widths.get_mut(place) {
                Some(width) => *width = (*width).max(cell.width()),
                None => widths.push(cell.width()),
            }
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut gap = 0;
        for (cell, width) in row.iter().zip(&widths) {
            if cell.text.is_empty() {
                gap += width + 2;
                continue;
            }
            out.extend(std::iter::repeat_n(' ', gap));
            out.push_str(&cell.tint.on(&cell.text, paint));
            gap = width.saturating_sub(cell.width()) + 2;
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_with_text() {
        let rows = [
            heading(&["A", "B", "C"]),
            vec![Cell::plain("äöü"), Cell::plain(""), Cell::new("x", Tint::Bad)],
            vec![Cell::plain("z"), Cell::plain("bb"), Cell::plain("")],
        ];
        assert_eq!(render(&rows, Paint::OFF), "A    B   C\näöü      x\nz    bb\n");
        assert!(render(&rows, Paint::ON).contains("äöü      \u{1b}[31mx\u{1b}[0m\n"));
    }
}
