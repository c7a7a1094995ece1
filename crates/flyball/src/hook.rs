//! The hook door: one event of a client's hook in, one verdict out.
//!
//! `flyball hook AGENT EVENT` reads one JSON object, judges it by the call ring or the stop ring and
//! prints the verdict in the client's dialect. State lies in the journal, so parallel hooks are
//! judged one after the other. Nothing but the verdict is ever printed, and a hook that fails or
//! takes too long answers as `[hooks] on_error` says.

mod calls;
mod context;
mod in_run;
mod input;
pub mod install;
mod report;
mod ring_input;
mod spill;
mod stop;

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use self::context::HookContext;
#[cfg(feature = "session")]
pub(crate) use self::context::HookContext as SessionContext;
pub(crate) use self::context::{RunGuards, run_key};
pub(crate) use self::report::{HookNote, HookReport, TrailRow, notes};
pub(crate) use self::spill::remove_spilled;
pub(crate) use self::stop::time_of as stop_time;
pub use crate::client::hook::{Dialect, Heard, HeardCall, HeardResult, Occasion, Reply};
pub use crate::client::registry::{dialect, dialects};
use crate::client::{HooksFor, REFUSAL_MARK};
use crate::clock::{self, Deadline};
use crate::config::OnHookError;
use crate::error::CliError;
use crate::journal::Journal;
use flyball_core::Moment;
use flyball_core::guard::Rung;

/// How long a hook may take before it knows its settings.
const FIRST_LIMIT: Duration = Duration::from_secs(10);

/// One asking of a hook.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) dialect: &'static dyn Dialect,
    pub(crate) event: &'a str,
    pub(crate) occasion: Occasion,
    pub(crate) at: Moment,
    stay: HooksFor,
    pace: &'a Pace,
}

/// What a hook answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// What is printed for the client; empty for nothing.
    pub text: String,
    /// What went wrong, for people, when nothing could be judged.
    pub trouble: Option<String>,
}

/// How the judging thread speaks to the one that waits.
struct Pace(Sender<News>);

/// What the judging thread tells the one that waits.
enum News {
    /// So much time from now.
    Allowed(Duration),
    /// What a failure means.
    Settled(OnHookError),
    /// The input is understood as far as a failure needs it.
    Understood(Box<Heard>),
    /// The verdict.
    Done(Result<Reply, CliError>),
}

impl Pace {
    /// Nobody listens any more once the time is over.
    fn tell(&self, news: News) {
        self.0.send(news).ok();
    }

    /// What comes next may take this long, and no longer than a client that was given hooks for
    /// good waits for them.
    fn allow(&self, context: &HookContext, occasion: Occasion, time: Duration) {
        let most = match occasion {
            _ if context.run.is_some() => Duration::MAX,
            Occasion::Stop => install::STOP_WAIT,
            Occasion::Before
            | Occasion::After
            | Occasion::Began
            | Occasion::Human
            | Occasion::Ended
            | Occasion::Other => install::CALL_WAIT,
        };
        self.tell(News::Allowed(time.min(most)));
    }
}

/// Reads the event from standard input and answers it.
pub fn answer(dialect: &'static dyn Dialect, event: &str, stay: HooksFor) -> Answer {
    let occasion = dialect.occasion(event);
    let (tell, told) = channel();
    let name = event.to_owned();
    thread::spawn(move || {
        let pace = Pace(tell);
        let at = clock::wall();
        let asked = Asked { dialect, event: &name, occasion, at, stay, pace: &pace };
        let result = judge(&asked);
        pace.tell(News::Done(result));
    });
    let mut deadline = Deadline::after(FIRST_LIMIT);
    let (mut on_error, mut heard) = (OnHookError::Open, None);
    let failure = loop {
        match told.recv_timeout(deadline.left()) {
            Ok(News::Allowed(time)) => deadline = Deadline::after(time),
            Ok(News::Settled(failure)) => on_error = failure,
            Ok(News::Understood(input)) => heard = Some(input),
            Ok(News::Done(Ok(reply))) => {
                return Answer { text: dialect.write(event, occasion, &reply), trouble: None };
            }
            Ok(News::Done(Err(error))) => break error.message,
            Err(_) => break "it took too long".to_owned(),
        }
    };
    let reply = failed(occasion, on_error, &failure, heard.as_deref());
    let trouble = (reply.rung == Rung::Pass).then(|| {
        let name = dialect.name();
        format!("`{event}` of {name} could not be judged ({failure}), so the agent goes on")
    });
    Answer { text: dialect.write(event, occasion, &reply), trouble }
}

