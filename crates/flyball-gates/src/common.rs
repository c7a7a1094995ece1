//! A prefix nobody knows: what nearly all lines begin with, numbers aside.

use crate::prefix::is_word;

/// How much of a line is looked at.
const BYTES_MAX: usize = 96;
/// Fewer lines than these may begin alike by chance.
const LINES_MIN: usize = 8;
/// Fewer blanks than these before all lines are a tool's own.
const INDENT_MIN: usize = 4;

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

    /// Blanks before all lines, more than tools have before all of theirs.
    pub(crate) fn indented(lines: &[&str]) -> Option<Self> {
        let words = || lines.iter().filter(|line| !line.trim().is_empty());
        let blanks = |line: &&&str| line.bytes().take_while(|byte| *byte == b' ').count();
        let least = words().map(|line| blanks(&line)).min()?;
        let first = words().next().map(|line| blanks(&line))?;
        let rests: Vec<&str> = lines.iter().map(|line| line.get(least..).unwrap_or("")).collect();
        let is_passed_on = least >= INDENT_MIN && first == least && words().count() >= LINES_MIN;
        (is_passed_on && is_layout(&rests)).then(|| Self(vec![b' '; least]))
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
        // Unless a key follows whose value is the line: `level=info msg=text`.
        let key = pattern.get(..length)?.iter().rposition(|byte| *byte == b'=');
        let end = key.filter(|key| *key > last && is_keyed(&pattern, last)).unwrap_or(end);
        let common = Self(pattern.get(..=end)?.to_vec());
        let rests: Vec<&str> = lines.iter().filter_map(|line| common.strip(line)).collect();
        (common.has_name() && is_layout(&rests)).then_some(common)
    }

    /// The line without it.
    pub(crate) fn strip<'a>(&self, line: &'a str) -> Option<&'a str> {
        // By bytes, since letters of any alphabet may be in it.
        let mut rest = line.as_bytes();
        for (at, byte) in self.0.iter().enumerate() {
            if *byte == b'0' {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                rest = rest.get(digits..).filter(|_| digits > 0)?;
            } else if rest.is_empty() && self.0.get(at..)?.iter().all(|byte| *byte == b' ') {
                // An empty line lost its blanks at the end.
                return Some("");
            } else {
                rest = rest.split_first().filter(|(first, _)| *first == byte)?.1;
            }
        }
        line.get(line.len().saturating_sub(rest.len())..)
    }

    /// What tells its lines from those of others.
    pub(crate) fn name(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
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

/// Whether keys with values stand before this blank as well.
fn is_keyed(pattern: &[u8], last: usize) -> bool {
    pattern.get(..last).is_some_and(|before| memchr::memchr(b'=', before).is_some())
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
        let common = Common::of(&lines, 0).or_else(|| Common::indented(&lines))?;
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
            "    ",
            "\u{1f9ea} unit | ",
            "level=info job=unit msg=",
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
