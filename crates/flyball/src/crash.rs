//! Crash points for tests: flyball kills itself at the n-th one. Only in debug builds, and only
//! when asked by the environment.

/// Counts the places where a crash test may strike.
#[derive(Debug, Default)]
pub(crate) struct CrashPoint {
    left: Option<u64>,
}

impl CrashPoint {
    /// Armed when `FLYBALL_TEST_CRASH_AT` holds a number, in debug builds.
    pub(crate) fn from_environment() -> Self {
        if !cfg!(debug_assertions) {
            return Self::default();
        }
        let at = std::env::var("FLYBALL_TEST_CRASH_AT").ok();
        Self { left: at.and_then(|at| at.parse().ok()) }
    }

    /// A place where flyball may die.
    pub(crate) fn here(&mut self) {
        let Some(left) = &mut self.left else { return };
        if *left == 0 {
            use rustix::process::{Signal, getpid, kill_process};
            kill_process(getpid(), Signal::KILL).ok();
        }
        *left = left.saturating_sub(1);
    }
}
