//! The configuration, and the programs of the agents it names.

use std::path::Path;

use super::finding::Report;
use crate::client::login::{Login, can_be_known};
use crate::client::{onboarding, registry};
use crate::config::{AgentSettings, CommandLine, Config, FILE_NAME, suggest};
use crate::error::ErrorKind;
use crate::preflight;
use crate::project::Programs;

const CHECK: (&str, ErrorKind) = ("agent", ErrorKind::Config);

/// The configuration can be read; who chose the agent.
pub(super) fn config(report: &mut Report, config: &Config, note: Option<String>) {
    let origin = |key| config.origin(key).map_or(String::new(), |origin| format!(" ({origin})"));
    let agent = match &config.agent.command {
        Some(command) => {
            format!("agent.command = {}{}", command.to_json(), origin("agent.command"))
        }
        None => format!("agent.name = \"{}\"{}", config.agent.name, origin("agent.name")),
    };
    report.ok("config", agent);
    for warning in config.warnings() {
        report.warn("config", warning, "correct its name, or take it out");
    }
    if let Some(note) = note {
        report.ok(CHECK.0, note);
    }
}

/// The agent, what is put in front of it, and the agents of other roles can work.
pub(super) fn programs(report: &mut Report, config: &Config, root: Option<&Path>) {
    let programs = Programs::on_path();
    let here = root.unwrap_or(Path::new("."));
    let finds = |program: &str| programs.can_start(program, here);
    let agent = &config.agent;
    if let Some(wrapper) = agent.wrapper.first() {
        if finds(wrapper) {
            report.ok(CHECK.0, format!("wrapper {wrapper}"));
        } else {
            let what = format!("there is no program `{wrapper}` for agent.wrapper");
            report.fail(CHECK, what, format!("install it, or set agent.wrapper in {FILE_NAME}"));
        }
        // The agent itself may live inside of it only.
        return;
    }
    match &agent.command {
        Some(command) => own_command(report, command, finds),
        None if !registry::NAMES.contains(&agent.name.as_str()) => {
            let remedy = match suggest::nearest(&agent.name, registry::NAMES.iter().copied()) {
                Some(meant) => format!("set agent.name = \"{meant}\" in {FILE_NAME}"),
                None => format!("set agent.command in {FILE_NAME}"),
            };
            report.fail(CHECK, format!("flyball knows no agent `{}`", agent.name), remedy);
        }
        None => match preflight::hindrance(agent, here) {
            Some(hindrance) => {
                let remedy = hindrance.remedies(agent).into_iter().next().unwrap_or_default();
                report.fail(CHECK, hindrance.words(agent), remedy);
            }
            None => works(report, agent, &programs, here),
        },
    }
    for other in &config.others {
        if let Some(hindrance) = preflight::hindrance(other, here) {
            let what = format!("{} (the agent `{}`)", hindrance.words(other), other.name);
            let remedy = hindrance.remedies(other).into_iter().next();
            let usual = || format!("change [roles] in {FILE_NAME}");
            report.warn(CHECK.0, what, remedy.unwrap_or_else(usual));
        }
    }
}

/// Where a known client is, and whether it shows a login.
fn works(report: &mut Report, agent: &AgentSettings, programs: &Programs, here: &Path) {
    let program = agent.program.as_deref().unwrap_or(&agent.name);
    let found = programs.find(program).map(|path| path.display().to_string());
    report.ok(CHECK.0, found.unwrap_or_else(|| program.to_owned()));
    match (preflight::login_of(agent, here), onboarding::of(&agent.name)) {
        (Login::Seen, _) => report.ok(CHECK.0, format!("`{}` shows a login", agent.name)),
        (_, Some(known)) if !can_be_known(&agent.name) => {
            let name = &agent.name;
            let what = format!("whether `{name}` is logged in shows only when it asks its model");
            report.warn(CHECK.0, what, format!("if a run is refused: {}", known.login));
        }
        (_, Some(known)) => {
            let what = format!("`{}` shows no sign of a login", agent.name);
            report.warn(CHECK.0, what, format!("if a run is refused: {}", known.login));
        }
        (_, None) => {}
    }
}

fn own_command(report: &mut Report, command: &CommandLine, finds: impl Fn(&str) -> bool) {
    let set = format!("set agent.command in {FILE_NAME}");
    match command {
        CommandLine::Argv(words) => {
            let program = words.first().map_or("", String::as_str);
            if finds(program) {
                report.ok(CHECK.0, program);
            } else {
                report.fail(CHECK, format!("there is no program `{program}`"), set);
            }
        }
        CommandLine::Shell(line) => match missing(line, finds) {
            None => report.ok(CHECK.0, format!("sh -c '{line}'")),
            Some(program) => report.warn(CHECK.0, format!("there is no program `{program}`"), set),
        },
    }
}

/// The first program of a line for the shell, when it is plainly missing. Lines the shell itself
/// begins with something of its own are not judged.
pub(super) fn missing(line: &str, finds: impl Fn(&str) -> bool) -> Option<&str> {
    const OWN: [&str; 24] = [
        "cd", "exec", "eval", "export", "set", "unset", "test", "[", "if", "for", "while", "case",
        "until", ".", "source", ":", "true", "false", "command", "trap", "ulimit", "umask", "!",
        "{",
    ];
    let word = line.split_whitespace().next()?;
    let plain = |c: char| c.is_alphanumeric() || "-_./+".contains(c);
    let judged = word.chars().all(plain) && !OWN.contains(&word);
    (judged && !finds(word)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_program_that_is_plainly_missing_is_named() {
        let finds = |program: &str| program == "make";
        for line in ["make test", "cd x && nothing", "A=1 nothing", "$TOOL x", "(nothing)", ""] {
            assert_eq!(missing(line, finds), None, "{line}");
        }
        assert_eq!(missing(" mak test", finds), Some("mak"));
    }
}
