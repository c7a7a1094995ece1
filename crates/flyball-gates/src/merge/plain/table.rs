//! Rows of tables and lists below the path they are about, in the output of unknown programs.

use super::shape::is_path;
use super::verdict::{CROSSES, Marked};
use crate::{place, text};

/// A row of a table with a cell that says that something failed: the first cell names it.
pub(super) fn row(line: &str) -> Option<Marked<'_>> {
    let bar = ['\u{2502}', '|'].into_iter().find(|bar| line.starts_with(*bar))?;
    let inner = line.strip_prefix(bar)?.strip_suffix(bar)?;
    let mut cells = inner.split(bar).map(str::trim);
    let is_mark = |cell: &str| {
        matches!(cell, "FAIL" | "FAILED" | "ERROR" | "fail" | "failed") || is_cross(cell)
    };
    let name = cells.next().filter(|name| !name.is_empty() && !is_mark(name))?;
    cells.any(is_mark).then(|| Marked { name, why: inner.trim() })
}

/// Whether a text is a cross alone.
fn is_cross(text: &str) -> bool {
    text.strip_prefix(CROSSES).is_some_and(|rest| rest.trim_matches('\u{fe0f}').is_empty())
}

/// What a cell of a table goes on with in the next line: `   |       | text`.
pub(super) fn continued(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('|')?.trim_start().strip_prefix('|')?.trim();
    (!rest.is_empty() && !rest.contains('|')).then_some(rest)
}

/// The file a line without blanks before it ends with: `Validated data/prices.csv`.
pub(super) fn headed(line: &str) -> Option<&str> {
    let own = line.trim_end().trim_end_matches(':');
    let path = own.rsplit(' ').next().filter(|path| is_path(path))?;
    (text::indent(line) == 0 && own.split(' ').count() <= 6).then_some(path)
}

/// One of a list below the path it is about, and its line there: `  * text`, `  3: text`,
/// ` 3 | ERROR | text`.
pub(super) fn listed(line: &str) -> Option<(Option<u32>, &str)> {
    let own = line.trim();
    if text::indent(line) == 0 || place::mention(own).is_some() {
        return None;
    }
    let marked = ["* ", "- ", "\u{2022} "].iter().find_map(|mark| own.strip_prefix(mark));
    if let Some(said) = marked {
        return said.contains(' ').then_some((None, said));
    }
    if let Some(rest) = own.strip_prefix("row ").or_else(|| own.strip_prefix("line ")) {
        let (number, rest) = text::small(rest)?;
        return (rest.starts_with([':', ',']) && number > 0).then_some((Some(number), own));
    }
    let (number, rest) = text::small(own)?;
    let row = rest
        .strip_prefix(" | ERROR ")
        .map(|rest| rest.trim_start_matches(['|', ' ', '[', 'x', ']']));
    let said = row.or_else(|| rest.strip_prefix(": "))?.trim();
    (number > 0 && said.contains(' ')).then_some((Some(number), said))
}

#[cfg(test)]
mod tests {
    use super::{continued, row};

    #[test]
    fn a_row_that_failed_is_named_by_its_first_cell() {
        let table = [
            ("\u{2502} dist/app.js \u{2502} 182 kB \u{2502} FAIL \u{2502}", Some("dist/app.js")),
            ("| links | \u{2716} |", Some("links")),
            ("| links | ok |", None),
            ("| FAIL | 3 |", None),
            ("a | FAIL |", None),
        ];
        for (line, name) in table {
            assert_eq!(row(line).map(|row| row.name), name, "{line}");
        }
        assert_eq!(continued("   |       | and more"), Some("and more"));
        assert_eq!(continued(" 3 | ERROR | text"), None);
    }
}
