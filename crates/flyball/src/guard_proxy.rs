//! `mcp-guard`: stands between an MCP client and a server it did not write. Messages pass byte for
//! byte; only tool calls are judged, by the call ring, in batches too. Knows no protocol version and needs none.

mod answer;
mod batch;
mod judge;
pub(crate) mod line;
mod open;
mod raw;
mod result;
mod ring;

use std::io::{self, PipeWriter, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use flyball_core::effect::Force;
use flyball_core::event::ExitHow;
use flyball_core::policy::CallRules;

use self::judge::{Fate, Judge};
use self::line::{Line, LineCutter};
use crate::clock::{self, Deadline};
use crate::error::{CliError, ErrorKind};
use crate::loopdir::LoopDir;
use crate::process::{InputPipe, ProcessEvent, Spec, StartError, Stream, Supervised};
use crate::spill::Spill;
use crate::terminal::{self, PlainText};

/// The longest line that is held in memory, and so the longest tool call that is judged.
const HELD_MAX: usize = 64 * 1024 * 1024;
/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// How long the server may take to end once its input has ended, and once it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// What is to be guarded, and how.
#[derive(Clone, Debug)]
pub(crate) struct GuardRequest {
    /// The server's command line.
    pub(crate) server: Vec<String>,
    /// Where it works.
    pub(crate) directory: PathBuf,
    /// Where large results go.
    pub(crate) loop_dir: LoopDir,
    /// The limits.
    pub(crate) rules: CallRules,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// The client has closed its end.
    ClientGone,
    /// The server does not read any more.
    ServerDeaf,
    /// The server has ended, with all it has started.
    ServerEnded(ExitHow),
}

/// Guards until client or server goes away.
pub(crate) fn run(request: &GuardRequest) -> Result<ExitCode, CliError> {
    let name = request.server.first().cloned().unwrap_or_default();
    let spill = Spill::of_process(&request.loop_dir, clock::wall());
    let judge = Arc::new(Judge::new(request.rules.clone(), spill));
    let (tell, told) = channel();
    let pipe = InputPipe::new().map_err(|error| CliError::io("no pipe to be had").cause(error))?;
    let mut spec = Spec::new(&name, &request.directory);
    spec.args = request.server.get(1..).unwrap_or_default().to_vec();
    pipe.feed(&mut spec);
    let process = Supervised::start(&spec, from_server(&judge, tell.clone())).map_err(refused)?;
    let server = pipe.into_writer();
    let reader = Arc::clone(&judge);
    thread::Builder::new()
        .name("client".to_owned())
        .spawn(move || {
            let happening = from_client(&reader, server, &tell);
            // Nobody listens any more when the server has ended meanwhile.
            tell.send(happening).ok();
        })
        .map_err(|error| CliError::io("no thread to be had").cause(error))?;
    let code = guard(&name, &process, &judge, &told);
    // Other threads may still hold the judge when the process ends: dropping is not enough.
    judge.clear_spilled();
    Ok(code)
}

/// Waits for the end and sees to it that it is one for all.
fn guard(name: &str, process: &Supervised, judge: &Judge, told: &Receiver<Happening>) -> ExitCode {
    let ended = match told.recv() {
        Ok(Happening::ServerEnded(how)) => Some(how),
        Ok(Happening::ServerDeaf) | Err(_) => wait_for_end(process, told),
        Ok(Happening::ClientGone) => {
            wait_for_end(process, told);
            return ExitCode::SUCCESS;
        }
    };
    let how = match ended {
        Some(ExitHow::Code(code)) => format!("exited with {code}"),
        Some(ExitHow::Signal(signal)) => format!("was ended by signal {signal}"),
        Some(ExitHow::Lost) | None => "was lost".to_owned(),
    };
    let why = format!("the MCP server `{name}` {how}");
    for answer in judge.give_up(&why) {
        // A client that is gone as well needs no answer.
        write_client(&mut Line::Held(answer)).ok();
    }
    terminal::write_err(&format!("flyball: {why}\n"));
    ExitCode::from(ErrorKind::Internal.code())
}

/// Gives the server time to end by itself, then asks it to, then kills it.
fn wait_for_end(process: &Supervised, told: &Receiver<Happening>) -> Option<ExitHow> {
    for force in [None, Some(Force::Terminate), Some(Force::Kill)] {
        if let Some(force) = force {
            // Fails only when there is nothing left to stop.
            process.stop(force).ok();
        }
        let deadline = Deadline::after(GRACE);
        while let Ok(happening) = told.recv_timeout(deadline.left()) {
            if let Happening::ServerEnded(how) = happening {
                return Some(how);
            }
        }
    }
    None
}

/// Reads the client to its end.
fn from_client(judge: &Judge, mut server: PipeWriter, tell: &Sender<Happening>) -> Happening {
    let mut stdin = io::stdin().lock();
    let mut buffer = vec![0; CHUNK];
    let mut cutter = LineCutter::new(HELD_MAX);
    loop {
        let count = match stdin.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let pass = |line: Line| match judge.hear_client(line) {
            Fate::Pass(mut line) => line.write_to(&mut server),
            Fate::Answer(answer) => {
                // A client that does not listen is noticed when it is read from.
                write_client(&mut Line::Held(answer)).ok();
                Ok(())
            }
            Fate::Split { mut pass, answer } => {
                write_client(&mut Line::Held(answer)).ok();
                pass.write_to(&mut server)
            }
        };
        if cutter.take(buffer.get(..count).unwrap_or_default(), pass).is_err() {
            return Happening::ServerDeaf;
        }
    }
    // What has no end of line is passed as well: it is not for us to judge.
    if let Some(mut rest) = cutter.finish() {
        rest.write_to(&mut server).ok();
    }
    // Told before the server's input ends: its end is then expected.
    tell.send(Happening::ClientGone).ok();
    drop(server);
    Happening::ClientGone
}

/// Takes what the server says.
fn from_server(
    judge: &Arc<Judge>,
    tell: Sender<Happening>,
) -> impl Fn(ProcessEvent) + Send + Sync + 'static {
    let judge = Arc::clone(judge);
    let cutter = Mutex::new((LineCutter::new(HELD_MAX), PlainText::default()));
    let pass = move |line: Line| judge.hear_server(line).iter_mut().try_for_each(write_client);
    move |event| {
        let mut cutter = cutter.lock().unwrap_or_else(PoisonError::into_inner);
        let (cutter, cleaner) = &mut *cutter;
        match event {
            ProcessEvent::Started { .. } => {}
            // A client that is gone is noticed where it is read from.
            ProcessEvent::Output { stream: Stream::Stdout, bytes } => {
                cutter.take(&bytes, &pass).ok();
            }
            ProcessEvent::Output { stream: Stream::Stderr, bytes } => {
                terminal::write_err_piece(&bytes, cleaner);
            }
            ProcessEvent::Exited { how, .. } => {
                if let Some(rest) = cutter.finish() {
                    pass(rest).ok();
                }
                tell.send(Happening::ServerEnded(how)).ok();
            }
        }
    }
}

fn write_client(line: &mut Line) -> io::Result<()> {
    line.write_to(&mut io::stdout().lock())
}

fn refused(error: StartError) -> CliError {
    let text = error.to_string();
    match error {
        StartError::NotFound { .. } => CliError::no_input(text)
            .hint("give the server's command after `--`, as you would type it in a shell"),
        StartError::Refused { .. } | StartError::NoDirectory { .. } => CliError::no_input(text),
        StartError::Keeper { source, .. } => CliError::io(text).cause(source),
        StartError::Unwalled { .. } => CliError::io(text),
    }
}
