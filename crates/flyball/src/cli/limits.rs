//! `flyball limits`: what a run at work may use, changed while it goes on.

use std::process::ExitCode;

use clap::Args;
use flyball_core::human::{HumanReply, HumanWish, LimitChange};
use flyball_core::policy::LimitRules;
use flyball_core::{Governor, Millis};
use serde_json::json;

use super::{Globals, fault, live, place};
use crate::config::schema::{Kind, Place, place as setting_at};
use crate::config::{Value, duration, suggest};
use crate::error::CliError;
use crate::journal::{Journal, RunSummary};
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
    let limits = changes.iter().map(|text| change(text)).collect::<Result<Vec<_>, _>>()?;
    let mut journal = place::open_journal()?;
    let found = live::find(&journal, asked, globals)?;
    if !limits.is_empty() {
        let reply = live::ask(&mut journal, &found, &HumanWish::ChangeLimits { limits })?;
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

/// One change, as it was typed.
fn change(text: &str) -> Result<LimitChange, CliError> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(CliError::usage(format!("`{text}` is no KEY=VALUE"))
            .hint("`flyball limits RUN iterations=30 cost_usd=5`"));
    };
    let name = key.trim().strip_prefix("limits.").unwrap_or(key.trim());
    let Place::Setting(setting) = setting_at(&["limits", name]) else {
        let names = crate::config::schema::names_below(&["limits"]);
        let meant = suggest::nearest(name, names.iter().copied());
        let hint = meant.map_or_else(
            || format!("one of {}", names.join(", ")),
            |meant| format!("did you mean `{meant}`?"),
        );
        return Err(CliError::usage(format!("there is no limit `{name}`")).hint(hint));
    };
    let value = Value::from_text(setting.kind, setting.key, value.trim())
        .map_err(|error| CliError::usage(error).hint(setting.kind.expected()))?;
    of(name, setting.kind, &value)
        .ok_or_else(|| CliError::internal(format!("`{}` is no limit of a run", setting.key)))
}

fn of(name: &str, kind: Kind, value: &Value) -> Option<LimitChange> {
    let span = || {
        let Value::Duration(span) = value else { return None };
        (kind == Kind::Duration).then_some(*span)
    };
    let number = || {
        let Value::Number(number) = value else { return None };
        Some(*number)
    };
    let count = || number().and_then(|number| u32::try_from(number).ok());
    match name {
        "iterations" => count().map(LimitChange::Iterations),
        "stuck" => count().map(LimitChange::Stuck),
        "runtime" => span().map(LimitChange::Runtime),
        "tokens" => number().map(LimitChange::Tokens),
        "cost_usd" => {
            let Value::Money(money) = value else { return None };
            Some(LimitChange::CostUsd(*money))
        }
        "iteration_timeout" => span().map(LimitChange::IterationTimeout),
        "stall_after" => span().map(LimitChange::StallAfter),
        "wait" => span().map(LimitChange::Wait),
        "stop_grace" => span().map(LimitChange::StopGrace),
        _ => None,
    }
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
