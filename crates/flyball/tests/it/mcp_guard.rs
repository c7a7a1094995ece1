//! `flyball mcp-guard` by hand: what passes, what does not, and what happens when a side dies.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::mcp_client::Client;

/// A server in a few lines of shell: answers every request with this result.
fn answering(result: &str) -> String {
    format!(
        r#"while IFS= read -r line; do
             id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
             printf '{{"result":{result},"jsonrpc":"2.0","id":%s}}\n' "$id"
           done"#
    )
}

struct Place {
    _folder: TempDir,
    root: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("project");
    fs::create_dir_all(&root).unwrap();
    Place { _folder: folder, root }
}

fn guarded(place: &Place, flags: &[&str], script: &str) -> Client {
    let args: Vec<&str> =
        ["mcp-guard"].iter().chain(flags).chain(&["--", "sh", "-c", script]).copied().collect();
    Client::start(&place.root, &args)
}

fn texts(result: &Value) -> Vec<String> {
    let items = result["content"].as_array().unwrap();
    items.iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn everything_but_tool_calls_passes_byte_for_byte_in_both_directions() {
    let place = place();
    // What the client says comes back as if the server had said it.
    let mut client = Client::start(&place.root, &["mcp-guard", "--", "cat"]);
    let lines = [
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.50e0}}"#,
        r#"{ "id" : 1 , "jsonrpc":"2.0", "method":"ping" }"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","x":1e999}}"#,
        r#"{"jsonrpc":"2.0","id":"s-1","method":"sampling/createMessage","params":{"é":"\u00e9"}}"#,
        r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create"}"#,
        r#"[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"9.9","id":null,"method":"x/unknown","extra":[1,2,]}"#,
        "no JSON at all \u{1}",
        "",
        "   ",
    ];
    for line in lines {
        client.send(line);
        assert_eq!(client.line(), format!("{line}\n"));
    }
    let (status, rest) = client.end();
    assert_eq!((status.code(), rest.as_str()), (Some(0), ""));
}

