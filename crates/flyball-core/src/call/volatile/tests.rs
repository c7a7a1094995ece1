//! What is volatile, what is not, and that no text is too strange.

use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;

use super::shapes::{duration, hex_id, moment, pid, temp_path, uuid};
use super::{Class, Sink, class, normalise, run_end};
use crate::call::fingerprint_result;

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// The normalised text, with the mark byte shown as `~`.
fn shown(text: &str) -> String {
    let mut out: Vec<u8> = Vec::new();
    normalise(text, &mut out);
    for byte in &mut out {
        if *byte == 0xff {
            *byte = b'~';
        }
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn volatile_parts_are_taken_out() {
    let cases = [
        ("at 2026-11-15T09:48:01.123Z x", "at ~t x"),
        ("2026-11-15 09:48:01,5 +0100", "~t +0100"),
        ("2026-11-15T09:48:01+01:00", "~t"),
        ("2026/11/15 09:48 log", "~t log"),
        ("on 2026-11-15.", "on ~t."),
        ("09:48:01 and 9:48 pm and [09:48]", "~t and ~t and [~t]"),
        ("finished in 1.23s", "finished in ~d"),
        ("took 12 ms, 3m 41s, 1h02m", "took ~d, ~d, ~d"),
        ("5 seconds (0.01 sec) 7µs", "~d (~d) ~d"),
        ("3 s.", "~d."),
        ("{\"duration_ms\":12,\"elapsed\": 1.5}", "{\"duration_ms\":~d,\"elapsed\": ~d}"),
        ("\"execution_count\":107}", "\"execution_count\":~c}"),
        ("took [5s] and (5s)", "took [~d] and (~d)"),
        ("[1.5s] done", "[~d] done"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "id ~i"),
        ("[main 3fa9c21] fix", "[main ~i] fix"),
        ("deps/foo-3fa9c21bdeadbeef.o", "deps/foo-~i.o"),
        ("object at 0x7ffd12345678>", "object at ~i>"),
        ("(pid 123) PID: 4 pid=5", "(~p) ~p ~p"),
        ("/tmp/xyz123/src/a.rs:3", "~//src/a.rs:3"),
        ("open '/tmp/.tmpAbC9'", "open '~/'"),
        ("/private/var/folders/zz/a_b/T/tmp.9x/f", "~//f"),
        ("/tmp/pytest-of-me/pytest-12/test_a0", "~//test_a0"),
        ("/tmp/pytest-of-me then", "~/ then"),
        ("  a \t\n b\r\n", "a b"),
    ];
    for (given, wanted) in cases {
        assert_eq!(shown(given), wanted, "{given}");
    }
}

#[test]
fn what_tells_of_progress_stays() {
    let same = [
        "3 failed, 12 passed",
        "a.rs:12:34: error",
        "12:34 error Missing semicolon",
        "[12:34 error] in columns 12:34]",
        "version 1.2.3",
        "1234567890",
        "feedbee and defaced",
        "12 MB",
        "45%",
        "abc12",
        "2026-13-40",
        "99:99:99",
        "pid",
        "pid x",
        "pids 12",
        "src/tmp/x",
        "/tmp/",
        "5sx",
        "x5s",
        "25:61",
        "port 5432",
        "line 3",
        "[5s] compiling...",
        "\"duration_seconds\":15}",
        "\"my_duration_ms\":15}",
    ];
    for text in same {
        assert_eq!(shown(text), text);
    }
}

#[test]
fn a_unit_is_a_whole_word_or_followed_by_a_digit() {
    let anywhere = [
        "ns",
        "us",
        "µs",
        "μs",
        "ms",
        "s",
        "sec",
        "secs",
        "second",
        "seconds",
        "min",
        "mins",
        "minute",
        "minutes",
        "hr",
        "hrs",
        "hour",
        "hours",
        "msec",
        "msecs",
        "millisecond",
        "milliseconds",
    ];
    for unit in anywhere {
        let text = std::format!("1{unit} 2.5 {unit}, 3{unit}4{unit} 5 {unit}x 6{unit}_");
        assert_eq!(shown(&text), std::format!("~d, ~d 5 {unit}x 6{unit}_"));
    }
    for unit in ["m", "h"] {
        let text = std::format!("1{unit} 2.5 {unit}, 3{unit}4{unit} 5 {unit}x 6{unit}_");
        assert_eq!(shown(&text), std::format!("~d 2.5 {unit}, ~d 5 {unit}x 6{unit}_"));
    }
    for other in ["d", "mss", "se", "secondss", "millisecondsx", "n", "µ", "M", "S"] {
        let text = std::format!("1{other} 2.5 {other}, 3{other}4{other}");
        assert_eq!(shown(&text), text);
    }
}

#[test]
fn results_differ_only_when_something_happened() {
    let pairs = [
        ("ok in 0.12s", "ok in 3.40s", true),
        ("ok in 900 ms", "ok in 1.2s", true),
        ("2 failed in 1s", "3 failed in 1s", false),
        ("a  b", "a\nb", true),
        ("a b", "ab", false),
        ("error a.rs:3", "error a.rs:4", false),
        ("", "   ", true),
        ("/tmp/a1/x.rs", "/tmp/b2/x.rs", true),
        ("/tmp/a1/x.rs", "/tmp/a1/y.rs", false),
    ];
    for (one, two, same) in pairs {
        assert_eq!(fingerprint_result(one) == fingerprint_result(two), same, "{one} / {two}");
    }
}

/// The same, byte by byte and word by word: what the fast scan must agree with.
fn shown_slowly(text: &str) -> String {
    let bytes = text.trim_ascii().as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(&first) = bytes.get(at) {
        let is_word = class(first) == Class::Word;
        let end = run_end(bytes, at, class(first));
        let found = match first {
            b'0'..=b'9' => moment(bytes, at)
                .or_else(|| uuid(bytes, at, end))
                .or_else(|| hex_id(bytes, at, end))
                .or_else(|| duration(bytes, at)),
            b'a'..=b'f' | b'A'..=b'F' => uuid(bytes, at, end).or_else(|| hex_id(bytes, at, end)),
            b'p' | b'P' => pid(bytes, at, end),
            b'/' => temp_path(bytes, at),
            _ => None,
        };
        if let Some((shape, end)) = found {
            out.extend_from_slice(&shape.mark());
            at = end;
        } else if class(first) == Class::White {
            out.push(b' ');
            at = end;
        } else {
            let end = if is_word { end } else { at + 1 };
            out.extend_from_slice(&bytes[at..end]);
            at = end;
        }
    }
    String::from_utf8(out.into_iter().map(|b| if b == 0xff { b'~' } else { b }).collect()).unwrap()
}

#[test]
fn a_result_that_was_stored_once_is_recognised_for_ever() {
    let text = "  error in /tmp/x1/a.rs at 09:48:01 (pid 77)\n\tid deadbeef-0000-4000-8000-0123456789ab, \
                3fa9c21 took 1.5s; 3 failed -- see src/lib.rs:12:3\n";
    assert_eq!(
        fingerprint_result(&text.repeat(40)).bits(),
        0xdbcb_2b70_45cc_73d7_e697_b52f_a208_9424,
    );
}

/// Texts that would take minutes if any part were looked at again and again.
#[test]
fn long_and_hostile_texts_are_read_once() {
    let units =
        ["1s ", "1s1s", "/tmp/", "/var/folders/", "1.", "12:34:56.", "a1b2c3d4-", "\t", "0x"];
    for unit in units {
        let text = unit.repeat(300_000) + "_";
        assert_eq!(fingerprint_result(&text), fingerprint_result(&(text.clone() + " ")));
    }
}

#[test]
fn a_shells_own_counter_is_taken_out_and_a_scripts_line_stays() {
    let same = |one: &str, two: &str| fingerprint_result(one) == fingerprint_result(two);
    for shell in ["bash", "/bin/bash", "sh", "error: zsh"] {
        let text = |line: u32| std::format!("{shell}: line {line}: foo: command not found");
        assert!(same(&text(205), &text(206)), "{shell}");
    }
    for script in ["build.sh", "crash", "x", "flash"] {
        let text = |line: u32| std::format!("{script}: line {line}: syntax error");
        assert!(!same(&text(12), &text(13)), "{script}");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,80}|[0-9a-fTZ:.,/ \\-+pidmsh_]{0,80}") {
        let normalised = shown(&text);
        prop_assert!(normalised.len() <= text.len().max(2) * 2);
    }

    #[test]
    fn the_fast_scan_agrees_with_the_slow_one(
        text in "([0-9a-fTZ:.,/ \\-+pidPmsh_#=\\[\\]\t\n\x0b\x01xä]|pid|PID|/tmp/|/var/|  | \n|deadbeef-|12:34:56|abcdefab-abcd-abcd-abcd-abcdefabcdef|2026-11-15| 3 ms|words and blanks){0,60}"
    ) {
        prop_assert_eq!(shown(&text), shown_slowly(&text));
    }

    #[test]
    fn white_space_never_makes_a_difference(words in prop::collection::vec("[a-z]{1,6}", 0..8)) {
        prop_assert_eq!(
            fingerprint_result(&words.join(" ")),
            fingerprint_result(&(words.join("\n\t") + "\n")),
        );
    }

    #[test]
    fn a_count_is_never_taken_out(one in 0_u32..10_000, two in 0_u32..10_000) {
        let text = |n: u32| std::format!("{n} tests failed");
        prop_assert_eq!(
            fingerprint_result(&text(one)) == fingerprint_result(&text(two)),
            one == two
        );
    }
}
