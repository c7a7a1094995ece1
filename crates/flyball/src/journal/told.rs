//! Lines told of runs, kept for who pages through them. What guards did is not in the journal but decided
//! again, so that a page of lines would cost its whole run each time; from here it costs its own rows. The
//! file is this process's own, has no name, and is gone with it.

use flyball_core::{IterationNo, Moment};
use rusqlite::{Connection, Row, params};

use super::{JournalError, number, stored};

/// How much of the file is held in memory.
const CACHE_KIB: i64 = 128;

/// A sort of lines, each with an index of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToldSort {
    /// What is worth reading.
    Story,
    /// What guards did.
    Guards,
    /// What gates said.
    Gates,
    /// Calls and what they gave.
    Calls,
}

impl ToldSort {
    /// All of them, as they stand in a row.
    pub(crate) const ALL: [Self; 4] = [Self::Story, Self::Guards, Self::Gates, Self::Calls];

    const fn column(self) -> &'static str {
        match self {
            Self::Story => "story",
            Self::Guards => "guards",
            Self::Gates => "gates",
            Self::Calls => "calls",
        }
    }
}

/// A line as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToldLine {
    /// The number of its event.
    pub(crate) seq: u64,
    pub(crate) at: Moment,
    pub(crate) iteration: Option<IterationNo>,
    pub(crate) verb: String,
    pub(crate) tone: String,
    pub(crate) text: String,
}

/// The lines of some runs, each under a number that its owner gives it.
#[derive(Debug)]
pub(crate) struct ToldBook {
    connection: Connection,
}

