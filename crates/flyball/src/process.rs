//! A supervised program with its whole process tree: agents and gates are started here.
//!
//! Between flyball and the program stands a *keeper*: flyball itself, started anew. It is the
//! subreaper of everything the program starts, so nothing can slip away by `setsid`, `nohup` or a
//! double fork, and it ends all of it when flyball dies, however flyball dies. The two talk JSON
//! lines over a socket; nothing here ever waits for a pipe to be closed.
//!
//! # In a program that is not flyball
//!
//! A keeper is a process of its own, so it must be started from some program. A program that links
//! this library has two ways:
//!
//! - It serves as keeper itself: [`serve_keeper_if_asked`] is the first thing its `main` calls.
//! - It names one that does: [`KeeperProgram::At`] with the path of an installed `flyball`.
//!
//! With neither, starting anything fails with an error that says so; the program is never started
//! anew by surprise.

mod background;
mod brief;
mod clerk;
mod enclose;
mod enclosing;
mod ending;
mod for_user;
mod input;
mod keeper;
mod keeping;
mod leftover;
mod master;
mod message;
mod orphans;
mod output;
mod program;
mod starting;
mod supervised;
mod table;
mod wait;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use flyball_core::RunId;
use flyball_core::event::ExitHow;

use crate::platform::Walls;

pub use self::background::{Background, start_alone, start_in_background};
pub use self::brief::{ask_briefly, in_terminal, run_briefly, run_briefly_with, run_shown};
pub(crate) use self::brief::{brief_walls, enclose_brief};
pub use self::clerk::{Clerk, ClerkOrder, Errand};
pub(crate) use self::clerk::{end_tree, wait_for_child};
pub(crate) use self::enclosing::EMPTY;
#[cfg(feature = "session")]
pub use self::enclosing::is_agent_itself;
pub use self::enclosing::{enclosing_run, enclosing_state, is_of_a_clerk, run_around};
pub use self::for_user::open_for_user;
pub use self::input::{Input, InputPipe, PipeEnd};
pub use self::keeping::ReadyKeeper;
pub use self::leftover::{end_leftovers, leftovers};
pub use self::orphans::{adopt_orphans, end_orphans, start_own};
pub(crate) use self::program::serves_as_keeper;
pub use self::program::{KeeperProgram, serve_keeper_if_asked};
pub use self::supervised::{Leash, Supervised};
pub use self::table::{still_runs, tree_cpu};
pub(crate) use self::wait::wait_readable;

/// What to start, and how.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The program: a name looked up on `PATH`, or a path (relative to `cwd`).
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it works.
    pub cwd: PathBuf,
    /// Variables set, or removed with `None`; all others are inherited.
    pub env: Vec<(String, Option<String>)>,
    /// What its standard input is.
    pub stdin: Input,
    /// How long what outlives the program may take to end by itself once asked to.
    pub sweep_grace: Duration,
    /// What stands between it and its surroundings.
    pub walls: Option<Walls>,
    /// The run it is part of: whatever it starts is known by it, whatever it does to its
    /// environment.
    pub run: Option<RunId>,
    /// Whether its keeper waits for another program afterwards ([`Supervised::into_keeper`]). One that
    /// has put up walls does not: they are of one program.
    pub keeper_stays: bool,
}

impl Spec {
    /// How long what outlives the program is given, unless set otherwise.
    pub const SWEEP_GRACE: Duration = Duration::from_millis(300);

    /// A program without arguments, with the environment of flyball and no input.
    pub fn new(program: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: Vec::new(),
            stdin: Input::Empty,
            sweep_grace: Self::SWEEP_GRACE,
            walls: None,
            run: None,
            keeper_stays: false,
        }
    }
}

/// Which of its two outputs a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a supervised program did. `Started` comes first and `Exited` last, each exactly once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEvent {
    /// It runs.
    Started {
        /// Its process id.
        pid: u32,
    },
    /// It, or something it started, wrote something.
    Output {
        /// Where to.
        stream: Stream,
        /// What, at most 64 KiB at a time, as it came.
        bytes: Vec<u8>,
    },
    /// It ended and so did everything it started.
    Exited {
        /// How it ended; `Lost` when the keeper was killed.
        how: ExitHow,
        /// How many processes outlived it and were ended.
        swept: u32,
    },
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no such program.
    #[error("no program named `{program}` was found")]
    NotFound {
        /// The program as it was asked for.
        program: String,
    },
    /// The system refused to start it.
    #[error("`{program}` could not be started: {why}")]
    Refused {
        /// The program as it was asked for.
        program: String,
        /// In the system's words.
        why: String,
    },
    /// Its working directory is not there.
    #[error("`{program}` could not be started: there is no directory `{cwd}`")]
    NoDirectory {
        /// The program as it was asked for.
        program: String,
        /// Where it should have worked.
        cwd: PathBuf,
    },
    /// What should stand around it cannot be had.
    #[error("`{program}` could not be started behind its walls: {why}")]
    Unwalled {
        /// The program as it was asked for.
        program: String,
        /// At which step, in the system's words.
        why: String,
    },
    /// flyball could not start its own keeper.
    #[error("`{program}` could not be started: flyball's keeper process failed")]
    Keeper {
        /// The program as it was asked for.
        program: String,
        /// What went wrong.
        source: io::Error,
    },
}
