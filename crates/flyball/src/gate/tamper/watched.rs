//! What a gate reaches: the scripts its command runs, the scripts behind those, makefiles and
//! package scripts. A change of one of them is a change of the gate.

mod compared;
mod named;

use std::collections::BTreeSet;

use self::compared::{how_changed, how_loosened};
pub(super) use self::named::serves;
use self::named::{
    by_first_line, checks, executed, given_names, imported, is_library, literal_end, named_data,
    named_scripts,
};
use super::makefile::{Makefile, Maker};
use super::recipe;
use super::shell::{self, Step};
use super::{Edited, Files, Suspicion};
use crate::gate::plan::GatePlan;

/// How many scripts behind a gate's own are followed.
const DEPTH_MAX: usize = 3;
/// The most files that are watched.
const WATCHED_MAX: usize = 200;
/// Package managers that run the scripts of `package.json`.
pub(super) const MANAGERS: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];
/// Endings of files that a loop over a pattern runs.
const RUN_BY_PATTERN: [&str; 5] = ["sh", "bash", "bats", "t", "tap"];
/// What makes a run of tests choose by what happened before.
const PARTIAL: [&str; 17] = [
    "--onlyChanged",
    "--only-changed",
    "--changedSince",
    "--changed",
    "--findRelatedTests",
    "--lastCommit",
    "--onlyFailures",
    "vitest related",
    "affected",
    "--testmon",
    "--picked",
    "--lf",
    "--last-failed",
    "--since",
    "--shard",
    "turbo ",
    "gradle",
];

/// How a file stands behind a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    /// A script of the shell's: any change of it is a change of the gate.
    Shell,
    /// A program that checks: it may grow, not shrink.
    Program,
    /// Settings named in the command.
    Settings,
    /// A program a gate's own command starts, and nothing calls a check: the work, but for what it
    /// states.
    Started,
    /// A library in the shell's language that a check takes in: the work, but for ways around the
    /// check.
    Library,
}

/// A file a gate reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    pub(super) path: String,
    pub(super) gate: String,
    sort: Sort,
}

/// A call of make or just.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MakeCall {
    pub(super) gate: String,
    pub(super) maker: Maker,
    pub(super) dir: String,
    pub(super) named: Option<String>,
    pub(super) targets: Vec<String>,
}

/// A call of a package's scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageCall {
    pub(super) gate: String,
    pub(super) path: String,
    pub(super) scripts: Vec<String>,
}

/// All a plan reaches, as it was before.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    pub(super) files: Vec<Watched>,
    pub(super) makes: Vec<MakeCall>,
    pub(super) packages: Vec<PackageCall>,
    /// The folders programs are started in.
    pub(super) dirs: BTreeSet<String>,
    /// Everything that is run, as text.
    pub(super) text: String,
    /// The gates that run only a part each time.
    pub(super) partial: BTreeSet<String>,
    /// Patterns of files that are run, with their gates.
    pub(super) patterns: Vec<(String, String)>,
}

impl Reach {
    /// Follows the commands of a plan.
    pub(super) fn of(plan: &GatePlan, files: &dyn Files) -> Self {
        let mut this = Self::default();
        for gate in plan.gates() {
            let mut follower = Follower { gate: gate.name.to_string(), files, reach: &mut this };
            follower.text(&gate.command.to_string(), "", 0);
        }
        this
    }

    /// Whether this file is one of those.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path)
            || self.packages.iter().any(|call| call.path == path)
            || self.by_pattern(path).is_some()
    }

    /// Whether this file is one of those, and nothing but a check.
    pub(super) fn checks_with(&self, path: &str) -> bool {
        let is_work = |file: &&Watched| matches!(file.sort, Sort::Started | Sort::Library);
        self.holds(path) && !self.files.iter().filter(is_work).any(|file| file.path == path)
    }

    /// The gate that runs this file because a pattern of its fits.
    fn by_pattern(&self, path: &str) -> Option<&str> {
        let fits = |(_, pattern): &&(String, String)| flyball_core::gate::fits(pattern, path);
        self.patterns.iter().find(fits).map(|(gate, _)| gate.as_str())
    }

    /// Whether anything that is run mentions this.
    pub(super) fn mentions(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.text.contains(word))
    }
}

struct Follower<'a> {
    gate: String,
    files: &'a dyn Files,
    reach: &'a mut Reach,
}

