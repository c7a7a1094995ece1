//! The clerk's own side: it starts what it is told to, says how it ended, and lets nothing outlive
//! the program that started it. When its socket is closed, it ends everything and goes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use super::super::enclose::enclose;
use super::super::keeper::{
    FAULT, KILL_MAX, KILL_PAUSE, first_line, next_line, outlive_signals, read_some,
};
use super::super::message::{ClerkLine, ClerkReport, Report, line, parse};
use super::super::wait::wait_readable;
use super::ClerkOrder;
use crate::clock::Deadline;
use crate::platform::{self, Nursery, Signal, Walls};

/// How long what is under way has to end by itself.
const GRACE: Duration = Duration::from_millis(500);

/// Serves until flyball is gone.
pub(in crate::process) fn clerk_main() -> ExitCode {
    match Serving::begin().and_then(|mut serving| serving.serve()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(FAULT),
    }
}

struct Serving {
    control: UnixStream,
    nursery: Nursery,
    received: Vec<u8>,
    /// Descriptors that came and belong to the next lines.
    handed: Vec<OwnedFd>,
    /// What it started, by process, and the errand that was.
    errands: BTreeMap<u32, u64>,
}

impl Serving {
    fn begin() -> io::Result<Self> {
        outlive_signals()?;
        let nursery = Nursery::adopt()?;
        let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        let (mut received, mut handed) = (Vec::new(), Vec::new());
        let gone = || io::Error::other("flyball is gone");
        let first = first_line(&control, &mut received, &mut handed)?.ok_or_else(gone)?;
        if let Some(walls) = parse::<Option<Walls>>(&first)? {
            if let Err(error) = enclose(&walls, &control, &mut received) {
                control.write_all(&line(&Report::Unwalled { why: error.to_string() })?)?;
                return Err(error);
            }
            // What git runs reaches neither flyball nor a keeper, where the system can do so.
            platform::keep_signals_inside().ok();
        }
        platform::become_keeper();
        control.write_all(&line(&Report::Ready)?)?;
        Ok(Self { nursery, control, received, handed, errands: BTreeMap::new() })
    }

    fn serve(&mut self) -> io::Result<()> {
        let served = self.obey_until_closed();
        // However that ended, nothing stays. A git that is asked to end takes its locks along; one that
        // is killed leaves them to whoever comes next.
        self.signal_all(Signal::Terminate);
        let grace = Deadline::after(GRACE);
        while self.nursery.reap(|_, _| {})? && !grace.passed() {
            wait_readable([self.nursery.woken()], Some(grace.left()))?;
        }
        let limit = Deadline::after(KILL_MAX);
        while self.nursery.reap(|_, _| {})? && !limit.passed() {
            self.signal_all(Signal::Kill);
            wait_readable([self.nursery.woken()], Some(KILL_PAUSE))?;
        }
        served
    }

    fn obey_until_closed(&mut self) -> io::Result<()> {
        loop {
            self.reap()?;
            let [_, ordered] =
                wait_readable([self.nursery.woken(), self.control.as_fd()], None::<Duration>)?;
            if ordered && !read_some(&self.control, &mut self.received, &mut self.handed)? {
                return Ok(());
            }
            while let Some(text) = next_line(&mut self.received) {
                match parse(&text)? {
                    ClerkLine::Start { id, order } => self.start(id, &order)?,
                    ClerkLine::End { id } => self.end(id),
                }
            }
        }
    }

    fn start(&mut self, id: u64, order: &ClerkOrder) -> io::Result<()> {
        let report = match spawn(order, &mut self.handed) {
            Ok(pid) => {
                self.errands.insert(pid, id);
                ClerkReport::Started { id, pid }
            }
            Err(error) => {
                let not_found = error.kind() == io::ErrorKind::NotFound;
                ClerkReport::Failed { id, why: error.to_string(), not_found }
            }
        };
        self.tell(&report)
    }

    /// Takes notice of what has ended. Whatever it left running has lost its parent to the clerk,
    /// and goes too.
    fn reap(&mut self) -> io::Result<()> {
        let mut ended = Vec::new();
        let errands = &mut self.errands;
        self.nursery.reap(|pid, how| {
            ended.extend(errands.remove(&pid).map(|id| ClerkReport::Exited { id, how }));
        })?;
        if !ended.is_empty() {
            self.end_orphans();
        }
        ended.iter().try_for_each(|report| self.tell(report))
    }

    fn end_orphans(&mut self) {
        for child in self.nursery.children() {
            if !self.errands.contains_key(&child) {
                end_tree(child);
            }
        }
    }

    fn end(&self, id: u64) {
        // One that has ended has said so.
        let found = self.errands.iter().find(|(_, errand)| **errand == id);
        if let Some((pid, _)) = found {
            end_tree(*pid);
        }
    }

    fn signal_all(&mut self, signal: Signal) {
        for process in self.nursery.members() {
            platform::signal(&process, signal);
        }
    }

    fn tell(&mut self, report: &ClerkReport) -> io::Result<()> {
        self.control.write_all(&line(report)?)
    }
}

/// Kills a process and everything below it. What is orphaned by that comes to the clerk.
pub(crate) fn end_tree(root: u32) {
    let table = platform::snapshot();
    let own = table.iter().filter(|process| process.pid == root);
    for process in platform::below(&table, root).iter().chain(own) {
        platform::signal(process, Signal::Kill);
    }
}

fn spawn(order: &ClerkOrder, handed: &mut Vec<OwnedFd>) -> io::Result<u32> {
    if handed.len() < 3 {
        return Err(io::Error::other("its input and outputs were not handed over"));
    }
    let mut given = handed.drain(..3).map(Stdio::from);
    let mut command = Command::new(&order.program);
    command.args(&order.args).current_dir(&order.dir).process_group(0);
    if let (Some(input), Some(output), Some(errors)) = (given.next(), given.next(), given.next()) {
        command.stdin(input).stdout(output).stderr(errors);
    }
    for (name, value) in &order.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // Never waited for through this handle: the clerk waits for any child.
    Ok(command.spawn()?.id())
}
