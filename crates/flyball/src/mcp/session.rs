//! An iteration session as it is kept in the journal, so that it outlives the server: the machine of
//! the core, and the rules only the shell can run.

use flyball_core::iteration_session::{CheckpointDue, IterationSession};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refused::Refused;
use super::rules::Rule;
use super::site::{self, Site};
use super::words::{CheckpointWords, SessionStatus};

/// How many sessions of a repository are listed.
const LISTED_MAX: usize = 50;

/// One session, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct McpSession {
    /// Counted up with every change, so that two callers do not overwrite each other.
    pub(super) revision: u64,
    pub(super) id: String,
    pub(super) task: String,
    pub(super) validation_rules: Vec<Rule>,
    pub(super) machine: IterationSession,
}

impl McpSession {
    /// Makes the checkpoint that is due and keeps it with the session.
    pub(super) fn checkpoint(&mut self, site: &Site, due: CheckpointDue) -> CheckpointWords {
        let git_ref = site.keep_tree(&self.id, due.iteration);
        self.machine.checkpointed(due, site::now(), git_ref);
        self.machine.checkpoints().next_back().map(CheckpointWords::of).unwrap_or_default()
    }
}

/// A session in the list of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Listed {
    /// The session.
    pub(super) iteration_id: String,
    /// Its task.
    pub(super) task: String,
    /// The iteration it is in.
    pub(super) iteration: u32,
    /// Where it stands.
    pub(super) status: SessionStatus,
}

impl Site {
    /// Keeps a new session.
    pub(super) fn keep_new(&self, session: &McpSession) -> Result<(), Refused> {
        self.put(session, None)
    }

    /// A session by its id.
    pub(super) fn session(&self, id: &str) -> Result<McpSession, Refused> {
        let unknown = || {
            Refused::new(format!(
                "there is no iteration session `{id}`; `iteration_start` answers with the \
                 `iteration_id` of a new one"
            ))
        };
        let found = self.scratch()?.session_state(&session_key(id))?;
        serde_json::from_slice(&found.ok_or_else(unknown)?).map_err(|error| {
            Refused::new(format!(
                "iteration session `{id}` cannot be read back ({error}); begin another one with \
                 `iteration_start`"
            ))
        })
    }

    /// A session that goes on, by its id.
    pub(super) fn open_session(&self, id: &str) -> Result<McpSession, Refused> {
        let session = self.session(id)?;
        session.machine.check_open().map_err(|error| Refused::session(id, &error))?;
        Ok(session)
    }

    /// Keeps a changed session; refused when someone else has changed it in the meantime.
    pub(super) fn keep(&self, session: &mut McpSession) -> Result<(), Refused> {
        let before = session.revision;
        session.revision = before.saturating_add(1);
        self.put(session, Some(before))
    }

    fn put(&self, session: &McpSession, expected: Option<u64>) -> Result<(), Refused> {
        let body = serde_json::to_vec(session)
            .map_err(|error| Refused::new(format!("the session cannot be written: {error}")))?;
        let mut journal = self.scratch()?;
        let kept = journal.with_session(&session_key(&session.id), site::now(), |state| {
            let found = state
                .and_then(|state| serde_json::from_slice::<McpSession>(state).ok())
                .map(|found| found.revision);
            if found == expected { (Some(body), true) } else { (state.map(<[u8]>::to_vec), false) }
        })?;
        if !kept {
            return Err(Refused::new(format!(
                "iteration session `{}` was changed by another call meanwhile; nothing was \
                 recorded, call again",
                session.id
            )));
        }
        let entry = Listed {
            iteration_id: session.id.clone(),
            task: session.task.clone(),
            iteration: session.machine.iteration(),
            status: session.machine.status().into(),
        };
        journal.with_session(&self.key("sessions"), site::now(), |state| {
            let mut list = listed(state);
            list.retain(|one| one.iteration_id != entry.iteration_id);
            list.push(entry);
            let excess = list.len().saturating_sub(LISTED_MAX);
            list.drain(..excess);
            (serde_json::to_vec(&list).ok(), ())
        })?;
        Ok(())
    }

    /// The latest sessions of this repository, the latest last.
    pub(super) fn sessions(&self) -> Result<Vec<Listed>, Refused> {
        Ok(listed(self.scratch()?.session_state(&self.key("sessions"))?.as_deref()))
    }
}

fn listed(state: Option<&[u8]>) -> Vec<Listed> {
    state.and_then(|state| serde_json::from_slice(state).ok()).unwrap_or_default()
}

fn session_key(id: &str) -> String {
    format!("mcp:{id}")
}
