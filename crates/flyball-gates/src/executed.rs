//! Which tests ran at all: what tells a suite that passes from a suite that was emptied.

use alloc::collections::BTreeSet;
#[cfg(not(feature = "read"))]
use alloc::string::String;
#[cfg(not(feature = "read"))]
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// The tests one runner executed, as far as its output tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// The runner.
    pub runner: String,
    /// How many tests passed or failed.
    pub ran: u64,
    /// How many were skipped, ignored or left to do.
    #[serde(default)]
    pub skipped: u64,
    /// The names of tests that ran, where the runner prints them; at most [`Executed::NAMES_MAX`].
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub names: BTreeSet<String>,
    /// How many names were seen and not kept.
    #[serde(default)]
    pub names_left_out: u64,
}

/// What is missing in a later execution of the same runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fewer {
    /// How many ran before.
    pub before: u64,
    /// How many ran now.
    pub now: u64,
    /// The names that ran before and did not run now, where both told all their names.
    pub gone: Vec<String>,
}

impl Executed {
    /// How many names are kept.
    pub const NAMES_MAX: usize = 500;

    /// Whether the names of all tests that ran are there.
    pub fn has_all_names(&self) -> bool {
        self.names_left_out == 0 && self.names.len() as u64 >= self.ran && self.ran > 0
    }

    /// What ran before and no longer runs: fewer tests, or others than before.
    pub fn fewer_than(&self, before: &Self) -> Option<Fewer> {
        let complete = self.has_all_names() && before.has_all_names();
        let gone: Vec<String> = if complete {
            before.names.difference(&self.names).cloned().collect()
        } else {
            Vec::new()
        };
        let is_less = self.ran < before.ran || !gone.is_empty();
        is_less.then_some(Fewer { before: before.ran, now: self.ran, gone })
    }

    /// Whether further names can only be counted.
    #[cfg(feature = "read")]
    pub(crate) fn is_full(&self) -> bool {
        self.names.len() >= Self::NAMES_MAX
    }

    /// Adds a name while there is room.
    #[cfg(feature = "read")]
    pub(crate) fn add(&mut self, name: &str) {
        if self.is_full() {
            self.names_left_out = self.names_left_out.saturating_add(1);
        } else if !self.names.contains(name) {
            self.names.insert(name.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned as _;

    use super::*;

    fn executed(ran: u64, names: &[&str]) -> Executed {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Executed { runner: "r".to_owned(), ran, names, ..Executed::default() }
    }

    #[test]
    fn fewer_tests_are_told_by_number_and_by_name_where_all_are_known() {
        let before = executed(3, &["a", "b", "c"]);
        assert_eq!(executed(3, &["a", "b", "c"]).fewer_than(&before), None);
        assert_eq!(executed(4, &["a", "b", "c", "d"]).fewer_than(&before), None);
        let fewer = executed(3, &["a", "b", "d"]).fewer_than(&before).map(|fewer| fewer.gone);
        assert_eq!(fewer, Some([String::from("c")].to_vec()));
        let fewer = executed(2, &[]).fewer_than(&before);
        assert_eq!(fewer, Some(Fewer { before: 3, now: 2, gone: Vec::new() }));
        // One name stands for several tests: nothing is known about the others.
        assert_eq!(executed(3, &["a"]).fewer_than(&before), None);
    }
}
