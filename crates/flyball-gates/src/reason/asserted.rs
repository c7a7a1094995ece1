//! What `assert` of C and C++ says before it aborts: it is the reason, and the signal only follows.

use crate::{Finding, FindingKind};

/// The first assertion that did not hold.
pub(super) fn asserted(lines: &[(u64, &str)]) -> Option<(u64, Finding)> {
    lines.iter().find_map(|(number, line)| Some((*number, read(line.trim())?)))
}

fn read(line: &str) -> Option<Finding> {
    let (message, file, row) = glibc(line).or_else(|| others(line))?;
    let row: u32 = row.parse().ok()?;
    Some(Finding::new(FindingKind::Test, message).with_excerpt(line).at(file, row, None))
}

/// ``t: test.c:4: main: Assertion `f() == 1' failed.``
fn glibc(line: &str) -> Option<(&str, &str, &str)> {
    let at = line.find(": Assertion `").filter(|_| line.ends_with("' failed."))?;
    let (head, message) = (line.get(..at)?, line.get(at.checked_add(2)?..)?);
    let (file, row) = head.split(": ").find_map(|part| {
        let (file, row) = part.rsplit_once(':')?;
        (!row.is_empty() && row.bytes().all(|byte| byte.is_ascii_digit())).then_some((file, row))
    })?;
    Some((message, file, row))
}

/// `Assertion failed: f() == 1 (test.c: main: 4)`, `Assertion failed: (f() == 1), function main, file
/// test.c, line 4.`
fn others(line: &str) -> Option<(&str, &str, &str)> {
    let at = line.find("Assertion failed: ").filter(|at| *at == 0 || line.contains(", file "))?;
    let said = line.get(at..)?;
    if let Some((message, place)) = said.rsplit_once(", file ") {
        let message = message.split(", function ").next().unwrap_or(message);
        let (file, row) = place.trim_end_matches('.').rsplit_once(", line ")?;
        return Some((message, file, row));
    }
    let (message, place) = said.strip_suffix(')')?.rsplit_once(" (")?;
    let (rest, row) = place.rsplit_once(": ")?;
    Some((message, rest.split(": ").next()?, row))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn every_library_says_it_in_its_way() {
        for (line, message, file, row) in [
            (
                "t: test.c:4: main: Assertion `f() == 1' failed.",
                "Assertion `f() == 1' failed.",
                "test.c",
                4,
            ),
            (
                "build/t: ../src/a.cpp:12: int g(std::map<int, int>): Assertion `x[\": \"] == 1' failed.",
                "Assertion `x[\": \"] == 1' failed.",
                "../src/a.cpp",
                12,
            ),
            (
                "Assertion failed: f() == 1 (test.c: main: 4)",
                "Assertion failed: f() == 1",
                "test.c",
                4,
            ),
            (
                "Assertion failed: (f() == 1), function main, file test.c, line 4.",
                "Assertion failed: (f() == 1)",
                "test.c",
                4,
            ),
        ] {
            let found = read(line).unwrap();
            assert_eq!(found.message, message);
            assert_eq!((found.file.as_deref(), found.line), (Some(file), Some(row)), "{line}");
        }
        for line in ["Assertion failed: no", "an Assertion `x' failed.", "Assertion failed: x (y)"]
        {
            assert!(read(line).is_none(), "{line}");
        }
    }
}
