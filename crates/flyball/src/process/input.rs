//! What a supervised program reads: nothing, a file, or what it is told while it runs.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, pipe};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use super::Spec;

/// The standard input of a program.
#[derive(Clone, Debug, Default)]
pub enum Input {
    /// It is empty.
    #[default]
    Empty,
    /// It is read from this file.
    File(PathBuf),
    /// It comes through an [`InputPipe`].
    Pipe(PipeEnd),
}

/// The end of an [`InputPipe`] that a program reads. Only good as long as that pipe is there: its
/// end of input must not depend on who else still holds a description of the program.
#[derive(Clone, Debug)]
pub struct PipeEnd(Weak<PipeReader>);

/// An input that is open, to be handed over.
pub(super) enum OpenInput {
    File(File),
    Pipe(Arc<PipeReader>),
}

impl Input {
    /// Opens it; none when it is empty. The error is told to people.
    pub(super) fn open(&self) -> Result<Option<OpenInput>, String> {
        match self {
            Self::Empty => Ok(None),
            Self::File(path) => match crate::files::open(path) {
                Ok(file) => Ok(Some(OpenInput::File(file))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Err(format!("its input file `{}` is not there", path.display()))
                }
                Err(error) => {
                    Err(format!("its input file `{}` cannot be read: {error}", path.display()))
                }
            },
            Self::Pipe(PipeEnd(reader)) => match reader.upgrade() {
                Some(reader) => Ok(Some(OpenInput::Pipe(reader))),
                None => Err("the pipe it should read from is closed".to_owned()),
            },
        }
    }
}

impl AsFd for OpenInput {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::File(file) => file.as_fd(),
            Self::Pipe(reader) => reader.as_fd(),
        }
    }
}

/// A pipe that becomes the standard input of one program, for those that are talked to while they
/// run.
#[derive(Debug)]
pub struct InputPipe {
    reader: Arc<PipeReader>,
    writer: PipeWriter,
}

impl InputPipe {
    /// A pipe nobody holds yet.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = pipe()?;
        Ok(Self { reader: Arc::new(reader), writer })
    }

    /// Makes it the input of a program that is started next.
    pub fn feed(&self, spec: &mut Spec) {
        spec.stdin = Input::Pipe(PipeEnd(Arc::downgrade(&self.reader)));
    }

    /// The end that is written to, once the program runs. Dropping it is the end of its input.
    pub fn into_writer(self) -> PipeWriter {
        self.writer
    }
}
