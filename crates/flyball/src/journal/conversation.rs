//! Conversations of the built-in agent: what was said and done in them, entry by entry.

use std::path::{Path, PathBuf};

use flyball_core::Moment;
use rusqlite::{OptionalExtension, Row, params};

use super::trail::write_state;
use super::{Journal, JournalError, number, stored, text_of};

/// A conversation that begins.
#[derive(Clone, Debug)]
pub struct NewConversation<'a> {
    /// Its name.
    pub id: &'a str,
    /// The folder it works in.
    pub root: &'a Path,
    /// The model.
    pub model: &'a str,
    /// Whose process it is in.
    pub pid: u32,
    /// When.
    pub at: Moment,
}

/// A conversation as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRow {
    /// Its name.
    pub id: String,
    /// The folder it works in.
    pub root: PathBuf,
    /// The model.
    pub model: String,
    /// The process it was in last; none once it has ended properly.
    pub pid: Option<u32>,
    /// When it was written to last.
    pub last_at: Moment,
}

/// One entry, with everything that changes with it.
#[derive(Clone, Debug)]
pub struct ConversationStep<'a> {
    /// When.
    pub at: Moment,
    /// Whose conversation; empty for the main agent.
    pub agent: &'a str,
    /// The entry, as JSON.
    pub body: &'a str,
    /// States of sessions that go with it, by what they are kept under.
    pub states: &'a [(String, Vec<u8>)],
    /// What goes on the trail of the session of this name, as JSON.
    pub trail: (&'a str, &'a [String]),
}

/// An entry as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    /// When.
    pub at: Moment,
    /// Whose conversation; empty for the main agent.
    pub agent: String,
    /// The entry, as JSON.
    pub body: String,
}

const COLUMNS: &str = "id, root, model, pid, last_at";

impl Journal {
    /// Enters a conversation that begins.
    pub fn begin_conversation(&mut self, new: &NewConversation<'_>) -> Result<(), JournalError> {
        self.write(|change| {
            change.execute(
                "INSERT INTO conversations (id, root, model, pid, started, last_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
                params![new.id, text_of(new.root), new.model, new.pid, stored(new.at.as_millis())],
            )?;
            Ok(())
        })
    }

    /// Says in whose process a conversation goes on, in nobody's when it has ended, unless that is not
    /// in this one's any more: of two who take it up at once, one does. Whether it was so.
    pub fn hand_over_conversation(
        &mut self,
        id: &str,
        (from, to): (Option<u32>, Option<u32>),
    ) -> Result<bool, JournalError> {
        self.write(|change| {
            let set = "UPDATE conversations SET pid = ?3 WHERE id = ?1 AND pid IS ?2";
            Ok(change.execute(set, params![id, from, to])? > 0)
        })
    }

    /// Adds an entry: with it, the states and the trail that belong to it, or nothing.
    pub fn add_to_conversation(
        &mut self,
        id: &str,
        step: &ConversationStep<'_>,
    ) -> Result<(), JournalError> {
        self.write(|change| {
            let at = stored(step.at.as_millis());
            change
                .prepare_cached(
                    "INSERT INTO conversation_entries (conversation, seq, at, agent, body)
                     SELECT c.key, coalesce(
                         (SELECT max(seq) FROM conversation_entries WHERE conversation = c.key), 0
                     ) + 1, ?2, ?3, ?4 FROM conversations c WHERE c.id = ?1",
                )?
                .execute(params![id, at, step.agent, step.body])?;
            change
                .prepare_cached("UPDATE conversations SET last_at = ?2 WHERE id = ?1")?
                .execute(params![id, at])?;
            for (key, state) in step.states {
                write_state(change, key, step.at, state)?;
            }
            let (session, reports) = step.trail;
            for report in reports {
                change
                    .prepare_cached(
                        "INSERT INTO hook_trail (run, session, at, body) VALUES (NULL, ?1, ?2, ?3)",
                    )?
                    .execute(params![session, at, report])?;
            }
            Ok(())
        })
    }

    /// The conversation of this name, or the latest of this folder.
    pub fn conversation(
        &self,
        id: Option<&str>,
        root: &Path,
    ) -> Result<Option<ConversationRow>, JournalError> {
        self.read(|connection| {
            let found = match id {
                Some(id) => connection
                    .prepare_cached(&format!("SELECT {COLUMNS} FROM conversations WHERE id = ?1"))?
                    .query_row([id], row)
                    .optional()?,
                None => connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM conversations WHERE root = ?1
                         ORDER BY last_at DESC, key DESC LIMIT 1"
                    ))?
                    .query_row([text_of(root)], row)
                    .optional()?,
            };
            Ok(found)
        })
    }

    /// The latest conversations, of all folders.
    pub fn conversations(&self, limit: u32) -> Result<Vec<ConversationRow>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM conversations ORDER BY last_at DESC, key DESC LIMIT ?1"
            ))?;
            let rows = select.query_map([limit], row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The entries of a conversation, oldest first; all of them go through `take`, one by one.
    pub fn conversation_entries(
        &self,
        id: &str,
        mut take: impl FnMut(EntryRow),
    ) -> Result<(), JournalError> {
        let mut select = self.connection.prepare_cached(
            "SELECT e.at, e.agent, e.body FROM conversation_entries e
             JOIN conversations c ON c.key = e.conversation WHERE c.id = ?1 ORDER BY e.seq",
        )?;
        let mut rows = select.query([id])?;
        while let Some(row) = rows.next()? {
            let at = Moment::from_millis(number(row.get(0)?));
            take(EntryRow { at, agent: row.get(1)?, body: row.get(2)? });
        }
        Ok(())
    }
}

fn row(row: &Row<'_>) -> rusqlite::Result<ConversationRow> {
    Ok(ConversationRow {
        id: row.get(0)?,
        root: PathBuf::from(row.get::<_, String>(1)?),
        model: row.get(2)?,
        pid: row.get(3)?,
        last_at: Moment::from_millis(number(row.get(4)?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_who_take_a_conversation_up_at_once_one_does() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(folder.path()).unwrap();
        let (root, at) = (folder.path(), Moment::from_millis(1));
        let new = NewConversation { id: "a", root, model: "m", pid: 1, at };
        journal.begin_conversation(&new).unwrap();
        assert!(journal.hand_over_conversation("a", (Some(1), Some(2))).unwrap());
        assert!(!journal.hand_over_conversation("a", (Some(1), Some(3))).unwrap());
        assert!(journal.hand_over_conversation("a", (Some(2), None)).unwrap());
        assert!(journal.hand_over_conversation("a", (None, Some(3))).unwrap());
    }
}
