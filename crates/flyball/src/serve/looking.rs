//! The thread that looks whether anything changed, and tells everybody who listens.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use flyball_core::{Millis, Moment, RunId};
use serde_json::json;

use super::stream::SIGN_EVERY;
use super::window::Window;
use crate::clock::{self, Deadline};
use crate::desk::{self, Life, life};
use crate::journal::{Journal, JournalError, RunFilter};

/// Between two looks: at most four words a second.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often runs are looked for whose process is gone: that writes nothing.
const LIVES_EVERY: Duration = Duration::from_secs(2);
/// How far back a run may have moved to be named.
const MOVED_WITHIN: Millis = Millis::from_secs(60);

/// Looks until the process ends.
pub(super) fn keep_looking(window: Arc<Window>, journal: Journal) -> std::io::Result<()> {
    let looking = move || {
        let mut seen = Seen::default();
        loop {
            thread::sleep(LOOK_EVERY);
            seen.look(&window, &journal);
        }
    };
    thread::Builder::new().name("looking".to_owned()).stack_size(512 * 1024).spawn(looking)?;
    Ok(())
}

/// What was there at the last look.
struct Seen {
    version: Option<i64>,
    events: BTreeMap<RunId, u64>,
    alive: Vec<RunId>,
    lives: Deadline,
    sign: Deadline,
}

impl Default for Seen {
    fn default() -> Self {
        let (lives, sign) = (Deadline::after(LIVES_EVERY), Deadline::after(SIGN_EVERY));
        Self { version: None, events: BTreeMap::new(), alive: Vec::new(), lives, sign }
    }
}

impl Seen {
    fn look(&mut self, window: &Window, journal: &Journal) {
        window.streams.keep(|session| window.access.knows(session));
        let version = journal.data_version().ok();
        let mut changed = version != self.version;
        self.version = version;
        if self.lives.passed() {
            self.lives = Deadline::after(LIVES_EVERY);
            let alive = alive(journal).unwrap_or_default();
            changed |= alive != self.alive;
            self.alive = alive;
        }
        // Nobody listens: nothing is counted.
        if changed && window.streams.count() > 0 {
            let runs = self.moved(journal, clock::wall()).unwrap_or_default();
            let asks = journal.latest_runs().and_then(|runs| desk::asks(journal, &runs));
            let asks = asks.map_or(0, |asks| asks.len());
            window.streams.tell("change", &json!({ "runs": runs, "asks": asks }).to_string());
            self.sign = Deadline::after(SIGN_EVERY);
        }
        if self.sign.passed() {
            window.streams.sign();
            self.sign = Deadline::after(SIGN_EVERY);
        }
    }

    /// The runs that have other events than at the last look.
    fn moved(&mut self, journal: &Journal, now: Moment) -> Result<Vec<RunId>, JournalError> {
        let latest: BTreeMap<RunId, u64> =
            journal.moved_since(now.minus(MOVED_WITHIN))?.into_iter().collect();
        let moved = latest.iter().filter(|(run, events)| self.events.get(*run) != Some(*events));
        let moved = moved.map(|(run, _)| run.clone()).collect();
        self.events = latest;
        Ok(moved)
    }
}

/// The runs at work.
fn alive(journal: &Journal) -> Result<Vec<RunId>, JournalError> {
    let filter = RunFilter { unfinished: true, ..RunFilter::default() };
    let open = journal.runs(&filter)?.into_iter();
    Ok(open.filter(|run| life(run) == Life::Running).map(|run| run.run).collect())
}
