//! The keeper: flyball started anew, between flyball and one program.
//!
//! It is a session leader and a subreaper, has one thread, and decides nothing: it starts the
//! program, obeys the socket on its standard input, and sees to it that nothing of the program's
//! tree is left when it ends. When the socket is closed, flyball is dead and everything is killed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use flyball_core::effect::Force;
use flyball_core::event::ExitHow;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, WaitOptions, WaitStatus, set_child_subreaper, setsid, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::message::{Launch, Order, Report, line, parse};
use super::table::{self, Process};
use crate::clock::Deadline;

/// The first argument that makes flyball a keeper. Not for people.
pub const KEEPER_ARGUMENT: &str = "__keeper";

/// The longest line a keeper takes: a program's arguments and environment fit many times over.
const LINE_MAX: usize = 16 * 1024 * 1024;
/// How often the tree is walked again while signals go out to it.
const WALKS_MAX: usize = 16;
/// How long to wait between two rounds of killing.
const KILL_PAUSE: Duration = Duration::from_millis(5);
/// How long killing goes on before it is given up.
const KILL_MAX: Duration = Duration::from_secs(30);
/// What a keeper that failed exits with; nobody but a person looking at it ever sees this.
const FAULT: u8 = 70;

/// Runs the keeper until its program and everything below it is gone.
pub fn keeper_main() -> ExitCode {
    match Keeper::start() {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(mut keeper)) => keeper.run(),
        Err(_) => ExitCode::from(FAULT),
    }
}

/// Where a keeper stands.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The program runs.
    Running,
    /// The program ended; the rest was asked to end and has until then.
    Sweeping(Deadline),
    /// Everything is killed, again and again, until nothing is left; what even then cannot be
    /// killed (a process stuck in the kernel) is given up at the end of this time.
    Killing(Deadline),
}

struct Keeper {
    control: UnixStream,
    /// flyball has closed its side: there will be no more orders.
    deaf: bool,
    received: Vec<u8>,
    wake: UnixStream,
    own: u32,
    leader: u32,
    ended: Option<ExitHow>,
    phase: Phase,
    sweep_grace: Duration,
    swept: BTreeSet<u32>,
}

impl Keeper {
    /// Starts the program as the first line says. None when there is nothing (more) to keep.
    fn start() -> io::Result<Option<Self>> {
        outlive_signals()?;
        // Refused only to a group leader, which flyball never makes of a keeper.
        setsid().ok();
        let own = std::process::id();
        set_child_subreaper(table::id(own))?;
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, waker)?;
        let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        let mut received = Vec::new();
        let Some(first) = first_line(&mut control, &mut received)? else { return Ok(None) };
        let launch: Launch = parse(&first)?;
        let leader = match spawn(&launch) {
            Ok(leader) => leader,
            Err(error) => {
                control.write_all(&line(&refusal(&launch, &error))?)?;
                return Ok(None);
            }
        };
        // When flyball is gone already, reading says so next.
        control.write_all(&line(&Report::Started(leader))?).ok();
        Ok(Some(Self {
            control,
            deaf: false,
            received,
            wake,
            own,
            leader,
            ended: None,
            phase: Phase::Running,
            sweep_grace: Duration::from_millis(launch.sweep_grace_ms),
            swept: BTreeSet::new(),
        }))
    }

    fn run(&mut self) -> ExitCode {
        if self.keep().is_ok() {
            return ExitCode::SUCCESS;
        }
        // The system failed the keeper; what it keeps must still not outlive it.
        let limit = Deadline::after(KILL_MAX);
        while !limit.passed() && !matches!(self.reap(), Ok(false)) {
            self.kill_all();
            thread::sleep(KILL_PAUSE);
        }
        ExitCode::from(FAULT)
    }

    fn keep(&mut self) -> io::Result<()> {
        while self.reap()? {
            self.go_on();
            let timeout = match self.phase {
                Phase::Running => None,
                Phase::Sweeping(deadline) => Some(deadline.left()),
                Phase::Killing(limit) if limit.passed() => break,
                Phase::Killing(_) => Some(KILL_PAUSE),
            };
            self.sleep(timeout)?;
            self.obey();
        }
        let swept = u32::try_from(self.swept.len()).unwrap_or(u32::MAX);
        let how = self.ended.unwrap_or(ExitHow::Lost);
        // flyball may be gone by now; there is nobody else to tell.
        self.control.write_all(&line(&Report::Exited { how, swept })?).ok();
        Ok(())
    }

    /// Waits for whatever has ended; whether anything is left. As every orphan below becomes a
    /// child of the keeper, "no children" means that the whole tree is gone.
    fn reap(&mut self) -> io::Result<bool> {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if table::id(self.leader) == Some(pid) && self.ended.is_none() {
                        self.ended = Some(how_it_ended(status));
                    }
                }
                Ok(None) => return Ok(true),
                Err(Errno::CHILD) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Does what the phase asks for, and enters the next one when it is time.
    fn go_on(&mut self) {
        match self.phase {
            Phase::Running if self.ended.is_some() => {
                self.signal_all(Signal::TERM);
                self.phase = Phase::Sweeping(Deadline::after(self.sweep_grace));
            }
            Phase::Sweeping(deadline) if deadline.passed() => {
                self.begin_killing();
                self.kill_all();
            }
            Phase::Killing(_) => self.kill_all(),
            Phase::Running | Phase::Sweeping(_) => {}
        }
    }

    fn begin_killing(&mut self) {
        if !matches!(self.phase, Phase::Killing(_)) {
            self.phase = Phase::Killing(Deadline::after(KILL_MAX));
        }
    }

    /// Sends a signal once to every process below, newcomers included.
    fn signal_all(&mut self, signal: Signal) {
        let mut told = BTreeSet::new();
        for _ in 0..WALKS_MAX {
            let fresh: Vec<Process> = table::living_below(self.own)
                .into_iter()
                .filter(|process| told.insert(process.pid))
                .collect();
            if fresh.is_empty() {
                return;
            }
            for process in &fresh {
                table::signal(process, signal);
                self.count(process);
            }
        }
    }

    fn kill_all(&mut self) {
        let own_group = table::look(self.own).map_or(self.own, |own| own.group);
        for _ in 0..WALKS_MAX {
            let alive = table::living_below(self.own);
            if alive.is_empty() {
                return;
            }
            for process in &alive {
                if process.group != own_group {
                    table::kill_group(process);
                }
                table::signal(process, Signal::KILL);
                self.count(process);
            }
        }
    }

    fn count(&mut self, process: &Process) {
        if self.ended.is_some() {
            self.swept.insert(process.pid);
        }
    }

    /// Sleeps until a child ends, an order comes, or the time is up.
    fn sleep(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        let mut waiting = vec![PollFd::new(&self.wake, PollFlags::IN)];
        if !self.deaf {
            waiting.push(PollFd::new(&self.control, PollFlags::IN));
        }
        match poll(&mut waiting, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ordered = waiting.get(1).is_some_and(|control| !control.revents().is_empty());
        let mut drop_box = [0; 64];
        while matches!(self.wake.read(&mut drop_box), Ok(count) if count > 0) {}
        if ordered {
            self.receive();
        }
        Ok(())
    }

    fn receive(&mut self) {
        if !matches!(read_some(&mut self.control, &mut self.received), Ok(true)) {
            self.deaf = true;
            self.begin_killing();
        }
    }

    fn obey(&mut self) {
        while let Some(order) = next_line(&mut self.received) {
            // What cannot be understood comes from no flyball of this version: nothing is done.
            let Ok(Order::Stop(force)) = parse(&order) else { continue };
            match (force, self.phase) {
                (Force::Kill, _) => self.begin_killing(),
                (Force::Interrupt, Phase::Running) => self.signal_all(Signal::INT),
                (Force::Terminate, Phase::Running) => self.signal_all(Signal::TERM),
                // What is left has been told already.
                (Force::Interrupt | Force::Terminate, Phase::Sweeping(_) | Phase::Killing(_)) => {}
            }
        }
    }
}

