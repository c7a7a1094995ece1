//! `flyball inspect`: transcripts of all kinds, judged by the program as a person calls it.

use std::fs;
use std::path::Path;

use flyball_core::hindsight::{Guards, Table};
use flyball_core::recording::Recording;
use flyball_testkit::detect::{firings, recordings};
use serde_json::{Value, json};

use crate::pty::Terminal;
use crate::scenario::{Ran, Scenario};

/// What an agent that speaks flyball's protocol printed: the same file read again and again, in turns
/// that cost something, between work that is new.
fn looping(times: usize) -> String {
    let mut lines = vec![json!({ "type": "text", "text": "I will look at the cart." })];
    let mut say = |call: &str, id: usize, tool: &str, args: Value, output: String| {
        lines.push(
            json!({ "type": "usage", "input_tokens": 1000, "output_tokens": 50, "cost_usd": 0.01 }),
        );
        lines.push(
            json!({ "type": "call", "id": format!("{call}{id}"), "tool": tool, "args": args }),
        );
        lines.push(json!({ "type": "result", "id": format!("{call}{id}"), "output": output, "error": null }));
    };
    for id in 0..3 {
        say(
            "a",
            id,
            "read",
            json!({ "path": format!("src/{id}.rs") }),
            format!("the text of file {id}"),
        );
    }
    for id in 0..times {
        say(
            "b",
            id,
            "read",
            json!({ "path": "src/cart.rs" }),
            "fn total() -> u64 { 0 }".to_owned(),
        );
    }
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

/// It ended with this code.
#[track_caller]
fn ended(ran: Ran, code: i32) -> Ran {
    assert_eq!(ran.code, code, "{}", ran.stderr);
    ran
}

fn inspect(scenario: &Scenario, arguments: &[&str]) -> Ran {
    let all: Vec<&str> = ["inspect"].iter().chain(arguments).copied().collect();
    scenario.flyball(&all)
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
}

/// Some of the recorded runs, as a file.
fn recorded(scenario: &Scenario, nth: usize) -> Vec<Recording> {
    let runs = recordings(nth).unwrap();
    let lines: Vec<String> = runs.iter().map(|run| serde_json::to_string(run).unwrap()).collect();
    scenario.write("runs.jsonl", &(lines.join("\n") + "\n"));
    runs
}

#[test]
fn a_session_that_went_round_is_told_with_its_waste() {
    let scenario = Scenario::no_repository();
    scenario.write("session.jsonl", &looping(8));
    let ran = ended(inspect(&scenario, &["session.jsonl"]), 0);
    for part in [
        "1 session",
        "11 calls",
        "$0.11",
        "Guards would have nudged in 1, refused in 1, halted in 1 (1 loop)",
        "same call, same answer",
        "session.jsonl --session",
        "Waste is what was spent",
    ] {
        assert!(ran.stdout.contains(part), "{part}\nin\n{}", ran.stdout);
    }
    let json = json_of(&inspect(&scenario, &["session.jsonl", "--json"]));
    let session = &json["worst"][0];
    // The third of the same calls is the sixth: told from 0, as recordings are.
    assert_eq!(session["judged"]["firsts"], json!({ "nudge": 5, "refuse": 7, "halt": 9 }));
    assert_eq!(json["all"]["waste"][0]["calls"], 5);
    assert_eq!(json["all"]["waste"][0]["micro_usd"], 50_000);
    assert_eq!(json["kinds"]["same_call"]["loops"], 1);
    assert_eq!(json["agents"]["flyball"]["sessions"], 1);
    let rows = inspect(&scenario, &["session.jsonl", "--csv"]).stdout;
    assert_eq!(rows.lines().count(), 2, "{rows}");
    assert!(rows.contains(",6,8,10,1,5,"), "{rows}");
}

#[test]
fn one_session_is_shown_step_by_step_with_loops_folded() {
    let scenario = Scenario::no_repository();
    scenario.write("session.jsonl", &looping(8));
    let text = ended(inspect(&scenario, &["session.jsonl", "--session"]), 0).stdout;
    for part in [
        "8 × Read  src/cart.rs, same answer",
        "▲ nudge at step 6",
        "▲ halt at step 10",
        "You may be going round in circles",
        "Evidence of going nowhere, at most",
        "█",
    ] {
        assert!(text.contains(part), "{part}\nin\n{text}");
    }
    let page = ended(inspect(&scenario, &["session.jsonl", "--session", "--html"]), 0).stdout;
    assert!(page.contains("<polyline") && page.contains("A guard would have ended it"), "{page}");
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"));
    let json = json_of(&inspect(&scenario, &["session.jsonl", "--session", "--json"]));
    assert_eq!(json["lines"].as_array().unwrap().len(), 11);
    assert_eq!(json["lines"][5]["said"][0]["rung"], "nudge");
    // The file may stand on either side.
    ended(inspect(&scenario, &["--session", "session.jsonl"]), 0);
}

#[test]
fn recordings_are_reported_exactly_as_the_measurement_does() {
    let scenario = Scenario::no_repository();
    let runs = recorded(&scenario, 12);
    let table = Table::of(&runs, Guards::All).to_string();
    let text = ended(inspect(&scenario, &["runs.jsonl"]), 0).stdout;
    for line in table.lines() {
        assert!(text.contains(line), "{line}\nin\n{text}");
    }
    let json = json_of(&inspect(&scenario, &["runs.jsonl", "--all", "--json"]));
    let mut told = 0;
    for run in &runs {
        let fired = firings(run, Guards::All);
        let sessions = json["worst"].as_array().unwrap();
        let session = sessions.iter().find(|session| session["id"] == run.id.as_str());
        match session {
            None => assert_eq!(fired.nudge, None, "{}", run.id),
            Some(session) => {
                told += 1;
                assert_eq!(session["judged"]["firsts"], json!(fired), "{}", run.id);
            }
        }
    }
    assert!(told > 30, "{told}");
    assert_eq!(json["all"]["sessions"], runs.len());
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(json["known_outcomes"], json!(lines));
}

#[test]
fn what_is_asked_of_ci_is_an_exit_code_and_annotations() {
    let scenario = Scenario::no_repository();
    scenario.write("bad.jsonl", &looping(8));
    scenario.write("soso.jsonl", &looping(3));
    scenario.write("good.jsonl", &looping(1));
    for (file, rung, code) in [
        ("bad.jsonl", "halt", 1),
        ("soso.jsonl", "halt", 0),
        ("soso.jsonl", "nudge", 1),
        ("good.jsonl", "nudge", 0),
    ] {
        ended(inspect(&scenario, &["--fail-on", rung, file]), code);
    }
    let told = inspect(&scenario, &["bad.jsonl", "--annotations", "github"]).stdout;
    let line =
        told.lines().find(|line| line.starts_with("::error ")).unwrap_or_else(|| panic!("{told}"));
    assert!(
        line.starts_with("::error file=bad.jsonl,line=30,title=flyball would have ended"),
        "{line}"
    );
    let by_itself = scenario.env("GITHUB_ACTIONS", "true");
    assert!(inspect(&by_itself, &["bad.jsonl"]).stdout.contains("\n::error file="));
    assert!(
        !inspect(&by_itself, &["bad.jsonl", "--annotations", "none"]).stdout.contains("::error")
    );
    json_of(&inspect(&by_itself, &["bad.jsonl", "--json"]));
}

#[test]
fn limits_can_be_set_otherwise() {
    let scenario = Scenario::no_repository();
    scenario.write("session.jsonl", &looping(4));
    let nudge = |arguments: &[&str]| {
        let all: Vec<&str> = ["session.jsonl", "--json"].iter().chain(arguments).copied().collect();
        json_of(&inspect(&scenario, &all))["worst"][0]["judged"]["firsts"]["nudge"].clone()
    };
    assert_eq!(nudge(&[]), 5);
    let quiet = [
        "calls.nudge_after=9",
        "calls.nudge_after_success=9",
        "calls.refuse_after=10",
        "calls.account=false",
    ];
    let silent: Vec<&str> = quiet.iter().flat_map(|change| ["--set", *change]).collect();
    assert_eq!(nudge(&silent), Value::Null);
    scenario.write(
        "quiet.toml",
        "[calls]\nnudge_after = 9\nnudge_after_success = 9\nrefuse_after = 10\naccount = false\n",
    );
    assert_eq!(nudge(&["--policy", "quiet.toml"]), Value::Null);
    assert_eq!(inspect(&scenario, &["session.jsonl", "--set", "calls.nudge=1"]).code, 64);
}

#[test]
fn unknown_and_broken_files_are_named_and_the_others_are_read() {
    let scenario = Scenario::no_repository();
    scenario.write("runs/session.jsonl", &looping(8));
    scenario.write("runs/cut.jsonl", looping(4).get(..700).unwrap());
    scenario.write("other.bin", "PK\u{3}\u{4} no transcript at all");
    let ran = ended(inspect(&scenario, &["runs", "other.bin", "--json"]), 0);
    assert!(ran.stderr.contains("other.bin: "), "{}", ran.stderr);
    assert_eq!(json_of(&ran)["all"]["sessions"], 2);
    let nothing = inspect(&scenario, &["other.bin"]);
    assert_eq!(nothing.code, 65, "{}", nothing.stderr);
    let nowhere = inspect(&scenario, &["nowhere.jsonl"]);
    assert_eq!(nowhere.code, 66);
    assert!(nowhere.stderr.contains("nowhere.jsonl` is not there"), "{}", nowhere.stderr);
}

/// A transcript of Claude Code: one command, again and again.
fn claude(times: usize) -> String {
    let base = |kind: &str, second: usize| {
        json!({
            "type": kind, "isSidechain": false, "cwd": "/work/shop", "sessionId": "s1", "version": "2.1.0",
            "uuid": format!("{kind}-{second}"), "timestamp": format!("2026-11-01T10:00:{second:02}.000Z"),
        })
    };
    let with = |mut base: Value, message: Value| {
        base["message"] = message;
        base.to_string()
    };
    let mut lines = vec![with(base("user", 0), json!({ "role": "user", "content": "fix it" }))];
    for id in 1..=times {
        let input = json!({ "command": "cargo test", "description": format!("try {id}") });
        let call =
            json!([{ "type": "tool_use", "id": format!("t{id}"), "name": "Bash", "input": input }]);
        let usage =
            json!({ "input_tokens": 10, "cache_read_input_tokens": 1000, "output_tokens": 20 });
        let said = json!({ "id": format!("m{id}"), "role": "assistant", "model": "claude-sonnet-4-5", "content": call, "usage": usage });
        lines.push(with(base("assistant", id), said));
        let result = json!([{ "type": "tool_result", "tool_use_id": format!("t{id}"), "content": "1 test failed: cart::total" }]);
        lines.push(with(base("user", id), json!({ "role": "user", "content": result })));
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_second_look_opens_no_file_that_has_not_changed() {
    let scenario = Scenario::no_repository();
    let cache = scenario.outside("cache");
    let scenario = scenario.env("XDG_CACHE_HOME", cache.to_str().unwrap());
    let path = scenario.outside("home/.claude/projects/-work-shop/s1.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, claude(8)).unwrap();
    let look_with = |more: &[&str]| {
        let arguments: Vec<&str> =
            ["--since", "9999d", "--json"].iter().chain(more).copied().collect();
        json_of(&inspect(&scenario, &arguments))
    };
    let look = || look_with(&[]);
    let first = look();
    assert_eq!(first["transcripts"], json!({ "read": 1, "unchanged": 0 }));
    assert_eq!(
        (&first["all"]["spent"]["calls"], &first["all"]["reached"]),
        (&json!(8), &json!([1, 1, 1]))
    );
    assert_eq!(first["worst"][0]["project"], "/work/shop");
    // Nothing of the same length and time: whoever opened it would see no session.
    let time = path.metadata().unwrap().modified().unwrap();
    let put = |text: &str| {
        fs::write(&path, text).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    put(&" ".repeat(claude(8).len()));
    let second = look();
    assert_eq!(second["transcripts"], json!({ "read": 0, "unchanged": 1 }));
    assert_eq!((&second["all"], &second["worst"]), (&first["all"], &first["worst"]));
    // Nothing is kept for other limits, and `--no-cache` looks for itself.
    put(&claude(8));
    assert_eq!(look_with(&["--no-cache"])["transcripts"], json!({ "read": 1, "unchanged": 0 }));
    assert_eq!(look_with(&["--set", "calls.nudge_after=3"])["transcripts"]["read"], 1);
    // A file that has grown is read again; so is everything when what was kept is damaged.
    fs::write(&path, claude(9)).unwrap();
    assert_eq!(look()["all"]["spent"]["calls"], 9);
    for kept in fs::read_dir(cache.join("flyball")).unwrap() {
        let kept = kept.unwrap().path();
        let text = fs::read(&kept).unwrap();
        fs::write(&kept, text.split_at(text.len() / 2).0).unwrap();
    }
    assert_eq!(look()["transcripts"]["read"], 1);
    assert_eq!(look()["transcripts"]["read"], 0);
}

#[test]
fn a_shared_copy_holds_nothing_of_anybody_and_gives_the_same_verdicts() {
    let scenario = Scenario::no_repository();
    let secret = "sk-ant-planted-0123456789abcdef0123456789";
    let planted = looping(8)
        .replace("src/cart.rs", &format!("/home/jane/acme-secret/{secret}.rs"))
        .replace("fn total() -> u64 { 0 }", "the password of db.acme.example is hunter2hunter2")
        .replace("\"tool\":\"read\"", "\"tool\":\"mcp__acme_internal__fetch\"")
        .replace("\"id\":\"b", "\"id\":\"jane-b");
    scenario.write("session.jsonl", &planted);
    let ran = ended(inspect(&scenario, &["session.jsonl", "--share", "shared.jsonl"]), 0);
    assert!(ran.stderr.contains("1 session written"), "{}", ran.stderr);
    let shared = scenario.read("shared.jsonl");
    for word in [
        "jane",
        "acme",
        "planted",
        "hunter2",
        "password",
        "fetch",
        "mcp__",
        "src/",
        "file 1",
        "session.jsonl",
    ] {
        assert!(!shared.contains(word), "{word} in {shared}");
    }
    let judged = |file: &str| {
        let json = json_of(&inspect(&scenario, &[file, "--json"]));
        let judged = &json["worst"][0]["judged"];
        ["firsts", "said", "waste", "spent", "dead_tail", "steps", "harmed", "last_change"]
            .map(|key| judged[key].clone())
    };
    assert_eq!(judged("shared.jsonl"), judged("session.jsonl"));
}

#[test]
fn recordings_that_are_shared_again_give_the_same_verdicts() {
    let scenario = Scenario::no_repository();
    recorded(&scenario, 60);
    ended(inspect(&scenario, &["runs.jsonl", "--share", "again.jsonl"]), 0);
    let verdicts = |file: &str| {
        let json = json_of(&inspect(&scenario, &[file, "--json", "--all"]));
        let sessions = json["worst"].as_array().unwrap().iter();
        let keys = ["firsts", "said", "waste", "dead_tail", "steps"];
        let mut all: Vec<String> =
            sessions.map(|one| keys.map(|key| one["judged"][key].to_string()).join(" ")).collect();
        all.sort();
        all
    };
    let first = verdicts("runs.jsonl");
    assert!(first.len() > 5);
    assert_eq!(verdicts("again.jsonl"), first);
}

#[test]
fn every_screen_fits() {
    let scenario = Scenario::no_repository();
    scenario.write("a-folder-with-a-long-name/and-a-session-with-one.jsonl", &looping(8));
    let file = "a-folder-with-a-long-name/and-a-session-with-one.jsonl";
    for arguments in [vec!["inspect", file], vec!["inspect", file, "--session"]] {
        for columns in [60, 80] {
            let (_, raw) = Terminal::start(&scenario, &arguments, (columns, 24)).end();
            for line in raw.lines() {
                let line = flyball::terminal::plain(line.trim_end_matches('\r'));
                let bare = strip(&line);
                // What is copied is never broken: a command, or a path alone.
                let is_path = bare.starts_with('/') && !bare.contains(' ');
                let is_command = is_path || bare.trim_start().starts_with("flyball inspect");
                let wide = flyball::terminal::width(&line);
                assert!(wide <= usize::from(columns) || is_command, "{columns}: {wide} {bare:?}");
            }
        }
    }
}

/// A line without its colours.
fn strip(line: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in line.chars() {
        match (c, inside) {
            ('\u{1b}', _) => inside = true,
            ('m', true) => inside = false,
            (_, true) => {}
            (c, false) => out.push(c),
        }
    }
    out
}

/// Whole outputs, at two widths. `FLYBALL_UPDATE_SNAPSHOTS=1` writes them anew.
#[test]
fn snapshots() {
    let scenario = Scenario::no_repository();
    scenario.write("session.jsonl", &looping(8));
    for (name, arguments) in [
        ("inspect", vec!["--utc", "inspect", "session.jsonl"]),
        ("inspect-session", vec!["--utc", "inspect", "session.jsonl", "--session"]),
    ] {
        for columns in [60, 80] {
            let (_, raw) = Terminal::start(&scenario, &arguments, (columns, 24)).end();
            let folder = scenario.root();
            let raw = raw.replace(&format!("{}/", folder.display()), "");
            let lines = raw
                .lines()
                .map(|line| strip(&flyball::terminal::plain(line.trim_end_matches('\r'))));
            // The bar comes and goes.
            let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
            let text = lines.join("\n") + "\n";
            let path = format!("tests/it/snapshots/{name}-{columns}.txt");
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
            if std::env::var_os("FLYBALL_UPDATE_SNAPSHOTS").is_some() {
                fs::write(&path, &text).unwrap();
            }
            let wanted = fs::read_to_string(&path).unwrap_or_default();
            assert!(text == wanted, "{name} at {columns} differs; it is now:\n{text}");
        }
    }
}
