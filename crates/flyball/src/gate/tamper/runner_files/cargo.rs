//! Rust: which targets are tested, which crates belong to the workspace, and what cargo itself is told.

use toml::{Table, Value};

use super::super::{Context, Edited, Suspicion};
use super::changed_keys;

pub(super) const FILES: [&str; 5] =
    ["Cargo.toml", "config.toml", "config", "rust-toolchain.toml", "rust-toolchain"];

/// Parts of cargo's settings that neither choose tests nor change what runs them.
const HARMLESS: [&str; 10] = [
    "registry",
    "registries",
    "net",
    "http",
    "term",
    "cargo-new",
    "install",
    "cache",
    "profile",
    "future-incompat-report",
];
/// Parts whose effect the number of tests shows.
const SHOWN_BY_TESTS: [&str; 5] =
    ["env.", "build.target-dir", "build.jobs", "build.rustflags", "build.incremental"];

pub(super) fn changed(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for edit in of.edited {
        let (dir, name) = edit.path.rsplit_once('/').unwrap_or(("", &edit.path));
        match name {
            "Cargo.toml" => found.extend(manifest(edit, of)),
            "config.toml" | "config" if dir == ".cargo" || dir.ends_with("/.cargo") => {
                found.extend(settings(edit));
            }
            "rust-toolchain.toml" | "rust-toolchain" => found.extend(toolchain(edit)),
            _ => {}
        }
    }
    found
}

#[expect(clippy::ref_option, reason = "as the field holds it")]
fn table(text: &Option<String>) -> Table {
    text.as_deref().and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn settings(edit: &Edited) -> Option<Suspicion> {
    let (before, after) = (table(&edit.before), table(&edit.after));
    let mut keys = changed_keys(&before, &after);
    keys.retain(|key| !HARMLESS.contains(&key.split('.').next().unwrap_or(key)));
    let first = keys.first()?;
    let path = &edit.path;
    let message = format!("`{first}` in `{path}`, which every cargo command obeys, was changed");
    let mut found = Suspicion::of_file(path, first, message).whole(edit);
    let soft = |key: &String| SHOWN_BY_TESTS.iter().any(|part| key.starts_with(part));
    if keys.iter().all(soft) {
        found.soften();
    }
    Some(found)
}

fn toolchain(edit: &Edited) -> Option<Suspicion> {
    let path_of = |text: &Option<String>| {
        table(text).get("toolchain").and_then(|part| part.get("path")).cloned()
    };
    let (before, after) = (path_of(&edit.before), path_of(&edit.after));
    (after.is_some() && before != after).then(|| {
        let message = format!("`{}` names a folder with another cargo", edit.path);
        Suspicion::of_file(&edit.path, "toolchain", message).whole(edit)
    })
}

fn manifest(edit: &Edited, of: &Context<'_>) -> Vec<Suspicion> {
    let (before, after) = (table(&edit.before), table(&edit.after));
    if edit.before.is_none() || edit.after.is_none() {
        return Vec::new();
    }
    let mut messages = switched_off(&before, &after);
    messages.extend(left_out(&before, &after, &edit.path, of));
    let suspicion = |(name, what): (String, String)| {
        let message = format!("{what} in `{}`", edit.path);
        Suspicion::of_file(&edit.path, &name, message).whole(edit)
    };
    messages.into_iter().map(suspicion).collect()
}

/// Targets that are no longer tested.
fn switched_off(before: &Table, after: &Table) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let package = |table: &Table, key: &str| {
        table.get("package").and_then(|part| part.get(key)).and_then(Value::as_bool)
    };
    if package(after, "autotests") == Some(false) && package(before, "autotests") != Some(false) {
        found.push(("autotests".to_owned(), "`autotests = false` was set".to_owned()));
    }
    let asserts = |table: &Table, profile: &str| {
        let profile = table.get("profile").and_then(|all| all.get(profile));
        profile.and_then(|one| one.get("debug-assertions")).and_then(Value::as_bool)
    };
    for profile in ["test", "dev"] {
        let (was, is) = (asserts(before, profile), asserts(after, profile));
        if is == Some(false) && was != is {
            let what = format!("`debug-assertions = false` was set for profile `{profile}`");
            found.push((format!("profile.{profile}"), what));
        }
    }
    let lib =
        |table: &Table| table.get("lib").and_then(Value::as_table).cloned().unwrap_or_default();
    found.extend(target_off("lib", &lib(before), &lib(after)));
    for kind in ["bin", "test", "example"] {
        let targets = |table: &Table| -> Vec<Table> {
            let list = table.get(kind).and_then(Value::as_array).cloned().unwrap_or_default();
            list.into_iter().filter_map(|one| one.as_table().cloned()).collect()
        };
        let name = |target: &Table| target.get("name").and_then(Value::as_str).map(str::to_owned);
        let old = targets(before);
        for target in targets(after) {
            // A target that is only named now was found by its file before.
            let known = old.iter().find(|one| name(one) == name(&target)).cloned();
            let shown = name(&target).unwrap_or_default();
            found.extend(target_off(&shown, &known.unwrap_or_default(), &target));
        }
    }
    found
}

