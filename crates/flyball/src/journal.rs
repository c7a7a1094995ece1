//! The journal: everything that ever happened, in one `SQLite` file per machine.
//!
//! Events are only ever added. What `status` shows is kept up to date in the same transaction, so
//! that looking at runs never reads their events. Only this module knows SQL. It never decides
//! what is recorded.

mod act;
mod apart;
mod by_content;
mod conversation;
mod event;
mod group;
mod kept;
mod listing;
mod lock;
mod place;
mod request;
mod run;
mod schema;
mod tamper;
mod task;
#[cfg(feature = "serve")]
mod told;
mod trail;
mod turn;
mod watching;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_core::RunId;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

pub use self::act::{Act, ActResult, Door, NewAct};
pub use self::apart::{ApartRun, Fate};
pub use self::by_content::{GateKey, Pruned};
pub use self::conversation::{ConversationRow, ConversationStep, EntryRow, NewConversation};
pub use self::event::{Events, Recorded};
use self::group::Group;
use self::kept::Kept;
pub use self::listing::{Listing, RunMark};
pub use self::lock::{LockError, WorktreeLock, lock_worktree};
pub use self::place::state_dir;
pub use self::request::{Request, RequestKind};
pub use self::run::{NewRun, RunFilter, RunProgress, RunSummary};
pub use self::tamper::{BaseBody, KeptFile, KeptFinding, OpenTamper, RepositoryKey, TamperBase};
#[cfg(feature = "serve")]
pub(crate) use self::told::{ToldBook, ToldLine, ToldSort};
pub use self::trail::{HookChange, HookRow, HookStep, SessionRow};
pub use self::turn::Hurry;
use self::turn::{Turn, Waiting};
pub use self::watching::{StoredEvent, StoredKind};

/// The journal, opened. Each thread and each process opens its own.
#[derive(Debug)]
pub struct Journal {
    connection: Connection,
    /// Held around each write: `SQLite`'s own waiting lets some writers starve.
    turn: Arc<File>,
    path: PathBuf,
    kept: Kept,
    hurry: Hurry,
    group: Group,
}

impl Journal {
    /// Opens the journal in a state folder; both are made when they are not there.
    pub fn open(state_dir: &Path) -> Result<Self, JournalError> {
        schema::open(state_dir)
    }

    /// Opens the journal for a process that lives for a moment only, such as a hook.
    pub fn open_briefly(state_dir: &Path) -> Result<Self, JournalError> {
        schema::open_briefly(state_dir)
    }

    /// For one who looks at it for a long time and reads little again: at most so much of the file is
    /// held in memory.
    #[cfg(feature = "serve")]
    pub(crate) fn holding_at_most(self, kib: i64) -> Result<Self, JournalError> {
        self.connection.pragma_update(None, "cache_size", kib.saturating_neg())?;
        Ok(self)
    }

    /// The file it is kept in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whoever sets this off ends all waiting for other writers.
    pub fn hurried_by(&mut self, hurry: &Hurry) {
        self.hurry = hurry.clone();
    }

    /// Refuses when the file was deleted or replaced since it was opened.
    pub fn check_place(&self) -> Result<(), JournalError> {
        self.kept.check()
    }

    /// From now on the file is written wherever it is: its folder was taken away, which is told, and what
    /// is left to say belongs to the same story.
    pub const fn let_go_of_place(&mut self) {
        self.kept.let_go();
    }

    /// Reads the whole file for damage. Slow on a large one.
    pub fn check(&self) -> Result<(), JournalError> {
        self.read(|connection| {
            let verdict: String =
                connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            if verdict == "ok" {
                return Ok(());
            }
            Err(JournalError::Corrupt { path: self.path.clone(), why: verdict })
        })
    }

    fn read<T>(
        &self,
        reading: impl Fn(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let mut waiting = Waiting::begin(&self.hurry);
        loop {
            match reading(&self.connection) {
                Err(JournalError::Sql { source }) if is_busy(&source) && waiting.goes_on() => {}
                read => return read.map_err(|error| error.at(&self.path)),
            }
        }
    }

    /// All or nothing, and one writer after the other.
    fn write<T>(
        &mut self,
        writing: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        self.kept.check()?;
        if self.is_gathering() {
            return self.write_gathered(writing).map_err(|error| error.at(&self.path));
        }
        let _turn = Turn::take(&self.turn, &self.hurry);
        let path = &self.path;
        let change = begin(&self.connection, &self.hurry).and_then(|transaction| {
            let result = writing(&transaction)?;
            transaction.commit()?;
            Ok(result)
        });
        let result = change.map_err(|error: JournalError| error.at(path))?;
        self.kept.written();
        Ok(result)
    }
}

/// Begins a change; another program that writes is waited for, but not for ever.
fn begin<'c>(connection: &'c Connection, hurry: &Hurry) -> Result<Transaction<'c>, JournalError> {
    let mut waiting = Waiting::begin(hurry);
    loop {
        match Transaction::new_unchecked(connection, TransactionBehavior::Immediate) {
            Err(error) if is_busy(&error) && waiting.goes_on() => {}
            begun => return Ok(begun?),
        }
    }
}

