//! A command that prints the same again and again, as one in a loop does: once two rounds have added
//! the same, further ones are only compared and counted.

use crate::parser::Reading;
use crate::{Counts, Executed, Exit, Parsed};

/// The longest round, and how much is remembered to find it.
const ROUND_MAX: usize = 512 * 1024;
/// A shorter round is taken several times as one.
const ROUND_MIN: usize = 16 * 1024;
/// So many lines a round has at least: all that is kept of the end is then of the last one.
const LINES_MIN: usize = 64;
/// When a round is looked for first.
const LOOK_MIN: usize = 64 * 1024;
/// What is looked for: the last bytes.
const ANCHOR: usize = 128;
/// So many places are tried that look like the last bytes.
const TRIES: usize = 64;
/// So many rounds are read until two of them add the same.
const READ_MAX: u32 = 4;

/// Finds rounds and counts them.
#[derive(Default)]
pub(crate) struct Rounds {
    /// The last bytes; once there is a round, that round.
    recent: Vec<u8>,
    state: State,
    /// How many bytes were read.
    total: usize,
    /// What all rounds added that were only compared.
    gained: Gain,
}

enum State {
    /// Bytes are remembered until there are so many to look at.
    Looking(usize),
    /// Nothing is remembered for so many bytes.
    Resting(usize),
    /// Rounds are read, and what they add is compared: how far this one is, and what was said before.
    Reading { at: usize, times: u32, before: Box<Parsed>, gain: Option<Gain> },
    /// Rounds are compared with the last one that was read.
    Comparing { at: usize, rounds: u64, gain: Gain },
}

impl Default for State {
    fn default() -> Self {
        Self::Looking(LOOK_MIN)
    }
}

impl Rounds {
    /// Takes the next bytes and hands on those that must be read.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], reading: &mut Reading) {
        while !bytes.is_empty() {
            let taken = self.take(bytes, reading);
            if !matches!(self.state, State::Comparing { .. }) {
                self.total = self.total.saturating_add(taken);
            }
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
            State::Looking(enough) => {
                let enough = *enough;
                let piece = up_to(bytes, enough.saturating_sub(self.recent.len()));
                reading.feed(piece);
                self.recent.extend_from_slice(piece);
                if self.recent.len() >= enough {
                    self.look(enough, reading);
                }
                piece.len()
            }
            State::Resting(left) => {
                let piece = up_to(bytes, *left);
                reading.feed(piece);
                *left -= piece.len();
                if *left == 0 {
                    self.state = State::default();
                }
                piece.len()
            }
            State::Reading { at, .. } => {
                let wanted = self.recent.get(*at..).unwrap_or_default();
                let same = same(bytes, wanted);
                reading.feed(up_to(bytes, same));
                *at += same;
                if same == wanted.len() {
                    self.has_read(reading);
                } else if same < bytes.len() {
                    self.rest();
                }
                same
            }
            State::Comparing { at, rounds, .. } => {
                let wanted = self.recent.get(*at..).unwrap_or_default();
                let same = same(bytes, wanted);
                *at += same;
                if same == wanted.len() {
                    (*at, *rounds) = (0, rounds.saturating_add(1));
                } else if same < bytes.len() {
                    self.resume(reading);
                }
                same
            }
        }
    }

    /// Looks for a round that ends here.
    fn look(&mut self, enough: usize, reading: &Reading) {
        if let Some(length) = round(&self.recent) {
            self.recent.drain(..self.recent.len().saturating_sub(length));
            let before = Box::new(reading.so_far());
            self.state = State::Reading { at: 0, times: 0, before, gain: None };
        } else if enough < ROUND_MAX {
            self.state = State::Looking(enough.saturating_mul(2));
        } else {
            self.rest();
        }
    }

    /// Leaves it for a while, the longer the more has come.
    fn rest(&mut self) {
        self.recent.clear();
        self.state = State::Resting(self.total.max(LOOK_MIN));
    }

    /// A round has been read.
    fn has_read(&mut self, reading: &Reading) {
        let State::Reading { at, times, before, gain } = &mut self.state else { return };
        let now = reading.so_far();
        let added = Gain::between(before, &now);
        (*at, *times) = (0, times.saturating_add(1));
        if added.is_some() && added == *gain {
            let gain = added.unwrap_or_default();
            self.state = State::Comparing { at: 0, rounds: 0, gain };
        } else if *times < READ_MAX {
            (**before, *gain) = (now, added);
        } else {
            self.rest();
        }
    }

    /// Goes on reading: the last round, and what has come of the next one.
    fn resume(&mut self, reading: &mut Reading) {
        let State::Comparing { at, rounds, gain } = std::mem::take(&mut self.state) else { return };
        if let Some(passed) = rounds.checked_sub(1) {
            let lines = memchr::memchr_iter(b'\n', &self.recent).count() as u64;
            reading.pass(lines.saturating_mul(passed));
            self.gained.add(&gain, passed);
            reading.feed(&self.recent);
        }
        reading.feed(up_to(&self.recent, at));
        self.rest();
    }
}

