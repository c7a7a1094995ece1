//! One asker's connection: lines in, lines out, and nobody ever waits for it.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flyball_core::door::DoorAnswer;

use super::Line;

/// How much is read at once.
const PIECE: usize = 16 * 1024;

/// An asker's connection.
#[derive(Debug)]
pub(super) struct Guest {
    stream: UnixStream,
    /// Whether it has asked and waits for the answer.
    waits: AtomicBool,
}

/// What reading came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There is nothing more for now.
    Paused,
    /// The asker has gone.
    Ended,
}

impl Guest {
    /// A connection that was just made; none when it is broken already.
    pub(super) fn new(stream: UnixStream) -> Option<Arc<Self>> {
        stream.set_nonblocking(true).ok()?;
        Some(Arc::new(Self { stream, waits: AtomicBool::new(false) }))
    }

    pub(super) const fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Reads what is there, up to `most` bytes in all.
    pub(super) fn read(&self, into: &mut Vec<u8>, most: usize) -> Progress {
        let mut piece = [0; PIECE];
        while into.len() < most {
            match (&self.stream).read(&mut piece) {
                Ok(0) => return Progress::Ended,
                Ok(length) => into.extend(piece.get(..length).unwrap_or(&[])),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Progress::Paused,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Progress::Ended,
            }
        }
        Progress::Paused
    }

    pub(super) fn begin_waiting(&self) {
        self.waits.store(true, Ordering::SeqCst);
    }

    pub(super) fn waits(&self) -> bool {
        self.waits.load(Ordering::SeqCst)
    }

    /// Says something. An asker that has left so much unread that it does not fit any more does not
    /// listen, and is sent away.
    pub(super) fn say(&self, line: &Line) {
        let Ok(mut text) = serde_json::to_vec(line) else { return self.send_away() };
        text.push(b'\n');
        match (&self.stream).write(&text) {
            Ok(length) if length == text.len() => {}
            Ok(_) | Err(_) => self.send_away(),
        }
    }

    pub(super) fn send_away(&self) {
        self.stream.shutdown(std::net::Shutdown::Both).ok();
    }
}

impl AsFd for Guest {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// Where one answer goes. Dropped without one, the asker is told that the session is over.
#[derive(Debug)]
pub(crate) struct Reply(Option<Arc<Guest>>);

impl Reply {
    pub(super) const fn to(guest: Arc<Guest>) -> Self {
        Self(Some(guest))
    }

    /// Answers. An asker that has gone is nobody's loss.
    pub(crate) fn answer(mut self, answer: DoorAnswer) {
        self.say(&Line::Answer(answer));
    }

    /// Says this, once: the asker may have asked the next thing before this is dropped, and that is
    /// another's to answer.
    fn say(&mut self, line: &Line) {
        let Some(guest) = self.0.take() else { return };
        // Whoever asks again at once must find that it may.
        if guest.waits.swap(false, Ordering::SeqCst) {
            guest.say(line);
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.say(&Line::Over);
    }
}

#[cfg(test)]
mod tests {
    use flyball_core::call::CallStatus;
    use flyball_core::guard::Rung;

    use super::*;

    #[test]
    fn who_asks_again_before_the_answer_is_let_go_of_is_not_sent_away() {
        let (inside, _outside) = UnixStream::pair().unwrap();
        let guest = Guest::new(inside).unwrap();
        guest.begin_waiting();
        let mut reply = Reply::to(Arc::clone(&guest));
        let (rung, message, trip) = (Rung::Pass, String::new(), None);
        let calls = CallStatus::default();
        reply.say(&Line::Answer(DoorAnswer { rung, message, trip, calls }));
        guest.begin_waiting();
        drop(reply);
        assert!(guest.waits(), "the next question is still open");
    }
}
