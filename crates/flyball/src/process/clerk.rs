//! The clerk: a keeper that stays and starts one program after the other, for calls that are many
//! and short. What they start never leaves it, and ends with it.
//!
//! flyball's side of it. Each errand is a line with three descriptors, the program's input, output
//! and errors; how it ended comes back as a line.

mod serve;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use flyball_core::event::ExitHow;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::keeping::{KeeperChild, keeper_command};
use super::leftover::end_session;
use super::message::{ClerkLine, ClerkReport, Order, Report, line, parse};
use super::orphans::{end_orphans, start_own};
use super::program::KeeperProgram;
use super::supervised::wait_until_gone;
use super::wait::wait_readable;
use crate::clock::Deadline;
use crate::platform::{self, ExitWatch, Process, Signal, Walls, send_with_descriptors};

pub(super) use self::serve::clerk_main;
pub(crate) use self::serve::end_tree;

/// The first argument that makes a program a clerk. Not for people.
pub(super) const CLERK_ARGUMENT: &str = "__clerk";
/// How long a clerk may take to start a program.
const START_MAX: Duration = Duration::from_secs(10);
/// How often it is looked whether somebody has stopped the clerk, or what it started.
const SLICE: Duration = Duration::from_millis(500);
/// The most a line of the clerk's can be.
const REPORT_MAX: u64 = 64 * 1024;

/// What a clerk is to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClerkOrder {
    /// The program: a name looked up on `PATH`, or a path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it works.
    pub dir: OsString,
    /// Variables set, or removed with `None`, one after the other; all others are inherited.
    pub env: Vec<(OsString, Option<OsString>)>,
}

/// A clerk at work. Dropping it ends everything it started.
#[derive(Debug)]
pub struct Clerk {
    process: Process,
    wire: Arc<Wire>,
    gone: ExitWatch,
    desk: Arc<Desk>,
}

/// Where orders go out, one whole line after the other.
#[derive(Debug)]
struct Wire {
    control: UnixStream,
    /// The number of the next errand. Held until a line is out: lines of two threads must not mix.
    next: Mutex<u64>,
}

