//! `[report]`: in which form a report is wanted.

use std::path::Path;

/// In which form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// One page, for people: no script, no request to anywhere.
    #[default]
    Html,
    /// A comment on a pull request, at most 60,000 characters.
    Md,
    /// Everything, for programs.
    Json,
    /// One row for each iteration.
    Csv,
}

impl ReportFormat {
    /// The form a file's name asks for.
    pub fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "html" | "htm" => Some(Self::Html),
            "md" | "markdown" => Some(Self::Md),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}
