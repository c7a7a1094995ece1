//! What checks depend on outside of the repository and the agent can reach: the programs they start,
//! and settings of people's that runners obey in every project.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use flyball_core::gate::TamperFinding;

use super::files::TreeFiles;
use super::shell;
use super::watched::Reach;
use crate::gate::plan::GatePlan;
use crate::journal::TamperBase;
use crate::worktree::Worktree;

/// Settings of runners in a home, with what in them decides which checks run; all of it where nothing
/// is named.
const SETTINGS: [(&str, &[&str]); 27] = [
    (".npmrc", &["script-shell", "node-options", "ignore-scripts", "prefix"]),
    (".yarnrc", &[]),
    (".yarnrc.yml", &[]),
    (".cargo/config.toml", &[]),
    (".cargo/config", &[]),
    (".config/nextest/config.toml", &[]),
    (".pytest.ini", &[]),
    (".bunfig.toml", &[]),
    (".config/pip/pip.conf", &[]),
    (".config/go/env", &[]),
    (".rspec", &[]),
    (".config/rspec/options", &[]),
    (".mavenrc", &[]),
    (".m2/settings.xml", &["skip", "test", "profile"]),
    (".gradle/init.gradle", &[]),
    (".gradle/init.gradle.kts", &[]),
    (".gradle/gradle.properties", &["test", "skip", "init", "jvmargs"]),
    (".config/ruff/ruff.toml", &[]),
    (".config/ruff/pyproject.toml", &[]),
    (".config/mypy/config", &[]),
    (".mypy.ini", &[]),
    (".pylintrc", &[]),
    (".config/pylintrc", &[]),
    (".shellcheckrc", &[]),
    (".config/shellcheckrc", &[]),
    (".eslintrc.json", &[]),
    (".justfile", &[]),
];
/// Files that runners look for in every folder above the repository, too.
const ABOVE: [&str; 20] = [
    ".cargo/config.toml",
    ".cargo/config",
    "rust-toolchain.toml",
    "rust-toolchain",
    "Cargo.toml",
    "clippy.toml",
    "go.work",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    "conftest.py",
    "ruff.toml",
    ".ruff.toml",
    ".eslintrc.json",
    ".eslintrc.js",
    "babel.config.js",
    ".rspec",
    ".shellcheckrc",
];
/// The most programs that are looked for.
const PROGRAMS_MAX: usize = 100;
/// The largest file that is compared by what is in it.
const FILE_MAX: u64 = 256 * 1024;

/// What there is, by place: a digest of what decides something.
pub(super) fn places(worktree: &Worktree, tree: &str, plan: &GatePlan) -> BTreeMap<String, String> {
    if plan.is_empty() {
        return BTreeMap::new();
    }
    let root = worktree.root();
    let mut found = BTreeMap::new();
    let files = TreeFiles::new(worktree, tree, tree);
    for program in programs(&Reach::of(plan, &files).text) {
        let place = which(&program).filter(|place| !place.starts_with(root));
        let digest = place.map(|place| format!("{} {}", place.display(), digest(&place)));
        found.insert(format!("program:{program}"), digest.unwrap_or_default());
    }
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    for home in home.into_iter().filter(|home| !home.starts_with(root)) {
        for (name, keys) in SETTINGS {
            let text = crate::files::read_text(&home.join(name), FILE_MAX).unwrap_or_default();
            let decides =
                |line: &&str| keys.is_empty() || keys.iter().any(|key| line.contains(key));
            let lines: Vec<&str> = text.lines().filter(decides).collect();
            keep(&mut found, &home.join(name), &lines.join("\n"));
        }
        for place in user_sites(&home).iter().flat_map(|site| run_first(site)) {
            let text = crate::files::read_text(&place, FILE_MAX).unwrap_or_default();
            keep(&mut found, &place, &what_runs(&place, &text));
        }
    }
    for (key, value) in worktree.filters() {
        found.insert(format!("git:{key}"), hash(value.as_bytes()));
    }
    for file in root.ancestors().skip(1).flat_map(|folder| ABOVE.map(|name| folder.join(name))) {
        let text = crate::files::read_text(&file, FILE_MAX).unwrap_or_default();
        keep(&mut found, &file, &text);
    }
    found
}

