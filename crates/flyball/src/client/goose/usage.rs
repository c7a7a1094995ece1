//! goose: the table `usage_ledger` of its own `SQLite` file, one row for each model call.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::client::meter::Usage;
use crate::client::transcript::folder;
use crate::client::usage_file::{SessionPlace, UsageEntry, UsageFile};

/// goose is never kept waiting, and neither is the run.
const PATIENCE: Duration = Duration::from_millis(50);
/// Rows taken at once.
const ROWS: u32 = 1000;

/// The usage file of this session, once it is there.
pub(super) fn usage_file(at: &SessionPlace<'_>) -> Option<Box<dyn UsageFile>> {
    let path = data_folder(at.env)?.join("sessions/sessions.db");
    let exists = path.is_file() && !at.session.is_empty();
    exists.then(|| -> Box<dyn UsageFile> {
        Box::new(Ledger { path, session: at.session.to_owned(), after: 0 })
    })
}

/// Where goose keeps what it remembers.
pub(super) fn data_folder(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    match env("GOOSE_PATH_ROOT").filter(|root| !root.is_empty()) {
        Some(root) => Some(PathBuf::from(root).join("data")),
        None => Some(folder(env, "XDG_DATA_HOME", ".local/share")?.join("goose")),
    }
}

struct Ledger {
    path: PathBuf,
    session: String,
    /// The last row that was told.
    after: i64,
}

impl UsageFile for Ledger {
    fn news(&mut self) -> Vec<UsageEntry> {
        let rows = rows(&self.path, &self.session, self.after).unwrap_or_default();
        if let Some((last, _)) = rows.last() {
            self.after = *last;
        }
        rows.into_iter().map(|(_, entry)| entry).collect()
    }
}

fn rows(path: &Path, session: &str, after: i64) -> rusqlite::Result<Vec<(i64, UsageEntry)>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    let mut query = connection.prepare(
        "SELECT id, model, input_tokens, output_tokens, cache_read_tokens, cost
         FROM usage_ledger WHERE session_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
    )?;
    let rows = query.query_map((session, after, ROWS), |row| {
        let count = |index| -> rusqlite::Result<u64> {
            let count: Option<i64> = row.get(index)?;
            Ok(u64::try_from(count.unwrap_or(0)).unwrap_or(0))
        };
        let mut usage = Usage::with_cached(count(2)?, count(4)?, count(3)?);
        usage.cost_usd = row.get(5)?;
        let model: Option<String> = row.get(1)?;
        Ok((row.get(0)?, UsageEntry { usage, context: Some(usage.context()), window: None, model }))
    })?;
    rows.collect()
}
