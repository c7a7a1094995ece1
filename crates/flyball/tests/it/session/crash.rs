//! A session killed at every point: before and after every line of its record, and between a deed and the
//! line that tells of it. Whatever the point, a resume comes to the same end, and every effect is there once.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use flyball_testkit::model::{ModelServer, Request, Step};
use serde_json::{Value, json};

use super::{call, sh};
use crate::scenario::Scenario;

const WORKERS: u32 = 4;
/// No session here has so many points.
const MANY: u32 = 400;

const GATE: &str = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -f mended\"\n";

/// A model that looks at what is there before it acts, as one has to that was told of an interruption.
fn decide(root: &Path, asked: &Request) -> Step {
    let given = asked.given();
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
    let heard = |words: &str| given.messages.iter().any(|text| text.contains(words));
    let is_there = |name: &str| !read(name).is_empty();
    if given.messages.last().is_some_and(|text| text.contains("call no tool")) {
        return Step::text("learnt: nothing");
    }
    if given.messages.first().is_some_and(|text| text == "a part") {
        return if is_there("part") { Step::text("It is done.") } else { sh("echo part >> part") };
    }
    let done = || Step::text("All done.");
    if !is_there("ran") {
        sh("echo ran >> ran").and_call("read", &json!({ "path": "a.txt" }))
    } else if read("a.txt") == "hi\n" {
        call("edit", &json!({ "path": "a.txt", "old": "hi", "new": "hi hi" }))
    } else if !is_there("made") {
        call("write", &json!({ "path": "made", "content": "one\n" }))
    } else if read("made") == "one\n" {
        sh("echo two >> made")
    } else if !is_there("part") {
        call("task", &json!({ "prompt": "a part" }))
    } else if !is_there("large") {
        sh("seq 20000; echo large >> large")
    } else if !heard("What happened so far") {
        sh("seq 3000").using(8_500, 0, 10)
    } else if is_there("mended") || !heard("Completion Blocked") {
        done()
    } else {
        sh("echo mended >> mended")
    }
}

/// What came of a session that was killed.
struct Outcome {
    scenario: Scenario,
    model: ModelServer,
}

/// Kills a session at its n-th point and has it go on; none when it came to its end before that point.
fn killed(at: u32, make: &dyn Fn() -> (Scenario, ModelServer)) -> Option<Outcome> {
    let (scenario, model) = make();
    let tmp = scenario.outside("tmp");
    fs::create_dir_all(&tmp).unwrap();
    let scenario = scenario
        .env("ANTHROPIC_API_KEY", "a-key-that-is-none")
        .env("ANTHROPIC_BASE_URL", &model.url())
        .env("TMPDIR", &tmp.to_string_lossy())
        .env("FLYBALL_SESSION__PERMISSION", "skip")
        .committed();
    let crash = [("FLYBALL_TEST_CRASH_AT", at.to_string())];
    let crash = crash.each_ref().map(|(name, value)| (*name, value.as_str()));
    let ran = scenario.start(&crash, &["session", "mend it"]).wait();
    if ran.code != -9 {
        assert_eq!(ran.code, 0, "point {at}: {}", ran.stderr);
        return None;
    }
    scenario.until_quiet();
    let mut ran = scenario.flyball(&["session", "--resume"]);
    if ran.code == 66 {
        // Nothing was asked yet: it is begun anew.
        assert_eq!(model.turns().len(), 0, "point {at}: {}", ran.stderr);
        ran = scenario.flyball(&["session", "mend it"]);
    }
    assert_eq!(ran.code, 0, "point {at}: {}", ran.stderr);
    // What it ended may take its time on a loaded machine.
    scenario.until_quiet();
    Some(Outcome { scenario, model })
}

