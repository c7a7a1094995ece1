//! Go: the go tool, and golangci-lint where it is configured.

use super::{Look, Proposal};

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    if !look.has("go.mod") {
        return None;
    }
    let configured = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"]
        .into_iter()
        .find(|name| look.has(name));
    let lint = match configured {
        Some(name) => Proposal::new("lint", "golangci-lint run", name),
        None => Proposal::new("lint", "go vet ./...", "go.mod"),
    };
    Some(vec![
        Proposal::new("tests", "go test ./...", "go.mod"),
        lint,
        Proposal::new("build", "go build ./...", "go.mod"),
    ])
}
