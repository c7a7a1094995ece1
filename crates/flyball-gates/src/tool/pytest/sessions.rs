//! The numbers of all sessions in one output.

use crate::{Counts, text};

/// What the sessions counted: those before, and the one that is read.
#[derive(Clone, Copy, Default)]
pub(super) struct Sessions {
    earlier: Option<Counts>,
    now: Option<Counts>,
}

impl Sessions {
    /// A heading that only comes before the numbers of a session: the next one has begun.
    pub(super) const fn go_on(&mut self) {
        if let Some(now) = self.now.take() {
            self.earlier = Some(match self.earlier {
                Some(earlier) => earlier.and(now),
                None => now,
            });
        }
    }

    /// The numbers of the session that is read. Of several the last count: a test may print such a
    /// line as well.
    pub(super) const fn count(&mut self, counts: Counts) {
        self.now = Some(counts);
    }

    /// All together.
    pub(super) fn total(self) -> Option<Counts> {
        match (self.earlier, self.now) {
            (Some(earlier), Some(now)) => Some(earlier.and(now)),
            (earlier, now) => earlier.or(now),
        }
    }
}

/// Whether this is the last line of `-q`: `1 failed, 2 passed in 0.03s`.
pub(super) fn is_last(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || first == 'n')
        && text.ends_with(['s', ')'])
        && counts(text).is_some()
}

/// The numbers of the last line.
pub(super) fn counts(title: &str) -> Option<Counts> {
    let (list, time) = title.rsplit_once(" in ")?;
    let is_time = text::number(time).is_some_and(|(_, rest)| rest.starts_with('.') || rest == "s");
    if !is_time {
        return None;
    }
    let mut counts = Counts::default();
    let mut known = list.trim() == "no tests ran";
    for (count, word) in text::tally(list) {
        let slot = match word {
            "passed" | "xpassed" => &mut counts.passed,
            "failed" | "error" | "errors" => &mut counts.failed,
            "skipped" | "xfailed" => &mut counts.skipped,
            "deselected" | "warning" | "warnings" | "rerun" | "subtests passed" => {
                known = true;
                continue;
            }
            _ => return None,
        };
        *slot = slot.saturating_add(count);
        known = true;
    }
    known.then_some(counts)
}

#[cfg(test)]
mod tests {
    use crate::{Counts, Parser};

    fn counted(output: &str) -> Option<Counts> {
        let mut parser = Parser::new("make test");
        parser.feed(output.as_bytes());
        parser.finish(Some(1)).counts
    }

    #[test]
    fn the_numbers_of_several_sessions_are_added() {
        let rule = "=".repeat(20);
        let loud = |list: &str| {
            format!("{rule} test session starts {rule}\na.py ..\n{rule} {list} in 0.10s {rule}\n")
        };
        let both = Some(Counts { passed: 5, failed: 1, skipped: 0 });
        assert_eq!(counted(&(loud("2 passed") + &loud("1 failed, 3 passed"))), both);
        assert_eq!(
            counted("..  [100%]\n2 passed in 0.10s\nF...  [100%]\n1 failed, 3 passed in 0.10s\n"),
            both
        );
        // Printed by a test with `-s`.
        let printed = loud("7 passed").replace("a.py ..", "2 passed in 0.10s");
        assert_eq!(counted(&printed), Some(Counts { passed: 7, failed: 0, skipped: 0 }));
    }
}
