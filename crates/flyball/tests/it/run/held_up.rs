//! Nothing can hold flyball up: no pipe, socket, device or link in place of a file it reads or writes,
//! no lock on its journal, no other flyball that was stopped. Limits, signals and `flyball stop` work.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use rusqlite::Connection;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

use crate::scenario::{LONG, Scenario, timed};

/// Everything a run reads or writes in the loop folder.
const LOOP_FILES: [&str; 12] = [
    "tasks.json",
    "prompt.md",
    "PROMPT.md",
    "prd.md",
    "progress.txt",
    "blocked.txt",
    "decide.txt",
    "active.json",
    ".gitignore",
    "logs/summary.csv",
    "logs/iteration-002.log",
    "responses",
];

/// The most that ending may take, on a machine that has other things to do.
const PROMPT_END: u64 = 25_000;

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn plant(kind: &str, path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::remove_file(path).ok();
    match kind {
        "pipe" => pipe(path),
        "endless" => symlink("/dev/zero", path).unwrap(),
        "terminal" => symlink("/dev/tty", path).unwrap(),
        _ => drop(UnixListener::bind(path).unwrap()),
    }
}

#[test]
fn what_stands_in_place_of_a_file_before_the_start_is_refused_or_done_without() {
    for kind in ["pipe", "endless", "socket"] {
        for name in LOOP_FILES {
            let scenario = Scenario::new().committed().agent("pass a; pass b");
            plant(kind, &scenario.root().join(".flyball").join(name));
            let ran = scenario.run();
            assert!(matches!(ran.code, 0 | 65 | 74), "{kind} {name}: {}\n{}", ran.code, ran.stderr);
            if ran.code != 0 {
                assert!(ran.stderr.contains(name), "{kind} {name}: {}", ran.stderr);
            }
        }
        for name in ["flyball.toml", "../home/.config/flyball/config.toml"] {
            let scenario = Scenario::new().committed().agent("pass a; pass b");
            plant(kind, &scenario.root().join(name));
            let error = scenario.run().refused(74);
            assert!(error.contains("and no file"), "{kind} {name}: {error}");
            for command in [&["status"][..], &["doctor"], &["config"], &["gate"], &["log"]] {
                scenario.flyball(command);
            }
        }
    }
}

#[test]
fn what_an_agent_plants_in_mid_run_holds_nothing_up() {
    let all = LOOP_FILES.join(" ");
    let kinds = [
        ("pipe", "mkfifo \"$f\"", all.as_str()),
        ("endless", "ln -s /dev/zero \"$f\"", &all),
        ("large", "head -c 104857600 /dev/zero > \"$f\"", "tasks.json"),
    ];
    for (kind, make, names) in kinds {
        let script = format!(
            "cd .flyball; for f in {names}; do rm -rf \"$f\"; {make}; done 2>/dev/null; cd ..\n\
             echo up > $OUT/up; sleep 1"
        );
        let scenario = Scenario::new()
            .committed()
            .agent(&script)
            .env("FLYBALL_LIMITS__STOP_GRACE", "300ms")
            .flags(&["--max-iterations", "3"]);
        let (ran, took) = timed(|| scenario.run());
        assert_ne!(ran.code, 0, "{kind}: {}", ran.stderr);
        assert_eq!(ran.stderr.matches("flyball summary").count(), 1, "{kind}: {}", ran.stderr);
        assert!(took < LONG.as_millis().try_into().unwrap(), "{kind}: {took} ms");
        // Nothing of a hundred megabytes was journalled, and no event of it more than once.
        let journal = fs::metadata(scenario.state().join("journal.sqlite")).unwrap().len();
        assert!(journal < 4_000_000, "{kind}: {journal} bytes");
    }
}

