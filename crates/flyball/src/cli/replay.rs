//! `flyball replay`: a journalled run decided again under other limits.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use flyball_core::{Millis, Policy};
use serde_json::json;

use super::stats::{change, read, time};
use super::{Globals, fault, place, runs, words};
use crate::clock;
use crate::config::Sources;
use crate::error::CliError;
use crate::journal::{Journal, RunFilter, RunSummary};
use crate::replay::{Amount, Change, Decision, Limits, Replayed, Scope, replay};
use crate::terminal;

/// How many differences are shown as text.
const SHOWN_MAX: usize = 12;

/// Decide a recorded run again under other limits
///
/// Every event of the run is given to a governor with its own limits and to one with others: where
/// they differ, when the run would have ended, and what the rest of the journal says that would have
/// saved or destroyed. An agent that had been told something else might have done something else:
/// after the first difference only a stop is certain. Nothing is changed.
#[derive(Clone, Debug, Args)]
pub struct ReplayArgs {
    /// The run, or the beginning of its name; without it, the latest one here
    #[arg(conflicts_with = "all")]
    pub run: Option<String>,
    /// Another limit, such as limits.stuck=2 or `limits.stall_after=5m`; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = change)]
    pub changes: Vec<Change>,
    /// The limits of this `flyball.toml` in place of the run's own
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Every run of this machine
    #[arg(long)]
    pub all: bool,
    /// With --all: runs begun within this time
    #[arg(long, value_name = "TIME", value_parser = time, requires = "all")]
    pub since: Option<Millis>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Decides again, and says what came out otherwise.
pub fn run(args: &ReplayArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let journal = place::open_journal()?;
    let policy = args.policy.as_ref().map(|file| policy_of(file, globals)).transpose()?;
    let limits = Limits { policy, changes: args.changes.clone() };
    let chosen = chosen(&journal, args, globals)?;
    let mut replayed = Vec::with_capacity(chosen.len());
    for run in &chosen {
        let told = replay(&limits, run, |to| read(&journal, run, to)).map_err(fault::journal)?;
        replayed.push(told);
    }
    let text = match (args.json, args.all, replayed.as_slice()) {
        (true, false, [one]) => format!("{:#}\n", json!(one)),
        (true, ..) => {
            format!("{:#}\n", json!({ "runs": replayed, "sum": Sum::of(&replayed).json() }))
        }
        (false, false, [one]) => one_text(one, &limits),
        (false, ..) => all_text(&replayed, &limits),
    };
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn chosen(
    journal: &Journal,
    args: &ReplayArgs,
    globals: &Globals,
) -> Result<Vec<RunSummary>, CliError> {
    if !args.all {
        let here = || place::repository(globals);
        return Ok(vec![runs::find_or_latest(journal, args.run.as_deref(), here)?]);
    }
    let from = args.since.map(|since| clock::wall().minus(since));
    let mut runs = journal.runs(&RunFilter::default()).map_err(fault::journal)?;
    runs.retain(|run| from.is_none_or(|from| run.started >= from));
    runs.reverse();
    Ok(runs)
}

/// The limits a settings file makes, upon the defaults and nothing else.
pub(super) fn policy_of(file: &PathBuf, globals: &Globals) -> Result<Policy, CliError> {
    let path = globals.start_dir()?.join(file);
    if !path.is_file() {
        return Err(CliError::no_input(format!("`{}` is not a file", path.display()))
            .hint("name a flyball.toml with the limits to try"));
    }
    let root = path.parent().map(PathBuf::from).unwrap_or_default();
    let sources = Sources { root, project_file: Some(path), ..Sources::default() };
    Ok(sources.load()?.policy)
}

fn title(limits: &Limits) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(limits.policy.as_ref().map(|_| "the limits of the file".to_owned()));
    parts.extend(limits.changes.iter().map(Change::toml));
    if parts.is_empty() { "its own limits".to_owned() } else { parts.join(", ") }
}

fn amount(amount: Amount) -> String {
    let span = words::span(Millis::new(amount.ms));
    let tokens = words::count(amount.tokens);
    format!("{}, {tokens} tokens, {span}", words::dollars(amount.micro_usd))
}

fn one_text(one: &Replayed, limits: &Limits) -> String {
    let ended = one.outcome.map_or_else(|| "not ended".to_owned(), |outcome| outcome.to_string());
    let mut lines = vec![format!("Run {} ({ended}) under {}:", one.run, title(limits))];
    if one.unfit {
        lines.push(
            "  These limits do not go together with the run's others; it was left as it was."
                .to_owned(),
        );
    }
    if one.differences.is_empty() {
        lines.push("  Decided the same throughout.".to_owned());
    }
    for difference in one.differences.iter().take(SHOWN_MAX) {
        let at = clock::time_of_day(difference.at);
        let place = difference.iteration.map(|number| format!("#{number} ")).unwrap_or_default();
        lines.push(format!(
            "  {place}{at} event {}: {}",
            difference.seq,
            both(&difference.was, &difference.would)
        ));
    }
    let more = (one.differences.len().saturating_sub(SHOWN_MAX) as u64)
        .saturating_add(one.differences_left_out);
    if more > 0 {
        lines.push(format!("  and {more} more differences"));
    }
    lines.extend(verdict(one));
    lines.join("\n") + "\n"
}

fn both(was: &[Decision], would: &[Decision]) -> String {
    let told = |some: &[Decision]| some.iter().map(Decision::words).collect::<Vec<_>>().join(", ");
    match (was.is_empty(), would.is_empty()) {
        (true, _) => format!("would have: {}", told(would)),
        (false, true) => format!("would not have: {}", told(was)),
        (false, false) => format!("would have: {}; was: {}", told(would), told(was)),
    }
}

fn verdict(one: &Replayed) -> Vec<String> {
    let Some(stop) = &one.stop else {
        return if one.let_go {
            vec![
                "Its halt would not have come there; what would have followed is not known."
                    .to_owned(),
            ]
        } else {
            vec!["It would have ended as it did.".to_owned()]
        };
    };
    let what = match (stop.scope, stop.outcome) {
        (Scope::Run, Some(outcome)) => format!("The run would have ended as {outcome}"),
        (Scope::Run, None) => "The run would have ended".to_owned(),
        (Scope::Session, _) => "The session would have been stopped".to_owned(),
    };
    let at = stop.iteration.map(|number| format!(" in iteration {number}")).unwrap_or_default();
    let mut lines = vec![format!("{what}{at}, at {}.", clock::told(stop.at))];
    let after = amount(one.after);
    if one.lost.is_nothing() {
        lines.push(format!("Saved: {after}; nothing that was spent after that moved anything."));
    } else {
        let numbers: Vec<String> = one.lost.iterations.iter().map(|n| format!("#{n}")).collect();
        let mut parts = Vec::new();
        if !numbers.is_empty() {
            parts.push(format!("the progress of {}", numbers.join(" ")));
        }
        if one.lost.stories > 0 {
            parts.push(words::stories(usize::try_from(one.lost.stories).unwrap_or(usize::MAX)));
        }
        if one.lost.verified {
            parts.push("the verified completion".to_owned());
        }
        lines.push(format!("Destroyed: {} ({after} were spent after that).", parts.join(", ")));
    }
    lines
}

/// Many runs, summed.
#[derive(Debug, Default)]
struct Sum {
    runs: usize,
    earlier: Vec<String>,
    harmed: Vec<String>,
    let_go: Vec<String>,
    saved: Amount,
    spent: Amount,
}

impl Sum {
    fn of(replayed: &[Replayed]) -> Self {
        let mut sum = Self { runs: replayed.len(), ..Self::default() };
        for one in replayed {
            sum.spent = sum.spent.plus(one.spent);
            sum.let_go.extend(one.let_go.then(|| one.run.to_string()));
            if one.is_stopped() {
                sum.saved = sum.saved.plus(one.saved());
                sum.harmed.extend((!one.lost.is_nothing()).then(|| one.run.to_string()));
                sum.earlier.push(one.run.to_string());
            }
        }
        sum
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "runs": self.runs, "earlier": self.earlier, "harmed": self.harmed, "let_go": self.let_go,
            "saved": self.saved, "spent": self.spent,
        })
    }
}

fn all_text(replayed: &[Replayed], limits: &Limits) -> String {
    let head = format!("{} under {}:\n", words::counted(replayed.len(), "run"), title(limits));
    let apart = replayed.iter().filter(|one| one.is_stopped() || one.let_go);
    let line =
        |one: &Replayed| format!("  {}  {}\n", one.run, words::line(&verdict(one).join(" "), 400));
    let lines: Vec<String> = apart.map(line).collect();
    let lines = lines.concat();
    let sum = Sum::of(replayed);
    format!(
        "{head}{lines}Stopped earlier {}, of them harmed {}; not halted where they were {}. Saved {} of {}.\n",
        sum.earlier.len(),
        sum.harmed.len(),
        sum.let_go.len(),
        amount(sum.saved),
        amount(sum.spent),
    )
}