impl Follower<'_> {
    fn text(&mut self, text: &str, dir: &str, depth: usize) {
        if self.reach.text.len() < 1_000_000 {
            self.reach.text.push_str(text);
            self.reach.text.push('\n');
        }
        if PARTIAL.iter().any(|mark| text.contains(mark)) {
            self.reach.partial.insert(self.gate.clone());
        }
        let mut by_variable = false;
        for step in shell::steps(text, dir) {
            self.patterns(&step);
            self.step(&step, depth);
            by_variable |= step.words.iter().take(2).any(|word| word.starts_with('$'));
        }
        if by_variable {
            for step in shell::steps(text, dir).iter().filter(|step| step.program() == "for") {
                for word in step.words.iter().filter(|word| word.contains('*')) {
                    let pattern = (self.gate.clone(), step.path(word));
                    if self.reach.patterns.len() < 50 && !self.reach.patterns.contains(&pattern) {
                        self.reach.patterns.push(pattern);
                    }
                }
            }
            let plain = Step { dir: dir.to_owned(), ..Step::default() };
            for name in given_names(text) {
                self.file(&plain.path(&name), Sort::Shell, &plain, depth);
            }
        }
    }

    /// `for f in checks/*.sh`, `bats t/*.bats`: what fits is run, whoever reads the list.
    fn patterns(&mut self, step: &Step) {
        let reads = ["shellcheck", "shfmt", "chmod", "cat", "ls", "rm", "wc", "grep", "cp", "mv"];
        if reads.contains(&step.program()) && !step.fed {
            return;
        }
        if let "find" | "run-parts" = step.program() {
            return self.folders(step);
        }
        for word in step.words.iter().filter(|word| word.contains('*') && !word.contains('$')) {
            let ending = word.rsplit_once('.').map(|(_, ending)| ending);
            let is_run = ending.is_some_and(|ending| RUN_BY_PATTERN.contains(&ending));
            if is_run && self.reach.patterns.len() < 50 {
                self.reach.patterns.push((self.gate.clone(), step.path(word)));
            }
        }
    }

    /// `find checks -name '*.sh' -exec sh {} +`, `run-parts checks`.
    fn folders(&mut self, step: &Step) {
        let words = step.words.iter().skip(1);
        let is_run = step.program() == "run-parts"
            || step.fed
            || step.words.iter().any(|word| word.starts_with("-exec"));
        let named = step.words.iter().position(|word| word == "-name");
        let name = named.and_then(|at| step.words.get(at.saturating_add(1)));
        for folder in words.take_while(|word| !word.starts_with('-')).filter(|_| is_run) {
            let name = name.map_or("*", String::as_str);
            let pattern = format!("{}/**/{name}", step.path(folder));
            if !pattern.contains('$') && self.reach.patterns.len() < 50 {
                let pattern = pattern.trim_start_matches('/').to_owned();
                self.reach.patterns.push((self.gate.clone(), pattern));
            }
        }
    }

    fn step(&mut self, step: &Step, depth: usize) {
        self.reach.dirs.insert(step.dir.clone());
        let program = step.program().rsplit('/').next().unwrap_or("");
        match program {
            "make" | "gmake" => self.make(Maker::Make, step, depth),
            "just" => self.make(Maker::Just, step, depth),
            _ if MANAGERS.contains(&program) => self.package(step, depth),
            _ => {}
        }
        for (path, sort) in executed(step) {
            match literal_end(&path).filter(|_| path.contains('$')) {
                // Where that is, only the shell knows.
                Some(end) => {
                    for path in self.files.ending(end).into_iter().take(5) {
                        self.file(&path, sort, step, depth);
                    }
                }
                None => self.file(&path, sort, step, depth),
            }
        }
    }

    fn make(&mut self, maker: Maker, step: &Step, depth: usize) {
        let mut named = None;
        let mut dir = step.dir.clone();
        let mut asked = Vec::new();
        let mut words = step.words.iter().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "-f" | "--file" | "--makefile" | "--justfile" => named = words.next().cloned(),
                "-C" | "--directory" => {
                    dir = words.next().map(|to| step.path(to)).unwrap_or_default();
                }
                word if word.starts_with("--file=") || word.starts_with("--makefile=") => {
                    named = word.split_once('=').map(|(_, name)| name.to_owned());
                }
                word if word.starts_with('-') || word.contains('=') => {}
                word => asked.push(word.to_owned()),
            }
        }
        let read = |path: &str| self.files.before(path);
        let Some(makefile) = Makefile::read(maker, &dir, named.as_deref(), &read) else { return };
        let targets = makefile.targets(&asked);
        let call = MakeCall { gate: self.gate.clone(), maker, dir: dir.clone(), named, targets };
        if depth <= DEPTH_MAX && !self.reach.makes.contains(&call) {
            let text = makefile.commands(&call.targets);
            self.reach.makes.push(call);
            self.text(&text, &dir, depth.saturating_add(1));
        }
    }

    fn package(&mut self, step: &Step, depth: usize) {
        let path = step.path("package.json");
        let words = step.words.iter().skip(1).filter(|word| !word.starts_with('-'));
        let names: Vec<String> = words
            .filter(|word| !["run", "exec", "run-script"].contains(&word.as_str()))
            .cloned()
            .collect();
        let Some(text) = self.files.before(&path) else { return };
        let recipes = recipe::of_package(&text);
        let short = |name: &str| {
            if name == "t" || name == "tst" { "test".to_owned() } else { name.to_owned() }
        };
        let scripts: Vec<String> = names
            .iter()
            .map(|name| short(name))
            .filter(|name| recipes.get(name).is_some())
            .collect();
        let call = PackageCall { gate: self.gate.clone(), path, scripts };
        if depth > DEPTH_MAX || self.reach.packages.contains(&call) {
            return;
        }
        let reached: BTreeSet<String> =
            call.scripts.iter().flat_map(|name| recipes.reachable(name)).collect();
        let bodies: Vec<String> = reached
            .iter()
            .filter_map(|name| recipes.get(name))
            .flat_map(|recipe| recipe.body.iter().cloned())
            .collect();
        self.reach.packages.push(call);
        self.text(&bodies.join("\n"), &step.dir, depth.saturating_add(1));
    }

    fn file(&mut self, path: &str, sort: Sort, step: &Step, depth: usize) {
        let is_known = self.reach.files.iter().any(|file| file.path == path);
        // What is judged by its output is the work, not the check.
        if step.judged || is_known || self.reach.files.len() >= WATCHED_MAX || depth > DEPTH_MAX {
            return;
        }
        let Some(text) = self.files.before(path) else { return };
        let sort = if sort == Sort::Shell { by_first_line(&text) } else { sort };
        // A library in the shell's language that tests take in is what they test.
        let library = depth > 0 && is_library(path) && sort != Sort::Settings;
        let named = sort == Sort::Program && !checks(path);
        if named && !library && depth > 1 {
            return;
        }
        let sort = if library { Sort::Library } else { sort };
        let sort = if named && !library { Sort::Started } else { sort };
        self.reach.files.push(Watched { path: path.to_owned(), gate: self.gate.clone(), sort });
        let deeper = depth.saturating_add(1);
        match sort {
            Sort::Shell => self.text(&text, &step.dir, deeper),
            Sort::Program => {
                for name in named_scripts(&text) {
                    let path = step.path(&name);
                    let sort = if name.ends_with("sh") { Sort::Shell } else { Sort::Program };
                    let plain = Step { dir: step.dir.clone(), ..Step::default() };
                    self.file(&path, sort, &plain, deeper);
                }
                for path in imported(path, &text) {
                    let plain = Step { dir: step.dir.clone(), ..Step::default() };
                    self.file(&path, Sort::Program, &plain, deeper);
                }
                for name in named_data(&text) {
                    let plain = Step { dir: step.dir.clone(), ..Step::default() };
                    self.file(&step.path(&name), Sort::Settings, &plain, deeper);
                }
            }
            Sort::Settings | Sort::Started | Sort::Library => {}
        }
    }
}

