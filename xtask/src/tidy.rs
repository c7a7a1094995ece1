//! `cargo xtask tidy`: taste that a machine can check. Reads the files git knows; changes nothing.

mod arrows;
mod glossary;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use self::arrows::Arrows;
use self::glossary::Glossary;
use crate::say;

/// Production lines a source file may have before it should be split by meaning.
const LINES_MAX: usize = 400;

/// Words that do not belong in a tree that is finished; written so that this file is clean.
const BANNED: [(&str, &str); 6] = [
    (concat!("// TO", "DO"), "open an issue instead"),
    (concat!("// FIX", "ME"), "mend it"),
    (concat!("dbg", "!("), "take it out"),
    (concat!("todo", "!("), "finish it"),
    (concat!("unimplemented", "!("), "finish it"),
    (concat!("/work", "/main"), "no machine paths"),
];

/// Words only those may use who know the operating system, and who they are.
const SYSTEM_WORDS: [&str; 2] = [concat!("\"/pro", "c"), concat!("target", "_os")];
const SYSTEM_ROOMS: [&str; 4] = [
    "crates/flyball/src/platform",
    "crates/flyball-testkit/src/memory.rs",
    "crates/flyball-testkit/src/processes.rs",
    "crates/flyball-testkit/src/processor.rs",
];

/// Ways to a file that wait for a pipe, follow a planted link or read without end, and who may use
/// them: the room whose care they are, and what never meets an agent's files.
const BARE_FILES: [&str; 6] = [
    concat!("fs::re", "ad("),
    concat!("fs::re", "ad_to_string("),
    concat!("fs::wri", "te("),
    concat!("File::op", "en("),
    concat!("File::cre", "ate("),
    concat!("OpenOptions::n", "ew("),
];
const SHELL: &str = "crates/flyball/src/";
const FILE_ROOMS: [&str; 5] = ["files", "platform", "sandbox", "demo", "worktree/git/standing.rs"];

/// Endings of type names that say nothing.
const EMPTY_NAMES: [&str; 5] = ["Manager", "Helper", "Util", "Utils", "Processor"];

/// The loop of the built-in agent, in the order in which it is read, and how long it may be altogether:
/// it is the example for whoever builds an agent on the core, and is read in one sitting.
const LOOP: [&str; 7] = [
    "crates/flyball/src/session/conversation.rs",
    "crates/flyball/src/session.rs",
    "crates/flyball/src/session/asking.rs",
    "crates/flyball/src/session/judge.rs",
    "crates/flyball/src/session/judge/alone.rs",
    "crates/flyball/src/session/judge/in_run.rs",
    "crates/flyball/src/session/tools.rs",
];
const LOOP_LINES_MAX: usize = 1500;

/// Checks everything; all complaints are told at once.
pub(crate) fn run() -> Result<()> {
    let output = Command::new("git").args(["ls-files", "-z"]).output().context("git ls-files")?;
    let names = String::from_utf8(output.stdout).context("file names")?;
    let mut complaints = Vec::new();
    let mut arrows = Arrows::default();
    let mut glossary = Glossary::default();
    for name in names.split('\0').filter(|name| !name.is_empty()) {
        let is_data = name.contains("/fixtures/")
            || name.contains("/tests/corpus/")
            || name.contains("/tests/captures/")
            || name.contains("/vectors/")
            || name.contains("/snapshots/");
        if is_data {
            continue;
        }
        let Ok(text) = fs::read_to_string(name) else { continue };
        match Path::new(name).extension().and_then(|extension| extension.to_str()) {
            Some("rs") => {
                source(name, &text, &mut complaints);
                arrows.add(name, &text);
                glossary.add(name, &text);
            }
            Some("md") => page(name, &text, &mut complaints),
            Some(_) | None => {}
        }
    }
    one_sitting(&mut complaints)?;
    arrows.cycles(&mut complaints);
    glossary.double_meanings(&mut complaints);
    for complaint in &complaints {
        say(complaint);
    }
    if !complaints.is_empty() {
        bail!("{} to tidy up", complaints.len());
    }
    say("tidy");
    Ok(())
}

