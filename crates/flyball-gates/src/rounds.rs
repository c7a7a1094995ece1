//! A command that prints the same again and again, as one in a loop does: once two rounds have added
//! the same, further ones are only compared and counted. Numbers in places, names and times may be
//! others each time: when two rounds that differ in nothing else added the same, so will the next.

mod gain;
mod looks;
mod shape;
#[cfg(test)]
mod tests;

use self::gain::{Gain, Mark};
use self::looks::Looks;
use self::shape::{Shape, Step};
use crate::reading::Reading;
use crate::{Exit, Parsed};

/// How much is looked at to find a round, and so about the longest one.
const ROUND_MAX: usize = 768 * 1024;
/// When a round is looked for first.
const LOOK_MIN: usize = 48 * 1024;
/// So many rounds in a row are compared with each other; then it takes a while until the next are.
const READ_MAX: u32 = 4;
/// That while, as a part of all that was read.
const PAUSE: usize = 4;

/// So much is read at most until rounds are certain to go on adding the same, to the last repetition
/// that is counted; then it is enough that two of them have.
const SURE_MAX: usize = 4 * 1024 * 1024;

/// Finds rounds and counts them.
#[derive(Default)]
pub(crate) struct Rounds {
    state: State,
    /// How many bytes were read.
    total: usize,
    /// What all rounds added that were only compared.
    gained: Gain,
}

enum State {
    /// Lines are remembered until there are so many bytes: how many there were.
    Looking(Looks, usize, usize),
    /// Nothing is remembered for so many bytes.
    Resting(usize),
    /// What a round looks like is written down.
    Beginning(Shape),
    /// Rounds are read, and some of them are compared in what they add.
    Reading(Shape, Trial),
    /// Rounds are compared with the shape of those that were read.
    Comparing { shape: Shape, rounds: u64, gain: Gain },
}

/// What rounds one after the other add.
#[derive(Default)]
struct Trial {
    /// How many lines are read before it begins.
    pause: usize,
    /// How many rounds were compared.
    times: u32,
    /// What was said before the last one, and what it added.
    before: Option<Mark>,
    gain: Option<Gain>,
}

impl Default for State {
    fn default() -> Self {
        Self::Looking(Looks::default(), 0, LOOK_MIN)
    }
}

