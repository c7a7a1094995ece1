//! MCP servers of the settings, as tools of a session.

use serde_json::{Value, json};

use super::{Talk, call, done};
use crate::scenario::Scenario;

/// A server's tools are tools of the session, and judged like all others.
#[test]
fn an_mcp_server_of_the_settings_is_used_through_the_guard() {
    let server = r#"
import json, sys
tool = {"name": "add", "description": "adds", "inputSchema": {"type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}}
print("chatter", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    params = asked.get("params", {})
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "tools/list":
        answer["result"] = {"tools": [tool]}
    elif asked["method"] == "tools/call" and params["arguments"]["a"] == 13:
        answer["error"] = {"code": -32602, "message": "13 is unlucky"}
    elif asked["method"] == "tools/call":
        text = str(params["arguments"]["a"] + params["arguments"]["b"])
        answer["result"] = {"content": [{"type": "text", "text": text}]}
    else:
        answer["result"] = {}
    print(json.dumps(answer), flush=True)
"#;
    let add = |a: &Value, b: u32| call("sums__add", &json!({ "a": a, "b": b }));
    let script =
        vec![add(&json!(1), 2), add(&json!("1"), 2), add(&json!(13), 1), add(&json!(2), 2), done()];
    let scenario = Scenario::bare()
        .file("server.py", server)
        .config("[session.mcp]\nsums = [\"python3\", \"server.py\"]\n");
    let talk = Talk::with(script, scenario);
    talk.ends(0);
    let results = talk.model.turns().last().unwrap().given().results;
    assert_eq!((results[0].as_str(), results[3].as_str()), ("3", "4"));
    assert!(results[1].contains("`a` is a string"), "{results:?}");
    assert!(results[2].contains("13 is unlucky"), "{results:?}");
    let repeated = Talk::with(
        vec![add(&json!(1), 2)],
        Scenario::bare()
            .file("server.py", server)
            .config("[session.mcp]\nsums = [\"python3\", \"server.py\"]\n"),
    );
    repeated.ends(6);
    let broken = Scenario::bare().config("[session.mcp]\nsums = [\"nobody-has-this\"]\n");
    let ran = Talk::with(vec![done()], broken).ends(78);
    assert!(ran.stderr.contains("the MCP server `sums` cannot be used"), "{}", ran.stderr);
}
