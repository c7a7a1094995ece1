//! Task runners' own files: what a task that a gate runs by name does, and the tests that builds list
//! one by one.

use serde_json::Value;

use super::super::{Context, Edited, Suspicion};

/// Files with tasks in them, and where in them: programs that read them, the key, how it is written.
const TASKS: [(&str, &[&str], &[&str]); 5] = [
    ("deno.json", &["deno"], &["tasks"]),
    ("deno.jsonc", &["deno"], &["tasks"]),
    ("composer.json", &["composer"], &["scripts"]),
    ("pyproject.toml", &["poe"], &["tool", "poe", "tasks"]),
    ("pyproject.toml", &["pdm"], &["tool", "pdm", "scripts"]),
];
/// Files that list tests, or checks, one by one, with what begins such an entry: fewer are weaker.
const LISTS: [(&str, &[&str]); 4] = [
    (
        "CMakeLists.txt",
        &["add_test(", "gtest_discover_tests(", "catch_discover_tests(", "enable_testing("],
    ),
    ("meson.build", &["test("]),
    (".pre-commit-config.yaml", &["- id:", "entry:"]),
    ("lefthook.yml", &["run:"]),
];
/// Programs that run a script of the same name in every package.
const EVERYWHERE: [&str; 9] = [
    "turbo",
    "lerna",
    "nx ",
    "--workspaces",
    "pnpm -r",
    "--recursive",
    "workspaces foreach",
    "rush ",
    "-ws",
];
/// Scripts that check.
const CHECKING: [&str; 6] = ["test", "lint", "check", "typecheck", "type-check", "build"];

/// A task's name and what it does.
type Task = (String, String);

pub(super) fn may_matter(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    TASKS.iter().any(|(file, ..)| *file == name)
        || LISTS.iter().any(|(file, _)| *file == name)
        || is_taskfile(name)
        || name == "mix.exs"
}

fn is_taskfile(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let ending = lower.rsplit('.').next().unwrap_or("");
    lower.starts_with("taskfile.") && ["yml", "yaml"].contains(&ending)
}

pub(super) fn changed(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for edit in of.edited {
        let Some(before) = edit.before.as_deref() else { continue };
        let after = edit.after.as_deref().unwrap_or("");
        let name = edit.path.rsplit('/').next().unwrap_or(&edit.path);
        for (_, programs, key) in TASKS.iter().filter(|(file, ..)| *file == name) {
            if of.reach.mentions(programs) {
                found.extend(task(of, edit, (&tasks(before, name, key), &tasks(after, name, key))));
            }
        }
        if name == "pyproject.toml" && of.reach.mentions(&["hatch"]) {
            found.extend(task(of, edit, (&hatch(before), &hatch(after))));
        }
        if is_taskfile(name) && of.reach.mentions(&["task "]) {
            found.extend(task(of, edit, (&blocks(before), &blocks(after))));
        }
        if name == "mix.exs" && of.reach.mentions(&["mix "]) {
            let of_test = |text: &str| text.matches("test:").count();
            if of_test(after) > of_test(before) {
                found.push(said(edit, "test"));
            }
        }
        if name == "package.json" && of.reach.mentions(&EVERYWHERE) {
            let scripts = |text: &str| tasks(text, name, &["scripts"]);
            let (was, is) = (scripts(before), scripts(after));
            let weaker = was.iter().find(|(name, _)| {
                let now = is.iter().find(|(other, _)| other == name);
                CHECKING.contains(&name.as_str())
                    && now != was.iter().find(|(other, _)| other == name)
            });
            found.extend(weaker.map(|(name, _)| said(edit, name)));
        }
        if let Some((_, marks)) = LISTS.iter().find(|(file, _)| *file == name) {
            let count = |text: &str| marks.iter().map(|mark| entries(text, mark)).sum::<usize>();
            let (was, is) = (count(before), count(after));
            if is < was {
                let path = &edit.path;
                let message = format!("`{path}` lists fewer checks than before: {was} became {is}");
                found.push(Suspicion::of_file(path, "list", message).whole(edit));
            }
        }
    }
    found
}

fn entries(text: &str, mark: &str) -> usize {
    text.lines().filter(|line| line.trim_start().starts_with(mark)).count()
}

/// A task that was there, that a gate names, and that is another one now.
fn task(of: &Context<'_>, edit: &Edited, (was, is): (&[Task], &[Task])) -> Option<Suspicion> {
    let named = was.iter().filter(|(name, _)| of.reach.mentions(&[name]));
    let differs = |(name, body): &&(String, String)| {
        is.iter().find(|(other, _)| other == name).is_none_or(|(_, now)| now != body)
    };
    named.into_iter().find(differs).map(|(name, _)| said(edit, name))
}

fn said(edit: &Edited, name: &str) -> Suspicion {
    let path = &edit.path;
    let message = format!("`{name}` in `{path}`, which a gate runs by that name, was changed");
    Suspicion::of_file(path, name, message).whole(edit)
}

