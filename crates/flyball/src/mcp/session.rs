//! An iteration session: what `iteration_start` begins and the other `iteration_*` tools go on with.
//! Kept in the journal, so that it outlives the server. Never runs anything.

use flyball_core::claim::read_structured;
use flyball_core::iteration::{IterationRing, Safety, Validation};
use flyball_core::policy::Policy;
use flyball_core::{GuardKind, Moment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refused::Refused;
use super::rules::Rule;
use super::site::{self, Site};
use super::validate::Report;

/// How many sessions of a repository are listed.
const LISTED_MAX: usize = 50;
/// How many checkpoints are kept of a session: every iteration's, and the last.
const CHECKPOINTS_MAX: usize = 128;

/// One session, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Session {
    /// Counted up with every change, so that two callers do not overwrite each other.
    pub(super) revision: u64,
    pub(super) id: String,
    pub(super) task: String,
    pub(super) max_iterations: u32,
    pub(super) circuit_breaker_threshold: u32,
    pub(super) completion_promises: Vec<String>,
    pub(super) validation_rules: Vec<Rule>,
    pub(super) started: Moment,
    /// The iteration at hand, from 1.
    pub(super) iteration: u32,
    pub(super) status: SessionStatus,
    /// What the iterations before this one came to.
    pub(super) ring: IterationRing,
    /// What this one came to, by its latest validation.
    pub(super) current: Option<Judgement>,
    /// Rules that were red in the iteration before this one, where it was judged.
    pub(super) red_before: Option<Vec<String>>,
    pub(super) checkpoints: Vec<Checkpoint>,
    /// Why it ended, where it did.
    pub(super) ending: Option<String>,
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SessionStatus {
    /// It goes on.
    Open,
    /// It was stopped by a guard or by a BLOCKED promise.
    Blocked,
    /// It is completed.
    Completed,
}

/// What the latest validation of the iteration at hand came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Judgement {
    pub(super) validation: Validation,
    pub(super) red: Vec<String>,
    /// What the caller reported with it.
    #[serde(default)]
    pub(super) report: Option<Report>,
}

/// A point the session can be looked at from later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Checkpoint {
    /// After which iteration; 0 is the start.
    pub(super) iteration: u32,
    /// When, RFC 3339.
    pub(super) at: String,
    /// Why it was made.
    pub(super) trigger: Trigger,
    /// The git ref that keeps the whole worktree, where there is a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) git_ref: Option<String>,
    /// The guard that tripped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) guard: Option<String>,
    /// What it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

/// Why a checkpoint was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Trigger {
    /// The session began.
    Start,
    /// An iteration ended and the next began.
    Iteration,
    /// A guard ended the session.
    Error,
    /// The agent is blocked.
    Blocked,
    /// The work is complete.
    Complete,
}

impl Session {
    /// Whether the iteration at hand may count, or the next one begin.
    pub(super) fn safety(&self, site: &Site, of: Of) -> Result<Safety, Refused> {
        let mut ring = self.ring.clone();
        if let Some(current) = &self.current {
            ring.record(current.validation.clone());
        }
        ring.meters.iterations = match of {
            Of::ThisIteration => self.iteration.saturating_sub(1),
            Of::NextIteration => self.iteration,
        };
        Ok(ring.may_start(&self.policy(site)?))
    }

    fn policy(&self, site: &Site) -> Result<Policy, Refused> {
        let mut rules = site.config.policy.clone().into_rules();
        rules.limits.iterations = self.max_iterations;
        rules.limits.tokens = 0;
        rules.limits.cost_usd = 0.0;
        rules.limits.runtime = flyball_core::Millis::ZERO;
        rules.iterations.circuit_breaker = self.circuit_breaker_threshold;
        Policy::new(rules).map_err(|error| Refused::new(error.to_string()))
    }

    /// Refuses what only an open session can do.
    pub(super) fn must_be_open(&self) -> Result<(), Refused> {
        let how = match self.status {
            SessionStatus::Open => return Ok(()),
            SessionStatus::Blocked => "blocked",
            SessionStatus::Completed => "completed",
        };
        let why = self.ending.as_deref().unwrap_or_default();
        Err(Refused::new(format!(
            "iteration session `{}` is {how} and does not go on: {why}; begin another one with \
             `iteration_start`",
            self.id
        )))
    }

    pub(super) fn end(&mut self, status: SessionStatus, why: impl Into<String>) {
        self.status = status;
        self.ending = Some(why.into());
    }

    pub(super) fn add_checkpoint(&mut self, checkpoint: Checkpoint) {
        if self.checkpoints.len() >= CHECKPOINTS_MAX {
            self.checkpoints.remove(0);
        }
        self.checkpoints.push(checkpoint);
    }
}

