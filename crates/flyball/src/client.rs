//! Agent programs: how each is started, how what it prints becomes facts, what its hooks say and
//! understand, and where they are installed.
//!
//! One client, one folder: `launch.rs` (its command line), `stream.rs` (what it prints), `hook.rs`
//! (its hooks), `usage.rs` (the file in which it counts its tokens), as far as it has them, joined
//! by an [`Adapter`] in `<name>.rs`; [`registry`] lists them all. What several clients share stands
//! beside the folders. Nothing in here starts a process, reads a clock or judges: processes are the
//! driver's, judgement is `flyball-core`'s.

mod aider;
#[cfg(feature = "session")]
mod built_in;
mod claude;
mod cline;
mod codex;
mod copilot;
mod custom;
mod flyball;
mod gemini;
mod goose;
pub(crate) mod hook;
pub(crate) mod hook_home;
mod launch;
pub(crate) mod lenient;
pub(crate) mod lines;
pub(crate) mod login;
pub(crate) mod meter;
pub(crate) mod needs;
pub(crate) mod onboarding;
mod opencode;
mod own_settings;
mod pi;
mod plain;
mod plugin;
mod preview;
pub mod prices;
mod qwen;
mod reading;
pub mod registry;
mod schema_error;
pub(crate) mod session;
mod stream;
mod stream_json;
#[cfg(test)]
mod tests;
mod tools;
pub(crate) mod transcript;
mod trouble;
mod usage_file;

use flyball_core::AgentFact;
use flyball_core::event::{AgentTraits, CallRecord, Exit, ExitHow};

pub use self::custom::Custom;
use self::hook::Dialect;
use self::hook_home::HookHome;
pub use self::launch::{
    HookSetup, HooksFor, Launch, LaunchRequest, Permissions, Place, PromptBy, RunFile, Stdin,
};
pub(crate) use self::launch::{quoted, skipping_permissions};
pub use self::reading::{LocalTime, ReadRequest};
pub use self::registry::{adapter, adapters};
pub(crate) use self::tools::changes_files;
pub use self::tools::{ToolKind, Tools};
pub use self::transcript::Transcripts;
pub use self::usage_file::{SessionPlace, UsageEntry, UsageFile};

/// The name under which agents that speak flyball's own protocol are read.
pub(crate) const OWN_PROTOCOL: &str = flyball::NAME;

/// What a refusal by a flyball hook begins with. Clients that show a hook's reason word for word,
/// without saying that it was a hook (opencode, pi, qwen), are understood by it.
pub const REFUSAL_MARK: &str = "flyball:";

/// One agent program.
pub trait Adapter: Send + Sync {
    /// Its name in the config.
    fn name(&self) -> &'static str;

    /// The command line, environment, input and files of one session.
    fn launch(&self, request: &LaunchRequest<'_>) -> Launch;

    /// How what it prints is read.
    fn output(&self) -> &'static dyn Output;

    /// What its hooks say and understand; none for a client without hooks.
    fn dialect(&self) -> Option<&'static dyn Dialect> {
        None
    }

    /// Whether it is flyball itself: nothing need be installed.
    fn is_built_in(&self) -> bool {
        false
    }

    /// Whether flyball puts hooks into its sessions.
    fn takes_hooks(&self) -> bool {
        self.dialect().is_some()
    }

    /// Where it looks for hooks that stay; none when it looks nowhere.
    fn hook_home(&self) -> Option<&'static dyn HookHome> {
        None
    }

    /// What it writes down of its sessions; none when it writes nothing that can be read.
    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        None
    }

    /// What is known of it: what it can be told, what it tells, and what must be heeded for it.
    fn traits(&self) -> AgentTraits {
        AgentTraits {
            steerable: false,
            refuse_after_at_most: self.output().refuse_after_at_most(),
            may_be_silent: !self.output().is_structured(),
            record: self.output().record(),
        }
    }
}

/// How a client's output is read, and what is known of a client that prints it. A command of the
/// user's own that prints what a known client prints is read and treated like that client.
pub trait Output: Send + Sync {
    /// A reader for one session.
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader>;

    /// Whether it tells calls and results, not only text.
    fn is_structured(&self) -> bool {
        true
    }

    /// Where its calls are known from: an agent of one's own may ask about calls and show none.
    fn record(&self) -> CallRecord {
        if self.is_structured() { CallRecord::Stream } else { CallRecord::Questions }
    }

    /// Arguments of its tools that only talk about the call and do not change it (A1).
    fn free_text(&self) -> &'static [&'static str] {
        &["description", "explanation", "reason", "thought"]
    }

    /// Its tools that may change files (A3).
    fn tools(&self) -> Tools {
        &[]
    }

    /// The most identical calls it can be allowed, so that one is refused before its own loop guard
    /// acts, if it has one.
    fn refuse_after_at_most(&self) -> Option<u32> {
        None
    }

    /// How often a stop may be refused in one session, below the client's own cap.
    fn stop_refusal_cap(&self) -> u32 {
        STOP_REFUSAL_CAP
    }

    /// Whether the stream tells what a session costs; if not, prices by model are needed.
    fn tells_cost(&self) -> bool {
        false
    }

    /// The file in which the client itself counts this session while it runs, once it is there;
    /// none for clients whose stream tells tokens early enough.
    fn usage_file(&self, _at: &SessionPlace<'_>) -> Option<Box<dyn UsageFile>> {
        None
    }
}

/// How often a stop is refused in one session at most: clients override the 8th or 9th refusal.
const STOP_REFUSAL_CAP: u32 = 6;

/// Reads what one agent process prints. Bytes may be split anywhere.
pub trait Reader: Send {
    /// Takes bytes of its standard output.
    fn stdout(&mut self, bytes: &[u8], out: &mut Vec<Fact>);

    /// Takes bytes of its standard error.
    fn stderr(&mut self, bytes: &[u8], out: &mut Vec<Fact>);

    /// Learns from a hook that a stop was refused after the agent had said `said`. Only needed
    /// where the stream hides refused stops and glues all attempts together (qwen).
    fn refused_stop(&mut self, _said: &str) {}

    /// Learns that a call was refused at the door: its agent may show no answer to it.
    fn refused_call(&mut self, _id: &str) {}

    /// Takes what the client wrote into its usage file ([`Output::usage_file`]).
    fn used(&mut self, _entry: &UsageEntry, _out: &mut Vec<Fact>) {}

    /// The process is gone: the last facts, and its end with claims and last words.
    fn finish(self: Box<Self>, how: ExitHow, out: &mut Vec<Fact>) -> Exit;
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
    /// The session's id, by which its usage file is found.
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
