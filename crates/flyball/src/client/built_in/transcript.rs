//! Its sessions outside of runs: entries in flyball's own journal, read as any other client's are. Those
//! in a run are part of the run.

use std::path::{Path, PathBuf};

use flyball_core::AgentFact;
use flyball_core::call::ToolOutcome;
use flyball_core::event::Spend;
use flyball_models::{Arguments, Block, Message};
use rusqlite::Connection;
use serde::Deserialize;

use super::{BuiltIn, NAME};
use crate::client::session::{Answer, Call};
use crate::client::transcript::{Format, Place, Reading, Shape, Teller, Transcripts, folder};
use crate::client::{Fact, Output};

/// The journal's name.
const JOURNAL: &str = "journal.sqlite";

fn output() -> &'static dyn Output {
    &BuiltIn
}

static FORMATS: [Format; 1] = [Format {
    agent: NAME,
    name: "database",
    shape: Shape::Database(rows),
    recognises: |head| head.is_database() && head.name().starts_with("journal"),
    output,
}];

impl Transcripts for BuiltIn {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        let own = env("FLYBALL_STATE").filter(|own| !own.is_empty()).map(PathBuf::from);
        let usual = || Some(folder(env, "XDG_STATE_HOME", ".local/state")?.join("flyball"));
        let place = |folder: PathBuf| Place { folder, depth: 0, is_one };
        own.or_else(usual).map(place).into_iter().collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    path.file_name().is_some_and(|name| name == JOURNAL).then(|| FORMATS.first())?
}

/// What is read of an entry; the others tell nothing that was not told.
#[derive(Debug, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
enum Kept {
    Asked {
        text: String,
    },
    Answered {
        message: Message,
        spend: Spend,
        prompt: u64,
    },
    Returned {
        call: String,
        outcome: ToolOutcome,
        text: String,
    },
    Compacted {},
    #[serde(other)]
    Other,
}

fn rows(
    connection: &Connection,
    to: &mut Teller<'_>,
    reading: &mut Reading,
) -> rusqlite::Result<()> {
    let mut sessions =
        connection.prepare("SELECT key, id, root, model FROM conversations ORDER BY key")?;
    let found: Vec<(i64, String, String, String)> = sessions
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut entries = connection.prepare(
        "SELECT at, agent, body FROM conversation_entries WHERE conversation = ?1 ORDER BY seq",
    )?;
    for (key, id, root, model) in found {
        to.record(reading.records + 1);
        to.session(&id);
        to.project(&root);
        to.model(&model);
        let mut answers = 0;
        let mut rows = entries.query([key])?;
        while let Some(row) = rows.next()? {
            reading.records += 1;
            to.record(reading.records);
            to.time_ms(row.get(0)?);
            let (agent, body): (String, String) = (row.get(1)?, row.get(2)?);
            match serde_json::from_str(&body) {
                Ok(kept) => one(kept, &agent, &mut answers, to),
                Err(error) => reading.miss(error.to_string()),
            }
            to.flush();
        }
    }
    Ok(())
}

fn one(kept: Kept, agent: &str, answers: &mut u64, to: &mut Teller<'_>) {
    match kept {
        // Whoever asks a sub-agent is an agent.
        Kept::Asked { text } if agent.is_empty() => to.human(&text),
        Kept::Answered { message, spend, prompt } => {
            *answers += 1;
            let round = answers.to_string();
            if agent.is_empty() {
                to.stream().said_block(Some(&round), &message.text());
            }
            for block in &message.blocks {
                let Block::Call(call) = block else { continue };
                let args = match &call.arguments {
                    Arguments::Json(value) => value.to_string(),
                    Arguments::Invalid { text, .. } => text.clone(),
                };
                let (id, tool, args) = (call.id.as_str(), call.name.as_str(), args.as_str());
                to.called(&Call { id, agent, tool, args, round: &round, changes_files: None });
            }
            to.stream().spoke();
            to.flush();
            to.take(Fact::Agent(AgentFact::Spent(spend)));
            to.stream().context(prompt);
        }
        Kept::Returned { call, outcome, text } => {
            to.returned(&Answer { id: &call, agent, outcome, text: &text });
        }
        Kept::Compacted {} => to.compacted(),
        Kept::Asked { .. } | Kept::Other => {}
    }
}
