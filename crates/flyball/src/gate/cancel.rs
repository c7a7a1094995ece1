//! Ending gates from outside: one word from any thread, and everything that runs is killed.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::check::News;

/// Ends running gates when told to. Clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Mutex<Switch>>);

/// The gates were ended before they had all said something; there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the gates were interrupted")]
pub struct Cancelled;

#[derive(Debug, Default)]
struct Switch {
    off: bool,
    /// The checks that run, as long as they do.
    running: Vec<Weak<Sender<News>>>,
}

impl Cancel {
    /// A switch nobody has used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends everything that runs with this switch, now and later.
    pub fn cancel(&self) {
        let mut switch = self.switch();
        switch.off = true;
        for check in switch.running.drain(..).filter_map(|check| check.upgrade()) {
            // A check that has just ended listens no more.
            check.send(News::Cancelled).ok();
        }
    }

    /// Whether it was used.
    pub fn is_cancelled(&self) -> bool {
        self.switch().off
    }

    /// Has a check told when the switch is used, for as long as it keeps what is returned.
    pub(super) fn tell(&self, check: Sender<News>) -> Arc<Sender<News>> {
        let check = Arc::new(check);
        let mut switch = self.switch();
        if switch.off {
            // The check holds the other end.
            check.send(News::Cancelled).ok();
        } else {
            switch.running.retain(|other| other.strong_count() > 0);
            switch.running.push(Arc::downgrade(&check));
        }
        check
    }

    fn switch(&self) -> MutexGuard<'_, Switch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_check_hears_of_it_whether_it_began_before_or_after() {
        let cancel = Cancel::new();
        let (early, heard_early) = channel();
        let _early = cancel.tell(early);
        assert!(heard_early.try_recv().is_err() && !cancel.is_cancelled());
        cancel.clone().cancel();
        let (late, heard_late) = channel();
        let _late = cancel.tell(late);
        assert!(matches!(heard_early.try_recv(), Ok(News::Cancelled)));
        assert!(matches!(heard_late.try_recv(), Ok(News::Cancelled)));
        assert!(cancel.is_cancelled());
    }

    #[test]
    fn checks_that_ended_are_forgotten() {
        let cancel = Cancel::new();
        for _ in 0..100 {
            drop(cancel.tell(channel().0));
        }
        assert!(cancel.switch().running.len() <= 1);
    }
}