impl Rounds {
    /// Takes the next bytes and hands on those that must be read.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], reading: &mut Reading) {
        while !bytes.is_empty() {
            let taken = self.take(bytes, reading);
            bytes = bytes.get(taken..).unwrap_or_default();
        }
    }

    /// What was said, rounds that were only compared included.
    pub(crate) fn finish(mut self, mut reading: Reading, exit: Exit) -> Parsed {
        self.resume(&mut reading);
        self.gained.add_to(reading.finish(exit))
    }

    /// How many of these bytes were taken.
    fn take(&mut self, bytes: &[u8], reading: &mut Reading) -> usize {
        match &mut self.state {
            State::Looking(looks, seen, enough) => {
                // A round begins with a line.
                let least = enough.saturating_sub(*seen).max(1);
                let rest = bytes.get(least - 1..).unwrap_or_default();
                let end = memchr::memchr(b'\n', rest).map(|end| least + end);
                let piece = up_to(bytes, end.unwrap_or(bytes.len()));
                looks.take(piece);
                *seen += piece.len();
                let is_enough = end.is_some() || *seen > 2 * ROUND_MAX;
                self.read(piece, reading);
                if is_enough {
                    self.look();
                }
                piece.len()
            }
            State::Resting(left) => {
                let piece = up_to(bytes, *left);
                *left -= piece.len();
                let is_over = *left == 0;
                self.read(piece, reading);
                if is_over {
                    self.state = State::default();
                }
                piece.len()
            }
            State::Beginning(shape) => {
                let (taken, is_whole) = shape.begin(bytes);
                let is_other = shape.len() > 2 * ROUND_MAX;
                self.read(up_to(bytes, taken), reading);
                if is_whole {
                    self.begin();
                } else if is_other {
                    self.rest();
                }
                taken
            }
            State::Reading(_, trial) if trial.pause > 0 => {
                // As many lines as all the rounds have that are not compared.
                let mut ends = memchr::memchr_iter(b'\n', bytes);
                let lines = ends.clone().count();
                let last = ends.nth(trial.pause - 1).map(|end| end + 1);
                trial.pause = trial.pause.saturating_sub(lines);
                let piece = up_to(bytes, last.unwrap_or(bytes.len()));
                self.read(piece, reading);
                piece.len()
            }
            State::Reading(shape, _) => {
                let (taken, step) = shape.follow(bytes);
                self.read(up_to(bytes, taken), reading);
                match step {
                    Step::More => {}
                    Step::Round => self.has_read(reading),
                    Step::Other => self.rest(),
                }
                taken
            }
            State::Comparing { shape, rounds, .. } => {
                let (taken, step) = shape.follow(bytes);
                match step {
                    Step::More => {}
                    Step::Round => *rounds = rounds.saturating_add(1),
                    Step::Other => self.resume(reading),
                }
                taken
            }
        }
    }

    fn read(&mut self, bytes: &[u8], reading: &mut Reading) {
        reading.feed(bytes);
        self.total = self.total.saturating_add(bytes.len());
    }

    /// Looks for a round that ends here.
    fn look(&mut self) {
        let State::Looking(looks, seen, enough) = std::mem::take(&mut self.state) else { return };
        self.state = match looks.round() {
            Some(size) => State::Beginning(Shape::of(size)),
            None if enough < ROUND_MAX && seen < ROUND_MAX && !looks.is_full() => {
                State::Looking(looks, seen, enough.saturating_mul(2))
            }
            None => return self.rest(),
        };
    }

    /// Leaves it for a while, the longer the more was read.
    fn rest(&mut self) {
        self.state = State::Resting(self.total.max(LOOK_MIN));
    }

    /// It is known what a round looks like.
    fn begin(&mut self) {
        if let State::Beginning(shape) = std::mem::take(&mut self.state) {
            self.state = State::Reading(shape, Trial::default());
        }
    }

    /// A round has been read.
    fn has_read(&mut self, reading: &mut Reading) {
        let total = self.total;
        let State::Reading(shape, trial) = &mut self.state else { return };
        let now = Mark::of(reading.so_far());
        let added = trial.before.as_ref().map(|before| {
            let is_sure = total >= SURE_MAX || before.is_steady(&now);
            Gain::between(before, &now).filter(|_| is_sure)
        });
        match added {
            Some(Some(added)) if Some(&added) == trial.gain.as_ref() => {
                if let State::Reading(shape, _) = std::mem::take(&mut self.state) {
                    self.state = State::Comparing { shape, rounds: 0, gain: added };
                }
            }
            // More than numbers was added, or others each time: that will take longer.
            Some(added) if added.is_none() || trial.times >= READ_MAX => {
                let rounds = total / PAUSE / shape.len().max(1);
                let pause = shape.lines().saturating_mul(rounds);
                *trial = Trial { pause, ..Trial::default() };
            }
            added => {
                trial.times = trial.times.saturating_add(1);
                (trial.before, trial.gain) = (Some(now), added.flatten());
            }
        }
    }

    /// Goes on reading: the last round, and what has come of the next one.
    fn resume(&mut self, reading: &mut Reading) {
        let state = std::mem::take(&mut self.state);
        let State::Comparing { shape, rounds, gain } = state else { return };
        if let Some(passed) = rounds.checked_sub(1) {
            reading.pass((shape.lines() as u64).saturating_mul(passed));
            self.gained.add(&gain, passed);
        }
        if rounds > 0 {
            shape.replay_last(|bytes| self.read(bytes, reading));
        }
        shape.replay(|bytes| self.read(bytes, reading));
        drop(shape);
        self.rest();
    }
}

/// At most so many bytes from the start.
fn up_to(bytes: &[u8], length: usize) -> &[u8] {
    bytes.get(..length).unwrap_or(bytes)
}
