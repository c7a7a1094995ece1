//! The flyball above a keeper, as its keeper sees it. Somebody who stops it, and not the agent, has
//! taken away every limit: it is told to go on, and where it is stopped again and again, what the
//! keeper keeps has to end.

use std::thread;
use std::time::Duration;

use crate::clock::Deadline;
use crate::platform::{self, Process, Signal};

/// Between two looks.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
/// A person may have stopped it for a moment.
const LOOKS: u32 = 2;
/// How often it is helped before that counts as a fight.
const HELP_MAX: u32 = 2;

/// What a look at it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It works, was told to go on, or is gone: that is seen elsewhere.
    Fine,
    /// Somebody keeps it from working.
    KeptFromWork,
}

/// The flyball above.
#[derive(Debug)]
pub(super) struct Master {
    process: Option<Process>,
    next: Deadline,
    /// Looks in a row that found it stopped.
    stopped: u32,
    /// How often it was told to go on.
    helped: u32,
}

impl Master {
    /// Whoever has started this process.
    pub(super) fn of_this_process() -> Self {
        let process = platform::look(std::os::unix::process::parent_id());
        Self { process, next: Deadline::after(PAUSE), stopped: 0, helped: 0 }
    }

    /// What was kept may have stopped it with its last deed: nobody else would tell it to go on.
    pub(super) fn see_off(&mut self) {
        while self.process.as_ref().is_some_and(|process| platform::is_stopped(process.pid)) {
            thread::sleep(PAUSE);
            self.look();
        }
    }

    /// Looks at it when it is time.
    pub(super) fn look(&mut self) -> Standing {
        let Some(process) = self.process.as_ref().filter(|_| self.next.passed()) else {
            return Standing::Fine;
        };
        self.next = Deadline::after(PAUSE);
        if !platform::is_stopped(process.pid) {
            self.stopped = 0;
            return Standing::Fine;
        }
        self.stopped = self.stopped.saturating_add(1);
        if self.stopped < LOOKS {
            return Standing::Fine;
        }
        (self.stopped, self.helped) = (0, self.helped.saturating_add(1));
        platform::signal(process, Signal::Continue);
        if self.helped > HELP_MAX { Standing::KeptFromWork } else { Standing::Fine }
    }
}
