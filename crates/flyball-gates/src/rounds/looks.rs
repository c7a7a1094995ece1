//! Finds out how many lines a round has, from what lines look like: that needs little memory, however
//! long they are.

use super::shape;
use crate::report;

/// A shorter round is taken several times as one.
const ROUND_MIN: usize = 16 * 1024;
/// So many lines a round has at least: all that is kept of the end is then of the last one.
const LINES_MIN: usize = 64;
/// So many lines at the end are looked for.
const ANCHOR: usize = 4;
/// So many places are tried that look like the last lines.
const TRIES: usize = 128;
/// So many lines are remembered.
const LINES_MAX: usize = 24 * 1024;
/// A longer line is taken as several.
const LINE_MAX: usize = 32 * 1024;

/// What the lines so far look like, numbers aside.
#[derive(Debug, Default)]
pub(super) struct Looks {
    lines: Vec<Look>,
    /// The line whose end has not come.
    open: Vec<u8>,
}

/// What a line looks like, in few bytes: there are many. Two that are taken for one cost a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    look: u32,
    length: u32,
}

impl Look {
    fn of(line: &[u8]) -> Self {
        let [.., a, b, c, d] = report::look(line).to_le_bytes();
        Self {
            look: u32::from_le_bytes([a, b, c, d]),
            length: u32::try_from(line.len()).unwrap_or(u32::MAX),
        }
    }
}

/// How many lines and how many bytes a round has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub lines: usize,
    pub bytes: usize,
}

impl Looks {
    /// Takes the next bytes.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while let Some(first) = bytes.get(..LINE_MAX.min(bytes.len())).filter(|own| !own.is_empty())
        {
            let end = memchr::memchr(b'\n', first).map_or(first.len(), |end| end + 1);
            let (line, rest) = bytes.split_at(end);
            shape::put(&mut self.open, line);
            if line.ends_with(b"\n") || self.open.len() >= LINE_MAX {
                self.close();
            }
            bytes = rest;
        }
    }

    fn close(&mut self) {
        if !self.is_full() {
            self.lines.push(Look::of(&self.open));
        }
        self.open.clear();
    }

    /// Whether no more lines are remembered.
    pub(super) const fn is_full(&self) -> bool {
        self.lines.len() >= LINES_MAX
    }

    /// The round that the lines end with, if they do: it began where the next one does.
    pub(super) fn round(&self) -> Option<Size> {
        let lines = self.lines.as_slice();
        let anchor = lines.last_chunk::<ANCHOR>().filter(|_| self.open.is_empty())?;
        let earlier = lines.get(..lines.len() - 1)?;
        let mut starts = earlier.windows(ANCHOR).enumerate().rev();
        let alike = starts.by_ref().filter(|(_, own)| own == anchor).take(TRIES);
        let mut sizes = alike.map(|(start, _)| lines.len() - ANCHOR - start);
        sizes.find_map(|size| several(lines, size))
    }
}

/// As many rounds of so many lines as are taken as one, if the lines end with them.
fn several(lines: &[Look], size: usize) -> Option<Size> {
    let bytes = |lines: &[Look]| lines.iter().map(|line| line.length as usize).sum::<usize>();
    let once = bytes(lines.get(lines.len().checked_sub(size)?..)?);
    let times = ROUND_MIN.div_ceil(once.max(1)).max(LINES_MIN.div_ceil(size));
    let whole = size.checked_mul(times).filter(|whole| *whole <= lines.len())?;
    // What stands before a long one may be its end only.
    let compared = whole.min(lines.len() - size);
    let now = lines.get(lines.len() - compared..)?;
    let before = lines.get(lines.len() - size - compared..lines.len() - size)?;
    let is_enough = compared == whole || bytes(now) >= ROUND_MIN;
    (is_enough && now == before).then(|| Size { lines: whole, bytes: once.saturating_mul(times) })
}

#[cfg(test)]
mod tests {
    use super::Looks;

    fn round(text: &str) -> Option<usize> {
        let mut looks = Looks::default();
        for piece in text.as_bytes().chunks(1_000) {
            looks.take(piece);
        }
        looks.round().map(|size| size.lines)
    }

    #[test]
    fn rounds_are_found_at_every_length() {
        let line = |number: usize| format!("one of many, {number}\n");
        for lines in [1, 2, 3, 50, 2_000, 20_000] {
            let once: String = (0..lines).map(line).collect();
            let output = once.repeat(600_000 / once.len() + 2);
            let found = round(&output).expect("a round");
            assert!(found.is_multiple_of(lines) && found >= 64, "{lines} lines");
        }
        let never: String = (0..20_000).map(line).collect();
        assert_eq!(round(&never), None);
    }
}
