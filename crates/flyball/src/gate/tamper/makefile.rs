//! Makefiles and justfiles as make and just read them: which file counts, what it includes, its
//! variables and recipes. Compared for the targets a gate runs; everything else in them is free.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::command::{How, extends, shown, weakening};
use super::recipe::{self, Recipes};

/// How deep includes are followed.
const INCLUDES_DEEP: usize = 3;
/// How many files are joined.
const INCLUDES_MAX: usize = 20;
/// Variables that reach into every recipe, or into the programs it starts.
const REACHING: [&str; 22] = [
    "SHELL",
    ".SHELLFLAGS",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "MFLAGS",
    "MAKE",
    "PATH",
    "BASH_ENV",
    "ENV",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "RUSTFLAGS",
    "RUSTC_WRAPPER",
    "CARGO",
    "GOFLAGS",
    "MAVEN_OPTS",
    "JAVA_TOOL_OPTIONS",
    "RUBYOPT",
    "PERL5OPT",
];
/// Targets that change how all others are made.
const SPECIAL: [&str; 4] = [".IGNORE", ".ONESHELL", ".DEFAULT", ".NOTPARALLEL"];
/// What begins a line that decides what is read at all.
const CONTROL: [&str; 9] =
    ["ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "define", "endef", "$(eval"];

/// Which program reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    Make,
    Just,
}

impl Maker {
    /// The files it looks for, the first one there counts.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Make => &["GNUmakefile", "makefile", "Makefile"],
            Self::Just => &["justfile", "Justfile", ".justfile"],
        }
    }
}

/// A makefile with all it includes.
#[derive(Clone, Debug, Default)]
pub(super) struct Makefile {
    /// The files it was read from, the leading one first.
    pub(super) files: Vec<String>,
    pub(super) recipes: Recipes,
    variables: BTreeMap<String, String>,
    overridden: BTreeSet<String>,
    phony: BTreeSet<String>,
    special: BTreeSet<String>,
    control: Vec<String>,
    first_target: Option<String>,
    /// Patterns of files it reads where they are there.
    pub(super) patterns: Vec<String>,
}

/// A difference that matters to a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// What it is about.
    pub(super) name: String,
    /// What the gate does with it.
    pub(super) verb: &'static str,
    pub(super) line: Option<u32>,
    /// What became of it.
    pub(super) how: String,
    /// Whether the gates' own numbers may show that it is harmless.
    pub(super) soft: bool,
}

impl Makefile {
    /// Reads the makefile of a folder, or the one named.
    pub(super) fn read(
        maker: Maker,
        dir: &str,
        named: Option<&str>,
        file: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let inside = |name: &str| {
            if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
        };
        let paths: Vec<String> = match named {
            Some(name) => vec![inside(name.trim_start_matches("./"))],
            None => maker.names().iter().map(|name| inside(name)).collect(),
        };
        let (path, text) = paths.into_iter().find_map(|path| Some((path.clone(), file(&path)?)))?;
        let mut files = vec![path];
        let text = with_includes(&text, &inside, file, &mut files, 0);
        let (patterns, files) = files.into_iter().partition(|file| file.contains('*'));
        let recipes = recipe::of_makefile(&text);
        let mut this = Self { files, recipes, patterns, ..Self::default() };
        this.read_lines(&text);
        Some(this)
    }

    fn read_lines(&mut self, text: &str) {
        let text = text.replace("\\\n", " ");
        for line in text.lines().filter(|line| !line.starts_with('\t')) {
            let line = line.split(" #").next().unwrap_or("").trim();
            let plain = line.trim_start_matches("override ").trim_start_matches("export ").trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if CONTROL.iter().any(|word| line.starts_with(word)) || line.starts_with("set ") {
                self.control.push(line.to_owned());
            } else if let Some((name, value)) = variable(plain) {
                // What is set so stays so, wherever else it is set.
                if line.starts_with("override ") {
                    self.overridden.insert(name.clone());
                } else if self.overridden.contains(&name) {
                    continue;
                }
                let known = self.variables.entry(name).or_default();
                if value.1 {
                    known.push(' ');
                    known.push_str(&value.0);
                } else {
                    *known = value.0;
                }
            } else if let Some((targets, needs)) = line.split_once(':') {
                self.read_targets(targets, needs);
            }
        }
    }