fn target_off(name: &str, before: &Table, after: &Table) -> Option<(String, String)> {
    let off = |table: &Table, key: &str| table.get(key).and_then(Value::as_bool) == Some(false);
    for key in ["test", "doctest", "harness"] {
        if off(after, key) && !off(before, key) {
            return Some((
                format!("{name}.{key}"),
                format!("`{key} = false` was set for `{name}`"),
            ));
        }
    }
    let needs = |table: &Table| table.get("required-features").cloned();
    (needs(after).is_some() && needs(before) != needs(after))
        .then(|| (name.to_owned(), format!("`required-features` was set for `{name}`")))
}

/// Crates that are still there and no longer belong to the workspace.
fn left_out(before: &Table, after: &Table, path: &str, of: &Context<'_>) -> Vec<(String, String)> {
    let list = |table: &Table, key: &str| -> Option<Vec<String>> {
        let list = table.get("workspace")?.get(key)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    let get = |table: &Table, key: &str| list(table, key).unwrap_or_default();
    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let is_there = |member: &str| {
        let inside = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        of.files.after(&format!("{inside}{member}/Cargo.toml")).is_some()
    };
    let mut found = Vec::new();
    let now = get(after, "members");
    let covered = |member: &String| {
        let covers = |pattern: &String| {
            let folder = pattern.trim_end_matches('*').trim_end_matches('/');
            pattern == member
                || (pattern.ends_with('*') && member.starts_with(&format!("{folder}/")))
        };
        now.iter().any(covers)
    };
    for member in get(before, "members") {
        if !covered(&member) && (member.contains('*') || is_there(&member)) {
            found.push((member.clone(), format!("`{member}` was taken out of the workspace")));
        }
    }
    let excluded = get(before, "exclude");
    for member in get(after, "exclude") {
        if !excluded.contains(&member) && is_there(&member) {
            found.push((member.clone(), format!("`{member}` was excluded from the workspace")));
        }
    }
    let chosen = |table: &Table| list(table, "default-members");
    if let Some(now) = chosen(after)
        && chosen(before).is_none_or(|before| before.iter().any(|one| !now.contains(one)))
    {
        found
            .push(("default-members".to_owned(), "`default-members` leaves crates out".to_owned()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_that_are_no_longer_tested_are_found() {
        let cases = [
            ("[lib]\n", "[lib]\ntest = false\n", 1),
            ("", "[lib]\ndoctest = false\n", 1),
            ("[lib]\ntest = false\n", "[lib]\ntest = false\n", 0),
            ("", "[package]\nautotests = false\n", 1),
            ("", "[[test]]\nname = 'a'\nharness = false\n", 1),
            ("", "[[test]]\nname = 'a'\nrequired-features = ['x']\n", 1),
            ("", "[[bin]]\nname = 'a'\ntest = false\n", 1),
            ("", "[[bin]]\nname = 'a'\npath = 'x.rs'\n", 0),
            ("[dependencies]\n", "[dependencies]\nserde = '1'\n[dev-dependencies]\nx = '1'\n", 0),
        ];
        for (before, after, expected) in cases {
            let read = |text: &str| text.parse::<Table>().unwrap();
            assert_eq!(switched_off(&read(before), &read(after)).len(), expected, "{after}");
        }
    }

    #[test]
    fn what_cargo_is_told_is_compared_by_meaning() {
        let said = |before: &str, after: &str| {
            let path = ".cargo/config.toml".to_owned();
            let edit = Edited { path, before: Some(before.into()), after: Some(after.into()) };
            settings(&edit).map(|found| found.is_soft())
        };
        assert_eq!(said("", "[alias]\ntest = 'version'\n"), Some(false));
        assert_eq!(said("", "[target.'cfg(all())']\nrunner = 'true'\n"), Some(false));
        assert_eq!(said("", "[env]\nA = 'b'\n"), Some(true));
        assert_eq!(said("", "# nothing\n[registries.x]\nindex = 'y'\n"), None);
    }
}
