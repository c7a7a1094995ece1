//! A server that says exactly what a test wants, byte for byte, when it wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// What the server does with one connection.
pub(crate) type Act = Box<dyn FnOnce(&mut Visit) + Send>;

/// One connection, its request read.
pub(crate) struct Visit {
    pub(crate) head: String,
    pub(crate) body: String,
    stream: TcpStream,
    /// Becomes readable when the test is over, so that a silent server ends too.
    over: Receiver<()>,
}

impl Visit {
    pub(crate) fn say(&mut self, bytes: impl AsRef<[u8]>) {
        // A client that has gone is part of many tests.
        drop(self.stream.write_all(bytes.as_ref()).and_then(|()| self.stream.flush()));
    }

    /// The head of an event stream that ends with the connection.
    pub(crate) fn stream_head(&mut self) {
        self.say("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
    }

    /// Says nothing until the test is over.
    pub(crate) fn hang(&mut self) {
        let _ = self.over.recv();
    }

    /// Reads one more request on the same connection; false when there is none.
    pub(crate) fn next_request(&mut self) -> bool {
        let Some((head, body)) = request(&self.stream) else { return false };
        (self.head, self.body) = (head, body);
        true
    }

    /// Whether the client hangs up; waits until it does.
    pub(crate) fn sees_the_end(&mut self) -> bool {
        let mut rest = Vec::new();
        matches!(self.stream.read_to_end(&mut rest), Ok(_) | Err(_))
    }
}

/// A server on loopback; one act for each connection.
pub(crate) struct Server {
    pub(crate) url: String,
    over: Vec<Sender<()>>,
}

pub(crate) fn serve(acts: Vec<Act>) -> Server {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut over = Vec::new();
    let mut waiting = Vec::new();
    for act in acts {
        let (sender, receiver) = channel();
        over.push(sender);
        waiting.push((act, receiver));
    }
    thread::spawn(move || {
        for (act, over) in waiting {
            let Ok((stream, _)) = listener.accept() else { return };
            thread::spawn(move || {
                let mut visit = read(stream, over);
                act(&mut visit);
            });
        }
    });
    Server { url, over }
}

/// A server that gives one answer and closes.
pub(crate) fn serve_text(answer: impl Into<String>) -> Server {
    let answer = answer.into();
    serve(vec![Box::new(move |visit: &mut Visit| visit.say(answer))])
}

/// An answer with a status, headers and a body.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> String {
    let mut lines = vec![format!("HTTP/1.1 {status} Said")];
    lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
    lines.push(format!("content-length: {}\r\n\r\n{body}", body.len()));
    lines.join("\r\n")
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.clear();
    }
}

fn read(stream: TcpStream, over: Receiver<()>) -> Visit {
    let (head, body) = request(&stream).unwrap_or_default();
    Visit { head, body, stream, over }
}

/// The next request of a connection. Clients here wait for an answer before they ask again, so that
/// nothing is read too far.
fn request(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8_lossy(&body).into_owned()))
}
