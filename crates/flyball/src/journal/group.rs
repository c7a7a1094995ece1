//! Changes that belong together are written as one: what one event has recorded costs one write and
//! not one for each row. Each is still all or nothing.

use rusqlite::{Connection, DropBehavior};

use super::turn::Turn;
use super::{Journal, JournalError, begin};

/// Changes that are gathered.
#[derive(Debug, Default)]
pub(super) enum Group {
    /// None are: each is written by itself.
    #[default]
    Closed,
    /// The next change begins it.
    Open,
    /// There are some; nobody else writes meanwhile.
    Begun(Turn),
}

impl Journal {
    /// From now on changes are gathered, until [`write_out`](Self::write_out). Nobody else can write
    /// from the first one on: nothing that may take its time belongs in between.
    pub fn gather(&mut self) {
        if matches!(self.group, Group::Closed) {
            self.group = Group::Open;
        }
    }

    /// Writes what was gathered.
    pub fn write_out(&mut self) -> Result<(), JournalError> {
        let Group::Begun(_turn) = std::mem::take(&mut self.group) else { return Ok(()) };
        if let Err(error) = self.connection.execute_batch("COMMIT") {
            // What could not be written must not be in the way of what is written next.
            self.connection.execute_batch("ROLLBACK").ok();
            return Err(JournalError::from(error).at(&self.path));
        }
        self.kept.written();
        Ok(())
    }

    pub(super) const fn is_gathering(&self) -> bool {
        !matches!(self.group, Group::Closed)
    }

    /// Adds a change to those that are gathered. One that fails leaves the others.
    pub(super) fn write_gathered<T>(
        &mut self,
        writing: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        if matches!(self.group, Group::Open) {
            let turn = Turn::take(&self.turn, &self.hurry);
            let mut transaction = begin(&self.connection, &self.hurry)?;
            transaction.set_drop_behavior(DropBehavior::Ignore);
            drop(transaction);
            self.group = Group::Begun(turn);
        }
        self.connection.execute_batch("SAVEPOINT change")?;
        let written = writing(&self.connection);
        let end =
            if written.is_ok() { "RELEASE change" } else { "ROLLBACK TO change; RELEASE change" };
        self.connection.execute_batch(end)?;
        written
    }
}
