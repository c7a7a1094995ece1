//! Agent programs: how each is started, and how what it prints becomes facts.
//!
//! One program, one file. An [`Adapter`] says how to start its program and gives a [`Reader`] for
//! one session; a reader turns bytes into [`Fact`]s. Nothing in here starts a process, reads a
//! clock or judges: processes are the driver's, judgement is `flyball-core`'s.

mod adapters;
mod aider;
mod books;
mod claude;
mod cline;
mod codex;
mod copilot;
mod custom;
mod flyball;
mod gemini;
mod goose;
mod launch;
mod lax;
mod lines;
mod meter;
mod opencode;
mod pi;
pub mod prices;
mod qwen;
mod reading;
mod session;
mod stream;
#[cfg(test)]
mod tests;
mod trouble;

use flyball_core::AgentFact;
use flyball_core::event::{AgentTraits, Exit, ExitHow};

pub use self::adapters::{adapter, adapters};
pub use self::books::{Book, Entry, Whereabouts};
pub use self::custom::Custom;
pub(crate) use self::launch::quoted;
pub use self::launch::{
    HookSetup, HooksFor, Launch, LaunchRequest, Permissions, Place, PromptBy, RunFile, Stdin,
};
pub use self::reading::{Cumulative, LocalTime, ReadRequest};

/// What a refusal by a flyball hook begins with. Clients that show a hook's reason word for word,
/// without saying that it was a hook (opencode, pi, qwen), are understood by it.
pub const REFUSAL_MARK: &str = "flyball:";

/// One agent program: how to start it and how to read it.
pub trait Adapter: Send + Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// What it can be told and what it tells.
    fn traits(&self) -> AgentTraits;

    /// The command line, environment, input and files of one session.
    fn launch(&self, request: &LaunchRequest<'_>) -> Launch;

    /// Arguments of its tools that only talk about the call and do not change it (A1).
    fn free_text(&self) -> &'static [&'static str] {
        &["description", "explanation", "reason", "thought"]
    }

    /// The most identical calls it can be allowed, so that one is refused before its own loop guard
    /// acts, if it has one.
    fn refuse_after_at_most(&self) -> Option<u32> {
        None
    }

    /// How often a stop may be refused in one session, below the client's own cap.
    fn stop_refusal_cap(&self) -> u32 {
        6
    }

    /// Whether a session can be taken up again by its id ([`LaunchRequest::resume`]).
    fn can_resume(&self) -> bool {
        true
    }

    /// Whether the stream tells what a session costs; if not, prices by model are needed.
    fn tells_cost(&self) -> bool {
        false
    }

    /// The file in which the client itself counts this session while it runs, once it is there;
    /// none for clients whose stream tells tokens early enough.
    fn book(&self, _at: &Whereabouts<'_>) -> Option<Box<dyn Book>> {
        None
    }

    /// A reader for one session.
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader>;
}

/// Reads what one agent process prints. Bytes may be split anywhere.
pub trait Reader: Send {
    /// Takes bytes of its standard output.
    fn stdout(&mut self, bytes: &[u8], out: &mut Vec<Fact>);

    /// Takes bytes of its standard error.
    fn stderr(&mut self, bytes: &[u8], out: &mut Vec<Fact>);

    /// Learns from a hook that a stop was refused after the agent had said `said`. Only needed
    /// where the stream hides refused stops and glues all attempts together (qwen).
    fn refused_stop(&mut self, _said: &str) {}

    /// Takes what the client wrote into its book ([`Adapter::book`]).
    fn booked(&mut self, _entry: &Entry, _out: &mut Vec<Fact>) {}

    /// The process is gone: the last facts, and its end with claims and last words.
    fn finish(self: Box<Self>, how: ExitHow, out: &mut Vec<Fact>) -> Exit;

    /// What this session has cost so far, as the client itself counts: what the reader of a
    /// resumed session must be given as [`ReadRequest::base`].
    fn counted(&self) -> Cumulative {
        Cumulative::default()
    }
}

/// Something an agent's output says.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// A fact for the governor.
    Agent(AgentFact),
    /// Something only people want to see, or the driver must remember.
    AgentNote(AgentNote),
}

/// What is no fact for the governor.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentNote {
    /// The session's id, for a resume.
    Session(String),
    /// The model at work.
    Model(String),
    /// A piece of the agent's text, as it comes.
    Said(String),
    /// The client retries a model call; no limit yet.
    Retrying(String),
    /// The stream shows that a stop was refused. The hook that refused it has reported it itself.
    StopRefused(String),
    /// The client let the agent stop against the hook: the gate was *not* passed.
    StopForced(String),
    /// The client's turn or budget limit ended the session.
    OwnLimit(String),
    /// The client failed in another way, in its own words.
    Failed(String),
    /// An event this adapter does not know; kept out of the facts.
    Unknown(String),
}
