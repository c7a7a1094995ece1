//! What a hook leaves on the trail: for the run that its session belongs to, and for people.

use flyball_core::guard::Rung;
use flyball_core::guard::Trip;
use flyball_core::task::AttemptReport;
use flyball_core::text::{head, tail};
use flyball_core::{IterationNo, Moment, RunId};
use serde::{Deserialize, Serialize};

use super::context::HookContext;
use super::{Asked, Heard, Occasion, Reply};
use crate::journal::{HookRow, Journal, JournalError};

/// Characters kept of a name or an id.
const NAME: usize = 200;
/// Characters kept of a reason.
const REASON: usize = 12_100;
/// Characters kept of what was said.
const SAID: usize = 100_000;

/// A row of the trail: what it is stands in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub(crate) enum TrailRow {
    /// A hook was asked.
    Hook(HookReport),
    /// An agent said something of an attempt.
    Attempt(AttemptRow),
}

/// What an agent said of an attempt, on its way to the run it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AttemptRow {
    /// The iteration it was said in.
    pub(crate) iteration: IterationNo,
    /// What was said.
    pub(crate) reported: AttemptReport,
}

impl TrailRow {
    /// The row as it was written; none when it is of a later version.
    pub(crate) fn read(row: &HookRow) -> Option<Self> {
        serde_json::from_str(&row.body).ok()
    }

    /// The row as it is written.
    pub(crate) fn to_json(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }
}

/// One asking and its answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HookReport {
    /// The client.
    pub(crate) agent: String,
    /// Its event.
    pub(crate) event: String,
    /// The client's session.
    pub(crate) session: String,
    /// The iteration, inside a run.
    pub(crate) iteration: Option<IterationNo>,
    /// The answer's rung; none when nothing was asked.
    pub(crate) verdict: Option<Rung>,
    /// The call's id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) call: String,
    /// The tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) tool: String,
    /// Whether a call was asked about.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) asked: bool,
    /// Whether a result was told.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) answered: bool,
    /// What was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trip: Option<Trip>,
    /// Why a stop was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop_refused: Option<String>,
    /// What the agent said before a refused stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) said: Option<String>,
    /// A remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// A remark on the hooks of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HookNote {
    /// When.
    pub(crate) at: Moment,
    /// In which iteration.
    pub(crate) iteration: Option<IterationNo>,
    /// What is to be said.
    pub(crate) note: String,
}

/// The remarks on the hooks of a run.
pub(crate) fn notes(journal: &Journal, run: &RunId) -> Result<Vec<HookNote>, JournalError> {
    let rows = journal.hooks_after(run, 0)?;
    let note = |row: HookRow| match TrailRow::read(&row)? {
        TrailRow::Hook(HookReport { note, iteration, .. }) => {
            Some(HookNote { at: row.at, iteration, note: note? })
        }
        TrailRow::Attempt(_) => None,
    };
    Ok(rows.into_iter().filter_map(note).collect())
}

impl HookReport {
    pub(super) fn new(asked: &Asked<'_>, heard: &Heard, context: &HookContext) -> Self {
        Self {
            agent: asked.dialect.name().to_owned(),
            event: head(asked.event, NAME),
            session: head(&heard.session, NAME),
            iteration: context.run.as_ref().map(|(_, iteration)| *iteration),
            call: head(&heard.call.id, NAME),
            tool: head(&heard.call.tool, NAME),
            asked: asked.occasion == Occasion::Before,
            answered: heard.result.is_some(),
            ..Self::default()
        }
    }

    pub(super) fn answered_with(mut self, reply: &Reply, trip: Option<&Trip>) -> Self {
        self.verdict = Some(reply.rung);
        self.trip = trip.cloned();
        self
    }

    pub(super) fn stop_refused(mut self, reason: &str, said: Option<&str>) -> Self {
        self.stop_refused = Some(head(reason, REASON));
        self.said = said.map(|said| tail(said, SAID).to_owned());
        self
    }

    pub(crate) fn to_json(&self) -> Option<String> {
        TrailRow::Hook(self.clone()).to_json()
    }
}
