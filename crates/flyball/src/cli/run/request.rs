//! The one task of a run: a text, a file, or what comes on standard input.

use std::io::{IsTerminal, Read};
use std::path::Path;

use clap::Args;

use crate::error::{CliError, ErrorKind};
use crate::files;
use crate::terminal;

/// The largest task that is taken.
const REQUEST_MAX: u64 = 1024 * 1024;

/// What is wanted, in words.
#[derive(Clone, Debug, Default, Args)]
pub struct Wanted {
    /// What is wanted, as one task of its own; `-` reads it from standard input
    #[arg(value_name = "TEXT", conflicts_with = "file")]
    pub text: Option<String>,
    /// Read that from a file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub file: Option<String>,
}

impl Wanted {
    /// Whether anything was asked for.
    pub const fn is_given(&self) -> bool {
        self.text.is_some() || self.file.is_some()
    }

    /// Whether it comes on standard input.
    pub(in crate::cli) fn is_input(&self) -> bool {
        [&self.text, &self.file].into_iter().any(|given| given.as_deref() == Some("-"))
    }

    /// The text; none when nothing was asked for.
    pub(in crate::cli) fn read(&self, dir: &Path) -> Result<Option<String>, CliError> {
        let text = match (self.text.as_deref(), self.file.as_deref()) {
            (None, None) => return Ok(None),
            (Some("-"), _) | (None, Some("-")) => standard_input()?,
            (Some(text), _) => text.to_owned(),
            (None, Some(file)) => from_file(&dir.join(file), file)?,
        };
        let text = text.trim();
        if text.is_empty() {
            return Err(CliError::usage("the task is empty")
                .hint("say what is wanted: flyball run \"Fix the failing tests\""));
        }
        Ok(Some(text.to_owned()))
    }
}

fn from_file(path: &Path, shown: &str) -> Result<String, CliError> {
    files::read_text(path, REQUEST_MAX).map_err(|error| {
        let kind = if error.kind() == std::io::ErrorKind::NotFound {
            ErrorKind::NoInput
        } else if error.kind() == std::io::ErrorKind::InvalidData {
            ErrorKind::Data
        } else {
            ErrorKind::Io
        };
        CliError::new(kind, format!("the task cannot be read from `{shown}`")).cause(error)
    })
}

fn standard_input() -> Result<String, CliError> {
    let input = std::io::stdin();
    if input.is_terminal() {
        terminal::write_err("What is wanted? End with Ctrl-D on a line of its own.\n");
    }
    let mut bytes = Vec::new();
    let read = input.lock().take(REQUEST_MAX + 1).read_to_end(&mut bytes);
    let wrong =
        |error: String| CliError::data("the task cannot be read from standard input").cause(error);
    read.map_err(|error| wrong(error.to_string()))?;
    if bytes.len() as u64 > REQUEST_MAX {
        return Err(wrong(format!("it is longer than {REQUEST_MAX} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))
}
