//! Checkpoints go into the vault beside the run: a thread fetches them, and nobody waits for it but
//! the run's end, for a moment. A vault that cannot be written is a note, never an end.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flyball_core::{IterationNo, RunId};

use super::DriverInput;
use crate::clock::{Clock, Deadline};
use crate::worktree::{Deposit, Vault, Worktree, WorktreeError};

/// How long further checkpoints are waited for, so that quick iterations share one fetch.
const TOGETHER: Duration = Duration::from_millis(250);
/// How long the end of what was ended is waited for.
const END_MAX: Duration = Duration::from_secs(2);
/// Between two looks for that.
const PAUSE: Duration = Duration::from_millis(5);
/// How much is told in one run.
const TOLD_MAX: usize = 100;
/// How many times as long as refs are compared nothing of the kind is done.
const COMPARE_SHARE: u64 = 20;
/// How many checkpoints may wait for a vault that cannot be written.
const WAITING_MAX: usize = 1000;

/// The vault at work.
pub(super) struct VaultJob {
    deposits: Option<Sender<Deposit>>,
    vault: Arc<Vault>,
    late: Arc<Mutex<Vec<String>>>,
    thread: JoinHandle<()>,
}

/// How the vault ended.
pub(super) struct VaultEnd {
    /// Whether everything was taken in.
    pub(super) complete: bool,
    /// What people should know and could not be told before.
    pub(super) notes: Vec<String>,
}

impl VaultJob {
    /// Begins to keep the checkpoints of a run, with those that are there already.
    #[expect(clippy::needless_pass_by_value, reason = "it is taken over")]
    pub(super) fn start(
        state_dir: PathBuf,
        worktree: Worktree,
        (run, there): (RunId, Vec<Deposit>),
        outbox: SyncSender<DriverInput>,
    ) -> Option<Self> {
        let vault = Arc::new(Vault::of(&state_dir, &worktree));
        let (deposits, waiting) = channel();
        let late = Arc::<Mutex<Vec<String>>>::default();
        let keeping = Keeping {
            vault: Arc::clone(&vault),
            outbox,
            is_ending: false,
            late: Arc::clone(&late),
            told: BTreeSet::new(),
            latest: None,
            waiting: there,
            next_comparison: Deadline::after(Duration::ZERO),
            is_uncompared: false,
        };
        let keep = move || keeping.keep(&worktree, &run, &waiting);
        // Without a thread there is no vault; the checkpoints are in the repository all the same.
        let thread = thread::Builder::new().name("vault".to_owned()).spawn(keep).ok()?;
        Some(Self { deposits: Some(deposits), vault, late, thread })
    }

    /// Has a checkpoint taken in.
    pub(super) fn take_in(&self, deposit: Deposit) {
        if let Some(deposits) = &self.deposits {
            // A thread that is gone has said why.
            deposits.send(deposit).ok();
        }
    }

    /// Waits for what is under way, at most so long.
    pub(super) fn end(mut self, patience: Duration) -> VaultEnd {
        self.deposits = None;
        let complete = self.is_over(patience);
        if !complete {
            self.vault.end();
            self.is_over(END_MAX);
        }
        let notes = std::mem::take(&mut *self.late.lock().unwrap_or_else(PoisonError::into_inner));
        VaultEnd { complete, notes }
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
    /// Whether nobody listens any more, but looks at what was kept for the end.
    is_ending: bool,
    late: Arc<Mutex<Vec<String>>>,
    told: BTreeSet<String>,
    /// The commit that was taken in last: a worktree that did not change has it again and again.
    latest: Option<String>,
    waiting: Vec<Deposit>,
    /// Before then refs are not compared again.
    next_comparison: Deadline,
    /// Whether some were taken in since they were compared.
    is_uncompared: bool,
}

impl Keeping {
    fn keep(mut self, worktree: &Worktree, run: &RunId, deposits: &Receiver<Deposit>) {
        if let Err(error) = self.vault.prepare(worktree) {
            return self.tell(&error);
        }
        match self.vault.lacks(std::mem::take(&mut self.waiting), run) {
            Ok(lacking) => self.waiting = lacking,
            Err(error) => self.tell(&error),
        }
        let mut is_open = true;
        while is_open {
            if self.waiting.is_empty() {
                let Ok(deposit) = deposits.recv() else {
                    self.is_ending = true;
                    return self.compare(run);
                };
                self.waiting.push(deposit);
            }
            let limit = Deadline::after(TOGETHER);
            loop {
                match deposits.recv_timeout(limit.left()) {
                    Ok(deposit) => self.waiting.push(deposit),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => {
                        is_open = false;
                        self.is_ending = true;
                        break;
                    }
                }
            }
            let taken_in = self.take_in();
            self.is_uncompared = true;
            if self.is_ending || self.next_comparison.passed() {
                self.compare(run);
            }
            if let Err(error) = taken_in {
                self.tell(&error);
                // What could not be taken in is tried again with the next.
                let excess = self.waiting.len().saturating_sub(WAITING_MAX);
                self.waiting.drain(..excess);
                let Ok(deposit) = deposits.recv() else {
                    self.is_ending = true;
                    return self.compare(run);
                };
                self.waiting.push(deposit);
            }
        }
    }

    fn take_in(&mut self) -> Result<(), WorktreeError> {
        let is_new = |deposit: &Deposit| Some(&deposit.commit) != self.latest.as_ref();
        let (new, again): (Vec<_>, Vec<_>) = self.waiting.iter().cloned().partition(is_new);
        self.vault.take_in(&new)?;
        self.latest =
            new.into_iter().next_back().map(|deposit| deposit.commit).or(self.latest.take());
        for deposit in &again {
            self.vault.name_again(deposit)?;
        }
        self.waiting.clear();
        Ok(())
    }

    /// Says once of every checkpoint that its ref in the repository is not what was taken in. All of
    /// them are read for it, so that it is done the less often the more there are, and at the end.
    fn compare(&mut self, run: &RunId) {
        if !std::mem::take(&mut self.is_uncompared) {
            return;
        }
        let clock = Clock::start();
        let begun = clock.now();
        let changed = self.vault.changed(run);
        let took = clock.now().since(begun).get();
        let pause = Duration::from_millis(took.saturating_mul(COMPARE_SHARE));
        self.next_comparison = Deadline::after(pause);
        // What cannot be read now is told by whoever needs it.
        let Ok(changed) = changed else { return };
        let waits = |iteration: IterationNo| {
            let end = format!("/{iteration}");
            self.waiting.iter().any(|deposit| deposit.name.ends_with(&end))
        };
        let changed: Vec<IterationNo> =
            changed.into_iter().filter(|iteration| !waits(*iteration)).collect();
        for iteration in changed {
            self.note(format!(
                "checkpoint refs were changed by someone else (run {run}, iteration {iteration}); \
                 using the copy in the state folder"
            ));
        }
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
        self.note(note);
    }

    fn note(&mut self, note: String) {
        if self.told.len() >= TOLD_MAX || !self.told.insert(note.clone()) {
            return;
        }
        // It is for people, and waits for nobody: what finds no room now is told at the end.
        if self.is_ending || self.outbox.try_send(DriverInput::Note(note.clone())).is_err() {
            self.late.lock().unwrap_or_else(PoisonError::into_inner).push(note);
        }
    }
}