#[test]
fn a_pipe_where_git_reads_ends_the_run_and_is_named() {
    for place in [".gitignore", "src/.gitignore", ".git/info/exclude", ".gitattributes"] {
        let plant = format!("mkdir -p src; rm -f {place}; mkfifo {place}; echo x > new.txt");
        let scenario = Scenario::new().committed().agent(&plant).flags(&["--max-iterations", "2"]);
        let ran = scenario.run();
        assert_eq!(ran.code, 74, "{place}: {}", ran.stderr);
        assert_eq!(ran.stderr.matches("flyball summary").count(), 1, "{place}: {}", ran.stderr);
        let said = format!("`{place}` is a named pipe");
        assert!(ran.stderr.contains(&said), "{place}: {}", ran.stderr);
        // The same before a run begins: an error at once.
        let error = scenario.run().refused(74);
        assert!(error.contains(&said), "{place}: {error}");
    }
}

#[test]
fn git_that_was_stopped_is_ended_and_asked_again() {
    // The clerk is the keeper's sister: both are children of flyball.
    let stop = r"up=$(awk '{print $4}' /proc/$PPID/stat)
for p in $(cat /proc/$up/task/*/children); do
  tr '\0' ' ' < /proc/$p/cmdline | grep -q __clerk && { kill -STOP $p; echo $p > $OUT/stopped; }
done
work x; pass a; pass b";
    // Behind the shield nobody inside could.
    let scenario = Scenario::new().committed().agent(stop).env("FLYBALL_SANDBOX__SHIELD", "off");
    scenario.run().ended(0);
    assert!(!scenario.told("stopped").is_empty(), "no clerk was found");
}

#[test]
fn what_is_written_never_follows_a_link_an_agent_planted() {
    let script = r#"
cd .flyball
for f in active.json blocked.txt decide.txt logs/summary.csv logs/iteration-002.log; do
  rm -f $f; ln -s $OUT/victim $f
done
echo "$(cat tasks.json)" > $OUT/tasks; rm tasks.json; ln -s $OUT/victim tasks.json
[ $n = 2 ] && { cd ..; rm -rf .flyball; ln -s $OUT/elsewhere .flyball; }
exit 0
"#;
    let scenario = Scenario::new().committed().agent(script).flags(&["--max-iterations", "3"]);
    fs::write(scenario.outside("victim"), "theirs").unwrap();
    fs::create_dir_all(scenario.outside("elsewhere/responses")).unwrap();
    fs::write(scenario.outside("elsewhere/responses/kept"), "theirs").unwrap();
    let ran = scenario.run();
    assert_eq!(scenario.told("victim"), "theirs", "{}", ran.stderr);
    assert_eq!(scenario.told("elsewhere/responses/kept"), "theirs", "{}", ran.stderr);
    let names = fs::read_dir(scenario.outside("elsewhere")).unwrap().count();
    assert_eq!(names, 1, "nothing was written through the link:\n{}", ran.stderr);
    assert_eq!(ran.stderr.matches("flyball summary").count(), 1, "{}", ran.stderr);
}

/// Holds the journal as another program would.
fn locked(scenario: &Scenario) -> Connection {
    let connection = Connection::open(scenario.state().join("journal.sqlite")).unwrap();
    connection.busy_timeout(Duration::from_secs(20)).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    connection
}

fn at_work() -> Scenario {
    Scenario::new()
        .committed()
        .env("FLYBALL_LIMITS__STOP_GRACE", "300ms")
        .agent("echo $$ > $OUT/up; while :; do echo on; sleep 0.2; done")
}

fn until_gone(pid: u32, limit: Duration) {
    let limit = Deadline::after(limit);
    while flyball::platform::alive(pid) {
        assert!(!limit.passed(), "the agent {pid} still runs");
        thread::sleep(Duration::from_millis(20));
    }
}

fn agent(scenario: &Scenario) -> u32 {
    scenario.until_told("up", "\n");
    scenario.told("up").trim().parse().unwrap()
}

#[test]
fn a_journal_that_another_program_locks_holds_no_signal_up() {
    for signal in [Signal::TERM, Signal::INT] {
        let scenario = at_work();
        let running = scenario.spawn();
        let agent = agent(&scenario);
        let lock = locked(&scenario);
        thread::sleep(Duration::from_millis(700));
        running.signal(signal);
        until_gone(agent, Duration::from_secs(10));
        let (ran, took) = timed(|| running.wait());
        let code = if signal == Signal::TERM { 143 } else { 130 };
        let ran = ran.ended(code).saying("locked by another program").saying("--resume");
        assert!(took < PROMPT_END, "{took} ms: {}", ran.stderr);
        drop(lock);
        // What it could not write is found as lost, and goes on.
        scenario.journal().check().unwrap();
        let scenario = scenario.agent("pass a; pass b");
        scenario.resume(&[]).ended(0);
    }
}

#[test]
fn a_journal_that_another_program_locks_holds_no_limit_up() {
    let scenario = at_work().flags(&["--max-runtime", "4s"]);
    let running = scenario.spawn();
    let agent = agent(&scenario);
    let lock = locked(&scenario);
    until_gone(agent, Duration::from_secs(20));
    let (ran, took) = timed(|| running.wait());
    let ran = ran.ended(74).saying("locked by another program").saying("--resume");
    assert!(took < PROMPT_END, "{took} ms: {}", ran.stderr);
    drop(lock);
    scenario.journal().check().unwrap();
}

#[test]
fn a_run_whose_journal_is_locked_can_be_stopped_by_command() {
    let scenario = at_work();
    let running = scenario.spawn();
    agent(&scenario);
    let lock = locked(&scenario);
    let (stop, took) = timed(|| scenario.flyball(&["stop"]));
    assert!(took < 2 * PROMPT_END, "{took} ms");
    assert_eq!(stop.code, 0, "{}", stop.stderr);
    running.wait().ended(143);
    drop(lock);
}

#[test]
fn a_turn_that_somebody_keeps_is_not_waited_for() {
    let scenario = Scenario::new().committed().agent("pass a; pass b");
    scenario.run().ended(0);
    let lock = fs::File::options().write(true).open(scenario.state().join("journal.lock")).unwrap();
    lock.lock().unwrap();
    scenario.flyball(&["status"]);
    let scenario = scenario.tasks(crate::scenario::TWO_STORIES).flags(&["--max-iterations", "1"]);
    scenario.run();
}

#[test]
fn a_flyball_that_was_stopped_holds_no_other_up_and_can_be_ended() {
    let scenario = at_work();
    let running = scenario.spawn();
    agent(&scenario);
    running.signal(Signal::STOP);
    let status = scenario.flyball(&["status"]);
    assert_eq!(status.code, 0, "{}", status.stderr);
    let second = scenario.run();
    assert_eq!(second.code, 75, "{}", second.stderr);
    let stop = scenario.flyball(&["stop"]);
    assert_eq!(stop.code, 0, "{}", stop.stderr);
    running.wait().ended(143);
}

#[test]
fn a_stop_command_that_hangs_does_not_hold_the_end_up() {
    let scenario = at_work().config("[agent]\nstop_command = [\"sleep\", \"600\"]\n");
    let running = scenario.spawn();
    let agent = agent(&scenario);
    running.signal(Signal::TERM);
    until_gone(agent, Duration::from_secs(20));
    let (ran, took) = timed(|| running.wait());
    ran.ended(143);
    assert!(took < PROMPT_END, "{took} ms");
}

#[test]
fn a_flyball_that_its_agent_stops_goes_on_and_ends_at_its_limit() {
    for stop in ["kill -STOP $P; sleep 600", "while :; do kill -STOP $P; sleep 0.05; done"] {
        // The parent of the keeper. Behind the shield no signal reaches it.
        let agent = format!("P=$(awk '{{print $4}}' /proc/$PPID/stat); {stop}");
        let scenario = Scenario::new()
            .committed()
            .agent(&agent)
            .env("FLYBALL_LIMITS__STOP_GRACE", "300ms")
            .env("FLYBALL_SANDBOX__SHIELD", "off")
            .flags(&["--max-runtime", "3s"]);
        scenario.run().ended(5);
    }
}
