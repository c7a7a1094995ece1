//! Just enough HTTP/1.1 for clients on loopback.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// The largest body and the longest head that are read.
const BODY_MAX: u64 = 64 * 1024 * 1024;
const HEAD_MAX: u64 = 64 * 1024;

/// A request as it came.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// What is sent back.
#[derive(Debug)]
pub(super) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Whole(Vec<u8>),
    /// Frames of an event stream, each flushed, with a pause in the middle; the connection ends after
    /// the last.
    Stream(Vec<String>, Duration),
}

impl Answer {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { status, headers, content: Content::Whole(body.to_string().into_bytes()) }
    }

    /// An event stream of (name, data); an empty name is left out.
    pub(super) fn stream(frames: Vec<(&str, Value)>) -> Self {
        let frames = frames.into_iter().map(|(name, data)| {
            let data = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
            let name = if name.is_empty() { String::new() } else { format!("event: {name}\n") };
            format!("{name}data: {data}\n\n")
        });
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        Self { status: 200, headers, content: Content::Stream(frames.collect(), Duration::ZERO) }
    }

    /// Only the first half of the stream.
    pub(super) fn cut(mut self) -> Self {
        match &mut self.content {
            Content::Stream(frames, _) => frames.truncate(frames.len() / 2),
            Content::Whole(bytes) => bytes.truncate(bytes.len() / 2),
        }
        self
    }

    /// Silence in the middle of the stream.
    pub(super) fn pausing(mut self, time: Duration) -> Self {
        if let Content::Stream(_, pause) = &mut self.content {
            *pause = time;
        }
        self
    }

    pub(super) fn with_headers(mut self, headers: &[(String, String)]) -> Self {
        self.headers.extend_from_slice(headers);
        self
    }

    /// Whether the connection ends with it.
    pub(super) fn closes(&self) -> bool {
        matches!(self.content, Content::Stream(..))
    }
}

/// One connection.
pub(super) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        let writer = stream.try_clone()?;
        Ok(Self { reader: BufReader::new(stream), writer })
    }

    /// The next request; none when the client has gone.
    pub(super) fn read(&mut self) -> io::Result<Option<Asked>> {
        let first = self.line()?;
        if first.is_empty() {
            return Ok(None);
        }
        let mut words = first.split_whitespace();
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default();
        let path = target.split('?').next().unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        let body = self.body(&headers)?;
        Ok(Some(Asked { method, path, headers, body }))
    }

    fn body(&mut self, headers: &[(String, String)]) -> io::Result<Vec<u8>> {
        let header = |wanted: &str| {
            headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
        };
        if header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            self.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let mut body = Vec::new();
        if header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            loop {
                let line = self.line()?;
                let size = line.split(';').next().unwrap_or_default().trim();
                let size = u64::from_str_radix(size, 16).map_err(io::Error::other)?;
                self.take(size, &mut body)?;
                self.line()?;
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        let length = header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        self.take(length, &mut body)?;
        Ok(body)
    }

    fn take(&mut self, size: u64, body: &mut Vec<u8>) -> io::Result<()> {
        let so_far = u64::try_from(body.len()).map_err(io::Error::other)?;
        if so_far.saturating_add(size) > BODY_MAX {
            return Err(io::Error::other("the body is too large"));
        }
        let read = self.reader.by_ref().take(size).read_to_end(body)?;
        if u64::try_from(read).map_err(io::Error::other)? < size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.reader.by_ref().take(HEAD_MAX).read_until(b'\n', &mut line)?;
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// Sends an answer; `wait` is asked to let time pass.
    pub(super) fn write(&mut self, answer: &Answer, wait: &dyn Fn(Duration)) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Scripted\r\n", answer.status);
        for (name, value) in &answer.headers {
            write!(head, "{name}: {value}\r\n").map_err(io::Error::other)?;
        }
        match &answer.content {
            Content::Whole(bytes) => {
                write!(head, "content-length: {}\r\n\r\n", bytes.len())
                    .map_err(io::Error::other)?;
                self.writer.write_all(head.as_bytes())?;
                self.writer.write_all(bytes)?;
            }
            Content::Stream(frames, pause) => {
                head.push_str("connection: close\r\n\r\n");
                self.writer.write_all(head.as_bytes())?;
                for (number, frame) in frames.iter().enumerate() {
                    if number == frames.len() / 2 {
                        wait(*pause);
                    }
                    self.writer.write_all(frame.as_bytes())?;
                    self.writer.flush()?;
                }
                self.writer.shutdown(std::net::Shutdown::Both)?;
            }
        }
        self.writer.flush()
    }
}
