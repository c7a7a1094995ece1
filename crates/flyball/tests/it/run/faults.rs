//! flyball itself fails in the middle of a run: the end is told like any other, with what is known, why,
//! and what to do; nothing is left running.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::scenario::{Scenario, timed};

/// An agent that does something to flyball's surroundings, then works on.
fn doing(deed: &str) -> Scenario {
    Scenario::new()
        .committed()
        .agent(&format!(
            "{deed}; echo did > $OUT/did; for i in 1 2 3 4 5 6; do echo on; sleep 0.5; done; work"
        ))
        .env("FLYBALL_LIMITS__STOP_GRACE", "300ms")
        .flags(&["--max-iterations", "2"])
}

#[test]
fn a_journal_that_is_deleted_or_replaced_is_noticed_and_told_at_once() {
    for (deed, word) in [
        ("rm $OUT/state/journal.sqlite*", "deleted or moved"),
        ("mv $OUT/state/journal.sqlite $OUT/state/gone", "deleted or moved"),
        ("rm $OUT/state/journal.sqlite-wal", "deleted or moved"),
        (
            "cd $OUT/state && cp journal.sqlite x && mv x journal.sqlite; cd - >/dev/null",
            "replaced",
        ),
        ("rm $OUT/state/journal.sqlite && mkfifo $OUT/state/journal.sqlite", "while it was in use"),
    ] {
        // With the shield on, no agent gets so far.
        let scenario = doing(deed).env("FLYBALL_SANDBOX__SHIELD", "off");
        let (ran, took) = timed(|| scenario.run());
        let ran = ran.ended(74).saying("fault (code 74)").saying(word).saying("Next:");
        assert!(took < 30_000, "{deed}: {took} ms\n{}", ran.stderr);
    }
}

#[test]
fn a_foreign_reader_that_opens_and_closes_the_journal_harms_nothing() {
    let script = "work; [ $n -lt 4 ] && exit 0; pass a; pass b";
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"true\"\n";
    let scenario = Scenario::new().config(gate).committed().agent(script);
    let running = scenario.spawn();
    let path = scenario.state().join("journal.sqlite");
    for _ in 0..60 {
        if let Ok(reader) = rusqlite::Connection::open(&path) {
            // The last one to close tidies up and removes the file of changes, unless others hold it.
            reader
                .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0))
                .ok();
        }
        thread::sleep(Duration::from_millis(25));
    }
    running.wait().ended(0);
    let journal = scenario.journal();
    journal.check().unwrap();
    let run = scenario.last_run();
    let events = journal.events(&run.run).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    assert!(events.len() > 10);
}

#[test]
fn a_worktree_or_a_loop_folder_that_is_gone_ends_the_run_with_a_summary() {
    let ran = doing("rm -rf .git").run();
    assert!(ran.code != 0 && ran.left.is_empty(), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("flyball summary").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("Next:"), "{}", ran.stderr);
    let ran = doing("cd ..; rm -rf repo; mkdir -p repo").run();
    assert!(ran.code != 0 && ran.left.is_empty(), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("flyball summary").count(), 1, "{}", ran.stderr);
    let ran = doing("rm -rf .flyball").run();
    assert_eq!(ran.stderr.matches("flyball summary").count(), 1, "{}", ran.stderr);
    let ran = doing("rm -rf .flyball; echo x > .flyball").run();
    assert_eq!(ran.stderr.matches("flyball summary").count(), 1, "{}", ran.stderr);
    assert!(ran.code != 0 && ran.stderr.contains("Next:"), "{}", ran.stderr);
}

#[test]
fn a_damaged_index_ends_the_run_with_a_summary_that_names_git() {
    let ran = doing("printf garbage > .git/index").run();
    assert!(ran.code != 0 && ran.left.is_empty(), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("flyball summary").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("git") && ran.stderr.contains("Next:"), "{}", ran.stderr);
}

#[test]
fn a_disk_that_is_full_ends_the_run_with_a_summary() {
    // No file may grow past this: to flyball it is a full disk.
    let scenario = Scenario::new().committed().agent(
        "i=0; while [ $i -lt 400 ]; do i=$((i+1)); call $i tool$i \"{\\\"a\\\":\\\"$(printf '%500s' $i)\\\"}\"; done; sleep 1",
    ).env("FLYBALL_AGENT__OUTPUT", "flyball").env("FLYBALL_CALLS__MAX_CONSECUTIVE_FAILURES", "1000");
    let limit = "trap '' XFSZ; ulimit -f 300; exec \"$@\"";
    let output = scenario
        .program("bash")
        .args(["-c", limit, "sh", env!("CARGO_BIN_EXE_flyball")])
        .args(scenario.arguments(&["--max-iterations", "3"]))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(74), "{stderr}");
    assert_eq!(stderr.matches("flyball summary").count(), 1, "{stderr}");
    assert!(stderr.contains("fault (code 74)") && stderr.contains("--resume"), "{stderr}");
    scenario.until_quiet();
    // With room again, it goes on.
    scenario.journal().check().unwrap();
    let scenario = scenario.agent("pass a; pass b").env("FLYBALL_AGENT__OUTPUT", "text");
    fs::remove_dir_all(scenario.root().join(".flyball/logs")).ok();
    scenario.resume(&["--max-iterations", "5"]).ended(0);
}
