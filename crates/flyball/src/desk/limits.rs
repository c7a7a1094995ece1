//! A limit of a run at work, as a person writes it.

use flyball_core::human::LimitChange;

use crate::config::schema::{Kind, Place, names_below, place as setting_at};
use crate::config::{Value, suggest};
use crate::error::CliError;

/// One change, as it was typed: `iterations=30`.
pub fn limit_change(text: &str) -> Result<LimitChange, CliError> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(CliError::usage(format!("`{text}` is no KEY=VALUE"))
            .hint("`flyball limits RUN iterations=30 cost_usd=5`"));
    };
    let name = key.trim().strip_prefix("limits.").unwrap_or(key.trim());
    let Place::Setting(setting) = setting_at(&["limits", name]) else {
        let names = names_below(&["limits"]);
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
