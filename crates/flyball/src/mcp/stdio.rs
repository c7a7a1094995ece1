//! Standard input and output as the protocol's transport. A line that is too long or no message is
//! answered with an error that names its request, instead of being dropped in silence.

use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::thread;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use crate::guard_proxy::line::{Head, Line, LineCutter};

/// The longest message that is taken.
const LINE_MAX: usize = 16 * 1024 * 1024;
/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// How many messages may wait.
const WAITING: usize = 16;

/// JSON-RPC: no JSON, no request, too large.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;

/// The transport.
pub(super) struct Stdio {
    messages: Receiver<RxJsonRpcMessage<RoleServer>>,
    writer: mpsc::Sender<Outgoing>,
}

/// A line to be written, and who is told when it is.
type Outgoing = (String, oneshot::Sender<io::Result<()>>);

impl Stdio {
    /// Begins to read standard input and to write standard output, each in a thread of its own: a
    /// client that does not read holds up that thread, not the server.
    pub(super) fn open() -> io::Result<Self> {
        let (sender, messages) = channel(WAITING);
        thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            // The end of input, or of the receiver, is the end of this thread.
            read_all(&sender).ok();
        })?;
        let (writer, lines) = mpsc::channel::<Outgoing>();
        thread::Builder::new().name("stdout".to_owned()).spawn(move || {
            for (line, done) in lines {
                // Whoever does not wait for it does not need to know.
                done.send(write_line(&line)).ok();
            }
        })?;
        Ok(Self { messages, writer })
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "standard output is gone")
}

fn read_all(sender: &Sender<RxJsonRpcMessage<RoleServer>>) -> io::Result<()> {
    let mut stdin = io::stdin().lock();
    let mut buffer = vec![0; CHUNK];
    let mut cutter = LineCutter::new(LINE_MAX);
    loop {
        let count = match stdin.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        cutter.take(buffer.get(..count).unwrap_or_default(), |line| take(line, sender))?;
    }
}

fn take(mut line: Line, sender: &Sender<RxJsonRpcMessage<RoleServer>>) -> io::Result<()> {
    let Line::Held(bytes) = &line else {
        let length = line.length();
        let why = format!(
            "the message has {length} bytes; at most {LINE_MAX} are taken: put large data into a \
             file and pass its path"
        );
        return answer(&line.head().unwrap_or_default(), INVALID_REQUEST, &why);
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(());
    }
    match serde_json::from_slice(bytes) {
        Ok(message) => sender.blocking_send(message).map_err(io::Error::other),
        Err(_) => match serde_json::from_slice::<Value>(bytes) {
            Err(error) => {
                answer(&Head::default(), PARSE_ERROR, &format!("the line is not JSON: {error}"))
            }
            Ok(Value::Array(_)) => {
                let why = "batches are not taken: send each message in a line of its own";
                answer(&Head::default(), INVALID_REQUEST, why)
            }
            Ok(_) => {
                let head = Head::of(bytes).unwrap_or_default();
                let why = "the message is no JSON-RPC 2.0 request or notification of MCP";
                answer(&head, INVALID_REQUEST, why)
            }
        },
    }
}

/// Answers a line that never becomes a message.
fn answer(head: &Head, code: i64, message: &str) -> io::Result<()> {
    let id = head.id.clone().unwrap_or(Value::Null);
    let answer =
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
    write_line(&answer.to_string())
}

fn write_line(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (done, written) = oneshot::channel();
        // Handed over at once, so that messages keep their order.
        let handed = serde_json::to_string(&item)
            .map_err(io::Error::from)
            .and_then(|line| self.writer.send((line, done)).map_err(|_| gone()));
        async move {
            handed?;
            written.await.map_err(|_| gone())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.messages.close();
        Ok(())
    }
}
