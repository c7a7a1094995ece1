//! Files runners read by themselves: settings that choose the tests, code that runs before them, and
//! modules that stand in a runner's place.

mod cargo;
mod node;
mod python;
mod tasks;

use flyball_core::gate::tamper::SETTINGS;
use toml::{Table, Value};

use super::{Context, Suspicion};

/// Whether a runner may read a file of this name.
pub(super) fn may_matter(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == crate::config::FILE_NAME
        || cargo::FILES.contains(&name)
        || python::may_matter(path)
        || node::may_matter(path)
        || tasks::may_matter(path)
        || OTHER.contains(&name)
        || in_client_folder(path)
}

/// Settings of runners without a reader of their own here: what is added in them is looked for.
const OTHER: [&str; 18] = [
    "CMakeLists.txt",
    "CTestCustom.cmake",
    "meson.build",
    ".pre-commit-config.yaml",
    "junit-platform.properties",
    "nextest.toml",
    "spec_helper.rb",
    "rails_helper.rb",
    "Rakefile",
    ".rspec",
    "phpunit.xml",
    "phpunit.xml.dist",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "gradle.properties",
    "maven.config",
    "jvm.config",
];
/// What switches tests off, or hides that they fail, in those.
const SWITCHES: [&str; 27] = [
    "WILL_FAIL",
    "DISABLED",
    "CTEST_CUSTOM_TESTS_IGNORE",
    "SKIP_RETURN_CODE",
    "should_fail",
    "filter_run_excluding",
    "exclusion_filter",
    "onlyIf",
    "excludeTestsMatching",
    "default-filter",
    "dryRun",
    "conditions.deactivate",
    "exclude:",
    "retries",
    "skipTests",
    "maven.test.skip",
    "testFailureIgnore",
    "test.failure.ignore",
    "ignoreFailures",
    "failIfNoTests",
    "--tag ~",
    "--exclude-pattern",
    "--pattern",
    "excludeTags",
    "excludeGroup",
    "<exclude>",
    "enabled = false",
];

/// Everything that changed in files runners read by themselves.
pub(super) fn changed(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for edit in of.edited {
        let name = edit.path.rsplit('/').next().unwrap_or(&edit.path);
        if edit.path == crate::config::FILE_NAME {
            found.extend(own_settings(edit));
        } else if OTHER.contains(&name) && !of.first.is_empty() {
            found.extend(switched(edit));
        } else if in_client_folder(&edit.path) {
            found.extend(unhooked(edit));
        }
    }
    if !of.first.is_empty() {
        found.extend(python::changed(of));
        found.extend(cargo::changed(of));
        found.extend(node::changed(of));
        found.extend(tasks::changed(of));
        found.extend(of.edited.iter().filter_map(chosen_by_rake));
    }
    found
}

/// flyball's own settings: the next run would obey them.
fn own_settings(edit: &super::Edited) -> Option<Suspicion> {
    let read = |text: &Option<String>| match text {
        None => Some(Table::new()),
        Some(text) => text.parse::<Table>().ok(),
    };
    let path = &edit.path;
    let message = match (read(&edit.before), read(&edit.after)) {
        (None, _) => return None,
        (Some(_), None) => format!("`{path}` can no longer be read"),
        (Some(before), Some(after)) => {
            let keys = changed_keys(&before, &after);
            let first = keys.first()?;
            let more = keys.len().saturating_sub(1);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("flyball's own settings were changed: `{first}`{more} in `{path}`")
        }
    };
    let mut found = Suspicion::of_file(path, "flyball", message).whole(edit);
    found.found.subjects.push(SETTINGS.to_owned());
    Some(found)
}

/// The full names of the settings that differ.
fn changed_keys(before: &Table, after: &Table) -> Vec<String> {
    let mut keys: Vec<&String> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    let mut found = Vec::new();
    for key in keys {
        match (before.get(key), after.get(key)) {
            (Some(Value::Table(one)), Some(Value::Table(other))) => {
                found
                    .extend(changed_keys(one, other).into_iter().map(|low| format!("{key}.{low}")));
            }
            (Some(Value::Table(one)), None) | (None, Some(Value::Table(one))) => {
                found.extend(one.keys().map(|low| format!("{key}.{low}")));
            }
            (one, other) if one != other => found.push(key.clone()),
            _ => {}
        }
    }
    found
}

/// A switch that was not there, in a build's own settings.
fn switched(edit: &super::Edited) -> Option<Suspicion> {
    let count = |text: &Option<String>, word: &str| {
        text.as_deref().map_or(0, |text| text.matches(word).count())
    };
    let added =
        SWITCHES.iter().find(|word| count(&edit.after, word) > count(&edit.before, word))?;
    let path = &edit.path;
    let message = format!("`{added}` was added to `{path}`, which decides which tests run");
    let mut found = Suspicion::of_file(path, added, message).whole(edit);
    if !matches!(*added, "testFailureIgnore" | "test.failure.ignore" | "ignoreFailures") {
        found.soften();
    }
    Some(found)
}

/// The patterns by which rake chooses tests.
fn chosen_by_rake(edit: &super::Edited) -> Option<Suspicion> {
    let name = edit.path.rsplit('/').next().unwrap_or(&edit.path);
    let lines = |text: &Option<String>| -> Vec<String> {
        let all = text.as_deref().unwrap_or("").lines().map(str::trim);
        let chooses = |line: &&str| {
            [".pattern =", ".test_files =", ".test_files=", ".pattern="]
                .iter()
                .any(|m| line.contains(m))
        };
        all.filter(chooses).map(str::to_owned).collect()
    };
    edit.before.as_ref().filter(|_| name == "Rakefile")?;
    let (was, is) = (lines(&edit.before), lines(&edit.after));
    let gone = was.iter().find(|line| !is.contains(line))?;
    let path = &edit.path;
    let message = format!("`{gone}` in `{path}`, which decides which tests run, was changed");
    let mut found = Suspicion::of_file(path, "pattern", message).whole(edit);
    found.soften();
    Some(found)
}

/// Folders in which agents' programs keep their hooks.
fn in_client_folder(path: &str) -> bool {
    let folders =
        [".claude/", ".codex/", ".gemini/", ".qwen/", ".cursor/", ".opencode/", ".factory/"];
    folders.iter().any(|folder| path.starts_with(folder))
}

/// flyball's hooks in the settings of an agent's program.
fn unhooked(edit: &super::Edited) -> Option<Suspicion> {
    let calls =
        |text: &Option<String>| text.as_deref().map_or(0, |text| text.matches("flyball").count());
    let path = &edit.path;
    (calls(&edit.after) < calls(&edit.before)).then(|| {
        let message = format!("flyball's hooks were taken out of `{path}`");
        Suspicion::of_file(path, "hooks", message).whole(edit)
    })
}
