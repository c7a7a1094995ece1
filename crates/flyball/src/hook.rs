//! The hook door: one event of a client's hook in, one verdict out.
//!
//! `flyball hook AGENT EVENT` reads one JSON object, judges it by the call ring or the stop ring and
//! prints the verdict in the client's dialect. State lies in the journal, so parallel hooks are
//! judged one after the other. Nothing but the verdict is ever printed, and a hook that fails or
//! takes too long answers as `[hooks] on_error` says.

mod calls;
mod claude;
mod codex;
mod copilot;
mod dialect;
mod gemini;
mod goose;
mod ground;
pub mod install;
mod opencode;
mod own;
mod pi;
mod qwen;
mod report;
mod spill;
mod stop;

use std::io::Read;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use flyball_core::Moment;
use serde_json::Value;

pub(crate) use self::calls::CallState;
pub use self::dialect::{
    Dialect, Heard, HeardCall, HeardResult, Occasion, Reply, dialect, dialects,
};
use self::ground::Ground;
pub(crate) use self::ground::{RunGuards, SessionBrief, run_key, stop_key};
pub(crate) use self::report::HookReport;
pub(crate) use self::spill::remove_spilled;
pub(crate) use self::stop::time_of as stop_time;
use crate::agent::REFUSAL_MARK;
use crate::clock::{self, Deadline};
use crate::config::OnHookError;
use crate::error::CliError;
use crate::journal::{Beside, Journal};

/// The largest input that is read.
const INPUT_MAX: u64 = 256 * 1024 * 1024;
/// How long a hook may take before it knows its settings.
const FIRST_LIMIT: Duration = Duration::from_secs(10);

/// One asking of a hook.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) dialect: &'static dyn Dialect,
    pub(crate) event: &'a str,
    pub(crate) occasion: Occasion,
    pub(crate) at: Moment,
}

/// What the judging thread tells the one that waits.
enum News {
    /// The settings are known: so much time from now, and what a failure means.
    Settled(Duration, OnHookError),
    /// The input is understood as far as a failure needs it.
    Understood(Heard),
    /// The verdict.
    Done(Result<Reply, CliError>),
}

/// Reads the event from standard input and answers it: what is to be printed.
pub fn answer(dialect: &'static dyn Dialect, event: &str) -> String {
    let occasion = dialect.occasion(event);
    let (tell, told) = channel();
    let name = event.to_owned();
    thread::spawn(move || {
        let asked = Asked { dialect, event: &name, occasion, at: clock::wall() };
        let result = judge(&asked, &tell);
        // Nobody listens any more once the time is over.
        tell.send(News::Done(result)).ok();
    });
    let mut deadline = Deadline::after(FIRST_LIMIT);
    let (mut on_error, mut heard) = (OnHookError::Open, None);
    let reply = loop {
        match told.recv_timeout(deadline.left()) {
            Ok(News::Settled(limit, failure)) => {
                deadline = Deadline::after(limit);
                on_error = failure;
            }
            Ok(News::Understood(input)) => heard = Some(input),
            Ok(News::Done(Ok(reply))) => break reply,
            Ok(News::Done(Err(error))) => {
                break failed(occasion, on_error, &error.message, heard.as_ref());
            }
            Err(_) => break failed(occasion, on_error, "it took too long", heard.as_ref()),
        }
    };
    dialect.write(event, occasion, &reply)
}

fn judge(asked: &Asked<'_>, tell: &Sender<News>) -> Result<Reply, CliError> {
    let mut text = Vec::new();
    std::io::stdin()
        .take(INPUT_MAX)
        .read_to_end(&mut text)
        .map_err(|error| CliError::io("the hook's input could not be read").cause(error))?;
    let here = Ground::under_run()?;
    if let Some(ground) = &here {
        settle(ground, asked, tell);
    }
    let input: Option<Value> = serde_json::from_slice(&text).ok().filter(Value::is_object);
    let heard = input.map(|input| asked.dialect.read(asked.occasion, &input));
    let ground = if let Some(ground) = here {
        ground
    } else {
        let dir = heard.as_ref().and_then(|heard| heard.dir.as_deref());
        let ground = Ground::of_session(asked.dialect.name(), dir)?;
        settle(&ground, asked, tell);
        ground
    };
    let heard = heard.ok_or_else(|| CliError::data("the hook's input is no JSON object"))?;
    tell.send(News::Understood(heard.clone())).ok();
    let beside = if ground.run.is_some() { Beside::Run } else { Beside::Nobody };
    let mut journal = Journal::open_briefly(&ground.state_dir, beside)?;
    match asked.occasion {
        Occasion::Before => calls::before(asked, &ground, &heard, &mut journal),
        Occasion::After => calls::after(asked, &ground, &heard, &mut journal),
        Occasion::Stop => stop::stop(asked, &ground, &heard, &mut journal),
        Occasion::Other => calls::note(asked, &ground, &heard, &mut journal),
        Occasion::Began => {
            ground.loop_dir.sweep_responses(asked.at);
            calls::note(asked, &ground, &heard, &mut journal)
        }
        Occasion::Ended => {
            remove_spilled(&ground.loop_dir, &ground.key(asked.dialect, &heard));
            calls::note(asked, &ground, &heard, &mut journal)
        }
    }
}

fn settle(ground: &Ground, asked: &Asked<'_>, tell: &Sender<News>) {
    let gates =
        if asked.occasion == Occasion::Stop { stop::gate_time(ground) } else { Duration::ZERO };
    tell.send(News::Settled(ground.timeout.saturating_add(gates), ground.on_error)).ok();
}

/// What a hook that failed answers. A stop is refused by a failure once at most: nothing counts
/// refusals then, and some clients would ask for ever.
fn failed(occasion: Occasion, on_error: OnHookError, why: &str, heard: Option<&Heard>) -> Reply {
    let asks = match occasion {
        Occasion::Before => true,
        Occasion::Stop => heard.is_some_and(|heard| heard.stops_again == Some(false)),
        Occasion::After | Occasion::Began | Occasion::Ended | Occasion::Other => false,
    };
    match on_error {
        OnHookError::Closed if asks => Reply::refuse(format!(
            "{REFUSAL_MARK} this could not be judged ({why}), and `hooks.on_error` is \"closed\""
        )),
        OnHookError::Open | OnHookError::Closed => Reply::pass(),
    }
}
