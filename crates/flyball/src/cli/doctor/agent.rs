//! The configuration, and the programs of the agents it names.

use std::path::Path;

use super::finding::Report;
use crate::client::registry;
use crate::config::{CommandLine, Config, FILE_NAME, suggest};
use crate::error::ErrorKind;
use crate::project::Programs;

const CHECK: (&str, ErrorKind) = ("agent", ErrorKind::Config);

/// The configuration can be read; who chose the agent.
pub(super) fn config(report: &mut Report, config: &Config) {
    let origin = |key| config.origin(key).map_or(String::new(), |origin| format!(" ({origin})"));
    let agent = match &config.agent.command {
        Some(command) => {
            format!("agent.command = {}{}", command.to_json(), origin("agent.command"))
        }
        None => format!("agent.name = \"{}\"{}", config.agent.name, origin("agent.name")),
    };
    report.ok("config", agent);
}

/// The agent, what is put in front of it, and the agents after it can be started.
pub(super) fn programs(report: &mut Report, config: &Config, root: Option<&Path>) {
    let programs = Programs::on_path();
    let finds = |program: &str| startable(program, root, &programs);
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
        None => match &agent.program {
            Some(program) if finds(program) => report.ok(CHECK.0, program.as_str()),
            Some(program) => {
                let remedy = format!("set agent.program in {FILE_NAME}");
                report.fail(CHECK, format!("there is no program `{program}`"), remedy);
            }
            None => named(report, &agent.name, &programs),
        },
    }
    for other in &config.others {
        let program = match (&other.command, &other.program) {
            (Some(command), _) => command.argv().first().cloned().unwrap_or_default(),
            (None, Some(program)) => program.clone(),
            (None, None) => other.name.clone(),
        };
        if !finds(&program) {
            let what = format!("there is no program `{program}` for the agent `{}`", other.name);
            report.warn(CHECK.0, what, format!("install it, or change [roles] in {FILE_NAME}"));
        }
    }
}

fn named(report: &mut Report, name: &str, programs: &Programs) {
    if let Some(path) = programs.find(name) {
        report.ok(CHECK.0, path.display().to_string());
        return;
    }
    let remedy = match registry::NAMES.iter().find(|other| programs.has(other)) {
        Some(other) => format!("install it, or: flyball run --agent {other}"),
        None => format!("install it, or set agent.command in {FILE_NAME}"),
    };
    report.fail(CHECK, format!("there is no program `{name}` on PATH"), remedy);
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

/// Whether a program can be started: by its name, or by its path from the root.
pub(super) fn startable(program: &str, root: Option<&Path>, programs: &Programs) -> bool {
    if !program.contains('/') {
        return programs.has(program);
    }
    let path = root.unwrap_or(Path::new(".")).join(program);
    let folder = path.parent().map(Path::to_path_buf);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Programs::in_folders(folder).has(&name.unwrap_or_default())
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
