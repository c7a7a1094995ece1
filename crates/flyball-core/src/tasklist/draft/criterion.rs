//! Whether a criterion of a story can be checked by running something. Words can only be judged by their
//! look: what is plainly a wish is refused, what is unclear is asked about.

/// How a criterion could be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    /// By running something: it names a command, a file, a number, or what can be seen.
    ByRunning,
    /// Perhaps: it names nothing of the kind.
    Perhaps,
    /// By nothing: it is a wish.
    Never,
}

/// What people wish for when they do not say how it would show.
const WISHES: [&str; 22] = [
    "works well",
    "works correctly",
    "works properly",
    "works as expected",
    "works as intended",
    "behaves correctly",
    "user friendly",
    "user-friendly",
    "looks good",
    "looks nice",
    "is clean",
    "clean code",
    "well documented",
    "well tested",
    "well structured",
    "best practices",
    "good quality",
    "high quality",
    "is intuitive",
    "is robust",
    "is maintainable",
    "easy to use",
];

/// What a program can be seen to do.
const SEEN: [&str; 40] = [
    "accepts",
    "answers",
    "appears",
    "appends",
    "builds",
    "compiles",
    "contains",
    "covers",
    "creates",
    "deletes",
    "displays",
    "equals",
    "exists",
    "exits",
    "fails",
    "green",
    "includes",
    "keeps",
    "lists",
    "loads",
    "logs",
    "matches",
    "opens",
    "outputs",
    "parses",
    "passes",
    "prints",
    "raises",
    "reads",
    "redirects",
    "rejects",
    "remains",
    "removes",
    "renders",
    "responds",
    "returns",
    "saves",
    "shows",
    "throws",
    "writes",
];

/// How a criterion could be checked.
pub(super) fn checked(criterion: &str) -> Checked {
    if criterion.split_whitespace().any(is_named) || criterion.contains(['`', '"']) {
        return Checked::ByRunning;
    }
    let lower = criterion.to_lowercase();
    let is_short = lower.split_whitespace().count() < 3;
    if is_short || WISHES.iter().any(|wish| lower.contains(wish)) {
        return Checked::Never;
    }
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    if words.any(|word| SEEN.contains(&word)) { Checked::ByRunning } else { Checked::Perhaps }
}

/// Whether a word names something that can be looked at: a path, a file, a number, a name of the code.
fn is_named(word: &str) -> bool {
    let word = word.trim_matches(|c: char| ".,;:!?()".contains(c));
    let has = |wanted: fn(char) -> bool| word.chars().any(wanted);
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    has(|c| c.is_ascii_digit() || "/_=<>".contains(c))
        || inner.contains('.')
        || inner.contains("::")
        || word.starts_with("--")
        || (word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()))
        || inner
            .chars()
            .zip(inner.chars().skip(1))
            .any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_something_to_look_at_can_be_checked() {
        for (criterion, how) in [
            ("`npm test` exits with 0", Checked::ByRunning),
            ("the suite has 12 more tests", Checked::ByRunning),
            ("src/cart.rs has a function for it", Checked::ByRunning),
            ("a call of addItem without a price is an error", Checked::ByRunning),
            ("POST without a body is an error", Checked::ByRunning),
            ("an empty cart shows nothing at all", Checked::ByRunning),
            ("the cart stays full afterwards", Checked::Perhaps),
            ("the code is clean and good", Checked::Never),
            ("everything works as expected for users", Checked::Never),
            ("nice page", Checked::Never),
            ("", Checked::Never),
        ] {
            assert_eq!(checked(criterion), how, "{criterion}");
        }
    }
}
