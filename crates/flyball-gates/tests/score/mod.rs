//! Compares what the parser says of recorded outputs with the truth recorded beside them.
//!
//! Shared by the test that holds the floor and by `cargo xtask gates`, which prints the table.

mod judge;
mod table;
mod wrap;

use std::fs;
use std::io;
use std::path::Path;

use flyball_gates::{Exit, Finding, Parsed, Parser};
use serde::Deserialize;

use self::judge::Score;
pub(crate) use self::judge::judge;
pub(crate) use self::table::Table;
pub(crate) use self::wrap::wrapped;

/// One recorded output with its truth.
pub(crate) struct Capture {
    /// `tool/case`.
    pub(crate) label: String,
    /// The bytes of stdout and stderr in the order they came.
    pub(crate) output: Vec<u8>,
    /// What was recorded beside them.
    pub(crate) record: Record,
}

/// What stands in a capture's JSON file.
#[derive(Deserialize)]
pub(crate) struct Record {
    /// The tool.
    pub(crate) tool: String,
    /// The command line.
    pub(crate) command: String,
    /// Its exit code; negative for a signal.
    pub(crate) exit: i32,
    /// What a person says of it.
    pub(crate) verdict: Verdict,
    /// What stood between the tool and flyball.
    #[serde(default)]
    pub(crate) wrapper: String,
    /// What must be found.
    pub(crate) truth: Vec<Fact>,
    /// What may be found.
    #[serde(default)]
    pub(crate) also: Vec<Fact>,
}

/// What a person says of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// All is well.
    Green,
    /// It ran and something is wrong.
    Red,
    /// It could not run.
    Broken,
}

/// One thing that is wrong.
#[derive(Deserialize)]
pub(crate) struct Fact {
    /// What sort.
    #[serde(rename = "k")]
    pub(crate) kind: FactKind,
    /// Test, rule or code; may be empty.
    pub(crate) name: String,
    /// The name with everything around it.
    #[serde(default)]
    pub(crate) full: String,
    /// The file; may be empty.
    #[serde(default)]
    pub(crate) file: String,
    /// Where it may be said to be.
    #[serde(default)]
    pub(crate) places: Vec<(String, u32)>,
    /// How its message begins.
    #[serde(default, rename = "msg")]
    pub(crate) message: String,
    /// Other messages that say it as well.
    #[serde(default, rename = "msgs")]
    pub(crate) messages: Vec<String>,
}

/// What sort of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FactKind {
    /// A test.
    Test,
    /// A file whose tests could not be read.
    Collect,
    /// What a compiler, type checker or linter says.
    Diag,
}

/// What was said of one capture: by the library, or by the program.
pub(crate) struct Told {
    /// The findings.
    pub(crate) findings: Vec<Finding>,
    /// Whether the check counts as green.
    pub(crate) is_green: bool,
}

/// All captures in a folder of `tool/case.txt` with `tool/case.json` beside it.
///
/// # Errors
///
/// If a file cannot be read or its record is not understood.
pub(crate) fn captures(folder: &Path) -> io::Result<Vec<Capture>> {
    let mut captures = Vec::new();
    for tool in fs::read_dir(folder)? {
        let tool = tool?.path();
        if !tool.is_dir() {
            continue;
        }
        for file in fs::read_dir(&tool)? {
            let file = file?.path();
            if file.extension().is_some_and(|end| end == "json") {
                captures.push(capture(folder, &file)?);
            }
        }
    }
    captures.sort_by(|one, other| one.label.cmp(&other.label));
    Ok(captures)
}

fn capture(folder: &Path, file: &Path) -> io::Result<Capture> {
    let path = file.strip_prefix(folder).unwrap_or(file).display().to_string();
    let label = path.strip_suffix(".json").unwrap_or(&path).to_owned();
    let record = serde_json::from_slice(&fs::read(file)?)
        .map_err(|error| io::Error::other(format!("{label}: {error}")))?;
    let output = fs::read(folder.join(format!("{label}.txt")))?;
    Ok(Capture { label, output, record })
}

impl Capture {
    /// What the library says.
    pub(crate) fn told(&self) -> Told {
        let parsed = self.parsed();
        Told { findings: parsed.findings, is_green: self.record.exit == 0 }
    }

    /// All the library says.
    pub(crate) fn parsed(&self) -> Parsed {
        let mut parser = Parser::new(&self.record.command);
        parser.feed(&self.output);
        parser.finish(self.exit())
    }

    /// How the tool ended.
    pub(crate) const fn exit(&self) -> Exit {
        let exit = self.record.exit;
        if exit < 0 { Exit::Signal(-exit) } else { Exit::Code(exit) }
    }
}
