//! A keeper process, from flyball's side, until it has a program: it is started, puts up its walls,
//! says that it is ready, and waits. So it can be started ahead, while something else is waited for.

use std::io::{self, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use flyball_core::RunId;

use super::Spec;
use super::ending::{LOOK_EVERY, next_report, wake};
use super::input::OpenInput;
use super::keeper::KEEPER_ARGUMENT;
use super::leftover::end_session;
use super::message::{Launch, Order, Report, line};
use super::orphans::{end_orphans, start_own};
use super::output::Outputs;
use super::program::KeeperProgram;
use super::wait::wait_readable;
use crate::clock::Deadline;
use crate::platform::{self, Means, Walls, send_with_descriptors};

/// How long a keeper may take to say that it is ready, or that the program runs.
const START_MAX: Duration = Duration::from_secs(30);
/// How long dropping waits for the keeper to have killed everything.
pub(super) const DROP_MAX: Duration = Duration::from_secs(5);

/// A keeper that was started ahead and waits behind its walls, or that is left of the program before:
/// the program it is given starts at once. Dropping ends it.
#[derive(Debug)]
pub struct ReadyKeeper(pub(super) Keeping);

impl ReadyKeeper {
    /// Starts one for programs with the surroundings of this one: its walls, its run, its folder.
    pub fn start(keeper: &KeeperProgram, spec: &Spec) -> io::Result<Self> {
        let started = Keeping::start(keeper, spec)?;
        started.map(Self).map_err(|_| io::Error::other("its walls could not be put up"))
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.keeper.0.id()
    }

    /// Whether what it stands behind is what this program is to stand behind.
    pub(super) fn serves(&self, spec: &Spec) -> bool {
        self.0.walls == spec.walls && self.0.run == spec.run
    }
}

/// Why a keeper did not start the program.
#[derive(Debug)]
pub(super) enum Refusal {
    NotFound,
    Because(String),
    Unwalled(String),
}

/// A keeper that waits for its program. Fields are dropped in this order: the closed socket ends the
/// keeper, then it is waited for.
#[derive(Debug)]
pub(super) struct Keeping {
    pub(super) reports: BufReader<UnixStream>,
    pub(super) control: UnixStream,
    pub(super) keeper: KeeperChild,
    pub(super) walls: Option<Walls>,
    pub(super) run: Option<RunId>,
}

/// A keeper process that is waited for, whatever becomes of the program.
#[derive(Debug)]
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
    /// Starts a keeper and waits until it is ready.
    pub(super) fn start(program: &KeeperProgram, spec: &Spec) -> io::Result<Result<Self, Refusal>> {
        let (control, theirs) = UnixStream::pair()?;
        let mut command = keeper_command(program, spec.walls.as_ref(), KEEPER_ARGUMENT)?;
        command.args(spec.run.iter().map(RunId::as_str));
        command.current_dir(&spec.cwd).stdin(OwnedFd::from(theirs));
        let keeper =
            start_own(command.stdout(Stdio::null()).stderr(Stdio::null())).map(KeeperChild)?;
        // It holds the keeper's end of the socket: nobody would hear of the keeper's death.
        drop(command);
        let reports = BufReader::new(control.try_clone()?);
        let (walls, run) = (spec.walls.clone(), spec.run.clone());
        let mut this = Self { reports, control, keeper, walls, run };
        this.control.set_read_timeout(Some(START_MAX))?;
        // A keeper that is gone by now is noticed when it is listened to.
        (&this.control).write_all(&line(&this.walls)?).ok();
        let mut first = this.next_report()?;
        if first == Some(Report::AsksForMaps) {
            let mapped = platform::map_like_own(this.keeper.0.id());
            let why = mapped.err().map(|error| error.to_string());
            (&this.control).write_all(&line(&Order::Mapped { why })?)?;
            first = this.next_report()?;
        }
        match first {
            Some(Report::Ready) => Ok(Ok(this)),
            Some(Report::Unwalled { why }) => Ok(Err(Refusal::Unwalled(why))),
            Some(
                Report::AsksForMaps
                | Report::Started(_)
                | Report::Failed { .. }
                | Report::Exited { .. },
            )
            | None => Err(io::Error::other("it ended before it was ready")),
        }
    }

    /// Has it heard as before its program, for the next one.
    pub(super) fn listens_again(&mut self) -> io::Result<()> {
        self.control.set_read_timeout(Some(START_MAX))
    }

    /// Has it start the program; the program's process id, and what it prints.
    pub(super) fn launch(
        &mut self,
        spec: &Spec,
        input: Option<&OpenInput>,
    ) -> io::Result<Result<(u32, Outputs), Refusal>> {
        let ((out, theirs_out), (err, theirs_err)) = (io::pipe()?, io::pipe()?);
        let launch = Launch {
            program: spec.program.clone(),
            args: spec.args.clone(),
            cwd: spec.cwd.clone().into_os_string(),
            env: spec.env.clone(),
            has_input: input.is_some(),
            sweep_grace_ms: u64::try_from(spec.sweep_grace.as_millis()).unwrap_or(u64::MAX),
            stays: spec.keeper_stays,
        };
        let mut theirs = vec![theirs_out.as_fd(), theirs_err.as_fd()];
        theirs.extend(input.map(AsFd::as_fd));
        // A keeper that is gone by now is noticed when it is listened to.
        hand_over(&self.control, &line(&launch)?, &theirs).ok();
        // Only the program holds them from here on, or nobody would hear it close them.
        drop((theirs_out, theirs_err));
        match self.next_report()? {
            Some(Report::Started(pid)) => Ok(Ok((pid, Outputs::new(out, err)))),
            Some(Report::Failed { not_found: true, .. }) => Ok(Err(Refusal::NotFound)),
            Some(Report::Failed { why, .. }) => Ok(Err(Refusal::Because(why))),
            Some(
                Report::AsksForMaps
                | Report::Ready
                | Report::Unwalled { .. }
                | Report::Exited { .. },
            )
            | None => Err(io::Error::other("it ended before the program was started")),
        }
    }

    /// The next report of a keeper that somebody may have stopped before it could say anything.
    fn next_report(&mut self) -> io::Result<Option<Report>> {
        let limit = Deadline::after(START_MAX);
        while !limit.passed()
            && self.reports.buffer().is_empty()
            && matches!(wait_readable([self.control.as_fd()], Some(LOOK_EVERY)), Ok([false]))
        {
            wake(self.keeper.0.id());
        }
        next_report(&mut self.reports)
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

/// Sends the launch line to a keeper, and the program's outputs and input with it.
fn hand_over(mut control: &UnixStream, line: &[u8], with: &[BorrowedFd<'_>]) -> io::Result<()> {
    let sent = send_with_descriptors(control, line, with)?;
    control.write_all(line.get(sent..).unwrap_or_default())
}
