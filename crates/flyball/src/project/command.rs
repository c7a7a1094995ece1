//! Whether a command can be a gate: one that ends by itself, leaves the files as they are, and can be
//! red. Watchers and fixers are given in the form that checks once, where there is one; everything
//! around them in the line stays as it is.

mod line;
mod place;
mod rules;
mod starters;
mod tools;

#[cfg(test)]
mod tests;

use std::fmt;

use self::line::{Joint, Line, Part, Word};
pub use self::place::{Place, Purpose};
use self::tools::{checking, name_of, written};
use crate::config::quoted;

/// Why a command is no gate as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It waits for changes.
    Watches,
    /// It mends what it should find.
    Edits,
    /// It cannot be red.
    AlwaysGreen,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Watches => "it waits for changes and never ends",
            Self::Edits => "it changes files instead of checking them",
            Self::AlwaysGreen => "it is green whatever happens",
        })
    }
}

/// A command as a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AsGate {
    /// It checks once.
    Fits,
    /// It does not; this does the same and checks once.
    Instead(String, Fault),
    /// It does not, and no other form of it is known.
    Never(Fault),
}

impl AsGate {
    /// The other form, written so that it runs somewhere else.
    #[must_use]
    pub(crate) fn called(self, call: impl FnOnce(&str) -> String) -> Self {
        match self {
            Self::Instead(line, fault) => Self::Instead(call(&line), fault),
            other @ (Self::Fits | Self::Never(_)) => other,
        }
    }

    /// The same where the other form cannot be written.
    #[must_use]
    fn without_form(self) -> Self {
        match self {
            Self::Instead(_, fault) | Self::Never(fault) => Self::Never(fault),
            Self::Fits => Self::Fits,
        }
    }
}

/// Looks at a line for the shell, and at what it calls by name in the place where it is run.
pub fn as_gate(text: &str, place: &Place) -> AsGate {
    let Some(line) = Line::read(text) else { return AsGate::Fits };
    let mut fault = None;
    let mut instead = String::new();
    let mut written_to = 0;
    let mut can_fail = Vec::new();
    let mut here = place.clone();
    for part in &line.parts {
        if part.leaves_group {
            here = place.clone();
        }
        let found = of_part(part, &line, &here);
        // What only passes on what it reads is always green, whatever it is given.
        let passes_on = part.before == Joint::Pipe
            && part.words.first().is_some_and(|word| PASSING_ON.contains(&name_of(&word.value)))
            && !text.contains("pipefail");
        can_fail.push(found != AsGate::Never(Fault::AlwaysGreen) && !passes_on);
        match found {
            AsGate::Fits | AsGate::Never(Fault::AlwaysGreen) => {}
            AsGate::Never(fault) => return AsGate::Never(fault),
            AsGate::Instead(form, found) => {
                fault.get_or_insert(found);
                instead.push_str(text.get(written_to..part.at.start).unwrap_or_default());
                instead.push_str(&form);
                written_to = part.at.end;
            }
        }
        if let [cd, folder, ..] = &part.words[..]
            && ["cd", "pushd"].contains(&cd.value.as_str())
        {
            here.enter(&folder.value);
        }
    }
    if !line.can_fail(&can_fail) {
        return AsGate::Never(Fault::AlwaysGreen);
    }
    let Some(fault) = fault else { return AsGate::Fits };
    instead.push_str(text.get(written_to..).unwrap_or_default());
    AsGate::Instead(instead.trim().to_owned(), fault)
}

/// Looks at one command of a line.
fn of_part(part: &Part, of: &Line, place: &Place) -> AsGate {
    let mut at = 0;
    loop {
        let (before, command) = part.words.split_at(at.min(part.words.len()));
        let whole = |form: &str| [written(before).as_str(), form].join(" ").trim().to_owned();
        if let Some((inner, word)) = inner_line(command) {
            return as_gate(&word.value, place).called(|line| {
                let mut words = command.to_vec();
                if let Some(word) = words.get_mut(inner) {
                    *word = Word::plain(&quoted(line));
                }
                whole(&written(&words))
            });
        }
        if let Some(called) = place.called(command) {
            let found = as_gate(&called.line, &called.place);
            let found = if called.is_partial { found.without_form() } else { found };
            return found.called(|line| match &called.package {
                Some(package) => whole(&package.call(line)),
                None if of.parts.len() == 1 && before.is_empty() => line.to_owned(),
                None => whole(&as_one(line, before)),
            });
        }
        match starters::skipped(command) {
            Some(count) if count < command.len() => at = at.saturating_add(count),
            _ => return of_tool(command, place).called(whole),
        }
    }
}

