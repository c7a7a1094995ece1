//! Checks that are expected to fail.

use super::Test;

/// What hears of a failure, up to what is done.
const HEARING: [&str; 6] =
    ["throws(()=>", "toThrow(()=>", "assertThrows(", "rejects(()=>", "raises(", "assertRaises("];
/// What any failure of a check is.
const ANY: [&str; 3] = ["Exception", "AssertionError", "BaseException"];
/// What a check begins with.
const STATES: [&str; 3] = ["assert", "expect(", "self.assert"];

/// How often a check is expected to fail: `assert.throws(() => assert…)`, `with raises(Exception):
/// assert …`.
pub(super) fn inverted(test: &Test) -> usize {
    let body: String = test.body.chars().filter(|c| !c.is_whitespace()).collect();
    let mut found = 0_usize;
    for mark in HEARING {
        for (at, _) in body.match_indices(mark) {
            let rest = body.get(at.saturating_add(mark.len())..).unwrap_or("");
            let done = match mark {
                "raises(" | "assertRaises(" => {
                    let of_any = rest.split_once("):").filter(|(what, _)| ANY.contains(what));
                    of_any.map_or("", |(_, rest)| rest)
                }
                "assertThrows(" => rest.split_once("()->").map_or("", |(_, rest)| rest),
                _ => rest,
            };
            let done = done.trim_start_matches('{');
            let states = STATES.iter().any(|begin| done.starts_with(begin));
            found = found.saturating_add(usize::from(states));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::source::Language;
    use super::super::super::tests_of::tests_of;
    use super::*;

    #[test]
    fn a_check_that_must_fail_is_told_from_one_about_failures() {
        for (language, text, expected) in [
            (
                Language::JavaScript,
                "test('a', () => { assert.throws(() => assert.equal(f(), 1)) })",
                1,
            ),
            (Language::JavaScript, "test('a', () => { assert.throws(() => f(), /x/) })", 0),
            (
                Language::Python,
                "def test_a():\n    with pytest.raises(Exception):\n        assert f() == 1\n",
                1,
            ),
            (
                Language::Python,
                "def test_a():\n    with pytest.raises(ValueError):\n        f()\n",
                0,
            ),
        ] {
            assert_eq!(inverted(&tests_of(language, text)[0]), expected, "{text}");
        }
    }
}
