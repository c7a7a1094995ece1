//! What kind of project this is, and the gates that fit it (B10). Looks at files and at PATH; never
//! starts a process and never writes.

mod collect;
mod command;
mod deno;
mod dotnet;
mod environment;
mod folders;
mod go;
mod install;
mod jvm;
mod kind;
mod look;
mod make;
mod native;
mod node;
mod nx;
mod path;
mod php;
mod python;
mod root;
mod ruby;
mod rust;
mod table;
mod taskfile;
mod unittest;
mod workspace;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use flyball_core::Millis;

use self::collect::{Folder, add, add_folder};
pub use self::command::{AsGate, Fault, Place, Purpose, as_gate, programs};
use self::folders::{Root, Share};
pub use self::install::NotInstalled;
pub use self::kind::ProjectKind;
pub(crate) use self::look::Look;
pub use self::path::Programs;
pub use self::root::{find_repository, find_root};

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
    /// Something is not ready, and this line for the shell, typed in the repository's root, makes it so.
    Unready {
        /// What, as it is said of it.
        what: String,
        /// The line.
        remedy: String,
    },
    /// The command is none that checks once, and no form of it that does is known.
    Unfit(Fault),
    /// The file that would say what to run cannot be read: its name, and what is wrong with it.
    Unreadable(&'static str, String),
}

impl Hindrance {
    /// The line to type that takes it away, where one is known.
    pub fn line(&self) -> Option<&str> {
        match self {
            Self::Unready { remedy, .. } => Some(remedy),
            Self::NoProgram(_) | Self::Unfit(_) | Self::Unreadable(..) => None,
        }
    }

    /// What can be done about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::NoProgram(program) => format!("install `{program}`"),
            Self::Unready { remedy, .. } => remedy.clone(),
            Self::Unfit(_) => "add a [[gates.check]] with a command that checks once".to_owned(),
            Self::Unreadable(file, _) => format!("put {file} right"),
        }
    }
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgram(program) => f.write_str(&not_there(program)),
            Self::Unready { what, .. } => f.write_str(what),
            Self::Unfit(fault) => write!(f, "{fault}"),
            Self::Unreadable(file, why) => write!(f, "{file} cannot be read: {why}"),
        }
    }
}

fn not_there(program: &str) -> String {
    let place = if program.contains('/') { "there" } else { "on PATH" };
    format!("`{program}` is not {place}")
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
    /// The part of the project it is for, where it is not for all of it.
    pub(crate) part: Option<String>,
    /// What else stands in its way.
    pub(crate) unready: Option<String>,
    /// The line for the shell that brings what is missing.
    pub(crate) remedy: Option<String>,
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
            part: None,
            unready: None,
            remedy: None,
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

    /// What brings the program is known.
    #[must_use]
    pub(crate) fn with_remedy(self, remedy: Option<String>) -> Self {
        Self { remedy, ..self }
    }

    /// Whether this target most likely only calls a tool that is already a gate of the same role.
    fn wraps(&self, (role, program): &(&str, String)) -> bool {
        let name = program.rsplit('/').next().unwrap_or(program);
        let no_word = |c: char| !c.is_alphanumeric() && c != '-' && c != '_';
        self.role == *role
            && self.recipes.as_ref().is_some_and(|text| text.split(no_word).any(|w| w == name))
    }
}

/// The kinds that are looked for, in words.
pub fn kinds() -> String {
    let mut kinds: Vec<String> = DETECTORS.iter().map(|(kind, _)| kind.to_string()).collect();
    kinds.dedup();
    kinds.join(", ")
}

fn first_word(command: &str) -> String {
    command.split_whitespace().next().unwrap_or("").to_owned()
}

type Detector = fn(&Look<'_>) -> Option<Vec<Proposal>>;

const DETECTORS: [(ProjectKind, Detector); 19] = [
    (ProjectKind::Rust, rust::detect),
    (ProjectKind::Node, node::detect),
    (ProjectKind::Node, workspace::detect),
    (ProjectKind::Node, nx::detect),
    (ProjectKind::Deno, deno::detect),
    (ProjectKind::Python, python::detect),
    (ProjectKind::Go, go::detect),
    (ProjectKind::Maven, jvm::detect_maven),
    (ProjectKind::Gradle, jvm::detect_gradle),
    (ProjectKind::DotNet, dotnet::detect),
    (ProjectKind::Php, php::detect),
    (ProjectKind::Ruby, ruby::detect),
    (ProjectKind::Elixir, table::detect_elixir),
    (ProjectKind::Swift, table::detect_swift),
    (ProjectKind::CMake, native::detect_cmake),
    (ProjectKind::Meson, native::detect_meson),
    (ProjectKind::Make, make::detect_make),
    (ProjectKind::Just, make::detect_just),
    (ProjectKind::Task, taskfile::detect),
];

/// Looks at a project with the programs on PATH.
pub fn detect(root: &Path) -> Detected {
    detect_with(root, &Programs::on_path())
}

/// Looks at a project: its root, and the folders below it that hold a project no gate of the root
/// covers.
pub fn detect_with(root: &Path, programs: &Programs) -> Detected {
    let mut detected = Detected::default();
    let look = Look::at_root(root, programs);
    add_folder(&mut detected, &look, &Folder::Root, |_| Share::Everything);
    let at_root = Root::read(&look);
    if detected.is_empty() {
        let holds = |name: &String| {
            let below = look.below(name);
            DETECTORS.iter().any(|(_, detect)| detect(&below).is_some())
        };
        let mut found: Vec<String> = folders::nearest(&look).into_iter().filter(holds).collect();
        if found.is_empty() {
            found = folders::deepest(&look);
        }
        for name in &found {
            let folder = if found.len() == 1 { Folder::Only(name) } else { Folder::OneOf(name) };
            add_folder(&mut detected, &look.below(name), &folder, |_| Share::Everything);
        }
    } else {
        for name in folders::nearest(&look) {
            let share = |kind| at_root.leaves(&name, kind);
            add_folder(&mut detected, &look.below(&name), &Folder::OneOf(&name), share);
        }
    }
    if detected.is_empty() {
        for proposal in python::detect_bare(&look) {
            detected.know(ProjectKind::Python);
            add(&mut detected, &look, &Folder::Root, (ProjectKind::Python, &proposal));
        }
    }
    detected
}

impl Detected {
    fn is_empty(&self) -> bool {
        self.gates.is_empty() && self.not_runnable.is_empty()
    }

    fn know(&mut self, kind: ProjectKind) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }
}
