//! Watches over the driver itself. Nothing the driver does should ever hold it up; should something do
//! so all the same (a lock, a network drive, a repository that swallows git), then limits and signals
//! hold nevertheless: the agent is ended, waiting for the journal is given up, and at last flyball ends
//! with a summary of what it knows.
//!
//! Decides nothing about the work: it only keeps what the governor has ordered from being stuck behind
//! something else.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use flyball_core::effect::{Ending, Force, Tally};
use flyball_core::event::StopCause;
use flyball_core::{Moment, Outcome, RunId};

use crate::clock::Clock;
use crate::error::ErrorKind;
use crate::journal::Hurry;
use crate::platform::Thread;
use crate::process::Leash;
use crate::report::Reporter;
use crate::terminal;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(200);
/// How long the driver may do one thing while a limit has passed or someone wants it to end, until
/// its agent is ended.
const END_AGENT: Duration = Duration::from_millis(1_800);
/// Until it stops waiting for the journal.
const HURRY: Duration = Duration::from_secs(8);
/// Until flyball ends without it.
const LEAVE: Duration = Duration::from_secs(12);

/// What is needed for a last word.
#[derive(Clone, Debug)]
pub(super) struct LastWord {
    pub(super) run: RunId,
    pub(super) log: Option<String>,
    pub(super) private_dir: PathBuf,
    pub(super) max_iterations: u32,
}

/// The driver's side of it.
#[derive(Debug)]
pub(super) struct Watchdog(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Clock,
    /// The driver's own thread.
    driver: Thread,
    hurry: Hurry,
    watched: Mutex<Watched>,
}

/// What the driver last told of itself.
#[derive(Debug, Default)]
struct Watched {
    /// Since when it has not listened; none while it does.
    busy: Option<Moment>,
    /// When the next timer runs out.
    due: Option<Moment>,
    /// That someone wants it to end.
    asked: Option<(StopCause, Moment)>,
    agent: Option<Leash>,
    agent_ended: bool,
    tally: Tally,
    over: bool,
    held: Held,
}

/// How long the driver has been held up by the same thing. Time in which it only waited for a
/// processor that others had is not its own: then the machine is slow, and nothing holds it up.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// What it was busy with, by when that began, and since when something was due.
    by: Option<(Moment, Moment)>,
    time: Duration,
}

/// What has to be done without the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Nothing,
    EndAgent,
    Hurry,
    Leave,
}

/// How much of the time that passed was the driver's: at least a fifth, so that no crowd keeps
/// flyball for ever.
fn share(passed: Duration, waited: Duration) -> Duration {
    passed.saturating_sub(waited.min(passed) * 4 / 5)
}

impl Watched {
    /// The time that has passed since the last look.
    fn pass(&mut self, now: Moment, time: Duration) {
        match self.hold(now) {
            Some(by) if self.held.by == Some(by) => {
                self.held.time = self.held.time.saturating_add(time);
            }
            by => self.held = Held { by, time: Duration::ZERO },
        }
    }

    /// What the driver is busy with while it should be doing something else, and since when.
    fn hold(&self, now: Moment) -> Option<(Moment, Moment)> {
        let busy = self.busy.filter(|_| !self.over)?;
        let due = self.due.filter(|due| *due <= now && self.agent.is_some());
        let asked = self.asked.map(|(_, at)| at);
        let since = due.into_iter().chain(asked).min()?;
        Some((busy, since))
    }

    fn need(&self, now: Moment) -> Need {
        let Some((busy, since)) = self.hold(now) else { return Need::Nothing };
        let held = self.held.time;
        // The agent is to end in any case: that is by the clock on the wall.
        let passed = now.since(since.max(busy));
        match held {
            held if held >= LEAVE => Need::Leave,
            held if held >= HURRY => Need::Hurry,
            held if held >= END_AGENT && self.asked.is_some() => Need::Hurry,
            _ if passed.get() >= 1_800 => Need::EndAgent,
            _ => Need::Nothing,
        }
    }
}

impl Watchdog {
    /// Watches from now on over the thread that calls this.
    pub(super) fn begin(clock: Clock, last_word: LastWord) -> std::io::Result<Self> {
        // Until it listens for the first time, it works.
        let watched = Mutex::new(Watched { busy: Some(clock.now()), ..Watched::default() });
        let hurry = Hurry::default();
        let shared = Arc::new(Shared { clock, driver: Thread::current(), hurry, watched });
        let mine = Arc::clone(&shared);
        thread::Builder::new().name("watchdog".to_owned()).spawn(move || mine.watch(&last_word))?;
        Ok(Self(shared))
    }

    /// What ends all waiting for the journal.
    pub(super) fn hurry(&self) -> &Hurry {
        &self.0.hurry
    }

    /// The way to tell it that someone wants the run to end.
    pub(super) fn bell(&self) -> Bell {
        Bell(Arc::clone(&self.0))
    }

    /// The driver listens until this timer at the latest.
    pub(super) fn listens(&self, due: Option<Moment>) {
        let mut watched = self.0.lock();
        watched.busy = None;
        watched.due = due;
    }

    /// A timer was set while the driver does something: it may not come to listen before it is due.
    pub(super) fn expects(&self, due: Option<Moment>) {
        self.0.lock().due = due;
    }

    /// The driver does something.
    pub(super) fn works(&self, now: Moment) {
        self.0.lock().busy = Some(now);
    }

