//! A journal with many runs, for who measures what shows them: simulated runs under made-up projects,
//! the latest with as many events as asked for.
//!
//! `cargo run -p flyball --example full_journal -- STATE_FOLDER RUNS EVENTS`

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

use flyball::clock;
use flyball::journal::{Journal, NewRun, RunProgress};
use flyball::view::Builder;
use flyball_core::{AgentFact, Effect, Event, IterationNo, Millis, Moment, RunId};
use flyball_testkit::sim::Sim;

/// Between the ends of two runs.
const APART: u64 = 20 * 60 * 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let state = PathBuf::from(words.next().ok_or("which folder?")?);
    let runs: u64 = words.next().ok_or("how many runs?")?.parse()?;
    let events: usize = words.next().ok_or("how many events?")?.parse()?;
    let mut journal = Journal::open(&state)?;
    let now = clock::wall();
    for number in 0..runs {
        let ended = now.minus(Millis::new(APART.saturating_mul(runs - number)));
        let length = if number + 1 == runs { events } else { 0 };
        write(&mut journal, number, ended, length)?;
    }
    Ok(())
}

/// Writes one run down, so that it ended at this moment.
fn write(
    journal: &mut Journal,
    number: u64,
    ended: Moment,
    length: usize,
) -> Result<(), Box<dyn Error>> {
    let run = RunId::new(format!("20261115-{:06}-{number:04x}", number % 240_000));
    let (_, events) = Sim::new(number).run_with_journal();
    let moment = |one: Option<&(Moment, Event)>| one.map(|(at, _)| *at);
    let (Some(first), Some(last)) = (moment(events.first()), moment(events.last())) else {
        return Ok(());
    };
    let began = ended.minus(last.since(first));
    let moved = |at: Moment| began.plus(at.since(first));
    let root = Path::new("/projects").join(format!("shop-{}", number % 40));
    let agent = ["claude", "codex", "gemini"].get(usize::try_from(number % 3)?).unwrap_or(&"goose");
    journal.start_run(&NewRun {
        run: run.clone(),
        root,
        agent: (*agent).to_owned(),
        pid: u32::MAX - 1,
        started: began,
        max_iterations: 15,
    })?;
    let row = journal.run(&run)?;
    let mut builder = Builder::new(&row);
    let mut told: Vec<(Moment, Event)> =
        events.into_iter().map(|(at, event)| (moved(at), event)).collect();
    // Signs of life before the last event, as a long session gives them.
    let sign = Event::Agent { iteration: IterationNo::new(1), fact: AgentFact::ShowedLife };
    let place = told.len().saturating_sub(1);
    let signs = std::iter::repeat_n((ended, sign), length.saturating_sub(told.len()));
    told.splice(place..place, signs);
    for (at, event) in &told {
        for effect in builder.step(*at, event) {
            if let Effect::CloseIteration(report) = effect {
                journal.close_iteration(&run, &report)?;
            }
        }
    }
    let rows: Vec<(Moment, &Event)> = told.iter().map(|(at, event)| (*at, event)).collect();
    journal.append_all(&run, &rows)?;
    let view = builder.view(&row);
    journal.update_run(
        &run,
        &RunProgress {
            iteration: IterationNo::new(view.tally.iterations),
            tokens: view.tally.tokens,
            cost_micro_usd: view.tally.cost_micro_usd,
            stories_complete: view.tally.stories_complete,
            stories_total: view.tally.stories_total,
            ..RunProgress::default()
        },
    )?;
    if let Some(ending) = builder.ending() {
        journal.finish_run(&run, ended, ending)?;
    }
    Ok(())
}