/// At most so many bytes from the start.
fn up_to(bytes: &[u8], length: usize) -> &[u8] {
    bytes.get(..length).unwrap_or(bytes)
}

/// How many bytes both begin with.
fn same(one: &[u8], other: &[u8]) -> usize {
    let length = one.len().min(other.len());
    if up_to(one, length) == up_to(other, length) {
        return length;
    }
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// How long the round is that the bytes end with, if they do.
fn round(recent: &[u8]) -> Option<usize> {
    let anchor = recent.last_chunk::<ANCHOR>()?;
    let earlier = recent.get(..recent.len() - 1)?;
    let starts = memchr::memmem::rfind_iter(earlier, anchor).take(TRIES);
    let mut lengths = starts.map(|start| recent.len() - ANCHOR - start);
    lengths.find_map(|length| several(recent, length))
}

/// As many rounds of this length as are taken as one, if the bytes end with them.
fn several(recent: &[u8], length: usize) -> Option<usize> {
    let once = recent.get(recent.len().checked_sub(length)?..)?;
    let lines = memchr::memchr_iter(b'\n', once).count();
    let times = ROUND_MIN.div_ceil(length).max(LINES_MIN.div_ceil(lines.max(1)));
    let whole = length.checked_mul(times).filter(|_| lines > 0)?;
    // What stands before a long one may be its end only.
    let compared = whole.min(recent.len() - length);
    let now = recent.get(recent.len() - compared..)?;
    let before = recent.get(recent.len() - length - compared..recent.len() - length)?;
    (whole <= recent.len() && compared >= whole.min(ROUND_MIN) && now == before).then_some(whole)
}

/// What one round adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Gain {
    counts: Counts,
    left_out: u64,
    /// By runner; of each only how many.
    executed: Vec<Executed>,
}

impl Gain {
    /// What `after` has that `before` had not; nothing if that is more than numbers.
    fn between(before: &Parsed, after: &Parsed) -> Option<Self> {
        let is_same = before.tools == after.tools
            && before.findings == after.findings
            && before.executed.len() == after.executed.len();
        let (one, two) = (before.counts.unwrap_or_default(), after.counts.unwrap_or_default());
        let counts = Counts {
            passed: two.passed.checked_sub(one.passed)?,
            failed: two.failed.checked_sub(one.failed)?,
            skipped: two.skipped.checked_sub(one.skipped)?,
        };
        let left_out = after.findings_left_out.checked_sub(before.findings_left_out)?;
        let executed = before.executed.iter().zip(&after.executed);
        let executed = executed.map(|(one, two)| more(one, two)).collect::<Option<Vec<_>>>()?;
        is_same.then_some(Self { counts, left_out, executed })
    }

    /// Adds another so many times.
    fn add(&mut self, other: &Self, times: u64) {
        self.counts = self.counts.and(other.counts.times(times));
        self.left_out = self.left_out.saturating_add(other.left_out.saturating_mul(times));
        for more in &other.executed {
            let known = self.executed.iter_mut().find(|known| known.runner == more.runner);
            let mut more = more.clone();
            more.ran = more.ran.saturating_mul(times);
            more.skipped = more.skipped.saturating_mul(times);
            more.names_left_out = more.names_left_out.saturating_mul(times);
            match known {
                Some(known) => grow(known, &more),
                None => self.executed.push(more),
            }
        }
    }

    /// All that was said, with this.
    fn add_to(&self, mut parsed: Parsed) -> Parsed {
        parsed.counts = parsed.counts.map(|counts| counts.and(self.counts));
        if !parsed.findings.is_empty() {
            parsed.findings_left_out = parsed.findings_left_out.saturating_add(self.left_out);
        }
        for more in &self.executed {
            let known = parsed.executed.iter_mut().find(|known| known.runner == more.runner);
            if let Some(known) = known {
                grow(known, more);
            }
        }
        parsed
    }
}

