//! What a project's gates need and what is not installed yet: `node_modules`, a virtual environment.

use serde_json::Value;

use super::{Look, node};

/// Something the gates need, and the line that brings it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotInstalled {
    /// What is not there.
    pub what: String,
    /// What to type, in the repository's root.
    pub remedy: String,
}

/// What the folder's gates would miss, as `(what, line to type in that folder)`.
pub(super) fn missing(look: &Look<'_>) -> Vec<(&'static str, &'static str)> {
    node_modules(look).into_iter().chain(environment(look)).collect()
}

fn node_modules(look: &Look<'_>) -> Option<(&'static str, &'static str)> {
    let package: Value = serde_json::from_str(&look.read("package.json")?).ok()?;
    let needs =
        |key| package.get(key).and_then(Value::as_object).is_some_and(|all| !all.is_empty());
    let installed = [".pnp.cjs", ".pnp.js", "node_modules"].iter().any(|name| look.has(name))
        || look.dir.parent().is_some_and(|above| above.join("node_modules").is_dir());
    if installed || !(needs("dependencies") || needs("devDependencies")) {
        return None;
    }
    let line = match (node::manager(look, &package), look.has("package-lock.json")) {
        ("pnpm", _) => "pnpm install --frozen-lockfile",
        ("yarn", _) if look.has(".yarnrc.yml") => "yarn install --immutable",
        ("yarn", _) => "yarn install --frozen-lockfile",
        ("bun", _) => "bun install --frozen-lockfile",
        (_, true) => "npm ci",
        (_, false) => "npm install",
    };
    Some(("node_modules", line))
}

fn environment(look: &Look<'_>) -> Option<(&'static str, &'static str)> {
    const WHAT: &str = "a Python environment";
    if [".venv", "venv", "env"].iter().any(|name| look.has(&format!("{name}/bin/python"))) {
        return None;
    }
    // Poetry, PDM and Pipenv keep theirs elsewhere unless told otherwise: only they could tell.
    if look.has("uv.lock") {
        return Some((WHAT, "uv sync"));
    }
    let managed = ["poetry.lock", "pdm.lock", "Pipfile.lock"].iter().any(|name| look.has(name));
    if managed || look.programs.has("pytest") {
        return None;
    }
    let wanted = ["requirements-dev.txt", "dev-requirements.txt", "requirements.txt"];
    let file =
        wanted.into_iter().find(|name| look.read(name).is_some_and(|text| holds_any(&text)))?;
    Some((
        WHAT,
        match file {
            "requirements-dev.txt" => {
                "python3 -m venv .venv && .venv/bin/pip install -r requirements-dev.txt"
            }
            "dev-requirements.txt" => {
                "python3 -m venv .venv && .venv/bin/pip install -r dev-requirements.txt"
            }
            _ => "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
        },
    ))
}

/// Whether a requirements file asks for anything.
fn holds_any(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#'))
}
