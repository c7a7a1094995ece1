//! `flyball doctor` in healthy and in sick repositories.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::home::Home;

const HEALTHY: &str = "[agent]\ncommand = [\"sh\", \"agent.sh\"]\n\
    [[gates.check]]\nname = \"tests\"\ncommand = \"test -f x\"\n";

fn healthy() -> Home {
    let home = Home::new();
    home.file("flyball.toml", HEALTHY);
    home
}

/// Level, text and remedy of what was found by one check.
fn found(home: &Home, check: &str) -> (String, String, String) {
    let said = home.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let one = findings.iter().find(|one| one["check"] == check);
    let one = one.unwrap_or_else(|| panic!("no {check} in {report:#}"));
    let text = |field: &str| one[field].as_str().unwrap_or("").to_owned();
    (text("level"), text("what"), text("remedy"))
}

#[test]
fn a_healthy_repository_has_nothing_to_put_right() {
    let home = healthy();
    let text = home.run(&["doctor"]).ok();
    for check in ["git", "repository", "config", "agent", "prompt", "tasks", "gate", "journal"] {
        let begins = format!("ok  {check}");
        assert!(text.lines().any(|line| line.starts_with(&begins)), "{check} in {text}");
    }
    assert!(text.ends_with("\nEverything a run needs is there.\n"), "{text}");
    assert!(text.contains("(flyball.toml:2)"), "who chose the agent: {text}");
    let report: Value = serde_json::from_str(&home.run(&["doctor", "--json"]).ok()).unwrap();
    assert_eq!(report["ok"], true);
}

#[test]
fn each_fault_is_named_with_its_remedy_and_exit_code() {
    type Case = (&'static str, &'static str, &'static str, i32, &'static str);
    let cases: [Case; 7] = [
        ("flyball.toml", "[limit]", "config", 78, "did you mean"),
        ("flyball.toml", "[agent]\ncommand = [\"no-such-agent\"]", "agent", 78, "agent.command"),
        ("flyball.toml", "[agent]\nname = \"claud\"", "agent", 78, "\"claude\""),
        (
            "flyball.toml",
            "[agent]\ncommand=[\"sh\"]\nwrapper=[\"no-such\"]",
            "agent",
            78,
            "wrapper",
        ),
        (".flyball/tasks.json", "{", "tasks", 65, "$EDITOR .flyball/tasks.json"),
        (".flyball/prompt.md", " ", "prompt", 66, "flyball init --force"),
        (
            "flyball.toml",
            "[agent]\ncommand=[\"sh\"]\n[[gates.check]]\nname=\"t\"\ncommand=[\"no-such\"]",
            "gate",
            78,
            "change gate `t`",
        ),
    ];
    for (file, text, check, code, remedy) in cases {
        let home = healthy();
        home.file(file, text);
        let (level, what, cure) = found(&home, check);
        assert_eq!(level, "fail", "{text}: {what}");
        assert!(cure.contains(remedy), "{text}: {cure}");
        let said = home.run(&["doctor"]);
        assert_eq!(said.code, code, "{text}: {}", said.stdout);
        assert!(said.stdout.contains(" to put right before a run can begin."), "{}", said.stdout);
    }
}

#[test]
fn what_only_needs_a_look_does_not_fail() {
    let home = healthy();
    home.begin_lost("dead");
    home.file(".flyball/active.json", "{\"pid\": 4194999}");
    home.file(".flyball/blocked.txt", "no database");
    home.file(".flyball/decide.txt", "Which?\n---\n");
    home.file("flyball.toml", &HEALTHY.replace("test -f x", "no-such-tool --all"));
    let text = home.run(&["doctor"]).ok();
    assert!(text.ends_with("\nA run can begin; 5 to look at.\n"), "{text}");
    let cases = [
        ("run", "flyball run --resume dead"),
        ("active", "flyball run clears it"),
        ("blocked", "flyball unblock"),
        ("question", "flyball answer"),
        ("gate", "install it, or change gate `tests`"),
    ];
    for (check, remedy) in cases {
        let (level, what, cure) = found(&home, check);
        assert_eq!(level, "warn", "{what}");
        assert!(cure.starts_with(remedy), "{cure}");
    }
}

#[test]
fn without_tasks_and_gates_nothing_could_be_verified() {
    let home = Home::new();
    home.file("flyball.toml", "[agent]\ncommand = [\"sh\"]\n");
    assert_eq!(found(&home, "gate").0, "warn");
    fs::remove_file(home.root().join(".flyball/tasks.json")).unwrap();
    assert_eq!(found(&home, "tasks").0, "warn");
    assert_eq!(found(&home, "gate").0, "fail");
    assert_eq!(home.run(&["doctor"]).code, 78);
}

#[test]
fn a_damaged_journal_is_found_and_left_as_it_is() {
    let home = healthy();
    fs::create_dir_all(home.state()).unwrap();
    let path = home.state().join("journal.sqlite");
    fs::write(&path, "not a journal at all").unwrap();
    let (level, what, _) = found(&home, "journal");
    assert_eq!(level, "fail");
    assert!(what.contains("it is no journal"), "{what}");
    assert_eq!(home.run(&["doctor"]).code, 74);
    assert_eq!(fs::read_to_string(path).unwrap(), "not a journal at all");
}

