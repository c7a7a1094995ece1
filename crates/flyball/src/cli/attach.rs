//! `flyball attach`: a run that goes on elsewhere, shown as if it were here. Leaving changes nothing.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::runs::{self, Life};
use super::{Globals, detach, fault, live, place};
use crate::clock;
use crate::error::CliError;
use crate::files;
use crate::journal::{Journal, RunSummary, state_dir};
use crate::report::{Watcher, summary_text};
use crate::terminal;
use crate::view::Replay;

/// How much of what was printed before is shown at first.
const BEFORE_MAX: u64 = 4 * 1024;
/// The most that is read of it at once.
const PIECE: u64 = 64 * 1024;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// Show a run at work, live
///
/// Ctrl-C leaves it running. When the run ends, so does this, with the run's exit code.
#[derive(Clone, Debug, Default, Args)]
pub struct AttachArgs {
    /// The run, or the beginning of its name; without it, the one at work here
    pub run: Option<String>,
}

/// Shows the run until it ends or somebody leaves.
pub fn run(args: &AttachArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let journal = place::open_journal()?;
    let found = live::find(&journal, args.run.as_deref(), globals)?;
    let leaves = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&leaves))
            .map_err(|error| CliError::io("signals cannot be listened to").cause(error))?;
    }
    let mut show = Show::begin(&found, globals)?;
    show.catch_up(&journal)?;
    loop {
        show.go_on(&journal)?;
        let now = journal.run(&found.run).map_err(fault::journal)?;
        match runs::life(&now) {
            Life::Running => {}
            Life::Ended => return show.ended(&journal, &now),
            Life::Lost => {
                show.go_on(&journal)?;
                show.watcher.clear();
                let command = runs::resume_command(&now.run, &now.root, None);
                return Err(CliError::io(format!("run `{}` is gone: its process died", now.run))
                    .hint(format!("to go on with it: `{command}`")));
            }
        }
        if leaves.load(Ordering::SeqCst) {
            show.watcher.clear();
            let again = format!("flyball attach {}", found.run);
            terminal::write_err(&format!("\nRun {} goes on without you: {again}\n", found.run));
            return Ok(ExitCode::SUCCESS);
        }
        thread::sleep(PAUSE);
    }
}

/// A run as it is shown here.
struct Show {
    run: RunSummary,
    watcher: Watcher,
    replay: Replay,
    /// The number of the last event that was read.
    seq: u64,
    /// What the run itself prints, where that is kept.
    printed: Option<Printed>,
}

impl Show {
    fn begin(run: &RunSummary, globals: &Globals) -> Result<Self, CliError> {
        let path = detach::output_of(&state_dir()?, &run.run);
        let printed = Printed::open(&path).map_err(fault::file(&path, "read"))?;
        let mut watcher = Watcher::new(globals.color.for_stderr());
        let root = run.root.display();
        watcher.remark(&format!("Run {}; Ctrl-C leaves it running", run.run));
        watcher.remark(&format!("in {root}"));
        Ok(Self { run: run.clone(), watcher, replay: Replay::new(run), seq: 0, printed })
    }

    /// Reads what happened before: it is in `flyball log`, and only the latest is shown.
    fn catch_up(&mut self, journal: &Journal) -> Result<(), CliError> {
        let mut latest = std::collections::VecDeque::new();
        for recorded in journal.events(&self.run.run).map_err(fault::journal)? {
            let recorded = recorded.map_err(fault::journal)?;
            self.seq = recorded.seq;
            latest.extend(self.replay.step(recorded.at, &recorded.event).lines);
            while latest.len() > 20 {
                latest.pop_front();
            }
        }
        if self.printed.is_none() {
            self.watcher.lines(latest.make_contiguous());
        }
        Ok(())
    }

    /// Shows what has happened since, and how the run stands.
    fn go_on(&mut self, journal: &Journal) -> Result<(), CliError> {
        for recorded in journal.events_after(&self.run.run, self.seq).map_err(fault::journal)? {
            let recorded = recorded.map_err(fault::journal)?;
            self.seq = recorded.seq;
            let step = self.replay.step(recorded.at, &recorded.event);
            if self.printed.is_none() {
                self.watcher.lines(&step.lines);
            }
        }
        if let Some(printed) = &mut self.printed {
            printed
                .show(&mut self.watcher)
                .map_err(|error| CliError::io("what the run prints cannot be read").cause(error))?;
        }
        if let Some(parts) = self.replay.live(clock::wall()) {
            self.watcher.tick(&parts);
        }
        Ok(())
    }

    /// The run is over: the rest is shown, and its outcome is the exit code.
    fn ended(mut self, journal: &Journal, now: &RunSummary) -> Result<ExitCode, CliError> {
        // Its summary comes after its end was written.
        if let (Some(_), Some(pid)) = (&self.printed, self.run.pid) {
            let limit = clock::Deadline::after(Duration::from_secs(15));
            while crate::process::still_runs(pid, self.run.last_at) && !limit.passed() {
                thread::sleep(PAUSE);
            }
        }
        self.go_on(journal)?;
        self.watcher.clear();
        let Some(ending) = &now.ending else { return Ok(ExitCode::SUCCESS) };
        let code = ending.outcome.exit_code();
        if self.printed.is_none() {
            let text = summary_text(&now.run, (ending, code), now.max_iterations, None);
            terminal::write_err(&text);
        }
        Ok(ExitCode::from(code))
    }
}

/// The file a detached run prints into.
struct Printed {
    file: File,
}

impl Printed {
    /// From the last lines on; none where the run prints elsewhere.
    fn open(path: &Path) -> std::io::Result<Option<Self>> {
        let Some(mut file) = files::optional(files::open(path))? else { return Ok(None) };
        let length = file.metadata()?.len();
        if length > BEFORE_MAX {
            file.seek(SeekFrom::Start(length - BEFORE_MAX))?;
            // Not from the middle of a line.
            let mut skipped = [0];
            while file.read(&mut skipped)? == 1 && skipped != *b"\n" {}
        }
        Ok(Some(Self { file }))
    }

    /// Shows what came since.
    fn show(&mut self, watcher: &mut Watcher) -> std::io::Result<()> {
        // It was begun anew.
        if self.file.metadata()?.len() < self.file.stream_position()? {
            self.file.seek(SeekFrom::Start(0))?;
        }
        loop {
            let mut piece = Vec::new();
            Read::by_ref(&mut self.file).take(PIECE).read_to_end(&mut piece)?;
            if piece.is_empty() {
                return Ok(());
            }
            watcher.printed(&piece);
        }
    }
}