/// What is wrong with a source file.
fn source(name: &str, text: &str, complaints: &mut Vec<String>) {
    if !text.starts_with("//!") {
        complaints.push(format!("{name}: begins without saying what it is (`//!`)"));
    }
    let lines = production_lines(text);
    if lines > LINES_MAX && !name.contains("/tests/") && !name.ends_with("tests.rs") {
        complaints.push(format!("{name}: {lines} production lines, more than {LINES_MAX}"));
    }
    for (word, advice) in BANNED {
        if let Some(line) = text.lines().position(|line| line.contains(word)) {
            complaints.push(format!("{name}:{}: `{word}`: {advice}", line + 1));
        }
    }
    if !SYSTEM_ROOMS.iter().any(|room| name.starts_with(room)) {
        for word in SYSTEM_WORDS {
            if let Some(line) = text.lines().position(|line| line.contains(word)) {
                let advice = "ask `flyball::platform` instead";
                complaints.push(format!("{name}:{}: names the system: {advice}", line + 1));
            }
        }
    }
    bare_files(name, text, complaints);
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix("pub ") else { continue };
        let Some(rest) = rest.strip_prefix("struct ").or_else(|| rest.strip_prefix("enum ")) else {
            continue;
        };
        let kind: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
        if EMPTY_NAMES.iter().any(|ending| kind.ends_with(ending)) {
            complaints.push(format!("{name}: `{kind}` says nothing about what it is"));
        }
    }
}

/// Whether the loop of the built-in agent can still be read in one sitting.
fn one_sitting(complaints: &mut Vec<String>) -> Result<()> {
    let mut lines = 0;
    for name in LOOP {
        lines += production_lines(&fs::read_to_string(name).context(name)?);
    }
    if lines > LOOP_LINES_MAX {
        complaints.push(format!("the session's loop: {lines} lines, more than {LOOP_LINES_MAX}"));
    }
    Ok(())
}

/// Files opened past the one room that opens them with care.
fn bare_files(name: &str, text: &str, complaints: &mut Vec<String>) {
    let Some(room) = name.strip_prefix(SHELL) else { return };
    let is_free = FILE_ROOMS.iter().any(|free| room.starts_with(free)) || room.contains("tests");
    if is_free {
        return;
    }
    for (index, line) in text.lines().take(production_lines(text)).enumerate() {
        if BARE_FILES.iter().any(|way| line.contains(way)) {
            let advice = "a pipe or a link may stand there: use `crate::files`";
            complaints.push(format!("{name}:{}: opens a file by itself: {advice}", index + 1));
        }
    }
}

/// Lines before the tests at the end of a file.
fn production_lines(text: &str) -> usize {
    text.lines().take_while(|line| *line != "#[cfg(test)]" && *line != "mod tests {").count()
}

/// What is wrong with a page: a link to a file that is not there.
fn page(name: &str, text: &str, complaints: &mut Vec<String>) {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    for part in text.split("](").skip(1) {
        let target = part.split([')', '#', ' ']).next().unwrap_or("");
        let is_local = !target.is_empty() && !target.contains("://");
        if is_local && !folder.join(target).exists() {
            complaints.push(format!("{name}: links to `{target}`, which is not there"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        source("src/a.rs", text, &mut found);
        found
    }

    #[test]
    fn a_clean_file_brings_no_complaint() {
        assert!(complaints("//! A.\n\npub struct Ring;\n").is_empty());
    }

    #[test]
    fn every_rule_can_complain() {
        let long = format!("//! A.\n{}", "let a = 1;\n".repeat(LINES_MAX + 1));
        let word = format!("//! A.\n{}\n", BANNED[0].0);
        let system = format!("//! A.\n{}\n", SYSTEM_WORDS[0]);
        let name = "//! A.\npub struct RunManager;\n";
        for text in ["fn a() {}\n", &long, &word, &system, name] {
            assert_eq!(complaints(text).len(), 1, "{}", &text[..20.min(text.len())]);
        }
    }

    #[test]
    fn files_are_opened_in_one_room_only() {
        let text = format!("//! A.\nlet a = {}\"x\");\n", BARE_FILES[1]);
        for (name, count) in [("journal.rs", 1), ("files/folder.rs", 0), ("config/tests.rs", 0)] {
            let mut found = Vec::new();
            source(&format!("{SHELL}{name}"), &text, &mut found);
            assert_eq!(found.len(), count, "{name}");
        }
    }

    #[test]
    fn tests_do_not_count_as_production() {
        let text = format!("//! A.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(900));
        assert!(complaints(&text).is_empty());
    }

    #[test]
    fn a_dead_link_is_found() {
        let mut found = Vec::new();
        page("README.md", "[a](no/such/page.md) [b](https://x.example)", &mut found);
        assert_eq!(found.len(), 1);
    }
}
