//! The live stream of a run at work, over a server that is killed and comes back.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use super::browser::Window;
use crate::scenario::{LONG, Scenario};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A stream, as a program with the token opens it.
fn listen(window: &Window) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", window.port)).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let head = format!(
        "GET /api/live HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    BufReader::new(stream)
}

/// Reads on until a line holds this; whether one did before the end.
fn until(stream: &mut BufReader<TcpStream>, words: &str) -> bool {
    let mut line = String::new();
    loop {
        line.clear();
        match stream.read_line(&mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) if line.contains(words) => return true,
            Ok(_) => {}
        }
    }
}

#[test]
fn a_server_that_is_killed_and_comes_back_tells_on() {
    let works = "while ! test -e $OUT/end; do call $$ Read '{}'; result $$ x false; sleep 0.2; done\n\
                 work; text '<promise>COMPLETE</promise>'";
    let scenario = Scenario::bare().committed().flags(&["--trust-claims"]).speaker(works);
    let file = scenario.outside("token");
    fs::write(&file, TOKEN).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let file = file.to_string_lossy().into_owned();
    let window = Window::open(&scenario, &["--token-file", &file]);
    let running = scenario.spawn();
    let mut stream = listen(&window);
    assert!(until(&mut stream, "event: hello"));
    assert!(until(&mut stream, "data: {\"runs\":[\""), "the run at work is named");
    let port = window.port.to_string();
    window.kill();
    assert!(!until(&mut stream, "event: nothing"), "the line is dead, and ends");
    let window = Window::open(&scenario, &["--token-file", &file, "--port", &port]);
    let mut stream = listen(&window);
    assert!(until(&mut stream, "event: hello"), "who comes back is told to look");
    assert!(until(&mut stream, "data: {\"runs\":[\""), "and hears of the same run");
    let run = scenario.last_run().run.to_string();
    fs::write(scenario.outside("end"), "").unwrap();
    assert_eq!(running.wait().code, 0);
    window.until(&format!("/api/runs/{run}"), |value| value["run"]["stands"] == "ended");
    assert!(until(&mut stream, &run), "its end is told");
}