/// What is another than at the beginning.
pub(super) fn changed(
    worktree: &Worktree,
    tree: &str,
    plan: &GatePlan,
    base: &TamperBase,
) -> Vec<TamperFinding> {
    let before = &base.body.outside;
    if before.is_empty() {
        return Vec::new();
    }
    let added = ["file:", "git:"];
    let now = places(worktree, tree, plan);
    // What was not there at all is installed by the work.
    let differs = |(place, was): &(&String, &String)| {
        !was.is_empty() && now.get(*place).is_some_and(|is| is != *was)
    };
    let mut changed: Vec<(&String, &String)> = before.iter().filter(differs).collect();
    let new = now.iter().filter(|(place, is)| {
        added.iter().any(|sort| place.starts_with(sort))
            && !before.contains_key(*place)
            && !is.is_empty()
    });
    changed.extend(new);
    let told = |place: &String, message: String| {
        let mut found = TamperFinding::about(format!("outside:{place}"), message);
        found.base.clone_from(&base.tree);
        found.now = now.get(place).cloned().unwrap_or_default();
        found
    };
    let finding = |(place, _): (&String, &String)| {
        let what = match place.split_once(':') {
            Some(("program", name)) => {
                format!(
                    "the program `{name}`, which a gate starts, is another one than at the beginning"
                )
            }
            Some(("git", key)) => {
                return told(
                    place,
                    format!(
                        "`{key}` was set: git sees other files than the checks do; `git config \
                         --unset {key}` undoes it"
                    ),
                );
            }
            _ => format!(
                "`{}`, which runners obey in every project, was changed",
                place.trim_start_matches("file:")
            ),
        };
        told(place, format!("{what}; it lies outside of the repository: put it back by hand"))
    };
    changed.into_iter().map(finding).collect()
}

/// Whether what a finding is about is still what it was found to be.
pub(super) fn still_stands(
    worktree: &Worktree,
    (tree, plan): (&str, &GatePlan),
    one: &TamperFinding,
) -> bool {
    let now = places(worktree, tree, plan);
    let places = one.subjects.iter().filter_map(|subject| subject.strip_prefix("outside:"));
    places.into_iter().any(|place| now.get(place) == Some(&one.now))
}

fn keep(found: &mut BTreeMap<String, String>, file: &Path, text: &str) {
    if !text.trim().is_empty() {
        found.insert(format!("file:{}", file.display()), hash(text.as_bytes()));
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().get(..16).unwrap_or_default().to_owned()
}

/// What a program is: its content, or of a large one its size.
fn digest(place: &Path) -> String {
    crate::files::read(place, FILE_MAX).map_or_else(
        |_| std::fs::metadata(place).map_or_else(|_| String::new(), |meta| meta.len().to_string()),
        |bytes| hash(&bytes),
    )
}

/// The programs a text of the shell's starts by name.
fn programs(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for step in shell::steps(text, "") {
        let name = step.program();
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c));
        if plain
            && !name.is_empty()
            && names.len() < PROGRAMS_MAX
            && !names.iter().any(|n| n == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// Where a program of this name is found.
fn which(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let found = env::split_paths(&path).map(|dir| dir.join(name)).find(|place| place.is_file())?;
    found.canonicalize().ok()
}

/// Where Python looks for packages of one person.
fn user_sites(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.join(".local/lib")).into_iter().flatten().flatten();
    let pythons = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("python"));
    pythons.map(|entry| entry.path().join("site-packages")).take(20).collect()
}

/// What of such a file is run: of a list of folders only the lines that take something in. Packages
/// that are installed from where they are written have one of their own.
fn what_runs(place: &Path, text: &str) -> String {
    let name = place.file_name().and_then(|name| name.to_str()).unwrap_or("");
    if place.extension().is_none_or(|ending| ending != "pth") {
        return text.to_owned();
    }
    if name.starts_with("__editable__") || name == "distutils-precedence.pth" {
        return String::new();
    }
    text.lines().filter(|line| line.starts_with("import")).collect::<Vec<_>>().join("\n")
}

/// What Python runs there before any program.
fn run_first(site: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(site).into_iter().flatten().flatten().map(|entry| entry.path());
    let ends = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "pth");
    let links = entries.filter(ends).take(PROGRAMS_MAX);
    ["sitecustomize.py", "usercustomize.py"]
        .map(|name| site.join(name))
        .into_iter()
        .chain(links)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_those_a_gate_starts_by_name() {
        let found = programs("set -e\ncd x && npm test; ./own.sh | grep -q a\npython3 -m pytest\n");
        for name in ["npm", "grep", "python3"] {
            assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
        }
        assert!(!found.iter().any(|name| name.contains('/')), "{found:?}");
    }
}
