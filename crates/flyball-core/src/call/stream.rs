//! Lines of a structured stream that are no events (A4): which of them count.

use serde::{Deserialize, Serialize};

/// What came before on a stream. Lines before its first event are a banner and do not count;
/// adjacent bad lines are one failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamLines {
    begun: bool,
    after_bad: bool,
}

impl StreamLines {
    /// A line was an event, known or not.
    pub const fn event(&mut self) {
        (self.begun, self.after_bad) = (true, false);
    }

    /// A line was none: whether that is a validation failure.
    pub const fn bad(&mut self) -> bool {
        let counts = self.begun && !self.after_bad;
        self.after_bad = true;
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banners_do_not_count_and_neighbours_count_once() {
        let mut lines = StreamLines::default();
        let story = "bbebbbebeeb";
        let counted = story.chars().map(|line| {
            if line == 'e' {
                lines.event();
                return '-';
            }
            if lines.bad() { 'X' } else { '.' }
        });
        assert_eq!(counted.collect::<std::string::String>(), "..-X..-X--X");
    }
}
