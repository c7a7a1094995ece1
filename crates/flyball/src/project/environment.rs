//! The environment of a Python project: who manages it, and the line that makes one with what is needed.

use toml::{Table, Value};

use super::python::Settings;
use super::{Look, path};
use crate::config::quoted;

/// Who manages a project's environment.
pub(super) struct EnvironmentTool {
    /// The lock file it writes.
    lock: &'static str,
    /// Its table in `pyproject.toml`.
    table: &'static str,
    /// What it is called there where it builds the package.
    backend: &'static str,
    /// Its program.
    pub(super) program: &'static str,
    /// What fills the environment.
    install: &'static str,
}

const TOOLS: [EnvironmentTool; 5] = [
    EnvironmentTool {
        lock: "uv.lock",
        table: "tool.uv",
        backend: "",
        program: "uv",
        install: "uv sync",
    },
    EnvironmentTool {
        lock: "poetry.lock",
        table: "tool.poetry",
        backend: "poetry.core",
        program: "poetry",
        install: "poetry install",
    },
    EnvironmentTool {
        lock: "pdm.lock",
        table: "tool.pdm",
        backend: "pdm.backend",
        program: "pdm",
        install: "pdm install",
    },
    EnvironmentTool {
        lock: "Pipfile.lock",
        table: "",
        backend: "",
        program: "pipenv",
        install: "pipenv install --dev",
    },
    EnvironmentTool {
        lock: "",
        table: "tool.hatch.envs",
        backend: "",
        program: "hatch",
        install: "hatch env create",
    },
];

