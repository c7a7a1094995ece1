//! One writer after the other, and nobody waits for ever.
//!
//! `SQLite`'s own waiting lets some writers starve, so writers take turns with a lock of flyball's own.
//! It is a courtesy, no guarantee: whoever holds it too long (a flyball that was stopped in the middle,
//! somebody else who locked the file) is not waited for. What must hold, `SQLite`'s lock holds.

use std::fs::{File, TryLockError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::clock::Deadline;

/// How long a turn is waited for.
const TURN_MAX: Duration = Duration::from_secs(2);
/// How long the database itself is waited for: a backup, another program that writes to it.
const PATIENCE: Duration = Duration::from_secs(30);
/// And when flyball is to end.
const HURRIED: Duration = Duration::from_millis(500);

/// Told by whoever wants to end: nobody waits for the journal any more.
#[derive(Clone, Debug, Default)]
pub struct Hurry(Arc<AtomicBool>);

impl Hurry {
    /// From now on nothing is waited for longer than a moment.
    pub fn hurry(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether somebody hurries.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// How long the database is waited for.
#[derive(Debug)]
pub(super) struct Waiting<'h> {
    hurry: &'h Hurry,
    limit: Deadline,
    hurried: Option<Deadline>,
}

impl<'h> Waiting<'h> {
    pub(super) fn begin(hurry: &'h Hurry) -> Self {
        Self { hurry, limit: Deadline::after(PATIENCE), hurried: None }
    }

    /// Whether it is worth waiting longer.
    pub(super) fn goes_on(&mut self) -> bool {
        if self.hurry.is_on() && self.hurried.is_none() {
            self.hurried = Some(Deadline::after(HURRIED));
        }
        !self.limit.passed() && !self.hurried.is_some_and(|limit| limit.passed())
    }
}

/// This process' turn to write; over when dropped.
#[derive(Debug)]
pub(super) struct Turn(Option<Arc<File>>);

impl Turn {
    /// Waits for a turn; without one after a while.
    pub(super) fn take(file: &Arc<File>, hurry: &Hurry) -> Self {
        let limit = Deadline::after(TURN_MAX);
        let mut pause = Duration::from_micros(100);
        loop {
            match file.try_lock() {
                Ok(()) => return Self(Some(Arc::clone(file))),
                Err(TryLockError::WouldBlock) if !limit.passed() && !hurry.is_on() => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Self(None),
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            // Fails only for a file that is not open.
            file.unlock().ok();
        }
    }
}
