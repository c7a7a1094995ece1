//! Which tests have begun: a result of any other is something a test printed.

use std::collections::HashSet;

use crate::text;

/// How many names are remembered.
const NAMES_MAX: usize = 2_000;

/// The tests of one package that began, those aside that run alone and end at once.
#[derive(Clone, Default)]
pub(super) struct Begun {
    /// Whether tests say at all that they begin, as they do with `-v`.
    pub any: bool,
    names: HashSet<String>,
    /// There were too many: then all may have begun.
    is_full: bool,
}

impl Begun {
    /// A test goes on while others print.
    pub(super) fn leave(&mut self, name: &str) {
        if self.names.len() < NAMES_MAX {
            if !self.names.contains(name) {
                self.names.insert(text::clip(name, 500).to_owned());
            }
        } else {
            self.is_full = true;
        }
    }

    /// Whether this test may have begun.
    pub(super) fn has(&self, name: &str) -> bool {
        self.is_full || self.names.contains(text::clip(name, 500))
    }
}

#[cfg(test)]
mod tests {
    use super::{Begun, NAMES_MAX};

    #[test]
    fn only_those_that_began_are_known_until_there_are_too_many() {
        let mut begun = Begun::default();
        begun.leave("TestA");
        assert!(begun.has("TestA") && !begun.has("TestB"));
        for number in 0..NAMES_MAX {
            begun.leave(&format!("Test{number}"));
        }
        assert!(begun.has("TestB"));
    }
}