#[test]
fn repeated_calls_are_nudged_then_refused_and_do_not_reach_the_server() {
    let place = place();
    let log = place.root.join("seen");
    let script = format!(
        "tee {} | (\n{}\n)",
        log.display(),
        answering(r#"{"content":[{"type":"text","text":"same"}]}"#)
    );
    let mut client = guarded(&place, &[], &script);
    let mut counts = Vec::new();
    for _ in 0..8 {
        let result = client.raw_call("read", json!({ "path": "a" }));
        let texts = texts(&result);
        counts.push((texts.len(), result["isError"] == true));
        if result["isError"] == true {
            assert!(texts[0].contains("tool 'read' called"), "{texts:?}");
        } else {
            assert_eq!(texts[0], "same");
        }
    }
    let nudged = [(1, false), (1, false), (2, false), (1, false), (1, false)];
    assert_eq!(counts[..5], nudged);
    assert_eq!(counts[5..], [(1, true), (1, true), (1, true)]);
    // Another call goes through again.
    assert_eq!(texts(&client.raw_call("read", json!({ "path": "b" }))), ["same"]);
    client.end();
    assert_eq!(fs::read_to_string(log).unwrap().lines().count(), 6);
}

#[test]
fn limits_come_from_flags() {
    let place = place();
    let script = answering(r#"{"content":[]}"#);
    let mut client = guarded(&place, &["--nudge-after", "2", "--refuse-after", "2"], &script);
    for expected in [false, false, true] {
        assert_eq!(client.raw_call("t", json!({}))["isError"] == true, expected);
    }
}

#[test]
fn an_unguarded_call_result_keeps_its_bytes() {
    let place = place();
    let script = r#"IFS= read -r line; printf '{ "result" : {"content":[{"type":"image","data":"AA==","n":1.0e400}] , "_meta":{}},"id":5 }\r\n'; cat >/dev/null"#;
    let mut client = guarded(&place, &[], script);
    client.send(r#"{"id":5,"method":"tools/call","params":{"name":"t"}}"#);
    assert_eq!(
        client.line(),
        "{ \"result\" : {\"content\":[{\"type\":\"image\",\"data\":\"AA==\",\"n\":1.0e400}] , \"_meta\":{}},\"id\":5 }\r\n"
    );
}

#[test]
fn failures_in_a_row_are_told() {
    let place = place();
    let script = answering(r#"{"content":[{"type":"text","text":"boom"}],"isError":true}"#);
    let mut client = guarded(&place, &["--max-failures", "3"], &script);
    let mut last = Value::Null;
    for number in 0..3 {
        last = client.raw_call("t", json!({ "n": number }));
    }
    let said = texts(&last).join("\n");
    assert!(said.contains("3 tool calls failed in a row"), "{said}");
    assert_eq!(last["isError"], true);
}

#[test]
fn a_tool_the_server_does_not_have_and_arguments_it_does_not_take_are_validation_failures() {
    let answers = [
        r#""error":{"code":-32602,"message":"Unknown tool: t"}"#,
        r#""result":{"content":[{"type":"text","text":"Input validation error: n is required"}],"isError":true}"#,
    ];
    for answer in answers {
        let place = place();
        let script = answering("0").replace(r#""result":0"#, answer);
        let mut client = guarded(&place, &[], &script);
        let mut said = Vec::new();
        for number in 0..3 {
            let call = json!({ "name": "t", "arguments": { "n": number } });
            said.push(client.request("tools/call", call).to_string());
        }
        assert!(said[0].contains("1/3 in a row"), "{said:?}");
        assert!(said[2].contains("3/3 in a row"), "{said:?}");
        assert!(!said[2].contains("tool calls failed in a row"), "{said:?}");
    }
}

#[test]
fn a_large_result_goes_to_a_private_file_that_goes_with_the_session() {
    let place = place();
    let long = "y".repeat(5000);
    let result = format!(
        r#"{{"content":[{{"type":"text","text":"{long}"}},{{"type":"image","data":"AA=="}}],"structuredContent":{{"result":"{long}","n":1}}}}"#
    );
    let mut client = guarded(&place, &["--large-response", "1000"], &answering(&result));
    let result = client.raw_call("t", json!({}));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("5000 characters"), "{text}");
    let path = text.lines().next().unwrap().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(fs::read_to_string(&path).unwrap(), long);
    assert_eq!(result["content"][1]["data"], "AA==");
    assert_eq!(result["structuredContent"]["n"], 1);
    assert!(result["structuredContent"]["result"].as_str().unwrap().len() < 2000);
    client.end();
    assert!(!PathBuf::from(&path).exists());
    assert!(!PathBuf::from(&path).parent().unwrap().exists());
}

#[test]
fn a_loop_folder_takes_the_large_results() {
    let place = place();
    fs::create_dir_all(place.root.join(".flyball")).unwrap();
    let result = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "y".repeat(2000));
    let mut client = guarded(&place, &["--large-response", "1000"], &answering(&result));
    let result = client.raw_call("t", json!({}));
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains(place.root.join(".flyball/responses").to_str().unwrap()), "{text}");
}

#[test]
fn the_death_of_the_server_is_told_for_every_open_request() {
    let place = place();
    let script = "IFS= read -r a; IFS= read -r b; IFS= read -r c; exit 3";
    let mut client = guarded(&place, &[], script);
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    client.send(r#"{"jsonrpc":"2.0","id":"two","method":"resources/list"}"#);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let mut answers = [client.message(), client.message()];
    answers.sort_by_key(|answer| answer["id"].to_string());
    assert_eq!(answers[0]["id"], "two");
    assert_eq!(answers[1]["id"], 1);
    for answer in &answers {
        let why = answer["error"]["message"].as_str().unwrap();
        assert_eq!(why, "the MCP server `sh` exited with 3 before it answered");
    }
    assert_eq!(client.line(), "");
    assert_eq!(client.wait().code(), Some(70));
}

#[test]
fn a_server_that_cannot_be_started_is_told_apart() {
    let place = place();
    let mut client = Client::start(&place.root, &["mcp-guard", "--", "no-such-program-here"]);
    assert_eq!(client.wait().code(), Some(66));
}

fn alive(pid: &str) -> bool {
    flyball::platform::look(pid.parse().unwrap()).is_some_and(|process| !process.zombie)
}

#[test]
fn a_client_that_goes_away_ends_the_whole_tree_of_the_server() {
    let place = place();
    let script = "setsid sleep 1000 & echo $!; cat > /dev/null";
    let mut client = guarded(&place, &[], script);
    let pid = client.line().trim().to_owned();
    assert!(alive(&pid));
    let (status, _) = client.end();
    assert_eq!(status.code(), Some(0));
    assert!(!alive(&pid));
}

#[test]
fn a_line_of_100_mb_passes_or_is_refused_by_name_and_the_guard_lives() {
    let place = place();
    let mut client = Client::start(&place.root, &["mcp-guard", "--", "cat"]);
    let big = "x".repeat(100 * 1024 * 1024);
    let line =
        format!(r#"{{"jsonrpc":"2.0","params":{{"data":"{big}"}},"method":"x/big","id":1}}"#);
    client.send(&line);
    let back = client.line();
    assert!(back.len() == line.len() + 1 && back.starts_with(&line), "it passes");
    let call = format!(
        r#"{{"jsonrpc":"2.0","params":{{"name":"t","arguments":{{"x":"{big}"}}}},"method":"tools/call","id":2}}"#
    );
    client.send(&call);
    let answer = client.message();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32600)));
    let peak = flyball_testkit::memory::peak_kib(client.pid()).unwrap();
    assert!(peak < 160 * 1024, "{peak} kB");
    client.send("still there");
    assert_eq!(client.line(), "still there\n");
}

#[test]
fn a_result_of_100_mb_is_kept_in_a_file() {
    let place = place();
    let script = r#"IFS= read -r line
        printf '{"result":{"content":[{"type":"text","text":"'
        head -c 104857600 /dev/zero | tr '\0' z
        printf '"}]},"jsonrpc":"2.0","id":1}\n'
        cat"#;
    let mut client = guarded(&place, &[], script);
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    let answer = client.message();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let path = text.lines().next().unwrap().rsplit(' ').next().unwrap();
    assert!(fs::metadata(path).unwrap().len() > 100 * 1024 * 1024);
    client.send("still there");
    assert_eq!(client.line(), "still there\n");
}

#[test]
fn flyballs_own_server_works_behind_its_own_guard() {
    let place = place();
    let flyball = env!("CARGO_BIN_EXE_flyball");
    let mut client = Client::start(&place.root, &["mcp-guard", "--", flyball, "mcp"]);
    let hello = client.shake_hands();
    assert_eq!(hello["result"]["serverInfo"]["name"], "flyball");
    let started = client.call("iteration_start", json!({ "task": "t", "max_iterations": 2 }));
    assert_eq!(started["iteration"], 1);
}

/// A server that answers a batch in one array, last message first, and keeps what reached it.
const BATCHING: &str = r#"
import json, sys
for line in sys.stdin:
    open("seen", "a").write(line)
    said = json.loads(line)
    answer = lambda one: {"jsonrpc": "2.0", "id": one["id"],
        "result": {"content": [{"type": "text", "text": one["params"]["arguments"]["q"]}]}}
    asked = [one for one in said if "id" in one] if isinstance(said, list) else [said]
    answers = [answer(one) for one in reversed(asked)]
    if answers:
        out = answers if isinstance(said, list) and "--single" not in sys.argv else None
        for one in ([out] if out else answers):
            print(json.dumps(one, separators=(",", ":")), flush=True)
"#;

fn batching(place: &Place, flags: &[&str]) -> Client {
    fs::write(place.root.join("server.py"), BATCHING).unwrap();
    let server = ["mcp-guard", "--refuse-after", "2", "--", "python3", "server.py"];
    Client::start(&place.root, &server.iter().chain(flags).copied().collect::<Vec<_>>())
}

fn asking(id: u64, question: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": "ask", "arguments": { "q": question } } })
}

/// Id and beginning of the text of each answer, sorted by id; whether it is an error.
fn answers(message: &Value) -> Vec<(u64, String, bool)> {
    let mut found: Vec<(u64, String, bool)> = message
        .as_array()
        .unwrap_or_else(|| panic!("one array for one batch: {message}"))
        .iter()
        .map(|one| {
            let text = one["result"]["content"][0]["text"].as_str().unwrap();
            let head = text.chars().take(10).collect();
            (one["id"].as_u64().unwrap(), head, one["result"]["isError"] == true)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn each_call_of_a_batch_is_judged_and_one_array_answers_it() {
    let place = place();
    let mut client = batching(&place, &[]);
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/x" });
    // The third of three like calls is refused; the others are run.
    client.send(
        &json!([asking(1, "a"), note, asking(2, "a"), asking(3, "a"), asking(4, "b")]).to_string(),
    );
    let said = answers(&client.message());
    let refused = "tool 'ask'".to_owned();
    let expected = [(1, "a", false), (2, "a", false), (3, refused.as_str(), true), (4, "b", false)];
    assert_eq!(said, expected.map(|(id, text, bad)| (id, text.to_owned(), bad)));
    let seen = fs::read_to_string(place.root.join("seen")).unwrap();
    assert!(!seen.contains("\"id\":3") && seen.contains("notifications/x"), "{seen}");
    // What follows in a line of its own belongs to the same streaks.
    client.send(&asking(5, "b").to_string());
    assert_eq!(client.message()["result"]["isError"], Value::Null);
    client.send(&asking(6, "b").to_string());
    assert_eq!(client.message()["result"]["isError"], true);
}

#[test]
fn a_batch_of_which_nothing_is_refused_passes_byte_for_byte() {
    let place = place();
    let mut client = Client::start(&place.root, &["mcp-guard", "--", "cat"]);
    let line = r#"[ {"id":1,"method":"tools/call", "params":{"name":"t","arguments":{"n":1.0e400}}} , {"method":"x"},7 ]"#;
    client.send(line);
    assert_eq!(client.line(), format!("{line}\n"));
    for line in ["[]", "[1,", "[[]]"] {
        client.send(line);
        assert_eq!(client.line(), format!("{line}\n"));
    }
}

#[test]
fn a_batch_of_refused_calls_is_answered_at_once_and_notifications_go_on() {
    let place = place();
    let mut client = batching(&place, &[]);
    client.send(&json!([asking(1, "a"), asking(2, "a")]).to_string());
    client.message();
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/last" });
    client.send(&json!([asking(3, "a"), note]).to_string());
    assert_eq!(answers(&client.message())[0].0, 3);
    client.send(&json!([asking(4, "a")]).to_string());
    assert_eq!(answers(&client.message())[0].0, 4);
    client.send(&asking(5, "b").to_string());
    assert_eq!(client.message()["id"], 5);
    let seen = fs::read_to_string(place.root.join("seen")).unwrap();
    assert_eq!(seen.lines().nth(1), Some(format!("[{note}]").as_str()), "{seen}");
}

#[test]
fn a_server_that_answers_a_batch_one_by_one_is_followed() {
    let place = place();
    let mut client = batching(&place, &["--single"]);
    client
        .send(&json!([asking(1, "a"), asking(2, "a"), asking(3, "a"), asking(4, "a")]).to_string());
    let mut ids: Vec<u64> = (0..4).map(|_| client.message()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4]);
}

#[test]
fn results_inside_a_batch_are_nudged_and_spilled() {
    let place = place();
    fs::write(place.root.join("server.py"), BATCHING).unwrap();
    let mut client = Client::start(
        &place.root,
        &["mcp-guard", "--large-response", "1000", "--", "python3", "server.py"],
    );
    let long = "y".repeat(2000);
    client.send(
        &json!([asking(1, &long), asking(2, "a"), asking(3, "a"), asking(4, "a")]).to_string(),
    );
    let said = client.message();
    let texts: Vec<String> = said.as_array().unwrap().iter().map(Value::to_string).collect();
    assert!(texts.iter().any(|text| text.contains("2000 characters")), "{texts:?}");
    let nudged =
        said.as_array().unwrap().iter().any(|one| {
            one["result"]["content"].as_array().is_some_and(|content| content.len() == 2)
        });
    assert!(nudged, "{texts:?}");
}

#[test]
fn refused_calls_of_a_batch_are_answered_even_when_the_server_dies_or_the_rest_is_cancelled() {
    let place = place();
    let flags = ["--refuse-after", "2"];
    let mut client = guarded(&place, &flags, "IFS= read -r a; exit 3");
    client
        .send(&json!([asking(1, "a"), asking(2, "a"), asking(3, "a"), asking(4, "a")]).to_string());
    let mut said: Vec<Value> = (0..3).map(|_| client.message()).collect();
    said.sort_by_key(|one| one["id"].as_u64());
    assert_eq!(said[2]["result"]["isError"], true);
    assert_eq!(said[0]["error"]["code"], -32000);

    let mut client = guarded(&place, &flags, "cat > /dev/null");
    client
        .send(&json!([asking(1, "a"), asking(2, "a"), asking(3, "a"), asking(4, "a")]).to_string());
    for id in [1, 2] {
        client.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                     "params": { "requestId": id } })
            .to_string(),
        );
    }
    assert_eq!(client.message()["id"], 3);
}

#[test]
fn a_batch_too_long_to_be_judged_is_refused_and_the_guard_lives() {
    let place = place();
    let mut client = Client::start(&place.root, &["mcp-guard", "--", "cat"]);
    let big = "x".repeat(65 * 1024 * 1024);
    client.send(&format!("  [{}]", asking(1, &big)));
    let answer = client.message();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)));
    client.send("still there");
    assert_eq!(client.line(), "still there\n");
}

#[test]
fn a_server_that_prints_garbage_and_huge_lines_is_passed_on_and_the_guard_lives() {
    let place = place();
    let script = r#"printf 'banner\n\377\376\000 not text\n{"id":\n'
        head -c 104857600 /dev/zero | tr '\0' z; echo
        cat"#;
    let mut client = guarded(&place, &[], script);
    assert_eq!(client.bytes(), b"banner\n");
    assert_eq!(client.bytes(), b"\xff\xfe\x00 not text\n");
    assert_eq!(client.bytes(), b"{\"id\":\n");
    assert_eq!(client.bytes().len(), 100 * 1024 * 1024 + 1);
    client.send("still there");
    assert_eq!(client.line(), "still there\n");
}
