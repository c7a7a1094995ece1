//! aider: `.aider.chat.history.md` in the folder it works in. Words of the human, of the model and of
//! aider itself; it has no tools.

use std::path::{Path, PathBuf};

use super::stream::tokens;
use super::{Aider, NAME};
use crate::client::Output;
use crate::client::transcript::{Format, Place, Record, RecordReader, Shape, Teller, Transcripts};

/// How a chat begins.
const BEGIN: &str = "# aider chat started at ";
/// The most of an answer that is kept, in bytes.
const ANSWER_MAX: usize = 256 * 1024;

static FORMATS: [Format; 1] = [Format {
    agent: NAME,
    name: "history",
    shape: Shape::Lines(|| Box::new(History::default())),
    recognises: |head| head.has(BEGIN),
    output: || -> &'static dyn Output { &Aider },
}];

impl Transcripts for Aider {
    fn places(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Place> {
        let place = |folder: PathBuf| Place { folder, depth: 0, is_one };
        let folders = ["PWD", "HOME"].into_iter().filter_map(env);
        let mut folders: Vec<PathBuf> = folders.map(PathBuf::from).collect();
        folders.dedup();
        folders.into_iter().map(place).collect()
    }

    fn formats(&self) -> &'static [Format] {
        &FORMATS
    }
}

fn is_one(path: &Path) -> Option<&'static Format> {
    path.ends_with(".aider.chat.history.md").then(|| FORMATS.first())?
}

#[derive(Default)]
struct History {
    /// What the human says, line by line.
    prompt: String,
    /// The model's answer so far.
    answer: String,
    answers: u64,
}

impl RecordReader for History {
    fn begin(&mut self, path: &Path, to: &mut Teller<'_>) {
        to.project_at_begin(&path.parent().unwrap_or(path).to_string_lossy());
    }

    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        let line = record.text;
        if let Some(said) = line.strip_prefix("#### ") {
            self.prompt.push_str(said);
            self.prompt.push('\n');
            self.answer.clear();
            return Ok(());
        }
        self.heard(to);
        if let Some(at) = line.strip_prefix(BEGIN) {
            to.session(at);
            self.answer.clear();
            begun(at, to);
        } else if let Some(own) = line.strip_prefix("> ") {
            self.own(own.trim_end(), to);
        } else if self.answer.len() < ANSWER_MAX {
            self.answer.push_str(line);
            self.answer.push('\n');
        }
        Ok(())
    }

    fn end(&mut self, to: &mut Teller<'_>) {
        self.heard(to);
    }
}

impl History {
    fn heard(&mut self, to: &mut Teller<'_>) {
        if !self.prompt.is_empty() {
            to.human(&std::mem::take(&mut self.prompt));
        }
    }

    /// A line of aider's own: what it says of its model, and the end of an answer.
    fn own(&mut self, line: &str, to: &mut Teller<'_>) {
        if let Some(model) = line.strip_prefix("Main model: ") {
            to.model(model.split_whitespace().next().unwrap_or(model));
        } else if let Some(usage) = tokens(line) {
            self.answers += 1;
            to.used("", "", &usage);
            let id = self.answers.to_string();
            to.stream().said_block(Some(&id), self.answer.trim());
            to.stream().spoke();
            self.answer.clear();
        } else {
            self.answer.clear();
        }
    }
}

/// The time a chat began, on the local clock.
fn begun(at: &str, to: &mut Teller<'_>) {
    let civil = jiff::civil::DateTime::strptime("%Y-%m-%d %H:%M:%S", at.trim());
    let zoned = civil.and_then(|civil| civil.to_zoned(jiff::tz::TimeZone::system()));
    if let Ok(zoned) = zoned {
        to.time_ms(zoned.timestamp().as_millisecond());
    }
}
