//! A session with every kind of service, and with servers that behave badly.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use flyball_testkit::model::{ModelServer, Step};
use rustix::process::Signal;
use serde_json::json;

use super::{call, done, sh};
use crate::scenario::{LONG, Ran, Scenario};

const KEY: &str = "a-key-that-is-none";

/// Services of all four formats, and one of one's own.
const SERVICES: [&str; 5] = ["anthropic", "openai", "openai-chat", "gemini", "ollama"];

/// A session that asks a service at an address.
fn at(service: &str, url: &str) -> Scenario {
    let base = if matches!(service, "anthropic" | "gemini") { "" } else { "/v1" };
    // A proxy is the way out of a machine, and no way on it.
    let scenario = Scenario::bare().env("http_proxy", "http://127.0.0.1:1");
    let mine = format!(
        "[session]\nbase_url = \"{url}{base}\"\npermission = \"skip\"\nkey_env = \"MINE\"\n"
    );
    of_user(&scenario, &mine);
    let project = format!("[session]\nprovider = \"{service}\"\nmodel = \"mock-model\"\n");
    scenario.config(&project).env("MINE", KEY).committed()
}

/// Settings of the user's own.
pub(super) fn of_user(scenario: &Scenario, settings: &str) {
    let folder = scenario.outside("home/.config/flyball");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), settings).unwrap();
}

#[track_caller]
fn ends(scenario: &Scenario, service: &str, code: i32) -> Ran {
    let ran = scenario.flyball(&["session", "mend it"]);
    assert_eq!(ran.code, code, "{service}\n{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(ran.left, [0; 0], "{service}");
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(KEY), "{service}");
    ran
}

#[test]
fn a_task_is_done_with_every_service() {
    for service in SERVICES {
        let script = vec![
            call("read", &json!({ "path": "a.txt" }))
                .and_call("list", &json!({}))
                .saying("Looking.")
                .thinking("I should look first.", "signature-1"),
            call("edit", &json!({ "path": "a.txt", "old": "hi", "new": "ho" })),
            done(),
        ];
        let model = ModelServer::start(script).unwrap();
        let scenario = at(service, &model.url());
        let ran = ends(&scenario, service, 0);
        assert!(
            ran.stdout.contains("Looking.\n") && ran.stdout.ends_with("All done.\n"),
            "{ran:?}"
        );
        assert_eq!(scenario.read("a.txt"), "ho\n", "{service}");
        let turns = model.turns();
        assert_eq!(turns.len(), 3, "{service}");
        let given = turns[2].given();
        assert!(given.results[0].contains("hi") && given.results[1].contains("a.txt"), "{given:?}");
        assert!(given.results[2].contains("changed `a.txt`"), "{service}: {given:?}");
        // What was thought goes back, in the service's own way.
        let sent = turns[1].body.to_string();
        let thought = if matches!(service, "openai-chat" | "ollama") {
            "I should look first."
        } else {
            "signature-1"
        };
        assert!(sent.contains(thought), "{service}: {sent}");
    }
}

#[test]
fn trouble_that_passes_costs_nothing_but_time() {
    let overloaded = || json!({ "type": "overloaded_error", "code": 529, "message": "Overloaded" });
    for service in SERVICES {
        let script = vec![
            Step::error(429).header("retry-after", "0"),
            sh("echo once >> called").cut(),
            sh("echo once >> called"),
            Step::text("some words that break").breaking(overloaded()),
            Step::error(503).header("retry-after", "0"),
            done(),
        ];
        let model = ModelServer::start(script).unwrap();
        let scenario = at(service, &model.url());
        ends(&scenario, service, 0);
        // The call of the answer that was cut was not made.
        assert_eq!(scenario.read("called"), "once\n", "{service}");
        assert_eq!(model.turns().len(), 6, "{service}");
    }
}

#[test]
fn trouble_that_stays_is_told_in_every_services_words() {
    let cases = [
        (401, "bad key", "refused the key"),
        (404, "no such model", "has no model `mock-model`"),
        (400, "you did something wrong", "does not accept the request"),
    ];
    for service in SERVICES {
        for (status, message, words) in cases {
            let model = ModelServer::start(vec![Step::error(status).saying(message)]).unwrap();
            let ran = ends(&at(service, &model.url()), service, 7);
            assert!(ran.stderr.contains(words), "{service} {status}: {}", ran.stderr);
            assert!(ran.stderr.contains(message), "{service} {status}: {}", ran.stderr);
            assert_eq!(model.turns().len(), 1, "{service}: asked again in vain");
        }
    }
}

#[test]
fn arguments_that_are_no_json_go_back_with_every_service() {
    for service in SERVICES {
        let model =
            ModelServer::start(vec![Step::malformed("run", "{\"command\": "), done()]).unwrap();
        ends(&at(service, &model.url()), service, 0);
        assert_eq!(model.turns().len(), 2, "{service}");
        let given = model.turns()[1].given();
        let told: String = given.results.into_iter().chain(given.messages).collect();
        assert!(told.contains("JSON") || told.contains("could not be read"), "{service}: {told}");
    }
}

