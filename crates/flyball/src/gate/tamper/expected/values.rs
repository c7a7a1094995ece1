//! The values a piece of code names, and how strictly it compares.

use std::collections::BTreeMap;

use crate::gate::tamper::source::words;

/// Words that are values.
const NAMED: [&str; 8] = ["true", "false", "null", "none", "nil", "undefined", "nan", "infinity"];
/// Words that compare for sameness.
const STRICT: [&str; 34] = [
    "assertEqual",
    "assertEquals",
    "assertSame",
    "assertIs",
    "assertTrue",
    "assertFalse",
    "assertListEqual",
    "assertDictEqual",
    "assertArrayEquals",
    "assert_eq",
    "assert_equal",
    "assert_same",
    "prop_assert_eq",
    "strictEqual",
    "deepStrictEqual",
    "deepEqual",
    "equal",
    "equals",
    "eql",
    "eq",
    "same",
    "toBe",
    "toEqual",
    "toStrictEqual",
    "toBeNull",
    "must_equal",
    "isEqualTo",
    "Equal",
    "EqualValues",
    "ASSERT_EQ",
    "EXPECT_EQ",
    "ASSERT_STREQ",
    "EXPECT_STREQ",
    "XCTAssertEqual",
];
/// Words that are content with less.
const LOOSE: [&str; 44] = [
    "assertIsNotNone",
    "assertIsInstance",
    "assertNotEqual",
    "assertNotNull",
    "assertNotEquals",
    "assertIn",
    "assertGreater",
    "assertGreaterEqual",
    "assertLess",
    "assertLessEqual",
    "assertAlmostEqual",
    "assertRegex",
    "assert_ne",
    "assert_not_nil",
    "assert_not_equal",
    "assert_kind_of",
    "assert_instance_of",
    "assert_includes",
    "assert_in_delta",
    "refute_nil",
    "refute_equal",
    "refute_empty",
    "notEqual",
    "notStrictEqual",
    "notDeepEqual",
    "toBeDefined",
    "toBeTruthy",
    "toBeFalsy",
    "toBeCloseTo",
    "toBeGreaterThan",
    "toBeGreaterThanOrEqual",
    "toBeLessThan",
    "toBeLessThanOrEqual",
    "toBeInstanceOf",
    "toContain",
    "toMatch",
    "toMatchObject",
    "isinstance",
    "typeof",
    "instanceof",
    "approx",
    "NotNil",
    "NotEmpty",
    "Contains",
];

/// Each value with how often it stands there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Values(BTreeMap<String, usize>);

impl Values {
    pub(super) fn of(code: &str) -> Self {
        let mut this = Self::default();
        let mut rest = code;
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' | '\'' | '`' => quoted(rest, first),
                c if c.is_ascii_digit() && !before.is_alphanumeric() && before != '_' => {
                    number(rest)
                }
                c if c.is_alphabetic() || c == '_' => {
                    let word = words(rest).next().map_or("", |(_, word)| word);
                    if NAMED.contains(&word.to_ascii_lowercase().as_str()) {
                        this.add(&word.to_ascii_lowercase());
                    }
                    before = word.chars().next_back().unwrap_or(c);
                    rest = rest.get(word.len().max(c.len_utf8())..).unwrap_or("");
                    continue;
                }
                c => {
                    // A sign belongs to its number where nothing is taken away from.
                    let digit = rest.get(1..).and_then(|rest| rest.chars().next());
                    let minus = c == '-'
                        && digit.is_some_and(|c| c.is_ascii_digit())
                        && !before.is_alphanumeric()
                        && !")]_".contains(before);
                    if minus { number(rest.get(1..).unwrap_or("")).saturating_add(1) } else { 0 }
                }
            };
            if length == 0 {
                if !first.is_whitespace() {
                    before = first;
                }
                rest = rest.get(first.len_utf8()..).unwrap_or("");
                continue;
            }
            this.add(rest.get(..length).unwrap_or("").trim_matches(['"', '\'', '`']));
            before = '0';
            rest = rest.get(length..).unwrap_or("");
        }
        this
    }

    fn add(&mut self, value: &str) {
        let count = self.0.entry(value.to_owned()).or_default();
        *count = count.saturating_add(1);
    }

    /// What is here more often than there.
    pub(super) fn without(&self, other: &Self) -> Self {
        let left = self.0.iter().filter_map(|(value, count)| {
            let more = count.saturating_sub(other.0.get(value).copied().unwrap_or(0));
            (more > 0).then(|| (value.clone(), more))
        });
        Self(left.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How long the string is that begins here; one that does not end on its line is none.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if quote != '`' => return 0,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at.saturating_add(1),
            _ => {}
        }
    }
    0
}

/// How long the number is that begins here.
fn number(text: &str) -> usize {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let exponent = matches!(c, '-' | '+') && matches!(before, 'e' | 'E');
        if !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_') || exponent) {
            return at;
        }
        before = c;
    }
    text.len()
}

/// How often something is compared for sameness, and how often with less.
pub(super) fn strictness(code: &str) -> (usize, usize) {
    let count = |list: &[&str]| words(code).filter(|(_, word)| list.contains(word)).count();
    let signs = |sign: &str| code.matches(sign).count();
    // In a check that fails under a condition, `!=` is the strict one.
    let same = signs("==").saturating_sub(signs("===")).saturating_add(signs("!="));
    let arrows = signs("=>").saturating_add(signs("->")).saturating_add(signs("<="));
    let order = code.matches(['<', '>']).count().saturating_sub(arrows).saturating_add(signs("<="));
    let within = words(code).filter(|(_, word)| *word == "in").count();
    let loops = words(code).filter(|(_, word)| *word == "for").count();
    (
        count(&STRICT).saturating_add(same),
        count(&LOOSE).saturating_add(order).saturating_add(within.saturating_sub(loops)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(code: &str) -> Vec<String> {
        Values::of(code).0.into_keys().collect()
    }

    #[test]
    fn values_are_numbers_strings_and_a_few_words() {
        for (code, expected) in [
            ("f(1, x2) == 'a b'", vec!["1", "a b"]),
            ("abs(x - 1) < 1e-9", vec!["1", "1e-9"]),
            ("g(-3) - 4", vec!["-3", "4"]),
            ("assert f() is None or True", vec!["none", "true"]),
            ("it's\nx = 5", vec!["5"]),
            ("", vec![]),
        ] {
            assert_eq!(values(code), expected, "{code}");
        }
    }

    #[test]
    fn what_is_content_with_less_is_told_apart() {
        for (strict, loose) in [
            ("assert_eq!(f(), 1)", "assert!(f() <= 1)"),
            ("assert f() == 1", "assert f() in (0, 1)"),
            ("if f() != 1 {", "if f() > 1 {"),
            ("expect(f()).toBe(1)", "expect(f()).toBeDefined()"),
        ] {
            let (was, is) = (strictness(strict), strictness(loose));
            assert!(was.0 > is.0 && was.1 < is.1, "{strict} {was:?} {loose} {is:?}");
        }
    }
}
