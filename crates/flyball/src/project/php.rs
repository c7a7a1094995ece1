//! PHP: composer's scripts, or the tools in `vendor/bin` that are configured.

use serde_json::Value;

use super::{Look, Place, Proposal, as_gate};
use crate::config::quoted;

/// A tool: what it is for, the files of which one configures it, its program and what is said to it.
type Tool = (&'static str, &'static [&'static str], &'static str, &'static str);

const TOOLS: [Tool; 5] = [
    ("tests", &["tests/Pest.php"], "vendor/bin/pest", ""),
    ("tests", &["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"], "vendor/bin/phpunit", ""),
    (
        "lint",
        &["phpcs.xml", "phpcs.xml.dist", ".phpcs.xml", ".phpcs.xml.dist"],
        "vendor/bin/phpcs",
        "",
    ),
    (
        "typecheck",
        &["phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"],
        "vendor/bin/phpstan",
        " analyse --no-progress",
    ),
    (
        "format",
        &[".php-cs-fixer.php", ".php-cs-fixer.dist.php"],
        "vendor/bin/php-cs-fixer",
        " fix --dry-run --diff",
    ),
];

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let package: Value = serde_json::from_str(&look.read("composer.json")?).unwrap_or_default();
    let script = |name: &str| {
        let found = package.get("scripts")?.get(name)?;
        let lines = found.as_array().into_iter().flatten().chain([found]);
        Some(lines.filter_map(Value::as_str).collect::<Vec<_>>().join(" && "))
    };
    let mut proposals = Vec::new();
    for (role, name) in [("tests", "test"), ("lint", "lint")] {
        let Some(text) = script(name) else { continue };
        let command = format!("composer run {name}");
        // Composer puts the packages' programs on its scripts' path.
        let call = |line: &str| format!("PATH=\"$PWD/vendor/bin:$PATH\" sh -c {}", quoted(line));
        let found = as_gate(&text, &Place::of(&look.dir)).called(call);
        let why = format!("composer.json, script `{name}`");
        proposals.push(Proposal::of_script(role, &command, found, why, look));
    }
    for (role, files, program, rest) in TOOLS {
        let is_taken = proposals.iter().any(|one| one.role == role);
        if let Some(file) = look.first(files).filter(|_| !is_taken) {
            let found = Proposal::new(role, &format!("{program}{rest}"), file);
            proposals.push(found.with_remedy(Some("composer install".to_owned())));
        }
    }
    Some(proposals)
}

/// Whether packages are asked for and none is there.
pub(super) fn misses_vendor(look: &Look<'_>) -> bool {
    let text = look.read("composer.json").unwrap_or_default();
    let package: Value = serde_json::from_str(&text).unwrap_or_default();
    let asks = |key| {
        let packages = package.get(key).and_then(Value::as_object).into_iter().flatten();
        packages.map(|(name, _)| name).any(|name| name.contains('/'))
    };
    !look.has("vendor/autoload.php") && (asks("require") || asks("require-dev"))
}
