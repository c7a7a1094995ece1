//! What is only compared says what it would have said.

use std::fs;
use std::path::Path;

use super::{Rounds, SURE_MAX, State};
use crate::reading::Reading;
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
    let (mut all, mut compared) = (0, 0);
    for tool in fs::read_dir(folder).expect("captures") {
        let tool = tool.expect("a folder").path();
        let mut files: Vec<_> =
            fs::read_dir(&tool).expect("a tool").map(|file| file.expect("a file").path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "txt"));
        files.sort_unstable();
        let once = files.iter().map(|file| fs::read(file).expect("an output"));
        let Some(once) = once.filter(|once| once.len() < 20_000).max_by_key(Vec::len) else {
            continue;
        };
        // A round has a certain number of lines.
        let lines = memchr::memchr_iter(b'\n', &once).count().max(1);
        let least = 260_000.max(once.len() / lines * 64 * 8);
        let output = [repeated(&once, least), last.to_vec()].concat();
        let (quick, has_compared) = quick(&output, 4_096);
        all += 1;
        compared += usize::from(has_compared);
        let thorough = thorough(&output);
        assert_eq!(quick.counts, thorough.counts, "{}", tool.display());
        assert_eq!(quick, thorough, "{}", tool.display());
    }
    // Where lines are long a few rounds are not enough to tell.
    assert!(compared * 10 >= all * 9, "{compared} of {all}");
}

#[test]
fn every_round_counts_wherever_they_break_off() {
    let round = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\n\
                 test result: FAILED. 1 passed; 1 failed; 0 ignored\n";
    for over in [0, 1, 30, 60] {
        for piece in [1_000, 64 * 1024, 1 << 20] {
            let mut output = repeated(round.as_bytes(), 400_000);
            output.extend_from_slice(&round.as_bytes()[..over]);
            output.extend_from_slice(b"\nrunning 1 test\ntest result: ok. 1 passed; 0 failed\n");
            let (parsed, has_compared) = quick(&output, piece);
            assert_eq!(parsed, thorough(&output), "{over} {piece}");
            assert!(has_compared || piece > 400_000);
        }
    }
}

#[test]
fn numbers_may_be_others_each_time_once_nothing_more_is_kept() {
    let block = |number: usize| {
        format!(
            "running 1 test\ntest area::number_{number} ... FAILED\n\nfailures:\n\n\
             ---- area::number_{number} stdout ----\nthread 'area::number_{number}' panicked at \
             src/a.rs:{number}:9:\nassertion failed\n\n\nfailures:\n    area::number_{number}\n\n\
             test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured\n\n"
        )
    };
    let mut output: String = (1..3_000).map(block).collect();
    output.push_str("test result: FAILED. 2 passed; 7 failed; 0 ignored; 0 measured\n");
    let (quick, has_compared) = quick(output.as_bytes(), 64 * 1024);
    assert!(has_compared);
    let thorough = thorough(output.as_bytes());
    let numbers = |parsed: &Parsed| {
        let ran = parsed.executed.iter().map(|own| (own.ran, own.names_left_out));
        (parsed.counts, ran.collect::<Vec<_>>())
    };
    assert_eq!(numbers(&quick), numbers(&thorough));
    // One that began in a round that was read and ended in another counts once more.
    assert!(quick.findings_left_out.abs_diff(thorough.findings_left_out) <= 1);
    assert!(quick.findings == thorough.findings && quick.tail == thorough.tail);
}

#[test]
fn what_comes_again_in_every_round_is_counted_as_if_all_were_read() {
    // As long as there is room to remember findings the second is known, and then it is not.
    let block = |number: usize| {
        format!("src/a.py:{number}:80: E501 line too long\nsrc/b.py:3:1: F401 unused\n")
    };
    let output: String = (1..9_000).map(block).collect();
    let (quick, has_compared) = quick(output.as_bytes(), 64 * 1024);
    assert!(has_compared);
    assert_eq!(quick, thorough(output.as_bytes()));
}

#[test]
fn long_rounds_are_found_and_the_last_one_is_told_as_it_was_printed() {
    let round = |time: usize| {
        let line = |number| format!("item {number} took 1.{time} s, and no more is said of it\n");
        let lines: String = (0..10_000).map(line).collect();
        format!("running 1 test\n{lines}test a ... ok\n\ntest result: ok. 1 passed; 0 failed\n")
    };
    let output: String = (1..16).map(round).collect();
    assert!(output.len() / 15 > 450_000);
    let (quick, has_compared) = quick(output.as_bytes(), 64 * 1024);
    assert!(has_compared);
    assert_eq!(quick, thorough(output.as_bytes()));
}

#[test]
fn names_that_are_new_in_every_round_are_counted() {
    let line = |number| format!("item {number} of many lines of which no more is said\n");
    let filler: String = (0..1_500).map(line).collect();
    let round = |time: usize| format!("running 1 test\n{filler}test new_{time} ... ok\n\n");
    let output: String = (1..150).map(round).collect();
    assert!(output.len() > 2 * SURE_MAX, "too little to be sure");
    let (quick, has_compared) = quick(output.as_bytes(), 64 * 1024);
    assert!(has_compared);
    let thorough = thorough(output.as_bytes());
    let ran = |parsed: &Parsed| {
        let ran = parsed.executed.iter();
        ran.map(|own| (own.ran, own.names.len() as u64 + own.names_left_out)).collect::<Vec<_>>()
    };
    assert_eq!((quick.counts, ran(&quick)), (thorough.counts, ran(&thorough)));
    let [own] = quick.executed.as_slice() else { panic!("one runner") };
    assert!(own.names_left_out > 0 && own.names.contains("new_149"), "{}", own.names.len());
}