/// Who manages this project's environment, if anyone does.
pub(super) fn manager(look: &Look<'_>, settings: &Settings) -> Option<&'static EnvironmentTool> {
    let builds = |backend: &str| {
        let lines = settings.pyproject.lines().map(str::trim);
        lines.filter(|line| line.starts_with("build-backend")).any(|line| line.contains(backend))
    };
    TOOLS.iter().find(|tool| {
        (!tool.lock.is_empty() && look.has(tool.lock))
            || (!tool.table.is_empty() && settings.has(tool.table, &[]))
            || (!tool.backend.is_empty() && builds(tool.backend))
    })
}

/// The line that brings a tool this folder's gates want.
pub(super) fn remedy(look: &Look<'_>, settings: &Settings, program: &str) -> Option<String> {
    if let Some(tool) = manager(look, settings) {
        // It is the manager that is missing.
        return Some(format!("pipx install {} && {}", tool.program, tool.install));
    }
    if let Some((way, folder)) = own(look) {
        let pip = format!("{folder}/bin/pip");
        let has_pip = path::is_executable(&look.dir.join(&way).join(&pip));
        return Some(if has_pip {
            format!("{way}{pip} install {program}")
        } else {
            format!("uv pip install --python {way}{folder}/bin/python {program}")
        });
    }
    (program != "python3").then(|| line(look, settings, Some(program)))
}

/// The line that makes the environment that is missing, where the project asks for anything.
pub(super) fn missing(look: &Look<'_>) -> Option<String> {
    if own(look).is_some() {
        return None;
    }
    let settings = Settings::read(look);
    if let Some(tool) = manager(look, &settings) {
        // The others keep theirs elsewhere unless told otherwise: only they could tell.
        let is_beside = look.has("uv.lock") || (tool.program == "pdm" && !look.has(".pdm-python"));
        return is_beside.then(|| tool.install.to_owned());
    }
    if look.programs.has("pytest") {
        return None;
    }
    let wants = Wants::read(look, &settings);
    (!wants.listed.is_empty()).then(|| line(look, &settings, None))
}

/// The environment that is there, in this folder or in one above, as the way up and its name.
fn own(look: &Look<'_>) -> Option<(String, &'static str)> {
    look.upwards().find_map(|(way, above)| {
        let found = FOLDERS.into_iter().find(|name| above.has(&format!("{name}/bin/python")))?;
        Some((way, found))
    })
}

/// What the folders of environments are called.
pub(super) const FOLDERS: [&str; 3] = [".venv", "venv", "env"];

/// The line that makes an environment with what the project asks for, and a tool if that does not name it.
fn line(look: &Look<'_>, settings: &Settings, program: Option<&str>) -> String {
    let wants = Wants::read(look, settings);
    let unnamed = program.filter(|program| !wants.listed.contains(program));
    let arguments: Vec<&str> = wants.arguments.iter().map(String::as_str).chain(unnamed).collect();
    // What comes with Python is often too old for groups.
    let newer =
        if arguments.contains(&"--group") { ".venv/bin/pip install -U pip && " } else { "" };
    format!("python3 -m venv .venv && {newer}.venv/bin/pip install {}", arguments.join(" "))
}

/// What a project wants to be installed.
#[derive(Default)]
struct Wants {
    /// For pip.
    arguments: Vec<String>,
    /// The packages, as they are written there.
    listed: String,
}

impl Wants {
    fn read(look: &Look<'_>, settings: &Settings) -> Self {
        Self::of_requirements(look).unwrap_or_else(|| Self::of_package(look, settings))
    }

    /// By the first file of requirements that names any.
    fn of_requirements(look: &Look<'_>) -> Option<Self> {
        let files = ["requirements-dev.txt", "dev-requirements.txt", "requirements.txt"];
        files.into_iter().find_map(|name| {
            let text = look.read(name)?;
            let lines = text.lines().map(str::trim);
            let packages = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            let listed = packages.collect::<Vec<_>>().join("\n");
            let arguments = vec!["-r".to_owned(), name.to_owned()];
            (!listed.is_empty()).then_some(Self { arguments, listed })
        })
    }

    /// By the package itself, its extra and its group for tests.
    fn of_package(look: &Look<'_>, settings: &Settings) -> Self {
        let pyproject: Table = settings.pyproject.parse().unwrap_or_default();
        let project = pyproject.get("project");
        let written = Setup::read(look);
        let mut wants = Self::default();
        let extras = project.and_then(|project| project.get("optional-dependencies"));
        if let Some((extra, packages)) = best(extras) {
            wants.arguments = vec!["-e".to_owned(), quoted(&format!(".[{extra}]"))];
            wants.listed = packages;
        } else if let Some(extra) = NAMES.iter().find(|name| written.has_extra(name)) {
            wants.arguments = vec!["-e".to_owned(), quoted(&format!(".[{extra}]"))];
        } else if project.is_some() || written.is_there() {
            wants.arguments = vec!["-e".to_owned(), ".".to_owned()];
        }
        let needed = strings(project.and_then(|project| project.get("dependencies")));
        wants.listed = [wants.listed, needed, written.requires()].concat();
        if let Some((group, packages)) = best(pyproject.get("dependency-groups")) {
            wants.arguments.extend(["--group".to_owned(), group.to_owned()]);
            wants.listed += &packages;
        }
        wants
    }
}

/// What a package says in `setup.py` and `setup.cfg`.
struct Setup {
    python: String,
    ini: String,
}

impl Setup {
    fn read(look: &Look<'_>) -> Self {
        let ini = look.read("setup.cfg").filter(|text| text.contains("[metadata]"));
        let python = look.read("setup.py").unwrap_or_default();
        Self { python, ini: ini.unwrap_or_default() }
    }

    fn is_there(&self) -> bool {
        !self.python.is_empty() || !self.ini.is_empty()
    }

    fn has_extra(&self, name: &str) -> bool {
        let (_, in_python) = self.python.split_once("extras_require").unwrap_or_default();
        let (_, in_ini) = self.ini.split_once("[options.extras_require]").unwrap_or_default();
        let section = in_ini.split("\n[").next().unwrap_or_default();
        in_python.contains(&format!("\"{name}\":"))
            || in_python.contains(&format!("'{name}':"))
            || section.lines().any(|line| line.split(['=', ' ']).next() == Some(name))
    }

    /// Both texts where packages are asked for.
    fn requires(&self) -> String {
        let both = format!("{}\n{}", self.python, self.ini);
        let asks = both.contains("install_requires") || both.contains("extras_require");
        if asks { both } else { String::new() }
    }
}

/// The first of the usual names in a table of lists, and its list.
fn best(table: Option<&Value>) -> Option<(&'static str, String)> {
    NAMES.into_iter().find_map(|name| Some((name, strings(Some(table?.get(name)?)))))
}

fn strings(list: Option<&Value>) -> String {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

/// What extras and groups with the tests' needs are called, best first.
const NAMES: [&str; 4] = ["test", "tests", "testing", "dev"];
