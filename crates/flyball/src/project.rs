//! What kind of project this is, and the gates that fit it (B10). Looks at files and at PATH; never
//! starts a process and never writes.

mod go;
mod jvm;
mod make;
mod node;
mod path;
mod python;
mod root;
mod rust;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use flyball_core::Millis;

pub use self::path::Programs;
pub use self::root::{find_repository, find_root};
use crate::config::{default_timeout, quoted};

/// A kind of project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectKind {
    /// `Cargo.toml`.
    Rust,
    /// `package.json`.
    Node,
    /// `pyproject.toml` and its relatives.
    Python,
    /// `go.mod`.
    Go,
    /// `pom.xml`.
    Maven,
    /// `build.gradle`.
    Gradle,
    /// A makefile.
    Make,
    /// A justfile.
    Just,
}

impl ProjectKind {
    /// The word used in gate names.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Node => "node",
            Self::Python => "python",
            Self::Go => "go",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
            Self::Make => "make",
            Self::Just => "just",
        }
    }
}

impl fmt::Display for ProjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rust => "Rust",
            Self::Node => "Node",
            Self::Python => "Python",
            Self::Go => "Go",
            Self::Maven => "Maven",
            Self::Gradle => "Gradle",
            Self::Make => "Make",
            Self::Just => "just",
        })
    }
}

/// What was found in a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// The kinds, each once.
    pub kinds: Vec<ProjectKind>,
    /// Gates that can run here, names unique.
    pub gates: Vec<DetectedGate>,
    /// Gates that would fit, but whose program is missing.
    pub not_runnable: Vec<NotRunnable>,
}

/// A gate that fits the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectedGate {
    /// `tests`, `lint`, `build`, … made unique by the kind or folder.
    pub name: String,
    /// The line for the shell, run in the project's root.
    pub command: String,
    /// How long it may take.
    pub timeout: Millis,
    /// What made flyball think of it.
    pub why: String,
}

/// A gate that would fit, but cannot run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRunnable {
    /// The line for the shell.
    pub command: String,
    /// The program that is not there.
    pub program: String,
    /// What made flyball think of it.
    pub why: String,
}

/// A gate as one kind of project proposes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// `tests`, `lint`, `build`, `typecheck`, `check`.
    pub(crate) role: &'static str,
    /// The line for the shell, to be run in the folder looked at.
    pub(crate) command: String,
    /// What must be on PATH, or be an executable file in the folder.
    pub(crate) program: String,
    /// What made it fit.
    pub(crate) why: String,
    /// The text of the makefile or justfile it comes from.
    pub(crate) recipes: Option<String>,
}

impl Proposal {
    pub(crate) fn new(role: &'static str, command: &str, why: impl Into<String>) -> Self {
        let program = command.split_whitespace().next().unwrap_or("").to_owned();
        Self { role, command: command.to_owned(), program, why: why.into(), recipes: None }
    }

    /// Needs another program than the first word.
    #[must_use]
    pub(crate) fn with_program(mut self, program: &str) -> Self {
        program.clone_into(&mut self.program);
        self
    }

    /// Whether this target most likely only calls a tool that is already a gate of the same role.
    fn wraps(&self, (role, program): &(&str, String)) -> bool {
        let name = program.rsplit('/').next().unwrap_or(program);
        let no_word = |c: char| !c.is_alphanumeric() && c != '-' && c != '_';
        self.role == *role
            && self.recipes.as_ref().is_some_and(|text| text.split(no_word).any(|w| w == name))
    }
}

/// One folder and the programs of this machine.
pub(crate) struct Look<'a> {
    /// The folder.
    pub(crate) dir: &'a Path,
    /// The programs.
    pub(crate) programs: &'a Programs,
}

impl Look<'_> {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.dir.join(name).exists()
    }

    /// The text of a file, if it is there, readable and not enormous.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        const LARGEST: u64 = 4 << 20;
        let path = self.dir.join(name);
        if std::fs::metadata(&path).ok()?.len() > LARGEST {
            return None;
        }
        std::fs::read_to_string(path).ok()
    }

    /// Names in a folder below, sorted; none when it is not there.
    pub(crate) fn names(&self, below: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.join(below)).into_iter().flatten();
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn runnable(&self, program: &str) -> bool {
        if program.contains('/') {
            path::is_executable(&self.dir.join(program))
        } else {
            self.programs.has(program)
        }
    }
}

