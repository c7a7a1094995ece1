//! flyball's side of a supervised program: starting its keeper, giving orders, hearing the end.

use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use flyball_core::effect::Force;

use super::ending::{Ending, Kept, Then, wake};
use super::input::OpenInput;
use super::keeping::{DROP_MAX, Keeping, ReadyKeeper, Refusal};
use super::message::{Order, line};
use super::orphans::end_orphans;
use super::output::Sink;
use super::program::KeeperProgram;
use super::wait::wait_readable;
use super::{ProcessEvent, Spec, StartError, table};
use crate::clock::Deadline;
use crate::platform::{ExitWatch, Walls};

/// How often a keeper is started that was killed before it could start anything.
const STARTS_MAX: u32 = 3;
/// How long a keeper may take to kill everything before flyball does it itself.
const KILL_PATIENCE: Duration = Duration::from_secs(2);

/// A running program with its whole tree. Dropping it kills everything.
#[derive(Debug)]
pub struct Supervised {
    pid: u32,
    keeper: u32,
    control: UnixStream,
    gone: ExitWatch,
    patience: Arc<Patience>,
    kept: Kept,
    /// Its keeper has gone on to the next program.
    is_over: bool,
}

impl Supervised {
    /// Starts a program. `sink` is called from threads of its own and may block: the program is
    /// then held up by its full pipe, and nothing is stored.
    pub fn start(
        spec: &Spec,
        sink: impl Fn(ProcessEvent) + Send + Sync + 'static,
    ) -> Result<Self, StartError> {
        Self::start_with(&KeeperProgram::Own, spec, sink)
    }

    /// Starts a program with a keeper that is started from this program.
    pub fn start_with(
        keeper: &KeeperProgram,
        spec: &Spec,
        sink: impl Fn(ProcessEvent) + Send + Sync + 'static,
    ) -> Result<Self, StartError> {
        Self::start_ready(keeper, None, spec, sink)
    }

    /// The same by a keeper that was started ahead, where there is one and it serves.
    pub fn start_ready(
        keeper: &KeeperProgram,
        ready: Option<ReadyKeeper>,
        spec: &Spec,
        sink: impl Fn(ProcessEvent) + Send + Sync + 'static,
    ) -> Result<Self, StartError> {
        let ready = ready.filter(|ready| ready.serves(spec));
        Self::start_by(keeper, ready, spec, &(Arc::new(sink) as Sink))
    }

    fn start_by(
        keeper: &KeeperProgram,
        mut ready: Option<ReadyKeeper>,
        spec: &Spec,
        sink: &Sink,
    ) -> Result<Self, StartError> {
        let refused = |why| StartError::Refused { program: spec.program.clone(), why };
        if !spec.cwd.is_dir() {
            let (program, cwd) = (spec.program.clone(), spec.cwd.clone());
            return Err(StartError::NoDirectory { program, cwd });
        }
        let mut left = STARTS_MAX;
        let heard = loop {
            let input = spec.stdin.open().map_err(refused)?;
            let kept = match ready.take() {
                Some(ReadyKeeper(keeping)) => Ok(Ok(keeping)),
                None => Keeping::start(keeper, spec),
            };
            let heard = kept.and_then(|kept| match kept {
                Ok(keeping) => Self::launch(keeping, spec, input.as_ref(), sink),
                Err(refusal) => Ok(Err(refusal)),
            });
            left = left.saturating_sub(1);
            // A keeper that somebody killed before it had started anything is no fault of the program's.
            if heard.is_ok() || left == 0 {
                break heard;
            }
            end_orphans();
        };
        heard
            .map_err(|source| StartError::Keeper { program: spec.program.clone(), source })?
            .map_err(|refusal| match refusal {
                Refusal::NotFound => StartError::NotFound { program: spec.program.clone() },
                Refusal::Because(why) => refused(why),
                Refusal::Unwalled(why) => {
                    StartError::Unwalled { program: spec.program.clone(), why }
                }
            })
    }

