//! Where a session is written down: in the journal, entry by entry. In a run the run writes it down.

use std::path::Path;

use flyball_core::SubAgent;
use flyball_core::call::ToolCall;
use flyball_core::guard::Rung;

use super::conversation::{Conversation, Entry};
use super::judge::{Kept, Spoken};
use crate::clock::Clock;
use crate::crash::CrashPoint;
use crate::error::CliError;
use crate::hook::HookReport;
use crate::journal::{ConversationRow, ConversationStep, Journal, NewConversation};
use crate::process;

/// What the state of a session is kept under, before its name.
pub(crate) const KEY: &str = "session/";

/// The record of one session.
pub(crate) struct Record {
    kept: Option<InJournal>,
    clock: Clock,
    /// What goes on the trail with the next entry.
    trail: Vec<String>,
    crash: CrashPoint,
}

struct InJournal {
    journal: Journal,
    id: String,
}

impl Record {
    /// The record of a session that somebody else keeps.
    pub(crate) fn elsewhere() -> Self {
        let crash = CrashPoint::default();
        Self { kept: None, clock: Clock::start(), trail: Vec::new(), crash }
    }

    /// The record of a session that begins.
    pub(crate) fn begin(
        mut journal: Journal,
        id: &str,
        (root, model): (&Path, &str),
    ) -> Result<Self, CliError> {
        let clock = Clock::start();
        let (pid, at) = (std::process::id(), clock.now());
        let mut crash = CrashPoint::from_environment();
        crash.here();
        journal.begin_conversation(&NewConversation { id, root, model, pid, at })?;
        crash.here();
        let kept = Some(InJournal { journal, id: id.to_owned() });
        Ok(Self { kept, clock, trail: Vec::new(), crash })
    }

    /// Takes a session up again: its record, all that was said, and its judge as it was kept.
    pub(crate) fn resume(
        mut journal: Journal,
        row: &ConversationRow,
    ) -> Result<(Self, Conversation, Kept), CliError> {
        let id = row.id.clone();
        let at_work = || CliError::already_running(format!("session `{id}` is at work"));
        if let Some(pid) = row.pid.filter(|pid| process::still_runs(*pid, row.last_at)) {
            return Err(at_work().hint(format!("it is process {pid}; end it there first")));
        }
        let hands = (row.pid, Some(std::process::id()));
        if !journal.hand_over_conversation(&id, hands)? {
            return Err(at_work().hint("somebody else took it up at the same moment"));
        }
        let mut conversation = Conversation::default();
        let mut broken = None;
        journal.conversation_entries(&id, |entry| {
            // A sub-agent's words are its own; the call that sent it is told as interrupted.
            if entry.agent.is_empty() {
                match serde_json::from_str::<Entry>(&entry.body) {
                    Ok(entry) => conversation.apply(entry),
                    Err(error) => broken = Some(error),
                }
            }
        })?;
        if let Some(error) = broken {
            let message = format!("session `{id}` has an entry this flyball does not understand");
            return Err(CliError::data(message).cause(error));
        }
        let state = |key: String| journal.session_state(&key);
        let calls = state(format!("{KEY}{id}"))?.unwrap_or_default();
        let stops = state(format!("{KEY}{id}/stop"))?.unwrap_or_default();
        let kept = Some(InJournal { journal, id });
        let crash = CrashPoint::from_environment();
        let record = Self { kept, clock: Clock::start(), trail: Vec::new(), crash };
        Ok((record, conversation, Kept { calls, stops }))
    }

    /// The session's name.
    pub(crate) fn id(&self) -> Option<&str> {
        self.kept.as_ref().map(|kept| kept.id.as_str())
    }

    /// Writes an entry down, with the judge as it stands after it.
    pub(crate) fn put(
        &mut self,
        entry: &Entry,
        agent: &SubAgent,
        judge: Option<Kept>,
    ) -> Result<(), CliError> {
        let Some(InJournal { journal, id }) = &mut self.kept else { return Ok(()) };
        let body = serde_json::to_string(entry)
            .map_err(|error| CliError::internal("an entry cannot be written").cause(error))?;
        let key = format!("{KEY}{id}");
        let states = judge.map_or_else(Vec::new, |judge| {
            vec![(key.clone(), judge.calls), (format!("{key}/stop"), judge.stops)]
        });
        let trail = std::mem::take(&mut self.trail);
        let step = ConversationStep {
            at: self.clock.now(),
            agent: agent.as_str(),
            body: &body,
            states: &states,
            trail: (&key, &trail),
        };
        self.crash.here();
        journal.add_to_conversation(id, &step)?;
        self.crash.here();
        Ok(())
    }

    /// Something was done, and nobody has written it down yet: here a crash test may strike.
    pub(crate) fn may_die(&mut self) {
        self.crash.here();
    }

    /// What a judge said, for the trail: `flyball log --session` shows it.
    pub(crate) fn judged(&mut self, event: &str, call: Option<&ToolCall>, spoken: &Spoken) {
        if self.kept.is_none() || (call.is_none() && spoken.rung == Rung::Pass) {
            return;
        }
        let report = HookReport {
            agent: "session".to_owned(),
            event: event.to_owned(),
            session: self.id().unwrap_or_default().to_owned(),
            verdict: Some(spoken.rung),
            call: call.map(|call| call.id.to_string()).unwrap_or_default(),
            tool: call.map(|call| call.tool.clone()).unwrap_or_default(),
            asked: call.is_some(),
            trip: spoken.trip.clone(),
            ..HookReport::default()
        };
        self.trail.extend(report.to_json());
    }

    /// Nobody holds it any more.
    pub(crate) fn close(&mut self) -> Result<(), CliError> {
        if let Some(InJournal { journal, id }) = &mut self.kept {
            journal.hand_over_conversation(id, (Some(std::process::id()), None))?;
        }
        Ok(())
    }
}
