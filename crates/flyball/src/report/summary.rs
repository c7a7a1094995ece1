//! The summary printed on every exit (B12).

use std::fmt::Write;

use flyball_core::effect::{Ending, Rescue, RoleSpend};
use flyball_core::{Millis, RunId};

use crate::demo::DEMO;
use crate::telemetry::result_word;
use crate::terminal;
use crate::view::hanging;
use crate::view::words::{cost_of, count, dollars, span};

/// Where the values stand.
const VALUES: usize = 13;

/// Prints a summary where the story was told, and on standard output too where that is another
/// place: whoever keeps only what a run has to say for itself keeps this.
pub(super) fn print_summary(text: &str) {
    let rows = text.lines().flat_map(|line| {
        // A command is left whole: it is copied.
        let is_command = line.get(VALUES..).is_some_and(|value| value.starts_with("flyball "));
        hanging(line, VALUES, terminal::err_columns().filter(|_| !is_command))
    });
    let told: String = rows.map(|row| row + "\n").collect();
    terminal::write_err(&told);
    if !terminal::is_one_place() {
        terminal::write_out(text.trim_start_matches('\n')).ok();
    }
}

/// The summary as a person reads it.
pub fn summary_text(
    run: &RunId,
    (ending, code): (&Ending, u8),
    max: u32,
    log: Option<&str>,
) -> String {
    let tally = ending.tally;
    let mut out = String::from("\nflyball summary\n---------------\n");
    let outcome = ending.outcome;
    row(&mut out, "Exit", &format!("{outcome} (code {code})"));
    row(&mut out, "", outcome.sentence());
    for line in ending.why.lines() {
        row(&mut out, "", line);
    }
    for trip in &ending.also {
        row(&mut out, "", &format!("also tripped: {} — {}", trip.guard, trip.evidence));
    }
    let max = if max == 0 { "no limit".to_owned() } else { max.to_string() };
    row(&mut out, "Iterations", &format!("{} / {max}", tally.iterations));
    row(&mut out, "Duration", &span(Millis::new(tally.runtime_ms)).to_string());
    if tally.stories_total > 0 {
        let stories = format!("{}/{} complete", tally.stories_complete, tally.stories_total);
        row(&mut out, "Stories", &stories);
    }
    if tally.iterations > 0 {
        let count = u64::from(tally.iterations);
        row(
            &mut out,
            "Avg/iter",
            &span(Millis::new((tally.runtime_ms + count / 2) / count)).to_string(),
        );
    }
    row(&mut out, "Stuck iters", &tally.stuck_iterations.to_string());
    if tally.tokens > 0 || tally.cost_micro_usd > 0 {
        let cost = Some(dollars(tally.cost_micro_usd)).filter(|_| tally.cost_micro_usd > 0);
        let cost = cost.map(|cost| format!(", {cost}")).unwrap_or_default();
        let spent = format!("{} tokens{cost}", count(tally.tokens));
        row(&mut out, "Spent", &spent);
    }
    for line in role_lines(&ending.roles) {
        row(&mut out, "", &line);
    }
    for left in &ending.left {
        let word = left.standing.words();
        row(&mut out, "Left", &format!("{} ({word}): {}", left.task, first_line(&left.why)));
    }
    for (gate, why) in &ending.flaky {
        row(&mut out, "Flaky", &format!("{gate}: {}", first_line(why)));
    }
    for rescue in &ending.rescues {
        row(&mut out, "Rescue", &rescue_words(rescue));
    }
    // What the demo leaves behind is gone when this is read.
    if std::env::var_os(DEMO).is_none() {
        if let Some(log) = log {
            row(&mut out, "Log", log);
        }
        row(&mut out, "Run", &format!("{run}  (flyball log {run})"));
    }
    for (index, step) in ending.next_steps.iter().enumerate() {
        row(&mut out, if index == 0 { "Next" } else { "" }, step);
    }
    out
}

/// What each role used, where there was more than one.
pub(crate) fn role_lines(roles: &[RoleSpend]) -> Vec<String> {
    if roles.len() < 2 {
        return Vec::new();
    }
    let line = |one: &RoleSpend| {
        let sessions = flyball_core::text::count(one.sessions.into(), "session");
        let (role, agent) = (one.role.as_str(), &one.agent);
        let cost = cost_of(one.tokens, one.cost_micro_usd);
        let spent = format!("{} tokens, {cost}", one.tokens);
        format!("{role} ({agent}): {sessions}, {spent}")
    };
    roles.iter().map(line).collect()
}

/// Which iteration another agent took, and what came of it.
fn rescue_words(rescue: &Rescue) -> String {
    let task = rescue.task.as_ref().map(|task| format!(" at {task}")).unwrap_or_default();
    let result = rescue.result.map_or("not finished", result_word);
    format!("iteration {}{task}, before {}: {result}", rescue.iteration, rescue.guard)
}

fn row(out: &mut String, name: &str, value: &str) {
    let name = if name.is_empty() { String::new() } else { format!("{name}:") };
    writeln!(out, "{name:<12} {value}").ok();
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}
