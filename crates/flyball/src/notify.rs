//! Telling people when a run needs someone or ends: on the desktop, by a bell, by ntfy, Slack, a
//! command or a webhook. A failure here never hurts the run.

mod message;

use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use flyball_core::RunId;
use flyball_core::effect::{Ending, Notice};
use serde_json::{Value, json};

pub use self::message::Message;
use crate::config::{NotifySettings, Route};
use crate::process::run_briefly_with;
use crate::project::Programs;
use crate::terminal::{self, Control};

/// Tells that a run ended: blocked, with a question, or in any other way.
pub fn run_ended(settings: &NotifySettings, run: &RunId, root: &Path, ending: &Ending) {
    send(settings, &Message::run_ended(run, root, ending));
}

/// Tells at once, and beside the run, when a task needs a human while the run goes on.
pub fn noticed(settings: &NotifySettings, run: &RunId, root: &Path, notice: &Notice) {
    if let Some(message) = Message::noticed(run, root, notice) {
        let settings = settings.clone();
        std::thread::spawn(move || send(&settings, &message));
    }
}

/// Tells that a task is handed to a human, outside of a run.
pub fn escalated(settings: &NotifySettings, root: &Path, why: &str) {
    send(settings, &Message::escalated(root, why));
}

fn send(settings: &NotifySettings, message: &Message) {
    if message.success && settings.quiet_on_success {
        return;
    }
    for (route, sent) in deliver(settings, message) {
        if let Err(error) = sent {
            terminal::write_err(&format!("warning: `notify`: {route} failed: {error}\n"));
        }
    }
}

/// Sends a message along every route, and says how each went.
pub fn deliver(settings: &NotifySettings, message: &Message) -> Vec<(Route, Result<(), String>)> {
    let timeout = Duration::from_millis(settings.timeout.get());
    settings
        .routes()
        .into_iter()
        .map(|route| {
            let sent = send_to(&route, message, timeout);
            (route, sent)
        })
        .collect()
}

fn send_to(route: &Route, message: &Message, timeout: Duration) -> Result<(), String> {
    match route {
        Route::Desktop => desktop(message, timeout),
        Route::Bell => bell(),
        Route::Command(command) => call(&command.argv(), message, timeout),
        Route::Webhook(url) => {
            post(url, &[("content-type", "application/json")], &message.facts.to_string(), timeout)
        }
        Route::Slack(url) => {
            let body = json!({ "text": format!("*{}*\n{}", message.title, message.text) });
            post(url, &[("content-type", "application/json")], &body.to_string(), timeout)
        }
        Route::Ntfy(url) => {
            let priority = if message.urgent { "high" } else { "default" };
            let tag = if message.success { "white_check_mark" } else { "warning" };
            // Headers are plain text: what is not goes without.
            let title: String = message.title.chars().filter(|c| matches!(c, ' '..='~')).collect();
            let headers = [("title", &*title), ("priority", priority), ("tags", tag)];
            post(url, &headers, &message.text, timeout)
        }
    }
}

/// The program of the desktop that shows notifications, whichever there is.
fn desktop(message: &Message, timeout: Duration) -> Result<(), String> {
    let programs = Programs::on_path();
    let (title, text) = (message.title.as_str(), message.text.as_str());
    let urgency = if message.urgent { "critical" } else { "normal" };
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let script = format!("display notification {} with title {}", quoted(text), quoted(title));
    let ways: [(&str, Vec<&str>); 4] = [
        ("notify-send", vec!["--app-name=flyball", "--urgency", urgency, "--", title, text]),
        ("terminal-notifier", vec!["-title", title, "-message", text]),
        ("osascript", vec!["-e", &script]),
        ("wsl-notify-send.exe", vec!["--category", title, text]),
    ];
    let Some((program, args)) = ways.iter().find(|(program, _)| programs.has(program)) else {
        return Err("no program that shows notifications was found: install `notify-send` \
                    (package libnotify-bin)"
            .to_owned());
    };
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    run_briefly_with(program, &args, &[], timeout)
}

fn bell() -> Result<(), String> {
    if !std::io::stderr().is_terminal() {
        return Err("standard error is no terminal".to_owned());
    }
    terminal::control_err(Control::Bell);
    Ok(())
}

/// The command gets the facts in its environment and the whole message as its last argument.
fn call(argv: &[String], message: &Message, timeout: Duration) -> Result<(), String> {
    let Some((program, args)) = argv.split_first() else { return Ok(()) };
    let mut args = args.to_vec();
    let is_shell = program == "sh" && args.first().is_some_and(|first| first == "-c");
    if is_shell {
        args.push("flyball-notify".to_owned());
    }
    args.push(message.facts.to_string());
    let text = |name: &str| match message.facts.get(name) {
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
        ("FLYBALL_TITLE", message.title.clone()),
        ("FLYBALL_TEXT", message.text.clone()),
    ];
    run_briefly_with(program, &args, &env, timeout)
}

#[cfg(not(feature = "webhook"))]
fn post(
    _url: &str,
    _headers: &[(&str, &str)],
    _body: &str,
    _timeout: Duration,
) -> Result<(), String> {
    Err("this flyball was built without webhooks (feature `webhook`)".to_owned())
}

#[cfg(feature = "webhook")]
fn post(url: &str, headers: &[(&str, &str)], body: &str, timeout: Duration) -> Result<(), String> {
    let config = ureq::Agent::config_builder().timeout_global(Some(timeout)).build();
    let agent = ureq::Agent::new_with_config(config);
    let request = headers
        .iter()
        .fold(agent.post(url), |request, (name, value)| request.header(*name, *value));
    request.send(body).map(|_| ()).map_err(|error| error.to_string())
}