fn grow(executed: &mut Executed, more: &Executed) {
    executed.ran = executed.ran.saturating_add(more.ran);
    executed.skipped = executed.skipped.saturating_add(more.skipped);
    executed.names_left_out = executed.names_left_out.saturating_add(more.names_left_out);
}

/// How many more tests of the same runner there are, of names that were all known.
fn more(before: &Executed, after: &Executed) -> Option<Executed> {
    (before.runner == after.runner && before.names == after.names).then_some(())?;
    Some(Executed {
        runner: after.runner.clone(),
        ran: after.ran.checked_sub(before.ran)?,
        skipped: after.skipped.checked_sub(before.skipped)?,
        names_left_out: after.names_left_out.checked_sub(before.names_left_out)?,
        ..Executed::default()
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{ROUND_MAX, Rounds, State, round};
    use crate::parser::Reading;
    use crate::{Exit, Parsed};

    /// What is said with rounds only compared, and whether there were any; in pieces of some size.
    fn quick(output: &[u8], piece: usize) -> (Parsed, bool) {
        let (mut rounds, mut reading) = (Rounds::default(), Reading::new("make"));
        let mut has_compared = false;
        for bytes in output.chunks(piece) {
            rounds.feed(bytes, &mut reading);
            has_compared |= matches!(rounds.state, State::Comparing { rounds: 2.., .. });
        }
        (rounds.finish(reading, Exit::Code(1)), has_compared)
    }

    fn thorough(output: &[u8]) -> Parsed {
        let mut reading = Reading::new("make");
        reading.feed(output);
        reading.finish(Exit::Code(1))
    }

    fn repeated(once: &[u8], least: usize) -> Vec<u8> {
        once.iter().copied().cycle().take(once.len() * least.div_ceil(once.len())).collect()
    }

    #[test]
    fn what_is_only_compared_says_what_it_would_have_said() {
        let last = b"src/last.rs:3:9: error: the last one\nFAILED tests/test_z.py::test_z - no\n";
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
        for tool in fs::read_dir(folder).expect("captures") {
            let tool = tool.expect("a folder").path();
            let mut files: Vec<_> = fs::read_dir(&tool)
                .expect("a tool")
                .map(|file| file.expect("a file").path())
                .collect();
            files.retain(|file| file.extension().is_some_and(|end| end == "txt"));
            files.sort_unstable();
            let once = files.iter().map(|file| fs::read(file).expect("an output"));
            let Some(once) = once.filter(|once| once.len() < 20_000).max_by_key(Vec::len) else {
                continue;
            };
            // A round has a certain number of lines.
            let lines = once.iter().filter(|byte| **byte == b'\n').count().max(1);
            let least = 260_000.max(once.len() / lines * 64 * 8);
            let output = [repeated(&once, least), last.to_vec()].concat();
            let (quick, has_compared) = quick(&output, 4_096);
            assert!(has_compared || once.is_empty(), "{}", tool.display());
            let thorough = thorough(&output);
            assert_eq!(quick.counts, thorough.counts, "{}", tool.display());
            assert_eq!(quick, thorough, "{}", tool.display());
        }
    }

    #[test]
    fn rounds_are_found_at_every_length() {
        let line = |number: usize| format!("line {number} of many, {}\n", number * 7 % 13);
        for lines in [1, 2, 3, 50, 4_000] {
            let once: String = (0..lines).map(line).collect();
            let output = repeated(once.as_bytes(), ROUND_MAX);
            let length = round(&output).expect("a round");
            assert_eq!(length % once.len(), 0, "{lines} lines");
        }
        let never: String = (0..ROUND_MAX / 20).map(line).collect();
        assert_eq!(round(never.as_bytes()), None);
    }

    #[test]
    fn every_round_counts_wherever_they_break_off() {
        let round = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\n\
                     test result: FAILED. 1 passed; 1 failed; 0 ignored\n";
        for over in [0, 1, 30, 60] {
            for piece in [1_000, 64 * 1024, 1 << 20] {
                let mut output = repeated(round.as_bytes(), 400_000);
                output.extend_from_slice(&round.as_bytes()[..over]);
                output
                    .extend_from_slice(b"\nrunning 1 test\ntest result: ok. 1 passed; 0 failed\n");
                let (parsed, has_compared) = quick(&output, piece);
                assert_eq!(parsed, thorough(&output), "{over} {piece}");
                assert!(has_compared || piece > 400_000);
            }
        }
    }
}
