//! The keeper: flyball started anew, between flyball and one program.
//!
//! It is a session leader and a subreaper, has one thread, and decides nothing: it starts the
//! program, obeys the socket on its standard input, and sees to it that nothing of the program's
//! tree is left when it ends. When the socket is closed, flyball is dead and everything is killed.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use flyball_core::effect::Force;
use flyball_core::event::ExitHow;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::enclose::{enclose, forward};
use super::master::{self, Master, Standing};
use super::message::{Launch, Order, Report, line, parse};
use super::starting::{refusal, spawn};
use super::wait::wait_readable;
use crate::clock::Deadline;
use crate::platform::{self, Nursery, Process, Signal, Walls, receive_with_descriptors};

/// The first argument that makes a program a keeper. Not for people.
pub(super) const KEEPER_ARGUMENT: &str = "__keeper";

/// The longest line a keeper takes: a program's arguments and environment fit many times over.
const LINE_MAX: usize = 16 * 1024 * 1024;
/// How often the tree is walked again while signals go out to it.
const WALKS_MAX: usize = 16;
/// How long to wait between two rounds of killing.
pub(super) const KILL_PAUSE: Duration = Duration::from_millis(5);
/// The commands of git's that only tidy up.
const HOUSEKEEPING: [&str; 11] = [
    "maintenance",
    "gc",
    "repack",
    "pack-objects",
    "pack-refs",
    "prune",
    "prune-packed",
    "reflog",
    "rerere",
    "commit-graph",
    "multi-pack-index",
];
/// How long killing goes on before it is given up.
pub(super) const KILL_MAX: Duration = Duration::from_secs(30);
/// What a keeper that failed exits with; nobody but a person looking at it ever sees this.
pub(super) const FAULT: u8 = 70;

/// Runs the keeper until its program and everything below it is gone.
pub(super) fn keeper_main() -> ExitCode {
    match serve() {
        Ok(code) => code,
        Err(_) => ExitCode::from(FAULT),
    }
}

