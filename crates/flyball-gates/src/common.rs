//! A prefix nobody knows: what nearly all lines begin with, numbers aside.

use crate::prefix::is_word;

/// How much of a line is looked at.
const BYTES_MAX: usize = 96;
/// Fewer lines than these may begin alike by chance.
const LINES_MIN: usize = 8;

/// What lines begin with; a `0` stands for any number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Common(Vec<u8>);

impl Common {
    /// The beginning that all of these lines share but one in twenty, if somebody put it there.
    /// Behind another prefix that may be how grave a line is.
    pub(crate) fn of(lines: &[&str], depth: usize) -> Option<Self> {
        if depth > 0
            && let Some(level) = Self::level(lines)
        {
            return Some(level);
        }
        if lines.len() < LINES_MIN {
            return None;
        }
        let indented: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix('\t')).collect();
        if indented.len() == lines.len() && is_layout(&indented) {
            return Some(Self(b"\t".to_vec()));
        }
        // One of the lines may be a stranger; not both of these.
        let bases = [lines.first()?, lines.get(lines.len() / 2)?];
        bases.into_iter().find_map(|base| Self::like(base, lines))
    }

    /// `INFO - `, where all lines have it.
    fn level(lines: &[&str]) -> Option<Self> {
        let levels = ["INFO", "DEBUG", "NOTICE", "TRACE", "info", "debug"];
        let marks = [" - ", " | ", ": ", "  ", " "];
        let first = lines.first().filter(|_| lines.len() > 3)?;
        let level = levels.iter().find(|level| first.starts_with(*level))?;
        let rest = first.get(level.len()..)?;
        let marks = marks.iter().filter(|mark| rest.starts_with(*mark) || rest == mark.trim_end());
        let mut all = marks.map(|mark| Self(format!("{level}{mark}").into_bytes()));
        all.find(|common| lines.iter().all(|line| common.strip(line).is_some()))
    }

    fn like(base: &str, lines: &[&str]) -> Option<Self> {
        let pattern = pattern(base);
        let mut shared: Vec<usize> = lines.iter().map(|line| same(&pattern, line)).collect();
        shared.sort_unstable();
        let length = *shared.get(lines.len() / 20)?;
        // A prefix ends with a blank; further ones belong to the line.
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let last = pattern.get(..length)?.iter().rposition(is_blank)?;
        let end = pattern.get(..last)?.iter().rposition(|byte| !is_blank(byte))? + 1;
        let common = Self(pattern.get(..=end)?.to_vec());
        let rests: Vec<&str> = lines.iter().filter_map(|line| common.strip(line)).collect();
        (common.has_name() && is_layout(&rests)).then_some(common)
    }

    /// The line without it.
    pub(crate) fn strip<'a>(&self, line: &'a str) -> Option<&'a str> {
        let mut rest = line;
        for (at, byte) in self.0.iter().enumerate() {
            if *byte == b'0' {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                rest = rest.get(digits..).filter(|_| digits > 0)?;
            } else if rest.is_empty() && self.0.get(at..)?.iter().all(|byte| *byte == b' ') {
                // An empty line lost its blanks at the end.
                return Some(rest);
            } else {
                let (first, after) = rest.split_at_checked(1)?;
                rest = (first.as_bytes() == [*byte]).then_some(after)?;
            }
        }
        Some(rest)
    }

    /// Whether it names somebody or tells the time, which no tool does before each of its lines.
    fn has_name(&self) -> bool {
        let words = self.0.split(|byte| !byte.is_ascii_alphabetic());
        let words = words.filter_map(|word| std::str::from_utf8(word).ok());
        let is_named = words.filter(|word| word.len() > 1).any(|word| !is_word(word));
        // A row of marks is nobody's, and no tool puts one before each of its lines.
        let marks = self.0.iter().filter(|byte| byte.is_ascii_punctuation()).count();
        let numbers = memchr::memchr_iter(b'0', &self.0).count();
        is_named || numbers >= 3 || (marks >= 3 && marks + 1 == self.0.len())
    }
}

/// Who passes lines on keeps their blanks and empty lines; who writes lines does not.
fn is_layout(rests: &[&str]) -> bool {
    let empty = rests.iter().filter(|rest| rest.trim().is_empty()).count();
    let indented = rests.iter().filter(|rest| rest.starts_with([' ', '\t'])).count();
    let plain = rests.iter().filter(|rest| rest.starts_with(|c: char| !c.is_whitespace())).count();
    plain >= 1 && (empty >= 1 || indented >= 3)
}

fn pattern(line: &str) -> Vec<u8> {
    let mut pattern = Vec::new();
    for byte in line.bytes().take(BYTES_MAX) {
        if !byte.is_ascii_digit() {
            pattern.push(byte);
        } else if pattern.last() != Some(&b'0') {
            pattern.push(b'0');
        }
    }
    pattern
}

/// How many bytes of the pattern the line begins with. A line that ends where others go on with a
/// blank has that blank as well.
fn same(wanted: &[u8], line: &str) -> usize {
    let mut own = pattern(line);
    own.push(b' ');
    wanted.iter().zip(&own).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::Common;

    fn common(prefix: &str, lines: &str) -> Option<Vec<String>> {
        let lines: Vec<String> = lines.lines().map(|line| format!("{prefix}{line}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let common = Common::of(&lines, 0)?;
        Some(lines.iter().filter_map(|line| common.strip(line)).map(str::to_owned).collect())
    }

    const LINES: &str = "one\n  two\n\nthree\nfour 4\n    five\nsix\nseven\neight\n";

    #[test]
    fn what_all_lines_begin_with_is_taken_off() {
        let plain: Vec<String> = LINES.lines().map(str::to_owned).collect();
        for prefix in [
            "[cargo-make] INFO - ",
            "12:30:01.123 +0000 INFO ",
            "<worker 3> ",
            "ci$7:\t",
            "~~~ ",
            "\t",
        ] {
            assert_eq!(common(prefix, LINES).as_deref(), Some(&*plain), "{prefix}");
        }
    }

    #[test]
    fn what_tools_print_themselves_stays() {
        for prefix in ["[INFO] ", "npm error ", "3: ", "E ", "> ", "INTERNALERROR> "] {
            assert_eq!(common(prefix, LINES), None, "{prefix}");
        }
        let tests = "one ... ok\ntwo ... ok\nthree ... ok\nfour ... ok\nfive ... ok\nsix ... ok\n\
                     seven ... ok\neight ... ok\n";
        assert_eq!(common("test area::", tests), None);
        assert_eq!(common("", LINES), None);
    }
}