    /// An agent is at work, or none any more.
    pub(super) fn agent(&self, agent: Option<Leash>) {
        let mut watched = self.0.lock();
        watched.agent = agent;
        watched.agent_ended = false;
    }

    /// The numbers so far, for a last word.
    pub(super) fn knows(&self, tally: Tally) {
        self.0.lock().tally = tally;
    }

    /// That someone wants it to end, if so.
    pub(super) fn asked(&self) -> Option<StopCause> {
        self.0.lock().asked.map(|(cause, _)| cause)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.lock().over = true;
    }
}

/// Rings when someone wants the run to end.
#[derive(Clone, Debug)]
pub(super) struct Bell(Arc<Shared>);

impl Bell {
    /// Someone wants the run to end.
    pub(super) fn ring(&self, cause: StopCause) {
        let now = self.0.clock.now();
        self.0.lock().asked.get_or_insert((cause, now));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, last_word: &LastWord) {
        let driver = self.driver;
        let (mut looked, mut waited) = (self.clock.now(), driver.waited_for_a_processor());
        loop {
            thread::sleep(PAUSE);
            let (now, waits) = (self.clock.now(), driver.waited_for_a_processor());
            let passed = Duration::from_millis(now.since(looked).get());
            let crowded = waits.saturating_sub(waited).max(passed.saturating_sub(PAUSE));
            (looked, waited) = (now, waits);
            let mut watched = self.lock();
            if watched.over {
                return;
            }
            watched.pass(now, share(passed, crowded));
            let need = watched.need(now);
            if need >= Need::EndAgent && !watched.agent_ended {
                watched.agent_ended = true;
                if let Some(agent) = &watched.agent {
                    // One that has ended in the meantime needs nothing.
                    agent.pull(Force::Kill).ok();
                }
            }
            if need >= Need::Hurry {
                self.hurry.hurry();
            }
            if need == Need::Leave {
                leave(&watched, last_word);
            }
        }
    }
}

/// The last that can be done: says what is known and ends. Everything flyball started ends with it;
/// the run can be resumed.
#[expect(clippy::exit, reason = "the driver does not answer; nothing else ends the process")]
fn leave(watched: &Watched, last_word: &LastWord) {
    let outcome = match watched.asked {
        Some((StopCause::Interrupt, _)) => Outcome::Interrupted,
        Some((StopCause::Terminate | StopCause::Command, _)) => Outcome::Terminated,
        None => Outcome::Fault,
    };
    let code = if outcome == Outcome::Fault { ErrorKind::Io.code() } else { outcome.exit_code() };
    let LastWord { run, log, private_dir, max_iterations } = last_word;
    let ending = Ending {
        outcome,
        why: format!(
            "flyball was held up for {} s by a file, a lock or git and ended without waiting longer",
            LEAVE.as_secs()
        ),
        trip: None,
        also: Vec::new(),
        left: Vec::new(),
        nothing_left: false,
        rescues: Vec::new(),
        roles: Vec::new(),
        flaky: BTreeMap::new(),
        next_steps: vec![format!("flyball run --resume {run}")],
        tally: watched.tally,
    };
    terminal::write_err(&Reporter::last_words(
        run,
        (&ending, code),
        *max_iterations,
        log.as_deref(),
    ));
    terminal::flush();
    std::fs::remove_dir_all(private_dir).ok();
    std::process::exit(i32::from(code));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Moment {
        Moment::from_millis(secs * 1000)
    }

    #[test]
    fn a_driver_that_listens_needs_nothing() {
        let asked = Some((StopCause::Terminate, at(1)));
        let listening = Watched { asked, ..Watched::default() };
        assert_eq!(listening.need(at(100)), Need::Nothing);
        let quiet = Watched { busy: Some(at(1)), ..Watched::default() };
        assert_eq!(quiet.need(at(100)), Need::Nothing);
        let over = Watched { busy: Some(at(1)), asked, over: true, ..Watched::default() };
        assert_eq!(over.need(at(100)), Need::Nothing);
    }

    #[test]
    fn what_is_needed_grows_with_the_time_the_driver_is_held_up() {
        let asked = Some((StopCause::Terminate, at(10)));
        let mut held = Watched { busy: Some(at(1)), asked, ..Watched::default() };
        held.pass(at(10), PAUSE);
        for (now, need) in
            [(11, Need::Nothing), (12, Need::Hurry), (19, Need::Hurry), (22, Need::Leave)]
        {
            let before = held.held.time.as_secs();
            held.pass(at(now), Duration::from_secs(now - 10 - before));
            assert_eq!(held.need(at(now)), need, "{now}");
        }
        // Busy with another thing since: it is not held up, it works.
        held.busy = Some(at(21));
        held.pass(at(22), PAUSE);
        assert_eq!(held.need(at(22)), Need::Nothing);
    }

    #[test]
    fn on_a_crowded_machine_only_the_agent_ends_by_the_clock() {
        let asked = Some((StopCause::Terminate, at(10)));
        let mut held = Watched { busy: Some(at(1)), asked, ..Watched::default() };
        for now in 10..40 {
            held.pass(at(now), share(Duration::from_secs(1), Duration::from_secs(1)));
        }
        // Thirty seconds have passed of which the driver had a fifth.
        assert!(held.need(at(40)) < Need::Leave && held.need(at(40)) >= Need::EndAgent);
        for now in 40..80 {
            held.pass(at(now), share(Duration::from_secs(1), Duration::from_secs(1)));
        }
        assert_eq!(held.need(at(80)), Need::Leave);
    }
}
