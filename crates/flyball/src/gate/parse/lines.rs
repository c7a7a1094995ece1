//! Cuts a stream of bytes into clean lines of bounded length.

use super::ansi;

/// Longer lines of text are cut here.
const TEXT_MAX: usize = 64 * 1024;
/// Longer lines of JSON and XML are cut here, and then no longer understood.
const DOCUMENT_MAX: usize = 16 * 1024 * 1024;

/// The beginning of a line whose end has not come yet.
#[derive(Default)]
pub(super) struct Lines {
    partial: Vec<u8>,
    /// Whether a line is open: its first byte has come.
    open: bool,
}

impl Lines {
    /// Takes the next bytes and hands each finished line to `each`.
    pub(super) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        // Most output has neither colours nor carriage returns: look once, not for every line.
        let is_plain = memchr::memchr2(ansi::ESCAPE, b'\r', bytes).is_none();
        let plain = if is_plain { std::str::from_utf8(bytes).ok() } else { None };
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let line = bytes.get(start..end).unwrap_or_default();
            if self.open {
                self.keep(line);
                each(&ansi::clean(&self.partial));
                self.partial.clear();
                self.open = false;
            } else {
                match plain.and_then(|text| text.get(start..end)) {
                    Some(text) if text.len() <= TEXT_MAX => each(text),
                    _ => each(&ansi::clean(cut(line))),
                }
            }
            start = end + 1;
        }
        let rest = bytes.get(start..).unwrap_or_default();
        if !rest.is_empty() {
            self.keep(rest);
            self.open = true;
        }
    }

    /// Hands over the last line, which had no end.
    pub(super) fn finish(&mut self, mut each: impl FnMut(&str)) {
        if self.open {
            each(&ansi::clean(&self.partial));
            self.partial.clear();
            self.open = false;
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let first = self.partial.first().or_else(|| bytes.first());
        let room = limit(first).saturating_sub(self.partial.len());
        self.partial.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

fn cut(line: &[u8]) -> &[u8] {
    line.get(..limit(line.first())).unwrap_or(line)
}

const fn limit(first: Option<&u8>) -> usize {
    match first {
        Some(b'{' | b'[' | b'<') => DOCUMENT_MAX,
        _ => TEXT_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, TEXT_MAX};

    fn split(chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for chunk in chunks {
            lines.feed(chunk, |line| seen.push(line.to_owned()));
        }
        lines.finish(|line| seen.push(line.to_owned()));
        seen
    }

    #[test]
    fn chunk_borders_do_not_matter() {
        let text = b"one\r\n\ntwo\x1b[0m\nlast";
        let whole = split(&[text]);
        assert_eq!(whole, ["one", "", "two", "last"]);
        for cut in 0..text.len() {
            assert_eq!(split(&[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_very_long_line_is_cut_the_same_way_however_it_arrives() {
        let long = vec![b'x'; TEXT_MAX + 10];
        let once = split(&[&long, b"\nnext\n"]);
        let slowly: Vec<&[u8]> = long.chunks(1000).chain([b"\nnext\n".as_slice()]).collect();
        assert_eq!(once, split(&slowly));
        assert_eq!(once[0].len(), TEXT_MAX);
        assert_eq!(once[1], "next");
    }
}
