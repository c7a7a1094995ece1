//! What a run prints goes through a thread of its own: a terminal that was stopped, or a pipe that
//! nobody reads, never holds the run up.
//!
//! As long as the reader reads, it is waited for and nothing is lost. One that has read nothing for
//! a second is no longer waited for: what does not fit is counted and left out.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use crate::clock::Deadline;

/// How much may wait to be read.
const WAITING_MAX: usize = 4 * 1024 * 1024;
/// How much must fit again before anything is taken after a gap.
const RESERVE: usize = WAITING_MAX / 2;
/// How long a reader may read nothing before nobody waits for it.
const SILENCE_MAX: Duration = Duration::from_secs(1);
/// How long the end of a run waits for a reader that reads nothing.
const FLUSH_MAX: Duration = Duration::from_secs(2);

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

impl Stream {
    fn write(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Out => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes)?;
                stdout.flush()
            }
            Self::Err => io::stderr().lock().write_all(bytes),
        }
    }

    /// That something was left out, as the readers of this stream understand it.
    fn gap(self, count: u64) -> String {
        match self {
            Self::Out => format!("{{\"type\":\"output.dropped\",\"pieces\":{count}}}\n"),
            Self::Err => format!("\n[flyball: {count} pieces were not shown: nobody read them]\n"),
        }
    }
}

/// The way to both streams.
#[derive(Debug, Default)]
struct Outlet {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    pieces: VecDeque<(Stream, Vec<u8>)>,
    /// Bytes in them, with the piece that is being written.
    bytes: usize,
    /// Pieces left out since the last one that was taken, by stream.
    dropped: [u64; 2],
    /// Pieces written so far.
    written: u64,
    /// Until when the reader is waited for.
    patience: Option<Deadline>,
}

static OUTLET: OnceLock<Outlet> = OnceLock::new();

/// From now on nothing that is printed is waited for longer than a moment.
pub(super) fn open() {
    if OUTLET.get().is_some() {
        return;
    }
    let serve = || OUTLET.get_or_init(Outlet::default).serve();
    // Without a thread everything is printed as before.
    if thread::Builder::new().name("outlet".to_owned()).spawn(serve).is_ok() {
        OUTLET.get_or_init(Outlet::default);
    }
}

/// Prints by way of the thread; false when there is none.
pub(super) fn push(stream: Stream, text: &str) -> bool {
    let Some(outlet) = OUTLET.get() else { return false };
    outlet.push(stream, text.as_bytes());
    true
}

/// Waits until everything is read, or the reader reads nothing any more.
pub(super) fn flush() {
    if let Some(outlet) = OUTLET.get() {
        outlet.flush();
    }
}

impl Outlet {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'q>(&self, queue: MutexGuard<'q, Queue>, span: Duration) -> MutexGuard<'q, Queue> {
        let waited = self.changed.wait_timeout(queue, span);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn push(&self, stream: Stream, bytes: &[u8]) {
        let mut queue = self.lock();
        while !queue.has_room(bytes.len()) && queue.patience.is_none_or(|left| !left.passed()) {
            queue = self.wait(queue, Duration::from_millis(50));
        }
        let dropped = std::mem::take(queue.dropped(stream));
        // After a gap only when there is room again for more than this piece.
        let has_room = queue.has_room(bytes.len()) && (dropped == 0 || queue.has_room(RESERVE));
        if !has_room {
            *queue.dropped(stream) = dropped.saturating_add(1);
            return;
        }
        if dropped > 0 {
            queue.add(stream, stream.gap(dropped).into_bytes());
        }
        queue.add(stream, bytes.to_vec());
        self.changed.notify_all();
    }

    fn serve(&self) {
        loop {
            let mut queue = self.lock();
            let (stream, bytes) = loop {
                match queue.pieces.pop_front() {
                    Some(piece) => break piece,
                    None => queue = self.wait(queue, Duration::from_mins(1)),
                }
            };
            queue.patience = Some(Deadline::after(SILENCE_MAX));
            drop(queue);
            // A reader that is gone is told nothing; the run goes on.
            stream.write(&bytes).ok();
            let mut queue = self.lock();
            queue.bytes = queue.bytes.saturating_sub(bytes.len());
            queue.written = queue.written.saturating_add(1);
            if queue.pieces.is_empty() {
                queue.patience = None;
            }
            self.changed.notify_all();
        }
    }

    fn flush(&self) {
        let mut queue = self.lock();
        let mut limit = Deadline::after(FLUSH_MAX);
        let mut seen = queue.written;
        while queue.bytes > 0 && !limit.passed() {
            queue = self.wait(queue, Duration::from_millis(50));
            if queue.written != seen {
                seen = queue.written;
                limit = Deadline::after(FLUSH_MAX);
            }
        }
    }
}

impl Queue {
    fn has_room(&self, bytes: usize) -> bool {
        self.bytes == 0 || self.bytes.saturating_add(bytes) <= WAITING_MAX
    }

    fn dropped(&mut self, stream: Stream) -> &mut u64 {
        let [out, err] = &mut self.dropped;
        match stream {
            Stream::Out => out,
            Stream::Err => err,
        }
    }

    fn add(&mut self, stream: Stream, bytes: Vec<u8>) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        self.pieces.push_back((stream, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_reads_nothing_is_not_waited_for_and_the_gap_is_told() {
        // Nobody serves this one: a reader that reads nothing.
        let outlet = Outlet::default();
        outlet.lock().patience = Some(Deadline::after(Duration::ZERO));
        let piece = vec![b'x'; RESERVE];
        for _ in 0..5 {
            outlet.push(Stream::Err, &piece);
        }
        assert_eq!(outlet.lock().pieces.len(), 2);
        assert_eq!(outlet.lock().dropped, [0, 3]);
        let mut queue = outlet.lock();
        queue.pieces.clear();
        queue.bytes = 0;
        drop(queue);
        outlet.push(Stream::Err, b"on");
        let told: Vec<u8> = outlet.lock().pieces.iter().flat_map(|(_, b)| b.clone()).collect();
        let told = String::from_utf8(told).unwrap();
        assert!(told.contains("3 pieces were not shown") && told.ends_with("on"), "{told}");
    }

    #[test]
    fn the_end_does_not_wait_for_a_reader_that_is_not_there() {
        let outlet = Outlet::default();
        outlet.push(Stream::Out, b"never read");
        let limit = Deadline::after(Duration::from_mins(1));
        outlet.flush();
        assert!(!limit.passed());
    }
}
