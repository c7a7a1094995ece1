//! What works inside of a run: hooks, tools, gates and looking. Everything else is for humans, and
//! the guarded does not hold the keys, whatever it does to its environment.

use super::Command;
use crate::error::CliError;
use crate::process;

/// Whether a command may be used by what a run has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// By anybody.
    Everybody,
    /// By humans, and by the run itself as its agent; not by what that agent starts.
    #[cfg(feature = "session")]
    Agent,
    /// Only by humans.
    Humans,
}

impl Command {
    /// Its name, and who may use it.
    pub(super) fn door(&self) -> (&'static str, Door) {
        match self {
            Self::Status(_) => ("status", Door::Everybody),
            Self::Log(_) => ("log", Door::Everybody),
            #[cfg(feature = "otel")]
            Self::Export(_) => ("export otel", Door::Humans),
            #[cfg(feature = "serve")]
            Self::Serve(_) => ("serve", Door::Humans),
            Self::Attach(_) => ("attach", Door::Humans),
            #[cfg(feature = "watch")]
            Self::Watch(_) => ("watch", Door::Humans),
            Self::Report(_) => ("report", Door::Everybody),
            Self::Stats(_) => ("stats", Door::Everybody),
            Self::Inspect(_) => ("inspect", Door::Everybody),
            Self::Replay(_) => ("replay", Door::Everybody),
            Self::Context(_) => ("context", Door::Everybody),
            Self::Doctor(_) => ("doctor", Door::Everybody),
            Self::Hook(_) => ("hook", Door::Everybody),
            Self::Config(_) => ("config", Door::Everybody),
            Self::Gate(_) => ("gate", Door::Everybody),
            Self::Completions(_) => ("completions", Door::Everybody),
            Self::Man(_) => ("man", Door::Everybody),
            #[cfg(feature = "mcp")]
            Self::Mcp(_) => ("mcp", Door::Everybody),
            #[cfg(feature = "mcp")]
            Self::McpGuard(_) => ("mcp-guard", Door::Everybody),
            Self::Tasks(args) => match &args.action {
                None => ("tasks", Door::Everybody),
                Some(action) => (action.name(), Door::Humans),
            },
            #[cfg(feature = "session")]
            Self::Session(_) => ("session", Door::Agent),
            Self::Plan(_) => ("plan", Door::Humans),
            Self::Init(_) => ("init", Door::Humans),
            Self::Run(_) => ("run", Door::Humans),
            Self::Demo(_) => ("demo", Door::Humans),
            Self::Answer(_) => ("answer", Door::Humans),
            Self::Unblock(_) => ("unblock", Door::Humans),
            Self::Stop(_) => ("stop", Door::Humans),
            Self::Tell(_) => ("tell", Door::Humans),
            Self::Land(_) => ("land", Door::Humans),
            Self::Drop(_) => ("drop", Door::Humans),
            Self::Limits(_) => ("limits", Door::Humans),
            Self::Accept(_) => ("accept tamper", Door::Humans),
            Self::Restore(_) => ("restore tamper", Door::Humans),
            Self::Rewind(_) => ("rewind", Door::Humans),
            Self::Archive(_) => ("archive", Door::Humans),
            Self::Prune(_) => ("prune", Door::Humans),
            Self::Hooks(_) => ("hooks", Door::Humans),
            Self::Notify(_) => ("notify test", Door::Humans),
        }
    }
}

/// Refuses a command for humans to what a run has started.
pub(super) fn refuse_inside(command: &Command) -> Result<(), CliError> {
    let (name, door) = command.door();
    let is_open = match door {
        Door::Everybody => true,
        #[cfg(feature = "session")]
        Door::Agent => process::is_agent_itself(),
        Door::Humans => false,
    };
    if is_open {
        return Ok(());
    }
    if process::is_of_a_clerk() {
        return Err(CliError::usage(format!(
            "`flyball {name}` is for humans, and this was started by git at work for flyball"
        ))
        .hint("a filter in .git/config runs it: `git config --list --show-origin` names it"));
    }
    let Some(run) = process::enclosing_run() else { return Ok(()) };
    Err(CliError::usage(format!(
        "`flyball {name}` is for humans, and this is the agent of run `{run}`"
    ))
    .hint("go on with the task, or end with a BLOCKED or DECIDE claim"))
}
