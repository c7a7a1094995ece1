//! Who stands at the door. Places are few, and whoever holds one without a question gives it up as
//! soon as another needs it: an agent that keeps connections open keeps no hook out.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Deadline;

/// Askers that are served at once; hooks of one turn are a few dozen at most. Others wait.
const VISITS_MAX: usize = 64;
/// Askers of one process: a hook asks once, a tool server one question after the other.
const OF_ONE_PROCESS: usize = 4;
/// Stops that are looked into at once: their gates may take minutes.
const STOPS_MAX: usize = 8;
/// How long a place is kept without a question once others wait for one.
const IDLE_PLACE: Duration = Duration::from_secs(1);
/// How often whoever waits looks whether a place has become old.
const LOOK: Duration = Duration::from_millis(20);

/// The places at the door.
#[derive(Debug, Default)]
pub(super) struct Visits {
    inside: Mutex<Inside>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct Inside {
    number: u64,
    visits: BTreeMap<u64, Visit>,
}

#[derive(Debug)]
struct Visit {
    stream: Arc<UnixStream>,
    process: Option<u32>,
    waits: Waits,
}

/// What a visit waits for.
#[derive(Debug)]
enum Waits {
    /// Its asker, who may keep the place until then.
    Question(Deadline),
    /// The run.
    Answer,
    /// The run, which looks into a stop.
    Stop,
}

impl Visits {
    /// Takes a visitor in once there is a place; its number. None when the door closes.
    pub(super) fn enter(&self, stream: &Arc<UnixStream>, closing: &AtomicBool) -> Option<u64> {
        let mut inside = self.lock();
        while inside.visits.len() >= VISITS_MAX && !inside.send_idle_away() {
            if closing.load(Ordering::SeqCst) {
                return None;
            }
            let waited = self.left.wait_timeout(inside, LOOK);
            inside = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        inside.number = inside.number.wrapping_add(1);
        let waits = Waits::Question(Deadline::after(IDLE_PLACE));
        let visit = Visit { stream: Arc::clone(stream), process: None, waits };
        let number = inside.number;
        inside.visits.insert(number, visit);
        Some(number)
    }

    /// The visitor is of this process; false when that one has too many here.
    pub(super) fn named(&self, number: u64, process: u32) -> bool {
        let mut inside = self.lock();
        let others = inside.visits.values().filter(|visit| visit.process == Some(process)).count();
        if let Some(visit) = inside.visits.get_mut(&number) {
            visit.process = Some(process);
        }
        others < OF_ONE_PROCESS
    }

    /// The visitor has asked. False when too many wait to stop.
    pub(super) fn asked(&self, number: u64, stops: bool) -> bool {
        let mut inside = self.lock();
        let stopping =
            inside.visits.values().filter(|visit| matches!(visit.waits, Waits::Stop)).count();
        if stops && stopping >= STOPS_MAX {
            return false;
        }
        inside.wait(number, if stops { Waits::Stop } else { Waits::Answer });
        true
    }

    /// The visitor was answered and may ask again.
    pub(super) fn answered(&self, number: u64) {
        self.lock().wait(number, Waits::Question(Deadline::after(IDLE_PLACE)));
    }

    /// The visitor has gone.
    pub(super) fn leave(&self, number: u64) {
        self.lock().visits.remove(&number);
        self.left.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn wait(&mut self, number: u64, waits: Waits) {
        if let Some(visit) = self.visits.get_mut(&number) {
            visit.waits = waits;
        }
    }

    /// Sends the visitor away who has stood here longest without a question, if one has for long.
    fn send_idle_away(&mut self) -> bool {
        let idle = |(_, visit): &(&u64, &Visit)| match &visit.waits {
            Waits::Question(until) => until.passed(),
            Waits::Answer | Waits::Stop => false,
        };
        let Some(number) = self.visits.iter().find(idle).map(|(number, _)| *number) else {
            return false;
        };
        if let Some(visit) = self.visits.remove(&number) {
            // Wakes the thread that reads from it; an asker that still lives comes again.
            visit.stream.shutdown(Shutdown::Both).ok();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn visitor() -> (Arc<UnixStream>, UnixStream) {
        let (inside, outside) = UnixStream::pair().unwrap();
        (Arc::new(inside), outside)
    }

    #[test]
    fn who_holds_a_place_without_a_question_gives_it_up_for_another() {
        let (visits, open) = (Visits::default(), AtomicBool::new(false));
        let guests: Vec<_> = (0..VISITS_MAX).map(|_| visitor()).collect();
        let numbers: Vec<u64> =
            guests.iter().map(|(inside, _)| visits.enter(inside, &open).unwrap()).collect();
        // The first has asked and keeps its place; the second is the one who idles longest.
        assert!(visits.asked(numbers[0], false));
        let (late, _outside) = visitor();
        assert!(visits.enter(&late, &open).is_some());
        let mut end = [0];
        assert_eq!((&guests[1].1).read(&mut end).unwrap(), 0, "it was sent away");
        guests[0].1.set_nonblocking(true).unwrap();
        assert!((&guests[0].1).read(&mut end).is_err(), "it is still served");
    }

    #[test]
    fn nobody_waits_for_a_place_behind_a_closing_door() {
        let (visits, closing) = (Visits::default(), AtomicBool::new(true));
        let guests: Vec<_> = (0..VISITS_MAX).map(|_| visitor()).collect();
        for (inside, _) in &guests {
            let number = visits.enter(inside, &closing).unwrap();
            assert!(visits.asked(number, false));
        }
        assert_eq!(visits.enter(&visitor().0, &closing), None);
    }

    #[test]
    fn one_process_has_few_places_and_few_stops_are_looked_into() {
        let (visits, open) = (Visits::default(), AtomicBool::new(false));
        let guests: Vec<_> = (0..STOPS_MAX + 2).map(|_| visitor()).collect();
        let enter = |at: usize| visits.enter(&guests[at].0, &open).unwrap();
        let numbers: Vec<u64> = (0..guests.len()).map(enter).collect();
        let named: Vec<bool> = numbers.iter().take(6).map(|one| visits.named(*one, 7)).collect();
        assert_eq!(named, [true, true, true, true, false, false]);
        for number in numbers.iter().take(STOPS_MAX) {
            assert!(visits.asked(*number, true));
        }
        assert!(!visits.asked(numbers[STOPS_MAX], true));
        assert!(visits.asked(numbers[STOPS_MAX], false), "a call is judged all the same");
        visits.answered(numbers[0]);
        assert!(visits.asked(numbers[STOPS_MAX + 1], true));
    }
}
