//! Runs kept as they are looked at: each is told once, and then only what is new. How it stands is kept in
//! memory; its lines, which may be many, in a file.

use std::collections::BTreeMap;

use flyball_core::RunId;

use super::told::{self, LinePage, Show, Shown};
use crate::journal::{Journal, JournalError, RunSummary, ToldBook};
use crate::view::{Builder, RunView};

/// How many runs are kept; the one not looked at for longest goes first. More than a page of runs at
/// work has: else each look at it would tell all of them anew.
const KEPT_MAX: usize = 16;

/// Runs as they were told so far.
#[derive(Debug, Default)]
pub(super) struct Views {
    kept: BTreeMap<RunId, Kept>,
    looks: u64,
    book: Option<ToldBook>,
    /// How many runs were told so far; the number each one's lines are under.
    told: i64,
}

#[derive(Debug)]
struct Kept {
    builder: Builder,
    seq: u64,
    broken: Option<String>,
    looked: u64,
    /// What its lines are under.
    key: i64,
}

impl Views {
    /// The run as it stands.
    pub(super) fn view(
        &mut self,
        journal: &Journal,
        run: &RunSummary,
    ) -> Result<RunView, JournalError> {
        let (kept, _) = self.fed(journal, run)?;
        let view = kept.builder.view(run);
        Ok(RunView { broken: kept.broken.clone().or(view.broken), ..view })
    }

    /// The run as it is being told.
    pub(super) fn builder(
        &mut self,
        journal: &Journal,
        run: &RunSummary,
    ) -> Result<&mut Builder, JournalError> {
        Ok(&mut self.fed(journal, run)?.0.builder)
    }

    /// The last lines of a run before an event. Reads what is new of the run, and this page.
    pub(super) fn lines(
        &mut self,
        journal: &Journal,
        run: &RunSummary,
        (show, before): (Show, u64),
        most: usize,
    ) -> Result<LinePage, JournalError> {
        let (kept, book) = self.fed(journal, run)?;
        let lines = if let Some(sort) = show.sort() {
            let last = book.last(kept.key, sort, before, most + 1)?;
            last.into_iter().rev().map(Shown::Told).collect()
        } else {
            let most = u32::try_from(most).unwrap_or(u32::MAX).saturating_add(1);
            let events = journal.last_kinds(&run.run, before, most)?;
            let from = events.first().map_or(0, |event| event.seq);
            told::everything(&events, book.between(kept.key, from, before)?)
        };
        let (lines, more) = told::cut(lines, most);
        Ok(LinePage { lines, more, broken: kept.broken.clone() })
    }

    fn fed(
        &mut self,
        journal: &Journal,
        run: &RunSummary,
    ) -> Result<(&mut Kept, &ToldBook), JournalError> {
        let book = match self.book.take() {
            Some(book) => book,
            None => ToldBook::new()?,
        };
        let book = &*self.book.insert(book);
        self.looks += 1;
        // A run with fewer events than were told is another one under the same name.
        if let Some(kept) = self.kept.get(&run.run)
            && kept.seq > run.events
        {
            book.forget(kept.key)?;
            self.kept.remove(&run.run);
        }
        make_room(&mut self.kept, book, &run.run)?;
        let mut kept = self.kept.remove(&run.run).unwrap_or_else(|| {
            self.told += 1;
            let builder = Builder::without_lines(run);
            Kept { builder, seq: 0, broken: None, looked: 0, key: self.told }
        });
        kept.looked = self.looks;
        // What cannot be told to its end is told anew next time.
        if let Err(error) = book.adding(|book| feed(&mut kept, book, journal, run)) {
            book.forget(kept.key)?;
            return Err(error);
        }
        Ok((self.kept.entry(run.run.clone()).or_insert(kept), book))
    }
}

/// Tells a run what it does not know yet.
fn feed(
    kept: &mut Kept,
    book: &ToldBook,
    journal: &Journal,
    run: &RunSummary,
) -> Result<(), JournalError> {
    if kept.broken.is_some() || kept.seq == run.events {
        return Ok(());
    }
    for recorded in journal.events_after(&run.run, kept.seq)? {
        let recorded = match recorded {
            Ok(recorded) => recorded,
            Err(error @ (JournalError::BadEvent { .. } | JournalError::Corrupt { .. })) => {
                kept.broken = Some(error.to_string());
                break;
            }
            Err(error) => return Err(error),
        };
        let (mut part, mut added) = (0, Ok(()));
        kept.builder.step_told(recorded.at, &recorded.event, |line| {
            if added.is_ok() {
                let sorts = told::sorts(line);
                added = book.add(kept.key, part, &told::kept(recorded.seq, line), sorts);
            }
            part += 1;
        });
        added?;
        kept.seq = recorded.seq;
    }
    Ok(())
}

fn make_room(
    kept: &mut BTreeMap<RunId, Kept>,
    book: &ToldBook,
    wanted: &RunId,
) -> Result<(), JournalError> {
    while kept.len() >= KEPT_MAX && !kept.contains_key(wanted) {
        let oldest = kept.iter().min_by_key(|(_, kept)| kept.looked);
        let Some((oldest, key)) = oldest.map(|(id, kept)| (id.clone(), kept.key)) else { break };
        kept.remove(&oldest);
        book.forget(key)?;
    }
    Ok(())
}
