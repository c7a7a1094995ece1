//! Words after a lead, over as many rows as they need.

use super::cells::width;

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
}
