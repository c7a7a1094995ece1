//! Small questions about one line of text.

/// At most `chars` characters from the start.
pub(crate) fn clip(text: &str, chars: usize) -> &str {
    if text.len() <= chars {
        return text;
    }
    match text.char_indices().nth(chars) {
        Some((at, _)) => text.get(..at).unwrap_or(text),
        None => text,
    }
}

/// Where `needle` stands in the line. For short words in short lines, of which there are very many:
/// nothing is prepared, one byte is looked for.
pub(crate) fn find(line: &str, needle: &str) -> Option<usize> {
    let (line_bytes, needle) = (line.as_bytes(), needle.as_bytes());
    // A mark is rarer than a letter.
    let rare = needle.iter().position(u8::is_ascii_punctuation).unwrap_or(0);
    let byte = *needle.get(rare)?;
    memchr::memchr_iter(byte, line_bytes).find_map(|at| {
        let start = at.checked_sub(rare)?;
        line_bytes.get(start..)?.starts_with(needle).then_some(start)
    })
}

/// Whether `needle` stands in the line.
pub(crate) fn has(line: &str, needle: &str) -> bool {
    find(line, needle).is_some()
}

/// What stands before and after the first `mark`.
pub(crate) fn split<'a>(line: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let at = find(line, mark)?;
    line.get(..at).zip(line.get(at + mark.len()..))
}

/// How many blanks a line begins with.
pub(crate) fn indent(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// The line without the white space it begins with, which is nearly always plain blanks.
pub(crate) fn trim_start(line: &str) -> &str {
    let rest = line.get(indent(line)..).unwrap_or(line);
    if rest.starts_with(char::is_whitespace) { rest.trim_start() } else { rest }
}

/// The line with at most `blanks` leading blanks taken off.
pub(crate) fn dedent(line: &str, blanks: usize) -> &str {
    let off = indent(line).min(blanks);
    line.get(off..).unwrap_or(line)
}

/// A number at the start, and what follows it.
pub(crate) fn number(text: &str) -> Option<(u64, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(length)?;
    Some((digits.parse().ok()?, rest))
}

/// A line or column number at the start, and what follows it.
pub(crate) fn small(text: &str) -> Option<(u32, &str)> {
    let (value, rest) = number(text)?;
    Some((u32::try_from(value).ok()?, rest))
}

/// The pairs of number and word in a list such as `3 passed, 1 failed | 2 skipped`.
pub(crate) fn tally(text: &str) -> impl Iterator<Item = (u64, &str)> {
    text.split([',', ';', '|', '(', ')']).filter_map(|part| {
        let (count, word) = number(part.trim())?;
        let word = word.strip_prefix(' ')?.trim();
        word.starts_with(|first: char| first.is_ascii_alphabetic()).then_some((count, word))
    })
}

/// The numbers in a list such as `failures=3, errors=1`.
pub(crate) fn assignments(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.split([',', '(', ')']).filter_map(|part| {
        let (name, value) = part.trim().split_once(['=', ':'])?;
        Some((name.trim(), number(value.trim())?.0))
    })
}

/// Whether the line is made of `mark` alone and at least `least` long.
pub(crate) fn is_rule(line: &str, mark: char, least: usize) -> bool {
    let trimmed = line.trim();
    trimmed.len() >= least && trimmed.chars().all(|c| c == mark)
}

/// The text between two marks at the ends of the line, `==== text ====`.
pub(crate) fn in_rule(line: &str, mark: char) -> Option<&str> {
    let trimmed = line.trim_end();
    let (left, right) = match u8::try_from(mark) {
        // Rules are long, and there are many of them.
        Ok(byte) if mark.is_ascii() => {
            let left = trimmed.bytes().take_while(|own| *own == byte).count();
            let inner = trimmed.bytes().skip(left);
            (left, inner.rev().take_while(|own| *own == byte).count())
        }
        _ => {
            let inner = trimmed.trim_start_matches(mark);
            (trimmed.len() - inner.len(), inner.len() - inner.trim_end_matches(mark).len())
        }
    };
    let text = trimmed.get(left..trimmed.len() - right)?;
    let text = text.strip_prefix(' ')?.strip_suffix(' ')?;
    (left >= 2 && right >= 1 && !text.trim().is_empty()).then_some(text.trim())
}

/// The lines without empty ones at either end.
pub(crate) fn trim_lines(text: &str) -> &str {
    text.trim_end().trim_start_matches(['\n', '\r'])
}

#[cfg(test)]
mod tests {
    use super::{assignments, clip, find, in_rule, split, tally};

    #[test]
    fn words_are_found_wherever_they_stand() {
        let line = "a: line 3, col 4 - b: line";
        for needle in ["a", ": line ", " - ", "line", "b: line", "col", ", ", "x", ": line 4"] {
            assert_eq!(find(line, needle), line.find(needle), "{needle}");
            assert_eq!(split(line, needle), line.split_once(needle), "{needle}");
        }
        assert_eq!(find("", "a"), None);
        assert_eq!(find("a", "ab"), None);
    }

    #[test]
    fn numbers_are_read_out_of_summaries() {
        let read: Vec<_> = tally("4 failed | 2 passed | 1 skipped (8)").collect();
        assert_eq!(read, [(4, "failed"), (2, "passed"), (1, "skipped")]);
        let read: Vec<_> = assignments("FAILED (failures=3, expected failures=1)").collect();
        assert_eq!(read, [("failures", 3), ("expected failures", 1)]);
    }

    #[test]
    fn titles_are_read_out_of_rules() {
        assert_eq!(
            in_rule("=== short test summary info ===", '='),
            Some("short test summary info")
        );
        assert_eq!(in_rule("______ test_total _______", '_'), Some("test_total"));
        assert_eq!(in_rule("_ _ _ _ _", '_'), None);
        assert_eq!(in_rule("==========", '='), None);
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clip("äöü", 2), "äö");
        assert_eq!(clip("abc", 3), "abc");
    }
}
