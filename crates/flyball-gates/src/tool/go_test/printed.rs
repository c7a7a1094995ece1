//! What tests printed before their result came.

use std::collections::HashMap;

use crate::report::Block;

/// How many tests may have output waiting for their result.
const TESTS_MAX: usize = 2_000;

/// Output by the name of its test.
#[derive(Clone, Default)]
pub(super) struct Printed {
    by_name: HashMap<String, Block>,
    /// The test that printed last, which is nearly always the next to print or to end.
    latest: Option<(String, Block)>,
    /// A name and a block that are done with, to be used again.
    spare: (String, Block),
}

impl Printed {
    /// Whether one more test may have output.
    fn has_room(&self) -> bool {
        self.by_name.len() + usize::from(self.latest.is_some()) < TESTS_MAX
    }

    /// Whether no test has output waiting.
    pub(super) fn is_empty(&self) -> bool {
        self.latest.is_none() && self.by_name.is_empty()
    }

    /// Adds a line to what a test printed.
    pub(super) fn push(&mut self, name: &str, line: &str) {
        if let Some((latest, block)) = &mut self.latest
            && latest == name
        {
            block.push(line);
            return;
        }
        let known = if self.by_name.is_empty() { None } else { self.by_name.remove_entry(name) };
        if known.is_none() && !self.has_room() {
            return;
        }
        let (name, mut block) = known.unwrap_or_else(|| {
            let (mut key, block) = std::mem::take(&mut self.spare);
            name.clone_into(&mut key);
            (key, block)
        });
        block.push(line);
        if let Some((name, block)) = self.latest.replace((name, block)) {
            self.by_name.insert(name, block);
        }
    }

    /// Keeps a block while there is room.
    pub(super) fn insert(&mut self, name: String, block: Block) {
        if self.has_room() {
            self.forget(&name);
            self.by_name.insert(name, block);
        }
    }

    /// Drops what a test printed.
    pub(super) fn forget(&mut self, name: &str) {
        if self.latest.as_ref().is_some_and(|(latest, _)| latest == name) {
            if let Some((name, mut block)) = self.latest.take() {
                block.clear();
                self.spare = (name, block);
            }
        } else if !self.by_name.is_empty() {
            self.by_name.remove(name);
        }
    }

    /// Takes out what a test printed.
    pub(super) fn take(&mut self, name: &str) -> Block {
        if let Some((_, block)) = self.latest.take_if(|(latest, _)| latest == name) {
            return block;
        }
        self.by_name.remove(name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Printed, TESTS_MAX};

    #[test]
    fn every_test_gets_back_what_it_printed_however_they_take_turns() {
        let mut printed = Printed::default();
        for (name, line) in [("a", "1"), ("b", "2"), ("a", "3"), ("c", "4"), ("b", "5")] {
            printed.push(name, line);
        }
        printed.forget("c");
        assert_eq!(printed.take("a").as_str(), "1\n3\n");
        assert_eq!(printed.take("b").as_str(), "2\n5\n");
        assert_eq!(printed.take("c").as_str(), "");
        printed.push("d", "6");
        printed.forget("d");
        printed.push("e", "7");
        assert_eq!(printed.take("e").as_str(), "7\n", "nothing of an earlier test");
    }

    #[test]
    fn only_so_many_tests_may_wait() {
        let mut printed = Printed::default();
        for number in 0..TESTS_MAX + 5 {
            printed.push(&number.to_string(), "x");
        }
        printed.push("0", "y");
        assert_eq!(printed.take("0").as_str(), "x\ny\n");
        assert_eq!(printed.take(&TESTS_MAX.to_string()).as_str(), "");
    }
}
