//! Usage files of all four clients, as they are found on disk.

use std::fs;
use std::io::Write;

use super::*;
use crate::client::registry;

fn usage_file(client: &str, at: &SessionPlace<'_>) -> Option<Box<dyn UsageFile>> {
    registry::output(client).unwrap().usage_file(at)
}

fn at<'a>(session: &'a str, env: &'a dyn Fn(&str) -> Option<String>) -> SessionPlace<'a> {
    SessionPlace { session, env }
}

fn append(path: &Path, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Tokens read, cached, written.
fn counts(entries: &[UsageEntry]) -> Vec<(u64, u64, u64)> {
    entries.iter().map(|e| (e.usage.input(), e.usage.cache_read, e.usage.output)).collect()
}

fn home(folder: &Path) -> impl Fn(&str) -> Option<String> + use<> {
    let home = folder.to_string_lossy().into_owned();
    move |name| (name == "HOME").then(|| home.clone())
}

#[test]
fn codex_totals_become_what_is_new_and_no_total_is_told_twice() {
    let folder = tempfile::tempdir().unwrap();
    let env = home(folder.path());
    let day = folder.path().join(".codex/sessions/2026/11/15");
    assert!(usage_file("codex", &at("abc-1", &env)).is_none(), "not written yet");
    fs::create_dir_all(&day).unwrap();
    fs::create_dir_all(folder.path().join(".codex/sessions/2026/11/16")).unwrap();
    let file = day.join("rollout-2026-11-15T12-59-24-abc-1.jsonl");
    let total = |input: u64, cached: u64, output: u64| {
        format!(
            r#"{{"input_tokens":{input},"cached_input_tokens":{cached},"output_tokens":{output}}}"#
        )
    };
    let record = format!(
        "{{\"type\":\"turn_context\",\"payload\":{{\"model\":\"gpt-5.5\"}}}}\n\
         {{\"type\":\"token_usage_record\",\"payload\":{{\"usage\":{},\"thread_token_usage\":{}}}}}\n",
        total(100, 40, 20),
        total(100, 40, 20),
    );
    append(&file, &record);
    let mut usage = usage_file("codex", &at("abc-1", &env)).unwrap();
    let first = usage.news();
    assert_eq!(first[0].model.as_deref(), Some("gpt-5.5"));
    assert_eq!(counts(&first[1..]), [(100, 40, 20)]);
    assert_eq!(first[1].context, Some(120));
    let count = format!(
        "{{\"type\":\"event_msg\",\"payload\":{{\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{},\
         \"last_token_usage\":{},\"model_context_window\":1000}}}}}}\n",
        total(100, 40, 20),
        total(100, 40, 20),
    );
    let (half, rest) = count.split_at(60);
    append(&file, half);
    assert!(usage.news().is_empty(), "half a line is none");
    append(&file, rest);
    let again = usage.news();
    assert_eq!(counts(&again), [(0, 0, 0)]);
    assert_eq!(again[0].window, Some(1000));
    append(&file, "torn token_usage {\n");
    append(
        &file,
        &record.replace(
            &format!("_usage\":{}}}", total(100, 40, 20)),
            &format!("_usage\":{}}}", total(250, 90, 50)),
        ),
    );
    let more = usage.news();
    assert_eq!(counts(&more), [(0, 0, 0), (150, 50, 30)]);
    assert!(usage.news().is_empty());
}

#[test]
fn gemini_messages_count_once_though_they_are_written_twice() {
    let folder = tempfile::tempdir().unwrap();
    let env = home(folder.path());
    let chats = folder.path().join(".gemini/tmp/repo/chats");
    fs::create_dir_all(&chats).unwrap();
    let message = |id: &str| {
        format!(
            "{{\"id\":\"{id}\",\"type\":\"gemini\",\"tokens\":{{\"input\":100,\"output\":20,\
             \"cached\":30,\"thoughts\":5,\"total\":125}},\"model\":\"gemini-2.5-flash\"}}\n"
        )
    };
    append(
        &chats.join("session-2026-11-15T12-59-67e3a124.jsonl"),
        &(message("a") + &message("a") + &message("b")),
    );
    let session = "67e3a124-0e63-48b8-ac5b-cc3de979abb0";
    let entries = usage_file("gemini", &at(session, &env)).unwrap().news();
    assert_eq!(counts(&entries), [(100, 30, 25), (100, 30, 25)]);
    assert!(usage_file("gemini", &at("other-session", &env)).is_none());
}

#[test]
fn copilot_usage_records_are_calls() {
    let folder = tempfile::tempdir().unwrap();
    let env =
        |name: &str| (name == "COPILOT_HOME").then(|| folder.path().to_string_lossy().into_owned());
    let state = folder.path().join("session-state/68c7502c-08a0");
    fs::create_dir_all(&state).unwrap();
    append(
        &state.join("events.jsonl"),
        "{\"type\":\"session.start\",\"data\":{}}\n\
         {\"type\":\"session.usage_record\",\"data\":{\"usage\":{\"model\":\"gpt-4.1\",\
         \"inputTokens\":100,\"outputTokens\":20,\"cacheReadTokens\":40,\"maxPromptTokens\":64000}}}\n",
    );
    let entries = usage_file("copilot", &at("68c7502c-08a0", &env)).unwrap().news();
    assert_eq!(counts(&entries), [(100, 40, 20)]);
    assert_eq!((entries[0].window, entries[0].model.as_deref()), (Some(64_000), Some("gpt-4.1")));
    assert!(usage_file("copilot", &at("../68c7502c-08a0", &env)).is_none(), "an id is no path");
}

#[test]
fn goose_rows_are_told_once_and_only_those_of_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let env = |name: &str| {
        (name == "GOOSE_PATH_ROOT").then(|| folder.path().to_string_lossy().into_owned())
    };
    let sessions = folder.path().join("data/sessions");
    fs::create_dir_all(&sessions).unwrap();
    let theirs = rusqlite::Connection::open(sessions.join("sessions.db")).unwrap();
    theirs.pragma_update(None, "journal_mode", "wal").unwrap();
    theirs
        .execute_batch(
            "CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT,
             model TEXT, input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER,
             cost REAL);
             INSERT INTO usage_ledger (session_id, model, input_tokens, output_tokens, cost)
             VALUES ('s', 'm', 100, 20, 0.5), ('other', 'm', 7, 7, NULL);",
        )
        .unwrap();
    let mut usage = usage_file("goose", &at("s", &env)).unwrap();
    let entries = usage.news();
    assert_eq!(counts(&entries), [(100, 0, 20)]);
    assert_eq!(entries[0].usage.cost_usd, Some(0.5));
    assert!(usage.news().is_empty());
    theirs
        .execute("INSERT INTO usage_ledger (session_id, input_tokens, cache_read_tokens) VALUES ('s', 50, 30)", [])
        .unwrap();
    assert_eq!(counts(&usage.news()), [(50, 30, 0)]);
}
