//! What `flyball inspect` can be asked.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use flyball_core::guard::Rung;
use flyball_core::{Millis, Moment};

use super::super::stats::change;
use crate::clock;
use crate::config::duration;
use crate::replay::Change;

/// Find out what your agents wasted
///
/// Reads what agents have written down of their sessions, on this machine or at a path, and says where
/// flyball's guards would have nudged, refused or halted, and what was spent after that in the same
/// loop. Nothing is changed, nothing leaves the machine.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct InspectArgs {
    /// Transcripts, or folders with some; without any, all of every known agent on this machine
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Sessions of this time, such as 12h or 30d, or since a day, such as 2026-11-01; without it 30d,
    /// or with a path all
    #[arg(long, value_name = "TIME", value_parser = when)]
    pub since: Option<When>,
    /// Sessions begun before this time ago, or before a day
    #[arg(long, value_name = "TIME", value_parser = when)]
    pub until: Option<When>,
    /// Only sessions of this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Only sessions that worked in this folder, or in one of this name
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Show one session step by step; its name where the transcript holds several
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub session: Option<String>,
    /// Tell of every session in which a guard would have spoken, not only of the ten worst
    #[arg(long)]
    pub all: bool,
    /// Another limit, such as `calls.nudge_after=5`; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = change)]
    pub changes: Vec<Change>,
    /// The limits of this `flyball.toml` in place of those that hold here
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Write a page: to this file, else to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", conflicts_with_all = ["json", "csv"])]
    pub html: Option<PathBuf>,
    /// Write a copy of the sessions that holds no text, path, name or key, and can be inspected
    #[arg(long, value_name = "FILE")]
    pub share: Option<PathBuf>,
    /// Exit with 1 where a guard would have done this, or more
    #[arg(long, value_name = "RUNG", value_enum)]
    pub fail_on: Option<FailOn>,
    /// Print annotations; without it, those of GitHub where its variables say that it runs this
    #[arg(long, value_name = "WHOSE", value_enum)]
    pub annotations: Option<Annotations>,
    /// Read everything anew, and keep nothing
    #[arg(long)]
    pub no_cache: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print one row of CSV for each session
    #[arg(long)]
    pub csv: bool,
}

/// What makes the command fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Advice.
    Nudge,
    /// A refused call.
    Refuse,
    /// The end of a session.
    Halt,
}

impl FailOn {
    pub(super) const fn rung(self) -> Rung {
        match self {
            Self::Nudge => Rung::Nudge,
            Self::Refuse => Rung::Refuse,
            Self::Halt => Rung::Halt,
        }
    }
}

/// Whose annotations are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Annotations {
    /// Workflow commands of GitHub Actions.
    Github,
    /// None.
    None,
}

/// A moment, as people name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// So long ago.
    Ago(Millis),
    /// The beginning of a day, in UTC.
    Day(Moment),
}

impl When {
    pub(super) fn moment(self) -> Moment {
        match self {
            Self::Ago(span) => clock::wall().minus(span),
            Self::Day(day) => day,
        }
    }
}

fn when(text: &str) -> Result<When, String> {
    if let Some(span) = duration::parse(text) {
        return Ok(When::Ago(span));
    }
    let day = clock::start_of_day(text);
    day.map(When::Day)
        .ok_or_else(|| "expected a time such as 30d, or a day such as 2026-11-01".to_owned())
}
