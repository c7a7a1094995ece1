//! What a program prints: small pieces, and as slowly as the taker takes.

use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use super::wait::wait_any;
use super::{ProcessEvent, Stream};

/// The largest piece of output handed on at once.
const CHUNK: usize = 64 * 1024;
/// How long after the end of everything a silent pipe is still listened to.
const DRAIN: Duration = Duration::from_millis(500);

/// Who is told what happens; may take its time, the program then waits.
pub(super) type Sink = Arc<dyn Fn(ProcessEvent) + Send + Sync>;

/// The two outputs of a program.
#[derive(Debug)]
pub(super) struct Outputs {
    pipes: [Pipe; 2],
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Pipe {
    stream: Stream,
    /// None when everything was read.
    from: Option<File>,
}

impl Outputs {
    pub(super) fn new(out: PipeReader, err: PipeReader) -> Self {
        let pipe = |stream, from: OwnedFd| Pipe { stream, from: Some(File::from(from)) };
        let pipes = [pipe(Stream::Stdout, out.into()), pipe(Stream::Stderr, err.into())];
        Self { pipes, buffer: vec![0; CHUNK] }
    }

    /// Waits until something is printed, or can be read from `other`, at most so long, and hands on
    /// what was printed; whether `other` can be read.
    pub(super) fn hear(
        &mut self,
        other: Option<BorrowedFd<'_>>,
        timeout: Duration,
        sink: &Sink,
    ) -> io::Result<bool> {
        let [other, out, err] = self.wait(other, timeout)?;
        self.hand_on([out, err], sink);
        Ok(other)
    }

    /// Reads on until both pipes have ended, or nothing has come for a while: something outside of the
    /// program's tree may hold one open for ever.
    pub(super) fn drain(&mut self, sink: &Sink) {
        while self.pipes.iter().any(|pipe| pipe.from.is_some()) {
            match self.wait(None, DRAIN) {
                Ok([_, out, err]) if out || err => self.hand_on([out, err], sink),
                Ok(_) | Err(_) => return,
            }
        }
    }

    fn wait(&self, other: Option<BorrowedFd<'_>>, timeout: Duration) -> io::Result<[bool; 3]> {
        let [out, err] = self.pipes.each_ref().map(|pipe| pipe.from.as_ref().map(AsFd::as_fd));
        wait_any([other, out, err], Some(timeout))
    }

    fn hand_on(&mut self, ready: [bool; 2], sink: &Sink) {
        for (pipe, _) in self.pipes.iter_mut().zip(ready).filter(|(_, ready)| *ready) {
            pipe.hand_on(&mut self.buffer, sink);
        }
    }
}

impl Pipe {
    /// Hands on what is there, once something is.
    fn hand_on(&mut self, buffer: &mut [u8], sink: &Sink) {
        let Some(from) = &mut self.from else { return };
        match from.read(buffer) {
            Ok(count) if count > 0 => {
                let bytes = buffer.get(..count).unwrap_or_default().to_vec();
                sink(ProcessEvent::Output { stream: self.stream, bytes });
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => self.from = None,
        }
    }
}
