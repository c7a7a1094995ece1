//! Checkpoints go into the vault beside the run: a thread fetches them, and nobody waits for it but
//! the run's end, for a moment. A vault that cannot be written is a note, never an end.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flyball_core::RunId;

use super::DriverInput;
use crate::clock::Deadline;
use crate::worktree::{Deposit, Vault, Worktree, WorktreeError};

/// How long further checkpoints are waited for, so that quick iterations share one fetch.
const TOGETHER: Duration = Duration::from_millis(250);
/// How long the end of what was ended is waited for.
const END_MAX: Duration = Duration::from_secs(2);
/// Between two looks for that.
const PAUSE: Duration = Duration::from_millis(5);
/// How many checkpoints may wait for a vault that cannot be written.
const WAITING_MAX: usize = 1000;

/// The vault at work.
pub(super) struct VaultJob {
    deposits: Option<Sender<Deposit>>,
    vault: Arc<Vault>,
    thread: JoinHandle<()>,
}

impl VaultJob {
    /// Begins to keep the checkpoints of a run, with those it lacks.
    #[expect(clippy::needless_pass_by_value, reason = "it is taken over")]
    pub(super) fn start(
        state_dir: PathBuf,
        worktree: Worktree,
        run: RunId,
        outbox: SyncSender<DriverInput>,
    ) -> Option<Self> {
        let vault = Arc::new(Vault::of(&state_dir, &worktree));
        let (deposits, waiting) = channel();
        let keeping = Keeping {
            vault: Arc::clone(&vault),
            outbox,
            told: BTreeSet::new(),
            known: BTreeSet::new(),
            waiting: Vec::new(),
        };
        let keep = move || keeping.keep(&worktree, &run, &waiting);
        // Without a thread there is no vault; the checkpoints are in the repository all the same.
        let thread = thread::Builder::new().name("vault".to_owned()).spawn(keep).ok()?;
        Some(Self { deposits: Some(deposits), vault, thread })
    }

    /// Has a checkpoint taken in.
    pub(super) fn take_in(&self, deposit: Deposit) {
        if let Some(deposits) = &self.deposits {
            // A thread that is gone has said why.
            deposits.send(deposit).ok();
        }
    }

    /// Waits for what is under way, at most so long; whether everything was taken in.
    pub(super) fn end(mut self, patience: Duration) -> bool {
        self.deposits = None;
        if self.is_over(patience) {
            return true;
        }
        self.vault.end();
        self.is_over(END_MAX);
        false
    }

    fn is_over(&self, patience: Duration) -> bool {
        let limit = Deadline::after(patience);
        while !self.thread.is_finished() {
            if limit.passed() {
                return false;
            }
            thread::sleep(PAUSE);
        }
        true
    }
}

/// The thread's own.
struct Keeping {
    vault: Arc<Vault>,
    outbox: SyncSender<DriverInput>,
    told: BTreeSet<String>,
    /// Commits the vault has.
    known: BTreeSet<String>,
    waiting: Vec<Deposit>,
}

impl Keeping {
    fn keep(mut self, worktree: &Worktree, run: &RunId, deposits: &Receiver<Deposit>) {
        if let Err(error) = self.vault.prepare(worktree) {
            return self.tell(&error);
        }
        match self.vault.lacks(worktree, run) {
            Ok(lacking) => self.waiting.extend(lacking),
            Err(error) => self.tell(&error),
        }
        let mut is_open = true;
        while is_open {
            if self.waiting.is_empty() {
                match deposits.recv() {
                    Ok(deposit) => self.waiting.push(deposit),
                    Err(_) => return,
                }
            }
            let limit = Deadline::after(TOGETHER);
            loop {
                match deposits.recv_timeout(limit.left()) {
                    Ok(deposit) => self.waiting.push(deposit),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => {
                        is_open = false;
                        break;
                    }
                }
            }
            if let Err(error) = self.take_in() {
                self.tell(&error);
                // What could not be taken in is tried again with the next.
                let excess = self.waiting.len().saturating_sub(WAITING_MAX);
                self.waiting.drain(..excess);
                match deposits.recv() {
                    Ok(deposit) => self.waiting.push(deposit),
                    Err(_) => return,
                }
            }
        }
    }

    fn take_in(&mut self) -> Result<(), WorktreeError> {
        let is_new = |deposit: &Deposit| !self.known.contains(&deposit.commit);
        let (new, again): (Vec<_>, Vec<_>) = self.waiting.iter().cloned().partition(is_new);
        self.vault.take_in(&new)?;
        self.known.extend(new.into_iter().map(|deposit| deposit.commit));
        for deposit in &again {
            self.vault.name_again(deposit)?;
        }
        self.waiting.clear();
        Ok(())
    }

    /// Says once what is wrong.
    fn tell(&mut self, error: &WorktreeError) {
        if matches!(error, WorktreeError::Ended { .. }) {
            return;
        }
        let mut words = error.to_string();
        if let Some(source) = std::error::Error::source(error) {
            words = format!("{words}: {source}");
        }
        let note = format!(
            "the vault could not be written ({words}); checkpoints are kept in the repository only"
        );
        if self.told.insert(note.clone()) {
            // It is for people: dropped rather than waited for.
            self.outbox.try_send(DriverInput::Note(note)).ok();
        }
    }
}
