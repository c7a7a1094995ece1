//! Removes terminal control sequences from one line.

use std::borrow::Cow;

/// The byte every control sequence begins with.
pub(crate) const ESCAPE: u8 = 0x1b;

/// The line without control sequences and without what a carriage return has overwritten; `room` is
/// where the rest of it is put together.
pub(crate) fn clean<'a>(line: &'a [u8], room: &'a mut Vec<u8>) -> Cow<'a, str> {
    let line = if memchr::memchr(ESCAPE, line).is_some() {
        strip(line, room);
        room
    } else {
        line
    };
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(last_written(text)),
        Err(_) => Cow::Owned(last_written(&String::from_utf8_lossy(line)).to_owned()),
    }
}

/// What is visible after the last carriage return.
fn last_written(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    match memchr::memrchr(b'\r', line.as_bytes()) {
        Some(at) => line.get(at + 1..).unwrap_or(line),
        None => line,
    }
}

fn strip(line: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = line;
    while let Some(at) = memchr::memchr(ESCAPE, rest) {
        let (before, sequence) = rest.split_at(at);
        out.extend_from_slice(before);
        rest = after_sequence(sequence);
        if is_line_start(sequence) {
            out.push(b'\r');
        }
    }
    out.extend_from_slice(rest);
}

/// Whether the sequence leaves nothing of the line so far, as a carriage return does: it goes back to the first column,
/// or wipes out what stands before.
fn is_line_start(sequence: &[u8]) -> bool {
    let rest = sequence.get(1..).unwrap_or_default();
    [&b"[1G"[..], b"[G", b"[1K", b"[2K"].iter().any(|start| rest.starts_with(start))
}

/// What follows the control sequence that begins with an escape at the start of `bytes`.
fn after_sequence(bytes: &[u8]) -> &[u8] {
    let after = bytes.get(1..).unwrap_or_default();
    let skip = match after.first() {
        None => 0,
        // CSI: parameters, then one final byte.
        Some(b'[') => match after.iter().skip(1).position(|byte| (0x40..=0x7e).contains(byte)) {
            Some(length) => length + 2,
            None => after.len(),
        },
        // OSC: until BEL or the string terminator.
        Some(b']') => match memchr::memchr2(0x07, ESCAPE, after) {
            Some(end) if after.get(end) == Some(&ESCAPE) => end + 2,
            Some(end) => end + 1,
            None => after.len(),
        },
        // Strings for the terminal, with which Buildkite tells the time: until the same marks.
        Some(b'_' | b'P' | b'X' | b'^') => match memchr::memchr2(0x07, ESCAPE, after) {
            Some(end) if after.get(end) == Some(&ESCAPE) => end + 2,
            Some(end) => end + 1,
            None => 1,
        },
        // Choice of a character set: one more byte.
        Some(b'(' | b')' | b'*' | b'+') => 2,
        Some(_) => 1,
    };
    after.get(skip..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn control_sequences_and_overwritten_text_vanish() {
        let table: &[(&[u8], &str)] = &[
            (b"plain", "plain"),
            (b"crlf\r", "crlf"),
            (b"\x1b[31mred\x1b[0m", "red"),
            (b"\x1b[38;5;9mred\x1b(B\x1b[m", "red"),
            (b"\x1b]0;title\x07text", "text"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1b_bk;t=1700000000000\x07text", "text"),
            (b"10%\r50%\r100%", "100%"),
            (b"\rdone\x1b[K", "done"),
            (b"\x1b[1G 1/3 one\x1b[77G\x1b[1G done", " done"),
            (b"running tests\x1b[1K\x1b[27D \x1b[31mx\x1b[0m Arrays", " x Arrays"),
            (b"1 of 3\x1b[2K\x1b[0Gdone", "done"),
            (b"cut \x1b[3", "cut "),
            (b"cut \x1b", "cut "),
            (b"caf\xc3\xa9 \xff", "caf\u{e9} \u{fffd}"),
        ];
        for (input, want) in table {
            assert_eq!(clean(input, &mut vec![b'x']), *want, "{input:?}");
        }
    }
}
