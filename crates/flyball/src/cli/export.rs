//! `flyball export otel`: journalled runs as spans and metrics, to a collector or into a file.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Globals, place, runs};
use crate::error::CliError;
use crate::files;
use crate::journal::{Journal, RunSummary, state_dir};
use crate::otel::{About, Exported, FileSink, HttpSink, Sink, Target, export, follow};
use crate::terminal;
use crate::view::words;

/// Hand journalled runs on to other programs
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// In which form.
    #[command(subcommand)]
    pub form: ExportForm,
}

/// In which form.
#[derive(Clone, Debug, Subcommand)]
pub enum ExportForm {
    /// As OpenTelemetry: spans and metrics, over HTTP or in a file
    ///
    /// Sent to where `OTEL_EXPORTER_OTLP_ENDPOINT` points. A second export gives the same spans, so
    /// what a collector missed can be sent again.
    Otel(OtelArgs),
}

/// What is handed on, and where to.
#[derive(Clone, Debug, Default, Args)]
pub struct OtelArgs {
    /// The runs, by name or a part of it; the latest here without one
    pub runs: Vec<String>,
    /// Write a file with a line of OTLP JSON for each message instead; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Tell what agents are told and say, arguments and results of calls too
    #[arg(long)]
    pub content: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Send one run while it goes on: what comes after this event
    #[arg(long, value_name = "EVENT", hide = true, conflicts_with_all = ["output", "json"])]
    pub follow_after: Option<u64>,
}

/// Hands runs on.
pub fn run(args: &ExportArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let ExportForm::Otel(args) = &args.form;
    let journal = place::open_journal()?;
    let chosen = chosen(args, &journal, globals)?;
    if let Some(after) = args.follow_after {
        for run in &chosen {
            follow(&state_dir()?, &run.run, after)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (told, place) = if let Some(path) = &args.output {
        let mut bytes = Vec::new();
        let told = written(args, &journal, &chosen, &mut bytes)?;
        if path.as_os_str() == "-" {
            terminal::write_out(&String::from_utf8_lossy(&bytes))?;
            return Ok(ExitCode::SUCCESS);
        }
        files::write_whole(path, bytes).map_err(|error| {
            CliError::io(format!("`{}` could not be written", path.display())).cause(error)
        })?;
        (told, path.display().to_string())
    } else {
        let target = Target::of_environment()?.ok_or_else(|| {
            CliError::usage("nothing says where telemetry goes")
                .hint("OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 sends it there")
                .hint("--output FILE writes it into a file")
        })?;
        let place = target.place();
        (handed(args, &journal, &chosen, &mut HttpSink::new(target))?, place)
    };
    let text = if args.json {
        let names: Vec<&str> = chosen.iter().map(|run| run.run.as_str()).collect();
        let value =
            json!({ "runs": names, "spans": told.spans, "metrics": told.metrics, "to": place });
        format!("{value:#}\n")
    } else {
        format!(
            "{} and {} of {} to {place}\n",
            words::counted(told.spans, "span"),
            words::counted(told.metrics, "metric"),
            words::counted(chosen.len(), "run"),
        )
    };
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The runs that are meant.
fn chosen(
    args: &OtelArgs,
    journal: &Journal,
    globals: &Globals,
) -> Result<Vec<RunSummary>, CliError> {
    if args.runs.is_empty() {
        let root = place::Place::find(globals)?.root;
        return Ok(vec![runs::latest(journal, &root)?]);
    }
    args.runs.iter().map(|asked| runs::find(journal, asked)).collect()
}

fn written(
    args: &OtelArgs,
    journal: &Journal,
    runs: &[RunSummary],
    file: &mut dyn Write,
) -> Result<Exported, CliError> {
    let about = About::of_environment();
    handed(args, journal, runs, &mut FileSink { file, about })
}

fn handed(
    args: &OtelArgs,
    journal: &Journal,
    runs: &[RunSummary],
    sink: &mut dyn Sink,
) -> Result<Exported, CliError> {
    let mut all = Exported::default();
    for run in runs {
        let told = export(journal, run, args.content, sink)?;
        all.spans += told.spans;
        all.metrics += told.metrics;
    }
    Ok(all)
}