/// The entries below a key, each as text.
fn tasks(text: &str, name: &str, key: &[&str]) -> Vec<(String, String)> {
    let value: Value = if name.ends_with("toml") {
        let table = text.parse::<toml::Table>().ok();
        table.and_then(|table| serde_json::to_value(table).ok()).unwrap_or_default()
    } else {
        serde_json::from_str(text).unwrap_or_default()
    };
    let inside = key.iter().try_fold(&value, |value, key| value.get(key));
    let all = inside.and_then(Value::as_object).into_iter().flatten();
    all.map(|(name, body)| (name.clone(), body.to_string())).collect()
}

/// The scripts of every environment.
fn hatch(text: &str) -> Vec<(String, String)> {
    let environments = tasks(text, "pyproject.toml", &["tool", "hatch", "envs"]);
    let scripts = environments.iter().flat_map(|(name, body)| {
        let body = serde_json::from_str::<Value>(body).unwrap_or_default();
        let scripts = body.get("scripts").and_then(Value::as_object).cloned().unwrap_or_default();
        scripts.into_iter().map(move |(script, body)| (script, format!("{name} {body}")))
    });
    scripts.collect()
}

/// The blocks below `tasks:` of a text in YAML, by what they begin with.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut depth = None;
    for line in text.lines().skip_while(|line| line.trim_end() != "tasks:").skip(1) {
        let bare = line.trim();
        let indent = line.len().saturating_sub(line.trim_start().len());
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        if indent == 0 {
            break;
        }
        let own = *depth.get_or_insert(indent);
        match (indent == own, found.last_mut()) {
            (true, _) => {
                let (name, rest) = bare.split_once(':').unwrap_or((bare, ""));
                found.push((name.trim_matches(['"', '\'']).to_owned(), rest.trim().to_owned()));
            }
            (false, Some((_, body))) => {
                body.push('\n');
                body.push_str(bare);
            }
            (false, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::of_plans;
    use super::*;
    use crate::config::CommandLine;
    use crate::gate::plan::{Gate, GatePlan};

    fn said(gate: &str, path: &str, before: &str, after: &str) -> bool {
        let gate = Gate::new(
            "tests",
            CommandLine::Shell(gate.to_owned()),
            flyball_core::Millis::from_secs(60),
        );
        let plan = GatePlan::of(vec![gate]).unwrap();
        let (before, after) = (Some(before.to_owned()), Some(after.to_owned()));
        !of_plans(&[Edited { path: path.to_owned(), before, after }], &plan, &plan).is_empty()
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn a_task_that_a_gate_names_may_not_become_another_one() {
        let task = "version: '3'\ntasks:\n  test:\n    cmds:\n      - go test ./...\n  fmt:\n    cmds:\n      - gofmt\n";
        for (gate, path, before, from, to) in [
            (
                "deno task test",
                "deno.json",
                r#"{"tasks":{"test":"deno test","dev":"x"}}"#,
                "deno test",
                "true",
            ),
            (
                "composer test",
                "composer.json",
                r#"{"scripts":{"test":"phpunit","x":"dev"}}"#,
                "phpunit",
                "true",
            ),
            ("task test", "Taskfile.yml", task, "go test ./...", "true"),
            (
                "poe test",
                "pyproject.toml",
                "[tool.poe.tasks]\ntest = \"pytest\"\n",
                "pytest",
                "true",
            ),
            (
                "pdm run test",
                "pyproject.toml",
                "[tool.pdm.scripts]\ntest = \"pytest\"\n",
                "pytest",
                "true",
            ),
            (
                "hatch run test",
                "pyproject.toml",
                "[tool.hatch.envs.default.scripts]\ntest = \"pytest\"\n",
                "pytest",
                "true",
            ),
            (
                "turbo run test",
                "packages/a/package.json",
                r#"{"scripts":{"test":"jest"}}"#,
                "jest",
                "true",
            ),
            (
                "cmake --build . && ctest",
                "CMakeLists.txt",
                "enable_testing()\nadd_test(NAME t COMMAND t)\n",
                "add_test(NAME t COMMAND t)\n",
                "",
            ),
            ("meson test", "meson.build", "test('t', t)\n", "test('t', t)\n", ""),
            (
                "pre-commit run -a",
                ".pre-commit-config.yaml",
                "repos:\n  - hooks:\n    - id: tests\n      entry: sh t.sh\n",
                "    - id: tests\n      entry: sh t.sh\n",
                "",
            ),
        ] {
            assert!(before.contains(from), "{path}");
            assert!(said(gate, path, before, &before.replacen(from, to, 1)), "{gate}");
            assert!(!said(gate, path, before, before), "{gate}");
        }
        // Others of the same file are nobody's business here.
        assert!(!said("task test", "Taskfile.yml", task, &task.replace("gofmt", "gofumpt")));
        let deno = r#"{"tasks":{"test":"deno test","dev":"x"}}"#;
        assert!(!said("deno task test", "deno.json", deno, &deno.replace("\"x\"", "\"y\"")));
        assert!(!said(
            "make",
            "CMakeLists.txt",
            "enable_testing()\n",
            "enable_testing()\nadd_test(NAME t COMMAND t)\n"
        ));
    }
}
