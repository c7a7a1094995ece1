//! `flyball watch` in a terminal of our own: what a person sees, types and is left with.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use flyball::cli::watch::Screen;
use flyball::clock::Deadline;
use flyball::platform::{self, Signal};
use flyball_core::Outcome;

use crate::home::Home;
use crate::pty::Terminal;
use crate::scenario::{LONG, Scenario};

const QUESTION: &str = "## Question (from iteration 2, x)\nSockets or polling?\n---\n## Answer\n\n";
/// How a terminal is left as it was.
const LEAVES: &str = "\u{1b}[?1049l";
const SHOWS_CURSOR: &str = "\u{1b}[?25h";

fn watch(home: &Home, more: &[&str], env: &[(&str, &str)], size: (u16, u16)) -> Terminal {
    let mut command = home.command(&[]);
    command.env("LANG", "C.UTF-8").env("TERM", "xterm-256color").envs(env.iter().copied());
    let arguments: Vec<&str> = ["watch"].iter().chain(more).copied().collect();
    Terminal::with_keys(command, &arguments, size)
}

fn has(rows: &[String], part: &str) -> bool {
    rows.iter().any(|row| row.contains(part))
}

fn signal(terminal: &Terminal, signal: Signal) {
    assert!(platform::signal(&platform::look(terminal.pid()).unwrap(), signal));
}

