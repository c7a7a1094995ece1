//! What a browser does: it opens the link, keeps the cookie, and sends back what a page gave it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Stdio};
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use serde_json::Value;

use crate::scenario::{LONG, Scenario};

/// A window that is served, and a browser that has opened it.
pub(super) struct Window {
    child: Child,
    _stdin: ChildStdin,
    pub(super) port: u16,
    pub(super) host: String,
    cookie: String,
}

impl Window {
    /// Serves the runs of a scenario, and opens the link.
    pub(super) fn open(scenario: &Scenario, more: &[&str]) -> Self {
        let mut child = scenario
            .program(env!("CARGO_BIN_EXE_flyball"))
            .arg("serve")
            .args(if more.contains(&"--port") { &[][..] } else { &["--port", "0"] })
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let said = child.stdout.take().unwrap();
        let line = BufReader::new(said).lines().next().unwrap().unwrap();
        let (_, link) = line.split_once("http://").unwrap();
        let (host, path) = link.split_once('/').unwrap();
        let port = host.rsplit_once(':').unwrap().1.parse().unwrap();
        let mut window =
            Self { child, _stdin: stdin, port, host: host.to_owned(), cookie: String::new() };
        let (status, head, _) = window.ask("GET", &format!("/{path}"), &[], "");
        assert_eq!(status, 303, "{head}");
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        cookie.split(';').next().unwrap().clone_into(&mut window.cookie);
        window
    }

    /// Kills the server, as a crash would.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// One request, as the page's own browser makes it, with what is added.
    pub(super) fn ask(
        &self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: &str,
    ) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(self.head(method, path, more, body).as_bytes()).unwrap();
        let mut seen = Vec::new();
        stream.read_to_end(&mut seen).unwrap();
        let text = String::from_utf8_lossy(&seen).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.replace('\r', ""), body.to_owned())
    }

    pub(super) fn head(
        &self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: &str,
    ) -> String {
        let Self { host, cookie, .. } = self;
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        if !cookie.is_empty() {
            text.extend([format!("cookie: {cookie}\r\n")]);
        }
        for (name, value) in more {
            text.extend([format!("{name}: {value}\r\n")]);
        }
        format!("{text}content-length: {}\r\n\r\n{body}", body.len())
    }

    /// A page or data, which must be there.
    #[track_caller]
    pub(super) fn get(&self, path: &str) -> String {
        let (status, _, body) = self.ask("GET", path, &[], "");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    #[track_caller]
    pub(super) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.get(path)).unwrap()
    }

    /// What a page was given besides the cookie to act on this run.
    #[track_caller]
    pub(super) fn token(&self, path: &str) -> String {
        let page = self.get(path);
        let token = page.split("name=\"page\" value=\"").nth(1);
        let token = token.unwrap_or_else(|| panic!("{path} offers no act: {page}"));
        token.split('"').next().unwrap().to_owned()
    }

    /// Sends a form as the script of the page does.
    pub(super) fn send(&self, run: &str, act: &str, token: &str, fields: &[(&str, &str)]) -> Told {
        let escaped = |text: &str| -> String {
            text.bytes()
                .map(|byte| match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
                    other => format!("%{other:02X}"),
                })
                .collect()
        };
        let mut body = format!("page={token}");
        for (name, value) in fields {
            body.extend([format!("&{name}={}", escaped(value))]);
        }
        let origin = format!("http://{}", self.host);
        let more = [
            ("origin", origin.as_str()),
            ("content-type", "application/x-www-form-urlencoded"),
            ("accept", "application/json"),
        ];
        let (status, _, text) = self.ask("POST", &format!("/api/runs/{run}/{act}"), &more, &body);
        let value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        let word = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Told { status, done: word("done"), error: word("error") }
    }

    /// The same, with the token of the run's own page.
    #[track_caller]
    pub(super) fn act(&self, run: &str, act: &str, fields: &[(&str, &str)]) -> Told {
        self.send(run, act, &self.token(&format!("/runs/{run}")), fields)
    }

    /// Waits until data at this address is as wanted.
    #[track_caller]
    pub(super) fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let limit = Deadline::after(LONG);
        loop {
            let value = self.json(path);
            if wanted(&value) {
                return value;
            }
            assert!(!limit.passed(), "{path} stays {value:#}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What came of an act.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) done: String,
    pub(super) error: String,
}

impl Told {
    #[track_caller]
    pub(super) fn ok(&self) -> &str {
        assert_eq!(self.status, 200, "{self:?}");
        &self.done
    }

    #[track_caller]
    pub(super) fn too_late(&self) -> &str {
        assert_eq!(self.status, 409, "{self:?}");
        &self.error
    }
}
