//! The door of a run: whoever works inside one of its sessions (a hook, a tool server, a proxy) asks
//! the running flyball itself, so that one ring judges the session whatever doors it has.
//!
//! A question is one line of JSON over a socket in the run's private folder, and so is its answer; one
//! that takes its time is told before that it was heard. A connection may ask one question after the
//! other.

mod ask;
mod guest;
#[cfg(any(feature = "mcp", feature = "session"))]
mod run_session;
mod serve;
mod visits;

use std::path::{Path, PathBuf};

use flyball_core::call::{ToolCall, ToolResult, ValidationFailure};
use flyball_core::door::DoorAnswer;
use flyball_core::event::Spend;
use flyball_core::task::AttemptReport;
use flyball_core::{IterationNo, RunId};
use serde::{Deserialize, Serialize};

#[cfg(any(feature = "mcp", feature = "session"))]
pub(crate) use self::ask::DoorError;
pub(crate) use self::ask::Visitor;
pub(crate) use self::guest::Reply;
#[cfg(any(feature = "mcp", feature = "session"))]
pub(crate) use self::run_session::RunSession;
pub(crate) use self::serve::{Door, Knocked};

/// The version of the lines; another one is refused and not misread.
const VERSION: u32 = 1;

/// The longest line either side takes.
const LINE_MAX: u64 = 16 * 1024 * 1024;

/// One question at the door, as it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Knock {
    /// The version of this line.
    v: u32,
    /// The run it is for.
    pub(crate) run: RunId,
    /// The session it is for.
    pub(crate) iteration: IterationNo,
    /// Who asks: the client whose hook it is, or `mcp`, `mcp-guard`.
    pub(crate) agent: String,
    /// The asker's own name for the event.
    #[serde(default)]
    pub(crate) event: String,
    /// The client's own name for its session, where it tells one.
    #[serde(default)]
    pub(crate) session: String,
    /// Whether advice in the answer reaches the agent.
    #[serde(default)]
    pub(crate) hears: bool,
    /// How full the context window is, in thousandths, where the asker knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<u16>,
    /// What is asked or told.
    pub(crate) input: Input,
}

impl Knock {
    /// A question of this asker for the session.
    pub(crate) fn new(
        (run, iteration): (RunId, IterationNo),
        agent: impl Into<String>,
        input: Input,
    ) -> Self {
        Self {
            v: VERSION,
            run,
            iteration,
            agent: agent.into(),
            event: String::new(),
            session: String::new(),
            hears: false,
            context: None,
            input,
        }
    }
}

/// What is asked or told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Input {
    /// A call is about to run.
    Call(ToolCall),
    /// A call was answered.
    Result(ToolResult),
    /// Something could not be understood.
    Invalid(ValidationFailure),
    /// The agent wants to stop.
    Stop {
        /// What it said last, where the client tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// How an attempt at a task stands.
    Report(AttemptReport),
    /// The agent has used this since it told last, and is about to ask its model again.
    Spent(Spend),
    /// Something could not be judged: a remark for people.
    Trouble {
        /// What.
        note: String,
    },
    /// Nothing but a sign of life.
    Nothing,
}

/// A line of the run's side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
enum Line {
    /// The question arrived; the answer takes as long as it takes.
    Heard,
    /// The answer.
    Answer(DoorAnswer),
    /// The session it is for is over.
    Over,
    /// The question is not answered here.
    Refused {
        /// Why.
        why: String,
    },
}

/// Where the door of a run is: in its private folder.
fn place(private_dir: &Path) -> PathBuf {
    private_dir.join("door.sock")
}

/// The run and the iteration a process was started in, as its environment tells; none outside.
pub(crate) fn session_of_environment() -> Option<(RunId, IterationNo)> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    // Run names are part of paths: letters, digits, `-` and `_` only.
    let is_name =
        |run: &String| run.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let run = variable("FLYBALL_RUN").filter(is_name)?;
    let iteration = variable("FLYBALL_ITERATION")?.parse().ok()?;
    Some((RunId::new(run), IterationNo::new(iteration)))
}