#[test]
fn outside_of_a_repository_the_rest_is_still_looked_at() {
    let home = healthy();
    let folder = tempfile::tempdir().unwrap();
    let said = home.run(&["-C", folder.path().to_str().unwrap(), "doctor"]);
    assert_eq!(said.code, 66, "{}", said.stdout);
    assert!(said.stdout.contains("is not in a git repository"), "{}", said.stdout);
    assert!(said.stdout.contains("journal"), "{}", said.stdout);
}

/// What is said of a repository's gates, line by line.
fn of_gates(home: &Home) -> Vec<String> {
    let said = home.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let gates = findings.filter(|one| one["check"] == "gate");
    gates
        .map(|one| {
            let text = |field: &str| one[field].as_str().unwrap_or("").to_owned();
            format!("{} {} -> {}", text("level"), text("what"), text("remedy"))
        })
        .collect()
}

#[test]
fn gates_that_were_written_down_are_judged_by_what_they_run() {
    let rows = [
        ("make lint", "warn g: make lint: it changes files", "write `black --check .` instead"),
        ("npm run lint", "it changes files", "write `npm exec -c 'eslint .'` instead"),
        ("cd web && npm t", "never ends", "write `cd web && npm exec -c jest` instead"),
        ("sh -c 'jest --watch'", "never ends", "write `sh -c jest` instead"),
        ("echo fine", "it is green whatever happens", "a command that checks once"),
    ];
    for (command, what, remedy) in rows {
        let home = healthy();
        home.file("Makefile", "lint:\n\tblack .\n");
        home.file("package.json", r#"{"scripts":{"lint":"eslint --fix ."}}"#);
        home.file("web/package.json", r#"{"scripts":{"test":"jest --watch"}}"#);
        home.file(
            "flyball.toml",
            &format!("[[gates.check]]\nname = \"g\"\ncommand = \"\"\"{command}\"\"\"\n"),
        );
        let said = of_gates(&home);
        let fits = |line: &String| line.contains(what) && line.contains(remedy);
        assert!(said.iter().any(fits), "{command}: {said:?}");
    }
}

#[test]
fn a_gate_s_folder_and_programs_are_looked_for_where_it_runs() {
    let rows: [(&str, &str, &[&str]); 11] = [
        (
            "\"./plain.sh\"",
            "cwd = \".\"",
            &["warn g: `./plain.sh` is not executable -> chmod +x plain.sh"],
        ),
        ("\"npm test\"", "", &["ok g: npm test"]),
        ("[\"./t.sh\"]", "cwd = \"server\"", &["ok g: ./t.sh -> "]),
        ("\"./t.sh\"", "cwd = \"server\"", &["ok g: ./t.sh -> "]),
        ("\"cd server && ./t.sh\"", "cwd = \"\"", &["ok g: cd server && ./t.sh -> "]),
        ("\"cd server && ./no\"", "", &["warn g: there is no program `server/./no` -> install it"]),
        ("\"true-ish\"", "cwd = \"nope\"", &["fail g: there is no folder `nope` to run it in"]),
        ("\"true-ish\"", "cwd = \"server/t.sh\"", &["fail g: there is no folder `server/t.sh`"]),
        ("\"test -f x\"", "cwd = \"out\"", &["warn g: its folder `out` is a link out of"]),
        (
            "\"test -f x\"",
            "paths = [\"[\"]",
            &["warn g: there is no `[`, which its `paths` name", "ok g: test -f x"],
        ),
        (
            "\"no-such-tsc --watch\"",
            "",
            &["warn g: there is no program `no-such-tsc`", "warn g: no-such-tsc --watch: it waits"],
        ),
    ];
    for (command, setting, expected) in rows {
        let home = healthy();
        home.file("server/t.sh", "#!/bin/sh\n");
        home.file("plain.sh", "#!/bin/sh\n");
        // With CI set, as it is in every gate, this ends by itself.
        home.file("package.json", r#"{"scripts":{"test":"vitest"}}"#);
        let script = home.root().join("server/t.sh");
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), home.root().join("out")).unwrap();
        let toml = format!("[[gates.check]]\nname = \"g\"\ncommand = {command}\n{setting}\n");
        home.file("flyball.toml", &toml);
        let said = of_gates(&home);
        assert_eq!(said.len(), expected.len(), "{toml}: {said:?}");
        for (line, begin) in said.iter().zip(expected) {
            assert!(line.starts_with(begin), "{toml}: {said:?}");
        }
    }
}

#[test]
fn what_would_fit_and_cannot_run_is_told_until_somebody_has_decided() {
    let home = healthy();
    home.file("package.json", "{\"scripts\": {\"test\": \"x\",}}");
    home.file("flyball.toml", "[[gates.check]]\nname = \"own\"\ncommand = \"test -f x\"\n");
    let said = of_gates(&home);
    let broken = "warn npm run test would fit (detected by package.json), but package.json cannot \
                  be read: trailing comma at line 1 column 26 -> put package.json right";
    assert!(said.iter().any(|line| line == broken), "{said:?}");
    home.file("flyball.toml", "[[gates.check]]\nname = \"tests\"\ncommand = \"test -f x\"\n");
    assert_eq!(of_gates(&home), ["ok tests: test -f x -> "]);
}
