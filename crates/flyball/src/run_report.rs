//! A run as a document: one HTML file for itself, Markdown for a pull request, JSON and CSV for
//! programs. Made from the journal at any time; bounded however long the run was.

mod csv;
mod html;
mod json;
mod markdown;
mod redact;
mod settings;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::{fs, io};

use flyball_core::{Moment, RunId};

pub use self::redact::Redaction;
pub use crate::config::ReportFormat;
use crate::files::write_whole;
use crate::journal::{Journal, JournalError};
use crate::view::RunView;

/// The report of a run.
pub fn report(run: &RunView, format: ReportFormat, now: Moment) -> String {
    match format {
        ReportFormat::Html => html::document(run, now),
        ReportFormat::Md => markdown::document(run),
        ReportFormat::Json => json::document(run),
        ReportFormat::Csv => csv::document(run),
    }
}

/// Writes the report of a journalled run to a file, in the form its name says.
pub fn written(journal: &Journal, run: &RunId, path: &Path, now: Moment) -> Result<(), WriteError> {
    let view = RunView::read(journal, &journal.run(run)?)?;
    let text = report(&view, ReportFormat::of_file(path).unwrap_or_default(), now);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(write_whole(path, &text)?)
}

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The run could not be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] io::Error),
}

/// The project, as a person calls it.
fn project(run: &RunView) -> String {
    let root = &run.run.root;
    let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
    crate::view::words::line(&name, 80)
}