    fn read_targets(&mut self, targets: &str, needs: &str) {
        for target in targets.split_whitespace() {
            if target == ".PHONY" {
                self.phony.extend(needs.split_whitespace().map(str::to_owned));
            } else if SPECIAL.contains(&target) {
                self.special.insert(format!("{target}: {}", needs.trim()));
            } else if !target.starts_with('.') && !target.contains('%') {
                self.first_target.get_or_insert_with(|| target.to_owned());
            }
            // `test: CC = x` is a variable of that target alone.
            if let Some((name, value)) = variable(needs.trim()) {
                self.variables.insert(format!("{target}: {name}"), value.0);
            }
        }
    }

    /// Whether a file of a target's name does not stand in its way.
    pub(super) fn is_phony(&self, target: &str) -> bool {
        self.phony.contains(target)
    }

    /// The targets a command asks for; the first one there is when it asks for none.
    pub(super) fn targets(&self, asked: &[String]) -> Vec<String> {
        if asked.is_empty() { self.first_target.iter().cloned().collect() } else { asked.to_vec() }
    }

    /// The text of everything these targets run.
    pub(super) fn commands(&self, targets: &[String]) -> String {
        let mut lines = Vec::new();
        for target in targets {
            for name in self.recipes.reachable(target) {
                let body = self.recipes.get(&name).map(|recipe| recipe.body.as_slice());
                lines.extend(body.unwrap_or_default().iter().map(|line| self.expand(line)));
            }
        }
        lines.join("\n")
    }

    /// A line with its variables filled in, as far as they are plain.
    fn expand(&self, line: &str) -> String {
        let mut text = line.trim_start_matches(['-', '@', '+']).to_owned();
        for _ in 0..4 {
            let mut next = text.clone();
            for (name, value) in &self.variables {
                for form in
                    [format!("$({name})"), format!("${{{name}}}"), format!("{{{{{name}}}}}")]
                {
                    next = next.replace(&form, value.trim_matches(['\'', '"']));
                }
            }
            if next == text || next.len() > 100_000 {
                break;
            }
            text = next;
        }
        text
    }

    /// The variables a text uses, directly or through others.
    fn used(&self, text: &str) -> BTreeSet<&str> {
        let mut used: BTreeSet<&str> = BTreeSet::new();
        let mut open = vec![text];
        while let Some(text) = open.pop() {
            for (name, value) in &self.variables {
                let forms = [format!("$({name}"), format!("${{{name}}}"), format!("{{{{{name}")];
                let single = name.len() == 1 && text.contains(&format!("${name}"));
                if (single || forms.iter().any(|form| text.contains(form)))
                    && used.insert(name.as_str())
                {
                    open.push(value);
                }
            }
        }
        used
    }
}

/// What is no longer as it was for these targets.
pub(super) fn differences(
    before: &Makefile,
    after: &Makefile,
    targets: &[String],
) -> Vec<Difference> {
    let mut found = recipes(before, after, targets);
    found.extend(variables(before, after, targets));
    for special in after.special.difference(&before.special) {
        let name = special.split(':').next().unwrap_or("").to_owned();
        let how = "was added and changes how every recipe is run".to_owned();
        found.push(Difference { name, verb: "obeys", line: None, how, soft: false });
    }
    for target in targets.iter().filter(|target| before.phony.contains(*target)) {
        if !after.phony.contains(target) {
            let how = "is no longer in `.PHONY`: a file of that name ends it".to_owned();
            let name = target.clone();
            found.push(Difference { name, verb: "runs", line: None, how, soft: false });
        }
    }
    let control = |file: &Makefile| file.control.clone();
    if control(before) != control(after) {
        let is_new = |line: &&String| !before.control.contains(line);
        let line = after
            .control
            .iter()
            .find(is_new)
            .or_else(|| before.control.iter().find(|line| !after.control.contains(line)));
        let name = line.map(|line| shown(line)).unwrap_or_default();
        let soft = !name.starts_with("set ");
        let how = "was changed and decides what is read or how it is run".to_owned();
        found.push(Difference { name, verb: "obeys", line: None, how, soft });
    }
    found
}