#[test]
fn the_list_is_drawn_resized_and_left_with_a_line_for_what_ended() {
    let home = Home::new();
    let run = home.begin("r-alpha");
    home.begin_lost("r-lost");
    let terminal = watch(&home, &[], &[], (60, 16));
    terminal.until(|rows| {
        has(rows, " flyball  1 needs you · 1 at work")
            && has(rows, " ! shop  lost")
            && has(rows, " ● shop  iterating")
    });
    assert!(terminal.is_raw());
    terminal.resize(200, 50);
    terminal.until(|rows| has(rows, "r report  o browser  / filter  q quit") && rows.len() == 50);
    terminal.resize(60, 16);
    terminal.until(|rows| rows.len() == 16 && has(rows, "↵ open  a answer"));
    // It is told without a key.
    home.end(&run, Outcome::Complete);
    terminal.until(|rows| has(rows, "complete") && has(rows, "0 at work"));
    terminal.types("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0, "{raw}");
    let (_, after) = raw.rsplit_once(LEAVES).unwrap();
    assert!(raw.contains(SHOWS_CURSOR), "{raw:?}");
    assert_eq!(
        after.matches("shop  r-alpha  complete: 3 iterations · 1 of 2 stories · $1.23").count(),
        1,
        "{after:?}"
    );
    assert!(!after.contains("r-lost"), "{after:?}");
}

#[test]
fn an_answer_is_typed_while_the_journal_changes_and_reaches_the_file() {
    let home = Home::new();
    let run = home.begin("r-asks");
    home.end(&run, Outcome::Decide);
    home.file(".flyball/decide.txt", QUESTION);
    let terminal = watch(&home, &[], &[], (80, 24));
    terminal.until(|rows| has(rows, "! shop  asks") && has(rows, "\"Sockets or polling?\""));
    terminal.types("apoll");
    terminal.until(|rows| has(rows, "poll_"));
    let other = home.begin_elsewhere("r-other");
    terminal.until(|rows| has(rows, "1 at work") && has(rows, "poll_"));
    home.end(&other, Outcome::Complete);
    terminal.types("ing");
    terminal.until(|rows| has(rows, "polling_") && has(rows, "0 at work"));
    terminal.types("\r");
    terminal.until(|rows| has(rows, "Answered: Sockets or polling?"));
    assert!(home.read(".flyball/decide.txt").ends_with("## Answer\npolling\n"));
    let acts = home.journal().acts(&run, 10).unwrap();
    assert_eq!(acts.len(), 1);
    assert_eq!((acts[0].act.as_str(), acts[0].by.as_str()), ("answer", "terminal"));
    // It does not need anybody any more.
    terminal.until(|rows| has(rows, " flyball  0 at work"));
    terminal.types("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn the_editor_answers_and_the_screen_comes_back() {
    let home = Home::new();
    let run = home.begin("r-asks");
    home.end(&run, Outcome::Decide);
    home.file(".flyball/decide.txt", QUESTION);
    home.file("editor.sh", "#!/bin/sh\necho by hand >> \"$1\"\n");
    let editor = format!("sh {}", home.root().join("editor.sh").display());
    let terminal = watch(&home, &[], &[("EDITOR", &editor)], (80, 24));
    terminal.until(|rows| has(rows, "! shop  asks"));
    terminal.types("a\u{5}");
    terminal
        .until(|rows| has(rows, "Answered: Sockets or polling?") && !has(rows, "Ctrl-E editor"));
    assert!(home.read(".flyball/decide.txt").ends_with("## Answer\nby hand\n"));
    assert!(terminal.is_raw());
    terminal.types("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn a_run_at_work_is_opened_stopped_and_its_end_is_seen() {
    let scenario = Scenario::new()
        .committed()
        .speaker("text 'I begin.'\ncall 1 Bash '{\"command\":\"make\"}'\nsleep 600");
    let running = scenario.spawn();
    let limit = Deadline::after(LONG);
    while scenario.journal().runs(&flyball::journal::RunFilter::default()).unwrap().is_empty() {
        assert!(!limit.passed());
        thread::sleep(Duration::from_millis(20));
    }
    let mut command = scenario.program(env!("CARGO_BIN_EXE_flyball"));
    command.env("LANG", "C.UTF-8").env("TERM", "xterm-256color");
    let terminal = Terminal::with_keys(command, &["watch"], (120, 30));
    terminal.until(|rows| has(rows, "● ") && has(rows, "Bash make"));
    terminal.types("\r");
    terminal
        .until(|rows| has(rows, "ITERATING") && has(rows, " says done") && has(rows, "esc back"));
    terminal.types("e");
    terminal.until(|rows| has(rows, "START  #1"));
    terminal.types("\u{1b}");
    terminal.until(|rows| has(rows, " says done"));
    terminal.types("s");
    terminal.until(|rows| has(rows, "Its agent is ended"));
    terminal.types("y");
    terminal.until(|rows| has(rows, "TERMINATED"));
    terminal.types("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    running.wait().ended(143);
    assert!(raw.rsplit_once(LEAVES).unwrap().1.contains("terminated: 1 iteration"), "{raw:?}");
}

#[test]
fn without_colour_and_without_utf8_it_is_plain() {
    let home = Home::new();
    home.begin("r-alpha");
    let plain = [("NO_COLOR", "1"), ("LANG", "C"), ("LC_ALL", "")];
    let terminal = watch(&home, &[], &plain, (80, 24));
    terminal.until(|rows| has(rows, " * shop  iterating") && has(rows, "E open"));
    terminal.types("q");
    let (_, raw) = terminal.end();
    assert!(raw.is_ascii(), "{raw:?}");
    for colour in 30..=37 {
        assert!(!raw.contains(&format!("\u{1b}[{colour}m")), "{raw:?}");
        assert!(!raw.contains(&format!("\u{1b}[38;5;{}m", colour - 30)), "{raw:?}");
    }
}

#[test]
fn signals_give_the_terminal_back() {
    let home = Home::new();
    home.begin("r-alpha");
    for (sent, code) in [(Signal::Terminate, 143), (Signal::Interrupt, 130)] {
        let terminal = watch(&home, &[], &[], (80, 24));
        terminal.until(|rows| has(rows, "● shop"));
        signal(&terminal, sent);
        let (ended, raw) = terminal.end();
        assert_eq!(ended, code);
        assert!(raw.contains(LEAVES) && raw.contains(SHOWS_CURSOR), "{raw:?}");
    }
    // Ctrl-Z: the shell has the terminal until it goes on.
    let terminal = watch(&home, &[], &[], (80, 24));
    terminal.until(|rows| has(rows, "● shop"));
    terminal.types("\u{1a}");
    let limit = Deadline::after(LONG);
    while !platform::is_stopped(terminal.pid()) {
        assert!(!limit.passed(), "it does not stop");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(!terminal.is_raw());
    terminal.until(|rows| !has(rows, "● shop"));
    signal(&terminal, Signal::Continue);
    terminal.until(|rows| has(rows, "● shop"));
    assert!(terminal.is_raw());
    terminal.types("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn a_terminal_that_is_gone_ends_it() {
    let home = Home::new();
    home.begin("r-alpha");
    let terminal = watch(&home, &[], &[], (80, 24));
    terminal.until(|rows| has(rows, "● shop"));
    let mut child = terminal.closed();
    let limit = Deadline::after(LONG);
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        assert!(!limit.passed(), "it goes on without a terminal");
        thread::sleep(Duration::from_millis(20));
    };
    assert!(ended.code() != Some(0), "{ended}");
}

/// The name of the test below, which is started anew by itself in a terminal.
const PANICS: &str = "watch::a_panic_gives_the_terminal_back";

#[test]
fn a_panic_gives_the_terminal_back() {
    if std::env::var_os("FLYBALL_TEST_PANICS").is_some() {
        let mut screen = Screen::enter().unwrap();
        screen.draw(|_| {}).unwrap();
        panic!("it was meant to");
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env("FLYBALL_TEST_PANICS", "1").env("TERM", "xterm-256color");
    let terminal = Terminal::with_keys(
        command,
        &["--exact", PANICS, "--nocapture", "--test-threads=1"],
        (80, 24),
    );
    let (code, raw) = terminal.end();
    assert_ne!(code, 0, "{raw}");
    let (before, after) = raw.split_once(LEAVES).unwrap();
    assert!(before.contains("\u{1b}[?1049h") && after.contains("it was meant to"), "{raw:?}");
}

#[test]
fn agents_cannot_drive_the_terminal_through_it() {
    let home = Home::new();
    let run = home.begin("r-asks");
    home.end(&run, Outcome::Decide);
    let hostile = "## Question\n\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31mReally?\n---\n## Answer\n\n";
    home.file(".flyball/decide.txt", hostile);
    let terminal = watch(&home, &[], &[], (80, 24));
    terminal.until(|rows| has(rows, "Really?"));
    terminal.types("\r");
    terminal.until(|rows| has(rows, "esc back"));
    terminal.types("q");
    let (_, raw) = terminal.end();
    assert!(!raw.contains("owned") && !raw.contains('\u{7}') && !raw.contains('\u{9b}'), "{raw:?}");
}

#[test]
fn looking_only_changes_nothing_and_the_resume_command_is_copied() {
    let home = Home::new();
    let run = home.begin("r-stuck");
    home.end(&run, Outcome::Stuck);
    let terminal = watch(&home, &["--read-only", "r-stuck"], &[], (80, 24));
    terminal.until(|rows| has(rows, "shop › r-stuck  STUCK"));
    terminal.types("u");
    terminal.until(|rows| has(rows, "--read-only: nothing is changed from here."));
    terminal.types("y");
    terminal.until(|rows| has(rows, "Copied: flyball -C"));
    terminal.types("r");
    let written = home.state().join("reports/r-stuck.html");
    terminal.until(|rows| has(rows, "Report written to"));
    assert!(fs::read_to_string(written).unwrap().starts_with("<!DOCTYPE html>"));
    terminal.types("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert!(raw.contains("\u{1b}]52;c;Zmx5YmFsbCAtQ"), "{raw:?}");
}

#[test]
fn without_a_terminal_it_prints_what_status_prints() {
    let home = Home::new();
    home.begin("r-alpha");
    let mut child = home.command(&["watch"]).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let first = lines.next().unwrap().unwrap();
    assert!(first.trim_start().starts_with("RUN"), "{first}");
    drop(lines);
    assert_eq!(crate::home::heard(child).code, 0);
    let error = home.run(&["watch", "nobody"]).failed(66);
    assert!(error.contains("there is no run `nobody`"), "{error}");
}
