//! Text measured in the cells of a terminal: a wide character takes two, a combining mark or a
//! colour none. Lays out; never decides what is said.

use unicode_width::UnicodeWidthChar;

/// What stands for what was cut.
const ELLIPSIS: char = '…';
/// Ends every colour.
const RESET: &str = "\u{1b}[0m";
/// The least a row may hold: below that a terminal is not worth wrapping for.
const LEAST: usize = 8;
/// The longest list of colours that is taken over into the next row.
const COLOURS_MAX: usize = 256;

/// One thing a row is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit<'t> {
    /// `ESC [ … m`: takes no cell.
    Colour(&'t str),
    Character(char, usize),
}

/// How many cells a text takes on one row.
pub fn width(text: &str) -> usize {
    units(text).map(Unit::cells).sum()
}

/// A text in at most so many cells, the end given up for an ellipsis.
pub fn cut(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let (mut out, mut taken, mut tinted) = (String::new(), 0, false);
    for unit in units(text) {
        match unit {
            Unit::Colour(colour) => {
                tinted = true;
                out.push_str(colour);
            }
            Unit::Character(character, cells) => {
                if taken + cells + 1 > max {
                    break;
                }
                taken += cells;
                out.push(character);
            }
        }
    }
    out.truncate(out.trim_end().len());
    if max > 0 {
        out.push(ELLIPSIS);
    }
    if tinted {
        out.push_str(RESET);
    }
    out
}

/// A text of one line in rows of at most so many cells, broken at blanks where there are any. A
/// colour that is on at the end of a row is ended there and goes on in the next.
pub fn wrap(text: &str, max: usize) -> Vec<String> {
    let max = max.max(LEAST);
    let mut rows = Vec::new();
    let mut row = Row::default();
    for unit in units(text) {
        row.push(unit);
        if row.cells > max {
            let (full, rest) = row.split(max);
            rows.push(full);
            row = rest;
        }
    }
    if rows.is_empty() || row.cells > 0 {
        rows.push(row.text(row.units.len()));
    }
    rows
}

/// A text of one line in rows, those after the first so many cells further in. Broken at blanks
/// behind that place only: a path that is too long is left whole, for it is copied.
pub(super) fn hang(text: &str, max: usize, indent: usize) -> Vec<String> {
    let max = max.max(LEAST);
    let indent = indent.min(max - LEAST);
    let mut rows: Vec<String> = Vec::new();
    let mut row = Row::default();
    for unit in units(text) {
        row.push(unit);
        let (max, least) = if rows.is_empty() { (max, indent) } else { (max - indent, 0) };
        if row.cells > max
            && let Some(blank) = row.last_blank(least)
        {
            let (full, rest) = row.split_at(blank, blank + 1);
            rows.push(full);
            row = rest;
        }
    }
    if rows.is_empty() || row.cells > 0 {
        rows.push(row.text(row.units.len()));
    }
    let front = |at: usize| if at == 0 { String::new() } else { " ".repeat(indent) };
    rows.iter().enumerate().map(|(at, row)| front(at) + row).collect()
}

/// Where the last column of a row begins: behind its last gap of two blanks or more; where the text
/// begins if there is none.
pub(super) fn last_column(text: &str) -> usize {
    let (mut at, mut blanks, mut column) = (0, 0, 0);
    for unit in units(text) {
        if let Unit::Character(character, cells) = unit {
            if character == ' ' {
                blanks += 1;
            } else {
                if blanks > 1 || at == blanks {
                    column = at;
                }
                blanks = 0;
            }
            at += cells;
        }
    }
    column
}

/// A row that is being filled.
#[derive(Debug, Default)]
struct Row<'t> {
    /// Colours that are on where it begins.
    begins: String,
    units: Vec<Unit<'t>>,
    cells: usize,
}

impl<'t> Row<'t> {
    fn push(&mut self, unit: Unit<'t>) {
        self.cells += unit.cells();
        self.units.push(unit);
    }

    /// The full row, and what did not fit into it.
    fn split(self, max: usize) -> (String, Self) {
        let end = self.units.len() - 1;
        let is_blank = |unit: &Unit<'_>| matches!(unit, Unit::Character(' ', _));
        let begin = self.units.iter().position(|unit| !is_blank(unit)).unwrap_or(end);
        let blank = (begin..=end).rev().find(|&at| self.units.get(at).is_some_and(is_blank));
        match blank {
            // A word that fills most of the row is cut: a row of one short word helps nobody.
            Some(at) if self.cells_before(at) >= max / 3 => self.split_at(at, at + 1),
            Some(_) | None => self.split_at(end, end),
        }
    }

    /// The last blank behind so many cells.
    fn last_blank(&self, least: usize) -> Option<usize> {
        let is_blank = |at: usize| matches!(self.units.get(at), Some(Unit::Character(' ', _)));
        let last = (0..self.units.len()).rev().find(|&at| is_blank(at))?;
        (self.cells_before(last) > least).then_some(last)
    }

    fn split_at(self, end: usize, next: usize) -> (String, Self) {
        let colours = self.colours(end);
        let mut rest = Row { begins: colours, ..Row::default() };
        for unit in self.units.iter().skip(next) {
            rest.push(*unit);
        }
        (self.text(end), rest)
    }

