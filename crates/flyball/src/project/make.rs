//! Makefiles and justfiles: the targets that are checks by their name.

use std::path::Path;

use super::{Look, Place, Proposal, as_gate};

/// Targets and what they are for. `check` stands for the tests where there is no `test`.
const TARGETS: [(&str, &str); 4] =
    [("test", "tests"), ("lint", "lint"), ("build", "build"), ("check", "check")];

/// Which program reads the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    Make,
    Just,
}

pub(super) fn detect_make(look: &Look<'_>) -> Option<Vec<Proposal>> {
    detect(look, Maker::Make)
}

pub(super) fn detect_just(look: &Look<'_>) -> Option<Vec<Proposal>> {
    detect(look, Maker::Just)
}

fn detect(look: &Look<'_>, maker: Maker) -> Option<Vec<Proposal>> {
    let found = maker.files().iter().find_map(|name| Some((*name, look.read(name)?)));
    let (file, text) = found?;
    let names: Vec<&str> = text.lines().flat_map(|line| maker.targets(line)).collect();
    Some(proposals(look, maker, &names, &text, file))
}

fn proposals(
    look: &Look<'_>,
    maker: Maker,
    names: &[&str],
    text: &str,
    file: &str,
) -> Vec<Proposal> {
    let wanted = TARGETS.iter().filter(|(target, _)| names.contains(target));
    let has_tests = names.contains(&"test");
    // A check that only calls the others would run them once more.
    let only_calls = |target: &str| {
        let line = behind(&look.dir, maker, target).unwrap_or_default().line;
        let other = |part: &str| {
            let called = part.strip_prefix(maker.program()).map(str::trim);
            called.is_some_and(|name| name != target && TARGETS.iter().any(|(own, _)| *own == name))
        };
        !line.is_empty() && line.split(" && ").all(other)
    };
    wanted
        .filter(|(target, _)| *target != "check" || !only_calls(target))
        .map(|(target, role)| {
            let role = if *target == "check" && !has_tests { "tests" } else { role };
            let why = format!("{file}, target `{target}`");
            let command = format!("{} {target}", maker.program());
            let found = as_gate(&command, &Place::of(&look.dir));
            let made = Proposal::of_script(role, &command, found, why, look);
            Proposal { recipes: Some(text.to_owned()), ..made }
        })
        .collect()
}

/// What runs when a target is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Behind {
    /// A line for the shell.
    pub(super) line: String,
    /// The line holds variables only the program knows.
    pub(super) is_partial: bool,
}

/// What a target runs: what it needs first, then its own lines, each as if it were needed.
pub(super) fn behind(dir: &Path, maker: Maker, target: &str) -> Option<Behind> {
    let text = Look::at(dir, |look| maker.files().iter().find_map(|name| look.read(name)))?;
    let text = text.replace("\\\n", " ");
    let head = |line: &&str| maker.targets(line).contains(&target);
    let mut needs: Vec<String> = Vec::new();
    let mut commands: Vec<String> = Vec::new();
    let mut lines = text.lines().skip_while(|line| !head(line)).peekable();
    lines.peek()?;
    let mut is_own = false;
    for line in lines {
        if head(&line) {
            is_own = true;
            let needed = line.split_once(':').map_or("", |(_, rest)| rest.trim_start_matches(':'));
            let (needed, same_line) = needed.split_once(';').unwrap_or((needed, ""));
            let needed = needed.split('#').next().unwrap_or("");
            let needed = needed.split_whitespace().filter(|word| !["|", "&&"].contains(word));
            needs.extend(needed.map(str::to_owned));
            commands.extend(Some(same_line.to_owned()).filter(|line| !line.trim().is_empty()));
        } else if line.starts_with(['\t', ' ']) {
            commands.extend(is_own.then(|| line.to_owned()));
        } else if !line.trim().is_empty() && !line.starts_with('#') {
            is_own = false;
        }
    }
    let is_script = commands.first().is_some_and(|line| line.trim().starts_with("#!"));
    let commands: Vec<String> = commands.iter().map(|line| maker.command(&text, line)).collect();
    let commands: Vec<String> =
        commands.into_iter().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let called =
        needs.iter().map(|need| expanded(&text, &format!("{} {need}", maker.program()), 0));
    let line = if is_script {
        commands.join("\n")
    } else {
        let count = needs.len().saturating_add(commands.len());
        let own = commands.iter().map(|line| if count > 1 { apart(line) } else { line.clone() });
        called.chain(own).collect::<Vec<_>>().join(" && ")
    };
    let is_partial =
        ["$(", "${", "$$", "{{", "$@", "$<", "$^"].iter().any(|mark| line.contains(mark));
    Some(Behind { line, is_partial })
}

