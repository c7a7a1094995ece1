//! How much of an agent's words has been heard. Some clients tell everything since the prompt at
//! every stop: only what is new counts. The words themselves are not kept.

use serde::{Deserialize, Serialize};

use crate::call::Fingerprint;

/// Words that were heard, by length and identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeardSoFar {
    bytes: usize,
    words: Fingerprint,
}

impl HeardSoFar {
    /// These words were heard.
    pub fn of(said: &str) -> Self {
        Self { bytes: said.len(), words: Fingerprint::of_text(said) }
    }

    /// What is new in these words: all of it, unless they begin with what was heard.
    pub fn new_in(self, said: &str) -> &str {
        let Some((before, new)) = said.split_at_checked(self.bytes) else { return said };
        if self == Self::of(before) { new } else { said }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_follows_the_same_words_is_new() {
        let heard = HeardSoFar::of("grün ");
        for (said, new) in
            [("grün und rot", "und rot"), ("grün ", ""), ("blau ", "blau "), ("gr", "gr"), ("", "")]
        {
            assert_eq!(heard.new_in(said), new);
        }
        assert_eq!(HeardSoFar::default().new_in("all"), "all");
        // A cut inside a character is no beginning.
        assert_eq!(HeardSoFar::of("gr\u{303}").new_in("grü"), "grü");
    }
}
