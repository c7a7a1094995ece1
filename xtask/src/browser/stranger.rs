//! Another server of this machine, such as an agent may start: what a browser sends it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::driver::Browser;
use crate::scene::Served;

/// Only a hang reaches it.
const LONG: Duration = Duration::from_mins(2);

/// A browser that has opened the window visits a stranger under every usual name of this machine.
pub(super) fn gets_no_cookie(browser: &Browser, served: &Served) -> Result<()> {
    let socket = TcpListener::bind("127.0.0.1:0")?;
    let port = socket.local_addr()?.port();
    let (sender, heads) = channel();
    thread::spawn(move || {
        for stream in socket.incoming() {
            let Ok(mut stream) = stream else { return };
            let (mut head, mut piece) = (Vec::new(), [0; 4096]);
            while !head.windows(4).any(|four| four == b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => head.extend(piece.iter().take(count)),
                }
            }
            let page = "<!doctype html><title>stranger</title>stranger";
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
                page.len()
            );
            stream.write_all(answer.as_bytes()).ok();
            let head = String::from_utf8_lossy(&head).into_owned();
            if head.starts_with("GET / ") && sender.send(head).is_err() {
                return;
            }
        }
    });
    for name in ["127.0.0.1", "localhost", "other.localhost"] {
        browser.go(&format!("http://{name}:{port}/"))?;
        let head = heads.recv_timeout(LONG).context("the browser did not come")?;
        ensure!(!head.to_lowercase().contains("cookie:"), "{name} was sent a cookie: {head}");
    }
    // And a page of its own cannot read the window: the browser keeps its answers from it.
    let script = format!(
        "const done = arguments[arguments.length - 1]; \
         fetch({:?}, {{ credentials: 'include' }}).then((r) => done('read ' + r.status), () => done('refused'))",
        format!("{}/api/runs", served.origin)
    );
    let read = browser.run_async(&script)?;
    ensure!(read == serde_json::json!("refused"), "another site's page got: {read}");
    // What it complained of is what was wanted.
    browser.faults()?;
    browser.go(&served.origin)
}
