//! The session of a run that this process works in, for those that ask more than once.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use flyball_core::door::DoorAnswer;
use flyball_core::{IterationNo, RunId};

use super::{DoorError, Input, Knock, Visitor, place};
use crate::journal::state_dir;

/// The session of a run, and the way to its door.
#[derive(Debug)]
pub(crate) struct RunSession {
    session: (RunId, IterationNo),
    folder: PathBuf,
    /// Who asks.
    agent: &'static str,
    visitor: Mutex<Option<Visitor>>,
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

impl RunSession {
    /// The session this process works in; none outside of a run, or when its run has no door.
    pub(crate) fn of_process(agent: &'static str) -> Option<Self> {
        let session = session_of_environment()?;
        let folder = state_dir().ok()?.join("runs").join(session.0.as_str());
        place(&folder).exists().then_some(Self {
            session,
            folder,
            agent,
            visitor: Mutex::default(),
        })
    }

    /// Asks the run. A connection that broke is made once more.
    pub(crate) fn ask(&self, input: Input, context: Option<u16>) -> Result<DoorAnswer, DoorError> {
        let mut knock = Knock::new(self.session.clone(), self.agent, input);
        (knock.hears, knock.context) = (true, context);
        let mut visitor = self.visitor.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = visitor.as_mut() {
            match open.ask(&knock) {
                Err(DoorError::Unreachable(_)) => *visitor = None,
                answered => return answered,
            }
        }
        visitor.insert(Visitor::at(&self.folder)?).ask(&knock)
    }
}
