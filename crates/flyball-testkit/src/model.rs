//! A scripted model on loopback, so that real agent programs can be tested without a key or a
//! network.
//!
//! It speaks four wire formats: Anthropic Messages, `OpenAI` Responses, `OpenAI` chat completions and
//! Gemini. Only requests that carry tools consume a step of the script; the others (titles,
//! summaries) get a fixed answer. The last step repeats.

mod anthropic;
mod chat;
mod gemini;
mod http;
mod responses;
mod step;
#[cfg(test)]
mod tests;
mod wire;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fmt, io};

use serde_json::{Value, json};

use self::http::{Answer, Asked};
pub use self::step::{Call, Step};
pub use self::wire::{Given, Wire};

/// A request the server received.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its path, without the query.
    pub path: String,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Value,
    /// The wire format, when the path belongs to one.
    pub wire: Option<Wire>,
    /// The number of the script's step that answered it; none for titles and other side requests.
    pub step: Option<usize>,
}

impl Request {
    /// What the model was told in this request: the user's messages and the tools' results.
    pub fn given(&self) -> Given {
        self.wire.map(|wire| wire.given(&self.body)).unwrap_or_default()
    }
}

/// The server. It ends when it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

/// What the model says to what it is told.
type Decide = Box<dyn Fn(&Request) -> Step + Send + Sync>;

struct Shared {
    script: Vec<Step>,
    /// Answers in place of a script.
    decide: Option<Decide>,
    next: Mutex<Next>,
    requests: Mutex<Vec<Request>>,
    ending: AtomicBool,
    /// Wakes those who hang when the server ends.
    wake: (Mutex<()>, Condvar),
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("script", &self.script).finish_non_exhaustive()
    }
}

/// The step that answers next, and since when it does.
#[derive(Debug, Default)]
struct Next {
    number: usize,
    since: Option<Instant>,
}

impl ModelServer {
    /// Starts on a free port of 127.0.0.1.
    pub fn start(script: Vec<Step>) -> io::Result<Self> {
        Self::with(script, None)
    }

    /// A model that looks at what it is told, and at the world, instead of following a script.
    pub fn deciding(decide: impl Fn(&Request) -> Step + Send + Sync + 'static) -> io::Result<Self> {
        Self::with(Vec::new(), Some(Box::new(decide)))
    }

    fn with(script: Vec<Step>, decide: Option<Decide>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script,
            decide,
            next: Mutex::default(),
            requests: Mutex::default(),
            ending: AtomicBool::new(false),
            wake: (Mutex::default(), Condvar::new()),
        });
        let accepting = Arc::clone(&shared);
        let listening = thread::spawn(move || accept(&listener, &accepting));
        Ok(Self { address, shared, listening: Some(listening) })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Its address as a URL, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// The requests that consumed a step.
    pub fn turns(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.step.is_some()).collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::SeqCst);
        self.shared.wake.1.notify_all();
        // The listener waits in `accept`: one more connection lets it see the end.
        drop(TcpStream::connect(self.address));
        if let Some(listening) = self.listening.take() {
            drop(listening.join());
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.ending.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        thread::spawn(move || drop(serve(stream, &shared)));
    }
}

/// Answers the requests of one connection.
fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_mins(2)))?;
    stream.set_nodelay(true)?;
    let mut connection = http::Connection::new(stream)?;
    while let Some(asked) = connection.read()? {
        let answer = shared.answer(asked);
        let last = answer.closes();
        connection.write(&answer, &|time| shared.hang(time))?;
        if last || shared.ending.load(Ordering::SeqCst) {
            break;
        }
    }
    Ok(())
}

impl Shared {
    fn answer(&self, asked: Asked) -> Answer {
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or(Value::Null);
        let wire = Wire::of(&asked.path).filter(|_| asked.method == "POST");
        let has_tools = body.get("tools").and_then(Value::as_array).is_some_and(|t| !t.is_empty());
        let (step, scripted) = match wire {
            Some(_) if has_tools && self.decide.is_none() => self.next_step(),
            Some(_) if has_tools => (Some(lock(&self.requests).len()), Step::text("")),
            _ => (None, Step::text("ok")),
        };
        let Asked { path, headers, .. } = asked;
        let request = Request { path: path.clone(), headers, body: body.clone(), wire, step };
        let step = match &self.decide {
            Some(decide) if step.is_some() => decide(&request),
            Some(_) | None => scripted,
        };
        lock(&self.requests).push(request);
        match wire {
            Some(wire) => {
                self.hang(step.hang);
                wire.answer(&step, &body, &path)
            }
            None => beside(&asked.method, &path),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a step that lasts needs a clock of its own")]
    fn next_step(&self) -> (Option<usize>, Step) {
        let mut next = lock(&self.next);
        let last = self.script.len().saturating_sub(1);
        loop {
            let number = next.number.min(last);
            let Some(step) = self.script.get(number) else {
                return (Some(number), Step::text("the script is empty"));
            };
            let since = *next.since.get_or_insert_with(Instant::now);
            let over = since.elapsed() >= step.lasting;
            if over {
                *next = Next { number: number + 1, since: None };
            }
            if !over || step.lasting.is_zero() || number == last {
                return (Some(number), step.clone());
            }
        }
    }

    /// Waits, but not longer than the server lives.
    fn hang(&self, wait: Duration) {
        if !wait.is_zero() {
            let held = lock(&self.wake.0);
            let ending = |(): &mut ()| !self.ending.load(Ordering::SeqCst);
            drop(self.wake.1.wait_timeout_while(held, wait, ending));
        }
    }
}

/// Questions beside the model's own: which models there are, how many tokens a text has.
fn beside(method: &str, path: &str) -> Answer {
    if method == "HEAD" {
        return Answer::json(200, &json!({}));
    }
    if path.ends_with("/models") {
        let model = json!({ "id": "mock-model", "object": "model" });
        return Answer::json(200, &json!({ "object": "list", "data": [model] }));
    }
    if path.ends_with("/count_tokens") || path.ends_with(":countTokens") {
        return Answer::json(200, &json!({ "input_tokens": 100, "totalTokens": 100 }));
    }
    let error = json!({ "type": "not_found_error", "message": "no such path" });
    Answer::json(404, &json!({ "error": error }))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
