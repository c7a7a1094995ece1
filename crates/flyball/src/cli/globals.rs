//! Flags every command has. Their ids must not be those of a command's own flags: clap would mix
//! up the values.

use std::path::PathBuf;

use clap::Args;

use crate::config::{Config, Sources};
use crate::error::CliError;
use crate::project;
use crate::terminal::{self, ColorChoice};

const HEADING: &str = "Global options";

/// Flags every command has.
#[derive(Clone, Debug, Default, Args)]
pub struct Globals {
    /// Work as if started in this folder
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = HEADING)]
    pub working_dir: Option<PathBuf>,
    /// Read this file instead of the project's flyball.toml
    #[arg(long = "config", value_name = "FILE", global = true, help_heading = HEADING)]
    pub config_file: Option<PathBuf>,
    /// When to use colours; `NO_COLOR` is obeyed
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, global = true, help_heading = HEADING)]
    pub color: ColorChoice,
    /// Show times in UTC; without it they are local. JSON is always UTC
    #[arg(long = "utc", global = true, help_heading = HEADING)]
    pub utc: bool,
}

impl Globals {
    /// The folder to work in, absolute.
    pub fn start_dir(&self) -> Result<PathBuf, CliError> {
        let here = std::env::current_dir()
            .map_err(|error| CliError::no_input("the current folder is gone").cause(error))?;
        let Some(dir) = &self.working_dir else { return Ok(here) };
        here.join(dir).canonicalize().map_err(|error| {
            CliError::no_input(format!("`{}` cannot be worked in", dir.display())).cause(error)
        })
    }

    /// Says what in the configuration does nothing any more.
    pub fn warn(&self, config: &Config) {
        let paint = self.color.for_stderr();
        for warning in config.warnings() {
            terminal::write_err(&format!("{} {warning}\n", paint.yellow("warning:")));
        }
    }

    /// The sources of configuration for the project worked in, without flags of the command.
    pub fn sources(&self) -> Result<Sources, CliError> {
        let start = self.start_dir()?;
        let mut sources = Sources::of_process(project::find_root(&start));
        sources.project_file = self.config_file.as_ref().map(|file| start.join(file));
        Ok(sources)
    }
}
