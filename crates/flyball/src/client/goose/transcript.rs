//! goose: all sessions in one `SQLite` file, a row for each message and for each model call.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::stream::{Message, Metadata, Part, one};
use super::{Goose, NAME};
use crate::client::Output;
use crate::client::lenient::{Flag, List, Maybe, Num, Text, from_str, object};
use crate::client::meter::Usage;
use crate::client::transcript::{Format, Place, Reading, Shape, Teller, Transcripts, stream};

/// The longest message that is read.
const MESSAGE_MAX: usize = 8 * 1024 * 1024;

fn output() -> &'static dyn Output {
    &Goose
}

static FORMATS: [Format; 2] = [
    Format {
        agent: NAME,
        name: "database",
        shape: Shape::Database(rows),
        recognises: |head| {
            head.is_database() && head.has("usage_ledger")
                || head.path.ends_with("sessions/sessions.db")
        },
        output,
    },
    stream(NAME, |head| head.has("{\"type\":\"message\",\"message\":{\"id\":"), output),
];

impl Transcripts for Goose {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        let place = |folder: PathBuf| Place { folder, depth: 0, is_one };
        super::usage::data_folder(env)
            .map(|data| place(data.join("sessions")))
            .into_iter()
            .collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    path.ends_with("sessions.db").then(|| FORMATS.first())?
}

object! {
    struct Told {
        "usage" => usage: Maybe<Counts>,
        "userVisible" => user_visible: Flag,
    }
}

object! {
    struct Counts {
        "inputTokens" => input: Num,
        "outputTokens" => output: Num,
        "cacheReadTokens" => cache_read: Num,
        "cacheWriteTokens" => cache_write: Num,
    }
}

/// A model call as the ledger has it.
struct Charged {
    model: Option<String>,
    cost_usd: Option<f64>,
    usage: Usage,
    is_compaction: bool,
}

fn rows(
    connection: &Connection,
    to: &mut Teller<'_>,
    reading: &mut Reading,
) -> rusqlite::Result<()> {
    let mut sessions = connection.prepare("SELECT id, working_dir FROM sessions ORDER BY id")?;
    let found: Vec<(String, String)> = sessions
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (id, folder) in found {
        to.record(reading.records + 1);
        to.session(&id);
        to.project(&folder);
        let mut charged = ledger(connection, &id).unwrap_or_default().into_iter();
        let mut messages = connection.prepare(
            "SELECT message_id, role, content_json, created_timestamp, metadata_json
             FROM messages WHERE session_id = ?1 ORDER BY id",
        )?;
        let mut rows = messages.query([&id])?;
        let mut session = SessionRows::default();
        while let Some(row) = rows.next()? {
            reading.records += 1;
            to.record(reading.records);
            let content = row.get_ref(2)?.as_str().unwrap_or_default();
            if content.len() > MESSAGE_MAX {
                reading.miss("the message is longer than 8 MiB");
                continue;
            }
            to.time_ms(row.get::<_, i64>(3)?.saturating_mul(1000));
            let id = row.get_ref(0)?.as_str().unwrap_or_default();
            let role = row.get_ref(1)?.as_str().unwrap_or_default();
            let metadata = row.get_ref(4)?.as_str().unwrap_or("{}");
            if let Err(error) = session.message((id, role, content, metadata), &mut charged, to) {
                reading.miss(error.to_string());
            }
            to.flush();
        }
        // Of older releases the messages do not say which call they came from.
        for call in charged {
            session.charge(&call, to);
        }
        to.flush();
    }
    Ok(())
}

fn ledger(connection: &Connection, session: &str) -> rusqlite::Result<Vec<Charged>> {
    let mut query = connection.prepare(
        "SELECT model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost,
         is_compaction FROM usage_ledger WHERE session_id = ?1 ORDER BY id",
    )?;
    let rows = query.query_map([session], |row| {
        let count = |index| -> rusqlite::Result<u64> {
            let count: Option<i64> = row.get(index)?;
            Ok(u64::try_from(count.unwrap_or(0)).unwrap_or(0))
        };
        let mut usage = Usage::with_cached(count(1)?, count(3)?, count(2)?);
        usage.cache_write = count(4)?.min(usage.fresh);
        usage.fresh -= usage.cache_write;
        let cost_usd: Option<f64> = row.get(5)?;
        usage.cost_usd = cost_usd;
        Ok(Charged { model: row.get(0)?, cost_usd, usage, is_compaction: count(6)? > 0 })
    })?;
    rows.collect()
}

/// The messages of one session.
#[derive(Default)]
struct SessionRows {
    /// The model's answer its calls belong to: each call has a row of its own.
    round: String,
}

impl SessionRows {
    fn message(
        &mut self,
        (id, role, content, metadata): (&str, &str, &str, &str),
        charged: &mut impl Iterator<Item = Charged>,
        to: &mut Teller<'_>,
    ) -> serde_json::Result<()> {
        let told: Told = from_str(metadata).unwrap_or_default();
        let content: List<Part<'_>> = from_str(content)?;
        if role == "assistant" {
            if let Some(counts) = told.usage.0 {
                id.clone_into(&mut self.round);
                self.used(&counts, charged, to);
            } else if self.round.is_empty() {
                id.clone_into(&mut self.round);
            }
        }
        let calls = content.0.iter().any(Part::is_call);
        let message = Message {
            id: Text(if calls { self.round.as_str() } else { id }.into()),
            role: Text(role.into()),
            content,
            metadata: Maybe(from_str::<Metadata<'_>>(metadata).ok()),
        };
        if let Some(model) = message.model() {
            to.model(model);
        }
        for part in &message.content.0 {
            if part.is_no_call() {
                continue;
            }
            if let Some((kind, error)) = part.never_was() {
                to.stream().bad_call(kind, error, error);
                continue;
            }
            match part.human(role).filter(|_| told.user_visible.0) {
                Some(words) => to.human(words),
                None => one(part, &message, to.stream()),
            }
        }
        Ok(())
    }

    /// A message that tells what its model call used; the ledger knows what that cost.
    fn used(
        &self,
        counts: &Counts,
        charged: &mut impl Iterator<Item = Charged>,
        to: &mut Teller<'_>,
    ) {
        for call in charged.by_ref() {
            let is_compaction = call.is_compaction;
            self.charge(&call, to);
            if !is_compaction {
                return;
            }
        }
        let usage = Usage::with_cached(
            counts.input.count(),
            counts.cache_read.count(),
            counts.output.count(),
        );
        to.used("", &self.round, &Usage { cache_write: counts.cache_write.count(), ..usage });
    }

    fn charge(&self, call: &Charged, to: &mut Teller<'_>) {
        if let Some(model) = &call.model {
            to.model(model);
        }
        if call.is_compaction {
            to.compacted();
        }
        to.used("", &self.round, &Usage { cost_usd: call.cost_usd, ..call.usage });
        to.stream().context(call.usage.context());
    }
}
