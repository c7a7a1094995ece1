//! flyball's side of a supervised program: starting its keeper, giving orders, hearing the end.

use std::io::{self, BufReader, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use flyball_core::RunId;
use flyball_core::effect::Force;

use super::ending::{Ending, LOOK_EVERY, next_report, wake};
use super::input::OpenInput;
use super::keeper::KEEPER_ARGUMENT;
use super::leftover::end_session;
use super::message::{Launch, Order, Report, line};
use super::orphans::{end_orphans, start_own};
use super::output::{Readers, Sink};
use super::program::KeeperProgram;
use super::wait::wait_readable;
use super::{ProcessEvent, Spec, StartError, table};
use crate::clock::Deadline;
use crate::platform::{self, ExitWatch, Means, Walls, send_with_descriptors};

/// How long a keeper may take to say that the program runs.
const START_MAX: Duration = Duration::from_secs(30);
/// How often a keeper is started that was killed before it could start anything.
const STARTS_MAX: u32 = 3;
/// How long dropping waits for the keeper to have killed everything.
const DROP_MAX: Duration = Duration::from_secs(5);
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
        let refused = |why| StartError::Refused { program: spec.program.clone(), why };
        if !spec.cwd.is_dir() {
            let (program, cwd) = (spec.program.clone(), spec.cwd.clone());
            return Err(StartError::NoDirectory { program, cwd });
        }
        let sink: Sink = Arc::new(sink);
        let mut left = STARTS_MAX;
        let heard = loop {
            let input = spec.stdin.open().map_err(refused)?;
            let heard = Keeping::start(keeper, spec, input.as_ref())
                .and_then(|keeping| keeping.hear(&sink));
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

    /// Whether such walls can be had here: a keeper puts them up around itself and ends. If not, why
    /// not, in the system's words.
    pub fn try_walls(walls: &Walls) -> Result<(), String> {
        let mut spec = Spec::new("", std::env::temp_dir());
        spec.walls = Some(walls.clone());
        let tried = Keeping::start(&KeeperProgram::Own, &spec, None)
            .and_then(|keeping| keeping.hear_first().map(|(_, _, first)| first));
        match tried {
            Ok(Some(Report::Started(_))) => Ok(()),
            Ok(Some(Report::Unwalled { why } | Report::Failed { why, .. })) => Err(why),
            Ok(_) => Err("the keeper ended".to_owned()),
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
        if self.control.shutdown(Shutdown::Write).is_ok() {
            wake(self.keeper);
            self.patience.ends_after(KILL_PATIENCE);
            wait_until_gone(&self.gone);
        }
    }
}

/// Why a keeper did not start the program.
enum Refusal {
    NotFound,
    Because(String),
    Unwalled(String),
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

/// A keeper that has been started and told what to do. Fields are dropped in this order: the
/// closed socket ends the keeper, then it is waited for.
struct Keeping {
    control: UnixStream,
    keeper: KeeperChild,
}

/// A keeper process that is waited for, whatever becomes of the program.
pub(super) struct KeeperChild(pub(super) Child);

impl Drop for KeeperChild {
    fn drop(&mut self) {
        let limit = Deadline::after(DROP_MAX);
        while matches!(self.0.try_wait(), Ok(None)) {
            if limit.passed() {
                // Either fails only when it has ended in the meantime.
                self.0.kill().ok();
                end_session(self.0.id());
                self.0.wait().ok();
                end_orphans();
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Keeping {
    fn start(keeper: &KeeperProgram, spec: &Spec, input: Option<&OpenInput>) -> io::Result<Self> {
        let launch = Launch {
            program: spec.program.clone(),
            args: spec.args.clone(),
            env: spec.env.clone(),
            has_input: input.is_some(),
            walls: spec.walls.clone(),
            sweep_grace_ms: u64::try_from(spec.sweep_grace.as_millis()).unwrap_or(u64::MAX),
        };
        let (control, theirs) = UnixStream::pair()?;
        let mut command = keeper_command(keeper, spec.walls.as_ref(), KEEPER_ARGUMENT)?;
        command.args(spec.run.iter().map(RunId::as_str));
        command.current_dir(&spec.cwd).stdin(OwnedFd::from(theirs));
        let keeper =
            start_own(command.stdout(Stdio::piped()).stderr(Stdio::piped())).map(KeeperChild)?;
        // A keeper that is gone by now is noticed when it is listened to.
        hand_over(&control, &line(&launch)?, input).ok();
        Ok(Self { control, keeper })
    }

    /// Waits for the keeper's first words, and helps it on where it has to ask before.
    fn hear_first(self) -> io::Result<(Self, BufReader<UnixStream>, Option<Report>)> {
        let mut reports = BufReader::new(self.control.try_clone()?);
        self.control.set_read_timeout(Some(START_MAX))?;
        let mut first = self.first_report(&mut reports)?;
        if first == Some(Report::AsksForMaps) {
            let mapped = platform::map_like_own(self.keeper.0.id());
            let why = mapped.err().map(|error| error.to_string());
            (&self.control).write_all(&line(&Order::Mapped { why })?)?;
            first = self.first_report(&mut reports)?;
        }
        Ok((self, reports, first))
    }

    /// The next report of a keeper whose program may have stopped it before it could say anything.
    fn first_report(&self, reports: &mut BufReader<UnixStream>) -> io::Result<Option<Report>> {
        let limit = Deadline::after(START_MAX);
        while !limit.passed()
            && reports.buffer().is_empty()
            && matches!(wait_readable([self.control.as_fd()], Some(LOOK_EVERY)), Ok([false]))
        {
            wake(self.keeper.0.id());
        }
        next_report(reports)
    }

    /// Waits for the keeper's first words and has the rest heard by a thread.
    fn hear(self, sink: &Sink) -> io::Result<Result<Supervised, Refusal>> {
        let keeper = self.keeper.0.id();
        let (mut this, reports, first) = self.hear_first()?;
        let pid = match first {
            Some(Report::Started(pid)) => pid,
            Some(Report::Unwalled { why }) => return Ok(Err(Refusal::Unwalled(why))),
            Some(Report::Failed { not_found: true, .. }) => return Ok(Err(Refusal::NotFound)),
            Some(Report::Failed { why, .. }) => return Ok(Err(Refusal::Because(why))),
            Some(Report::Exited { .. } | Report::AsksForMaps) | None => {
                return Err(io::Error::other("it ended before the program was started"));
            }
        };
        this.control.set_read_timeout(None)?;
        let no_pipe = || io::Error::other("an output pipe is missing");
        let out = this.keeper.0.stdout.take().ok_or_else(no_pipe)?;
        let err = this.keeper.0.stderr.take().ok_or_else(no_pipe)?;
        let readers = Readers::new(out, err, sink)?;
        let gone = ExitWatch::begin(keeper)?;
        let patience = Arc::new(Patience::default());
        let ending = Ending {
            keeper: this.keeper,
            reports,
            readers,
            sink: Arc::clone(sink),
            patience: Arc::clone(&patience),
        };
        thread::Builder::new().name("keeper".to_owned()).spawn(move || ending.await_it(pid))?;
        Ok(Ok(Supervised { pid, keeper, control: this.control, gone, patience }))
    }
}

/// The program a keeper is started from, behind the program that puts up the walls where the keeper
/// may not do so itself.
pub(super) fn keeper_command(
    keeper: &KeeperProgram,
    walls: Option<&Walls>,
    argument: &str,
) -> io::Result<Command> {
    let by_other = walls.filter(|walls| walls.means == Means::Bubblewrap).map(platform::bubblewrap);
    let Some([program, args @ ..]) = by_other.as_deref() else {
        let mut command = Command::new(keeper.find()?);
        command.arg0("flyball").arg(argument);
        return Ok(command);
    };
    // Its own program is another one by then.
    let own = match keeper {
        KeeperProgram::At(path) => path.clone(),
        KeeperProgram::Own => std::env::current_exe()?,
    };
    let mut command = Command::new(program);
    command.args(args).arg(own).arg(argument);
    Ok(command)
}

/// Sends the first line to a keeper, and the program's input with it.
fn hand_over(mut control: &UnixStream, line: &[u8], input: Option<&OpenInput>) -> io::Result<()> {
    let input: Vec<_> = input.iter().map(|input| input.as_fd()).collect();
    let sent = send_with_descriptors(control, line, &input)?;
    control.write_all(line.get(sent..).unwrap_or_default())
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
