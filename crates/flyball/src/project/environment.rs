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
        let names = [".venv", "venv", "env"];
        Some((way, names.into_iter().find(|name| above.has(&format!("{name}/bin/python")))?))
    })
}

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
        let files = ["requirements-dev.txt", "dev-requirements.txt", "requirements.txt"];
        let asked = |text: String| {
            let lines = text.lines().map(str::trim);
            let packages = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            packages.collect::<Vec<_>>().join("\n")
        };
        let listed = |name: &str| look.read(name).map(asked).filter(|text| !text.is_empty());
        if let Some((name, listed)) = files.iter().find_map(|name| Some((name, listed(name)?))) {
            return Self { arguments: vec!["-r".to_owned(), quoted(name)], listed };
        }
        let pyproject: Table = settings.pyproject.parse().unwrap_or_default();
        let project = pyproject.get("project").and_then(Value::as_table);
        let strings = |value: Option<&Value>| {
            let list = value.and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
        };
        let setup = look.read("setup.py").unwrap_or_default();
        let ini = look.read("setup.cfg").filter(|text| text.contains("[metadata]"));
        let ini = ini.unwrap_or_default();
        if project.is_none() && setup.is_empty() && ini.is_empty() {
            return Self::default();
        }
        let mut listed = strings(project.and_then(|project| project.get("dependencies")));
        if setup.contains("install_requires") || ini.contains("install_requires") {
            listed.push_str(&setup);
            listed.push_str(&ini);
        }
        let extras = project.and_then(|project| project.get("optional-dependencies"));
        let groups = pyproject.get("dependency-groups");
        let of = |table: Option<&Value>| {
            NAMES.iter().find(|name| table.is_some_and(|table| table.get(name).is_some())).copied()
        };
        let in_setup = |name: &&&str| {
            let (_, rest) = setup.split_once("extras_require").unwrap_or_default();
            let (_, section) = ini.split_once("[options.extras_require]").unwrap_or_default();
            let section = section.split("\n[").next().unwrap_or_default();
            rest.contains(&format!("\"{name}\":"))
                || rest.contains(&format!("'{name}':"))
                || section.lines().any(|line| line.split(['=', ' ']).next() == Some(**name))
        };
        let mut arguments = vec!["-e".to_owned()];
        if let Some(extra) = of(extras) {
            arguments.push(quoted(&format!(".[{extra}]")));
            listed.push_str(&strings(extras.and_then(|extras| extras.get(extra))));
        } else if let Some(extra) = NAMES.iter().find(in_setup) {
            arguments.push(quoted(&format!(".[{extra}]")));
            listed.push_str(&setup);
            listed.push_str(&ini);
        } else {
            arguments.push(".".to_owned());
        }
        if let Some(group) = of(groups) {
            arguments.extend(["--group".to_owned(), group.to_owned()]);
            listed.push_str(&strings(groups.and_then(|groups| groups.get(group))));
        }
        Self { arguments, listed }
    }
}

/// What extras and groups with the tests' needs are called, best first.
const NAMES: [&str; 4] = ["test", "tests", "testing", "dev"];
