//! What other processes ask of a run, and what it answers: left here by the one, taken by the other.

use flyball_core::human::{HumanReply, HumanWish};
use flyball_core::{Event, Moment, RunId};
use rusqlite::{OptionalExtension, params};

use super::event::append_in;
use super::{Journal, JournalError, number, stored};

/// Something another process asks of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is asked.
    pub kind: RequestKind,
    /// The rest, as JSON or plain text.
    pub body: String,
    /// When.
    pub at: Moment,
}

/// What another process can ask of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestKind {
    /// To end.
    Stop,
    /// What a human wants while it goes on: the wish is the body, as JSON.
    Wish,
    /// Something this version does not know.
    Unknown(String),
}

impl RequestKind {
    /// As it is kept.
    fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Wish => "wish",
            Self::Unknown(kind) => kind,
        }
    }

    fn read(kept: String) -> Self {
        match kept.as_str() {
            "stop" => Self::Stop,
            "wish" => Self::Wish,
            _ => Self::Unknown(kept),
        }
    }
}

impl Request {
    /// What a human wants of a run.
    pub fn wish(wish: &HumanWish, at: Moment) -> Result<Self, JournalError> {
        let body = serde_json::to_string(wish).map_err(JournalError::row("a wish"))?;
        Ok(Self { kind: RequestKind::Wish, body, at })
    }
}

impl Journal {
    /// Leaves a request for a run; its number.
    pub fn request(&mut self, run: &RunId, request: &Request) -> Result<u64, JournalError> {
        self.write(|change| {
            change.execute(
                "INSERT INTO requests (run, kind, body, at) VALUES (?1, ?2, ?3, ?4)",
                params![
                    run.as_str(),
                    request.kind.as_str(),
                    request.body,
                    stored(request.at.as_millis())
                ],
            )?;
            let key = change.last_insert_rowid();
            // A number is used again once it is free: no answer to an earlier one may stand there.
            change.execute("DELETE FROM replies WHERE request = ?1", [key])?;
            Ok(number(key))
        })
    }

    /// The requests left for a run with their numbers, oldest first. Cheap when there are none.
    pub fn requests(&self, run: &RunId) -> Result<Vec<(u64, Request)>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT key, kind, body, at FROM requests WHERE run = ?1 ORDER BY key",
            )?;
            let rows = select.query_map([run.as_str()], |row| {
                let at = Moment::from_millis(number(row.get(3)?));
                let kind = RequestKind::read(row.get(1)?);
                Ok((number(row.get(0)?), Request { kind, body: row.get(2)?, at }))
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        })
    }

    /// Takes the requests left for a run, oldest first.
    pub fn take_requests(&mut self, run: &RunId) -> Result<Vec<Request>, JournalError> {
        let found = self.requests(run)?;
        if !found.is_empty() {
            self.write(|change| {
                for (key, _) in &found {
                    change.execute("DELETE FROM requests WHERE key = ?1", [stored(*key)])?;
                }
                Ok(())
            })?;
        }
        Ok(found.into_iter().map(|(_, request)| request).collect())
    }

    /// Takes one request away.
    pub fn drop_request(&mut self, request: u64) -> Result<(), JournalError> {
        self.write(|change| {
            change.execute("DELETE FROM requests WHERE key = ?1", [stored(request)])?;
            Ok(())
        })
    }

    /// Takes a request and adds the event it became to its run: both or neither, so that a death in
    /// between loses nothing and repeats nothing.
    pub fn append_request(
        &mut self,
        run: &RunId,
        request: u64,
        (at, event): (Moment, &Event),
    ) -> Result<(), JournalError> {
        self.write(|change| {
            change.execute("DELETE FROM requests WHERE key = ?1", [stored(request)])?;
            append_in(change, run, &[(at, event)])?;
            Ok(())
        })
    }

    /// Answers a request.
    pub fn reply(
        &mut self,
        request: u64,
        at: Moment,
        reply: &HumanReply,
    ) -> Result<(), JournalError> {
        let body = serde_json::to_string(reply).map_err(JournalError::row("a reply"))?;
        self.write(|change| {
            change.execute(
                "INSERT OR REPLACE INTO replies (request, body, at) VALUES (?1, ?2, ?3)",
                params![stored(request), body, stored(at.as_millis())],
            )?;
            Ok(())
        })
    }

    /// Takes the answer to a request, once it is there.
    pub fn take_reply(&mut self, request: u64) -> Result<Option<HumanReply>, JournalError> {
        let body: Option<String> = self.read(|connection| {
            let mut select =
                connection.prepare_cached("SELECT body FROM replies WHERE request = ?1")?;
            Ok(select.query_row([stored(request)], |row| row.get(0)).optional()?)
        })?;
        let Some(body) = body else { return Ok(None) };
        self.write(|change| {
            change.execute("DELETE FROM replies WHERE request = ?1", [stored(request)])?;
            Ok(())
        })?;
        serde_json::from_str(&body).map(Some).map_err(JournalError::row("a reply"))
    }

    /// What humans wanted of a run so far, in order.
    pub fn wishes(&self, run: &RunId) -> Result<Vec<HumanWish>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT events.body FROM events JOIN runs ON events.run = runs.key
                 WHERE runs.id = ?1 AND events.kind = 'human.asked' ORDER BY events.seq",
            )?;
            let rows = select.query_map([run.as_str()], |row| row.get::<_, String>(0))?;
            let mut wishes = Vec::new();
            for body in rows {
                let event: Event = serde_json::from_str(&body?)
                    .map_err(JournalError::row(format!("a wish for run `{run}`")))?;
                if let Event::HumanAsked { wish, .. } = event {
                    wishes.push(wish);
                }
            }
            Ok(wishes)
        })
    }
}
