//! `cargo xtask reference`: the pages of commands and settings, written from the program itself.
//!
//! With `--check` nothing is written: it fails when a page is not what would be written now.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::say;

const COMMANDS: &str = "docs/reference/commands.md";
const SETTINGS: &str = "docs/reference/settings.md";
/// Every setting with its default and why.
const DEFAULTS: &str = "crates/flyball/default.toml";
/// Every variable that is read or given, and what it is.
const VARIABLES: &str = "crates/flyball/variables.txt";
const NOTE: &str =
    "<!-- Written by `cargo xtask reference`; change the program, not this page. -->";

/// Commands that a build with the default features does not have, and the feature that brings them.
const OPTIONAL: [(&str, &str); 1] = [("export", "otel")];

/// Writes the pages, or checks them.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let check = match words {
        [] => false,
        [word] if word == "--check" => true,
        _ => bail!("usage: cargo xtask reference [--check]"),
    };
    let defaults = fs::read_to_string(DEFAULTS).with_context(|| DEFAULTS.to_owned())?;
    let variables = fs::read_to_string(VARIABLES).with_context(|| VARIABLES.to_owned())?;
    let page = settings(&defaults) + &variables_page(&variables);
    let pages = [(COMMANDS, commands(&built()?)?), (SETTINGS, page)];
    let mut outdated = Vec::new();
    for (path, page) in pages {
        if fs::read_to_string(path).is_ok_and(|there| there == page) {
            continue;
        }
        outdated.push(path);
        if !check {
            fs::create_dir_all(Path::new(path).parent().unwrap_or(Path::new(".")))?;
            fs::write(path, page).with_context(|| path.to_owned())?;
        }
    }
    if check && !outdated.is_empty() {
        bail!("out of date: {}; run `cargo xtask reference`", outdated.join(", "));
    }
    say(if outdated.is_empty() { "up to date" } else { "written" });
    Ok(())
}

/// The program as it stands in this tree, with every feature; the one that `FLYBALL_PROGRAM` names, where it does.
fn built() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os("FLYBALL_PROGRAM") {
        return fs::canonicalize(program).context("`FLYBALL_PROGRAM` names no program");
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["build", "-q", "-p", "flyball", "--all-features"];
    let status = Command::new(cargo).args(words).status()?;
    ensure!(status.success(), "flyball does not build");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(target.join("debug/flyball"))
}

/// The page of commands: what each says of itself, at the same width everywhere.
fn commands(program: &Path) -> Result<String> {
    let mut parts =
        vec![format!("# Commands\n\n{NOTE}\n\nWhat each command says with `--help`.\n")];
    let mut open = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let help = help(program, &path)?;
        let title = [&["flyball".to_owned()], path.as_slice()].concat().join(" ");
        let level = "#".repeat(path.len() + 2);
        let only = match path.as_slice() {
            [name] => OPTIONAL.iter().find(|(command, _)| command == name),
            _ => None,
        };
        let only = only.map_or_else(String::new, |(_, feature)| {
            format!("Only in a build with the feature `{feature}`.\n\n")
        });
        parts.push(format!("{level} `{title}`\n\n{only}```text\n{}\n```\n", help.trim_end()));
        for name in subcommands(&help).into_iter().rev() {
            open.push([path.as_slice(), &[name]].concat());
        }
    }
    Ok(parts.join("\n"))
}

