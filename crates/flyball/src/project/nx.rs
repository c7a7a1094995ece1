//! Nx: what its projects have targets for and the root has no script for.

use serde_json::Value;

use super::{Look, Proposal, install, node};

/// What a target is for, its name, and the plugins that bring it without its being written down.
type Target = (&'static str, &'static str, &'static [&'static str]);

const TARGETS: [Target; 4] = [
    ("tests", "test", &["@nx/jest", "@nx/vite", "@nx/vitest"]),
    ("lint", "lint", &["@nx/eslint"]),
    ("build", "build", &["@nx/vite", "@nx/webpack", "@nx/rollup"]),
    ("typecheck", "typecheck", &["@nx/js/typescript"]),
];

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    const LEVELS: usize = 4;
    let settings: Value = serde_json::from_str(&look.read("nx.json")?).unwrap_or_default();
    let package = look.read("package.json").unwrap_or_default();
    let package: Value = serde_json::from_str(&package).unwrap_or_default();
    let plugins = settings.get("plugins").map(Value::to_string).unwrap_or_default();
    let at_root: Vec<&str> =
        node::detect(look).unwrap_or_default().iter().map(|one| one.role).collect();
    let files = look.files_within(LEVELS, |name| name == "project.json");
    let read = |file: &String| serde_json::from_str::<Value>(&look.read(file)?).ok();
    let projects: Vec<Value> = files.iter().filter_map(read).collect();
    let has_target = |name: &str| {
        let mut targets = projects.iter().filter_map(|project| project.get("targets"));
        targets.any(|targets| targets.get(name).is_some())
    };
    let open = TARGETS.iter().filter(|(role, name, bring)| {
        let inferred = || bring.iter().any(|plugin| plugins.contains(&format!("\"{plugin}")));
        !at_root.contains(role) && (has_target(name) || inferred())
    });
    let install = install::node_line(look, &package).to_owned();
    let proposals = open.map(|(role, name, _)| {
        let command = format!("node_modules/.bin/nx run-many -t {name}");
        let why = format!("nx.json, target `{name}`");
        Proposal::new(role, &command, why).with_remedy(Some(install.clone()))
    });
    Some(proposals.collect())
}
