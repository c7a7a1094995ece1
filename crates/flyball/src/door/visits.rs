//! Who stands at the door. Places are few, and whoever holds one without a question gives it up as
//! soon as another needs it: an agent that keeps connections open keeps no hook out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::guest::{Guest, Progress};
use super::{LINE_MAX, Line};
use crate::clock::Deadline;

/// Askers that are served at once; hooks of one turn are a few dozen at most. Others wait.
const VISITS_MAX: usize = 64;
/// Askers of one process: a hook asks once, a tool server one question after the other.
const OF_ONE_PROCESS: usize = 4;
/// Stops that are looked into at once: their gates may take minutes.
const STOPS_MAX: usize = 8;
/// How long a place is kept without a question once others wait for one…
const IDLE_PLACE: Duration = Duration::from_secs(1);
/// …and while nobody does; it can come again.
const IDLE_TIME: Duration = Duration::from_secs(30);
/// How long a session may take to be known once one of its processes asks.
const START_TIME: Duration = Duration::from_secs(5);
/// When an asker is told that it was heard, if the answer takes longer.
const HEARD_AFTER: Duration = Duration::from_millis(100);

/// The places at the door.
#[derive(Debug, Default)]
pub(super) struct Visits {
    number: u64,
    visits: BTreeMap<u64, Visit>,
}

#[derive(Debug)]
struct Visit {
    guest: Arc<Guest>,
    /// Its process, once it is known to be one of ours.
    process: Option<u32>,
    /// What was read and not yet taken.
    read: Vec<u8>,
    ended: bool,
    /// What it asked last.
    asks: Asks,
    since: Since,
}

/// What is asked, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// To stop: gates may have to run.
    Stop,
    /// Anything else: it is answered at once.
    Other,
}

/// Points in time that a visit is held to.
#[derive(Debug)]
struct Since {
    /// It came, or was answered.
    place: Deadline,
    idle: Deadline,
    start: Deadline,
    /// Its question was taken, and it was not told so yet.
    asked: Option<Deadline>,
}

/// What a visit asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// Nothing for now.
    Nothing,
    /// It is not known yet who it is.
    Unknown,
    /// A whole line.
    Line(Vec<u8>),
    /// A line longer than any question.
    TooLong,
    /// It has gone, or has idled for too long.
    Gone,
}

impl Visits {
    pub(super) fn is_empty(&self) -> bool {
        self.visits.is_empty()
    }

    pub(super) fn is_anyone_unknown(&self) -> bool {
        self.visits.values().any(|visit| visit.process.is_none())
    }

    pub(super) fn numbers(&self) -> Vec<u64> {
        self.visits.keys().copied().collect()
    }

    pub(super) fn guests(&self) -> impl Iterator<Item = &Guest> {
        self.visits.values().map(|visit| &*visit.guest)
    }

    pub(super) fn guest(&self, number: u64) -> Option<Arc<Guest>> {
        self.visits.get(&number).map(|visit| Arc::clone(&visit.guest))
    }

    /// Whether one more can enter, if need be by sending away who has idled for longest.
    pub(super) fn make_room(&mut self) -> bool {
        if self.visits.len() < VISITS_MAX {
            return true;
        }
        let idle = |(_, visit): &(&u64, &Visit)| !visit.guest.waits() && visit.since.place.passed();
        let Some(number) = self.visits.iter().find(idle).map(|(number, _)| *number) else {
            return false;
        };
        if let Some(visit) = self.visits.remove(&number) {
            visit.guest.send_away();
        }
        true
    }

    /// Takes a visitor in; its number.
    pub(super) fn enter(&mut self, guest: Arc<Guest>) -> u64 {
        self.number = self.number.wrapping_add(1);
        let since = Since {
            place: Deadline::after(IDLE_PLACE),
            idle: Deadline::after(IDLE_TIME),
            start: Deadline::after(START_TIME),
            asked: None,
        };
        let read = Vec::new();
        let visit = Visit { guest, process: None, read, ended: false, asks: Asks::Other, since };
        self.visits.insert(self.number, visit);
        self.number
    }

    pub(super) fn leave(&mut self, number: u64) {
        self.visits.remove(&number);
    }

    /// Reads what has come from it.
    pub(super) fn read(&mut self, number: u64) {
        let Some(visit) = self.visits.get_mut(&number) else { return };
        let most = usize::try_from(LINE_MAX).unwrap_or(usize::MAX);
        visit.ended |= visit.guest.read(&mut visit.read, most) == Progress::Ended;
    }

