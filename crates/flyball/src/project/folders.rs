//! The folders below the root that hold projects of their own, and how much of each the root's own gates
//! leave open.

use super::look::{Look, ends};
use super::{DETECTORS, ProjectKind, Proposal, go, workspace};

/// Folders of a project that may hold projects of their own: those right below, and what stands in
/// the usual containers.
pub(super) fn nearest(look: &Look<'_>) -> Vec<String> {
    let mut folders = Vec::new();
    for name in look.folders("") {
        if CONTAINERS.contains(&name.as_str()) {
            folders.extend(look.folders(&name));
        }
        folders.push(name);
    }
    folders.truncate(FOLDERS_MAX);
    folders
}

/// The projects further down, where nothing nearer is one; none of them is in another.
pub(super) fn deepest(look: &Look<'_>) -> Vec<String> {
    const LEVELS: usize = 4;
    let mut found: Vec<String> = Vec::new();
    for folder in look.folders_within(LEVELS).into_iter().filter(|folder| !folder.is_empty()) {
        let is_inside = found.iter().any(|project| {
            folder.strip_prefix(project.as_str()).is_some_and(|rest| rest.starts_with('/'))
        });
        let below = look.below(&folder);
        if !is_inside && DETECTORS.iter().any(|(_, detect)| detect(&below).is_some()) {
            found.push(folder);
        }
    }
    found
}

/// The most folders that are looked at.
const FOLDERS_MAX: usize = 200;

/// Folders that hold projects side by side.
const CONTAINERS: [&str; 6] = ["apps", "packages", "services", "libs", "modules", "projects"];

/// How much of a project in a folder is nobody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Nothing,
    /// The root has gates of this kind that do not reach here: the tests are run.
    Tests,
    Everything,
}

impl Share {
    /// Whether this gate is one that nothing else covers.
    pub(super) fn takes(self, proposal: &Proposal) -> bool {
        match self {
            Self::Nothing => false,
            Self::Tests => proposal.role == "tests",
            Self::Everything => true,
        }
    }
}

/// What the root has, for the question what it leaves open.
pub(super) struct Root<'a> {
    look: &'a Look<'a>,
    /// What was found for its kinds.
    found: Vec<(ProjectKind, Vec<Proposal>)>,
}

impl<'a> Root<'a> {
    pub(super) fn read(look: &'a Look<'a>) -> Self {
        let found = DETECTORS.iter().filter_map(|(kind, detect)| Some((*kind, detect(look)?)));
        Self { look, found: found.filter(|(_, proposals)| !proposals.is_empty()).collect() }
    }

    /// What runs the tests of this kind at the root.
    fn tests_of(&self, kind: ProjectKind) -> Option<&Proposal> {
        let of_kind = self.found.iter().filter(|(found, _)| *found == kind);
        of_kind.flat_map(|(_, proposals)| proposals).find(|one| one.role == "tests")
    }

    /// How much of a folder's project of this kind the root leaves open.
    pub(super) fn leaves(&self, folder: &str, kind: ProjectKind) -> Share {
        // Python's gates name folders of tests; what else is in there is not covered by that.
        let mut others = self.found.iter().filter(|(found, _)| *found != ProjectKind::Python);
        if others.any(|(_, all)| all.iter().any(|one| goes_into(&one.command, folder))) {
            return Share::Nothing;
        }
        // Makefiles stand everywhere, and most are for the project beside them.
        if kind.lists_commands() {
            return Share::Nothing;
        }
        if self.found.iter().all(|(found, _)| *found != kind) {
            return Share::Everything;
        }
        if self.covers(folder, kind) || !holds_tests(&self.look.below(folder), kind) {
            return Share::Nothing;
        }
        Share::Tests
    }

    /// Whether the root's gates of this kind reach into the folder.
    fn covers(&self, folder: &str, kind: ProjectKind) -> bool {
        let read = |name| self.look.read(name).unwrap_or_default();
        match kind {
            ProjectKind::Rust => {
                let table = |text: String| text.parse::<toml::Table>().unwrap_or_default();
                let root = table(read("Cargo.toml"));
                let own = table(self.look.below(folder).read("Cargo.toml").unwrap_or_default());
                let excluded = root.get("workspace").and_then(|it| it.get("exclude")?.as_array());
                let is_excluded =
                    excluded.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(folder)));
                root.contains_key("workspace") && !is_excluded && !own.contains_key("workspace")
            }
            ProjectKind::Node => {
                let runners = ["nx.json", "turbo.json", "lerna.json", "rush.json"];
                (self.tests_of(kind).is_some() && self.look.first(&runners).is_some())
                    || workspace::test_scripts(self.look).iter().any(|line| goes_into(line, folder))
                    || workspace::members(self.look).iter().any(|member| member == folder)
            }
            ProjectKind::Go => go::modules(&read("go.work")).contains(&go::packages_of(folder)),
            ProjectKind::Maven => read("pom.xml").contains(&format!("<module>{folder}</module>")),
            ProjectKind::Gradle => {
                let settings = read("settings.gradle") + &read("settings.gradle.kts");
                let name = folder.rsplit('/').next().unwrap_or(folder);
                settings.split(|c: char| "'\":/,()[]\n ".contains(c)).any(|word| word == name)
            }
            // Pytest looks for tests in every folder, unless told where they are.
            ProjectKind::Python => {
                let settings = ["pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini"];
                let is_pytest = |one: &Proposal| one.command.ends_with("pytest");
                self.tests_of(kind).is_some_and(is_pytest)
                    && !settings.iter().any(|name| read(name).contains("testpaths"))
            }
            ProjectKind::Deno
            | ProjectKind::DotNet
            | ProjectKind::Php
            | ProjectKind::Ruby
            | ProjectKind::Elixir
            | ProjectKind::Swift
            | ProjectKind::CMake
            | ProjectKind::Meson
            | ProjectKind::Make
            | ProjectKind::Just
            | ProjectKind::Task => true,
        }
    }
}

/// Whether a command does something in the folder: it names a path there, or is told to go there.
fn goes_into(command: &str, folder: &str) -> bool {
    const TOLD_BY: [&str; 9] =
        ["cd", "-C", "--prefix", "--cwd", "--dir", "-w", "--workspace", "--filter", "-F"];
    let no_path = |c: char| !(c.is_alphanumeric() || "/._-@".contains(c));
    let words: Vec<&str> = command.split(no_path).filter(|word| !word.is_empty()).collect();
    let before = std::iter::once("").chain(words.iter().copied());
    before.zip(&words).any(|(before, word)| {
        match word.trim_start_matches("./").strip_prefix(folder) {
            Some("") => word.starts_with("./") || TOLD_BY.contains(&before),
            Some(rest) => rest.starts_with('/'),
            None => false,
        }
    })
}

/// Whether the folder has tests: a gate of which nothing runs is not green.
fn holds_tests(look: &Look<'_>, kind: ProjectKind) -> bool {
    const LEVELS: usize = 4;
    if kind == ProjectKind::Rust {
        let sources = look.files_within(LEVELS, |name| ends(name, "rs"));
        let mut texts = sources.iter().filter_map(|name| look.read(name));
        return texts.any(|text| text.contains("#[test]") || text.contains("::test]"));
    }
    if kind == ProjectKind::Go {
        return !look.files_within(LEVELS, |name| name.ends_with("_test.go")).is_empty();
    }
    let is_jvm = matches!(kind, ProjectKind::Maven | ProjectKind::Gradle);
    !is_jvm || look.has("src/test")
}
