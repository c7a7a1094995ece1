//! `summary.md` of an archive: what the latest run came to, and the stories.

use flyball_core::tasklist::TaskList;

use super::super::runs;
use super::words;
use crate::clock;
use crate::journal::RunSummary;

/// The whole text.
pub(super) fn text(label: &str, run: Option<&RunSummary>, list: Option<&TaskList>) -> String {
    let mut text = format!("# {label}\n\n");
    match run {
        None => text.push_str("No run is known.\n"),
        Some(run) => text.push_str(&numbers(run)),
    }
    if let Some(list) = list {
        text.push_str("\n## Stories\n\n");
        text.extend(list.stories().iter().map(|story| {
            let mark = if story.passes { "x" } else { " " };
            let line = words::line(&format!("{}: {}", story.id, story.title), 300);
            format!("- [{mark}] {line}\n")
        }));
    }
    text
}

fn numbers(run: &RunSummary) -> String {
    let RunSummary { state, max_iterations, .. } = run;
    let outcome = run.outcome.as_deref().unwrap_or("did not end");
    let tally = run.ending.as_ref().map(|ending| ending.tally);
    let iterations = tally.map_or(state.iteration.get(), |tally| tally.iterations);
    let limit = if *max_iterations == 0 { String::new() } else { format!(" of {max_iterations}") };
    let (complete, total) = tally.map_or((state.stories_complete, state.stories_total), |tally| {
        (tally.stories_complete, tally.stories_total)
    });
    let rows = [
        ("Run", run.run.to_string()),
        ("Agent", run.agent.clone()),
        ("Began", clock::rfc3339(run.started)),
        ("Ended", run.ended.map_or("-".to_owned(), clock::rfc3339)),
        ("Outcome", outcome.to_owned()),
        ("Iterations", format!("{iterations}{limit}")),
        ("Duration", runs::elapsed(run, clock::wall()).to_string()),
        ("Stories", words::share(complete, total)),
        ("Tokens", words::count(tally.map_or(state.tokens, |tally| tally.tokens))),
        ("Cost", words::money(tally.map_or(state.cost_micro_usd, |tally| tally.cost_micro_usd))),
    ];
    let mut text = String::from("| latest run | |\n|---|---|\n");
    text.extend(
        rows.iter().map(|(name, value)| format!("| {name} | {} |\n", value.replace('|', "\\|"))),
    );
    let why = run.ending.as_ref().map(|ending| words::line(&ending.why, 2_000));
    text.extend(why.map(|why| format!("\n{why}\n")));
    text
}
