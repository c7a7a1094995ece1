//! A client that repeats what flyball has just told it: known again, and folded.

use std::collections::VecDeque;

/// How many messages are remembered, and how many lines of each.
const MESSAGES: usize = 8;
const LINES: usize = 40;
/// A line below so many characters may be anybody's.
const LEAST: usize = 16;

/// What the agent was told last.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    told: VecDeque<Told>,
}

#[derive(Debug)]
struct Told {
    lines: Vec<String>,
    /// Whether a repetition of it was mentioned.
    is_mentioned: bool,
}

/// What a line of the client's is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Its own.
    New,
    /// A repetition of what it was told, for the first time.
    Repeated,
    /// More of it.
    Again,
}

impl Echoes {
    /// The agent is told this.
    pub(super) fn tell(&mut self, message: &str) {
        let lines: Vec<String> =
            message.lines().map(normal).filter(|line| line.len() >= LEAST).take(LINES).collect();
        if lines.is_empty() {
            return;
        }
        if self.told.len() == MESSAGES {
            self.told.pop_front();
        }
        self.told.push_back(Told { lines, is_mentioned: false });
    }

    /// Whether a line holds what was told, whatever the client puts around it.
    pub(super) fn hear(&mut self, line: &str) -> Heard {
        if self.told.is_empty() {
            return Heard::New;
        }
        let line = normal(line);
        if line.len() < LEAST {
            return Heard::New;
        }
        let repeats = |told: &&mut Told| {
            told.lines.iter().any(|one| line.contains(one.as_str()) || one.contains(&line))
        };
        let Some(told) = self.told.iter_mut().rev().find(repeats) else { return Heard::New };
        let was_mentioned = std::mem::replace(&mut told.is_mentioned, true);
        if was_mentioned { Heard::Again } else { Heard::Repeated }
    }
}

/// Without colours, quotes' escapes and more than one blank.
fn normal(line: &str) -> String {
    let plain = super::words::lines(line).replace("\\\"", "\"").replace("\\n", " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_known_again_and_nothing_else() {
        let mut echoes = Echoes::default();
        let message = "tool 'Bash' called 6 times consecutively with identical parameters (blocked 1/3)\nTry another way.";
        echoes.tell(message);
        let codex = "ERROR codex_core::tools::router: error=Command blocked by PreToolUse hook: \
            tool 'Bash' called 6 times consecutively with identical parameters (blocked 1/3)";
        assert_eq!(echoes.hear(codex), Heard::Repeated);
        assert_eq!(echoes.hear("Try another way. Command: cat README.md"), Heard::Again);
        assert_eq!(echoes.hear("warning: unused variable"), Heard::New);
        assert_eq!(echoes.hear("way."), Heard::New, "too short to be known");
        echoes.tell("something else is said here");
        assert_eq!(echoes.hear("[hook] something else is said here"), Heard::Repeated);
    }

    #[test]
    fn little_is_remembered() {
        let mut echoes = Echoes::default();
        for number in 0..100 {
            echoes.tell(&format!("message number {number} of very many\n").repeat(200));
        }
        assert!(
            echoes.told.len() == MESSAGES && echoes.told.iter().all(|t| t.lines.len() <= LINES)
        );
        assert_eq!(echoes.hear("message number 1 of very many"), Heard::New);
    }
}
