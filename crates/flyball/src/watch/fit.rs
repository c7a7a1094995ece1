//! Text put on a frame: measured in cells, cut where there is no room, broken at blanks.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::terminal;

/// A part of a line, with how it looks.
pub(super) type Piece = (String, Style);

/// Puts text at a place, in at most so many cells; how many it took.
pub(super) fn put(
    buffer: &mut Buffer,
    (x, y): (u16, u16),
    room: usize,
    text: &str,
    style: Style,
) -> usize {
    let area = buffer.area;
    if y >= area.bottom() || x >= area.right() {
        return 0;
    }
    let room = room.min(usize::from(area.right() - x));
    let cut = terminal::cut(text, room);
    buffer.set_stringn(x, y, &cut, room, style);
    terminal::width(&cut)
}

/// Puts pieces one after the other on a row of an area.
pub(super) fn put_pieces(buffer: &mut Buffer, area: Rect, row: u16, pieces: &[Piece]) {
    let mut taken = 0;
    let width = usize::from(area.width);
    for (text, style) in pieces {
        if taken >= width {
            return;
        }
        let x = area.x.saturating_add(cells(taken));
        taken += put(buffer, (x, area.y.saturating_add(row)), width - taken, text, *style);
    }
}

/// Text in a column: cut or filled to exactly so many cells.
pub(super) fn column(text: &str, cells: usize) -> String {
    let cut = terminal::cut(text, cells);
    let gap = cells.saturating_sub(terminal::width(&cut));
    format!("{cut}{}", " ".repeat(gap))
}

/// The end of a text: of a test's path that says most.
pub(super) fn end(text: &str, cells: usize) -> String {
    if terminal::width(text) <= cells {
        return text.to_owned();
    }
    let mut kept = text;
    while terminal::width(kept) + 1 > cells && !kept.is_empty() {
        let first = kept.chars().next().map_or(1, char::len_utf8);
        kept = kept.get(first..).unwrap_or("");
    }
    format!("…{kept}")
}

/// A number of cells as a frame counts them.
pub(super) fn cells(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// Keys and what they do, as many as there is room for.
pub(super) fn keys(buffer: &mut Buffer, area: Rect, keys: &[&str]) {
    let row = area.bottom().saturating_sub(1);
    let (mut taken, width) = (1, usize::from(area.width));
    for key in keys {
        let needs = terminal::width(key);
        if taken + needs > width {
            return;
        }
        let place = (area.x.saturating_add(cells(taken)), row);
        taken += put(buffer, place, width - taken, key, super::tint::dim()) + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_name_is_kept_and_fits() {
        assert_eq!(end("tests/a.py::test_cart", 12), "…::test_cart");
        assert_eq!(end("short", 12), "short");
        for cells in 0..30 {
            assert!(
                terminal::width(&end("日本語の長い名前です", cells)) <= cells.max(1),
                "{cells}"
            );
        }
    }
}
