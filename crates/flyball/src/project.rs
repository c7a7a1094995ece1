//! What kind of project this is, and the gates that fit it (B10). Looks at files and at PATH; never
//! starts a process and never writes.

mod command;
mod go;
mod install;
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

pub use self::command::{AsGate, Fault, Place, Purpose, as_gate, programs};
pub use self::install::NotInstalled;
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
    /// Gates that would fit, but cannot run here.
    pub not_runnable: Vec<NotRunnable>,
    /// What the gates need and is not installed.
    pub not_installed: Vec<NotInstalled>,
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
    /// `tests`, `lint`, `build`, …
    pub role: &'static str,
    /// The line for the shell.
    pub command: String,
    /// What stands in the way.
    pub hindrance: Hindrance,
    /// What made flyball think of it.
    pub why: String,
}

/// Why a gate that would fit cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// This program is not there.
    NoProgram(String),
    /// The command is none that checks once, and no form of it that does is known.
    Unfit(Fault),
    /// The file that would say what to run cannot be read: its name, and what is wrong with it.
    Unreadable(&'static str, String),
}

impl Hindrance {
    /// What can be done about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::NoProgram(program) => format!("install `{program}`"),
            Self::Unfit(_) => "add a [[gates.check]] with a command that checks once".to_owned(),
            Self::Unreadable(file, _) => format!("put {file} right"),
        }
    }
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgram(program) => write!(f, "`{program}` is not on PATH"),
            Self::Unfit(fault) => write!(f, "{fault}"),
            Self::Unreadable(file, why) => write!(f, "{file} cannot be read: {why}"),
        }
    }
}

/// A gate as one kind of project proposes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// `tests`, `lint`, `build`, `typecheck`, `format`, `check`.
    pub(crate) role: &'static str,
    /// The line for the shell, to be run in the folder looked at.
    pub(crate) command: String,
    /// What must be on PATH, or be an executable file in the folder.
    pub(crate) program: String,
    /// What made it fit.
    pub(crate) why: String,
    /// The text of the makefile or justfile it comes from.
    pub(crate) recipes: Option<String>,
    /// What makes it no gate, whatever is installed.
    pub(crate) unfit: Option<Hindrance>,
}

impl Proposal {
    pub(crate) fn new(role: &'static str, command: &str, why: impl Into<String>) -> Self {
        let program = first_word(command);
        Self {
            role,
            command: command.to_owned(),
            program,
            why: why.into(),
            recipes: None,
            unfit: None,
        }
    }

