//! Words over as many rows as they need: after a lead, or in the last column of a table.

use super::cells::{hang, last_column, width};

/// The width that fits every terminal somebody works in.
const WIDTH: usize = 60;

/// Words after a lead; rows after the first begin below the words. A word is never cut.
pub fn wrapped(lead: &str, text: &str) -> String {
    let indent = width(lead);
    let (mut out, mut column, mut is_first) = (lead.to_owned(), indent, true);
    for word in text.split_whitespace() {
        let length = width(word);
        if !is_first && column + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if !is_first {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
        is_first = false;
    }
    out.push('\n');
    out
}

/// The least a last column must hold to be worth keeping.
const COLUMN_LEAST: usize = 24;
/// How far in a row goes on that has no such column.
const FURTHER: usize = 2;

/// Lines in a terminal of this width: one that is too wide goes on below its last column, or a little
/// further in. Words alone are broken, so that nothing is cut in the middle by the terminal.
pub fn fitted(text: &str, columns: usize) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if width(line) <= columns || is_command(line) {
            out.push_str(line);
        } else {
            let column = last_column(line);
            let begin = width(line) - width(line.trim_start());
            let is_wide = columns.saturating_sub(column) >= COLUMN_LEAST;
            let indent = if column > begin && is_wide { column } else { begin + FURTHER };
            out.push_str(&hang(line, columns, indent).join("\n"));
        }
        out.push_str(end);
    }
    out
}

/// Whether a line is a command alone, which is copied and so left whole.
fn is_command(line: &str) -> bool {
    let words = line.trim_start();
    line.starts_with(' ') && ["git ", "flyball ", "cd "].iter().any(|word| words.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_below_each_other_and_within_the_width() {
        let text = wrapped("  - ", &"word ".repeat(40));
        assert!(text.lines().all(|line| width(line) <= WIDTH), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("    word")), "{text}");
        assert_eq!(wrapped("x ", "one"), "x one\n");
        let long = "y".repeat(100);
        assert_eq!(wrapped("x ", &long), format!("x {long}\n"), "a word is never cut");
    }

    #[test]
    fn a_line_that_is_too_wide_goes_on_below_its_last_column() {
        let table = "ok    agent  the one that was found and can be started\nok\n";
        let rows = fitted(table, 40);
        assert_eq!(
            rows,
            "ok    agent  the one that was found and\n             can be started\nok\n"
        );
        assert_eq!(fitted(table, 80), table);
        let narrow = fitted(table, 30);
        assert!(narrow.lines().all(|line| width(line) <= 30), "{narrow}");
        let command = "  git -C /a/place/far/away merge --ff-only flyball/x";
        assert_eq!(fitted(command, 20), command, "it is copied");
        assert_eq!(fitted("  one two three four", 12), "  one two\n    three\n    four");
    }
}