    /// What it asks for by now.
    pub(super) fn came(&mut self, number: u64) -> Came {
        let Some(visit) = self.visits.get_mut(&number) else { return Came::Nothing };
        let waits = visit.guest.waits();
        if waits {
            if visit.since.asked.take_if(|after| after.passed()).is_some() {
                visit.guest.say(&Line::Heard);
            }
            // Nobody who waits has so much to say.
            let is_gone = visit.ended || visit.read.len() as u64 >= LINE_MAX;
            return if is_gone { Came::Gone } else { Came::Nothing };
        }
        visit.since.asked = None;
        let end = visit.read.iter().position(|byte| *byte == b'\n');
        match end {
            Some(_) if visit.process.is_none() => Came::Unknown,
            Some(end) => {
                let rest = visit.read.split_off(end + 1);
                Came::Line(std::mem::replace(&mut visit.read, rest))
            }
            None if visit.ended || visit.since.idle.passed() => Came::Gone,
            None if visit.read.len() as u64 >= LINE_MAX => Came::TooLong,
            None if visit.process.is_none() => Came::Unknown,
            None => Came::Nothing,
        }
    }

    /// Whether its session should be known by now.
    pub(super) fn has_waited_long(&self, number: u64) -> bool {
        self.visits.get(&number).is_none_or(|visit| visit.since.start.passed())
    }

    /// The visitor is of this process; false when that one has too many here.
    pub(super) fn named(&mut self, number: u64, process: u32) -> bool {
        let others = self.visits.values().filter(|visit| visit.process == Some(process)).count();
        if let Some(visit) = self.visits.get_mut(&number) {
            visit.process = Some(process);
        }
        others < OF_ONE_PROCESS
    }

    /// The visitor has asked and waits from now on; none when too many wait to stop.
    pub(super) fn asked(&mut self, number: u64, asks: Asks) -> Option<Arc<Guest>> {
        let waiting =
            self.visits.values().filter(|visit| visit.asks == Asks::Stop && visit.guest.waits());
        if asks == Asks::Stop && waiting.count() >= STOPS_MAX {
            return None;
        }
        let visit = self.visits.get_mut(&number)?;
        visit.asks = asks;
        visit.since.asked = Some(Deadline::after(HEARD_AFTER));
        visit.since.place = Deadline::after(IDLE_PLACE);
        visit.since.idle = Deadline::after(IDLE_TIME);
        visit.guest.begin_waiting();
        Some(Arc::clone(&visit.guest))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    fn visitor() -> (Arc<Guest>, UnixStream) {
        let (inside, outside) = UnixStream::pair().unwrap();
        (Guest::new(inside).unwrap(), outside)
    }

    #[test]
    fn who_holds_a_place_without_a_question_gives_it_up_for_another() {
        let mut visits = Visits::default();
        let mut outside = Vec::new();
        for _ in 0..VISITS_MAX {
            let (guest, other) = visitor();
            visits.enter(guest);
            outside.push(other);
        }
        // The first has asked and keeps its place; the second is the one who idles longest.
        visits.asked(1, Asks::Other).unwrap();
        while !visits.make_room() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut end = [0];
        assert_eq!(outside[1].read(&mut end).unwrap(), 0, "it was sent away");
        outside[0].set_nonblocking(true).unwrap();
        assert!(outside[0].read(&mut end).is_err(), "it is still served");
    }

    #[test]
    fn one_process_has_few_places_and_few_stops_are_looked_into() {
        let mut visits = Visits::default();
        let guests: Vec<_> = (0..STOPS_MAX + 2).map(|_| visitor()).collect();
        let numbers: Vec<u64> =
            guests.iter().map(|(guest, _)| visits.enter(Arc::clone(guest))).collect();
        let named: Vec<bool> = numbers.iter().take(6).map(|one| visits.named(*one, 7)).collect();
        assert_eq!(named, [true, true, true, true, false, false]);
        let mut waiting = Vec::new();
        for number in numbers.iter().take(STOPS_MAX) {
            waiting.push(super::super::Reply::to(visits.asked(*number, Asks::Stop).unwrap()));
        }
        assert!(visits.asked(numbers[STOPS_MAX], Asks::Stop).is_none());
        assert!(
            visits.asked(numbers[STOPS_MAX], Asks::Other).is_some(),
            "a call is judged all the same"
        );
        waiting.pop();
        assert!(visits.asked(numbers[STOPS_MAX + 1], Asks::Stop).is_some());
    }

    #[test]
    fn lines_come_whole_and_one_by_one() {
        let mut visits = Visits::default();
        let (guest, mut outside) = visitor();
        let number = visits.enter(guest);
        assert_eq!(visits.came(number), Came::Unknown);
        visits.named(number, 7);
        outside.write_all(b"one\ntwo\nth").unwrap();
        visits.read(number);
        assert_eq!(visits.came(number), Came::Line(b"one\n".to_vec()));
        let reply = super::super::Reply::to(visits.asked(number, Asks::Other).unwrap());
        assert_eq!(visits.came(number), Came::Nothing, "one question at a time");
        drop(reply);
        assert_eq!(visits.came(number), Came::Line(b"two\n".to_vec()));
        assert_eq!(visits.came(number), Came::Nothing);
        drop(outside);
        visits.read(number);
        assert_eq!(visits.came(number), Came::Gone);
    }
}
