//! What changes in a tool result although nothing happened: taken out before it is hashed (A1).
//!
//! One pass over the bytes. A part is only looked at where a word begins, looks ahead a bounded
//! number of bytes or no further than the number or word it then consumes, and is replaced by a mark
//! that no text can hold (UTF-8 has no byte `0xff`). Digits in general stay: progress is a number.
//!
//! | taken out | examples |
//! |---|---|
//! | date, with or without time | `2026-11-15`, `2026/11/15 09:48`, `2026-11-15T09:48:01.5Z` |
//! | clock time | `09:48:01`, `9:48 pm`, `[09:48]`; not `a.rs:12:34` nor a bare `12:34` (line and column) |
//! | duration | `1.23s`, `12 ms`, `3m 41s`, `1h02m`, `5 seconds`, `"duration_ms":12`, `"duration":1.2`; not `[5s]` before a line: there a process says how far it is |
//! | uuid, hex id | 7 hex digits or more with a digit and a letter among them, `0x7ffd1234` |
//! | process id | `pid 123`, `PID: 123`, `pid=123` |
//! | a shell's or notebook's own counter | `bash: line 205: no: command not found`, `"execution_count":7`; not `build.sh: line 12:` |
//! | temporary path | the name below `/tmp`, `/var/tmp`, `/var/folders/x/y/T`; the rest of the path stays |
//! | white space | a run of it is one blank; none at the ends |

mod marks;
mod shapes;

use self::marks::Marks;
use self::shapes::{Shape, digits_end, hex_id, numeric, pid, temp_path, uuid};

/// Where normalised bytes go.
pub(super) trait Sink {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]);

    /// Takes the first `length` of a block: most pieces are short, and a block is copied at once.
    fn put_short(&mut self, block: &[u8; SHORT], length: usize) {
        self.put(block.get(..length).unwrap_or(block));
    }
}

/// The longest piece that counts as short.
pub(super) const SHORT: usize = 16;

impl Shape {
    const fn mark(self) -> [u8; 2] {
        match self {
            Self::Time => *b"\xfft",
            Self::Duration => *b"\xffd",
            Self::Id => *b"\xffi",
            Self::Process => *b"\xffp",
            Self::Counter => *b"\xffc",
            Self::TempPath => *b"\xff/",
        }
    }
}

/// Streams the text into the sink without its volatile parts.
///
/// Nearly all of a text is plain: the scan goes from mark to mark and looks at nothing between.
pub(super) fn normalise(text: &str, out: &mut impl Sink) {
    let trimmed = text.trim_ascii();
    let bytes = trimmed.as_bytes();
    let mut scan = Scan { bytes, kept: 0, at: 0 };
    let mut marks = Marks::default();
    while let Some(at) = marks.next(bytes, scan.at) {
        match bytes.get(at) {
            Some(b'0'..=b'9') => scan.digit(at, out),
            Some(b'/') => scan.slash(at, out),
            Some(b'-') => scan.dash(at, out),
            _ => scan.white(at, out),
        }
    }
    scan.flush(bytes.len(), out);
}

/// Bytes from `kept` up to `at` have been looked at and are to be kept as they are. No word begins
/// before `at` and goes on behind it.
struct Scan<'a> {
    bytes: &'a [u8],
    kept: usize,
    at: usize,
}

