//! The one place where git is started: through a clerk in a program that serves as one, and by
//! itself in any other.
//!
//! A clerk is a keeper that stays: what git starts cannot leave it, and all of it ends with flyball,
//! however flyball ends.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use flyball_core::event::ExitHow;

use super::order::GitOrder;
use crate::platform::{self, Walls};
use crate::process::{
    Clerk, ClerkOrder, Errand, KeeperProgram, end_tree, serves_as_keeper, wait_for_child,
};
use crate::worktree::WorktreeError;

/// Starts git, until it is told to end.
#[derive(Debug)]
pub(in crate::worktree) struct Starter {
    through: Through,
    /// What holds git, and what it starts.
    walls: Mutex<Option<Walls>>,
    ended: AtomicBool,
}

#[derive(Debug)]
enum Through {
    /// Started when it is needed first, and anew when it was killed.
    Clerk(Mutex<Option<Clerk>>),
    Nobody,
}

impl Starter {
    /// As this program can.
    pub(in crate::worktree) fn of_process() -> Self {
        let through =
            if serves_as_keeper() { Through::Clerk(Mutex::default()) } else { Through::Nobody };
        Self { through, walls: Mutex::default(), ended: AtomicBool::new(false) }
    }

    /// By itself, with nobody who would end it when flyball dies.
    pub(in crate::worktree) fn alone() -> Self {
        Self { through: Through::Nobody, walls: Mutex::default(), ended: AtomicBool::new(false) }
    }

    /// From now on git runs behind these walls: a repository can have it run anything. Programs that
    /// stand by outside of them are ended.
    pub(in crate::worktree) fn enclose(&self, walls: Walls) {
        *self.walls.lock().unwrap_or_else(PoisonError::into_inner) = Some(walls);
        if let Through::Clerk(clerk) = &self.through {
            drop(clerk.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }

    /// Starts git with these three as its input, output and errors.
    pub(super) fn start(
        &self,
        order: &GitOrder,
        [input, output, errors]: [OwnedFd; 3],
    ) -> Result<Running, WorktreeError> {
        if self.is_ended() {
            return Err(WorktreeError::Ended { command: order.name.clone() });
        }
        let started = match &self.through {
            Through::Nobody => spawn(order, [input, output, errors]).map(Running::Child),
            Through::Clerk(clerk) => {
                let mut clerk = clerk.lock().unwrap_or_else(PoisonError::into_inner);
                if clerk.as_ref().is_none_or(|clerk| !clerk.is_there()) {
                    *clerk = None;
                }
                let serving = if let Some(clerk) = clerk.take() {
                    Ok(clerk)
                } else {
                    let walls = self.walls.lock().unwrap_or_else(PoisonError::into_inner);
                    Clerk::start(&KeeperProgram::Own, walls.as_ref())
                };
                serving.and_then(|serving| {
                    let errand = serving.send(clerk_order(order), [input, output, errors]);
                    *clerk = Some(serving);
                    errand.map(Running::Errand)
                })
            }
        };
        started.map_err(|source| not_started(order, source))
    }

    /// Ends everything it started, and starts nothing any more.
    pub(in crate::worktree) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        if let Through::Clerk(clerk) = &self.through {
            let clerk = clerk.lock().unwrap_or_else(PoisonError::into_inner).take();
            // Without the lock: it waits until everything is gone.
            drop(clerk);
        }
    }

    /// Whether it was told to end.
    pub(super) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }
}

fn clerk_order(order: &GitOrder) -> ClerkOrder {
    ClerkOrder {
        program: "git".to_owned(),
        args: order.args.clone(),
        dir: order.dir.clone().into_os_string(),
        env: order.env.clone(),
    }
}

fn spawn(order: &GitOrder, [input, output, errors]: [OwnedFd; 3]) -> io::Result<Child> {
    let mut command = Command::new("git");
    command.args(&order.args).current_dir(&order.dir).process_group(0);
    command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
    for (name, value) in &order.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    crate::process::start_own(&mut command)
}

fn not_started(order: &GitOrder, source: io::Error) -> WorktreeError {
    if source.kind() != io::ErrorKind::NotFound {
        return WorktreeError::io("start `git`", source);
    }
    if order.dir.is_dir() {
        return WorktreeError::NoGit;
    }
    WorktreeError::NoDirectory { dir: order.dir.clone() }
}

/// An empty input, or an output nobody reads.
pub(super) fn nothing() -> io::Result<OwnedFd> {
    Ok(File::options().read(true).write(true).open("/dev/null")?.into())
}

/// Git at work. Dropping it does not end it: it ends when its input and outputs are closed, and
/// with the clerk at the latest.
#[derive(Debug)]
pub(super) enum Running {
    Child(Child),
    Errand(Errand),
}

impl Running {
    /// How it ended, as soon as it has, at most so much later; none when it goes on.
    pub(super) fn wait(&mut self, limit: Duration) -> Option<ExitHow> {
        match self {
            Self::Child(child) => wait_for_child(child, limit),
            Self::Errand(errand) => errand.wait(limit),
        }
    }

    /// Whether it waits for somebody at the other end of a named pipe.
    pub(super) fn waits_at_a_pipe(&self) -> bool {
        match self {
            Self::Child(child) => platform::waits_at_a_pipe(child.id()),
            Self::Errand(errand) => errand.waits_at_a_pipe(),
        }
    }

    /// Ends it when somebody has stopped it: it would never answer.
    pub(super) fn end_if_stopped(&self) {
        match self {
            // Without a clerk git is a child beside people, who may stop it.
            Self::Child(_) => {}
            Self::Errand(errand) => errand.end_if_stopped(),
        }
    }

    /// Ends it with everything it started.
    pub(super) fn end(&mut self) {
        match self {
            Self::Child(child) => {
                end_tree(child.id());
                // It may have ended by itself meanwhile.
                child.kill().ok();
                child.wait().ok();
            }
            Self::Errand(errand) => errand.end(),
        }
    }
}
