//! `flyball log`: what happened in a run, from its journalled events. What the governor decided is
//! not stored but decided again, by giving it the same events.

mod file;
mod session;

use std::process::ExitCode;

use clap::Args;
use flyball_core::{Event, IterationNo, Moment};
use serde::Serialize;
use serde_json::json;

use super::{Globals, fault, place, runs, words};
use crate::clock;
use crate::error::CliError;
use crate::hook::{self, HookNote};
use crate::journal::{Journal, RunSummary};
use crate::terminal::{self, Audience, Paint};
use crate::view::{Line, Narrator, Replay, Weight, hanging, log_lines};

/// How often a run that goes on is looked at.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(300);

/// Show what happened in a run
///
/// One line for each thing worth reading. Times are local; `--utc` shows them in UTC.
#[derive(Clone, Debug, Default, Args)]
pub struct LogArgs {
    /// The run, or any part of its name that no other has; without it, the latest one here
    pub run: Option<String>,
    /// Show one iteration only, with its calls and the end of its log file
    #[arg(long, value_name = "N")]
    pub iteration: Option<u32>,
    /// Go on with what happens until the run ends; Ctrl-C leaves it running
    #[arg(long, short, conflicts_with_all = ["iteration", "session"])]
    pub follow: bool,
    /// Show a session outside of a run instead: any part of its name, or without one the latest
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    #[arg(conflicts_with_all = ["run", "iteration"])]
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
        let name = session::find(&journal, name)?;
        terminal::write_out(&session::text(&journal, &name, form)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let here = || place::repository(globals);
    let found = runs::find_or_latest(&journal, args.run.as_deref(), here).map_err(|error| {
        match session::latest(&journal) {
            Some(name) if args.run.is_none() => {
                error.hint(format!("a session outside of a run: `flyball log --session {name}`"))
            }
            Some(_) | None => error,
        }
    })?;
    let iteration = args.iteration.map(IterationNo::new);
    if args.json {
        let mut seq = print_json(&journal, &found, iteration, 0)?;
        while args.follow && still_at_work(&journal, &found)? {
            seq = print_json(&journal, &found, iteration, seq)?;
        }
        if iteration.is_none() {
            print_json(&journal, &found, iteration, seq)?;
        }
        return print_json_notes(&journal, &found, iteration);
    }
    match iteration {
        None if args.follow => whole(&journal, &found, paint, Until::ItEnds)?,
        None => whole(&journal, &found, paint, Until::Now)?,
        Some(iteration) => one(&journal, &found, iteration, paint)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits a moment; whether the run goes on.
fn still_at_work(journal: &Journal, run: &RunSummary) -> Result<bool, CliError> {
    std::thread::sleep(LOOK_EVERY);
    let now = journal.run(&run.run).map_err(fault::journal)?;
    Ok(runs::life(&now) == runs::Life::Running)
}

/// Prints the events after one; the number of the last.
fn print_json(
    journal: &Journal,
    run: &RunSummary,
    only: Option<IterationNo>,
    mut seq: u64,
) -> Result<u64, CliError> {
    for recorded in journal.events_after(&run.run, seq).map_err(fault::journal)? {
        let recorded = recorded.map_err(fault::journal)?;
        seq = recorded.seq;
        if only.is_some() && iteration_of(&recorded.event) != only {
            continue;
        }
        let line = JsonLine { seq: recorded.seq, at: recorded.at, event: &recorded.event };
        let line = serde_json::to_string(&line)
            .map_err(|error| CliError::internal("JSON could not be written").cause(error))?;
        if terminal::write_on(&format!("{line}\n"))? == Audience::Gone {
            return Ok(u64::MAX);
        }
    }
    Ok(seq)
}

/// Prints the notes of the run's hooks.
fn print_json_notes(
    journal: &Journal,
    run: &RunSummary,
    only: Option<IterationNo>,
) -> Result<ExitCode, CliError> {
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
    Ok(ExitCode::SUCCESS)
}

/// How far a run is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// As far as it has come.
    Now,
    /// To its end, as it goes on.
    ItEnds,
}

/// Prints every line worth reading, as the events are read.
fn whole(journal: &Journal, run: &RunSummary, paint: Paint, until: Until) -> Result<(), CliError> {
    let mut page = Page::new(paint, Weight::Story, None);
    page.print(&head(run))?;
    let mut told = LogLine::new(run);
    page.tell(journal, run, &mut told)?;
    while until == Until::ItEnds && page.audience == Audience::There && still_at_work(journal, run)?
    {
        page.tell(journal, run, &mut told)?;
    }
    page.tell(journal, run, &mut told)?;
    let now = journal.run(&run.run).map_err(fault::journal)?;
    if let Some(ending) = &now.ending {
        page.lines(&Narrator::ended(now.ended.unwrap_or(now.last_at), ending))?;
    }
    Ok(())
}

/// Prints everything of one iteration, and the end of its log file.
fn one(
    journal: &Journal,
    run: &RunSummary,
    iteration: IterationNo,
    paint: Paint,
) -> Result<(), CliError> {
    let mut page = Page::new(paint, Weight::Detail, Some(iteration));
    page.waiting = head(run);
    page.tell(journal, run, &mut LogLine::new(run))?;
    if !page.waiting.is_empty() {
        let message = format!("run `{}` has no iteration {iteration}", run.run);
        return Err(CliError::no_input(message)
            .hint(format!("its last one is {}; `flyball log {}`", run.state.iteration, run.run)));
    }
    let is_latest = runs::latest(journal, &run.root).is_ok_and(|latest| latest.run == run.run);
    let place = if is_latest { file::Age::Latest } else { file::Age::Earlier };
    page.print(&file::told(run, iteration, place))
}

/// How far a run has been told.
struct LogLine {
    replay: Replay,
    /// The number of the last event.
    seq: u64,
    /// How many notes of hooks.
    notes: usize,
}

impl LogLine {
    fn new(run: &RunSummary) -> Self {
        Self { replay: Replay::new(run), seq: 0, notes: 0 }
    }
}

/// What is printed, as it comes.
struct Page {
    paint: Paint,
    weight: Weight,
    only: Option<IterationNo>,
    /// Printed before the first line.
    waiting: String,
    /// The time of the line before.
    before: Option<String>,
    /// Its day, where that is said apart.
    day: Option<String>,
    audience: Audience,
}

impl Page {
    fn new(paint: Paint, weight: Weight, only: Option<IterationNo>) -> Self {
        let (waiting, audience) = (String::new(), Audience::There);
        Self { paint, weight, only, waiting, before: None, day: None, audience }
    }

    /// Tells what came since: a run's events, what was decided on them, and the notes of its hooks
    /// between.
    fn tell(
        &mut self,
        journal: &Journal,
        run: &RunSummary,
        told: &mut LogLine,
    ) -> Result<(), CliError> {
        let notes = hook::notes(journal, &run.run).map_err(fault::journal)?;
        let known = std::mem::replace(&mut told.notes, notes.len());
        let mut notes = notes.into_iter().skip(known).peekable();
        for recorded in journal.events_after(&run.run, told.seq).map_err(fault::journal)? {
            let recorded = recorded.map_err(fault::journal)?;
            told.seq = recorded.seq;
            while let Some(note) = notes.next_if(|note| note.at < recorded.at) {
                self.note(&note)?;
            }
            self.lines(&told.replay.step(recorded.at, &recorded.event).lines)?;
            if self.audience == Audience::Gone {
                return Ok(());
            }
        }
        notes.try_for_each(|note| self.note(&note))
    }

    fn note(&mut self, note: &HookNote) -> Result<(), CliError> {
        self.lines(&[Narrator::note(note.at, note.iteration, &note.note)])
    }

    fn lines(&mut self, lines: &[Line]) -> Result<(), CliError> {
        let mut text = String::new();
        for line in lines {
            let is_asked_for = self.only.is_none() || line.iteration == self.only;
            if line.weight > self.weight || !is_asked_for {
                continue;
            }
            let columns = terminal::out_columns();
            let day = clock::day(line.at);
            // Where a row has room for the time only, each day is said once.
            if columns.is_some() && self.day.as_ref() != Some(&day) {
                text.push_str(&self.paint.dim(&day));
                text.push('\n');
                self.day = Some(day);
            }
            let (rows, time) = log_lines(line, self.before.as_deref(), self.paint, columns);
            for row in rows {
                text.push_str(&row);
                text.push('\n');
            }
            self.before = Some(time);
        }
        if text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.waiting) + &text;
        self.print(&text)
    }

    fn print(&mut self, text: &str) -> Result<(), CliError> {
        if self.audience == Audience::There {
            self.audience = terminal::write_on(text)?;
        }
        Ok(())
    }
}

fn head(run: &RunSummary) -> String {
    let root = run.root.to_string_lossy();
    let (started, agent) = (words::time(run.started), words::line(&run.agent, 300));
    let zone = clock::zone_words(run.started);
    let head =
        format!("Run {} in {}, agent {agent}, {started} {zone}", run.run, words::line(&root, 300));
    hanging(&head, 4, terminal::out_columns()).join("\n") + "\n"
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
        | Event::StateReplaced { .. }
        | Event::HumanAsked { .. }
        | Event::ShellFailed { .. } => None,
    }
}
