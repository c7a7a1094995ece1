//! An earlier session, found by its name and printed as it was.

use std::path::Path;
use std::process::ExitCode;

use flyball_core::call::ToolOutcome;
use flyball_models::{Arguments, Block};

use crate::error::CliError;
use crate::journal::{ConversationRow, Journal, state_dir};
use crate::session::conversation::{Ending, Entry};
use crate::terminal;
use crate::view::words;

/// Characters shown of a call's arguments.
const ARGUMENTS_MAX: usize = 200;
/// How many sessions are looked through.
const LOOKED_THROUGH: u32 = 500;

/// The session meant: of this name or with this in its name, or the latest one here.
pub(super) fn find(
    journal: &Journal,
    wanted: &str,
    root: &Path,
) -> Result<ConversationRow, CliError> {
    if wanted.is_empty() {
        return journal.conversation(None, root)?.ok_or_else(|| {
            CliError::no_input(format!("there is no session of `{}` yet", root.display()))
                .hint("flyball session \"TASK\" begins one")
        });
    }
    if let Some(found) = journal.conversation(Some(wanted), root)? {
        return Ok(found);
    }
    let mut fits = journal.conversations(LOOKED_THROUGH)?;
    fits.retain(|row| row.id.contains(wanted));
    match fits.len() {
        1 => fits.pop().ok_or_else(|| CliError::internal("a session was lost")),
        0 => Err(CliError::no_input(format!("there is no session `{wanted}`"))
            .hint("`flyball session --show` shows the latest one here")),
        several => {
            let some: Vec<&str> = fits.iter().take(5).map(|row| row.id.as_str()).collect();
            Err(CliError::no_input(format!("`{wanted}` is part of {several} names"))
                .hint(format!("one of {}", some.join(", "))))
        }
    }
}

/// Prints a session.
pub(super) fn show(wanted: &str, dir: &Path) -> Result<ExitCode, CliError> {
    let journal = Journal::open(&state_dir()?)?;
    let root = crate::worktree::Worktree::open(dir)
        .map_or_else(|_| dir.to_path_buf(), |worktree| worktree.root().to_path_buf());
    let row = find(&journal, wanted, &root)?;
    terminal::write_out(&format!("session {}: {} in {}\n", row.id, row.model, row.root.display()))?;
    let mut written = Ok(());
    journal.conversation_entries(&row.id, |entry| {
        let Ok(told) = serde_json::from_str::<Entry>(&entry.body) else { return };
        let agent =
            if entry.agent.is_empty() { String::new() } else { format!(" {}", entry.agent) };
        if let (Some(text), true) = (text(&told), written.is_ok()) {
            written = terminal::write_out(&format!("{}{agent} {text}\n", words::time(entry.at)));
        }
    })?;
    written.map(|()| ExitCode::SUCCESS)
}

/// An entry, for people; none where there is nothing to see.
fn text(entry: &Entry) -> Option<String> {
    Some(match entry {
        Entry::Asked { text } => format!("human: {text}"),
        Entry::Advised { text } | Entry::SentBack { text } | Entry::Stalled { text } => {
            format!("flyball: {text}")
        }
        Entry::Answered { message, .. } => {
            let said = message.blocks.iter().filter_map(|block| match block {
                Block::Text(text) => Some(text.text.trim_end().to_owned()),
                Block::Call(call) => {
                    let args = match &call.arguments {
                        Arguments::Json(args) => args.to_string(),
                        Arguments::Invalid { text, .. } => text.clone(),
                    };
                    Some(format!("● {} {}", call.name, words::line(&args, ARGUMENTS_MAX)))
                }
                Block::Thought(_) | Block::Result(_) => None,
            });
            let said: Vec<String> = said.collect();
            format!("model: {}", said.join("\n"))
        }
        Entry::Returned { outcome: ToolOutcome::Refused, text, .. } => format!("not made: {text}"),
        Entry::Returned { text, .. } => format!("result: {text}"),
        Entry::Compacted { messages, summary } => {
            format!("flyball: {messages} messages became a summary:\n{summary}")
        }
        Entry::Began { .. } | Entry::Rested => return None,
        Entry::Interrupted => "human: ended the turn".to_owned(),
        Entry::Resumed => "flyball: taken up again".to_owned(),
        Entry::Ended { ending } => match ending {
            Ending::Finished => "finished".to_owned(),
            Ending::Halted { outcome, why } => format!("stopped: {} ({why})", outcome.as_str()),
            Ending::Failed { why } => format!("the model cannot be used: {why}"),
            Ending::Left => "interrupted".to_owned(),
        },
    })
}
