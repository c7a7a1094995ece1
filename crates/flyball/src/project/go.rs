//! Go: the go tool, and golangci-lint where it is configured; in a workspace, over all its modules.

use super::{Look, Proposal};
use crate::config::quoted;

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let workspace = look.read("go.work").map(|text| modules(&text)).unwrap_or_default();
    let (from, packages) = if !workspace.is_empty() {
        ("go.work", workspace.join(" "))
    } else if look.has("go.mod") {
        ("go.mod", "./...".to_owned())
    } else {
        return None;
    };
    // A module that a workspace further up leaves out is none of its own to the go tool.
    let is_left_out =
        from == "go.mod" && look.upwards().skip(1).any(|(_, above)| above.has("go.work"));
    let own = if is_left_out { "GOWORK=off " } else { "" };
    let configured = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"]
        .into_iter()
        .find(|name| look.has(name));
    let lint = match configured {
        Some(name) => {
            let lint = Proposal::new("lint", &format!("{own}golangci-lint run"), name);
            lint.with_program("golangci-lint")
        }
        None => Proposal::new("lint", &format!("{own}go vet {packages}"), from).with_program("go"),
    };
    let go = |role, verb: &str| {
        Proposal::new(role, &format!("{own}go {verb} {packages}"), from).with_program("go")
    };
    Some(vec![go("tests", "test"), lint, go("build", "build")])
}

/// The packages of the modules a `go.work` uses: `./...` alone would be those of one module.
pub(super) fn modules(text: &str) -> Vec<String> {
    let mut within = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let module = match line.strip_prefix("use") {
            Some(rest) if rest.trim() == "(" => {
                within = true;
                continue;
            }
            Some(rest) if rest.starts_with([' ', '\t']) => rest.trim(),
            _ if line == ")" => {
                within = false;
                continue;
            }
            _ if within => line,
            _ => continue,
        };
        let module = module.trim_matches('"').trim_end_matches('/');
        if !module.is_empty() {
            found.push(packages_of(module));
        }
    }
    found
}

/// All packages of the module in a folder.
pub(super) fn packages_of(module: &str) -> String {
    let dotted = module.starts_with('.') || module.starts_with('/');
    let shown = if dotted { module.to_owned() } else { format!("./{module}") };
    quoted(&format!("{shown}/..."))
}
