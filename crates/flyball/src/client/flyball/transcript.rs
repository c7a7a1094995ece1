//! flyball's own lines: what agents print in its protocol, and what `flyball run --json` and
//! `flyball log --json` print of a run. Each iteration is a session.

use flyball_core::AgentFact;

use super::{Flyball, NAME};
use crate::client::lenient::{Num, Raw, Text, from_str, object, read};
use crate::client::transcript::{
    Format, Place, Record, RecordReader, Shape, Teller, Transcripts, stream,
};
use crate::client::{Fact, Output};

fn output() -> &'static dyn Output {
    &Flyball
}

static FORMATS: [Format; 2] = [
    Format {
        agent: NAME,
        name: "events",
        shape: Shape::Lines(|| Box::new(Events::default())),
        recognises: |head| {
            let events =
                ["\"type\":\"run.opened\"", "\"type\":\"run.started\"", "\"fact\":{\"fact\":\""];
            head.begins_with(b'{') && events.iter().any(|event| head.has(event))
        },
        output,
    },
    stream(
        NAME,
        |head| {
            let first = head.first_line();
            let kinds: [&[u8]; 2] = [b"{\"type\":\"call\"", b"{\"type\":\"text\""];
            kinds.iter().any(|kind| first.starts_with(kind)) && !head.has("\"sessionID\"")
        },
        output,
    ),
];

impl Transcripts for Flyball {
    /// What flyball itself did is in its journal.
    fn places(&self, _env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        Vec::new()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

object! {
    struct Line<'a> {
        "type" => kind: Text<'a>,
        "run" => run: Text<'a>,
        "root" => root: Text<'a>,
        "at" => at: Option<Raw<'a>>,
        "iteration" => iteration: Num,
        "fact" => fact: Option<Raw<'a>>,
    }
}

#[derive(Default)]
struct Events {
    run: String,
}

impl RecordReader for Events {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let wrong = |error: serde_json::Error| error.to_string();
        let line: Line<'_> = from_str(record.text).map_err(wrong)?;
        match &*line.kind {
            "run.opened" | "run.started" => {
                if !line.run.is_empty() {
                    self.run = line.run.to_string();
                }
                to.project_at_begin(&line.root);
            }
            "agent" => {
                let fact = line.fact.map_or("null", Raw::get);
                let fact: AgentFact = serde_json::from_str(fact).map_err(wrong)?;
                to.session(&format!("{} iteration {}", self.run, line.iteration.count()));
                match line.at.map(Raw::get) {
                    Some(text) if text.starts_with('"') => to.time(&read::<Text<'_>>(line.at)),
                    Some(millis) => to.time_ms(millis.parse().unwrap_or(-1)),
                    None => {}
                }
                to.take(Fact::Agent(fact));
            }
            _ => {}
        }
        Ok(())
    }
}