    /// A proposal for what a script or recipe does, where `command` calls it as it stands.
    pub(crate) fn of_script(
        role: &'static str,
        command: &str,
        found: AsGate,
        why: String,
        look: &Look<'_>,
    ) -> Self {
        match found {
            AsGate::Fits => Self::new(role, command, why),
            AsGate::Instead(line, fault) => {
                let needed = programs(&line);
                let missing = needed.iter().find(|program| !look.runnable(program));
                let program = missing.or(needed.first()).cloned();
                let why = format!("{why}, which is not called itself: {fault}");
                let made = Self::new(role, &line, why);
                Self { program: program.unwrap_or_else(|| first_word(command)), ..made }
            }
            AsGate::Never(fault) => {
                Self { unfit: Some(Hindrance::Unfit(fault)), ..Self::new(role, command, why) }
            }
        }
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

fn first_word(command: &str) -> String {
    command.split_whitespace().next().unwrap_or("").to_owned()
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
        crate::files::read_text(&self.dir.join(name), LARGEST).ok()
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

/// Looks at a project: its root, and the folders below it that hold a project of another kind, or of
/// any kind when no gate fits the root.
pub fn detect_with(root: &Path, programs: &Programs) -> Detected {
    let mut detected = Detected::default();
    let look = Look { dir: root, programs };
    add_folder(&mut detected, &look, &Folder::Root);
    let alone = detected.gates.is_empty() && detected.not_runnable.is_empty();
    let at_root = detected.kinds.clone();
    let said: String = detected.gates.iter().map(|gate| gate.command.as_str()).collect();
    let folders: Vec<String> = folders_below(&look)
        .into_iter()
        .filter(|name| {
            let dir = root.join(name);
            let below = Look { dir: &dir, programs };
            let mut kinds = DETECTORS.iter().filter(|(_, detect)| detect(&below).is_some());
            if alone {
                return kinds.next().is_some();
            }
            // A kind the root has, too, is most likely a member of it; makefiles stand everywhere.
            let helper = |kind: &ProjectKind| matches!(kind, ProjectKind::Make | ProjectKind::Just);
            let own = |kind: &ProjectKind| !at_root.contains(kind) && !helper(kind);
            !said.contains(name.as_str()) && kinds.any(|(kind, _)| own(kind))
        })
        .collect();
    for name in &folders {
        let dir = root.join(name);
        let single = alone && folders.len() == 1;
        let folder = if single { Folder::Only(name) } else { Folder::OneOf(name) };
        add_folder(&mut detected, &Look { dir: &dir, programs }, &folder);
    }
    if detected.gates.is_empty()
        && detected.not_runnable.is_empty()
        && let Some(proposal) = python::detect_bare(&look)
    {
        detected.kinds.push(ProjectKind::Python);
        add(&mut detected, &look, &Folder::Root, (ProjectKind::Python, &proposal));
    }
    detected
}

/// Folders of a project that may hold projects of their own: those right below, and what stands in
/// the usual containers.
fn folders_below(look: &Look<'_>) -> Vec<String> {
    let usable = |below: &str| {
        let names = look.names(below).into_iter();
        let kept = names.filter(|name| !name.starts_with('.') && !SKIPPED.contains(&name.as_str()));
        kept.map(|name| if below.is_empty() { name } else { format!("{below}/{name}") })
            .filter(|name| look.dir.join(name).is_dir())
            .collect::<Vec<_>>()
    };
    let mut folders = Vec::new();
    for name in usable("") {
        if CONTAINERS.contains(&name.as_str()) {
            folders.extend(usable(&name));
        }
        folders.push(name);
    }
    folders.truncate(FOLDERS_MAX);
    folders
}

/// The most folders that are looked at.
const FOLDERS_MAX: usize = 200;

/// Folders that hold projects side by side.
const CONTAINERS: [&str; 6] = ["apps", "packages", "services", "libs", "modules", "projects"];

/// Folders that hold other people's projects, or none that is worked on.
const SKIPPED: [&str; 13] = [
    "node_modules",
    "target",
    "vendor",
    "venv",
    "third_party",
    "dist",
    "build",
    "docs",
    "examples",
    "fixtures",
    "testdata",
    "templates",
    "benchmarks",
];

/// Where a proposal comes from, for its name and its command.
enum Folder<'a> {
    Root,
    Only(&'a str),
    OneOf(&'a str),
}

/// Adds what one folder holds.
fn add_folder(detected: &mut Detected, look: &Look<'_>, folder: &Folder<'_>) {
    let mut taken: Vec<(&str, String)> = Vec::new();
    for (what, line) in install::missing(look) {
        let (what, remedy) = match folder {
            Folder::Root => (what.to_owned(), line.to_owned()),
            Folder::Only(dir) | Folder::OneOf(dir) => {
                (format!("{what} in {dir}/"), format!("(cd {} && {line})", quoted(dir)))
            }
        };
        detected.not_installed.push(NotInstalled { what, remedy });
    }
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
    let missing = || {
        let program = proposal.program.clone();
        (!look.runnable(&program)).then_some(Hindrance::NoProgram(program))
    };
    if let Some(hindrance) = proposal.unfit.clone().or_else(missing) {
        let role = proposal.role;
        if !detected.not_runnable.iter().any(|known| known.command == command) {
            detected.not_runnable.push(NotRunnable { role, command, hindrance, why });
        }
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