/// Files behind a gate that are no longer what they were.
pub(super) fn changed(
    edited: &[Edited],
    reach: &Reach,
    is_test: &dyn Fn(&str) -> bool,
) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for file in &reach.files {
        let Some(edit) = edited.iter().find(|edit| edit.path == file.path) else { continue };
        let Some(before) = edit.before.as_deref() else { continue };
        if let Sort::Started | Sort::Library = file.sort {
            found.extend(loosened(file, before, edit));
            continue;
        }
        if file.sort == Sort::Program && is_test(&file.path) {
            continue;
        }
        let Some(how) = how_changed(file.sort, before, edit.after.as_deref()) else { continue };
        let message = format!("`{}`, which gate `{}` runs, {how}", file.path, file.gate);
        found.push(Suspicion::of_file(&file.path, &file.gate, message));
    }
    for edit in edited {
        let (Some(gate), Some(before)) = (reach.by_pattern(&edit.path), &edit.before) else {
            continue;
        };
        if is_test(&edit.path) || found.iter().any(|one| one.is_about(&edit.path)) {
            continue;
        }
        let Some(how) = how_changed(Sort::Program, before, edit.after.as_deref()) else { continue };
        let message = format!("`{}`, which gate `{gate}` runs, {how}", edit.path);
        found.push(Suspicion::of_file(&edit.path, gate, message));
    }
    found
}

/// A file that is the work, as far as it checks itself or gets in the way of what does.
fn loosened(file: &Watched, before: &str, edit: &Edited) -> Option<Suspicion> {
    let how = how_loosened(file.sort, before, edit.after.as_deref())?;
    let verb = if file.sort == Sort::Library { "takes in" } else { "runs" };
    let message = format!("`{}`, which gate `{}` {verb}, {how}", file.path, file.gate);
    Some(Suspicion::of_file(&file.path, &file.gate, message))
}