type Detector = fn(&Look<'_>) -> Option<Vec<Proposal>>;

const DETECTORS: [(ProjectKind, Detector); 8] = [
    (ProjectKind::Rust, rust::detect),
    (ProjectKind::Node, node::detect),
    (ProjectKind::Python, python::detect),
    (ProjectKind::Go, go::detect),
    (ProjectKind::Maven, jvm::detect_maven),
    (ProjectKind::Gradle, jvm::detect_gradle),
    (ProjectKind::Make, make::detect_make),
    (ProjectKind::Just, make::detect_just),
];

/// Looks at a project with the programs on PATH.
pub fn detect(root: &Path) -> Detected {
    detect_with(root, &Programs::on_path())
}

/// Looks at a project: its root, and when no gate fits there the folders right below it.
pub fn detect_with(root: &Path, programs: &Programs) -> Detected {
    let mut detected = Detected::default();
    add_folder(&mut detected, &Look { dir: root, programs }, &Folder::Root);
    if !detected.gates.is_empty() || !detected.not_runnable.is_empty() {
        return detected;
    }
    let holds_project = |name: &String| {
        let dir = root.join(name);
        let look = Look { dir: &dir, programs };
        DETECTORS.iter().any(|(_, detect)| detect(&look).is_some())
    };
    let folders: Vec<String> = (Look { dir: root, programs })
        .names("")
        .into_iter()
        .filter(|name| !name.starts_with('.') && !SKIPPED.contains(&name.as_str()))
        .filter(|name| root.join(name).is_dir())
        .filter(holds_project)
        .collect();
    for name in &folders {
        let dir = root.join(name);
        let folder = if folders.len() == 1 { Folder::Only(name) } else { Folder::OneOf(name) };
        add_folder(&mut detected, &Look { dir: &dir, programs }, &folder);
    }
    detected
}

/// Folders that hold other people's projects.
const SKIPPED: [&str; 5] = ["node_modules", "target", "vendor", "venv", "third_party"];

/// Where a proposal comes from, for its name and its command.
enum Folder<'a> {
    Root,
    Only(&'a str),
    OneOf(&'a str),
}

/// Adds what one folder holds.
fn add_folder(detected: &mut Detected, look: &Look<'_>, folder: &Folder<'_>) {
    let mut taken: Vec<(&str, String)> = Vec::new();
    for (kind, detect) in DETECTORS {
        let Some(proposals) = detect(look) else { continue };
        if !detected.kinds.contains(&kind) {
            detected.kinds.push(kind);
        }
        for proposal in proposals {
            if taken.iter().any(|gate| proposal.wraps(gate)) {
                continue;
            }
            if add(detected, look, folder, (kind, &proposal)) {
                let program = proposal.command.split_whitespace().next().unwrap_or("");
                taken.push((proposal.role, program.to_owned()));
            }
        }
    }
}

/// Adds a proposal as a gate, or as something that cannot run; says whether it became a gate.
fn add(
    detected: &mut Detected,
    look: &Look<'_>,
    folder: &Folder<'_>,
    (kind, proposal): (ProjectKind, &Proposal),
) -> bool {
    let (command, why) = match folder {
        Folder::Root => (proposal.command.clone(), proposal.why.clone()),
        Folder::Only(dir) | Folder::OneOf(dir) => (
            format!("cd {} && {}", quoted(dir), proposal.command),
            format!("{dir}/{}", proposal.why),
        ),
    };
    if !look.runnable(&proposal.program) {
        detected.not_runnable.push(NotRunnable { command, program: proposal.program.clone(), why });
        return false;
    }
    let name = unique_name(&detected.gates, folder, kind, proposal.role);
    detected.gates.push(DetectedGate { timeout: default_timeout(&name), name, command, why });
    true
}

fn unique_name(
    gates: &[DetectedGate],
    folder: &Folder<'_>,
    kind: ProjectKind,
    role: &str,
) -> String {
    let first = match folder {
        Folder::Root | Folder::Only(_) => role.to_owned(),
        Folder::OneOf(dir) => {
            format!("{role}-{}", dir.replace(|c: char| !c.is_alphanumeric(), "-"))
        }
    };
    let second = format!("{first}-{}", kind.word());
    let free = |name: &String| gates.iter().all(|gate| gate.name != *name);
    let numbered = (2..).map(|number| format!("{second}-{number}"));
    [first, second.clone()].into_iter().chain(numbered).find(free).unwrap_or_default()
}
