//! Where a line for the shell is run, and what the names in it stand for there: scripts of a package,
//! targets of a makefile, recipes of a justfile.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::super::Look;
use super::super::make::{self, Maker};
use super::super::node::Package;
use super::super::workspace;
use super::line::Word;
use super::tools::name_of;
use crate::config::quoted;

/// What a line is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To say whether something is right.
    #[default]
    Check,
    /// To write something.
    Build,
}

impl Purpose {
    /// As the name of a gate says it.
    pub fn of_gate(name: &str) -> Self {
        if name.starts_with("build") { Self::Build } else { Self::Check }
    }
}

/// Where a line is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The folder, if it is known.
    dir: Option<PathBuf>,
    /// The tools of the folder's package are on PATH: the line is one of its scripts.
    pub(super) has_tools: bool,
    /// What for.
    pub(super) purpose: Purpose,
    /// `CI` is set, with which some tools do not wait for changes.
    pub(super) in_ci: bool,
    /// How many names stand between this line and the one that was asked about.
    depth: usize,
    /// How many names were followed for it in all.
    followed: Rc<Cell<usize>>,
}

/// How deep names are followed from one line.
const DEPTH_MAX: usize = 8;
/// How many names are followed from one line: targets may need each other in every order.
const FOLLOWED_MAX: usize = 200;

/// What a call by name runs.
pub(super) struct Called {
    /// The line behind the name.
    pub(super) line: String,
    /// The line holds what is not known here, so that it can be judged and not be written anew.
    pub(super) is_partial: bool,
    /// The package whose tools it needs.
    pub(super) package: Option<Package>,
    /// Where it is run.
    pub(super) place: Place,
}

impl Place {
    /// A folder of a project.
    pub fn of(dir: &Path) -> Self {
        Self { dir: Some(dir.to_owned()), ..Self::default() }
    }

    /// Inside of a script of the folder's package.
    #[must_use]
    pub(crate) fn with_tools(self) -> Self {
        Self { has_tools: true, ..self }
    }

    /// For a line that is there for this.
    #[must_use]
    pub fn with_purpose(self, purpose: Purpose) -> Self {
        Self { purpose, ..self }
    }

    /// As flyball runs it.
    #[must_use]
    pub fn in_ci(self) -> Self {
        Self { in_ci: true, ..self }
    }

    /// After `cd` to a folder.
    pub(super) fn enter(&mut self, folder: &str) {
        let is_plain =
            !folder.contains(['$', '`', '*', '~', '-']) || Path::new(folder).is_relative();
        let known = is_plain && !folder.starts_with(['$', '`', '~', '-']);
        self.dir = self.dir.take().filter(|_| known).map(|dir| dir.join(folder));
    }

    /// What a command runs that calls something by its name.
    pub(super) fn called(&self, words: &[Word]) -> Option<Called> {
        let is_too_far = self.depth >= DEPTH_MAX || self.followed.get() >= FOLLOWED_MAX;
        let dir = self.dir.as_deref().filter(|_| !is_too_far)?;
        self.followed.set(self.followed.get().saturating_add(1));
        let place = Self { depth: self.depth.saturating_add(1), ..self.clone() };
        let (program, rest) = words.split_first()?;
        let rest: Vec<&Word> = rest.iter().collect();
        let name = name_of(&program.value);
        if let Some((folder, rest)) = elsewhere(name, &rest) {
            let rest: Vec<&str> = rest.iter().map(|word| word.raw.as_str()).collect();
            let line = format!("cd {} && {} {}", folder.raw, program.raw, rest.join(" "));
            let place = Self { has_tools: false, ..place };
            return Some(Called { line, is_partial: false, package: None, place });
        }
        match name {
            "make" | "gmake" | "$(MAKE)" | "${MAKE}" => recipes(dir, Maker::Make, &rest, place),
            "just" => recipes(dir, Maker::Just, &rest, place),
            "run-s" | "run-p" | "npm-run-all" | "npm-run-all2" => {
                let package = Package::of(dir)?;
                let asked = rest.iter().filter(|word| !word.value.starts_with('-'));
                let names: Vec<&str> = asked.flat_map(|word| package.names(&word.value)).collect();
                let lines: Option<Vec<String>> =
                    names.into_iter().map(|name| package.line(name)).collect();
                let line = lines.filter(|lines| !lines.is_empty())?.join(" && ");
                Some(Called::of_package(line, package, place))
            }
            manager @ ("npm" | "pnpm" | "yarn" | "bun") => {
                if let Some(asked) = of_members(manager, &rest) {
                    let line = in_members(dir, manager, &asked)?;
                    let place = Self { has_tools: false, ..place };
                    // Which manager does what in which folder is not ours to write anew.
                    return Some(Called { line, is_partial: true, package: None, place });
                }
                let (name, arguments) = script(manager, &rest)?;
                let package = Package::of(dir)?;
                let line = [package.line(name)?].into_iter();
                let arguments = arguments.iter().map(|word| word.raw.clone());
                let line = line.chain(arguments).collect::<Vec<_>>().join(" ");
                Some(Called::of_package(line, package, place))
            }
            _ => None,
        }
    }
}

impl Called {
    fn of_package(line: String, package: Package, place: Place) -> Self {
        let package = (!place.has_tools).then_some(package);
        Self { line, is_partial: false, package, place: place.with_tools() }
    }
}