    /// Has a keeper start its program, and the rest heard by a thread.
    fn launch(
        mut keeping: Keeping,
        spec: &Spec,
        input: Option<&OpenInput>,
        sink: &Sink,
    ) -> io::Result<Result<Self, Refusal>> {
        let (pid, outputs) = match keeping.launch(spec, input)? {
            Ok(launched) => launched,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let control = keeping.control.try_clone()?;
        control.set_read_timeout(None)?;
        let (id, gone) = (keeping.keeper.0.id(), ExitWatch::begin(keeping.keeper.0.id())?);
        let (patience, kept) = (Arc::new(Patience::default()), Kept::default());
        let stays = spec.keeper_stays && spec.walls.is_none();
        let then = if stays { Then::Stays } else { Then::Goes };
        let ending = Ending::new((keeping, &kept), outputs, (sink, &patience));
        let hear = move || ending.await_it(pid, then);
        thread::Builder::new().name("keeper".to_owned()).spawn(hear)?;
        Ok(Ok(Self { pid, keeper: id, control, gone, patience, kept, is_over: false }))
    }

    /// The keeper of a program that has ended, for the next one; the process itself where its keeper
    /// goes. Asked once the end was told.
    pub fn into_keeper(mut self) -> Result<ReadyKeeper, Self> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(keeping) = kept else { return Err(self) };
        self.is_over = true;
        Ok(ReadyKeeper(keeping))
    }

    /// Whether such walls can be had here: a keeper puts them up around itself and ends. If not, why
    /// not, in the system's words.
    pub fn try_walls(walls: &Walls) -> Result<(), String> {
        let mut spec = Spec::new("", std::env::temp_dir());
        spec.walls = Some(walls.clone());
        match Keeping::start(&KeeperProgram::Own, &spec) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(Refusal::Unwalled(why) | Refusal::Because(why))) => Err(why),
            Ok(Err(Refusal::NotFound)) => Err("the keeper ended".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The program's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The keeper's process id: everything the program started is below it.
    pub fn keeper_pid(&self) -> u32 {
        self.keeper
    }

    /// CPU time the program and everything it started has used so far.
    pub fn cpu(&self) -> Duration {
        table::tree_cpu(self.keeper)
    }

    /// Signals the whole tree; `Kill` goes on until nothing is left. Stopping what has ended is
    /// no error.
    pub fn stop(&self, force: Force) -> io::Result<()> {
        wake(self.keeper);
        if force == Force::Kill {
            self.patience.ends_after(KILL_PATIENCE);
        }
        order(&self.control, force)
    }

    /// A way to stop it from another thread.
    pub fn leash(&self) -> io::Result<Leash> {
        Ok(Leash { control: self.control.try_clone()?, keeper: self.keeper })
    }
}

/// A way to stop a supervised program from another thread than the one that holds it.
#[derive(Debug)]
pub struct Leash {
    control: UnixStream,
    keeper: u32,
}

impl Leash {
    /// Signals the whole tree, as [`Supervised::stop`] does.
    pub fn pull(&self, force: Force) -> io::Result<()> {
        wake(self.keeper);
        order(&self.control, force)
    }
}

fn order(mut control: &UnixStream, force: Force) -> io::Result<()> {
    match control.write_all(&line(&Order::Stop(force))?) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // The keeper takes the closed socket as the order to kill everything.
        if !self.is_over && self.control.shutdown(Shutdown::Write).is_ok() {
            wake(self.keeper);
            self.patience.ends_after(KILL_PATIENCE);
            wait_until_gone(&self.gone);
        }
    }
}

/// How long a keeper may still take to end everything. One that was stopped, again and again, by
/// what it keeps is killed then, and flyball ends the rest itself.
#[derive(Debug, Default)]
pub(super) struct Patience(Mutex<Option<Deadline>>);

impl Patience {
    fn ends_after(&self, span: Duration) {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.get_or_insert_with(|| Deadline::after(span));
    }

    pub(super) fn is_over(&self) -> bool {
        let until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.as_ref().is_some_and(Deadline::passed)
    }
}

/// Waits until a process has ended; whether it has.
pub(super) fn wait_until_gone(process: &ExitWatch) -> bool {
    let deadline = Deadline::after(DROP_MAX);
    while !deadline.passed() {
        // Nothing to read yet: a signal came, or the time is up. An error: waiting is no use.
        let gone = wait_readable([process.as_fd()], Some(deadline.left()));
        if !matches!(gone, Ok([false])) {
            return true;
        }
    }
    false
}