/// At every point there is: how many there are, and how many calls were told as interrupted.
fn at_every_point(
    make: &(dyn Fn() -> (Scenario, ModelServer) + Sync),
    effects: &[(&str, &str)],
) -> (u32, usize) {
    let (next, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
    let work = || {
        let (mut points, mut interrupted) = (0, 0);
        while !is_over.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            assert!(at < MANY);
            let Some(Outcome { scenario, model }) = killed(at, make) else {
                is_over.store(true, Ordering::Relaxed);
                continue;
            };
            for (name, text) in effects {
                assert_eq!(scenario.read(name), *text, "point {at}: {name}");
            }
            points += 1;
            interrupted += told_of_interruptions(&model, at);
        }
        (points, interrupted)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let all = workers.into_iter().map(|worker| worker.join().unwrap());
        all.fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
    })
}

/// Every call of every conversation has exactly one result, and at most one of one kill is unknown.
fn told_of_interruptions(model: &ModelServer, at: u32) -> usize {
    let mut unknown = BTreeSet::new();
    for turn in model.turns() {
        let blocks = |kind: &str| -> Vec<Value> {
            let messages = turn.body["messages"].as_array().unwrap().clone();
            let blocks =
                messages.iter().flat_map(|m| m["content"].as_array().cloned().unwrap_or_default());
            blocks.filter(|block| block["type"] == kind).collect()
        };
        let ids = |blocks: &[Value], field: &str| -> Vec<String> {
            blocks.iter().map(|block| block[field].as_str().unwrap().to_owned()).collect()
        };
        let (calls, results) = (blocks("tool_use"), blocks("tool_result"));
        assert_eq!(ids(&calls, "id"), ids(&results, "tool_use_id"), "point {at}");
        let is_unknown = |result: &&Value| result.to_string().contains("flyball was killed");
        let names =
            results.iter().filter(is_unknown).map(|result| result["tool_use_id"].to_string());
        unknown.extend(names);
    }
    assert!(unknown.len() <= 1, "point {at}: {unknown:?}");
    unknown.len()
}

#[test]
fn kill_9_at_every_point_loses_and_repeats_nothing() {
    let make = || {
        let scenario = Scenario::bare()
            .config(GATE)
            .env("FLYBALL_SESSION__WINDOW", "10000")
            .env("FLYBALL_CALLS__LARGE_RESPONSE", "20000");
        let root = scenario.root();
        let model = ModelServer::deciding(move |asked| decide(&root, asked)).unwrap();
        (scenario, model)
    };
    let effects = [
        ("ran", "ran\n"),
        ("a.txt", "hi hi\n"),
        ("made", "one\ntwo\n"),
        ("part", "part\n"),
        ("large", "large\n"),
        ("mended", "mended\n"),
    ];
    let (points, interrupted) = at_every_point(&make, &effects);
    assert!(points > 60 && interrupted > 10, "{points} points, {interrupted} interrupted");
}

const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
    if asked["method"] == "tools/list":
        schema = {"type": "object", "properties": {}}
        answer["result"] = {"tools": [{"name": "note", "description": "notes", "inputSchema": schema}]}
    elif asked["method"] == "tools/call":
        open("noted", "a").write("once\n")
        answer["result"] = {"content": [{"type": "text", "text": "noted"}]}
    print(json.dumps(answer), flush=True)
"#;

#[test]
fn a_servers_deed_is_done_once_whenever_it_was_killed() {
    let make = || {
        let scenario = Scenario::bare()
            .file("server.py", SERVER)
            .config("[session.mcp]\nnotes = [\"python3\", \"server.py\"]\n");
        let root = scenario.root();
        let model = ModelServer::deciding(move |_| {
            let is_there = root.join("noted").exists();
            if is_there { Step::text("Done.") } else { call("notes__note", &json!({})) }
        });
        (scenario, model.unwrap())
    };
    let (points, interrupted) = at_every_point(&make, &[("noted", "once\n")]);
    assert!(points > 10 && interrupted > 1, "{points} points, {interrupted} interrupted");
}
