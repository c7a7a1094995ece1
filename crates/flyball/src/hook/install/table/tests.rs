//! Settings with other content, before and after.

use super::*;

fn given() -> Map<String, Value> {
    let entry = |event: &str| {
        let command = format!("'/a b/flyball' hook claude {event}");
        json!([{ "hooks": [{ "type": "command", "command": command, "timeout": 15 }] }])
    };
    let events = ["PreToolUse", "Stop"].map(|event| (event.to_owned(), entry(event)));
    events.into_iter().collect()
}

fn added(text: &str) -> String {
    match add(text, &given()) {
        Ok(text) => text,
        Err(Trouble::Unreadable(error)) => panic!("{text}: {error}"),
        Err(Trouble::Occupied) => panic!("{text}: occupied"),
    }
}

/// Settings as people write them.
const KEPT: [&str; 12] = [
    "{\n  \"a\": 1\n}\n",
    "{\n\t\"a\": 1, // one\n\t/* two */ \"b\": [1, 2,],\n}",
    "{\r\n    \"a\": 1\r\n}\r\n",
    "{\n  \"a\": \"// no comment, }\", // a comment, }\n}\n",
    "{\n  // only\n  \"hooks\": {\n    \"Other\": []\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"command\": \"mine\" }] } // mine\n    ]\n  },\n  \"z\": 0.10\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"command\": \"mine\" }] },\n    ],\n  },\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"command\": \"/x/flyball/my hook claude Stop\" }] }\n    ]\n  }\n}\n",
    "\u{feff}{\n  \"a\": 1\n}\n",
    "{\n  \"\\u0061\\\"\": 1e3,\n\n\n  \"b\": {\n  }\n}\n\n",
    "// top\n{\n  // in\n  \"a\": null\n  // below\n}\n// end",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"command\": \"x\" }] }\n    ],\n    \"Stop\": [\n      { \"hooks\": [{ \"command\": \"y\" }] }\n    ]\n  }\n}",
];

#[test]
fn what_was_added_is_taken_out_again_to_the_byte() {
    for text in KEPT {
        let with = added(text);
        assert_eq!(holds(&with, "claude", &given()), Some(true), "{with}");
        assert_eq!(holds(text, "claude", &given()), None, "{text}");
        assert_eq!(take_out(&with, "claude").unwrap().as_deref(), Some(text), "{with}");
        // Nothing of the file is lost on the way, and nothing changes places.
        let mut all = with.chars();
        assert!(text.chars().all(|one| all.any(|other| other == one)), "{with}");
        // A second time changes nothing that matters.
        assert_eq!(take_out(text, "claude").unwrap().as_deref(), Some(text));
    }
}

#[test]
fn new_settings_look_like_the_file_they_are_put_in() {
    let hook = given();
    let with = added("{\n    \"a\": 1\n}\n");
    let plain = json!({ "a": 1, "hooks": hook });
    let shown = serde_json::from_str::<Value>(&with).unwrap();
    assert_eq!(shown, plain);
    assert!(
        with.starts_with("{\n    \"a\": 1,\n    \"hooks\": {\n        \"PreToolUse\": ["),
        "{with}"
    );
    assert!(with.ends_with("        ]\n    }\n}\n"), "{with}");
    for one_line in
        ["{}", "{ }", "{\"a\":1}", "{ \"a\": 1, }", "{ /* a */ }", "{ // a\n}", "{\"hooks\":{}}"]
    {
        let with = added(one_line);
        assert_eq!(holds(&with, "claude", &hook), Some(true), "{with}");
    }
    assert_eq!(take_out(&added("{}\n"), "claude").unwrap(), None);
    let comment = take_out(&added("{ // a\n}"), "claude").unwrap();
    assert_eq!(comment.as_deref(), Some("{ // a\n}"));
}

#[test]
fn hooks_of_others_beside_ours_stay_where_they_are() {
    let text = "{\"hooks\": {\"Stop\": [ {\"hooks\": [ {\"command\": \"a\"}, \
                {\"command\": \"flyball hook claude Stop\"}, {\"command\": \"b\"} ]} ], \
                \"PreToolUse\": [{\"hooks\": [{\"command\": \"flyball hook claude PreToolUse\"}]}]}}";
    let left = take_out(text, "claude").unwrap().unwrap();
    assert_eq!(
        left,
        "{\"hooks\": {\"Stop\": [ {\"hooks\": [ {\"command\": \"a\"}, {\"command\": \"b\"} ]} ]}}"
    );
    assert_eq!(take_out(text, "codex").unwrap().as_deref(), Some(text));
}

#[test]
fn what_cannot_be_understood_is_not_touched() {
    for (text, is_json) in [
        ("", true),
        ("// nothing yet", true),
        ("{\"a\": }", false),
        ("{\"a\": 1} x", false),
        ("{\"a\": 'b'}", false),
        ("{\"cut", false),
        ("{ /* cut", false),
        ("[1]", true),
        ("{\"hooks\": []}", true),
        ("{\"hooks\": {\"Stop\": {}}}", true),
    ] {
        let found = add(text, &given());
        assert_eq!(matches!(found, Err(Trouble::Occupied)), is_json, "{text}");
        assert_eq!(matches!(found, Err(Trouble::Unreadable(_))), !is_json, "{text}");
    }
}
