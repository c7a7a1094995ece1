//! Opening the journal: refusing what is damaged or too new before anything is written to it.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use rusqlite_migration::{M, Migrations};

use super::group::Group;
use super::kept::{Kept, changes_path};
use super::turn::Turn;
use super::{Hurry, Journal, JournalError, is_busy};
use crate::clock::Deadline;
use crate::files;

/// Never edited once released: a change is a further file.
const MIGRATIONS: [M<'_>; 7] = [
    M::up(include_str!("../../migrations/0001_journal.sql")),
    M::up(include_str!("../../migrations/0002_hook_trail.sql")),
    M::up(include_str!("../../migrations/0003_trail_rows.sql")),
    M::up(include_str!("../../migrations/0004_shield.sql")),
    M::up(include_str!("../../migrations/0006_human.sql")),
    M::up(include_str!("../../migrations/0007_window.sql")),
    M::up(include_str!("../../migrations/0009_session.sql")),
];
/// How long the database itself waits for another process before it asks whether to go on waiting.
const BUSY_MAX: Duration = Duration::from_millis(250);
/// How long a journal is waited for that is being brought up to date.
const PREPARE_MAX: Duration = Duration::from_secs(10);
/// How much may gather in the file of changes when nobody keeps the journal open.
const TIDY_BYTES: u64 = 400 * 1024;
/// How much of the file is held in memory. A run writes new pages all its life and reads few again:
/// with more it would only grow for its first thousand iterations.
const CACHE_KIB: i64 = 512;
/// How a journal's file begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The journals this process has looked at and opened.
///
/// Closing any descriptor of a file gives up every lock this process holds on it, also those of a
/// database that is open. So a file is looked at only before this process opens it as a database for
/// the first time.
static OPENED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

pub(super) fn open(state_dir: &Path) -> Result<Journal, JournalError> {
    let doing = format!("make the folder `{}`", state_dir.display());
    let mut folder = DirBuilder::new();
    folder.recursive(true).mode(0o700).create(state_dir).map_err(|e| JournalError::io(doing, e))?;
    let path = state_dir.join("journal.sqlite");
    let hurry = Hurry::default();
    let lock = state_dir.join("journal.lock");
    let turn = match private_file(&lock) {
        Err(JournalError::Io { source, .. })
            if source.kind() == io::ErrorKind::ReadOnlyFilesystem =>
        {
            return open_to_look(&path, &lock).map_err(|error| error.at(&path));
        }
        other => other?,
    };
    let (connection, turn) = (connect(&path)?, Arc::new(turn));
    prepare(connection, &path, (&turn, &hurry))
        .and_then(|connection| {
            let kept = Kept::now(&path)?;
            let group = Group::default();
            Ok(Journal { connection, turn, path: path.clone(), kept, hurry, group })
        })
        .map_err(|error| error.at(&path))
}

/// Opens the journal where the folder cannot be written, as inside of a run: it can be looked at.
fn open_to_look(path: &Path, lock: &Path) -> Result<Journal, JournalError> {
    let doing = |path: &Path| format!("read `{}`", path.display());
    let turn = files::open(lock).map_err(|source| JournalError::io(doing(lock), source))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_MAX)?;
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    version(&connection, path, known)?;
    let (kept, hurry) = (Kept::now(path)?, Hurry::default());
    let (turn, group) = (Arc::new(turn), Group::default());
    Ok(Journal { connection, turn, path: path.to_path_buf(), kept, hurry, group })
}

/// Opens the database; one this process has not seen before is looked at, or made.
fn connect(path: &Path) -> Result<Connection, JournalError> {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_there = path.symlink_metadata().is_ok();
    // A pipe in its place would be waited for. Looking costs no lock, only opening does.
    if is_there && !path.metadata().is_ok_and(|found| found.is_file()) {
        let why = "it is no file".to_owned();
        return Err(JournalError::Corrupt { path: path.to_path_buf(), why });
    }
    if !opened.contains(path) || !is_there {
        refuse_at_sight(path)?;
        // Made here rather than by the database: for the user's eyes only, wherever it lies.
        if !is_there {
            private_file(path)?;
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connect = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_MAX)?;
        Ok(connection)
    };
    let connection = connect().map_err(|error: JournalError| error.at(path))?;
    opened.insert(path.to_path_buf());
    Ok(connection)
}

/// Opens the journal for a process that lives for a moment only: it does not tidy up when it ends,
/// which would cost more than all it does. Whoever lives longer does that; when nobody does, one in
/// some dozens tidies up after all, because each has to read all that was not tidied away.
pub(super) fn open_briefly(state_dir: &Path) -> Result<Journal, JournalError> {
    let journal = open(state_dir)?;
    let leaves_it = pending_bytes(&journal.path) < TIDY_BYTES;
    journal.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leaves_it)?;
    journal.connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    Ok(journal)
}

/// A file for the user alone, made empty when it is not there. A lock stays where it is: removing
/// one would let two hold it.
pub(super) fn private_file(path: &Path) -> Result<File, JournalError> {
    let doing = format!("open `{}`", path.display());
    files::open_private(path).map_err(|source| JournalError::io(doing, source))
}