fn recipes(before: &Makefile, after: &Makefile, targets: &[String]) -> Vec<Difference> {
    let mut found = Vec::new();
    for target in targets {
        for reached in before.recipes.reachable(target) {
            // What a makefile builds on the way is no check, however it is built.
            let is_check = before.recipes.is_check(target, &reached);
            let how = match weakening(&reached, &before.recipes, &after.recipes) {
                Some(How::Hides(how)) => how,
                Some(How::Differs(how)) if is_check => how,
                Some(How::Differs(_)) | None => continue,
            };
            let line = after.recipes.get(&reached).map(|recipe| recipe.line);
            found.push(Difference { name: reached, verb: "runs", line, how, soft: false });
        }
    }
    found
}

fn variables(before: &Makefile, after: &Makefile, targets: &[String]) -> Vec<Difference> {
    let mut checks = String::new();
    for target in targets {
        for name in before.recipes.reachable(target) {
            let recipe =
                before.recipes.get(&name).filter(|_| before.recipes.is_check(target, &name));
            checks.extend(
                recipe.into_iter().flat_map(|recipe| &recipe.body).map(|l| format!("{l}\n")),
            );
        }
    }
    let of_targets = |name: &&str| {
        name.split_once(": ").is_some_and(|(target, _)| targets.iter().any(|one| one == target))
    };
    let own = |file: &Makefile| -> BTreeSet<String> {
        let names = file.variables.keys().map(String::as_str).filter(of_targets);
        names.map(str::to_owned).collect()
    };
    let mut names: BTreeSet<String> = before.used(&checks).into_iter().map(str::to_owned).collect();
    names.extend(own(before));
    names.extend(own(after));
    names.extend(REACHING.iter().map(|name| (*name).to_owned()));
    let mut found = Vec::new();
    for name in names {
        let (was, is) = (before.variables.get(&name), after.variables.get(&name));
        let (was, is) = (was.map(|v| single(v)), is.map(|v| single(v)));
        let grew = was.as_deref().zip(is.as_deref()).is_some_and(|(was, is)| only_more(was, is));
        if was == is || grew {
            continue;
        }
        let words = |value: Option<String>| match value {
            Some(value) => format!("`{}`", shown(&value)),
            None => "nothing".to_owned(),
        };
        let how = format!("was changed from {} to {}", words(was), words(is));
        found.push(Difference { name, verb: "uses", line: None, how, soft: false });
    }
    found
}

/// A list of files that only became longer.
fn only_more(was: &str, is: &str) -> bool {
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let (was, is) = (words(was), words(is));
    let is_file = |word: &String| word.contains(['.', '/']) && !word.starts_with('-');
    !was.is_empty() && is.starts_with(&was) && is.iter().all(is_file)
        || extends(&was.join(" "), &is.join(" "))
}

/// `NAME = value` in all its forms; whether it adds to what is there.
fn variable(line: &str) -> Option<(String, (String, bool))> {
    let at = line.find('=')?;
    let (left, right) = (line.get(..at)?, line.get(at.checked_add(1)?..)?);
    let adds = left.ends_with('+');
    let mut name = left.trim_end_matches(['+', ':', '?', '!']).trim();
    // How a variable is set, not what it is called.
    while let Some(rest) =
        ["override ", "export ", "private "].iter().find_map(|word| name.strip_prefix(word))
    {
        name = rest.trim_start();
    }
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    is_name.then(|| (name.to_owned(), (single(right), adds)))
}

fn with_includes(
    text: &str,
    inside: &dyn Fn(&str) -> String,
    file: &dyn Fn(&str) -> Option<String>,
    files: &mut Vec<String>,
    deep: usize,
) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        let names = ["include ", "-include ", "sinclude ", "import ", "import? "]
            .iter()
            .find_map(|word| line.trim_start().strip_prefix(word))
            .filter(|_| !line.starts_with('\t') && deep < INCLUDES_DEEP);
        let Some(names) = names else {
            joined.push_str(line);
            joined.push('\n');
            continue;
        };
        for name in names.split_whitespace().map(|name| name.trim_matches(['\'', '"'])) {
            let name = name.trim_start_matches("$(wildcard").trim_end_matches(')');
            let path = inside(name.trim_start_matches("./"));
            if path.contains('*') && files.len() < INCLUDES_MAX {
                files.push(path);
            } else if files.len() < INCLUDES_MAX
                && !files.contains(&path)
                && let Some(text) = file(&path)
            {
                files.push(path);
                joined.push_str(&with_includes(&text, inside, file, files, deep.saturating_add(1)));
            }
        }
    }
    joined
}

fn single(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