/// The window fills up, the older part becomes a summary, and flyball is killed before and after it.
#[test]
fn a_summary_and_a_kill_9_lose_nothing_with_any_service() {
    for service in SERVICES {
        let script = vec![
            sh("echo one >> effects; seq 3000").using(8_500, 0, 10),
            Step::text("learnt: the answer is 42"),
            sh("echo two >> effects").after(Duration::from_mins(1)),
            sh("echo two >> effects"),
            done(),
        ];
        let model = ModelServer::start(script).unwrap();
        let scenario = at(service, &model.url()).env("FLYBALL_SESSION__WINDOW", "10000");
        let running = scenario.spawn_with_words(&["session", "mend it"]);
        let limit = Deadline::after(LONG);
        while model.turns().len() < 3 {
            assert!(!limit.passed(), "{service}: the model was not asked");
            thread::sleep(Duration::from_millis(5));
        }
        running.signal(Signal::KILL);
        assert_eq!(running.wait().code, -9);
        scenario.until_quiet();
        let ran = scenario.flyball(&["session", "--resume"]);
        assert_eq!(ran.code, 0, "{service}: {}", ran.stderr);
        assert_eq!(scenario.read("effects"), "one\ntwo\n", "{service}");
        let turns = model.turns();
        assert_eq!(turns.len(), 5, "{service}");
        let given = turns[3].given();
        let all = given.messages.join("\n");
        assert!(all.contains("mend it") && all.contains("the answer is 42"), "{service}: {all}");
        assert_eq!(given.results.len(), 0, "{service}: {given:?}");
    }
}

/// What a service says instead of going on, in its own words.
#[test]
fn what_a_model_declines_or_does_not_finish_is_told() {
    // (service, declined, cut off)
    let words = [
        ("anthropic", "refusal", "max_tokens"),
        ("openai", "content_filter", "max_output_tokens"),
        ("openai-chat", "content_filter", "length"),
        ("gemini", "SAFETY", "MAX_TOKENS"),
    ];
    for (service, declined, cut_off) in words {
        let model = ModelServer::start(vec![Step::text("I will").stopping(declined)]).unwrap();
        let ran = ends(&at(service, &model.url()), service, 7);
        assert!(ran.stderr.contains("declined to answer"), "{service}: {}", ran.stderr);
        let script = vec![Step::text("half of").stopping(cut_off), call("fly", &json!({})), done()];
        let model = ModelServer::start(script).unwrap();
        ends(&at(service, &model.url()), service, 0);
        let turns = model.turns();
        assert_eq!(turns.len(), 3, "{service}");
        let told = turns[1].given().messages.join("\n");
        assert!(told.contains("cut off by the token limit"), "{service}: {told}");
        let told = turns[2].given().results.join("\n");
        assert!(told.contains("there is no tool `fly`"), "{service}: {told}");
    }
}

/// A server that does with every connection what it is told; the request is read before.
fn raw(act: fn(&mut TcpStream)) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                read_request(&stream);
                act(&mut stream);
            });
        }
    });
    url
}

fn read_request(stream: &TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    drop(reader.read_exact(&mut body));
}

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// Thinks as fast as it can, for ever.
#[test]
fn endless_thinking_is_ended_by_its_size() {
    let url = raw(|stream| {
        let words = "on and on and on ".repeat(500);
        let event = json!({ "choices": [{ "delta": { "reasoning_content": words } }] });
        let event = format!("data: {event}\n\n");
        let mut sent = stream.write_all(HEAD);
        while sent.is_ok() {
            sent = stream.write_all(event.as_bytes());
        }
    });
    let scenario = at("ollama", &url);
    let ran = scenario.flyball(&["session", "mend it"]);
    assert_ne!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("more than 67108864 bytes"), "{}", ran.stderr);
    assert_eq!(ran.left, [0; 0]);
}

/// Thinks slowly, for ever: there is always a sign of life, and the time it may take ends it.
#[test]
fn endless_thinking_is_ended_by_its_time() {
    let think: Answer = |stream| {
        let event = json!({ "choices": [{ "delta": { "reasoning_content": "hm " } }] });
        let mut sent = stream.write_all(HEAD);
        while sent.is_ok() {
            thread::sleep(Duration::from_millis(20));
            sent = stream.write_all(format!("data: {event}\n\n").as_bytes());
        }
    };
    let live: Answer = |stream| {
        let mut sent = stream.write_all(HEAD);
        while sent.is_ok() {
            thread::sleep(Duration::from_millis(20));
            sent = stream.write_all(b": waiting\n\n");
        }
    };
    for act in [think, live] {
        let scenario = at("ollama", &raw(act)).env("FLYBALL_LIMITS__RUNTIME", "1s");
        let ran = ends(&scenario, "ollama", 5);
        assert!(ran.stderr.contains("stopped: max_runtime"), "{}", ran.stderr);
        let again = scenario.flyball(&["session", "--resume"]);
        assert_eq!(again.code, 5, "used up is used up: {}", again.stderr);
    }
}

/// Sends keep-alives and never a word: it is alive, so only a human or a budget ends it.
#[test]
fn a_server_that_only_says_it_is_alive_can_be_left() {
    let url = raw(|stream| {
        let mut sent = stream.write_all(HEAD);
        while sent.is_ok() {
            thread::sleep(Duration::from_millis(50));
            sent = stream.write_all(b": waiting\n\n");
        }
    });
    let scenario = at("ollama", &url).env("FLYBALL_SESSION__STALL_AFTER", "2s");
    let running = scenario.spawn_with_words(&["session", "mend it"]);
    running.until_says("mock-model");
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.left, [0; 0]);
}

type Answer = fn(&mut TcpStream);

#[test]
fn what_is_no_model_is_told_so() {
    let cases: [(Answer, &str); 4] = [
        (
            |stream| drop(stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n<html>Welcome</html>")),
            "ended before its end",
        ),
        (
            |stream| drop(stream.write_all(b"HTTP/1.1 502 x\r\n\r\n<html>Bad gateway</html>")),
            "HTML page",
        ),
        (|stream| drop(stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n")), "no HTTP"),
        (
            |stream| drop(stream.write_all(b"HTTP/1.1 200 OK\r\n\r\ndata: {broken\n\n")),
            "cannot be read",
        ),
    ];
    for (act, words) in cases {
        let ran = ends(&at("ollama", &raw(act)), "ollama", 7);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}
