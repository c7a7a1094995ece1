//! What a project's gates need and what is not installed yet: `node_modules`, a virtual environment,
//! packages of PHP and Elixir.

use serde_json::Value;

use super::{Look, environment, node, php, workspace};

/// Something the gates need, and the line that brings it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotInstalled {
    /// What is not there.
    pub what: String,
    /// What to type, in the repository's root.
    pub remedy: String,
}

/// What the folder's gates would miss, as `(what, line to type in that folder)`.
pub(super) fn missing(look: &Look<'_>) -> Vec<(&'static str, String)> {
    let python = environment::missing(look).map(|line| ("a Python environment", line));
    let mix = mix_dependencies(look).then(|| ("deps", "mix deps.get".to_owned()));
    let vendor = php::misses_vendor(look).then(|| ("vendor", "composer install".to_owned()));
    node_modules(look).into_iter().chain(python).chain(vendor).chain(mix).collect()
}

fn node_modules(look: &Look<'_>) -> Option<(&'static str, String)> {
    let package: Value = serde_json::from_str(&look.read("package.json")?).ok()?;
    // Node looks for packages in every folder upwards.
    let installed = |above: &Look<'_>| {
        [".pnp.cjs", ".pnp.js", "node_modules"].iter().any(|name| above.has(name))
    };
    if look.upwards().any(|(_, above)| installed(&above)) || is_member(look) {
        return None;
    }
    let of_members = || {
        let read = |member: &String| look.read(&format!("{member}/package.json"));
        let members = workspace::members(look);
        let mut packages = members.iter().filter_map(read);
        packages.any(|text| needs_any(&serde_json::from_str(&text).unwrap_or_default()))
    };
    if !needs_any(&package) && !of_members() {
        return None;
    }
    Some(("node_modules", node_line(look, &package).to_owned()))
}

/// The line that installs what a package asks for.
pub(super) fn node_line(look: &Look<'_>, package: &Value) -> &'static str {
    match (node::manager(look, package), look.has("package-lock.json")) {
        ("pnpm", _) => "pnpm install --frozen-lockfile",
        ("yarn", _) if look.upwards().any(|(_, above)| above.has(".yarnrc.yml")) => {
            "yarn install --immutable"
        }
        ("yarn", _) => "yarn install --frozen-lockfile",
        ("bun", _) => "bun install --frozen-lockfile",
        (_, true) => "npm ci",
        (_, false) => "npm install",
    }
}

/// Whether a package asks for others.
fn needs_any(package: &Value) -> bool {
    let asks = |key| package.get(key).and_then(Value::as_object).is_some_and(|all| !all.is_empty());
    asks("dependencies") || asks("devDependencies")
}

/// Whether a package is one of a workspace further up, where everything is installed from.
fn is_member(look: &Look<'_>) -> bool {
    look.upwards().skip(1).any(|(_, above)| {
        let member = look.dir.strip_prefix(&above.dir).ok().and_then(|path| path.to_str());
        member.is_some_and(|member| workspace::members(&above).iter().any(|one| one == member))
    })
}

/// Whether packages are asked for in `mix.exs` and none is there.
fn mix_dependencies(look: &Look<'_>) -> bool {
    let asks = |text: String| {
        let (_, list) = text.split_once("defp deps").unwrap_or_default();
        list.lines().map(str::trim).any(|line| line.starts_with("{:") || line.starts_with("[{:"))
    };
    !look.has("deps") && look.read("mix.exs").is_some_and(asks)
}
