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
//! | duration | `1.23s`, `12 ms`, `3m 41s`, `1h02m`, `5 seconds` |
//! | uuid, hex id | 7 hex digits or more with a digit and a letter among them, `0x7ffd1234` |
//! | process id | `pid 123`, `PID: 123`, `pid=123` |
//! | temporary path | the name below `/tmp`, `/var/tmp`, `/var/folders/x/y/T`; the rest of the path stays |
//! | white space | a run of it is one blank; none at the ends |

mod shapes;

use self::shapes::{Shape, duration, hex_id, moment, pid, temp_path, uuid};

/// Where normalised bytes go.
pub(super) trait Sink {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl Shape {
    const fn mark(self) -> &'static [u8] {
        match self {
            Self::Time => b"\xfft",
            Self::Duration => b"\xffd",
            Self::Id => b"\xffi",
            Self::Process => b"\xffp",
            Self::TempPath => b"\xff/",
        }
    }
}

/// Streams the text into the sink without its volatile parts.
pub(super) fn normalise(text: &str, out: &mut impl Sink) {
    let trimmed = text.trim_ascii();
    let bytes = trimmed.as_bytes();
    let mut scan = Scan { bytes, kept: 0, at: 0 };
    while let Some(&byte) = bytes.get(scan.at) {
        match class(byte) {
            Class::White => scan.white(byte, out),
            Class::Word => scan.word(byte, out),
            Class::Slash => scan.slash(out),
            Class::Other => scan.at += 1,
        }
    }
    scan.flush(bytes.len(), out);
}

/// Bytes from `kept` up to `at` have been looked at and are to be kept as they are.
struct Scan<'a> {
    bytes: &'a [u8],
    kept: usize,
    at: usize,
}

impl Scan<'_> {
    fn flush(&mut self, to: usize, out: &mut impl Sink) {
        if let Some(run) = self.bytes.get(self.kept..to)
            && !run.is_empty()
        {
            out.put(run);
        }
        self.kept = to;
    }

    fn replace(&mut self, end: usize, mark: &[u8], out: &mut impl Sink) {
        self.flush(self.at, out);
        out.put(mark);
        self.kept = end;
        self.at = end;
    }

    fn white(&mut self, byte: u8, out: &mut impl Sink) {
        let end = run_end(self.bytes, self.at, Class::White);
        if end == self.at + 1 && byte == b' ' {
            self.at = end;
        } else {
            self.replace(end, b" ", out);
        }
    }

    fn word(&mut self, first: u8, out: &mut impl Sink) {
        let end = run_end(self.bytes, self.at, Class::Word);
        let found = match first {
            b'0'..=b'9' => moment(self.bytes, self.at)
                .or_else(|| uuid(self.bytes, self.at, end))
                .or_else(|| hex_id(self.bytes, self.at, end))
                .or_else(|| duration(self.bytes, self.at)),
            b'a'..=b'f' | b'A'..=b'F' => {
                uuid(self.bytes, self.at, end).or_else(|| hex_id(self.bytes, self.at, end))
            }
            b'p' | b'P' => pid(self.bytes, self.at, end),
            _ => None,
        };
        match found {
            Some((shape, end)) => self.replace(end, shape.mark(), out),
            None => self.at = end,
        }
    }

    fn slash(&mut self, out: &mut impl Sink) {
        match temp_path(self.bytes, self.at) {
            Some((shape, end)) => self.replace(end, shape.mark(), out),
            None => self.at += 1,
        }
    }
}

/// What a byte can begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    White,
    Word,
    Slash,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0_u8;
    loop {
        let class = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c => Class::White,
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => Class::Word,
            b'/' => Class::Slash,
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
