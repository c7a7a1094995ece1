//! Git processes that stay at hand, so that reading an object, writing a commit or setting a ref
//! starts no program. Each does what the one-shot command of its name does, again and again; all of
//! them end when their input is closed, by order or by flyball's death.
//!
//! Nothing here runs a filter or depends on attributes: those are read once by a process, and an
//! agent may change them between two looks.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Git;
use super::start::{Running, Starter, nothing};
use crate::clock::Deadline;
use crate::process::wait_readable;
use crate::worktree::WorktreeError;

/// How long one answer may take. An object is read in no time; a disk may be asleep.
const ANSWER_MAX: Duration = Duration::from_mins(1);
/// How often it is looked whether the answer is still wanted.
const SLICE: Duration = Duration::from_millis(100);
/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// The longest line such a process answers.
const LINE_MAX: usize = 64 * 1024;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::worktree) enum Kind {
    Blob,
    Tree,
    Commit,
    Tag,
}

/// An object that was asked for.
#[derive(Debug)]
pub(in crate::worktree) enum Object {
    /// There is none of this name.
    Missing,
    /// It is larger than was asked for.
    TooLarge,
    /// It is this, under this id.
    Found { id: String, kind: Kind, bytes: Vec<u8> },
}

/// What is written by flyball itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::worktree) enum Written {
    Commit,
    Tree,
}

/// The processes that stand by, each started when it is needed first.
#[derive(Debug, Default)]
pub(super) struct Helpers {
    reader: Mutex<Option<Standing>>,
    committer: Mutex<Option<Standing>>,
    planter: Mutex<Option<Standing>>,
    taker: Mutex<Option<Standing>>,
    refs: Mutex<Option<Standing>>,
}

impl Git {
    /// The object of this name, which may be a path in a tree; it must not hold a line break.
    pub(in crate::worktree) fn object(
        &self,
        name: &str,
        max: usize,
    ) -> Result<Object, WorktreeError> {
        self.ask(&self.helpers.reader, &["cat-file", "--batch"], |reader| {
            reader.write(&[name.as_bytes(), b"\n"].concat())?;
            let head = reader.line()?;
            let mut words = head.rsplit(' ');
            let size = words.next().and_then(|size| size.parse::<usize>().ok());
            let kind = match words.next() {
                Some("blob") => Kind::Blob,
                Some("tree") => Kind::Tree,
                Some("commit") => Kind::Commit,
                Some("tag") => Kind::Tag,
                Some(_) | None => return Ok((Object::Missing, Stays::Yes)),
            };
            match size {
                None => Ok((Object::Missing, Stays::Yes)),
                // It is in the midst of telling it: starting anew costs less than hearing it out.
                Some(size) if size > max => Ok((Object::TooLarge, Stays::No)),
                Some(size) => {
                    let bytes = reader.take(size)?;
                    reader.take(1)?;
                    let id = words.next().unwrap_or_default().to_owned();
                    Ok((Object::Found { id, kind, bytes }, Stays::Yes))
                }
            }
        })
    }

    /// Writes an object, through a file that is made for it; its id.
    pub(in crate::worktree) fn write_object(
        &self,
        what: Written,
        bytes: &[u8],
        file: &Path,
    ) -> Result<String, WorktreeError> {
        let io = |source| WorktreeError::io("write a checkpoint", source);
        let (kind, place) = match what {
            Written::Commit => ("commit", &self.helpers.committer),
            Written::Tree => ("tree", &self.helpers.planter),
        };
        let Some(name) = file.to_str().filter(|name| !name.contains('\n')) else {
            let call = self.call(["hash-object", "-t", kind, "-w", "--stdin"]);
            return Ok(call.input(bytes).run()?.text());
        };
        fs::write(file, bytes).map_err(io)?;
        let args = ["hash-object", "-t", kind, "-w", "--no-filters", "--stdin-paths"];
        let written = self.ask(place, &args, |helper| helper.hash(name.as_bytes()));
        fs::remove_file(file).map_err(io)?;
        written
    }

    /// Takes a file of the worktree in, byte by byte; its id. The path holds no line break.
    pub(in crate::worktree) fn write_blob(&self, path: &[u8]) -> Result<String, WorktreeError> {
        let args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
        self.ask(&self.helpers.taker, &args, |helper| helper.hash(path))
    }