    fn cells_before(&self, end: usize) -> usize {
        self.units.iter().take(end).map(|unit| unit.cells()).sum()
    }

    /// The colours that are on before a unit.
    fn colours(&self, end: usize) -> String {
        let mut on = self.begins.clone();
        for unit in self.units.iter().take(end) {
            match unit {
                Unit::Colour("\u{1b}[0m" | "\u{1b}[m") => on.clear(),
                Unit::Colour(colour) if on.len() < COLOURS_MAX => on.push_str(colour),
                Unit::Colour(_) | Unit::Character(..) => {}
            }
        }
        on
    }

    fn text(&self, end: usize) -> String {
        let mut out = self.begins.clone();
        for unit in self.units.iter().take(end) {
            match unit {
                Unit::Colour(colour) => out.push_str(colour),
                Unit::Character(character, _) => out.push(*character),
            }
        }
        out.truncate(out.trim_end().len());
        if !self.colours(end).is_empty() {
            out.push_str(RESET);
        }
        out
    }
}

impl Unit<'_> {
    const fn cells(self) -> usize {
        match self {
            Self::Colour(_) => 0,
            Self::Character(_, cells) => cells,
        }
    }
}

/// A text in its units. A tab is taken for one blank: it is no column of ours.
fn units(text: &str) -> impl Iterator<Item = Unit<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let character = rest.chars().next()?;
        if rest.starts_with("\u{1b}[")
            && let Some(end) = rest.find('m')
        {
            let (colour, after) = rest.split_at(end + 1);
            rest = after;
            return Some(Unit::Colour(colour));
        }
        rest = rest.get(character.len_utf8()..).unwrap_or("");
        Some(match character {
            '\t' => Unit::Character(' ', 1),
            // It may make the character before it a wide one.
            '\u{fe0f}' => Unit::Character(character, 1),
            _ => Unit::Character(character, character.width().unwrap_or(0)),
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cells_are_counted_and_not_bytes() {
        let cases =
            [("abc", 3), ("äöü", 3), ("漢字", 4), ("e\u{301}", 1), ("\u{1b}[31mx\u{1b}[0m", 1)];
        for (text, cells) in cases {
            assert_eq!(width(text), cells, "{text:?}");
        }
    }

    #[test]
    fn a_cut_says_so_and_never_takes_more_than_it_may() {
        assert_eq!(cut("cargo test --lib", 16), "cargo test --lib");
        assert_eq!(cut("cargo test --lib", 8), "cargo t…");
        assert_eq!(cut("漢字漢字", 4), "漢…");
        assert_eq!(cut("\u{1b}[31mred red", 4), "\u{1b}[31mred…\u{1b}[0m");
        assert_eq!(cut("ab", 0), "");
    }

    #[test]
    fn rows_break_at_blanks_and_words_that_are_too_long_anywhere() {
        assert_eq!(wrap("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("abcdefghijklmnop", 10), ["abcdefghij", "klmnop"]);
        assert_eq!(wrap("a abcdefghijklmnop", 10), ["a abcdefgh", "ijklmnop"]);
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(
            wrap("    four blanks stay before it", 16),
            ["    four blanks", "stay before it"]
        );
    }

    #[test]
    fn what_goes_on_stands_below_its_column() {
        let rows = hang("ok  gate  one two three", 20, 10);
        assert_eq!(rows, ["ok  gate  one two", "          three"]);
        let path = "ok  /a/path/that/is/longer/than/the/row and more";
        assert_eq!(hang(path, 20, 4), ["ok  /a/path/that/is/longer/than/the/row", "    and more"]);
        for (text, column) in [
            ("ok    gate  a word", 12),
            ("  - one two", 2),
            ("one two", 0),
            ("\u{1b}[32mok\u{1b}[0m  \u{1b}[36mname\u{1b}[0m", 4),
            ("", 0),
            ("   ", 0),
        ] {
            assert_eq!(last_column(text), column, "{text:?}");
        }
    }

    #[test]
    fn a_colour_goes_on_in_the_next_row() {
        let rows = wrap("\u{1b}[31mone two\u{1b}[0m three", 8);
        assert_eq!(rows, ["\u{1b}[31mone two\u{1b}[0m", "three"]);
        let rows = wrap("\u{1b}[31mred words here", 9);
        assert_eq!(rows, ["\u{1b}[31mred words\u{1b}[0m", "\u{1b}[31mhere\u{1b}[0m"]);
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_asked_for_and_no_letter_is_lost(text in "([a-zäö漢 ]|\u{1b}\\[3[0-7]m){0,80}", max in 8usize..40) {
            let rows = wrap(&text, max);
            for row in &rows {
                prop_assert!(width(row) <= max, "{row:?}");
            }
            let letters = |text: &str| units(text).filter(|unit| !matches!(unit, Unit::Colour(_) | Unit::Character(' ', _))).count();
            prop_assert_eq!(rows.iter().map(|row| letters(row)).sum::<usize>(), letters(&text));
            prop_assert!(width(&cut(&text, max)) <= max);
        }
    }
}