/// `SQLite`'s own number for what failed: its words are the same for many things.
fn number_of(error: &rusqlite::Error) -> String {
    let number = error.sqlite_error().map(|error| error.extended_code);
    number.map_or_else(String::new, |number| format!(" (SQLite's {number})"))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// Why the journal could not be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// There is no place for it.
    #[error("no folder for flyball's state: set `FLYBALL_STATE`, or `HOME`")]
    NoPlace,
    /// A file or folder could not be used.
    #[error("could not {doing}")]
    Io {
        /// What was being done, with its subject.
        doing: String,
        /// What went wrong.
        source: io::Error,
    },
    /// The file is damaged or no journal. It was left as it is.
    #[error(
        "the journal `{}` cannot be read ({why})",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file was written by a newer flyball. It was left as it is.
    #[error(
        "the journal `{}` has version {found}, this flyball knows {known}",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// Another program does not let go of it.
    #[error(
        "the journal `{}` is locked by another program",
        path.display()
    )]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file is not there any more, or another one is there.
    #[error(
        "the journal `{}` was {how} while it was in use",
        path.display()
    )]
    Gone {
        /// The file.
        path: PathBuf,
        /// What became of it.
        how: &'static str,
    },
    /// No such run.
    #[error("there is no run `{run}` in the journal")]
    UnknownRun {
        /// The run asked for.
        run: RunId,
    },
    /// An event that cannot be read back.
    #[error("event {seq} of run `{run}` in the journal cannot be read")]
    BadEvent {
        /// Its run.
        run: RunId,
        /// Its number.
        seq: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Something else that cannot be written or read back.
    #[error("{what} in the journal cannot be read")]
    BadRow {
        /// What.
        what: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// `SQLite` failed: disk full, no permission.
    #[error("the journal failed{}", number_of(source))]
    Sql {
        /// In its own words.
        #[from]
        source: rusqlite::Error,
    },
}

impl JournalError {
    /// What can be done about it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Corrupt { .. } => Some("move it away to start a new one"),
            Self::Newer { .. } => Some("use the newer flyball"),
            Self::UnknownRun { .. } => Some("`flyball status` lists them"),
            Self::Busy { .. } => Some("`fuser` with this file names the program; end it there"),
            Self::Gone { .. } => {
                Some("bring it back to go on with its runs, or begin anew: `flyball run`")
            }
            Self::NoPlace
            | Self::Io { .. }
            | Self::BadEvent { .. }
            | Self::BadRow { .. }
            | Self::Sql { .. } => None,
        }
    }
}

impl JournalError {
    fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }

    fn row(what: impl Into<String>) -> impl FnOnce(serde_json::Error) -> Self {
        let what = what.into();
        move |source| Self::BadRow { what, source }
    }

    /// The same error, told with the file where the file is at fault.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds mean the same here")]
    fn at(self, path: &Path) -> Self {
        let damaged = |source: &rusqlite::Error| {
            use ErrorCode::{DatabaseCorrupt, NotADatabase};
            matches!(source.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
        };
        if let Self::Sql { source } = &self
            && source.sqlite_error_code() == Some(ErrorCode::ReadOnly)
        {
            let why = "it can only be read here: inside of a run only the run itself writes there";
            let source = io::Error::new(io::ErrorKind::ReadOnlyFilesystem, why);
            return Self::io("write to the journal", source);
        }
        if let Self::Sql { source } = &self
            && damaged(source)
        {
            return Self::Corrupt { path: path.to_path_buf(), why: source.to_string() };
        }
        match &self {
            Self::Sql { source } if is_busy(source) => Self::Busy { path: path.to_path_buf() },
            _ => self,
        }
    }
}

/// A number as the journal stores it.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A stored number; nothing stored is negative.
fn number(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or(0)
}

/// A folder as the journal stores it.
fn text_of(root: &Path) -> String {
    root.to_string_lossy().into_owned()
}
