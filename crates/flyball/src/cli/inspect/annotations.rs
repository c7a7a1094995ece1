//! Annotations for continuous integration: workflow commands of GitHub Actions.

use std::path::Path;

use flyball_core::guard::Rung;
use flyball_core::hindsight::Loop;

use crate::inspect::{Listed, Overview};
use crate::view::words;

/// GitHub shows ten of each kind for a step; more would hide the first.
const SHOWN_MAX: usize = 10;

/// One line for each of the worst loops.
pub(super) fn github(overview: &Overview, here: &Path) -> String {
    let loops =
        overview.worst().flat_map(|one| one.session.judged.loops.iter().map(move |it| (one, it)));
    loops.take(SHOWN_MAX).filter_map(|(one, it)| command(one, it, here)).collect()
}

fn command(one: &Listed, it: &Loop, here: &Path) -> Option<String> {
    let (kind, reached) = match it.highest() {
        Rung::Halt => ("error", it.halt.as_ref()?),
        Rung::Refuse => ("warning", it.refuse.as_ref()?),
        Rung::Pass | Rung::Nudge | Rung::Redirect | Rung::Ask => ("notice", it.nudge.as_ref()?),
    };
    let path = one.path.strip_prefix(here).unwrap_or(&one.path).to_string_lossy();
    let title = format!("flyball would have {} at step {}", past(it.highest()), reached.step + 1);
    let waste = it.waste();
    let message = format!(
        "{}: {}. {} of the same loop came after the first nudge.",
        it.kind.words(),
        words::line(&reached.evidence, 300),
        words::counted(usize::try_from(waste.calls).unwrap_or(usize::MAX), "call"),
    );
    Some(format!(
        "::{kind} file={},line={},title={}::{}\n",
        property(&path),
        reached.record,
        property(&title),
        data(&message)
    ))
}

const fn past(rung: Rung) -> &'static str {
    match rung {
        Rung::Halt => "ended the session",
        Rung::Refuse => "refused a call",
        Rung::Pass | Rung::Nudge | Rung::Redirect | Rung::Ask => "nudged",
    }
}

/// A message: nothing in it begins another command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property: what separates properties is escaped, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_begins_another_command() {
        assert_eq!(data("a\n::error::b 100%"), "a%0A::error::b 100%25");
        assert_eq!(property("a:b,c\r"), "a%3Ab%2Cc%0D");
    }
}
