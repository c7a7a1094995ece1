//! A pipe into a supervised program, for those that are talked to while they run.

use std::io::{self, PipeReader, PipeWriter, pipe};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use super::Spec;

/// A pipe that becomes the standard input of one program. The keeper opens flyball's own end by its
/// place in `/proc`, so that nothing has to be handed down to it.
#[derive(Debug)]
pub struct InputPipe {
    reader: PipeReader,
    writer: PipeWriter,
}

impl InputPipe {
    /// A pipe nobody holds yet.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = pipe()?;
        Ok(Self { reader, writer })
    }

    /// Makes it the input of a program that is started next.
    pub fn feed(&self, spec: &mut Spec) {
        let place = format!("/proc/{}/fd/{}", std::process::id(), self.reader.as_raw_fd());
        spec.stdin = Some(PathBuf::from(place));
    }

    /// The end that is written to, once the program runs. Dropping it is the end of its input.
    pub fn into_writer(self) -> PipeWriter {
        self.writer
    }
}
