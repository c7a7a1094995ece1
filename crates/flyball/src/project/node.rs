//! Node: the scripts of `package.json`, run by the package manager whose lock file is there.

use serde_json::Value;

use super::{AsGate, Look, Proposal, as_gate};

/// Lock files and the program that wrote them; npm when there is none.
const LOCK_FILES: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

/// What a script is for, and the names it goes by, best first.
const SCRIPTS: [(&str, &[&str]); 5] = [
    ("tests", &["test"]),
    ("lint", &["lint"]),
    ("build", &["build"]),
    ("typecheck", &["typecheck", "type-check", "check-types", "types"]),
    (
        "format",
        &["format:check", "check:format", "format-check", "prettier:check", "format", "prettier"],
    ),
];

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let package: Value = serde_json::from_str(&look.read("package.json")?).unwrap_or_default();
    let manager = manager(look, &package);
    let script = |name: &str| {
        let text = package.get("scripts")?.get(name)?.as_str()?.trim();
        let placeholder = name == "test" && text.contains("no test specified");
        (!text.is_empty() && !placeholder).then_some(text)
    };
    let proposals = SCRIPTS.iter().filter_map(|(role, names)| {
        let (name, text) = names.iter().find_map(|name| Some((*name, script(name)?)))?;
        // A script that formats is a check only where its form that checks is known.
        let is_check = text.contains("check") || as_gate(text, str::to_owned) != AsGate::Fits;
        let is_unfit = match name {
            "types" => !checks_types(text),
            _ => *role == "format" && !is_check,
        };
        if is_unfit {
            return None;
        }
        let command = format!("{manager} run {name}");
        let why = format!("package.json, script `{name}`");
        Some(Proposal::of_script(role, (&command, text), |line| call(manager, line), why))
    });
    Some(proposals.collect())
}

/// Whether a script checks types: one of this name may as well write them.
fn checks_types(text: &str) -> bool {
    let words = || text.split([' ', '&', ';', '|']);
    let writes = |word: &str| {
        let word = word.to_ascii_lowercase();
        word == "-d" || word.starts_with("--declaration") || word.contains("emitdeclaration")
    };
    let checkers = ["tsc", "vue-tsc", "tsgo", "tsd", "flow", "pyright", "attw"];
    words().any(|word| checkers.contains(&word) || word.contains("check")) && !words().any(writes)
}

/// A tool of the package itself, called as its scripts would call it.
fn call(manager: &str, line: &str) -> String {
    match manager {
        "npm" => format!("npm exec --no -- {line}"),
        "pnpm" => format!("pnpm exec {line}"),
        "bun" => format!("bun x {line}"),
        manager => format!("{manager} run {line}"),
    }
}

/// The package manager: by the lock file, else as `packageManager` says, in the nearest folder upwards
/// that has either; else npm.
pub(super) fn manager(look: &Look<'_>, package: &Value) -> &'static str {
    let found = look.upwards().enumerate().find_map(|(steps, (_, above))| {
        let read = || serde_json::from_str(&above.read("package.json")?).ok();
        let package = if steps == 0 { Some(package.clone()) } else { read() }.unwrap_or_default();
        let named = package.get("packageManager").and_then(Value::as_str).unwrap_or("");
        LOCK_FILES.iter().find(|(file, _)| above.has(file)).or_else(|| {
            LOCK_FILES.iter().find(|(_, program)| named.split('@').next() == Some(*program))
        })
    });
    found.map_or("npm", |(_, program)| program)
}
