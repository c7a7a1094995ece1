//! Recordings: sessions of which only what is compared was kept, one a line (`flyball_core::recording`).
//! The runs that come with the project are such, and what `flyball inspect --share` writes.

use std::io::{self, Read};
use std::path::Path;

use flyball_core::Policy;
use flyball_core::recording::{Hearing, RecordedWhat, Recording};

use super::foreign;
use super::read::open;
use crate::client::lines::{Line, Lines};
use crate::client::transcript::{
    Entry, Format, Head, Reading, SessionHead, Shape, Sink, Tokens, What,
};
use crate::client::{AgentNote, ReadRequest};

pub(super) static FORMAT: Format = Format {
    agent: "recording",
    name: "recording",
    shape: Shape::Own(read),
    recognises,
    output: foreign::output,
};

/// Bytes read at once.
const BITE: usize = 256 * 1024;

fn recognises(head: &Head<'_>) -> bool {
    if !head.bytes.starts_with(&[0x1f, 0x8b]) {
        return is_recording(head.bytes);
    }
    let mut start = Vec::new();
    let unpacked = flate2::bufread::MultiGzDecoder::new(head.bytes);
    // The packed bytes are cut off: what came out of them until then is enough.
    let _cut_off = unpacked.take(64 * 1024).read_to_end(&mut start);
    is_recording(&start)
}

fn is_recording(bytes: &[u8]) -> bool {
    let head = Head { path: Path::new(""), bytes };
    bytes.starts_with(b"{")
        && head.has_all(&["\"id\":", "\"steps\":[", "\"outcome\":", "\"tool\":"])
}

fn read(path: &Path, _request: &ReadRequest, to: &mut dyn Sink) -> io::Result<Reading> {
    let mut bytes = open(path)?;
    let (mut lines, mut bite) = (Lines::default(), vec![0; BITE]);
    let mut reading = Reading::default();
    loop {
        match bytes.read(&mut bite) {
            Ok(0) => break,
            Ok(read) => {
                let count = u64::try_from(read).unwrap_or(0);
                reading.bytes += count;
                to.progress(count);
                let bite = bite.get(..read).unwrap_or_default();
                lines.feed(bite, |line| run(&line, &mut reading, to));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                reading.miss(error.to_string());
                break;
            }
        }
    }
    lines.end(|line| run(&line, &mut reading, to));
    Ok(reading)
}

fn run(line: &Line<'_>, reading: &mut Reading, to: &mut dyn Sink) {
    let text = match line {
        Line::Whole(text) if text.trim().is_empty() => return,
        Line::Whole(text) => text,
        Line::Overlong(_) => {
            reading.records += 1;
            return reading.miss("the line is longer than 8 MiB");
        }
    };
    reading.records += 1;
    match serde_json::from_str::<Recording>(text) {
        Ok(recording) => {
            reading.sessions += 1;
            tell(&recording, to);
        }
        Err(error) => reading.miss(error.to_string()),
    }
}

fn tell(recording: &Recording, to: &mut dyn Sink) {
    fn some(text: &str) -> Option<&str> {
        (!text.is_empty()).then_some(text)
    }
    to.session(&SessionHead {
        id: &recording.id,
        agent: FORMAT.agent,
        parent: None,
        outcome: some(&recording.outcome),
        source: some(&recording.source),
    });
    if let Some(model) = &recording.model {
        let what = What::Note(AgentNote::Model(model.clone()));
        to.entry(Entry { at: None, record: 0, what });
    }
    for told in recording.facts(&Policy::default().calls, Hearing::Whole) {
        let what = match told.what {
            RecordedWhat::Fact(fact) => What::Fact(fact),
            RecordedWhat::Human => What::HumanSaid(""),
            RecordedWhat::Compacted => What::Compacted,
            RecordedWhat::Used { agent, spend } => What::Used(Tokens {
                agent,
                fresh: spend.input_tokens,
                output: spend.output_tokens,
                cost_micro_usd: (spend.cost_micro_usd > 0).then_some(spend.cost_micro_usd),
                ..Tokens::default()
            }),
        };
        to.entry(Entry { at: told.at, record: told.record, what });
    }
}