fn prepare(
    mut connection: Connection,
    path: &Path,
    (turn, hurry): (&Arc<File>, &Hurry),
) -> Result<Connection, JournalError> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if version(&connection, path, known)? < known {
        let _turn = Turn::take(turn, hurry);
        // Another process may have done it in the meantime.
        if version(&connection, path, known)? < known {
            // What another process does to it at this moment is waited for.
            connection.busy_timeout(PREPARE_MAX)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            Migrations::from_slice(&MIGRATIONS).to_latest(&mut connection).map_err(migration)?;
            connection.busy_timeout(BUSY_MAX)?;
        }
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", CACHE_KIB.saturating_neg())?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

fn version(connection: &Connection, path: &Path, known: i64) -> Result<i64, JournalError> {
    let limit = Deadline::after(PREPARE_MAX);
    let found: i64 = loop {
        match connection.query_row("PRAGMA user_version", [], |row| row.get(0)) {
            Err(error) if is_busy(&error) && !limit.passed() => {}
            found => break found?,
        }
    };
    if found > known {
        return Err(JournalError::Newer { path: path.to_path_buf(), found, known });
    }
    Ok(found)
}

fn migration(error: rusqlite_migration::Error) -> JournalError {
    if let rusqlite_migration::Error::RusqliteError { err, .. } = error {
        return err.into();
    }
    JournalError::io("bring the journal up to date", io::Error::other(error))
}

/// Reads the first bytes of the file itself: even opening a database can write to it.
fn refuse_at_sight(path: &Path) -> Result<(), JournalError> {
    let doing = || format!("read the journal `{}`", path.display());
    let found = files::optional(files::open(path)).map_err(|e| JournalError::io(doing(), e))?;
    let Some(mut file) = found else { return Ok(()) };
    let length = file.metadata().map_err(|e| JournalError::io(doing(), e))?.len();
    let mut head = Vec::new();
    let mut first = (&mut file).take(100);
    first.read_to_end(&mut head).map_err(|e| JournalError::io(doing(), e))?;
    if head.is_empty() {
        return Ok(());
    }
    let corrupt = |why: &str| JournalError::Corrupt { path: path.into(), why: why.to_owned() };
    if !head.starts_with(MAGIC) {
        return Err(corrupt("it is no journal"));
    }
    let found = i64::from(big_endian(&head, 60).ok_or_else(|| corrupt("it is cut short"))?);
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(JournalError::Newer { path: path.to_path_buf(), found, known });
    }
    // With changes still in the other file, this one may rightly be shorter than it says.
    let whole = expected_length(&head).is_none_or(|expected| length >= expected);
    if !whole && pending_bytes(path) == 0 {
        return Err(corrupt("it is cut short"));
    }
    Ok(())
}

/// The size the head says the file has.
fn expected_length(head: &[u8]) -> Option<u64> {
    let page = u64::from(u16::from_be_bytes([*head.get(16)?, *head.get(17)?]));
    let page = if page == 1 { 65536 } else { page };
    Some(page.saturating_mul(u64::from(big_endian(head, 28)?)))
}

/// How large the file is that holds changes until they are tidied away.
fn pending_bytes(path: &Path) -> u64 {
    changes_path(path).metadata().map_or(0, |meta| meta.len())
}

fn big_endian(head: &[u8], at: usize) -> Option<u32> {
    let bytes = head.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use flyball_core::Moment;

    use super::*;
    use crate::journal::{HookChange, HookStep};

    #[test]
    fn brief_visits_do_not_pile_up_when_nobody_else_is_there() {
        let state = tempfile::tempdir().unwrap();
        let step = HookStep { run: None, session: "s", at: Moment::from_millis(1) };
        for _ in 0..120 {
            let mut journal = open_briefly(state.path()).unwrap();
            let change = HookChange { state: Some(vec![1; 100]), report: Some("{}".to_owned()) };
            journal.hook_step(&step, |_| (change, ())).unwrap();
            assert!(pending_bytes(&journal.path) < 2 * TIDY_BYTES);
        }
        let journal = open(state.path()).unwrap();
        let rows = journal
            .connection
            .query_row("SELECT count(*) FROM hook_trail", [], |row| row.get::<_, i64>(0));
        assert_eq!(rows, Ok(120));
    }

    #[test]
    fn what_an_older_flyball_wrote_is_read() {
        let mut connection = Connection::open_in_memory().unwrap();
        let all = MIGRATIONS;
        let migrations = Migrations::from_slice(&all);
        migrations.to_version(&mut connection, 2).unwrap();
        let facts = [
            r#"{"fact":"hook_halted","guard":"repetition","measured":3,"allowed":3,"evidence":"x"}"#,
            r#"{"fact":"stop_refused","reason":"red"}"#,
            r#"{"fact":"spoke"}"#,
        ];
        for (seq, fact) in facts.iter().enumerate() {
            let body = format!(r#"{{"type":"agent","iteration":1,"fact":{fact}}}"#);
            let row = (1, i64::try_from(seq).unwrap(), 5, "agent", body);
            let add = "INSERT INTO events (run, seq, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)";
            connection.execute(add, row).unwrap();
        }
        for body in [r#"{"agent":"claude"}"#, r#"{"iteration":1,"reported":{}}"#] {
            let add = "INSERT INTO hook_trail (run, session, at, body) VALUES ('r', 's', 5, ?1)";
            connection.execute(add, [body]).unwrap();
        }
        migrations.to_latest(&mut connection).unwrap();
        let all = |query: &str| -> Vec<String> {
            let mut select = connection.prepare(query).unwrap();
            let rows = select.query_map([], |row| row.get(0)).unwrap();
            rows.collect::<Result<_, _>>().unwrap()
        };
        for body in all("SELECT body FROM events ORDER BY seq") {
            serde_json::from_str::<flyball_core::Event>(&body).unwrap();
        }
        let rows = all("SELECT json_extract(body, '$.row') FROM hook_trail ORDER BY key");
        assert_eq!(rows, ["hook", "attempt"]);
    }

    #[test]
    fn the_migrations_are_sound() {
        assert_eq!(Migrations::from_slice(&MIGRATIONS).validate(), Ok(()));
    }
}