/// What a safety check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    ThisIteration,
    NextIteration,
}

/// What an agent's output says about the work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Promised {
    /// A promise of completion that stands there.
    pub(super) complete: Option<String>,
    /// Why it cannot go on, where it says so.
    pub(super) blocked: Option<String>,
}

impl Session {
    /// Looks for the session's promises, and for a BLOCKED or DECIDE claim.
    pub(super) fn promised(&self, output: &str) -> Promised {
        let claims = read_structured(output);
        let (stops, completes): (Vec<&String>, Vec<&String>) =
            self.completion_promises.iter().partition(|promise| is_blocked(promise));
        let stands = |promise: &&&String| match tag(promise) {
            // A tag counts where the agent speaks, not where it quotes.
            Some(kind) if kind.eq_ignore_ascii_case("complete") => claims.complete,
            Some(_) | None => output.contains(promise.as_str()),
        };
        let blocked = claims
            .blocked
            .or_else(|| claims.decide.map(|question| format!("a human must decide: {question}")))
            .or_else(|| stops.iter().find(stands).map(|promise| (*promise).clone()));
        Promised { complete: completes.iter().find(stands).map(|one| (*one).clone()), blocked }
    }
}

/// Whether a promise says that the work cannot go on: `BLOCKED`, with or without tag and reason.
pub(super) fn is_blocked(promise: &str) -> bool {
    let words = tag(promise).unwrap_or(promise).trim_start();
    let Some(kind) = words.get(.."blocked".len()) else { return false };
    let after = words.get("blocked".len()..).and_then(|rest| rest.chars().next());
    kind.eq_ignore_ascii_case("blocked") && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// The words inside a promise tag.
fn tag(promise: &str) -> Option<&str> {
    promise.trim().strip_prefix("<promise>")?.strip_suffix("</promise>").map(str::trim)
}

/// The name of a guard as the safety checks report it.
pub(super) fn guard_name(guard: GuardKind) -> String {
    guard.as_str().to_owned()
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
    pub(super) fn keep_new(&self, session: &Session) -> Result<(), Refused> {
        self.put(session, None)
    }

    /// A session by its id.
    pub(super) fn session(&self, id: &str) -> Result<Session, Refused> {
        let unknown = || {
            Refused::new(format!(
                "there is no iteration session `{id}`; `iteration_start` answers with the \
                 `iteration_id` of a new one"
            ))
        };
        let mut journal = self.journal()?;
        let found = journal.with_session(&session_key(id), site::now(), |state| {
            (state.map(<[u8]>::to_vec), state.map(<[u8]>::to_vec))
        })?;
        serde_json::from_slice(&found.ok_or_else(unknown)?).map_err(|error| {
            Refused::new(format!("iteration session `{id}` cannot be read back: {error}"))
        })
    }

    /// Keeps a changed session; refused when someone else has changed it in the meantime.
    pub(super) fn keep(&self, session: &mut Session) -> Result<(), Refused> {
        let before = session.revision;
        session.revision = before.saturating_add(1);
        self.put(session, Some(before))
    }

    fn put(&self, session: &Session, expected: Option<u64>) -> Result<(), Refused> {
        let body = serde_json::to_vec(session)
            .map_err(|error| Refused::new(format!("the session cannot be written: {error}")))?;
        let mut journal = self.journal()?;
        let kept = journal.with_session(&session_key(&session.id), site::now(), |state| {
            let found = state
                .and_then(|state| serde_json::from_slice::<Session>(state).ok())
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
            iteration: session.iteration,
            status: session.status,
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
        let list = self.journal()?.with_session(&self.key("sessions"), site::now(), |state| {
            (state.map(<[u8]>::to_vec), listed(state))
        })?;
        Ok(list)
    }
}

fn listed(state: Option<&[u8]>) -> Vec<Listed> {
    state.and_then(|state| serde_json::from_slice(state).ok()).unwrap_or_default()
}

fn session_key(id: &str) -> String {
    format!("mcp:{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_that_says_blocked_is_told_from_one_that_does_not() {
        let cases = [
            ("<promise>BLOCKED</promise>", true),
            ("<promise> blocked: no key </promise>", true),
            ("BLOCKED", true),
            ("BLOCKED: waiting", true),
            ("<promise>COMPLETE</promise>", false),
            ("blockedness is gone", false),
            ("All tests pass", false),
            ("", false),
        ];
        for (promise, blocked) in cases {
            assert_eq!(is_blocked(promise), blocked, "{promise}");
        }
    }
}
