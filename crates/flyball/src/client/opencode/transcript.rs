//! opencode: all sessions in one `SQLite` file, a row for each message and for each part of one; a
//! sub-agent has a session of its own.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::stream::{Part, failed, tool};
use super::{NAME, Opencode};
use crate::client::Output;
use crate::client::lenient::{Flag, Maybe, Text, from_str, object};
use crate::client::transcript::{
    Format, Place, Reading, Shape, Teller, Transcripts, folder, stream,
};

/// The longest part that is read.
const PART_MAX: usize = 8 * 1024 * 1024;

fn output() -> &'static dyn Output {
    &Opencode
}

static FORMATS: [Format; 2] = [
    Format {
        agent: NAME,
        name: "database",
        shape: Shape::Database(rows),
        recognises: |head| head.is_database() && head.name().starts_with("opencode"),
        output,
    },
    stream(NAME, |head| head.has_all(&["\"sessionID\":\"ses_", "\"part\":{"]), output),
];

impl Transcripts for Opencode {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        let data = folder(env, "XDG_DATA_HOME", ".local/share");
        let place = |data: PathBuf| Place { folder: data.join("opencode"), depth: 0, is_one };
        data.map(place).into_iter().collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    let name = path.file_name()?.to_str()?;
    let is_database = path.extension().is_some_and(|extension| extension == "db");
    (is_database && name.starts_with("opencode")).then(|| FORMATS.first())?
}

object! {
    struct Message<'a> {
        "role" => role: Text<'a>,
        "modelID" => model: Text<'a>,
        "error" => error: Maybe<super::stream::Error<'a>>,
    }
}

object! {
    struct PartHead<'a> {
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "synthetic" => synthetic: Flag,
    }
}

fn rows(
    connection: &Connection,
    to: &mut Teller<'_>,
    reading: &mut Reading,
) -> rusqlite::Result<()> {
    let mut sessions =
        connection.prepare("SELECT id, parent_id, directory FROM session ORDER BY time_created")?;
    let found: Vec<(String, Option<String>, String)> = sessions
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (id, parent, folder) in found {
        to.record(reading.records + 1);
        match parent {
            Some(parent) => to.sub_session(&id, &parent),
            None => to.session(&id),
        }
        to.project(&folder);
        messages(connection, &id, to, reading)?;
    }
    Ok(())
}

fn messages(
    connection: &Connection,
    session: &str,
    to: &mut Teller<'_>,
    reading: &mut Reading,
) -> rusqlite::Result<()> {
    let mut query = connection.prepare(
        "SELECT id, time_created, data FROM message WHERE session_id = ?1 ORDER BY time_created, id",
    )?;
    let mut parts = connection.prepare(
        "SELECT time_created, data FROM part WHERE message_id = ?1 ORDER BY time_created, id",
    )?;
    let mut rows = query.query([session])?;
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        to.time_ms(row.get(1)?);
        let data = row.get_ref(2)?.as_str().unwrap_or_default();
        let message: Message<'_> = from_str(data).unwrap_or_default();
        to.model(&message.model);
        let mut own = parts.query([&id])?;
        let mut told = Vec::new();
        while let Some(part) = own.next()? {
            reading.records += 1;
            to.record(reading.records);
            to.time_ms(part.get(0)?);
            let data = part.get_ref(1)?.as_str().unwrap_or_default();
            if data.len() > PART_MAX {
                reading.miss("the part is longer than 8 MiB");
            } else if let Err(error) = one((&id, &message.role, data), &mut told, to) {
                reading.miss(error.to_string());
            }
            to.flush();
        }
        if let Some(error) = &message.error.0 {
            failed(error, to.stream());
            to.flush();
        }
    }
    Ok(())
}

/// A part; what the model call used comes last, and is told once for each step.
fn one(
    (message, role, data): (&str, &str, &str),
    told: &mut Vec<String>,
    to: &mut Teller<'_>,
) -> serde_json::Result<()> {
    let head: PartHead<'_> = from_str(data)?;
    match (role, &*head.kind) {
        ("user", "text") if !head.synthetic.0 => to.human(&head.text),
        ("assistant", "text") => to.stream().said_block(Some(message), &head.text),
        (_, "compaction") => to.compacted(),
        ("assistant", "tool") => {
            let part: Part<'_> = from_str(data)?;
            tool(&part.of(message), to.stream());
        }
        ("assistant", "step-finish") => {
            let part: Part<'_> = from_str(data)?;
            to.stream().spoke();
            told.push(message.to_owned());
            if let Some(usage) = part.usage() {
                to.used("", &format!("{message} {}", told.len()), &usage);
                to.stream().context(usage.context());
            }
        }
        _ => {}
    }
    Ok(())
}
