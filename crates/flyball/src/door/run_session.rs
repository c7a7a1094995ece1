//! The session of a run that this process works in, for those that ask more than once.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use flyball_core::door::DoorAnswer;
use flyball_core::{IterationNo, RunId};

use super::{DoorError, Input, Knock, Visitor, place, session_of_environment};
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
        knock.context = context;
        // Who tells what was spent may be about to rest: advice would be lost.
        knock.hears = !matches!(knock.input, Input::Spent(_));
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