fn judge(asked: &Asked<'_>) -> Result<Reply, CliError> {
    let here = match HookContext::under_run()? {
        Some(context) => Ok(context),
        None => HookContext::of_session(asked.dialect.name(), None),
    };
    if let Ok(context) = &here {
        if context.heeds == HooksFor::Run && asked.stay == HooksFor::Permanent {
            return Ok(Reply::pass());
        }
        settle(context, asked);
    }
    let text = input::read()
        .map_err(|error| CliError::io("the hook's input could not be read").cause(error))?;
    let heard = input::parse(&text).map(|input| {
        let heard = asked.dialect.read(asked.occasion, &input);
        let asking =
            if asked.occasion == Occasion::Stop { input::asking(&input) } else { String::new() };
        Heard { asking, ..heard }
    });
    drop(text);
    let dir = heard.as_ref().and_then(|heard| heard.dir.as_deref());
    let context = match here {
        Ok(context) if context.is_for(dir) => context,
        Err(error) if dir.is_none() => return Err(error),
        Ok(_) | Err(_) => {
            let context = HookContext::of_session(asked.dialect.name(), dir)?;
            settle(&context, asked);
            context
        }
    };
    let Some(heard) = heard else {
        let error = CliError::data("the hook's input is no JSON object");
        if let Some(session) = &context.run {
            in_run::trouble(asked, &context, session, &error.message);
        }
        return Err(error);
    };
    asked.pace.tell(News::Understood(Box::new(heard.clone())));
    if let Some(session) = &context.run {
        return in_run::ask(asked, &context, &heard, session);
    }
    let mut journal = Journal::open_briefly(&context.state_dir)?;
    match asked.occasion {
        Occasion::Before => calls::before(asked, &context, &heard, &mut journal),
        Occasion::After => calls::after(asked, &context, &heard, &mut journal),
        Occasion::Stop => stop::stop(asked, &context, &heard, &mut journal),
        Occasion::Human => {
            // A refused stop comes back as a prompt in some clients: the turn goes on.
            if heard.human {
                stop::turn_begins(asked, &context, &heard, &mut journal);
            }
            calls::human(asked, &context, &heard, &mut journal)
        }
        Occasion::Other => calls::note(asked, &context, &heard, &mut journal),
        Occasion::Began => {
            context.loop_dir.sweep_responses(asked.at);
            stop::turn_begins(asked, &context, &heard, &mut journal);
            calls::note(asked, &context, &heard, &mut journal)
        }
        Occasion::Ended => {
            remove_spilled(&context.loop_dir, &context.key(asked.dialect, &heard));
            calls::note(asked, &context, &heard, &mut journal)
        }
    }
}

fn settle(context: &HookContext, asked: &Asked<'_>) {
    asked.pace.tell(News::Settled(context.on_error));
    asked.pace.allow(context, asked.occasion, context.timeout);
}

/// What a hook that failed answers. A stop is refused by a failure once at most: nothing counts
/// refusals then, and some clients would ask for ever.
fn failed(occasion: Occasion, on_error: OnHookError, why: &str, heard: Option<&Heard>) -> Reply {
    let asks = match occasion {
        Occasion::Before => true,
        Occasion::Stop => heard.is_some_and(|heard| heard.stops_again == Some(false)),
        Occasion::After | Occasion::Began | Occasion::Human | Occasion::Ended | Occasion::Other => {
            false
        }
    };
    match on_error {
        OnHookError::Closed if asks => Reply::refuse(format!(
            "{REFUSAL_MARK} this could not be judged ({why}), and `hooks.on_error` is \"closed\""
        )),
        OnHookError::Open | OnHookError::Closed => Reply::pass(),
    }
}
