//! One request over the network. A thread of its own sends and reads, so that whoever waits for it
//! can stop waiting at any moment.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use ureq::Agent;

use crate::cancel::{Cancel, Sleeper};

/// How many pieces wait to be taken: whoever takes slowly slows the server down.
const PIECES_MAX: usize = 8;

/// The largest piece.
const PIECE_BYTES: usize = 16 * 1024;

/// How long an answer that is whole may take to end, so that its connection can be used again.
const FAREWELL: Duration = Duration::from_millis(100);

/// What is sent.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// What comes back.
#[derive(Debug)]
pub(crate) enum Arrived {
    /// The head of the answer: its status and headers, names in lower case.
    Head(u16, Vec<(String, String)>),
    /// The next bytes of its body.
    Bytes(Vec<u8>),
    /// The body is whole.
    End,
    /// It cannot be sent or read on.
    Broken(ureq::Error),
    /// Someone may have cancelled.
    Wake,
}

/// Why nothing came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// Not in time.
    TooLong,
    /// Nobody wants it any more.
    Cancelled,
}

/// A request under way.
pub(crate) struct Exchange<'a> {
    agent: Agent,
    arrivals: Receiver<Arrived>,
    cancel: &'a Cancel,
    /// When it is cancelled by itself.
    until: Option<Instant>,
    sleeper: Sleeper<'a>,
}

impl<'a> Exchange<'a> {
    /// Sends a request, which can be cancelled, or has a time for all of it.
    pub(crate) fn begin(
        agent: Agent,
        post: Post,
        (cancel, within): (&'a Cancel, Option<Duration>),
    ) -> io::Result<Self> {
        let until = within.and_then(|time| now().checked_add(time));
        let (sender, arrivals) = sync_channel(PIECES_MAX);
        let waker = sender.clone();
        // A full channel wakes its reader too.
        let sleeper = cancel.on_cancel(move || drop(waker.try_send(Arrived::Wake)));
        let sending = agent.clone();
        let work = move || {
            if let Err(error) = talk(&sending, post, &sender) {
                drop(sender.send(Arrived::Broken(error)));
            }
        };
        thread::Builder::new().name("model".to_owned()).spawn(work)?;
        Ok(Self { agent, arrivals, cancel, until, sleeper })
    }

    /// What comes next, within a time.
    pub(crate) fn next(&self, limit: Duration) -> Result<Arrived, Waited> {
        let deadline = now().checked_add(limit);
        loop {
            let moment = now();
            let left = |at: Option<Instant>, without| {
                at.map_or(without, |at: Instant| at.saturating_duration_since(moment))
            };
            let (left, all) = (left(deadline, limit), left(self.until, Duration::MAX));
            if self.cancel.is_cancelled() || all.is_zero() {
                return Err(Waited::Cancelled);
            }
            let left = left.min(all);
            match self.arrivals.recv_timeout(left) {
                Ok(Arrived::Wake) => {}
                Ok(arrived) => return Ok(arrived),
                // It was the time for all of it that has passed.
                Err(RecvTimeoutError::Timeout) if left == all => {}
                Err(RecvTimeoutError::Timeout) => return Err(Waited::TooLong),
                Err(RecvTimeoutError::Disconnected) => {
                    let error = io::Error::from(io::ErrorKind::UnexpectedEof);
                    return Ok(Arrived::Broken(error.into()));
                }
            }
        }
    }

    /// The answer is whole. Gives back what it was sent with, its connection ready for the next.
    pub(crate) fn finish(self) -> Option<Agent> {
        loop {
            match self.next(FAREWELL) {
                Ok(Arrived::End) => return Some(self.agent),
                Ok(Arrived::Bytes(_)) => {}
                Ok(Arrived::Head(..) | Arrived::Broken(_) | Arrived::Wake) | Err(_) => {
                    self.abandon();
                    return None;
                }
            }
        }
    }

    /// Ends it now: its connection is closed, and its thread with it.
    pub(crate) fn abandon(self) {
        drop(self.sleeper);
        drop(self.arrivals);
        self.agent.shutdown();
    }
}

/// How long something lasts is all that is asked of this clock.
#[expect(clippy::disallowed_methods, reason = "a span of one wait, never a moment that is kept")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

fn talk(agent: &Agent, post: Post, to: &SyncSender<Arrived>) -> Result<(), ureq::Error> {
    let mut request = agent.post(&post.url);
    for (name, value) in &post.headers {
        let mut value =
            ureq::http::HeaderValue::from_str(value).map_err(ureq::http::Error::from)?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    let response = request.send(post.body.as_slice())?;
    // A long conversation need not stay in memory while its answer is read.
    drop(post);
    let headers = response.headers().iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let head = Arrived::Head(response.status().as_u16(), headers.collect());
    if to.send(head).is_err() {
        return Ok(());
    }
    let mut body = response.into_body().into_reader();
    loop {
        let mut piece = vec![0; PIECE_BYTES];
        let read = match body.read(&mut piece) {
            Ok(0) => {
                drop(to.send(Arrived::End));
                return Ok(());
            }
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        piece.truncate(read);
        if to.send(Arrived::Bytes(piece)).is_err() {
            return Ok(());
        }
    }
}
