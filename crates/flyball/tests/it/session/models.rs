//! A session with every kind of service, and with servers that behave badly.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use flyball_testkit::model::{ModelServer, Step};
use rustix::process::Signal;
use serde_json::json;

use super::{call, done, sh};
use crate::scenario::{Ran, Scenario};

const KEY: &str = "a-key-that-is-none";

/// Services of all four formats, and one of one's own.
const SERVICES: [&str; 5] = ["anthropic", "openai", "openai-chat", "gemini", "ollama"];

/// A session that asks a service at an address.
fn at(service: &str, url: &str) -> Scenario {
    let base = if matches!(service, "anthropic" | "gemini") { "" } else { "/v1" };
    let settings = format!(
        "[session]\nprovider = \"{service}\"\nmodel = \"mock-model\"\nbase_url = \"{url}{base}\"\n\
         permission = \"skip\"\nkey_env = \"MINE\"\n"
    );
    // A proxy is the way out of a machine, and no way on it.
    let scenario = Scenario::bare().env("http_proxy", "http://127.0.0.1:1");
    scenario.config(&settings).env("MINE", KEY).committed()
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
