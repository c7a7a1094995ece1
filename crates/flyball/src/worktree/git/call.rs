//! One call of git that begins, answers and ends: bounded in time and output.

use std::ffi::OsStr;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use flyball_core::event::ExitHow;

use super::order::GitOrder;
use super::pipe;
use super::start::{Running, Starter, nothing};
use crate::clock::Deadline;
use crate::process::wait_readable;
use crate::worktree::WorktreeError;

/// How long one call may take: hashing a huge worktree for the first time is slow.
const TIME_MAX: Duration = Duration::from_mins(10);
/// How much of an answer is kept unless a call says otherwise.
const OUTPUT_MAX: usize = 256 * 1024 * 1024;
/// How much of git's complaints is kept.
const STDERR_MAX: usize = 16 * 1024;
/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// What surely fits into a pipe, whoever reads it.
const PIPE_MIN: usize = 4096;
/// How often it is looked whether the call shall go on; also how long a pipe is still listened to
/// that something holds open after git has ended.
const SLICE: Duration = Duration::from_millis(100);

/// How often git must be seen to wait at a named pipe before it is ended.
const PIPE_LOOKS: u32 = 5;

/// One call of git, being put together.
pub(in crate::worktree) struct Call {
    order: GitOrder,
    input: Option<Vec<u8>>,
    output_max: usize,
    time_max: Duration,
    starter: Arc<Starter>,
}

impl Call {
    pub(super) fn new(order: GitOrder, starter: &Arc<Starter>) -> Self {
        let starter = Arc::clone(starter);
        Self { order, input: None, output_max: OUTPUT_MAX, time_max: TIME_MAX, starter }
    }

    /// With one more argument.
    pub(in crate::worktree) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.order = self.order.args([arg]);
        self
    }

    /// With this index instead of the user's.
    pub(in crate::worktree) fn index(mut self, index: &Path) -> Self {
        self.order.set("GIT_INDEX_FILE", index);
        self
    }

    /// With another folder in place of the worktree.
    pub(in crate::worktree) fn work_tree(mut self, git_dir: &Path, dir: &Path) -> Self {
        self.order = self.order.in_worktree(git_dir, dir);
        self
    }

    /// As a person's git would be called in this folder: it finds the repository itself, and may
    /// fetch what a partial clone lacks.
    #[expect(clippy::wrong_self_convention, reason = "it is taken over")]
    pub(in crate::worktree) fn as_people_do(mut self) -> Self {
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_NO_LAZY_FETCH"] {
            self.order.unset(name);
        }
        self
    }

    /// In the name of the person who asked for it, whose branches have a history of their own.
    pub(in crate::worktree) fn in_own_name(mut self) -> Self {
        for who in ["AUTHOR", "COMMITTER"] {
            for what in ["NAME", "EMAIL"] {
                let name = format!("GIT_{who}_{what}");
                self.order.unset(&name);
                if let Some(value) = std::env::var_os(&name) {
                    self.order.set(&name, value);
                }
            }
        }
        self.order.keeps_reflogs();
        self
    }

    /// With pathspecs that have magic; without this they are plain paths.
    pub(in crate::worktree) fn magic(mut self) -> Self {
        self.order.set("GIT_LITERAL_PATHSPECS", "0");
        self
    }

    /// With this on its standard input.
    pub(in crate::worktree) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Keeps no more than this much of the answer.
    pub(in crate::worktree) fn at_most(mut self, bytes: usize) -> Self {
        self.output_max = bytes;
        self
    }

    /// What git says, as long as it says it successfully.
    pub(in crate::worktree) fn run(self) -> Result<Answer, WorktreeError> {
        let name = self.order.name.clone();
        let answer = self.answer()?;
        if answer.ok() { Ok(answer) } else { Err(answer.refusal(&name)) }
    }

    /// What git says, whatever it is. Git that somebody took away is asked once more.
    pub(in crate::worktree) fn answer(self) -> Result<Answer, WorktreeError> {
        let first = self.once();
        let was_taken = match &first {
            Ok(answer) => matches!(answer.status, ExitHow::Lost | ExitHow::Signal(9)),
            Err(WorktreeError::Io { source, .. }) => source.kind() == io::ErrorKind::BrokenPipe,
            Err(_) => false,
        };
        if was_taken && !self.starter.is_ended() { self.once() } else { first }
    }

    fn once(&self) -> Result<Answer, WorktreeError> {
        let io = |doing: &str, source| {
            WorktreeError::io(format!("{doing} `git {}`", self.order.name), source)
        };
        let (stdout, theirs_out) = io::pipe().map_err(|source| io("start", source))?;
        let (stderr, theirs_err) = io::pipe().map_err(|source| io("start", source))?;
        let (stdin, theirs_in) = self.stdin().map_err(|source| io("start", source))?;
        let theirs = [theirs_in, theirs_out.into(), theirs_err.into()];
        let mut running = self.starter.start(&self.order, theirs)?;
        if let (Some(input), Some(pipe)) = (self.input.clone(), stdin) {
            feed(input, pipe).map_err(|source| io("start", source))?;
        }
        let mut heard = Heard::new((stdout, self.output_max), stderr);
        let limit = Deadline::after(self.time_max);
        match heard.listen(&mut running, &self.starter, limit) {
            Ok(Listened::ToItsEnd(status)) => Ok(heard.answer(status)),
            Ok(Listened::UntilEnded) => {
                Err(WorktreeError::Ended { command: self.order.name.clone() })
            }
            Ok(Listened::AtAPipe) => Err(pipe::in_the_way(&self.order.name, &self.order.dir)),
            Ok(Listened::TooLong) => {
                let (command, limit) = (self.order.name.clone(), self.time_max);
                Err(WorktreeError::TimedOut { command, limit })
            }
            Err(source) => Err(io("read", source)),
        }
    }

    fn stdin(&self) -> io::Result<(Option<PipeWriter>, OwnedFd)> {
        if self.input.is_none() {
            return Ok((None, nothing()?));
        }
        let (theirs, ours) = io::pipe()?;
        Ok((Some(ours), theirs.into()))
    }
}