impl Scan<'_> {
    #[inline]
    fn flush(&mut self, to: usize, out: &mut impl Sink) {
        let rest = self.bytes.get(self.kept..).unwrap_or(&[]);
        let length = to.saturating_sub(self.kept);
        match rest.first_chunk() {
            Some(block) if length <= SHORT => out.put_short(block, length),
            _ => out.put(rest.get(..length).unwrap_or(rest)),
        }
        self.kept = to;
    }

    fn replace(&mut self, start: usize, (shape, end): (Shape, usize), out: &mut impl Sink) {
        let [first, second] = shape.mark();
        self.flush(start, out);
        out.put(&[first]);
        out.put(&[second]);
        (self.kept, self.at) = (end, end);
    }

    fn white(&mut self, at: usize, out: &mut impl Sink) {
        let end = run_end(self.bytes, at, Class::White);
        if end > at + 1 || (end == at + 1 && self.bytes.get(at) != Some(&b' ')) {
            self.flush(at, out);
            out.put(b" ");
            (self.kept, self.at) = (end, end);
        } else {
            self.at = at + 1;
        }
    }

    /// The first digit of a word, which may have begun before it.
    fn digit(&mut self, at: usize, out: &mut impl Sink) {
        let start = self.word_start(at);
        if start == at {
            return self.number(at, out);
        }
        let end = run_end(self.bytes, at, Class::Word);
        let found = match self.bytes.get(start) {
            Some(b'a'..=b'f' | b'A'..=b'F') => {
                uuid(self.bytes, start, end).or_else(|| hex_id(self.bytes, start, end))
            }
            _ => None,
        };
        match found {
            Some(found) => self.replace(start, found, out),
            None => self.at = end,
        }
    }

    /// A word that begins with a digit.
    fn number(&mut self, start: usize, out: &mut impl Sink) {
        if let Some(pid_start) = self.pid_before(start)
            && let Some(found) = pid(self.bytes, pid_start, pid_start + PID)
        {
            return self.replace(pid_start, found, out);
        }
        let digits = digits_end(self.bytes, start);
        if self.bytes.get(digits) == Some(&b':') && is_shell_counter(self.bytes.get(..start)) {
            return self.replace(start, (Shape::Counter, digits), out);
        }
        if let Some(found) = shapes::volatile_field(self.bytes, start) {
            return self.replace(start, found, out);
        }
        let goes_on = self.is_word(digits);
        let end = if goes_on { run_end(self.bytes, digits, Class::Word) } else { digits };
        match numeric(self.bytes, start, digits, end) {
            Some(found) => self.replace(start, found, out),
            None => self.at = end,
        }
    }

    /// A dash behind a word of letters: the first group of a uuid may have no digit.
    fn dash(&mut self, at: usize, out: &mut impl Sink) {
        let start = self.word_start(at);
        match uuid(self.bytes, start, at) {
            Some(found) => self.replace(start, found, out),
            None => self.at = at + 1,
        }
    }

    fn slash(&mut self, at: usize, out: &mut impl Sink) {
        match temp_path(self.bytes, at) {
            Some(found) => self.replace(at, found, out),
            None => self.at = at + 1,
        }
    }

    /// Where the word begins that goes up to `end`.
    #[inline]
    fn word_start(&self, end: usize) -> usize {
        // Nearly every number is a word of its own.
        if end.checked_sub(1).is_none_or(|before| !self.is_word(before)) {
            return end;
        }
        let word = self.bytes.get(self.at..end).unwrap_or(&[]);
        end - word.iter().rev().take_while(|b| class(**b) == Class::Word).count()
    }

    #[inline]
    fn is_word(&self, at: usize) -> bool {
        self.bytes.get(at).is_some_and(|byte| class(*byte) == Class::Word)
    }

    /// Where `pid` begins when it stands right before this number.
    fn pid_before(&self, number: usize) -> Option<usize> {
        let mut before = self.bytes.get(self.at..number)?;
        let near = before.last_chunk::<2>()?;
        if !near.iter().any(|byte| matches!(byte, b'd' | b'D' | b':' | b'=' | b'#')) {
            return None;
        }
        before = before.strip_suffix(b" ").unwrap_or(before);
        if let [rest @ .., b':' | b'=' | b'#'] = before {
            before = rest;
        }
        let rest = before.split_last_chunk::<PID>().filter(|(_, w)| w.eq_ignore_ascii_case(b"pid"));
        let (rest, _) = rest?;
        let is_word = rest.last().is_none_or(|b| class(*b) != Class::Word);
        is_word.then_some(self.at + rest.len())
    }
}

/// Whether a shell says here which of its lines it read: it counts what an agent typed.
fn is_shell_counter(before: Option<&[u8]>) -> bool {
    let Some(name) = before.and_then(|before| before.strip_suffix(b": line ")) else {
        return false;
    };
    [&b"bash"[..], b"dash", b"ksh", b"zsh", b"sh"].iter().any(|shell| {
        let rest = name.strip_suffix(*shell);
        rest.is_some_and(|rest| rest.last().is_none_or(|byte| matches!(byte, b'/' | b' ' | b'\n')))
    })
}

/// The length of `pid`.
const PID: usize = 3;

/// What a byte can begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    White,
    Word,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0_u8;
    loop {
        let class = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c => Class::White,
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => Class::Word,
            _ => Class::Other,
        };
        #[expect(clippy::indexing_slicing, reason = "a byte is always inside a table of 256")]
        {
            classes[byte as usize] = class;
        }
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    #[expect(clippy::indexing_slicing, reason = "a byte is always inside a table of 256")]
    CLASSES[usize::from(byte)]
}

fn run_end(bytes: &[u8], from: usize, wanted: Class) -> usize {
    let rest = bytes.get(from..).unwrap_or(&[]);
    from + rest.iter().position(|b| class(*b) != wanted).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests;
