//! What an agent prints, names or claims never drives the terminal; and a terminal that is stopped,
//! or a pipe nobody reads, never holds flyball up.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use rustix::process::{Pid, Signal, kill_process};

use crate::scenario::{LONG, Scenario};

/// A title, a cleared screen, the clipboard, one byte of a C1 sequence, a turned direction, a beep.
const HOSTILE: &str =
    r"\033]0;OWNED\007\033[2J\033[H\033]52;c;T1dORUQ=\033\\\302\233 2J\342\200\256\007\rX\010";

/// Every escape sequence that is left is a colour, or flyball's own live line.
#[track_caller]
fn assert_tame(text: &str) {
    let text = text.replace("\r\r\u{1b}[J", "");
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        let after = &rest[at + 1..];
        let end = after.find('m').unwrap_or_else(|| panic!("{after:?}"));
        let numbers = after.strip_prefix('[').map(|after| &after[..end - 1]);
        let is_colour = numbers.is_some_and(|n| n.chars().all(|c| c.is_ascii_digit() || c == ';'));
        assert!(is_colour, "{:?}", &rest[at..(at + 40).min(rest.len())]);
        rest = &after[end..];
    }
    let control = text.chars().find(|c| c.is_control() && !"\n\t\u{1b}".contains(*c));
    assert_eq!(control, None, "{text:?}");
    assert!(!text.contains('\u{202e}'), "{text:?}");
}

#[test]
fn no_word_of_an_agent_drives_the_terminal() {
    let plain = format!(
        "printf 'out {HOSTILE}\\n'; printf 'err \\033[35mpink {HOSTILE}\\n' >&2; \
         git checkout -q -b \"$(printf 'b\\302\\233x')\" 2>/dev/null; \
         printf '<promise>BLOCKED: no {HOSTILE} key</promise>\\n'"
    );
    let scenario = Scenario::new().committed().agent(&plain);
    let ran = scenario.run();
    assert!(ran.code == 2 && ran.stderr.contains("\u{1b}[35mpink"), "{:?}", ran.stderr);
    assert_tame(&ran.stderr);
    for command in [
        &["status"][..],
        &["log"],
        &["log", "--iteration", "1"],
        &["log", "--json"],
        &["status", "--json"],
        &["run"],
        &["doctor"],
        &["tasks"],
    ] {
        let said = scenario.flyball(command);
        assert_tame(&format!("{}{}", said.stdout, said.stderr));
        if command.contains(&"--json") {
            for line in said.stdout.lines().filter(|_| command[0] == "log") {
                serde_json::from_str::<serde_json::Value>(line).unwrap();
            }
        }
    }
}

#[test]
fn no_name_of_a_tool_and_no_file_of_a_human_drives_it_either() {
    let speaks = r#"
call 1 "e\u001b[2Jvil\u009b2J\u202e" '{"a":"\u001b]0;OWNED\u0007"}'
result 1 '\u001b[2J' '"tool"'
text 'said \u001b[2J\u009b2J <promise>DECIDE: a \u001b]0;OWNED\u0007 or b?</promise>'
"#;
    let scenario = Scenario::new().committed().speaker(speaks);
    let seen = scenario.run_in_terminal();
    // The terminal itself writes a return before each line's end.
    assert_tame(&seen.replace("\r\n", "\n"));
    assert!(seen.contains("evil"), "{seen:?}");
    scenario.write(".flyball/decide.txt", "## Question\n\u{1b}[2J a\u{9b}2J?\n---\n");
    for command in [&["run"][..], &["log"], &["answer", "a"]] {
        let said = scenario.flyball(command);
        assert_tame(&format!("{}{}", said.stdout, said.stderr));
    }
    let json = scenario.run_with(&["--format", "json"]);
    assert_tame(&json.stdout);
    for line in json.stdout.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    }
}

#[test]
fn a_terminal_that_nobody_reads_holds_neither_limits_nor_signals_up() {
    let flood = "while :; do printf '%1000s\\n' x; printf '%1000s\\n' y >&2; done";
    for (format, stop) in [("text", true), ("json", true), ("text", false)] {
        let scenario = Scenario::new()
            .committed()
            .agent(&format!("echo up > $OUT/up; {flood}"))
            .env("FLYBALL_LIMITS__STOP_GRACE", "300ms")
            .flags(if stop { &[] } else { &["--max-runtime", "3s"] });
        let mut child = scenario
            .program(env!("CARGO_BIN_EXE_flyball"))
            .args(scenario.arguments(&["--format", format]))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        scenario.until_told("up", "up");
        thread::sleep(Duration::from_secs(2));
        if stop {
            let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
            kill_process(pid, Signal::TERM).unwrap();
        }
        let limit = Deadline::after(LONG);
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(!limit.passed(), "it waits for a reader that is not there"),
            }
            thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status.code(), Some(if stop { 143 } else { 5 }), "{format}");
        scenario.until_quiet();
    }
}