/// Writes the input. Git that ended before it read everything says why itself; git that reads
/// nothing holds up a thread and not the caller.
fn feed(input: Vec<u8>, mut pipe: PipeWriter) -> io::Result<()> {
    if input.len() <= PIPE_MIN {
        pipe.write_all(&input).ok();
        return Ok(());
    }
    let write = move || {
        pipe.write_all(&input).ok();
    };
    thread::Builder::new().name("git".to_owned()).spawn(write).map(drop)
}

/// How listening went.
enum Listened {
    ToItsEnd(ExitHow),
    UntilEnded,
    TooLong,
    AtAPipe,
}

/// What git said so far.
struct Heard {
    stdout: Pipe,
    stderr: Pipe,
}

/// One of git's outputs, of which the first `max` bytes are kept.
struct Pipe {
    from: Option<PipeReader>,
    kept: Vec<u8>,
    max: usize,
    cut: bool,
}

impl Pipe {
    const fn new(from: PipeReader, max: usize) -> Self {
        Self { from: Some(from), kept: Vec::new(), max, cut: false }
    }

    /// Takes in what is there, once something is.
    #[expect(clippy::large_stack_arrays, reason = "a buffer on a thread of its own")]
    fn read(&mut self) -> io::Result<()> {
        let Some(from) = &mut self.from else { return Ok(()) };
        let mut chunk = [0; CHUNK];
        match from.read(&mut chunk) {
            Ok(0) => self.from = None,
            Ok(count) => {
                let room = self.max.saturating_sub(self.kept.len()).min(count);
                self.kept.extend_from_slice(chunk.get(..room).unwrap_or_default());
                self.cut |= room < count;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl Heard {
    fn new((stdout, max): (PipeReader, usize), stderr: PipeReader) -> Self {
        Self { stdout: Pipe::new(stdout, max), stderr: Pipe::new(stderr, STDERR_MAX) }
    }

    /// Listens until git has ended, the time is up, or everything is ended.
    fn listen(
        &mut self,
        running: &mut Running,
        starter: &Starter,
        limit: Deadline,
    ) -> io::Result<Listened> {
        let mut at_a_pipe = 0_u32;
        let ended = loop {
            let [out, err] = self.wait(limit.left().min(SLICE))?;
            if out {
                self.stdout.read()?;
            }
            if err {
                self.stderr.read()?;
            }
            if self.stdout.from.is_none() && self.stderr.from.is_none() {
                break running.wait(limit.left());
            }
            if starter.is_ended() || limit.passed() {
                break None;
            }
            // Somebody put a named pipe in the place of a file git reads, and nobody will ever write.
            if !out && !err && running.waits_at_a_pipe() {
                at_a_pipe = at_a_pipe.saturating_add(1);
                if at_a_pipe >= PIPE_LOOKS {
                    running.end();
                    return Ok(Listened::AtAPipe);
                }
            }
            // What git started in the background may hold its outputs open for ever.
            if !out
                && !err
                && let Some(how) = running.wait(Duration::ZERO)
            {
                // It may have answered and ended since the pipes were looked at.
                self.take_rest(limit)?;
                break Some(how);
            }
        };
        if let Some(how) = ended {
            return Ok(Listened::ToItsEnd(how));
        }
        running.end();
        Ok(if starter.is_ended() { Listened::UntilEnded } else { Listened::TooLong })
    }

    /// Takes in what is there, without waiting for more.
    fn take_rest(&mut self, limit: Deadline) -> io::Result<()> {
        while !limit.passed() {
            let [out, err] = self.wait(Duration::ZERO)?;
            if out {
                self.stdout.read()?;
            }
            if err {
                self.stderr.read()?;
            }
            if !out && !err {
                break;
            }
        }
        Ok(())
    }

    /// Which of the outputs that are open has something to read.
    fn wait(&self, span: Duration) -> io::Result<[bool; 2]> {
        match (&self.stdout.from, &self.stderr.from) {
            (Some(out), Some(err)) => wait_readable([out.as_fd(), err.as_fd()], Some(span)),
            (Some(out), None) => Ok([wait_readable([out.as_fd()], Some(span))?[0], false]),
            (None, Some(err)) => Ok([false, wait_readable([err.as_fd()], Some(span))?[0]]),
            (None, None) => Ok([false, false]),
        }
    }

    fn answer(self, status: ExitHow) -> Answer {
        let stderr = String::from_utf8_lossy(&self.stderr.kept).into_owned();
        Answer { status, stdout: self.stdout.kept, cut: self.stdout.cut, stderr }
    }
}

/// What one call of git said.
pub(in crate::worktree) struct Answer {
    status: ExitHow,
    pub(in crate::worktree) stdout: Vec<u8>,
    /// There was more.
    pub(in crate::worktree) cut: bool,
    pub(in crate::worktree) stderr: String,
}

impl Answer {
    pub(in crate::worktree) fn ok(&self) -> bool {
        self.status == ExitHow::Code(0)
    }

    pub(in crate::worktree) const fn code(&self) -> Option<i32> {
        match self.status {
            ExitHow::Code(code) => Some(code),
            ExitHow::Signal(_) | ExitHow::Lost => None,
        }
    }

    /// The answer as one line of text.
    pub(in crate::worktree) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }

    /// The parts of an answer separated by NUL, as git wrote them.
    pub(in crate::worktree) fn raw_parts(&self) -> impl Iterator<Item = &[u8]> {
        self.stdout.split(|byte| *byte == 0).filter(|part| !part.is_empty())
    }

    /// The parts of an answer separated by NUL.
    pub(in crate::worktree) fn parts(&self) -> impl Iterator<Item = String> {
        self.raw_parts().map(|part| String::from_utf8_lossy(part).into_owned())
    }

    /// The error this answer is.
    pub(in crate::worktree) fn refusal(&self, name: &str) -> WorktreeError {
        let message = self.stderr.trim().trim_start_matches("fatal: ");
        let message = match (message, self.status) {
            ("", ExitHow::Code(code)) => format!("it exited with {code}"),
            ("", ExitHow::Signal(signal)) => format!("signal {signal} ended it"),
            ("", ExitHow::Lost) => "it was lost".to_owned(),
            (message, _) => message.to_owned(),
        };
        WorktreeError::Git { command: name.to_owned(), message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_said_last_is_heard_though_somebody_holds_its_outputs_open() {
        let (stdout, mut out) = io::pipe().unwrap();
        let (stderr, mut err) = io::pipe().unwrap();
        out.write_all(b"an answer").unwrap();
        err.write_all(b"a word").unwrap();
        let mut heard = Heard::new((stdout, OUTPUT_MAX), stderr);
        heard.take_rest(Deadline::after(TIME_MAX)).unwrap();
        let answer = heard.answer(ExitHow::Code(0));
        assert_eq!((answer.text().as_str(), answer.stderr.as_str()), ("an answer", "a word"));
        drop((out, err));
    }
}
