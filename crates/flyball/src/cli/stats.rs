//! `flyball stats`: what guards did over many runs, what that was worth, and where to doubt them.

mod none;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use flyball_core::{Event, Millis, Moment};
use serde_json::json;

use super::columns::{self, Cell, Last};
use super::tasks::looped;
use super::{Globals, fault, place, words};
use crate::clock;
use crate::config::duration;
use crate::error::CliError;
use crate::journal::{Journal, JournalError, RunFilter, RunSummary};
use crate::replay::{Amount, Change};
use crate::run_record::model_of;
use crate::stats::{
    Figures, GuardSum, RunFigures, Share, Stats, Suggestion, Way, WhatIf, suggest, sum, what_if,
    wilson,
};
use crate::terminal::{self, Paint, Reader};

/// How many doubts are shown as text.
const DOUBTS_MAX: usize = 12;

/// Show what guards did, what that was worth, and where to doubt them
///
/// Counted from the runs on this machine. What was not spent is a range: at least the next iteration,
/// at most what the run's own limits left. `--what-if` gives every run to a governor with another
/// limit; nothing is ever changed.
#[derive(Clone, Debug, Args)]
pub struct StatsArgs {
    /// Runs begun within this time
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "30d")]
    pub since: Millis,
    /// Only runs of this project: its folder, or the folder's name
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Only runs of this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// What another limit would have done, such as limits.stuck=2 or `limits.stall_after=5m`
    #[arg(long, value_name = "KEY=VALUE", value_parser = change)]
    pub what_if: Option<Change>,
    /// Only runs that were asked to use this model
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Try other limits on all these runs, and name those the runs speak for
    #[arg(long, conflicts_with = "what_if")]
    pub suggest: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn time(text: &str) -> Result<Millis, String> {
    duration::parse(text).ok_or_else(|| "expected a time such as 12h or 30d".to_owned())
}

pub(super) fn change(text: &str) -> Result<Change, String> {
    Change::parse(text).map_err(|error| error.to_string())
}

/// Counts, and prints.
pub fn run(args: &StatsArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let journal = place::open_journal()?;
    let runs = chosen(&journal, args)?;
    let paint = globals.color.for_stdout();
    let text = if let Some(change) = &args.what_if {
        let rows: Vec<&RunSummary> = runs.iter().collect();
        let told = what_if(change, &rows, |run, to| read(&journal, run, to));
        told_what_if(change, &told.map_err(fault::journal)?, args)
    } else if args.suggest {
        let rows: Vec<&RunSummary> = runs.iter().collect();
        let doubts = sum(&figures(&journal, &runs)?).doubts;
        let told = suggest(&rows, &doubts, |run, to| read(&journal, run, to));
        suggestions(&told.map_err(fault::journal)?, args)
    } else {
        let stats = sum(&figures(&journal, &runs)?);
        let known = journal.known_blockers().map_err(fault::journal)?;
        if args.json {
            let mut all = json!(stats);
            if let Some(all) = all.as_object_mut() {
                all.insert("blockers".to_owned(), json!(known));
            }
            format!("{all:#}\n")
        } else {
            format!("{}{}", text(&stats, args, paint), looped::recurring(&known))
        }
    };
    terminal::write_told(&text, Reader::of_json(args.json))?;
    Ok(ExitCode::SUCCESS)
}

fn figures(journal: &Journal, runs: &[RunSummary]) -> Result<Vec<RunFigures>, CliError> {
    let mut figures = Vec::new();
    for row in runs {
        let mut one = Figures::new(row);
        read(journal, row, &mut |at, event| one.step(at, event)).map_err(fault::journal)?;
        figures.push(one.finish(row, model_of(&row.run)));
    }
    Ok(figures)
}

/// The runs asked for, in the order they began.
fn chosen(journal: &Journal, args: &StatsArgs) -> Result<Vec<RunSummary>, CliError> {
    let from = clock::wall().minus(args.since);
    let mut runs = journal.runs(&RunFilter::default()).map_err(fault::journal)?;
    // A run in a worktree of its own is one of the repository it came from.
    let mut origins = journal.apart_origins().map_err(fault::journal)?;
    for run in &mut runs {
        if let Some(origin) = origins.remove(&run.run) {
            run.root = origin;
        }
    }
    runs.retain(|run| {
        let project = args.project.as_deref().is_none_or(|project| is_of(&run.root, project));
        let agent = args.agent.as_deref().is_none_or(|agent| run.agent == agent);
        let is_asked = |model: &str| model_of(&run.run).as_deref() == Some(model);
        run.started >= from && project && agent && args.model.as_deref().is_none_or(is_asked)
    });
    runs.reverse();
    Ok(runs)
}

fn is_of(root: &Path, project: &str) -> bool {
    root == Path::new(project) || root.file_name().is_some_and(|name| name == project)
}

