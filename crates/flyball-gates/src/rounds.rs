//! A command that prints the same again and again, as one in a loop does: once two rounds have added
//! the same, further ones are only compared and counted. Numbers in places, names and times may be
//! others each time: when two rounds that differ in nothing else added the same, so will the next.

mod gain;
mod shape;
#[cfg(test)]
mod tests;

use self::gain::{Gain, Mark};
use self::shape::{Shape, Step};
use crate::reading::Reading;
use crate::{Exit, Parsed};

/// How much is remembered to find a round, and so the longest one.
const ROUND_MAX: usize = 384 * 1024;
/// When a round is looked for first.
const LOOK_MIN: usize = 48 * 1024;
/// So many rounds are read until two of them add the same.
const READ_MAX: u32 = 5;

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
    /// Bytes are remembered until there are so many to look at.
    Looking(Vec<u8>, usize),
    /// Nothing is remembered for so many bytes.
    Resting(usize),
    /// Rounds are read, and what they add is compared: how many were, and what was said before.
    Reading { shape: Shape, times: u32, before: Mark, gain: Option<Gain> },
    /// Rounds are compared with the shape of those that were read.
    Comparing { shape: Shape, rounds: u64, gain: Gain, held: Held },
}

/// The last round that was only compared, and what has come of the next one.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    /// How long the last round is.
    round: usize,
}

impl Default for State {
    fn default() -> Self {
        Self::Looking(Vec::new(), LOOK_MIN)
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
            State::Looking(recent, enough) => {
                let piece = up_to(bytes, enough.saturating_sub(recent.len()).max(1));
                recent.extend_from_slice(piece);
                let is_enough = recent.len() >= *enough;
                self.read(piece, reading);
                if is_enough {
                    self.look(reading);
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
            State::Reading { shape, .. } => {
                let (taken, step) = shape.follow(bytes);
                self.read(up_to(bytes, taken), reading);
                match step {
                    Step::More => {}
                    Step::Round => self.has_read(reading),
                    Step::Other => self.rest(),
                }
                taken
            }
            State::Comparing { shape, rounds, held, .. } => {
                let (taken, step) = shape.follow(bytes);
                held.bytes.extend_from_slice(up_to(bytes, taken));
                match step {
                    Step::More => {}
                    Step::Round => {
                        held.bytes.drain(..held.round);
                        held.round = held.bytes.len();
                        *rounds = rounds.saturating_add(1);
                    }
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
    fn look(&mut self, reading: &Reading) {
        let State::Looking(recent, enough) = std::mem::take(&mut self.state) else { return };
        self.state = match Shape::of(recent) {
            Ok(shape) => {
                let before = Mark::of(reading.so_far());
                State::Reading { shape, times: 0, before, gain: None }
            }
            Err(recent) if enough < ROUND_MAX => State::Looking(recent, enough.saturating_mul(2)),
            Err(_) => return self.rest(),
        };
    }

    /// Leaves it for a while, the longer the more was read.
    fn rest(&mut self) {
        self.state = State::Resting(self.total.max(LOOK_MIN));
    }

    /// A round has been read.
    fn has_read(&mut self, reading: &Reading) {
        let State::Reading { shape, times, before, gain } = std::mem::take(&mut self.state) else {
            return;
        };
        let now = Mark::of(reading.so_far());
        let times = times.saturating_add(1);
        match Gain::between(&before, &now) {
            Some(added) if Some(&added) == gain.as_ref() => {
                let held = Held::default();
                self.state = State::Comparing { shape, rounds: 0, gain: added, held };
            }
            added if times < READ_MAX => {
                self.state = State::Reading { shape, times, before: now, gain: added };
            }
            _ => self.rest(),
        }
    }

    /// Goes on reading: the last round, and what has come of the next one.
    fn resume(&mut self, reading: &mut Reading) {
        let state = std::mem::take(&mut self.state);
        let State::Comparing { shape, rounds, gain, held } = state else { return };
        if let Some(passed) = rounds.checked_sub(1) {
            reading.pass(shape.lines().saturating_mul(passed));
            self.gained.add(&gain, passed);
        }
        self.read(&held.bytes, reading);
        self.rest();
    }
}

/// At most so many bytes from the start.
fn up_to(bytes: &[u8], length: usize) -> &[u8] {
    bytes.get(..length).unwrap_or(bytes)
}