fn of_tool(command: &[Word], place: &Place) -> AsGate {
    let mut words = command.iter().map(|word| word.value.as_str());
    let fault = match words.next().map(name_of) {
        // Going somewhere checks nothing, either.
        Some("true" | ":" | "echo" | "printf" | "cd" | "pushd" | "popd") => {
            Some((Fault::AlwaysGreen, None))
        }
        Some("vitest") if place.in_ci && !words.clone().any(|word| WATCHING.contains(&word)) => {
            None
        }
        Some("exit") if words.next() == Some("0") => Some((Fault::AlwaysGreen, None)),
        Some("concurrently") => {
            let line = |word: &str| word.replacen("npm:", "npm run ", 1);
            words.find_map(|word| match as_gate(&line(word), place) {
                AsGate::Instead(_, fault) | AsGate::Never(fault) => Some((fault, None)),
                AsGate::Fits => None,
            })
        }
        _ => checking(command, place.purpose),
    };
    match fault {
        None => AsGate::Fits,
        Some((fault, Some(form))) => AsGate::Instead(form, fault),
        Some((fault, None)) => AsGate::Never(fault),
    }
}

/// The word a command takes as a line for the shell, and its place.
fn inner_line(command: &[Word]) -> Option<(usize, &Word)> {
    let is_short = |word: &Word| {
        word.value.starts_with('-') && !word.value.starts_with("--") && word.value.ends_with('c')
    };
    let takes_line: &dyn Fn(&Word) -> bool = match name_of(&command.first()?.value) {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" => &is_short,
        "npx" | "npm" | "pnpm" | "pnpx" => &|word| ["-c", "--call"].contains(&&*word.value),
        _ => return None,
    };
    // `pnpm -c exec 'line'`
    let mut words = command.iter().enumerate().skip_while(|(_, word)| !takes_line(word)).skip(1);
    words.find(|(_, word)| word.value != "exec")
}

/// A line in the place of one command, behind the words before that.
fn as_one(line: &str, before: &[Word]) -> String {
    let is_one = Line::read(line).is_some_and(|line| line.parts.len() == 1 && !line.is_nested);
    match (is_one, before.is_empty()) {
        (true, _) => line.to_owned(),
        (false, true) => format!("({line})"),
        (false, false) => format!("sh -c {}", quoted(line)),
    }
}

/// What makes vitest wait for changes wherever it runs.
const WATCHING: [&str; 5] = ["watch", "dev", "--watch", "-w", "--ui"];

/// Programs that print what they read.
const PASSING_ON: [&str; 9] = ["tail", "head", "tee", "cat", "less", "sort", "sed", "awk", "ts"];

/// Words after which only the shell knows which programs there are.
const UNKNOWING: [&str; 16] = [
    "if", "for", "while", "until", "case", "export", "source", ".", "eval", "set", "alias",
    "unset", "trap", "exit", "return", "hash",
];

/// Words of the shell itself.
const BUILTINS: [&str; 18] = [
    "test", "[", "[[", ":", "true", "false", "echo", "printf", "read", "wait", "umask", "ulimit",
    "type", "pushd", "popd", "shift", "pwd", "exec",
];

/// The programs a line needs in any case, those named by a path as seen from where it is run.
pub fn programs(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let Some(line) = Line::read(text) else { return found };
    let mut folder = String::new();
    for part in &line.parts {
        if part.leaves_group {
            folder.clear();
        }
        let mut words = part.words.iter().skip_while(|word| word.assigns());
        let sets_path = part.words.iter().any(|word| word.value.starts_with("PATH="));
        let Some(program) = words.next().map(|word| word.value.as_str()) else { continue };
        let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "-_./+@ ".contains(c));
        if sets_path || part.before == Joint::Or || UNKNOWING.contains(&program) || !plain(program)
        {
            break;
        }
        match (program, words.next()) {
            ("cd", Some(to)) if plain(&to.value) => folder = format!("{folder}{}/", to.value),
            ("cd" | "command" | "!", _) => break,
            _ if BUILTINS.contains(&program) => {}
            _ if program.contains('/') && !program.starts_with('/') => {
                found.push(format!("{folder}{program}"));
            }
            _ => found.push(program.to_owned()),
        }
    }
    found
}