    /// Points a ref at a commit.
    pub(in crate::worktree) fn set_ref(&self, name: &str, to: &str) -> Result<(), WorktreeError> {
        let set = self.ask(&self.helpers.refs, &["update-ref", "--stdin"], |refs| {
            refs.write(format!("start\nupdate {name} {to}\ncommit\n").as_bytes())?;
            let answers = [refs.line()?, refs.line()?];
            if answers != ["start: ok", "commit: ok"] {
                return Err(io::Error::other("the ref was not taken"));
            }
            Ok(((), Stays::Yes))
        });
        match set {
            // What is in the way is said by a call of its own; or it is gone by now.
            Err(WorktreeError::Io { .. }) => self.call(["update-ref", name, to]).run().map(drop),
            other => other,
        }
    }

    /// Asks a process that stands by; one that fails is started anew, once.
    fn ask<T>(
        &self,
        place: &Mutex<Option<Standing>>,
        args: &[&str],
        mut question: impl FnMut(&mut Standing) -> io::Result<(T, Stays)>,
    ) -> Result<T, WorktreeError> {
        let mut standing = locked(place);
        let mut failed = None;
        for _ in 0..2 {
            let mut helper = match standing.take() {
                Some(helper) => helper,
                None => Standing::start(self, args)?,
            };
            match question(&mut helper) {
                Ok((answer, Stays::Yes)) => {
                    *standing = Some(helper);
                    return Ok(answer);
                }
                Ok((answer, Stays::No)) => {
                    helper.running.end();
                    return Ok(answer);
                }
                Err(error) => {
                    helper.running.end();
                    failed = Some(error);
                }
            }
        }
        let command = args.first().copied().unwrap_or_default();
        if self.starter.is_ended() {
            return Err(WorktreeError::Ended { command: command.to_owned() });
        }
        let error = failed.unwrap_or_else(|| io::ErrorKind::BrokenPipe.into());
        Err(WorktreeError::io(format!("talk to `git {command}`"), error))
    }
}

fn locked(place: &Mutex<Option<Standing>>) -> MutexGuard<'_, Option<Standing>> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a process can be asked again.
enum Stays {
    Yes,
    No,
}

/// A git process that answers one question after the other.
#[derive(Debug)]
struct Standing {
    running: Running,
    input: PipeWriter,
    output: PipeReader,
    /// What was read and not yet taken.
    heard: Vec<u8>,
    starter: Arc<Starter>,
}

impl Standing {
    fn start(git: &Git, args: &[&str]) -> Result<Self, WorktreeError> {
        let pipes = || -> io::Result<_> { Ok((io::pipe()?, io::pipe()?, nothing()?)) };
        let ((theirs_in, input), (output, theirs_out), errors) =
            pipes().map_err(|source| WorktreeError::io("start `git`", source))?;
        let theirs = [theirs_in.into(), theirs_out.into(), errors];
        let running = git.starter.start(&git.order().args(args), theirs)?;
        let starter = Arc::clone(&git.starter);
        Ok(Self { running, input, output, heard: Vec::new(), starter })
    }

    /// Asks. It has answered everything before, so its pipe is empty and takes a question at once.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.input.write_all(bytes)
    }

    /// Has it write what is at a path; the id of that.
    fn hash(&mut self, path: &[u8]) -> io::Result<(String, Stays)> {
        self.write(&[path, b"\n"].concat())?;
        Ok((self.line()?, Stays::Yes))
    }

    fn line(&mut self) -> io::Result<String> {
        let limit = Deadline::after(ANSWER_MAX);
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.heard) {
                let mut line = self.taken(end.saturating_add(1));
                line.pop();
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
            if self.heard.len() > LINE_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
            self.hear(limit)?;
        }
    }

    fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let limit = Deadline::after(ANSWER_MAX);
        while self.heard.len() < count {
            self.hear(limit)?;
        }
        Ok(self.taken(count))
    }

    fn taken(&mut self, count: usize) -> Vec<u8> {
        let rest = self.heard.split_off(count.min(self.heard.len()));
        std::mem::replace(&mut self.heard, rest)
    }

    /// Takes in what comes next.
    #[expect(clippy::large_stack_arrays, reason = "a buffer on a thread of its own")]
    fn hear(&mut self, limit: Deadline) -> io::Result<()> {
        loop {
            if limit.passed() || self.starter.is_ended() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let [ready] = wait_readable([self.output.as_fd()], Some(limit.left().min(SLICE)))?;
            if !ready {
                self.running.end_if_stopped();
                continue;
            }
            let mut chunk = [0; CHUNK];
            return match self.output.read(&mut chunk) {
                Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.heard.extend_from_slice(chunk.get(..count).unwrap_or_default());
                    Ok(())
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
        }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        // Nobody asks it any more; as a child it would stay as a zombie until flyball ends.
        self.running.end();
    }
}
