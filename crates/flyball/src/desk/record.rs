//! Acts are written down: who did what through which door, and what came of it.

use flyball_core::RunId;

use crate::clock;
use crate::error::{CliError, ErrorKind};
use crate::journal::{ActResult, Door, Journal, NewAct};
use crate::terminal;

/// Writes down what came of an act, and hands it on. That it cannot be written down undoes nothing.
pub fn recorded<T>(
    journal: &mut Journal,
    (run, act, by): (&RunId, &str, Door),
    body: &serde_json::Value,
    result: Result<T, CliError>,
) -> Result<T, CliError> {
    // The window in the terminal uses the commands, and listens to what they say.
    let by = if by == Door::Cli && terminal::has_listener() { Door::Terminal } else { by };
    let came = match &result {
        Ok(_) => Some(ActResult::Done),
        Err(error) if matches!(error.kind, ErrorKind::NoInput | ErrorKind::AlreadyRunning) => {
            Some(ActResult::TooLate)
        }
        // What was wrongly asked for is no act.
        Err(_) => None,
    };
    if let Some(result) = came {
        let body = body.to_string();
        let act = NewAct { at: clock::wall(), run: run.as_str(), act, by, result, body };
        journal.record_act(&act).ok();
    }
    result
}
