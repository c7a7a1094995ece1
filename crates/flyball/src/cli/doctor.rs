//! `flyball doctor`: looks at everything a run needs, and says what to type about what is wrong.
//! Never mends anything itself.

mod agent;
mod finding;
mod gates;
mod repository;
mod shield;
mod state;

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use self::finding::{Diagnosis, Level, Report};
use super::columns::{self, Cell, Tint};
use super::{Globals, found_agent, place};
use crate::error::CliError;
use crate::loopdir::LoopDir;
use crate::terminal::{self, Paint, Reader};

/// Check that everything a run needs is there
///
/// Exits with 0 when nothing failed, else with the code of the first failure.
#[derive(Clone, Debug, Default, Args)]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Looks, and says what it found.
pub fn run(args: &DoctorArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let mut report = Report::default();
    repository::git(&mut report);
    let root = match place::repository(globals) {
        Ok(root) => {
            report.ok("repository", root.display().to_string());
            Some(root)
        }
        Err(error) => {
            report.error("repository", &error, "cd into a repository, or git init");
            None
        }
    };
    let sources = globals.sources()?;
    match sources.clone().load() {
        Err(error) => report.error("config", &error, "flyball config"),
        Ok(config) => {
            // The one a run would take; without any, what is set is looked at all the same.
            let found = found_agent::load(sources).ok();
            let (config, note) = found.unwrap_or((config, None));
            agent::config(&mut report, &config, note);
            agent::programs(&mut report, &config, root.as_deref());
            shield::shield(&mut report, &config);
            if let Some(root) = &root {
                let human_files = LoopDir::new(root, &config.loop_dir, &config.tasks_file);
                let tasks = repository::files(&mut report, &human_files, &config);
                gates::gates(&mut report, &config, root, tasks);
                repository::leftovers(&mut report, &human_files);
            }
        }
    }
    state::journal(&mut report, root.as_deref());
    let text = if args.json {
        format!("{:#}\n", json!({ "ok": report.failure().is_none(), "findings": report.findings }))
    } else {
        text(&report, globals.color.for_stdout())
    };
    terminal::write_told(&text, Reader::of_json(args.json))?;
    Ok(report.failure().map_or(ExitCode::SUCCESS, |kind| ExitCode::from(kind.code())))
}

fn text(report: &Report, paint: Paint) -> String {
    let rows: Vec<Vec<Cell>> = report.findings.iter().flat_map(rows).collect();
    let of = |level| report.findings.iter().filter(|finding| finding.level == level).count();
    let verdict = match (of(Level::Fail), of(Level::Warn)) {
        (0, 0) => "Everything a run needs is there.".to_owned(),
        (0, warned) => format!("A run can begin; {warned} to look at."),
        (failed, _) => format!("{failed} to put right before a run can begin."),
    };
    format!("{}\n{verdict}\n", columns::render(&rows, paint))
}

/// The finding, and its remedy below it.
fn rows(finding: &Diagnosis) -> Vec<Vec<Cell>> {
    let tint = match finding.level {
        Level::Ok => Tint::Good,
        Level::Warn => Tint::Warn,
        Level::Fail => Tint::Bad,
    };
    let mut lines = finding.what.lines();
    let mut rows = vec![vec![
        Cell::new(finding.level.word(), tint),
        Cell::plain(finding.check),
        Cell::plain(lines.next().unwrap_or_default()),
    ]];
    // A part of a file that is shown keeps its lines.
    rows.extend(lines.map(|line| vec![Cell::default(), Cell::default(), Cell::plain(line)]));
    if let Some(remedy) = &finding.remedy {
        let remedy = Cell::new(format!("-> {remedy}"), Tint::Name);
        rows.push(vec![Cell::default(), Cell::default(), remedy]);
    }
    rows
}
