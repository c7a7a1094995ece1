//! The event a hook is given: one JSON object on standard input.
//!
//! Once the object is whole nothing more is waited for: a client may keep the pipe open.

use std::fs::metadata;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use flyball_core::call::Fingerprint;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::Value;

/// The largest input that is read.
const INPUT_MAX: usize = 256 * 1024 * 1024;
/// How long the end of the input is waited for when all of it is there.
const GRACE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Reads standard input up to its end, or to the end of the object in it.
pub(super) fn read() -> io::Result<Vec<u8>> {
    let stdin = io::stdin();
    let stdin = stdin.as_fd();
    let mut bytes = Vec::new();
    let mut piece = vec![0_u8; 64 * 1024];
    let mut scan = Scan::default();
    while bytes.len() < INPUT_MAX {
        if scan.is_whole() && !more_follows(stdin) {
            break;
        }
        let count = match rustix::io::read(stdin, &mut *piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        let new = piece.get(..count).unwrap_or_default();
        scan.feed(new);
        bytes.extend_from_slice(new);
    }
    Ok(bytes)
}

/// Whether there is something to read soon; the end counts.
fn more_follows(stdin: BorrowedFd<'_>) -> bool {
    let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut waiting, Some(&GRACE)).is_ok_and(|ready| ready > 0)
}

/// The object in an input. Bytes that are no UTF-8 are replaced; none when it is no object.
pub(super) fn parse(bytes: &[u8]) -> Option<Value> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(_) => serde_json::from_str(&String::from_utf8_lossy(bytes)).ok()?,
    };
    value.is_object().then_some(value)
}

/// What tells one stop from another: what is said with it, and the length of the session's transcript,
/// which a refusal makes longer. Nothing does where there is no transcript to be seen.
pub(super) fn asking(input: &Value) -> String {
    let transcript = ["transcript_path", "transcriptPath"].iter().find_map(|key| input.get(key));
    let transcript = transcript.and_then(Value::as_str).and_then(|path| metadata(path).ok());
    transcript.map_or_else(String::new, |meta| {
        Fingerprint::of_text(&format!("{} {input}", meta.len())).to_string()
    })
}

/// Looks for the end of an object as its bytes come in.
#[derive(Debug, Default)]
struct Scan {
    depth: u64,
    begun: bool,
    within: Within,
}

/// Where a byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Structure,
    String,
    Escape,
}

impl Scan {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.within = match (self.within, byte) {
                (Within::String, b'\\') => Within::Escape,
                (Within::String, b'"') => Within::Structure,
                (Within::String | Within::Escape, _) | (Within::Structure, b'"') => Within::String,
                (Within::Structure, b'{' | b'[') => {
                    self.begun = true;
                    self.depth = self.depth.saturating_add(1);
                    Within::Structure
                }
                (Within::Structure, b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    Within::Structure
                }
                (Within::Structure, _) => Within::Structure,
            };
        }
    }

    fn is_whole(&self) -> bool {
        self.begun && self.depth == 0 && self.within == Within::Structure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_whole_when_its_last_brace_has_come() {
        for (pieces, whole) in [
            (&["{}"][..], true),
            (&[" \n", "{\"a\":[1,{\"b\":\"}\"}]", "}"], true),
            (&["{\"a\":\"\\", "\"}\"", "}"], true),
            (&["{\"a\":\"", "}"], false),
            (&["{\"a\":{}"], false),
            (&["no json"], false),
            (&[""], false),
        ] {
            let mut scan = Scan::default();
            for piece in pieces {
                scan.feed(piece.as_bytes());
            }
            assert_eq!(scan.is_whole(), whole, "{pieces:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_do_not_hide_the_rest() {
        let parsed = parse(b"\xef\xbb\xbf{\"a\":\"x\xff\"}").unwrap();
        assert_eq!(parsed["a"], "x\u{fffd}");
        for wrong in [&b""[..], b"[1]", b"\xff", b"{\"a\":", b"1"] {
            assert!(parse(wrong).is_none(), "{wrong:?}");
        }
    }
}