/// Signals meant for flyball never end a keeper: it obeys the socket only. A handler, unlike
/// "ignore", is not handed on to the program.
fn outlive_signals() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

fn spawn(launch: &Launch) -> io::Result<u32> {
    let mut command = Command::new(&launch.program);
    command.args(&launch.args).process_group(0);
    command.stdin(match &launch.stdin {
        Some(path) => Stdio::from(File::open(path)?),
        None => Stdio::null(),
    });
    for (name, value) in &launch.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // Never waited for through this handle: the keeper waits for any child.
    Ok(command.spawn()?.id())
}

fn refusal(launch: &Launch, error: &io::Error) -> Report {
    let script = launch.program.contains('/') && Path::new(&launch.program).exists();
    let input = launch.stdin.as_ref().filter(|path| !path.exists());
    let not_found = error.kind() == io::ErrorKind::NotFound && !script && input.is_none();
    let why = match input {
        Some(path) => format!("its input file `{}` is not there", path.display()),
        None if script && error.kind() == io::ErrorKind::NotFound => {
            "the interpreter named in its first line is not there".to_owned()
        }
        None => error.to_string(),
    };
    Report::Failed { why, not_found }
}

fn how_it_ended(status: WaitStatus) -> ExitHow {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitHow::Code(code),
        (None, Some(signal)) => ExitHow::Signal(signal),
        (None, None) => ExitHow::Lost,
    }
}

/// The first line; none when the other side is gone before it was complete.
fn first_line(control: &mut UnixStream, received: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    loop {
        if let Some(first) = next_line(received) {
            return Ok(Some(first));
        }
        if !read_some(control, received)? {
            return Ok(None);
        }
    }
}

/// Takes in what has come; false when the other side is gone or says too much.
fn read_some(control: &mut UnixStream, received: &mut Vec<u8>) -> io::Result<bool> {
    let mut bytes = [0; 16 * 1024];
    let count = match control.read(&mut bytes) {
        Ok(count) => count,
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
        Err(error) => return Err(error),
    };
    received.extend_from_slice(bytes.get(..count).unwrap_or_default());
    Ok(count > 0 && received.len() <= LINE_MAX)
}

fn next_line(received: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = received.iter().position(|byte| *byte == b'\n')?;
    let rest = received.split_off(end.saturating_add(1));
    Some(std::mem::replace(received, rest))
}