/// The folder a program is told to work in, and its other words.
fn elsewhere<'a, 'b>(name: &str, words: &'b [&'a Word]) -> Option<(Word, Vec<&'b &'a Word>)> {
    let options: &[&str] = match name {
        "npm" => &["--prefix", "-C"],
        "pnpm" => &["--dir", "-C"],
        "yarn" | "bun" => &["--cwd"],
        "make" | "gmake" | "$(MAKE)" | "${MAKE}" => &["-C", "--directory"],
        _ => return None,
    };
    let at = words.iter().position(|word| {
        let name = word.value.split('=').next().unwrap_or_default();
        options.contains(&name)
    })?;
    let option = words.get(at)?;
    let (folder, count) = match option.value.split_once('=') {
        Some((_, folder)) => (Word::plain(&quoted(folder)), 1),
        None => (Word::clone(words.get(at.checked_add(1)?)?), 2),
    };
    let after = words.get(at.saturating_add(count)..).unwrap_or_default();
    let before = words.get(..at).unwrap_or_default();
    Some((folder, before.iter().chain(after).collect()))
}

/// A script that is called in members of a workspace: its name, and which member where only one is meant.
struct OfMembers<'a> {
    script: &'a str,
    member: Option<&'a str>,
}

fn of_members<'a>(manager: &str, words: &[&'a Word]) -> Option<OfMembers<'a>> {
    let values: Vec<&str> = words.iter().map(|word| word.value.as_str()).collect();
    let one: &[&str] = match manager {
        "npm" => &["-w", "--workspace"],
        "yarn" => &[],
        _ => &["-F", "--filter"],
    };
    let all: &[&str] = match manager {
        "npm" => &["--workspaces", "-ws"],
        "pnpm" => &["-r", "--recursive"],
        _ => &[],
    };
    let mut rest: Vec<&'a str> = Vec::new();
    let (mut is_meant, mut member) = (false, None);
    let mut left = values.iter().copied().take_while(|word| *word != "--");
    while let Some(word) = left.next() {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        if one.contains(&option) {
            is_meant = true;
            member = if value.is_empty() { left.next() } else { Some(value) };
        } else if all.contains(&word) {
            is_meant = true;
        } else if !word.starts_with('-') {
            rest.push(word);
        }
    }
    if manager == "yarn" {
        is_meant = matches!(rest.first(), Some(&"workspaces" | &"workspace"));
        member = rest.get(1).copied().filter(|_| rest.first() == Some(&"workspace"));
        rest.drain(..rest.len().min(if member.is_some() { 2 } else { 1 }));
        rest.retain(|word| *word != "foreach");
    }
    let script = match rest.first().copied()? {
        "run" | "run-script" => rest.get(1).copied()?,
        "t" | "tst" => "test",
        script => script,
    };
    is_meant.then_some(OfMembers { script, member })
}

/// What that runs, member by member.
fn in_members(dir: &Path, manager: &str, asked: &OfMembers<'_>) -> Option<String> {
    let members = Look::at(dir, workspace::members);
    let is_asked = |member: &&String| {
        let asked = asked.member.map(|one| one.trim_start_matches("./").trim_end_matches('/'));
        let name = |one: &str| one.rsplit('/').next().unwrap_or(one).to_owned();
        asked.is_none_or(|one| one == member.as_str() || name(one) == name(member))
    };
    let has = |member: &&String| {
        Package::of(&dir.join(member)).is_some_and(|package| package.line(asked.script).is_some())
    };
    let call = |member: &String| {
        format!("(cd {} && {manager} run {})", quoted(member), quoted(asked.script))
    };
    let lines: Vec<String> = members.iter().filter(is_asked).filter(has).map(call).collect();
    (!lines.is_empty()).then(|| lines.join(" && "))
}

/// The script a call of a package manager names, and what it is given.
fn script<'a, 'b>(manager: &str, words: &'b [&'a Word]) -> Option<(&'a str, &'b [&'a Word])> {
    let at = |at: usize| words.get(at).map(|word| word.value.as_str());
    let is_quiet = |word: &str| ["-s", "--silent", "--if-present"].contains(&word);
    let first = at(0)?;
    let verb = ["run", "run-script", "rum", "urn"].contains(&first);
    let mut begin = usize::from(verb);
    while verb && at(begin).is_some_and(is_quiet) {
        begin = begin.saturating_add(1);
    }
    let name = match at(begin)? {
        "t" | "tst" if !verb && manager != "yarn" => "test",
        "test" if !verb && manager == "bun" => return None,
        name if verb || manager != "npm" || ["test", "start"].contains(&name) => name,
        _ => return None,
    };
    let rest = words.get(begin.saturating_add(1)..).unwrap_or_default();
    let divider = rest.iter().position(|word| word.value == "--");
    let arguments = match (manager, divider) {
        (_, Some(divider)) => rest.get(divider.saturating_add(1)..),
        // What is not behind `--` is npm's own.
        ("npm", None) => None,
        _ => Some(rest),
    };
    (!name.starts_with('-')).then_some((name, arguments.unwrap_or_default()))
}

fn recipes(dir: &Path, maker: Maker, words: &[&Word], place: Place) -> Option<Called> {
    // Another file is not looked for.
    let elsewhere = |word: &&&Word| {
        ["-f", "--file", "--justfile", "--working-directory"].contains(&word.value.as_str())
    };
    if words.iter().any(|word| elsewhere(&word)) {
        return None;
    }
    let asked = words.iter().map(|word| word.value.as_str());
    let asked = asked.filter(|word| !word.starts_with('-') && !word.contains('='));
    let behind: Option<Vec<make::Behind>> =
        asked.map(|name| make::behind(dir, maker, name)).collect();
    let behind = behind.filter(|behind| !behind.is_empty())?;
    let is_partial = behind.iter().any(|one| one.is_partial);
    let lines: Vec<String> = behind.into_iter().map(|one| one.line).collect();
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    let place = Place { has_tools: false, ..place };
    Some(Called { line: lines.join(" && "), is_partial, package: None, place })
}