/// Gives a run's events; one that cannot be read to its end counts as far as it can.
pub(super) fn read(
    journal: &Journal,
    run: &RunSummary,
    to: &mut dyn FnMut(Moment, &Event),
) -> Result<(), JournalError> {
    for recorded in journal.events(&run.run)? {
        match recorded {
            Ok(recorded) => to(recorded.at, &recorded.event),
            Err(JournalError::BadEvent { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn text(stats: &Stats, args: &StatsArgs, paint: Paint) -> String {
    if stats.all.runs == 0 {
        return none::found(args);
    }
    let mut out = top(stats);
    out.push_str(&guards(stats, paint));
    out.push_str(&shares(
        "AGENT",
        stats.agents.iter().map(|(name, one)| (name.clone(), one.clone())),
        paint,
    ));
    if !stats.models.is_empty() {
        let models = stats.models.iter().map(|(name, one)| (name.clone(), one.clone()));
        out.push_str(&shares("MODEL", models, paint));
    }
    let projects = stats.projects.iter().map(|(root, one)| {
        let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned();
        (name, one.clone())
    });
    out.push_str(&shares("PROJECT", projects, paint));
    out.push_str(&doubts(stats));
    out
}

/// The sentences above the tables.
fn top(stats: &Stats) -> String {
    let all = &stats.all;
    let ends: Vec<String> =
        stats.outcomes.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    let noun = if all.runs == 1 { "run" } else { "runs" };
    let mut lines = vec![format!("{} {noun}: {}", all.runs, ends.join(", "))];
    let share = all.idle.micro_usd.saturating_mul(100).checked_div(all.spent.micro_usd);
    if let Some(share) = share {
        let idle = words::dollars(all.idle.micro_usd);
        let mut line = format!(
            "Spent {}, of it without progress {idle} ({share} %)",
            words::dollars(all.spent.micro_usd)
        );
        if let Some(each) = all.per_story() {
            line = format!("{line}; {} for each verified story", words::dollars(each));
        }
        lines.push(line);
    }
    if all.fixed + all.broken > 0 {
        lines.push(format!(
            "Checks fixed {}, broken {}, in {}",
            all.fixed,
            all.broken,
            flyball_core::text::count(all.iterations, "iteration")
        ));
    }
    if stats.claims > 0 {
        lines.push(format!(
            "Said to be done {}; {} refused, {} of them with red gates on that very tree",
            flyball_core::text::count(stats.claims, "time"),
            stats.claims_refused,
            stats.false_done
        ));
    }
    if stats.calls.of > 0 {
        let heeded = &stats.calls;
        lines.push(format!("Advice on calls heeded {} of {} times", heeded.heeded, heeded.of));
    }
    if stats.iterations.of > 0 {
        let heeded = &stats.iterations;
        let (part, of) = (heeded.heeded, heeded.of);
        lines
            .push(format!("Advised or redirected iterations followed by progress: {part} of {of}"));
    }
    lines.join("\n") + "\n"
}

fn guards(stats: &Stats, paint: Paint) -> String {
    if stats.guards.is_empty() {
        return String::new();
    }
    let rungs = ["nudge", "refuse", "redirect", "ask", "halt"];
    let titles = [
        "GUARD",
        "NUDGE",
        "REFUSE",
        "REDIRECT",
        "ASK",
        "HALT",
        "RUNS",
        "TOO",
        "NOT SPENT",
        "DOUBTED",
    ];
    let mut rows = vec![columns::heading(&titles)];
    for (guard, one) in &stats.guards {
        let mut row = vec![Cell::plain(*guard)];
        row.extend(rungs.iter().map(|rung| {
            let count = one.rungs.get(rung).copied().unwrap_or(0);
            Cell::plain(words::count(count))
        }));
        let too = words::count(one.would_too);
        row.extend([one.runs.to_string(), too, not_spent(one), doubted(one)].map(Cell::plain));
        rows.push(row);
    }
    let rows = columns::within(rows, terminal::out_columns(), Last::Figure);
    format!("\n{}", columns::render(&rows, paint))
}

/// The range, in money where it is known, else in time.
fn not_spent(one: &GuardSum) -> String {
    let (least, most) = (one.at_least, one.at_most);
    match (one.halts, most) {
        (0, _) | (_, Amount { micro_usd: 0, ms: 0, .. }) => "-".to_owned(),
        (_, Amount { micro_usd: 0, .. }) => {
            let span = |ms| words::span(Millis::new(ms));
            format!("{} – {}", span(least.ms), span(most.ms))
        }
        (_, most) => {
            let likely = one.likely.filter(|_| one.likely_of == one.halts);
            let likely =
                likely.map(|likely| format!(" (likely {})", words::dollars(likely.micro_usd)));
            let (least, most) = (words::dollars(least.micro_usd), words::dollars(most.micro_usd));
            format!("{least} – {most}{}", likely.unwrap_or_default())
        }
    }
}

fn doubted(one: &GuardSum) -> String {
    match (one.doubted, one.acted) {
        (0, 0) => "-".to_owned(),
        (part, whole) => match wilson(part, whole) {
            Some((low, high)) => format!("{part} of {whole} ({low:.0}–{high:.0} %)"),
            None => format!("{part} of {whole}"),
        },
    }
}

fn shares(title: &str, shares: impl Iterator<Item = (String, Share)>, paint: Paint) -> String {
    let titles = [
        title,
        "RUNS",
        "VERIFIED",
        "ITER",
        "FIXED",
        "BROKEN",
        "NET/ITER",
        "NET/$",
        "COST",
        "IDLE",
        "PER STORY",
    ];
    let mut rows = vec![columns::heading(&titles)];
    rows.extend(shares.map(|(name, one)| {
        let cells = [
            words::line(&name, 30),
            one.runs.to_string(),
            one.verified.to_string(),
            one.iterations.to_string(),
            one.fixed.to_string(),
            one.broken.to_string(),
            one.fix_rate().map_or("-".to_owned(), hundredths),
            one.fix_rate_per_dollar().map_or("-".to_owned(), hundredths),
            words::money(one.spent.micro_usd),
            words::money(one.idle.micro_usd),
            one.per_story().map_or("-".to_owned(), words::money),
        ];
        cells.into_iter().map(Cell::plain).collect()
    }));
    let rows = columns::within(rows, terminal::out_columns(), Last::Figure);
    format!("\n{}", columns::render(&rows, paint))
}

/// `1.25`, `-0.50`.
fn hundredths(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let number = number.unsigned_abs();
    format!("{sign}{}.{:02}", number / 100, number % 100)
}

fn doubts(stats: &Stats) -> String {
    if stats.doubts.is_empty() {
        return String::new();
    }
    let line = |doubt: &crate::stats::Doubt| {
        format!("  {}  {}: {}\n", doubt.run, doubt.guard, doubt.kind.words())
    };
    let lines: String = stats.doubts.iter().rev().take(DOUBTS_MAX).map(line).collect();
    let more = stats.doubts.len().saturating_sub(DOUBTS_MAX);
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    format!("\nTo be doubted, the latest first (`flyball log RUN`):\n{lines}{more}")
}

/// The names of runs, the first ones.
fn listed(runs: &[flyball_core::RunId]) -> String {
    let mut names: Vec<String> = runs.iter().take(8).map(ToString::to_string).collect();
    if runs.len() > 8 {
        names.push(format!("{} more", runs.len() - 8));
    }
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

fn told_what_if(change: &Change, told: &WhatIf, args: &StatsArgs) -> String {
    if args.json {
        return format!("{:#}\n", json!({ "change": change, "what_if": told }));
    }
    let share = told.gain_micro_usd.saturating_mul(100).checked_div(told.cost_micro_usd);
    format!(
        "{} over {}:\n  stopped earlier {}{}\n  harm: {} of them made progress afterwards{}\n  \
         gain: {} was spent after that point by the others ({} % of all)\n  \
         not halted where they were {}{}\n",
        change.toml(),
        words::counted(usize::try_from(told.runs).unwrap_or(usize::MAX), "run"),
        told.earlier.len(),
        listed(&told.earlier),
        told.harmed.len(),
        listed(&told.harmed),
        words::dollars(told.gain_micro_usd),
        share.unwrap_or(0),
        told.let_go.len(),
        listed(&told.let_go),
    )
}

fn suggestions(told: &[Suggestion], args: &StatsArgs) -> String {
    if args.json {
        return format!("{:#}\n", json!({ "suggestions": told }));
    }
    if told.is_empty() {
        return "No other limit: none would have stopped 30 of these runs earlier, harmed none of them \
                and saved 5 % of what was spent; and no two doubts speak for a looser one.\n"
            .to_owned();
    }
    let line = |one: &Suggestion| match one.way {
        Way::Stricter => format!(
            "{}\n  {} runs would have been stopped earlier, none of them moved afterwards (true share at \
             most {} %); {} less spent\n",
            one.toml,
            one.evidence.earlier.len(),
            one.harm_at_most_percent.unwrap_or(100),
            words::dollars(one.evidence.gain_micro_usd),
        ),
        Way::Looser => format!(
            "{}\n  {} halted runs moved at once when they were taken up unchanged, and would not have been \
             halted: {}; {} others would have gone on too, each for one iteration at least\n",
            one.toml,
            one.doubted.len(),
            listed(&one.doubted).trim_start_matches(": "),
            one.evidence.let_go.len().saturating_sub(one.doubted.len()),
        ),
    };
    told.iter().map(line).collect()
}
