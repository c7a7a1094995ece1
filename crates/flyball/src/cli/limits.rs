//! `flyball limits`: what a run at work may use, changed while it goes on.

use std::process::ExitCode;

use clap::Args;
use flyball_core::human::{HumanReply, HumanWish};
use flyball_core::policy::LimitRules;
use flyball_core::{Governor, Millis};
use serde_json::json;

use super::{Globals, fault, live, place};
use crate::config::duration;
use crate::desk::{limit_change, recorded};
use crate::error::CliError;
use crate::journal::{Door, Journal, RunSummary};
use crate::terminal;

/// Change the limits of a run at work
///
/// They hold at once, and after a resume too. Keys are those of `[limits]`: iterations, stuck, runtime,
/// tokens, `cost_usd`, `iteration_timeout`, `stall_after`, wait, `stop_grace`. Without any, those that hold
/// are shown.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitsArgs {
    /// The run, or the beginning of its name; then changes such as `iterations=30` or `cost_usd=5`
    #[arg(value_name = "[RUN] KEY=VALUE")]
    pub words: Vec<String>,
    /// The run; without it, the one at work here
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

/// Changes limits, or shows them.
pub fn run(args: &LimitsArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let (asked, changes) = meant(args)?;
    let limits = changes.iter().map(|text| limit_change(text)).collect::<Result<Vec<_>, _>>()?;
    let mut journal = place::open_journal()?;
    let found = live::find(&journal, asked, globals)?;
    if !limits.is_empty() {
        let reply = live::ask(&mut journal, &found, &HumanWish::ChangeLimits { limits });
        let act = (&found.run, "limits", Door::Cli);
        let reply = recorded(&mut journal, act, &json!({ "limits": changes }), reply)?;
        if let HumanReply::Refused { why } = reply {
            return Err(CliError::config(why).hint("nothing was changed"));
        }
    }
    let governor = replayed(&journal, &found)?;
    let Some(policy) = governor.policy() else {
        return Err(CliError::already_running(format!("run `{}` is only beginning", found.run))
            .hint("ask again in a moment"));
    };
    terminal::write_out(&shown(&found, &policy.limits, args))?;
    Ok(ExitCode::SUCCESS)
}

/// The governor the journal leads to: it alone knows what holds now.
fn replayed(journal: &Journal, run: &RunSummary) -> Result<Governor, CliError> {
    let mut governor = Governor::new();
    for recorded in journal.events(&run.run).map_err(fault::journal)? {
        let recorded = recorded.map_err(fault::journal)?;
        governor.step(recorded.at, &recorded.event);
    }
    Ok(governor)
}

/// The run and the changes that were meant.
fn meant(args: &LimitsArgs) -> Result<(Option<&str>, &[String]), CliError> {
    let Some((first, rest)) = args.words.split_first() else {
        return Ok((args.run.as_deref(), &[]));
    };
    if first.contains('=') {
        return Ok((args.run.as_deref(), &args.words));
    }
    if args.run.is_some() {
        return Err(CliError::usage(format!(
            "`{first}` is no KEY=VALUE, and the run is named twice"
        ))
        .hint("`flyball limits RUN iterations=30`"));
    }
    Ok((Some(first), rest))
}

fn shown(run: &RunSummary, limits: &LimitRules, args: &LimitsArgs) -> String {
    if args.json {
        let body = json!({ "run": run.run, "limits": limits });
        return format!("{body}\n");
    }
    let count = |number: u64| if number == 0 { "no limit".to_owned() } else { number.to_string() };
    let span =
        |span: Millis| if span.is_zero() { "no limit".to_owned() } else { duration::format(span) };
    let money = if limits.cost_usd > 0.0 { format!("${:.2}", limits.cost_usd) } else { count(0) };
    let rows = [
        ("iterations", count(limits.iterations.into())),
        ("stuck", count(limits.stuck.into())),
        ("runtime", span(limits.runtime)),
        ("tokens", count(limits.tokens)),
        ("cost_usd", money),
        ("iteration_timeout", span(limits.iteration_timeout)),
        ("stall_after", span(limits.stall_after)),
        ("wait", span(limits.wait)),
        ("stop_grace", span(limits.stop_grace)),
    ];
    let row = |(name, value): &(&str, String)| format!("  {name:<17}  {value}\n");
    let rows: String = rows.iter().map(row).collect();
    format!("Limits of run {}:\n{rows}", run.run)
}
