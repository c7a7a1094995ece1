//! The live stream: says only that something changed, and which runs. Who listens fetches again, so a
//! lost word can never leave a wrong page.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::access::Visitor;

/// Streams at a time, in all and of one browser: a browser has six connections for everything.
pub(super) const STREAMS_MAX: usize = 64;
const OF_ONE_MAX: usize = 4;
/// Words a listener may be behind before it is let go: it fetches again when it comes back.
const BEHIND_MAX: usize = 8;
/// After which silence a stream says that it is there.
pub(super) const SIGN_EVERY: Duration = Duration::from_secs(15);

/// Everybody who listens.
#[derive(Debug, Default)]
pub(super) struct Streams {
    listeners: Mutex<VecDeque<Listener>>,
    counter: AtomicU64,
}

#[derive(Debug)]
struct Listener {
    visitor: Visitor,
    sender: Sender<Bytes>,
}

impl Streams {
    /// A new stream; none when there are too many. A browser that opens one more than it may loses
    /// its oldest.
    pub(super) fn open(&self, visitor: Visitor) -> Option<Body> {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|one| !one.sender.is_closed());
        if matches!(visitor, Visitor::Page(_)) {
            let own = listeners.iter().filter(|one| one.visitor == visitor).count();
            if own >= OF_ONE_MAX
                && let Some(oldest) = listeners.iter().position(|one| one.visitor == visitor)
            {
                listeners.remove(oldest);
            }
        }
        if listeners.len() >= STREAMS_MAX {
            return None;
        }
        let (sender, receiver) = channel(BEHIND_MAX);
        // A page that comes back is told at once to look; how soon it comes back is said, too.
        let first = format!("retry: 1000\nid: {}\nevent: hello\ndata: {{}}\n\n", self.number());
        sender.try_send(Bytes::from(first)).ok();
        listeners.push_back(Listener { visitor, sender });
        Some(Body::new(Words { receiver }))
    }

    /// Tells everybody; who does not listen is let go.
    pub(super) fn tell(&self, event: &str, data: &str) {
        let number = self.counter.fetch_add(1, Ordering::Relaxed) + 1;
        self.send(&Bytes::from(format!("id: {number}\nevent: {event}\ndata: {data}\n\n")));
    }

    /// A sign of life, so that a line that is dead is noticed at both ends.
    pub(super) fn sign(&self) {
        self.send(&Bytes::from_static(b": still here\n\n"));
    }

    /// Ends the streams of browsers that are not known any more.
    pub(super) fn keep(&self, knows: impl Fn(u64) -> bool) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|one| match one.visitor {
            Visitor::Page(session) => knows(session),
            Visitor::Script | Visitor::Anybody => true,
        });
    }

    /// How many listen.
    pub(super) fn count(&self) -> usize {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|one| !one.sender.is_closed());
        listeners.len()
    }

    fn number(&self) -> u64 {
        self.counter.load(Ordering::Relaxed)
    }

    fn send(&self, words: &Bytes) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|one| match one.sender.try_send(words.clone()) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => false,
        });
    }
}

/// A body whose parts come as they are said.
struct Words {
    receiver: Receiver<Bytes>,
}

impl HttpBody for Words {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.receiver.poll_recv(context).map(|words| words.map(|words| Ok(Frame::data(words))))
    }
}

/// Shared with the thread that looks.
pub(super) type Shared = Arc<Streams>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_few_streams_and_who_does_not_read_is_let_go() {
        let streams = Streams::default();
        let open: Vec<Body> =
            (0..STREAMS_MAX).map(|_| streams.open(Visitor::Script).unwrap()).collect();
        assert!(streams.open(Visitor::Script).is_none());
        assert!(streams.open(Visitor::Page(1)).is_none());
        assert_eq!(streams.count(), STREAMS_MAX);
        for _ in 0..BEHIND_MAX {
            streams.tell("change", "{}");
        }
        assert_eq!(streams.count(), 0, "nobody read");
        drop(open);
        let first = streams.open(Visitor::Page(1)).unwrap();
        let more: Vec<Body> =
            (0..OF_ONE_MAX).map(|_| streams.open(Visitor::Page(1)).unwrap()).collect();
        assert_eq!(streams.count(), OF_ONE_MAX, "the oldest of a browser goes");
        let other = streams.open(Visitor::Page(2)).unwrap();
        streams.keep(|session| session == 2);
        assert_eq!(streams.count(), 1);
        drop((first, more, other));
        assert_eq!(streams.count(), 0);
    }
}