/// A line of a recipe that may stand beside others: each has a shell of its own.
fn apart(line: &str) -> String {
    let is_plain = !line.contains([';', '|', '&']) && !line.starts_with("cd ");
    if is_plain { line.to_owned() } else { format!("({line})") }
}

/// A line with those variables of a makefile in it that are plain words.
fn expanded(text: &str, line: &str, depth: usize) -> String {
    const DEPTH_MAX: usize = 4;
    let value = |name: &str| {
        text.lines().filter(|line| !line.starts_with('\t')).find_map(|line| {
            let (left, value) = line.split_once('=')?;
            let left = left.trim_end_matches([':', '?']).trim();
            (left == name).then(|| value.split('#').next().unwrap_or("").trim().to_owned())
        })
    };
    let mut whole = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        whole.push_str(before);
        let named = [("$(", ')'), ("${", '}')].iter().find_map(|(open, close)| {
            let (name, after) = from.strip_prefix(open)?.split_once(*close)?;
            Some((name, after))
        });
        // One that is nowhere set is what the environment says.
        if let Some((name, after)) = named.filter(|(name, after)| is_unset(text, name, after)) {
            whole.push('$');
            whole.push_str(name);
            rest = after;
            continue;
        }
        match named.and_then(|(name, after)| Some((value(name)?, after))) {
            Some((value, after)) if depth < DEPTH_MAX => {
                whole.push_str(&expanded(text, &value, depth.saturating_add(1)));
                rest = after;
            }
            _ => {
                whole.push('$');
                rest = from.get(1..).unwrap_or("");
            }
        }
    }
    whole + rest
}

/// Whether a variable of a makefile has no value but one of the environment; what follows it must not
/// look like a part of its name.
fn is_unset(text: &str, name: &str, after: &str) -> bool {
    // Those make itself knows.
    const OWN: [&str; 10] =
        ["MAKE", "CURDIR", "SHELL", "CC", "CXX", "CPP", "AR", "LD", "RM", "MAKEFLAGS"];
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let sets = |line: &str| {
        let left = line.split_once('=').map_or("", |(left, _)| left);
        left.split(|c| !part(c)).any(|word| word == name) || line.contains("include")
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(part);
    is_name
        && !after.starts_with(part)
        && !OWN.contains(&name)
        && !text.lines().filter(|line| !line.starts_with('\t')).any(sets)
}

impl Maker {
    const fn program(self) -> &'static str {
        match self {
            Self::Make => "make",
            Self::Just => "just",
        }
    }

    /// The files it looks for; the first one there counts.
    const fn files(self) -> &'static [&'static str] {
        match self {
            Self::Make => &["GNUmakefile", "makefile", "Makefile"],
            Self::Just => &["justfile", "Justfile", ".justfile"],
        }
    }

    /// What a line defines.
    fn targets(self, line: &str) -> Vec<&str> {
        match self {
            Self::Make => make_targets(line),
            Self::Just => just_recipe(line).into_iter().collect(),
        }
    }

    /// A line of a recipe as the shell gets it.
    fn command(self, text: &str, line: &str) -> String {
        let line = line.trim();
        let command = line.trim_start_matches(['@', '-', '+']).trim_start();
        let ignored = line.starts_with('-') || line.starts_with("@-");
        let command = match self {
            Self::Make => expanded(text, command, 0).replace("$(MAKE)", "make"),
            Self::Just => command.to_owned(),
        };
        if ignored { format!("{command} || true") } else { command }
    }
}

/// The targets a line of a makefile defines.
fn make_targets(line: &str) -> Vec<&str> {
    if line.starts_with(['\t', ' ', '#', '.']) {
        return Vec::new();
    }
    match line.split_once(':') {
        Some((names, rest)) if !rest.starts_with('=') && !names.contains(['=', '$', '%']) => {
            names.split_whitespace().collect()
        }
        _ => Vec::new(),
    }
}

/// The recipe a line of a justfile defines, when it can be called without arguments.
fn just_recipe(line: &str) -> Option<&str> {
    if line.starts_with(['\t', ' ', '#', '[']) {
        return None;
    }
    let (head, rest) = line.split_once(':')?;
    let mut words = head.split_whitespace();
    let name = words.next()?.trim_start_matches('@');
    let needs_nothing = words.all(|word| word.contains('=') || word.starts_with('*'));
    (!rest.starts_with('=') && needs_nothing).then_some(name)
}
