//! Sessions outside of runs: clients that speak through their hooks, agents that ask over MCP.

use flyball_core::stop::StopRing;
use flyball_core::{Millis, Moment};
use serde::Serialize;

use super::super::columns::{self, Cell};
use super::super::{fault, words};
use crate::call_session::{CallSession, RingState};
use crate::error::CliError;
use crate::journal::{Journal, SessionRow};
use crate::terminal::{self, Paint};

/// How far back sessions are shown.
const SHOWN: Millis = Millis::from_secs(24 * 3600);
/// How many rows are read, and how many sessions are shown as text.
const ROWS_MAX: u32 = 500;
const LINES_MAX: usize = 8;
/// How much of a session's name is shown.
const NAME_CELLS: usize = 36;

/// A session outside of a run.
#[derive(Debug, Serialize)]
pub(super) struct GuardedSession {
    /// Its client and name, as its state is kept under; `flyball log --session` takes it.
    name: String,
    /// Through which door it speaks.
    door: Door,
    updated: Moment,
    /// Its call ring: calls per tool, and what was counted.
    calls: RingState,
    /// Stops that were refused.
    stops_refused: u32,
}

/// Through which door a session speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Door {
    Hook,
    Mcp,
    /// None: it is flyball's own agent.
    BuiltIn,
}

impl Door {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Hook => "hooks",
            Self::Mcp => "mcp",
            Self::BuiltIn => "itself",
        }
    }
}

/// The sessions of the last day, the latest first.
pub(super) fn look(journal: &Journal, now: Moment) -> Result<Vec<GuardedSession>, CliError> {
    let since = Moment::from_millis(now.as_millis().saturating_sub(SHOWN.get()));
    let rows = journal.sessions_since(since, ROWS_MAX).map_err(fault::journal)?;
    let stops = |key: &str| {
        let state = rows.iter().find(|row| row.id.strip_suffix("/stop") == Some(key));
        let ring = state.and_then(|row| serde_json::from_slice::<StopRing>(&row.state).ok());
        ring.map_or(0, |ring| ring.refusals())
    };
    Ok(rows.iter().filter_map(|row| session(row, stops(&row.id))).collect())
}

fn session(row: &SessionRow, stops_refused: u32) -> Option<GuardedSession> {
    let (door, name) = match row.id.strip_prefix("mcp:") {
        Some(kept) => (Door::Mcp, kept.strip_prefix("calls:")?),
        None if row.id.starts_with("session/") => (Door::BuiltIn, row.id.as_str()),
        None => (Door::Hook, row.id.as_str()),
    };
    if name.starts_with("run/") || name.ends_with("/stop") {
        return None;
    }
    let calls = CallSession::read(Some(&row.state)).state(stops_refused);
    Some(GuardedSession { name: name.to_owned(), door, updated: row.updated, calls, stops_refused })
}

/// A few lines about the latest; nothing without any.
pub(super) fn text(sessions: &[GuardedSession], now: Moment, paint: Paint) -> String {
    if sessions.is_empty() {
        return String::new();
    }
    let titles = ["SESSION", "THROUGH", "LAST", "CALLS", "REFUSED", "STOPS"];
    let mut rows = vec![columns::heading(&titles)];
    rows.extend(sessions.iter().take(LINES_MAX).map(|one| {
        vec![
            Cell::plain(terminal::cut(&words::line(&one.name, 200), NAME_CELLS)),
            Cell::plain(one.door.as_str()),
            Cell::plain(format!("{} ago", words::short_span(now.since(one.updated)))),
            Cell::plain(words::count(one.calls.calls)),
            Cell::plain(one.calls.refusals.to_string()),
            Cell::plain(one.stops_refused.to_string()),
        ]
    }));
    format!("\n{}", columns::render(&rows, paint))
}
