//! flyball's side of a supervised program: starting its keeper, giving orders, hearing the end.

use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use flyball_core::effect::Force;
use flyball_core::event::ExitHow;

use super::input::OpenInput;
use super::keeper::KEEPER_ARGUMENT;
use super::leftover::end_session;
use super::message::{Launch, Order, Report, line, parse};
use super::output::{Readers, Sink};
use super::program::KeeperProgram;
use super::wait::wait_readable;
use super::{ProcessEvent, Spec, StartError, table};
use crate::clock::Deadline;
use crate::platform::{ExitWatch, send_with_descriptors};

/// How long a keeper may take to say that the program runs.
const START_MAX: Duration = Duration::from_secs(30);
/// How long dropping waits for the keeper to have killed everything.
const DROP_MAX: Duration = Duration::from_secs(5);

/// A running program with its whole tree. Dropping it kills everything.
#[derive(Debug)]
pub struct Supervised {
    pid: u32,
    keeper: u32,
    control: UnixStream,
    gone: ExitWatch,
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
        let input = spec.stdin.open().map_err(refused)?;
        let sink: Sink = Arc::new(sink);
        Keeping::start(keeper, spec, input.as_ref())
            .and_then(|keeping| keeping.hear(&sink))
            .map_err(|source| StartError::Keeper { program: spec.program.clone(), source })?
            .map_err(|refusal| match refusal {
                Refusal::NotFound => StartError::NotFound { program: spec.program.clone() },
                Refusal::Because(why) => refused(why),
            })
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
        match (&self.control).write_all(&line(&Order::Stop(force))?) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // The keeper takes the closed socket as the order to kill everything.
        if self.control.shutdown(Shutdown::Write).is_ok() {
            wait_until_gone(&self.gone);
        }
    }
}

/// Why a keeper did not start the program.
enum Refusal {
    NotFound,
    Because(String),
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
            sweep_grace_ms: u64::try_from(spec.sweep_grace.as_millis()).unwrap_or(u64::MAX),
        };
        let (control, theirs) = UnixStream::pair()?;
        let keeper = Command::new(keeper.find()?)
            .arg0("flyball")
            .arg(KEEPER_ARGUMENT)
            .current_dir(&spec.cwd)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map(KeeperChild)?;
        // A keeper that is gone by now is noticed when it is listened to.
        hand_over(&control, &line(&launch)?, input).ok();
        Ok(Self { control, keeper })
    }

    /// Waits for the keeper's first words and has the rest heard by a thread.
    fn hear(mut self, sink: &Sink) -> io::Result<Result<Supervised, Refusal>> {
        let keeper = self.keeper.0.id();
        let mut reports = BufReader::new(self.control.try_clone()?);
        self.control.set_read_timeout(Some(START_MAX))?;
        let pid = match next_report(&mut reports)? {
            Some(Report::Started(pid)) => pid,
            Some(Report::Failed { not_found: true, .. }) => return Ok(Err(Refusal::NotFound)),
            Some(Report::Failed { why, .. }) => return Ok(Err(Refusal::Because(why))),
            Some(Report::Exited { .. }) | None => {
                return Err(io::Error::other("it ended before the program was started"));
            }
        };
        self.control.set_read_timeout(None)?;
        let no_pipe = || io::Error::other("an output pipe is missing");
        let out = self.keeper.0.stdout.take().ok_or_else(no_pipe)?;
        let err = self.keeper.0.stderr.take().ok_or_else(no_pipe)?;
        let readers = Readers::new(out, err, sink)?;
        let gone = ExitWatch::begin(keeper)?;
        let ending = Ending { keeper: self.keeper, reports, readers, sink: Arc::clone(sink) };
        thread::Builder::new().name("keeper".to_owned()).spawn(move || ending.await_it(pid))?;
        Ok(Ok(Supervised { pid, keeper, control: self.control, gone }))
    }
}

/// What is needed to hear how a program ends.
struct Ending {
    keeper: KeeperChild,
    reports: BufReader<UnixStream>,
    readers: Readers,
    sink: Sink,
}

impl Ending {
    fn await_it(mut self, pid: u32) {
        (self.sink)(ProcessEvent::Started { pid });
        self.readers.begin();
        let (how, swept) = loop {
            match next_report(&mut self.reports) {
                Ok(Some(Report::Exited { how, swept })) => break (how, swept),
                Ok(Some(Report::Started(_) | Report::Failed { .. })) => {}
                // The keeper was killed. As long as it is not waited for, its process id, and so
                // the id of its session, cannot belong to anybody else.
                Ok(None) | Err(_) => break (ExitHow::Lost, end_session(self.keeper.0.id())),
            }
        };
        // Only fails when someone else has waited for it.
        self.keeper.0.wait().ok();
        self.readers.drain();
        (self.sink)(ProcessEvent::Exited { how, swept });
    }
}

fn next_report(reports: &mut BufReader<UnixStream>) -> io::Result<Option<Report>> {
    let mut text = Vec::new();
    match reports.read_until(b'\n', &mut text)? {
        0 => Ok(None),
        _ => parse(&text).map(Some),
    }
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
