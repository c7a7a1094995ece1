//! The tests that pytest names while they run, with `-v`.

/// The node of `tests/a.py::test_x PASSED [ 42%]`.
pub(super) fn passed(line: &[u8]) -> Option<&[u8]> {
    let end = line.strip_suffix(b"%]").and_then(|rest| memchr::memrchr(b'[', rest))?;
    let node = line.get(..end)?.trim_ascii_end().strip_suffix(b" PASSED")?;
    // What may be anything else is looked at more closely.
    let is_plain = |byte: &u8| byte.is_ascii_graphic();
    let is_path = node.first().is_some_and(u8::is_ascii_lowercase) && node.first() != Some(&b'n');
    let has_mark = memchr::memmem::find(node, b"::").is_some();
    (is_path && has_mark && node.iter().all(is_plain)).then_some(node)
}

/// The node of a test that ran: `tests/a.py::test_x FAILED [ 42%]`, and with several workers
/// `[gw0] [ 42%] PASSED tests/a.py::test_x`.
pub(super) fn ran(text: &str) -> Option<&str> {
    const RAN: &[&str] = &["PASSED", "FAILED", "ERROR", "XPASS"];
    if let Some(rest) = text.strip_prefix("[gw") {
        let (_, rest) = rest.split_once("%] ")?;
        let (word, node) = rest.split_once(' ')?;
        return (RAN.contains(&word) && node.contains("::")).then(|| node.trim_end());
    }
    let (head, _) = text.strip_suffix("%]")?.rsplit_once(" [")?;
    let (node, word) = head.trim_end().rsplit_once(' ')?;
    (RAN.contains(&word) && node.contains("::")).then(|| node.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{passed, ran};

    #[test]
    fn tests_are_named_in_both_forms() {
        let table = [
            ("tests/a.py::test_x PASSED                [ 42%]", Some("tests/a.py::test_x")),
            ("tests/a.py::C::test_x[a b] FAILED [100%]", Some("tests/a.py::C::test_x[a b]")),
            ("[gw0] [ 42%] PASSED tests/a.py::test_x ", Some("tests/a.py::test_x")),
            ("tests/a.py::test_x SKIPPED (no) [ 42%]", None),
            ("tests/a.py ..F. [ 42%]", None),
            ("PASSED [ 42%]", None),
        ];
        for (line, node) in table {
            assert_eq!(ran(line), node, "{line}");
            let quick = passed(line.as_bytes());
            assert!(quick.is_none() || quick == node.map(str::as_bytes), "{line}");
        }
    }
}