impl Wire {
    fn hold(&self) -> MutexGuard<'_, u64> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The errands under way, and whether the clerk is still there.
#[derive(Debug, Default)]
struct Desk {
    errands: Mutex<BTreeMap<u64, Sender<ClerkReport>>>,
    gone: AtomicBool,
}

impl Desk {
    fn errands(&self) -> MutexGuard<'_, BTreeMap<u64, Sender<ClerkReport>>> {
        self.errands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clerk {
    /// Starts a clerk from this program; everything it starts is behind these walls.
    pub fn start(program: &KeeperProgram, walls: Option<&Walls>) -> io::Result<Self> {
        let (control, theirs) = UnixStream::pair()?;
        let mut command = keeper_command(program, walls, CLERK_ARGUMENT)?;
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let child = start_own(&mut command).map(KeeperChild)?;
        let pid = child.0.id();
        let gone = ExitWatch::begin(pid)?;
        control.set_write_timeout(Some(START_MAX))?;
        let reports = enclosed(&control, pid, walls)?;
        let desk = Arc::<Desk>::default();
        let heard = Arc::clone(&desk);
        let hear = move || hear(child, reports, &heard);
        thread::Builder::new().name("clerk".to_owned()).spawn(hear)?;
        let process =
            platform::look(pid).ok_or_else(|| io::Error::other("the clerk ended at once"))?;
        Ok(Self { process, wire: Arc::new(Wire { control, next: Mutex::new(0) }), gone, desk })
    }

    /// Whether it can still be sent.
    pub fn is_there(&self) -> bool {
        !self.desk.gone.load(Ordering::Acquire)
    }

    /// The clerk's process id: everything it started is below it.
    pub fn pid(&self) -> u32 {
        self.process.pid
    }

    /// Has it start a program with these as its input, output and errors.
    pub fn send(&self, order: ClerkOrder, given: [OwnedFd; 3]) -> io::Result<Errand> {
        let (sender, reports) = channel();
        let id = {
            let mut next = self.wire.hold();
            let id = *next;
            *next = next.saturating_add(1);
            self.desk.errands().insert(id, sender);
            let text = line(&ClerkLine::Start { id, order })?;
            let descriptors: Vec<_> = given.iter().map(AsFd::as_fd).collect();
            let sent = send_with_descriptors(&self.wire.control, &text, &descriptors)?;
            (&self.wire.control).write_all(text.get(sent..).unwrap_or_default())?;
            id
        };
        // Only the program holds them from here on, or nobody would see it close them.
        drop(given);
        let limit = Deadline::after(START_MAX);
        let heard = loop {
            match reports.recv_timeout(limit.left().min(SLICE)) {
                Err(RecvTimeoutError::Timeout) if !limit.passed() => end_if_stopped(&self.process),
                heard => break heard,
            }
        };
        match heard {
            Ok(ClerkReport::Started { pid, .. }) => {
                let at_work = [Some(self.process), platform::look(pid)];
                Ok(Errand { id, reports, wire: Arc::clone(&self.wire), at_work, ended: None })
            }
            Ok(ClerkReport::Exited { .. }) => Err(io::Error::other("it ended before it began")),
            Ok(ClerkReport::Failed { not_found: true, .. }) => Err(io::ErrorKind::NotFound.into()),
            Ok(ClerkReport::Failed { why, .. }) => Err(io::Error::other(why)),
            Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for Clerk {
    fn drop(&mut self) {
        // The closed socket is the order to end everything. One that was stopped does not hear it.
        self.wire.control.shutdown(Shutdown::Both).ok();
        if platform::is_stopped(self.process.pid) {
            platform::signal(&self.process, Signal::Continue);
        }
        if !wait_until_gone(&self.gone) {
            platform::signal(&self.process, Signal::Kill);
            wait_until_gone(&self.gone);
        }
    }
}

/// Has the clerk put up its walls, and waits until they stand.
fn enclosed(
    mut control: &UnixStream,
    pid: u32,
    walls: Option<&Walls>,
) -> io::Result<BufReader<UnixStream>> {
    control.write_all(&line(&walls)?)?;
    let mut reports = BufReader::new(control.try_clone()?);
    control.set_read_timeout(Some(START_MAX))?;
    loop {
        match next_line_of(&mut reports) {
            Some(Report::AsksForMaps) => {
                let why = platform::map_like_own(pid).err().map(|error| error.to_string());
                control.write_all(&line(&Order::Mapped { why })?)?;
            }
            Some(Report::Ready) => break,
            Some(Report::Unwalled { why } | Report::Failed { why, .. }) => {
                return Err(io::Error::other(why));
            }
            Some(Report::Started(_) | Report::Exited { .. }) | None => {
                return Err(io::Error::other("the clerk ended before it began"));
            }
        }
    }
    control.set_read_timeout(None)?;
    Ok(reports)
}

/// Hears what the clerk says until it is gone.
fn hear(mut child: KeeperChild, mut reports: BufReader<UnixStream>, desk: &Desk) {
    while let Some(report) = next_line_of::<ClerkReport>(&mut reports) {
        let mut errands = desk.errands();
        let id = report.id();
        let is_last = !matches!(report, ClerkReport::Started { .. });
        if let Some(errand) = errands.get(&id) {
            // Nobody waits for one that was given up.
            errand.send(report).ok();
        }
        if is_last {
            errands.remove(&id);
        }
    }
    desk.gone.store(true, Ordering::Release);
    // Killed, it could not end what it started. As long as it is not waited for, its process id
    // cannot belong to anybody else.
    end_session(child.0.id());
    child.0.wait().ok();
    end_orphans();
    desk.errands().clear();
}

fn next_line_of<T: DeserializeOwned>(reports: &mut BufReader<UnixStream>) -> Option<T> {
    let mut text = Vec::new();
    match reports.by_ref().take(REPORT_MAX).read_until(b'\n', &mut text) {
        Ok(0) | Err(_) => None,
        Ok(_) => parse(&text).ok(),
    }
}

/// One program a clerk was sent to start.
#[derive(Debug)]
pub struct Errand {
    id: u64,
    reports: Receiver<ClerkReport>,
    wire: Arc<Wire>,
    /// The clerk, and the program.
    at_work: [Option<Process>; 2],
    ended: Option<ExitHow>,
}

/// Whoever was stopped serves nobody, and nobody but an agent stops them: it is ended. Whoever waits
/// for it hears of that, and can have it done anew.
fn end_if_stopped(process: &Process) {
    if platform::is_stopped(process.pid) {
        platform::signal(process, Signal::Kill);
    }
}

impl Errand {
    /// How the program ended, as soon as it has, at most so much later; none when it goes on.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitHow> {
        let limit = Deadline::after(limit);
        while self.ended.is_none() {
            self.ended = match self.reports.recv_timeout(limit.left().min(SLICE)) {
                Ok(ClerkReport::Exited { how, .. }) => Some(how),
                Ok(ClerkReport::Started { .. } | ClerkReport::Failed { .. })
                | Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(ExitHow::Lost),
            };
            if self.ended.is_none() {
                self.end_if_stopped();
                if limit.passed() {
                    break;
                }
            }
        }
        self.ended
    }

    /// Whether the program waits for somebody at the other end of a named pipe.
    pub fn waits_at_a_pipe(&self) -> bool {
        let [_, program] = &self.at_work;
        program.as_ref().is_some_and(|program| platform::waits_at_a_pipe(program.pid))
    }

    /// Ends what somebody has stopped of it.
    pub fn end_if_stopped(&self) {
        self.at_work.iter().flatten().for_each(end_if_stopped);
    }

    /// Ends the program with everything it started.
    pub fn end(&self) {
        if let (None, Ok(text)) = (self.ended, line(&ClerkLine::End { id: self.id })) {
            let _held = self.wire.hold();
            // A clerk that is gone has taken it along.
            (&self.wire.control).write_all(&text).ok();
        }
    }
}

/// How a child ended, as soon as it has, at most so much later; none when it goes on.
pub(crate) fn wait_for_child(child: &mut Child, limit: Duration) -> Option<ExitHow> {
    let how = |status: ExitStatus| match (status.code(), status.signal()) {
        (Some(code), _) => ExitHow::Code(code),
        (None, Some(signal)) => ExitHow::Signal(signal),
        (None, None) => ExitHow::Lost,
    };
    match child.try_wait() {
        Ok(Some(status)) => return Some(how(status)),
        Ok(None) => {}
        Err(_) => return Some(ExitHow::Lost),
    }
    let watch = ExitWatch::begin(child.id()).ok()?;
    let deadline = Deadline::after(limit);
    while !deadline.passed() {
        // A signal may come before the end.
        if !matches!(wait_readable([watch.as_fd()], Some(deadline.left())), Ok([false])) {
            return child.wait().map_or(Some(ExitHow::Lost), |status| Some(how(status)));
        }
    }
    None
}