/// Keeps one program after the other, as long as there is another one.
fn serve() -> io::Result<ExitCode> {
    let mut next = Post::take_up()?;
    while let Some(post) = next.take() {
        let Some(mut keeper) = Keeper::start(post)? else { break };
        match keeper.run() {
            Left::Nothing if keeper.stays && !keeper.deaf => next = Some(keeper.post),
            Left::Nothing => {}
            Left::Something => return Ok(ExitCode::from(FAULT)),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is left of what a keeper kept.
enum Left {
    Nothing,
    Something,
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

/// Where a keeper stands, with or without a program.
struct Post {
    control: UnixStream,
    received: Vec<u8>,
    /// Descriptors that came and belong to the next program.
    handed: Vec<OwnedFd>,
    nursery: Nursery,
    walls: Option<Walls>,
}

struct Keeper {
    post: Post,
    /// flyball has closed its side: there will be no more orders.
    deaf: bool,
    /// Whether another program may follow.
    stays: bool,
    master: Master,
    leader: u32,
    ended: Option<ExitHow>,
    phase: Phase,
    sweep_grace: Duration,
    swept: BTreeSet<u32>,
}

impl Post {
    /// Puts up the walls of the first line. None when there is nothing (more) to keep.
    fn take_up() -> io::Result<Option<Self>> {
        outlive_signals()?;
        let nursery = Nursery::adopt()?;
        let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        let (mut received, mut handed) = (Vec::new(), Vec::new());
        let Some(first) = first_line(&control, &mut received, &mut handed)? else {
            return Ok(None);
        };
        let walls: Option<Walls> = parse(&first)?;
        if let Some(walls) = &walls
            && let Err(error) = enclose(walls, &control, &mut received)
        {
            control.write_all(&line(&Report::Unwalled { why: error.to_string() })?)?;
            return Ok(None);
        }
        platform::become_keeper();
        if let Some(walls) = &walls {
            forward(walls)?;
        }
        control.write_all(&line(&Report::Ready)?)?;
        Ok(Some(Self { control, received, handed, nursery, walls }))
    }

    /// The next program to start; none when there is none any more.
    fn next(&mut self) -> io::Result<Option<Launch>> {
        while let Some(text) = first_line(&self.control, &mut self.received, &mut self.handed)? {
            // An order that comes late was meant for the program before, which has ended.
            if parse::<Order>(&text).is_err() {
                return parse(&text).map(Some);
            }
        }
        Ok(None)
    }
}

impl Keeper {
    /// Starts the program it is told to. None when there is nothing (more) to keep.
    fn start(mut post: Post) -> io::Result<Option<Self>> {
        let Some(launch) = post.next()? else { return Ok(None) };
        let handed = std::mem::take(&mut post.handed);
        let leader = match spawn(&launch, post.walls.as_ref(), handed) {
            Ok(leader) => leader,
            Err(error) => {
                post.control.write_all(&line(&refusal(&launch, &error))?)?;
                return Ok(None);
            }
        };
        // When flyball is gone already, reading says so next.
        post.control.write_all(&line(&Report::Started(leader))?).ok();
        Ok(Some(Self {
            deaf: false,
            // What was done behind walls stays behind them: the next program has its own.
            stays: launch.stays && post.walls.is_none(),
            post,
            master: Master::of_this_process(),
            leader,
            ended: None,
            phase: Phase::Running,
            sweep_grace: Duration::from_millis(launch.sweep_grace_ms),
            swept: BTreeSet::new(),
        }))
    }

    fn run(&mut self) -> Left {
        if let Ok(left) = self.keep() {
            return left;
        }
        // The system failed the keeper; what it keeps must still not outlive it.
        let limit = Deadline::after(KILL_MAX);
        while !limit.passed() && !matches!(self.reap(), Ok(false)) {
            self.kill_all();
            thread::sleep(KILL_PAUSE);
        }
        Left::Something
    }

    fn keep(&mut self) -> io::Result<Left> {
        let mut left = Left::Nothing;
        while self.reap()? {
            self.go_on();
            let timeout = match self.phase {
                Phase::Running => Some(master::PAUSE),
                Phase::Sweeping(deadline) => Some(deadline.left()),
                Phase::Killing(limit) if limit.passed() => {
                    left = Left::Something;
                    break;
                }
                Phase::Killing(_) => Some(KILL_PAUSE),
            };
            self.sleep(timeout)?;
            self.obey();
            if self.master.look() == Standing::KeptFromWork {
                self.begin_killing();
            }
        }
        let swept = u32::try_from(self.swept.len()).unwrap_or(u32::MAX);
        let how = self.ended.unwrap_or(ExitHow::Lost);
        // flyball may be gone by now; there is nobody else to tell.
        self.post.control.write_all(&line(&Report::Exited { how, swept })?).ok();
        self.master.see_off();
        Ok(left)
    }

    /// Takes notice of whatever has ended; whether anything is left.
    fn reap(&mut self) -> io::Result<bool> {
        let (leader, ended) = (self.leader, &mut self.ended);
        self.post.nursery.reap(|pid, how| {
            if pid == leader {
                ended.get_or_insert(how);
            }
        })
    }

    /// Does what the phase asks for, and enters the next one when it is time.
    fn go_on(&mut self) {
        match self.phase {
            Phase::Running if self.ended.is_some() => {
                self.signal_all(Signal::Terminate);
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
            let mut fresh = self.post.nursery.members();
            fresh.retain(|process| told.insert(process.pid));
            if fresh.is_empty() {
                return;
            }
            for process in &fresh {
                self.count(process);
                platform::signal(process, signal);
            }
        }
    }

    fn kill_all(&mut self) {
        let own = std::process::id();
        let own_group = platform::look(own).map_or(own, |own| own.group);
        for _ in 0..WALKS_MAX {
            let alive = self.post.nursery.members();
            if alive.is_empty() {
                return;
            }
            for process in &alive {
                self.count(process);
                if process.group != own_group {
                    platform::kill_group(process);
                }
                platform::signal(process, Signal::Kill);
            }
        }
    }

    /// Counts what outlived the program, while it can still be asked what it is.
    fn count(&mut self, process: &Process) {
        if self.ended.is_some() && !process.zombie && !is_housekeeping(process.pid) {
            self.swept.insert(process.pid);
        }
    }

    /// Sleeps until a child ends, an order comes, or the time is up.
    fn sleep(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let woken = self.post.nursery.woken();
        let ordered = if self.deaf {
            wait_readable([woken], timeout)?;
            false
        } else {
            let [_, ordered] = wait_readable([woken, self.post.control.as_fd()], timeout)?;
            ordered
        };
        if ordered {
            self.receive();
        }
        Ok(())
    }

    fn receive(&mut self) {
        // Orders come without descriptors; what comes all the same is closed here.
        let heard = read_some(&self.post.control, &mut self.post.received, &mut Vec::new());
        if !matches!(heard, Ok(true)) {
            self.deaf = true;
            self.begin_killing();
        }
    }

    fn obey(&mut self) {
        while let Some(order) = next_line(&mut self.post.received) {
            // What cannot be understood comes from no flyball of this version: nothing is done.
            let Ok(Order::Stop(force)) = parse(&order) else { continue };
            match (force, self.phase) {
                (Force::Kill, _) => self.begin_killing(),
                (Force::Interrupt, Phase::Running) => self.signal_all(Signal::Interrupt),
                (Force::Terminate, Phase::Running) => self.signal_all(Signal::Terminate),
                // What is left has been told already.
                (Force::Interrupt | Force::Terminate, Phase::Sweeping(_) | Phase::Killing(_)) => {}
            }
        }
    }
}

/// Signals meant for flyball never end a keeper: it obeys the socket only. A handler, unlike
/// "ignore", is not handed on to the program; hangups that were ignored from the start (`nohup`)
/// stay ignored for the program too.
pub(super) fn outlive_signals() -> io::Result<()> {
    let hangup = (!platform::ignores_hangup()).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// The first line; none when the other side is gone before it was complete.
pub(super) fn first_line(
    control: &UnixStream,
    received: &mut Vec<u8>,
    handed: &mut Vec<OwnedFd>,
) -> io::Result<Option<Vec<u8>>> {
    loop {
        if let Some(first) = next_line(received) {
            return Ok(Some(first));
        }
        if !read_some(control, received, handed)? {
            return Ok(None);
        }
    }
}

/// Takes in what has come; false when the other side is gone or says too much.
pub(super) fn read_some(
    control: &UnixStream,
    received: &mut Vec<u8>,
    handed: &mut Vec<OwnedFd>,
) -> io::Result<bool> {
    let mut bytes = [0; 16 * 1024];
    let count = match receive_with_descriptors(control, &mut bytes, handed) {
        Ok(count) => count,
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
        Err(error) => return Err(error),
    };
    received.extend_from_slice(bytes.get(..count).unwrap_or_default());
    Ok(count > 0 && received.len() <= LINE_MAX)
}

pub(super) fn next_line(received: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = received.iter().position(|byte| *byte == b'\n')?;
    let rest = received.split_off(end.saturating_add(1));
    Some(std::mem::replace(received, rest))
}
/// What git does in the background to keep a repository small: `git commit` starts it by itself, and
/// nobody left it behind.
fn is_housekeeping(pid: u32) -> bool {
    let Some(words) = platform::arguments_of(pid) else { return false };
    let mut words = words.iter().map(String::as_str);
    let program = words.next().unwrap_or("");
    let program = program.rsplit('/').next().unwrap_or(program);
    // Options of git itself stand before the command: `git -c x=y gc`.
    let command = words.find(|word| !word.starts_with('-') && !word.contains('='));
    program == "git" && command.is_some_and(|command| HOUSEKEEPING.contains(&command))
}
