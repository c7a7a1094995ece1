//! A word from another thread: enough.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

type Wake = Box<dyn Fn() + Send>;

/// Ends a request from another thread, at once. Clones are the same; it can be used once.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Shared>);

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    waking: Mutex<Waking>,
    changed: Condvar,
}

/// Whom to wake.
#[derive(Default)]
struct Waking {
    next: u64,
    sleepers: Vec<(u64, Wake)>,
}

impl Cancel {
    /// A new one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends what goes on, and all that begins with it later.
    pub fn cancel(&self) {
        let waking = self.waking();
        self.0.cancelled.store(true, Ordering::SeqCst);
        for (_, wake) in &waking.sleepers {
            wake();
        }
        self.0.changed.notify_all();
    }

    /// Whether it was used.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Waits for so long; true when it was used meanwhile.
    pub fn wait(&self, time: Duration) -> bool {
        let on = |_: &mut Waking| !self.is_cancelled();
        drop(self.0.changed.wait_timeout_while(self.waking(), time, on));
        self.is_cancelled()
    }

    /// Whom to wake, until the guard is dropped.
    pub(crate) fn on_cancel(&self, wake: impl Fn() + Send + 'static) -> Sleeper<'_> {
        let mut waking = self.waking();
        let id = waking.next;
        waking.next = id.wrapping_add(1);
        waking.sleepers.push((id, Box::new(wake)));
        Sleeper { of: self, id }
    }

    fn waking(&self) -> MutexGuard<'_, Waking> {
        self.0.waking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

/// Someone who is woken.
pub(crate) struct Sleeper<'a> {
    of: &'a Cancel,
    id: u64,
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        self.of.waking().sleepers.retain(|(id, _)| *id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn whoever_waits_is_woken_once_and_for_all() {
        let cancel = Cancel::new();
        assert!(!cancel.wait(Duration::ZERO));
        let (woken, wakes) = channel();
        let sleeper = cancel.on_cancel(move || woken.send(()).unwrap());
        let other = cancel.clone();
        let waiting = thread::spawn(move || other.wait(Duration::from_hours(1)));
        cancel.cancel();
        assert!(waiting.join().unwrap() && cancel.is_cancelled());
        assert!(wakes.recv().is_ok());
        drop(sleeper);
        cancel.cancel();
        assert!(wakes.recv().is_err(), "no one sleeps any more");
    }
}
