//! A session outside of a run: what its hooks were asked and answered, from the trail.

use flyball_core::Moment;
use flyball_core::guard::Rung;
use flyball_core::stop::StopRing;

use super::super::columns::{self, Cell};
use super::super::{fault, words};
use crate::call_session::{CallSession, GuardTally};
use crate::error::CliError;
use crate::hook::{HookReport, TrailRow};
use crate::journal::{HookRow, Journal};
use crate::terminal::Paint;

/// Characters shown of a reason.
const WORDS_MAX: usize = 100;

/// How many sessions are looked through.
const SESSIONS_MAX: u32 = 500;

/// The names of the sessions that spoke through hooks, the latest first.
fn names(journal: &Journal) -> Result<Vec<String>, CliError> {
    let rows = journal.sessions_since(Moment::default(), SESSIONS_MAX).map_err(fault::journal)?;
    let is_one =
        |id: &String| !id.starts_with("run/") && !id.starts_with("mcp:") && !id.ends_with("/stop");
    Ok(rows.into_iter().map(|row| row.id).filter(is_one).collect())
}

/// The latest session that spoke through hooks.
pub(super) fn latest(journal: &Journal) -> Option<String> {
    names(journal).ok()?.into_iter().next()
}

/// The session meant: this one, the only one with this in its name, or the latest.
pub(super) fn find(journal: &Journal, asked: &str) -> Result<String, CliError> {
    let names = names(journal)?;
    let fits: Vec<&String> = names.iter().filter(|name| name.contains(asked)).collect();
    match fits.as_slice() {
        _ if names.iter().any(|name| name == asked) => Ok(asked.to_owned()),
        [first, ..] if asked.is_empty() => Ok((*first).clone()),
        [only] => Ok((*only).clone()),
        [] => Ok(asked.to_owned()),
        several => {
            let some: Vec<String> =
                several.iter().take(5).map(|name| format!("`{name}`")).collect();
            Err(CliError::no_input(format!(
                "`{asked}` is part of the names of {} sessions",
                several.len()
            ))
            .hint(format!("one of {}", some.join(", "))))
        }
    }
}

/// The trail of a session, as a table or as JSON lines.
pub(super) fn text(
    journal: &Journal,
    name: &str,
    (paint, json): (Paint, Option<AsJson>),
) -> Result<String, CliError> {
    let mut rows = journal.trail_of(name).map_err(fault::journal)?;
    rows.extend(journal.trail_of(&format!("{name}/stop")).map_err(fault::journal)?);
    rows.sort_by_key(|row| row.key);
    if rows.is_empty() {
        let error = CliError::no_input(format!("nothing is known of a session `{name}`"));
        return Err(error.hint("`flyball status --json` names those that spoke through hooks"));
    }
    if json.is_some() {
        let bodies: Vec<&str> = rows.iter().map(|row| row.body.as_str()).collect();
        return Ok(format!("{}\n", bodies.join("\n")));
    }
    let mut lines = vec![columns::heading(&["TIME", "EVENT", "TOOL", "ANSWER", "WHY"])];
    lines.extend(rows.iter().filter_map(line));
    let table = columns::render(&lines, paint);
    let guards = guards(journal, name)?.words();
    Ok(if guards.is_empty() { table } else { format!("{table}\nGuards: {guards}\n") })
}

/// What each guard did in the session.
fn guards(journal: &Journal, name: &str) -> Result<GuardTally, CliError> {
    let state = journal.session_state(name).map_err(fault::journal)?;
    let stops = journal.session_state(&format!("{name}/stop")).map_err(fault::journal)?;
    let stops = stops.and_then(|state| serde_json::from_slice::<StopRing>(&state).ok());
    let refused = stops.map_or(0, |ring| ring.refusals());
    Ok(CallSession::read(state.as_deref()).state(refused).guards)
}

/// That JSON is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct AsJson;

fn line(row: &HookRow) -> Option<Vec<Cell>> {
    let TrailRow::Hook(report) = TrailRow::read(row)? else { return None };
    let HookReport { event, tool, verdict, trip, stop_refused, note, .. } = report;
    let why = trip.map(|trip| trip.evidence).or(stop_refused).or(note).unwrap_or_default();
    Some(vec![
        Cell::plain(words::time(row.at)),
        Cell::plain(words::line(&event, 30)),
        Cell::plain(words::line(if tool.is_empty() { "-" } else { &tool }, 30)),
        Cell::plain(verdict.map_or("-", Rung::as_str)),
        Cell::plain(words::line(&why, WORDS_MAX)),
    ])
}
