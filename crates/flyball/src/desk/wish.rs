//! What a human wants of a run at work: left in the journal, and waited for until the run has answered.

use std::thread;
use std::time::Duration;

use flyball_core::human::{HumanReply, HumanWish, WORD_MAX};

use super::life::{Life, life};
use crate::clock::{self, Deadline};
use crate::error::CliError;
use crate::journal::{Hurry, Journal, JournalError, Request, RequestKind, RunSummary};
use crate::platform::{self, Signal};
use crate::process;

/// How long a run's answer is waited for; it looks twice a second.
const WAIT_MAX: Duration = Duration::from_secs(15);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Refuses a run that is not at work.
pub fn refuse_ended(run: &RunSummary) -> Result<(), CliError> {
    match life(run) {
        Life::Running => Ok(()),
        Life::Ended => {
            let outcome = run.outcome.as_deref().unwrap_or("unknown");
            let message = format!("run `{}` has ended already: {outcome}", run.run);
            Err(CliError::no_input(message).hint(format!("`flyball log {}`", run.run)))
        }
        Life::Lost => {
            let message = format!("run `{}` is not at work: its process is gone", run.run);
            let command = super::resume_command(&run.run, &run.root, None);
            Err(CliError::no_input(message).hint(format!("to go on with it: `{command}`")))
        }
    }
}

/// Asks a run at work for something, and waits for its answer.
pub fn wish(
    journal: &mut Journal,
    run: &RunSummary,
    wish: &HumanWish,
) -> Result<HumanReply, CliError> {
    refuse_ended(run)?;
    let request = Request::wish(wish, clock::wall())?;
    let number = journal.request(&run.run, &request)?;
    let limit = Deadline::after(WAIT_MAX);
    loop {
        if let Some(reply) = journal.take_reply(number)? {
            return Ok(reply);
        }
        let now = journal.run(&run.run)?;
        if life(&now) != Life::Running {
            // It may have answered with its last breath.
            if let Some(reply) = journal.take_reply(number)? {
                return Ok(reply);
            }
            journal.drop_request(number).ok();
            refuse_ended(&now)?;
        }
        if limit.passed() {
            return Err(CliError::already_running(format!(
                "run `{}` has not answered within {} s; it was left for it",
                run.run,
                WAIT_MAX.as_secs()
            ))
            .hint(format!("`flyball log {}` shows whether it came to that", run.run)));
        }
        thread::sleep(PAUSE);
    }
}

/// A word for an agent: neither empty nor too long.
pub fn word(text: &str) -> Result<String, CliError> {
    let text = text.trim().to_owned();
    if text.is_empty() {
        return Err(CliError::usage("nothing is said, and nobody was told")
            .hint("`flyball tell 'what the agent should know'`"));
    }
    let length = text.chars().count();
    if length > WORD_MAX {
        return Err(CliError::usage(format!(
            "that is {length} characters, and a word in between has {WORD_MAX} at most"
        ))
        .hint("put it into a file of the repository, and tell the agent to read that"));
    }
    Ok(text)
}

/// Asks a run to end; the number of the request, none where a signal said it. A run that was stopped
/// (Ctrl-Z, SIGSTOP) is let go on: it cannot end otherwise. Where another program keeps the journal
/// locked, a signal says the same.
pub fn ask_to_end(journal: &mut Journal, run: &RunSummary) -> Result<Option<u64>, CliError> {
    refuse_ended(run)?;
    let hurry = Hurry::default();
    hurry.hurry();
    journal.hurried_by(&hurry);
    let request = Request { kind: RequestKind::Stop, body: String::new(), at: clock::wall() };
    let asked = journal.request(&run.run, &request);
    journal.hurried_by(&Hurry::default());
    signalled(run, Signal::Continue);
    match asked {
        Err(JournalError::Busy { .. }) if signalled(run, Signal::Terminate) => Ok(None),
        asked => Ok(Some(asked?)),
    }
}

/// Sends a signal to the run's process; whether it was there.
pub fn signalled(run: &RunSummary, signal: Signal) -> bool {
    let process = run.pid.filter(|pid| process::still_runs(*pid, run.last_at));
    process.and_then(platform::look).is_some_and(|process| platform::signal(&process, signal))
}
