//! Deno: its tasks, or its own commands where tests are there.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;

use super::look::ends;
use super::{Look, Place, Proposal, as_gate};

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    const LEVELS: usize = 4;
    let file = look.first(&["deno.json", "deno.jsonc"])?;
    let settings = CstRootNode::parse(&look.read(file)?, &ParseOptions::default()).ok();
    let settings: Value = settings.and_then(|root| root.to_serde_value()).unwrap_or_default();
    let task = |name: &str| {
        let task = settings.get("tasks")?.get(name)?;
        task.as_str().or_else(|| task.get("command")?.as_str())
    };
    let mut proposals = Vec::new();
    for (role, name) in [("tests", "test"), ("lint", "lint"), ("typecheck", "check")] {
        if let Some(text) = task(name) {
            let why = format!("{file}, task `{name}`");
            let command = format!("deno task {name}");
            let found = as_gate(text, &Place::of(&look.dir));
            proposals.push(Proposal::of_script(role, &command, found, why, look));
        }
    }
    let is_test = |name: &str| {
        let is_script = ["ts", "tsx", "js", "mjs"].iter().any(|ending| ends(name, ending));
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        is_script && (stem.ends_with("_test") || ends(stem, "test") || stem == "test")
    };
    let has = |role| proposals.iter().any(|one: &Proposal| one.role == role);
    let (tests, lint) = (!has("tests"), !has("lint"));
    if tests && !look.files_within(LEVELS, is_test).is_empty() {
        proposals.push(Proposal::new("tests", "deno test", "test files of Deno's"));
    }
    if lint {
        proposals.push(Proposal::new("lint", "deno lint", file));
    }
    Some(proposals)
}
