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

/// What stands in the last column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// Words, which can go on in the next row.
    Words,
    /// A figure like the others.
    Figure,
}

/// The rows in a width: columns that say nothing go first, then figures from the right.
pub(super) fn within(
    mut rows: Vec<Vec<Cell>>,
    columns: Option<usize>,
    last: Last,
) -> Vec<Vec<Cell>> {
    let Some(columns) = columns else { return rows };
    while width(&rows) > columns {
        let count = rows.first().map_or(0, Vec::len);
        let end = if last == Last::Words { count.saturating_sub(1) } else { count };
        let says_nothing = |place: &usize| {
            let mut cells = rows.iter().skip(1).filter_map(|row| row.get(*place));
            cells.all(|cell| matches!(cell.text.as_str(), "" | "-"))
        };
        let empty = (1..end).rev().find(says_nothing);
        let figure = Some(end.saturating_sub(1)).filter(|at| last == Last::Figure && *at > 2);
        let Some(place) = empty.or(figure) else { break };
        for row in rows.iter_mut().filter(|row| row.len() > place) {
            row.remove(place);
        }
    }
    rows
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
    fn a_narrow_terminal_loses_what_says_nothing_and_then_figures() {
        let rows = |cells: [&str; 5]| {
            vec![heading(&["NAME", "A", "B", "C", "LAST"]), cells.map(Cell::plain).to_vec()]
        };
        let shown = |cells, columns, last| render(&within(rows(cells), columns, last), Paint::OFF);
        let words = ["n", "1", "-", "2", "some words"];
        assert!(shown(words, None, Last::Words).contains('B'));
        assert_eq!(
            shown(words, Some(24), Last::Words),
            "NAME  A  C  LAST\nn     1  2  some words\n"
        );
        assert!(shown(words, Some(8), Last::Words).contains("LAST"), "words go on below");
        let figures = ["n", "1", "2", "3", "4"];
        assert_eq!(shown(figures, Some(12), Last::Figure), "NAME  A  B\nn     1  2\n");
    }

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
