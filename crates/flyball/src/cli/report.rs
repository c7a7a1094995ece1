//! `flyball report`: a run as a document, from the journal.

use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::{Globals, fault, place, runs};
use crate::clock;
use crate::error::CliError;
use crate::files::write_whole;
use crate::journal::Journal;
use crate::platform;
use crate::run_report::{Redaction, ReportFormat, report};
use crate::terminal::{self, Reader};
use crate::view::RunView;

/// Write a report of a run: a page, a comment for a pull request, JSON or CSV
///
/// The page is one file without script: the verdict, how the failing checks moved, what guards did,
/// claims, cost and time, every iteration with its evidence. At most 200 kB; the comment at most
/// 60,000 characters.
#[derive(Clone, Debug, Default, Args)]
pub struct ReportArgs {
    /// The run, or the beginning of its name; without it, the latest one here. Or a session of
    /// `flyball session`, by its whole name
    pub run: Option<String>,
    /// In which form; without it, as the name of --output says; else html, or md on a terminal
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<ReportFormat>,
    /// Where to; without it, or with `-`, standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Leave out what was said to and by the agent, and the names of folders, user and machine
    #[arg(long)]
    pub redact: bool,
}

/// Writes the report.
pub fn run(args: &ReportArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    // A report is handed on: its times are the same for everybody.
    clock::tell_in_utc();
    let journal = place::open_journal()?;
    if let Some(code) = of_session(args, globals, &journal)? {
        return Ok(code);
    }
    let here = || place::repository(globals);
    let found = runs::find_or_latest(&journal, args.run.as_deref(), here)?;
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let format = format(args, output)?;
    let mut view = RunView::read(&journal, &found).map_err(fault::journal)?;
    if args.redact {
        redaction(&found.root).apply(&mut view);
    }
    let text = report(&view, format, clock::wall());
    hand_over(&text, (format, output), &format!("run {}", found.run), globals)
}

/// Writes a report to where it is wanted.
fn hand_over(
    text: &str,
    (format, output): (ReportFormat, Option<&Path>),
    whose: &str,
    globals: &Globals,
) -> Result<ExitCode, CliError> {
    let Some(path) = output else {
        // Only what people read as it is may be broken into rows.
        let is_read = format == ReportFormat::Md;
        terminal::write_told(text, if is_read { Reader::Person } else { Reader::Program })?;
        return Ok(ExitCode::SUCCESS);
    };
    let path = globals.start_dir()?.join(path);
    write_whole(&path, text).map_err(fault::file(&path, "written"))?;
    terminal::write_err(&format!("Report of {whose} written to {}\n", path.display()));
    Ok(ExitCode::SUCCESS)
}

/// The report of a session of the built-in agent, where one of this name is meant: what `inspect` says
/// of it.
fn of_session(
    args: &ReportArgs,
    globals: &Globals,
    journal: &Journal,
) -> Result<Option<ExitCode>, CliError> {
    let Some(name) = &args.run else { return Ok(None) };
    if journal.conversation(Some(name), Path::new("")).map_err(fault::journal)?.is_none() {
        return Ok(None);
    }
    if args.redact {
        return Err(CliError::usage("the report of a session cannot be redacted")
            .hint("`flyball inspect --share FILE` writes one for strangers"));
    }
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let format = format(args, output)?;
    let text = super::inspect::own_session(name, format, globals)?;
    hand_over(&text, (format, output), &format!("session {name}"), globals).map(Some)
}

/// The form asked for, by its name or by the file's.
fn format(args: &ReportArgs, output: Option<&Path>) -> Result<ReportFormat, CliError> {
    match (args.format, output) {
        (Some(format), _) => Ok(format),
        (None, None) if stdout().is_terminal() => Ok(ReportFormat::Md),
        (None, None) => Ok(ReportFormat::default()),
        (None, Some(path)) => ReportFormat::of_file(path).ok_or_else(|| {
            let shown = path.display();
            CliError::usage(format!("`{shown}` does not say in which form the report is wanted"))
                .hint("name it .html, .md, .json or .csv, or give --format")
        }),
    }
}

/// What strangers need not know.
fn redaction(root: &Path) -> Redaction {
    let variable = |name| std::env::var(name).ok();
    let user = variable("USER").or_else(|| variable("LOGNAME"));
    Redaction::new(root, user.as_deref(), platform::host_name().as_deref())
}
