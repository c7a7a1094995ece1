//! Telling people: a command and a webhook when a run needs someone or ends. A failure here never
//! hurts the run.

use std::path::Path;
use std::time::Duration;

use flyball_core::RunId;
use flyball_core::effect::{Ending, Notice};
use flyball_core::task::Standing;
use serde_json::{Value, json};

use crate::config::NotifySettings;
use crate::process::run_briefly_with;
use crate::terminal;

/// Tells that a run ended: blocked, with a question, or in any other way.
pub fn run_ended(settings: &NotifySettings, run: &RunId, root: &Path, ending: &Ending) {
    send(
        settings,
        &json!({
            "event": "run.ended",
            "run": run,
            "repository": root.to_string_lossy(),
            "outcome": ending.outcome,
            "exit_code": ending.outcome.exit_code(),
            "sentence": ending.outcome.sentence(),
            "why": ending.why,
            "iterations": ending.tally.iterations,
            "stories_complete": ending.tally.stories_complete,
            "stories_total": ending.tally.stories_total,
            "tokens": ending.tally.tokens,
            "cost_micro_usd": ending.tally.cost_micro_usd,
        }),
    );
}

/// Tells at once, and beside the run, when a task needs a human while the run goes on.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other notices need nobody")]
pub fn noticed(settings: &NotifySettings, run: &RunId, root: &Path, notice: &Notice) {
    let is_news = |standing: &Standing| {
        matches!(
            standing,
            Standing::Blocked | Standing::Asked | Standing::Escalated | Standing::Tripped
        )
    };
    let (event, task, standing, why) = match notice {
        Notice::TaskLeft { task, standing, why } if is_news(standing) => {
            ("task.left", task, Some(standing), why)
        }
        Notice::TaskRevisited { task, why } => ("task.revisited", task, None, why),
        _ => return,
    };
    let message = json!({
        "event": event,
        "run": run,
        "repository": root.to_string_lossy(),
        "task": task,
        "standing": standing,
        "why": why,
    });
    let settings = settings.clone();
    std::thread::spawn(move || send(&settings, &message));
}

/// Tells that a task is handed to a human, outside of a run.
pub fn escalated(settings: &NotifySettings, root: &Path, why: &str) {
    let message = json!({
        "event": "task.escalated",
        "repository": root.to_string_lossy(),
        "why": why,
    });
    send(settings, &message);
}

fn send(settings: &NotifySettings, message: &Value) {
    let timeout = Duration::from_millis(settings.timeout.get());
    if let Some(command) = &settings.command
        && let Err(error) = call(&command.argv(), message, timeout)
    {
        terminal::write_err(&format!("warning: `notify.command` failed: {error}\n"));
    }
    if let Some(url) = &settings.webhook
        && let Err(error) = post(url, message, timeout)
    {
        terminal::write_err(&format!("warning: `notify.webhook` failed: {error}\n"));
    }
}

/// The command gets the facts in its environment and the whole message as its last argument.
fn call(argv: &[String], message: &Value, timeout: Duration) -> Result<(), String> {
    let Some((program, args)) = argv.split_first() else { return Ok(()) };
    let mut args = args.to_vec();
    let is_shell = program == "sh" && args.first().is_some_and(|first| first == "-c");
    if is_shell {
        args.push("flyball-notify".to_owned());
    }
    args.push(message.to_string());
    let text = |name: &str| match message.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let env = [
        ("FLYBALL_EVENT", text("event")),
        ("FLYBALL_TASK", text("task")),
        ("FLYBALL_OUTCOME", text("outcome")),
        ("FLYBALL_EXIT_CODE", text("exit_code")),
        ("FLYBALL_RUN", String::new()),
        ("FLYBALL_RUN_ID", text("run")),
        ("FLYBALL_WHY", text("why")),
        ("FLYBALL_REPOSITORY", text("repository")),
    ];
    run_briefly_with(program, &args, &env, timeout)
}

#[cfg(not(feature = "webhook"))]
fn post(_url: &str, _message: &Value, _timeout: Duration) -> Result<(), String> {
    Err("this flyball was built without webhooks (feature `webhook`)".to_owned())
}

#[cfg(feature = "webhook")]
fn post(url: &str, message: &Value, timeout: Duration) -> Result<(), String> {
    let config = ureq::Agent::config_builder().timeout_global(Some(timeout)).build();
    let agent = ureq::Agent::new_with_config(config);
    let body = message.to_string();
    agent
        .post(url)
        .header("content-type", "application/json")
        .send(&body)
        .map(|_| ())
        .map_err(|error| error.to_string())
}
