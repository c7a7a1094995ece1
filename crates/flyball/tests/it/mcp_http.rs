//! `flyball mcp --http`: who is let in, and what a client that dawdles or floods can do.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::scenario::{LONG, Scenario};

/// A server at work; ended when dropped.
struct Server {
    child: Child,
    port: u16,
    token: String,
    scenario: Scenario,
}

impl Server {
    fn start(more: &[&str]) -> Self {
        let scenario = Scenario::new().committed();
        let mut child = scenario
            .program(env!("CARGO_BIN_EXE_flyball"))
            .args(["mcp", "--http", "127.0.0.1:0"])
            .args(more)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = said.next().unwrap().unwrap();
        let port = line.rsplit_once(':').unwrap().1.trim_end_matches("/mcp").parse().unwrap();
        let line = said.next().unwrap().unwrap();
        let path = line.strip_prefix("token: ").unwrap().split(" (").next().unwrap().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let token = fs::read_to_string(path).unwrap().trim().to_owned();
        Self { child, port, token, scenario }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// One request by hand: the status line's code.
    fn post(&self, headers: &str) -> String {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "by-hand", "version": "1" } } })
        .to_string();
        let mut stream = self.connect();
        let length = body.len();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\n{headers}Content-Type: application/json\r\nAccept: \
             application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {length}\
             \r\n\r\n{body}"
        )
        .unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    }

    /// The header that lets in.
    fn right(&self) -> String {
        format!("Host: 127.0.0.1\r\nAuthorization: Bearer {}\r\n", self.token)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn only_who_knows_the_token_and_comes_from_here_is_let_in() {
    let server = Server::start(&[]);
    let (token, port) = (&server.token, server.port);
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let cases = [
        ("Host: 127.0.0.1\r\n".to_owned(), "401"),
        ("Host: 127.0.0.1\r\nAuthorization: Bearer wrong\r\n".to_owned(), "401"),
        (format!("Host: 127.0.0.1\r\nAuthorization: Basic {token}\r\n"), "401"),
        (format!("Host: 127.0.0.1\r\n{bearer}"), "200"),
        (format!("Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n{bearer}"), "200"),
        // Any program an agent starts may serve a page at another port.
        (format!("Host: localhost:{port}\r\nOrigin: http://localhost:3000\r\n{bearer}"), "403"),
        (format!("Host: 127.0.0.1\r\nOrigin: http://evil.example\r\n{bearer}"), "403"),
        (format!("Host: 127.0.0.1\r\nOrigin: http://localhost.evil.example\r\n{bearer}"), "403"),
        (format!("Host: 127.0.0.1\r\nOrigin: null\r\n{bearer}"), "403"),
        // A name of another site that was pointed at this machine.
        (format!("Host: evil.example\r\n{bearer}"), "403"),
    ];
    for (headers, code) in &cases {
        assert_eq!(server.post(headers), *code, "{headers}");
    }
}

#[test]
fn a_token_of_the_users_own_is_taken_when_only_they_can_read_it() {
    let scenario = Scenario::new();
    let path = scenario.outside("token");
    fs::write(&path, "a-token-of-my-own-0123\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let path = path.to_string_lossy();
    let refused = scenario.flyball(&["mcp", "--http", "127.0.0.1:0", "--token-file", &path]);
    assert_eq!(refused.code, 78, "{}", refused.stderr);
    assert!(refused.stderr.contains("chmod 600"), "{}", refused.stderr);
    fs::set_permissions(&*path, fs::Permissions::from_mode(0o600)).unwrap();
    let server = Server::start(&["--token-file", &path]);
    assert_eq!(server.token, "a-token-of-my-own-0123");
    assert_eq!(server.post(&server.right()), "200");
}

#[test]
fn who_dawdles_or_floods_keeps_nobody_else_out() {
    let server = Server::start(&[]);
    // More connections than there are places, none of which ever says what it wants.
    let mut silent: Vec<TcpStream> = (0..80).map(|_| server.connect()).collect();
    for stream in &mut silent {
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ").unwrap();
    }
    assert_eq!(server.post(&server.right()), "200");
    // They were closed, with an answer or without.
    let mut heard = Vec::new();
    silent[0].set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    silent[0].read_to_end(&mut heard).ok();
    drop(silent);
    // Sessions are few: whoever opens more is told so, and the server goes on.
    let codes: Vec<String> = (0..70).map(|_| server.post(&server.right())).collect();
    assert!(codes.contains(&"200".to_owned()) && codes.contains(&"503".to_owned()), "{codes:?}");
    assert_eq!(server.post("Host: 127.0.0.1\r\n"), "401");
    assert!(server.scenario.root().exists());
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    let right = server.right();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\n{right}Content-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: 99999999999\r\n\r\n{{"
    )
    .unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    assert_eq!(line.split(' ').nth(1), Some("413"), "{line}");
}
