//! Holding a session: one task to its end, or turn by turn with a human.

use std::process::ExitCode;

use flyball_core::Outcome;
use flyball_core::claim::{Claim, read_structured};

use crate::error::CliError;
use crate::session::SessionLoop;
use crate::session::conversation::Ending;
use crate::session::inbox::Heard;
use crate::terminal;

/// How a session is begun.
pub(super) struct Talk {
    pub(super) task: Option<String>,
    /// Which model it is, in words.
    pub(super) words: String,
    pub(super) has_human: bool,
    pub(super) is_resumed: bool,
}

impl Talk {
    /// Holds it; the code to exit with.
    pub(super) fn hold(&self, session: &mut SessionLoop<'_>) -> Result<ExitCode, CliError> {
        let name = session.record.id().unwrap_or_default().to_owned();
        if !name.is_empty() {
            terminal::write_err(&format!("session {name}: {}\n", self.words));
        }
        if self.is_resumed {
            session.resume()?;
        }
        if self.is_resumed
            && session.conversation.is_empty()
            && !self.has_human
            && self.task.is_none()
        {
            return Err(CliError::no_input(format!("nothing was asked in session `{name}`"))
                .hint(format!("flyball session --resume {name} \"TASK\"")));
        }
        if let Some(task) = &self.task {
            session.tell(task)?;
        } else if !self.is_resumed && !self.has_human {
            return Err(CliError::usage("there is no task, and nobody to talk with")
                .hint("flyball session \"Fix the failing tests\""));
        }
        let mut ended = session.go_on()?;
        if self.has_human && self.task.is_none() {
            ended = talk(session, ended)?;
        }
        session.teller.summed_up();
        Ok(ExitCode::from(code(session, ended.as_ref(), &name)))
    }
}

/// Turn by turn, until somebody has enough.
fn talk(
    session: &mut SessionLoop<'_>,
    mut ended: Option<Ending>,
) -> Result<Option<Ending>, CliError> {
    let mut interrupts = 0;
    while ended.is_none() {
        terminal::write_err("> ");
        match session.inbox.next() {
            Heard::Line(line) if line.trim().is_empty() => {}
            Heard::Line(line) if ["/quit", "/exit"].contains(&line.trim()) => break,
            Heard::Line(line) => {
                interrupts = 0;
                session.inbox.begin_turn();
                session.tell(&line)?;
                ended = session.go_on()?;
            }
            Heard::Interrupt if session.inbox.signal().is_some() => return Ok(Some(Ending::Left)),
            Heard::Interrupt if interrupts == 0 => {
                interrupts += 1;
                terminal::write_err("\n(Ctrl-C once more, or /quit, ends the session)\n");
            }
            Heard::Interrupt | Heard::End => break,
        }
    }
    Ok(ended)
}

/// The exit code, with a word where it is not 0.
fn code(session: &SessionLoop<'_>, ended: Option<&Ending>, name: &str) -> u8 {
    let resume = |text: String| {
        if !name.is_empty() {
            terminal::write_err(&format!("{text}\ngo on with: flyball session --resume {name}\n"));
        }
    };
    match ended {
        None | Some(Ending::Finished) => {
            match read_structured(&session.conversation.last_words()).leading(true) {
                Some(Claim::Blocked { .. }) => Outcome::Blocked.exit_code(),
                Some(Claim::Decide { .. }) => Outcome::Decide.exit_code(),
                Some(Claim::Complete) | None => 0,
            }
        }
        Some(Ending::Halted { outcome, why }) => {
            resume(format!("stopped: {} ({why})", outcome.as_str()));
            outcome.exit_code()
        }
        Some(Ending::Failed { why }) => {
            resume(format!("the model cannot be used: {why}"));
            7
        }
        Some(Ending::Left) => {
            resume("interrupted: everything it had started was ended".to_owned());
            session.inbox.signal().unwrap_or(130)
        }
    }
}
