//! Reading what a program prints: two threads, small pieces, and as slowly as the taker takes.

use std::io::{self, Read};
use std::process::{ChildStderr, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::{ProcessEvent, Stream};

/// The largest piece of output handed on at once.
const CHUNK: usize = 64 * 1024;
/// How long after the end of everything a silent pipe is still listened to.
const DRAIN: Duration = Duration::from_millis(500);

/// Who is told what happens; may take its time, the program then waits.
pub(super) type Sink = Arc<dyn Fn(ProcessEvent) + Send + Sync>;

/// The two readers of a program. They begin when released and are left alone after the drain.
pub(super) struct Readers {
    release: Vec<Sender<()>>,
    ended: Receiver<()>,
    progress: [Arc<Progress>; 2],
}

/// How a reader fares.
#[derive(Default)]
struct Progress {
    pieces: AtomicU64,
    handing_on: AtomicBool,
}

impl Readers {
    pub(super) fn new(out: ChildStdout, err: ChildStderr, sink: &Sink) -> io::Result<Self> {
        let (end, ended) = channel();
        let progress = [Arc::<Progress>::default(), Arc::<Progress>::default()];
        let [first, second] = &progress;
        let release = vec![
            reader(Stream::Stdout, out, (sink, first, end.clone()))?,
            reader(Stream::Stderr, err, (sink, second, end))?,
        ];
        Ok(Self { release, ended, progress })
    }

    /// Lets the readers begin.
    pub(super) fn begin(&mut self) {
        self.release.clear();
    }

    /// Waits until both pipes are read to their end, or nothing has come for a while. A reader
    /// that waits for its taker is not silent.
    pub(super) fn drain(&self) {
        let mut seen = self.pieces();
        loop {
            match self.ended.recv_timeout(DRAIN) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    let handing_on =
                        self.progress.iter().any(|p| p.handing_on.load(Ordering::Acquire));
                    let now = self.pieces();
                    if now == seen && !handing_on {
                        return;
                    }
                    seen = now;
                }
            }
        }
    }

    fn pieces(&self) -> u64 {
        self.progress.iter().map(|p| p.pieces.load(Ordering::Acquire)).sum()
    }
}

/// Starts a reader; it begins when what is returned is dropped.
fn reader(
    stream: Stream,
    mut pipe: impl Read + Send + 'static,
    (sink, progress, end): (&Sink, &Arc<Progress>, Sender<()>),
) -> io::Result<Sender<()>> {
    let (release, released) = channel::<()>();
    let (sink, progress) = (Arc::clone(sink), Arc::clone(progress));
    thread::Builder::new().name("output".to_owned()).spawn(move || {
        // Dropped at the end of the thread: that is how the end is told.
        let _end = end;
        // An error is the release: the other side was dropped.
        released.recv().ok();
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = match pipe.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let bytes = buffer.get(..count).unwrap_or_default().to_vec();
            progress.handing_on.store(true, Ordering::Release);
            sink(ProcessEvent::Output { stream, bytes });
            progress.pieces.fetch_add(1, Ordering::AcqRel);
            progress.handing_on.store(false, Ordering::Release);
        }
    })?;
    Ok(release)
}
