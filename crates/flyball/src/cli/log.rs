//! `flyball log`: what happened in a run, from its journalled events. What the governor decided is
//! not stored but decided again, by giving it the same events.

mod file;
mod gates;
mod session;
mod story;
mod told;

use std::process::ExitCode;

use clap::Args;
use flyball_core::{Event, Governor, IterationNo, Moment};
use serde::Serialize;
use serde_json::json;

use self::story::{Detail, Line, Story};
use super::columns::{self, Cell};
use super::{Globals, fault, place, runs, words};
use crate::error::CliError;
use crate::hook::{self, HookNote};
use crate::journal::{Journal, RunSummary};
use crate::terminal::{self, Audience, Paint};

/// Show what happened in a run
///
/// One line for each thing worth reading. Times are UTC.
#[derive(Clone, Debug, Default, Args)]
pub struct LogArgs {
    /// The run, or the beginning of its name; without it, the latest one here
    pub run: Option<String>,
    /// Show one iteration only, with its calls and the end of its log file
    #[arg(long, value_name = "N")]
    pub iteration: Option<u32>,
    /// Show a session outside of a run instead, as `flyball status --json` names it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["run", "iteration"])]
    pub session: Option<String>,
    /// Print the journal's events as JSON lines
    #[arg(long)]
    pub json: bool,
}

/// An event as `--json` prints it.
#[derive(Serialize)]
struct JsonLine<'a> {
    seq: u64,
    at: Moment,
    #[serde(flatten)]
    event: &'a Event,
}

/// Prints the log.
pub fn run(args: &LogArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let journal = place::open_journal()?;
    let paint = globals.color.for_stdout();
    if let Some(name) = &args.session {
        let form = (paint, args.json.then_some(session::AsJson));
        terminal::write_out(&session::text(&journal, name, form)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let here = || place::repository(globals);
    let found = runs::find_or_latest(&journal, args.run.as_deref(), here)?;
    let iteration = args.iteration.map(IterationNo::new);
    if args.json {
        print_json(&journal, &found, iteration)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match iteration {
        None => whole(&journal, &found, paint)?,
        Some(iteration) => one(&journal, &found, iteration, paint)?,
    };
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn print_json(
    journal: &Journal,
    run: &RunSummary,
    only: Option<IterationNo>,
) -> Result<(), CliError> {
    for recorded in journal.events(&run.run).map_err(fault::journal)? {
        let recorded = recorded.map_err(fault::journal)?;
        if only.is_some() && iteration_of(&recorded.event) != only {
            continue;
        }
        let line = JsonLine { seq: recorded.seq, at: recorded.at, event: &recorded.event };
        let line = serde_json::to_string(&line)
            .map_err(|error| CliError::internal("JSON could not be written").cause(error))?;
        if terminal::write_on(&format!("{line}\n"))? == Audience::Gone {
            return Ok(());
        }
    }
    for note in hook::notes(journal, &run.run).map_err(fault::journal)? {
        if only.is_some() && note.iteration != only {
            continue;
        }
        let HookNote { at, iteration, note } = note;
        let line =
            json!({ "type": "note", "at": at, "iteration": iteration, "note": note }).to_string();
        if terminal::write_on(&format!("{line}\n"))? == Audience::Gone {
            break;
        }
    }
    Ok(())
}

fn whole(journal: &Journal, run: &RunSummary, paint: Paint) -> Result<String, CliError> {
    let mut story = replay(journal, run, None)?;
    story.close(&journal.iterations(&run.run).map_err(fault::journal)?, run);
    Ok(format!("{}{}", head(run), table(&story.into_lines(), paint)))
}

fn one(
    journal: &Journal,
    run: &RunSummary,
    iteration: IterationNo,
    paint: Paint,
) -> Result<String, CliError> {
    let mut story = replay(journal, run, Some(iteration))?;
    let reports = journal.iterations(&run.run).map_err(fault::journal)?;
    let reports: Vec<_> = reports.into_iter().filter(|one| one.iteration == iteration).collect();
    story.close_iterations(&reports);
    let lines = story.into_lines();
    if lines.is_empty() {
        let message = format!("run `{}` has no iteration {iteration}", run.run);
        return Err(CliError::no_input(message)
            .hint(format!("its last one is {}; `flyball log {}`", run.state.iteration, run.run)));
    }
    let is_latest = runs::latest(journal, &run.root).is_ok_and(|latest| latest.run == run.run);
    let place = if is_latest { file::Age::Latest } else { file::Age::Earlier };
    let file = file::told(run, iteration, place);
    Ok(format!("{}{}{file}", head(run), table(&lines, paint)))
}

/// Tells a run's events and what was decided on them.
fn replay(
    journal: &Journal,
    run: &RunSummary,
    only: Option<IterationNo>,
) -> Result<Story, CliError> {
    let detail = if only.is_some() { Detail::Everything } else { Detail::WorthReading };
    let mut story = Story::new(detail);
    let mut governor = Governor::new();
    for recorded in journal.events(&run.run).map_err(fault::journal)? {
        let recorded = recorded.map_err(fault::journal)?;
        let effects = governor.step(recorded.at, &recorded.event);
        if only.is_none() || iteration_of(&recorded.event) == only {
            story.happened(recorded.at, &recorded.event);
            for effect in &effects {
                story.decided(recorded.at, effect);
            }
        }
    }
    for note in hook::notes(journal, &run.run).map_err(fault::journal)? {
        if only.is_none() || note.iteration == only {
            story.noted(&note);
        }
    }
    Ok(story)
}

fn head(run: &RunSummary) -> String {
    let root = run.root.to_string_lossy();
    let started = words::time(run.started);
    format!("Run {} in {}, agent {}, {started} UTC\n", run.run, words::line(&root, 300), run.agent)
}

fn table(lines: &[Line], paint: Paint) -> String {
    let mut before = None;
    let rows: Vec<Vec<Cell>> = lines
        .iter()
        .map(|line| {
            let time = words::time(line.at);
            let shown = if before.as_ref() == Some(&time) { String::new() } else { time.clone() };
            before = Some(time);
            vec![
                Cell::new(shown, columns::Tint::Dim),
                Cell::new(line.word, line.tint),
                Cell::plain(&*line.text),
            ]
        })
        .collect();
    columns::render(&rows, paint)
}

/// The iteration an event belongs to.
fn iteration_of(event: &Event) -> Option<IterationNo> {
    match event {
        Event::Agent { iteration, .. }
        | Event::WorktreeSeen { iteration, .. }
        | Event::GatesFinished { iteration, .. }
        | Event::TimerFired { iteration, .. } => Some(*iteration),
        Event::RunStarted(_)
        | Event::RunResumed(_)
        | Event::StopRequested { .. }
        | Event::TimePassed
        | Event::ShellFailed { .. } => None,
    }
}