impl ToldBook {
    /// An empty one.
    pub(crate) fn new() -> Result<Self, JournalError> {
        // No name: a file that is removed as soon as it is open.
        let connection = Connection::open("")?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.query_row("PRAGMA journal_mode = MEMORY", [], |_| Ok(()))?;
        connection.execute_batch(
            "CREATE TABLE told (
                 run INTEGER NOT NULL, seq INTEGER NOT NULL, part INTEGER NOT NULL,
                 story INTEGER NOT NULL, guards INTEGER NOT NULL, gates INTEGER NOT NULL,
                 calls INTEGER NOT NULL, at INTEGER NOT NULL, iteration INTEGER,
                 verb TEXT NOT NULL, tone TEXT NOT NULL, text TEXT NOT NULL,
                 PRIMARY KEY (run, seq, part)
             ) STRICT, WITHOUT ROWID;
             CREATE INDEX told_story ON told (run, seq, part) WHERE story;
             CREATE INDEX told_guards ON told (run, seq, part) WHERE guards;
             CREATE INDEX told_gates ON told (run, seq, part) WHERE gates;
             CREATE INDEX told_calls ON told (run, seq, part) WHERE calls;",
        )?;
        Ok(Self { connection })
    }

    /// Many lines at once: all of them or none.
    pub(crate) fn adding<T>(
        &self,
        adding: impl FnOnce(&Self) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let change = self.connection.unchecked_transaction()?;
        let done = adding(self)?;
        change.commit()?;
        Ok(done)
    }

    /// Adds a line, the so-many-th of its event, with the sorts it is of.
    pub(crate) fn add(
        &self,
        run: i64,
        part: usize,
        line: &ToldLine,
        sorts: [bool; 4],
    ) -> Result<(), JournalError> {
        let [story, guards, gates, calls] = sorts;
        self.connection
            .prepare_cached(
                "INSERT INTO told VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
                run,
                stored(line.seq),
                i64::try_from(part).unwrap_or(i64::MAX),
                story,
                guards,
                gates,
                calls,
                stored(line.at.as_millis()),
                line.iteration.map(IterationNo::get),
                line.verb,
                line.tone,
                line.text,
            ])?;
        Ok(())
    }

    /// The last lines of a sort before an event, the latest first.
    pub(crate) fn last(
        &self,
        run: i64,
        sort: ToldSort,
        before: u64,
        most: usize,
    ) -> Result<Vec<ToldLine>, JournalError> {
        let mut select = self.connection.prepare_cached(&last_of(sort))?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = select.query_map(params![run, stored(before), most], line)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// All lines of the events from one to another, in order; the last not included.
    pub(crate) fn between(
        &self,
        run: i64,
        from: u64,
        before: u64,
    ) -> Result<Vec<ToldLine>, JournalError> {
        let mut select = self.connection.prepare_cached(BETWEEN)?;
        let rows = select.query_map(params![run, stored(from), stored(before)], line)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Lets go of a run's lines.
    pub(crate) fn forget(&self, run: i64) -> Result<(), JournalError> {
        self.connection.execute("DELETE FROM told WHERE run = ?1", [run])?;
        Ok(())
    }
}

const BETWEEN: &str = "SELECT seq, at, iteration, verb, tone, text FROM told
     WHERE run = ?1 AND seq >= ?2 AND seq < ?3 ORDER BY seq, part";

/// Named, its index is taken: left to itself `SQLite` goes by the key, through all lines of other sorts.
fn last_of(sort: ToldSort) -> String {
    let sort = sort.column();
    format!(
        "SELECT seq, at, iteration, verb, tone, text FROM told INDEXED BY told_{sort}
         WHERE run = ?1 AND {sort} AND seq < ?2 ORDER BY seq DESC, part DESC LIMIT ?3"
    )
}

fn line(row: &Row<'_>) -> rusqlite::Result<ToldLine> {
    Ok(ToldLine {
        seq: number(row.get(0)?),
        at: Moment::from_millis(number(row.get(1)?)),
        iteration: row.get::<_, Option<u32>>(2)?.map(IterationNo::new),
        verb: row.get(3)?,
        tone: row.get(4)?,
        text: row.get(5)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(seq: u64, text: &str) -> ToldLine {
        let (at, iteration) = (Moment::from_millis(seq), Some(IterationNo::new(1)));
        let (verb, tone) = ("CALL".to_owned(), "plainly".to_owned());
        ToldLine { seq, at, iteration, verb, tone, text: text.to_owned() }
    }

    #[test]
    fn a_page_is_found_by_its_index_alone() {
        let book = ToldBook::new().unwrap();
        let queries = ToldSort::ALL.map(last_of).into_iter().chain([BETWEEN.to_owned()]);
        for query in queries {
            let explain = format!("EXPLAIN QUERY PLAN {query}");
            let mut plan = book.connection.prepare(&explain).unwrap();
            let steps = plan.query_map([1, 2, 3], |row| row.get::<_, String>(3)).unwrap();
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            assert_eq!(steps.len(), 1, "nothing is sorted: {steps:?}");
            assert!(steps.iter().all(|step| step.starts_with("SEARCH told USING")), "{steps:?}");
        }
        let sorted = |sort: ToldSort| {
            let mut plan =
                book.connection.prepare(&format!("EXPLAIN QUERY PLAN {}", last_of(sort))).unwrap();
            plan.query_row([1, 2, 3], |row| row.get::<_, String>(3)).unwrap()
        };
        assert!(
            sorted(ToldSort::Guards).contains("told_guards"),
            "rows of other sorts are skipped"
        );
    }

    #[test]
    fn lines_are_found_by_sort_and_place_and_forgotten_by_run() {
        let book = ToldBook::new().unwrap();
        let calls = [false, false, false, true];
        book.adding(|book| {
            for seq in 1..=200 {
                book.add(1, 0, &told(seq, "a call"), calls)?;
            }
            book.add(1, 1, &told(150, "a word of a guard"), [true, true, false, false])?;
            book.add(2, 0, &told(7, "another run"), calls)
        })
        .unwrap();
        let texts = |found: &[ToldLine]| -> Vec<(u64, String)> {
            found.iter().map(|line| (line.seq, line.text.clone())).collect()
        };
        let guards = book.last(1, ToldSort::Guards, u64::MAX, 100).unwrap();
        assert_eq!(texts(&guards), [(150, "a word of a guard".to_owned())]);
        assert_eq!(book.last(1, ToldSort::Guards, 150, 100).unwrap(), []);
        let calls = book.last(1, ToldSort::Calls, 100, 2).unwrap();
        assert_eq!(texts(&calls), [(99, "a call".to_owned()), (98, "a call".to_owned())]);
        assert_eq!(book.between(1, 149, 151).unwrap().len(), 3);
        book.forget(1).unwrap();
        assert_eq!(book.between(1, 0, u64::MAX).unwrap(), []);
        assert_eq!(book.last(2, ToldSort::Calls, u64::MAX, 9).unwrap().len(), 1);
    }
}