fn help(program: &Path, path: &[String]) -> Result<String> {
    let output = Command::new(program)
        .args(path)
        .arg("--help")
        // No terminal and no wish for a width: every machine writes the same page.
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .with_context(|| program.display().to_string())?;
    ensure!(output.status.success(), "`flyball {} --help` failed", path.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}

/// The names below `Commands:`. Each stands two blanks in; what follows it stands further in.
fn subcommands(help: &str) -> Vec<String> {
    let below = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = below
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    names.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

/// The page of settings: a table for each section, and what the file says between them.
fn settings(defaults: &str) -> String {
    let mut lines = vec!["# Settings".to_owned(), String::new(), NOTE.to_owned()];
    lines.extend([String::new(), format!("As `{DEFAULTS}` says it.")]);
    let mut before = Kind::Blank;
    for kind in defaults.lines().map(Kind::of) {
        let goes_on = match kind {
            Kind::Blank => true,
            Kind::Section(_) => false,
            Kind::Words(_) => matches!(before, Kind::Words(_)),
            Kind::Sample(_) => matches!(before, Kind::Sample(_)),
            Kind::Row { .. } => matches!(before, Kind::Row { .. }),
        };
        if matches!(before, Kind::Sample(_)) && !matches!(kind, Kind::Sample(_)) {
            lines.push("```".to_owned());
        }
        if !goes_on {
            lines.push(String::new());
        }
        match kind {
            Kind::Blank => {}
            Kind::Section(name) => lines.push(format!("## `[{name}]`")),
            Kind::Words(words) => lines.push(for_page(words)),
            Kind::Sample(code) => {
                if !goes_on {
                    lines.push("```toml".to_owned());
                }
                lines.push(code.to_owned());
            }
            Kind::Row { key, value, why } => {
                if !goes_on {
                    lines.push("| setting | default | what it does |\n|---|---|---|".to_owned());
                }
                let [value, why] = [value, why].map(|text| text.replace('|', "\\|"));
                lines.push(format!("| `{key}` | `{value}` | {} |", for_page(&why)));
            }
        }
        before = kind;
    }
    if matches!(before, Kind::Sample(_)) {
        lines.push("```".to_owned());
    }
    lines.join("\n") + "\n"
}

/// The variables, a table for each who reads or is given them.
fn variables_page(variables: &str) -> String {
    let mut lines = vec![String::new(), "## Variables".to_owned()];
    for line in variables.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            lines.extend([String::new(), format!("### {title}"), String::new()]);
            lines.push("| variable | what it is |\n|---|---|".to_owned());
        } else if let Some((name, what)) = line.split_once(" | ") {
            lines.push(format!("| `{name}` | {what} |"));
        }
    }
    lines.join("\n") + "\n"
}

/// What a line of the defaults is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind<'a> {
    Blank,
    Section(&'a str),
    Words(&'a str),
    /// A setting that is only shown.
    Sample(&'a str),
    Row {
        key: &'a str,
        value: &'a str,
        why: &'a str,
    },
}

impl<'a> Kind<'a> {
    fn of(line: &'a str) -> Self {
        let line = line.trim();
        if line.is_empty() {
            return Self::Blank;
        }
        if let Some(words) = line.strip_prefix('#') {
            let words = words.trim();
            let is_name = |c: char| c.is_ascii_alphanumeric() || "_.\"-".contains(c);
            let key = words.split_once(" = ").is_some_and(|(key, _)| key.chars().all(is_name));
            return if key || words.starts_with('[') {
                Self::Sample(words)
            } else {
                Self::Words(words)
            };
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return Self::Section(name);
        }
        let (key, rest) = line.split_once('=').unwrap_or((line, ""));
        let (value, why) = rest.split_at(comment_at(rest));
        Self::Row { key: key.trim(), value: value.trim(), why: why.trim_start_matches('#').trim() }
    }
}

/// Where the comment of a value begins: at the first `#` outside of a string.
fn comment_at(rest: &str) -> usize {
    let mut in_string = false;
    for (at, character) in rest.char_indices() {
        match character {
            '"' => in_string = !in_string,
            '#' if !in_string => return at,
            _ => {}
        }
    }
    rest.len()
}

/// Words in which a star or an angle bracket means itself.
fn for_page(words: &str) -> String {
    words.replace('*', "\\*").replace('<', "\\<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_commands_are_found_and_their_wrapped_words_are_not() {
        let help = "A program\n\nUsage: a <COMMAND>\n\nCommands:\n  init   Begin\n  mcp-guard  Long\n             words\n\nOptions:\n  -h\n";
        assert_eq!(subcommands(help), ["init", "mcp-guard"]);
        assert!(subcommands("Usage: a\n\nOptions:\n  -h\n").is_empty());
    }

    #[test]
    fn settings_become_tables_with_the_words_around_them() {
        let text = "# All.\n# Of it.\n# [x]\n# y.z = 1\n\n[a]\nb = \"x # y\"  # why | not <that>\nc = 1\n# After.\n\n[d.e]\nf.g = []\n";
        let page = settings(text);
        let body = page.split_once("says it.\n").unwrap().1;
        assert_eq!(
            body,
            "\nAll.\nOf it.\n\n```toml\n[x]\ny.z = 1\n```\n\n## `[a]`\n\n| setting | default | what it does |\n|---|---|---|\n\
             | `b` | `\"x # y\"` | why \\| not \\<that> |\n| `c` | `1` |  |\n\nAfter.\n\n## `[d.e]`\n\n\
             | setting | default | what it does |\n|---|---|---|\n| `f.g` | `[]` |  |\n"
        );
    }
}
