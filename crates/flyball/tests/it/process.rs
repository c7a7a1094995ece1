//! Supervised programs with their whole tree.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use flyball::platform;
use flyball::process::{
    Input, InputPipe, KeeperProgram, ProcessEvent, ReadyKeeper, Spec, StartError, Stream,
    Supervised,
};
use flyball_core::RunId;
use flyball_core::effect::Force;
use flyball_core::event::ExitHow;

const KEEPER: &str = env!("CARGO_BIN_EXE_flyball");
/// Far above anything a healthy machine needs; only a hang reaches it.
const LONG: Duration = Duration::from_mins(1);
/// Given to the re-executed test binary that supervises and is killed.
const WORKER: &str = "FLYBALL_TEST_SUPERVISOR";
/// Tells the reader that it is to read.
const READER: &str = "FLYBALL_TEST_READER";

fn script(text: &str, dir: &Path) -> Spec {
    let mut spec = Spec::new("sh", dir);
    spec.args = vec!["-c".to_owned(), text.to_owned()];
    spec
}

fn keeper() -> KeeperProgram {
    KeeperProgram::At(PathBuf::from(KEEPER))
}

fn start(spec: &Spec) -> Result<(Supervised, Receiver<ProcessEvent>), StartError> {
    start_by(None, spec)
}

fn start_by(
    ready: Option<ReadyKeeper>,
    spec: &Spec,
) -> Result<(Supervised, Receiver<ProcessEvent>), StartError> {
    let (sender, receiver) = sync_channel(4);
    let supervised = Supervised::start_ready(&keeper(), ready, spec, move |event| {
        sender.send(event).ok();
    })?;
    Ok((supervised, receiver))
}

struct Ended {
    how: ExitHow,
    swept: u32,
    out: String,
    err: String,
}

fn finish(events: &Receiver<ProcessEvent>) -> Ended {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    loop {
        match events.recv_timeout(LONG).expect("the program ends") {
            ProcessEvent::Started { .. } => {}
            ProcessEvent::Output { stream: Stream::Stdout, bytes } => out.extend(bytes),
            ProcessEvent::Output { stream: Stream::Stderr, bytes } => err.extend(bytes),
            ProcessEvent::Exited { how, swept } => {
                let text = |bytes| String::from_utf8(bytes).unwrap();
                return Ended { how, swept, out: text(out), err: text(err) };
            }
        }
    }
}

fn run(text: &str) -> Ended {
    let dir = tempfile::tempdir().unwrap();
    let (_supervised, events) = start(&script(text, dir.path())).unwrap();
    finish(&events)
}

/// Waits until the file holds `count` process ids, one a line.
fn pids_in(file: &Path, count: usize) -> Vec<u32> {
    let limit = Deadline::after(LONG);
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        let pids: Vec<u32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
        if pids.len() >= count && text.ends_with('\n') {
            return pids;
        }
        assert!(!limit.passed(), "`{}` never held {count} ids", file.display());
        thread::sleep(Duration::from_millis(5));
    }
}

fn alive(pid: u32) -> bool {
    platform::look(pid).is_some_and(|process| !process.zombie)
}

fn gone_within(pids: &[u32], limit: Duration) -> bool {
    let limit = Deadline::after(limit);
    while pids.iter().any(|pid| alive(*pid)) {
        if limit.passed() {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

#[test]
fn the_exit_code_and_both_outputs_arrive_before_the_end_is_told() {
    let ended = run("echo out; echo err >&2; exit 7");
    assert_eq!(ended.how, ExitHow::Code(7));
    assert_eq!((ended.out.as_str(), ended.err.as_str(), ended.swept), ("out\n", "err\n", 0));
}

#[test]
fn death_by_a_signal_is_told_as_that_signal() {
    assert_eq!(run("kill -SEGV $$").how, ExitHow::Signal(11));
}

#[test]
fn the_first_event_says_that_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    let (supervised, events) = start(&script("exec sleep 0", dir.path())).unwrap();
    assert_eq!(events.recv().unwrap(), ProcessEvent::Started { pid: supervised.pid() });
    finish(&events);
}

#[test]
fn directory_environment_and_input_are_as_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("prompt.md"), "do it").unwrap();
    let mut spec = script("pwd; echo \"$A-${HOME-none}\"; cat", dir.path());
    spec.env = vec![("A".to_owned(), Some("1".to_owned())), ("HOME".to_owned(), None)];
    spec.stdin = Input::File(dir.path().join("prompt.md"));
    let (_supervised, events) = start(&spec).unwrap();
    let place = dir.path().canonicalize().unwrap();
    assert_eq!(finish(&events).out, format!("{}\n1-none\ndo it", place.display()));
}

#[test]
fn a_program_reads_what_it_is_told_while_it_runs_and_its_input_ends_with_the_writer() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = script("read -r line; echo \"heard $line\"; cat", dir.path());
    let pipe = InputPipe::new().unwrap();
    pipe.feed(&mut spec);
    let (_supervised, events) = start(&spec).unwrap();
    let mut writer = pipe.into_writer();
    writer.write_all(b"one\ntwo\n").unwrap();
    drop(writer);
    // The description is still there and holds nothing open.
    assert_eq!(finish(&events).out, "heard one\ntwo\n");
    let error = start(&spec).unwrap_err();
    assert!(error.to_string().contains("the pipe it should read from is closed"), "{error}");
}

#[test]
fn who_writes_to_a_program_that_has_ended_is_told_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = script("exit 0", dir.path());
    let pipe = InputPipe::new().unwrap();
    pipe.feed(&mut spec);
    let (_supervised, events) = start(&spec).unwrap();
    let mut writer = pipe.into_writer();
    finish(&events);
    assert_eq!(writer.write_all(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
}

#[test]
fn a_launch_larger_than_any_socket_buffer_arrives_with_its_input() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("prompt.md"), "do it").unwrap();
    let mut spec = script("cat; set | grep -c '^BIG_'", dir.path());
    let big = |n: usize| (format!("BIG_{n}"), Some("x".repeat(100_000)));
    spec.env = (0..15).map(big).collect();
    spec.stdin = Input::File(dir.path().join("prompt.md"));
    let (_supervised, events) = start(&spec).unwrap();
    assert_eq!(finish(&events).out, "do it15\n");
}

#[test]
fn no_descriptor_of_the_keeper_is_left_to_the_program() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("prompt.md"), "").unwrap();
    // Those of the shell itself are above nine.
    let text = "for n in 3 4 5 6 7 8 9; do (: <&$n) 2>/dev/null && echo $n; done; echo end";
    let mut spec = script(text, dir.path());
    spec.stdin = Input::File(dir.path().join("prompt.md"));
    let (_supervised, events) = start(&spec).unwrap();
    // What this test itself was given, any child of it has.
    let plain = Command::new("sh").args(["-c", text]).output().unwrap();
    assert_eq!(finish(&events).out, String::from_utf8(plain.stdout).unwrap());
}

#[test]
fn what_a_program_starts_descends_from_its_keeper_however_it_is_detached() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let text = "(setsid sh -c 'echo $$ >>pids; exec sleep 1000' &); echo $$ >>pids; sleep 1000";
    let (supervised, _events) = start(&script(text, dir.path())).unwrap();
    let keeper = supervised.keeper_pid();
    for pid in pids_in(&file, 2) {
        assert!(platform::descends_from(pid, keeper), "{pid} below {keeper}");
        assert!(platform::descends_from(pid, std::process::id()));
        assert!(!platform::descends_from(keeper, pid));
    }
    let mut bystander = Command::new("sleep").arg("1000").spawn().unwrap();
    let is_kept = platform::descends_from(bystander.id(), keeper);
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    assert!(!is_kept);
}

#[test]
fn without_an_input_file_reading_ends_at_once() {
    assert_eq!(run("cat; echo end").out, "end\n");
}

#[test]
fn the_program_has_no_terminal_and_a_group_of_its_own() {
    let ended = run("ps -o pgid= -p $$ | tr -d ' '; echo $$; (: </dev/tty) 2>/dev/null || echo no");
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines[0], lines[1]);
    assert_eq!(lines[2], "no");
}

#[test]
fn a_keeper_that_was_started_ahead_starts_its_program_where_it_is_told_to() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut spec = script("pwd; echo \"$A\"; exit 7", there.path());
    spec.env = vec![("A".to_owned(), Some("1".to_owned()))];
    let ready = ReadyKeeper::start(&keeper(), &Spec::new("", here.path())).unwrap();
    let pid = ready.pid();
    let (supervised, events) = start_by(Some(ready), &spec).unwrap();
    assert_eq!(supervised.keeper_pid(), pid);
    let (ended, place) = (finish(&events), there.path().canonicalize().unwrap());
    assert_eq!((ended.how, ended.out), (ExitHow::Code(7), format!("{}\n1\n", place.display())));
}

#[test]
fn a_keeper_that_was_started_ahead_and_does_not_serve_is_done_without() {
    let dir = tempfile::tempdir().unwrap();
    let spec = script("echo out", dir.path());
    let killed = ReadyKeeper::start(&keeper(), &spec).unwrap();
    assert!(platform::signal(&platform::look(killed.pid()).unwrap(), platform::Signal::Kill));
    let mut other = spec.clone();
    other.run = Some(RunId::new("another"));
    let other = ReadyKeeper::start(&keeper(), &other).unwrap();
    for ready in [killed, other] {
        let pid = ready.pid();
        let (supervised, events) = start_by(Some(ready), &spec).unwrap();
        assert_ne!(supervised.keeper_pid(), pid);
        assert_eq!(finish(&events).out, "out\n");
        assert!(!alive(pid));
    }
    let dropped = ReadyKeeper::start(&keeper(), &spec).unwrap();
    let pid = dropped.pid();
    assert!(alive(pid));
    drop(dropped);
    assert!(!alive(pid));
}

#[test]
fn a_keeper_that_stays_keeps_one_program_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = script("setsid sleep 1000 & echo out; echo err >&2; exit 3", dir.path());
    spec.keeper_stays = true;
    let (first, events) = start(&spec).unwrap();
    let pid = first.keeper_pid();
    let ended = finish(&events);
    assert_eq!((ended.how, ended.swept), (ExitHow::Code(3), 1));
    // Meant for a program that is gone: it is not the next one's.
    first.stop(Force::Kill).unwrap();
    let mut kept = first.into_keeper().unwrap();
    for code in [4, 5] {
        assert_eq!(kept.pid(), pid);
        let mut next = script(&format!("cat; echo err >&2; exit {code}"), dir.path());
        next.keeper_stays = true;
        fs::write(dir.path().join("in"), "read\n").unwrap();
        next.stdin = Input::File(dir.path().join("in"));
        let (supervised, events) = start_by(Some(kept), &next).unwrap();
        assert_eq!(supervised.keeper_pid(), pid);
        let ended = finish(&events);
        assert_eq!((ended.how, ended.swept), (ExitHow::Code(code), 0));
        assert_eq!((ended.out.as_str(), ended.err.as_str()), ("read\n", "err\n"));
        kept = supervised.into_keeper().unwrap();
    }
    // Killed in between, it is done without.
    assert!(platform::signal(&platform::look(pid).unwrap(), platform::Signal::Kill));
    spec.keeper_stays = false;
    let (supervised, events) = start_by(Some(kept), &spec).unwrap();
    assert_ne!(supervised.keeper_pid(), pid);
    assert_eq!(finish(&events).how, ExitHow::Code(3));
    assert!(supervised.into_keeper().is_err(), "it was not told to stay");
}

#[test]
fn a_program_of_a_keeper_that_stays_ends_with_what_holds_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = script("echo $$; exec sleep 1000", dir.path());
    spec.keeper_stays = true;
    let (supervised, events) = start(&spec).unwrap();
    let keeper = supervised.keeper_pid();
    let supervised = supervised.into_keeper().unwrap_err();
    drop(supervised);
    assert!(matches!(finish(&events).how, ExitHow::Signal(9)));
    assert!(gone_within(&[keeper], LONG), "the keeper stayed");
}

#[test]
fn what_was_detached_is_swept_when_the_program_ends() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let text = "
        : >pids
        setsid sh -c 'echo $$ >>pids; exec sleep 1000' &
        nohup sh -c 'echo $$ >>pids; exec sleep 1000' >/dev/null 2>&1 &
        (setsid sh -c '(trap \"\" TERM HUP; echo $$ >>pids; sleep 1000; sleep 1000) & echo $! >>pids; sleep 1000' &)
        while [ $(wc -l <pids) -lt 4 ]; do sleep 0.01; done; exit 3";
    let (_supervised, events) = start(&script(text, dir.path())).unwrap();
    let ended = finish(&events);
    assert_eq!(ended.how, ExitHow::Code(3));
    assert!(ended.swept >= 4, "only {} swept", ended.swept);
    assert!(pids_in(&file, 4).iter().all(|pid| !alive(*pid)));
}

#[test]
fn the_end_is_told_although_a_grandchild_holds_the_output_open() {
    let ended = run("setsid sleep 1000 & echo done");
    assert_eq!((ended.how, ended.out.as_str(), ended.swept), (ExitHow::Code(0), "done\n", 1));
}

#[test]
fn each_force_reaches_the_whole_tree() {
    for (force, signal) in [(Force::Interrupt, "INT"), (Force::Terminate, "TERM")] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pids");
        let text = format!(
            "trap 'echo leader {signal}; exit 5' {signal}
             setsid -w sh -c 'trap \"echo child {signal}; exit 0\" {signal}; echo $$ >>pids; while :; do sleep 0.01; done'
             while :; do sleep 0.01; done"
        );
        let mut spec = script(&text, dir.path());
        spec.sweep_grace = LONG;
        let (supervised, events) = start(&spec).unwrap();
        pids_in(&file, 1);
        supervised.stop(force).unwrap();
        let ended = finish(&events);
        assert_eq!(ended.how, ExitHow::Code(5));
        for who in ["leader", "child"] {
            assert!(ended.out.contains(&format!("{who} {signal}\n")), "{}", ended.out);
        }
    }
}

#[test]
fn a_program_that_ignores_every_request_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let text = "trap '' INT TERM HUP; setsid sh -c 'echo $$ >>pids; sleep 1000; sleep 1000' &
        echo $$ >>pids; sleep 1000; sleep 1000; sleep 1000";
    let (supervised, events) = start(&script(text, dir.path())).unwrap();
    let pids = pids_in(&file, 2);
    supervised.stop(Force::Interrupt).unwrap();
    supervised.stop(Force::Terminate).unwrap();
    thread::sleep(Duration::from_millis(100));
    assert!(alive(supervised.pid()));
    supervised.stop(Force::Kill).unwrap();
    assert_eq!(finish(&events).how, ExitHow::Signal(9));
    assert!(pids.iter().all(|pid| !alive(*pid)));
    supervised.stop(Force::Kill).unwrap();
}

#[test]
fn a_program_that_forks_without_end_dies() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let text = "f() { n=0; while [ $n -lt 4000 ]; do sh -c 'setsid sleep 1000 & sleep 1000' & n=$((n+1)); sleep 0.002; done; }
        f & echo $! >>pids; f & echo $! >>pids; f";
    let (supervised, events) = start(&script(text, dir.path())).unwrap();
    let keeper = supervised.keeper_pid();
    let pids = pids_in(&file, 2);
    thread::sleep(Duration::from_millis(300));
    supervised.stop(Force::Kill).unwrap();
    assert_eq!(finish(&events).how, ExitHow::Signal(9));
    assert!(gone_within(&pids, LONG) && gone_within(&[keeper], LONG));
}

#[test]
fn dropping_it_ends_everything_before_the_drop_returns() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let text = "trap '' TERM; setsid sh -c 'echo $$ >>pids; sleep 1000' & echo $$ >>pids; sleep 1000; sleep 1000";
    let (supervised, events) = start(&script(text, dir.path())).unwrap();
    let pids = pids_in(&file, 2);
    drop(supervised);
    assert!(pids.iter().all(|pid| !alive(*pid)));
    assert_eq!(finish(&events).how, ExitHow::Signal(9));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["flyball-no-such-agent", "./flyball-no-such-agent"] {
        let error = start(&Spec::new(name, dir.path())).unwrap_err();
        assert!(matches!(&error, StartError::NotFound { program } if program == name), "{error}");
        assert!(error.to_string().contains(name));
    }
}

#[test]
fn what_cannot_be_started_says_why() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("plain"), "x").unwrap();
    let error = start(&Spec::new("./plain", dir.path())).unwrap_err();
    assert!(matches!(&error, StartError::Refused { why, .. } if why.contains("denied")), "{error}");
    let error = start(&Spec::new("sh", dir.path().join("nowhere"))).unwrap_err();
    assert!(matches!(error, StartError::NoDirectory { .. }), "{error}");
    let mut spec = Spec::new("sh", dir.path());
    spec.stdin = Input::File(PathBuf::from("/nonexistent/prompt"));
    let error = start(&spec).unwrap_err();
    assert!(error.to_string().contains("/nonexistent/prompt"), "{error}");
}

/// What a process holds of its own. Its code is mapped, and in a debug build there is much of it.
fn held_kib(pid: u32) -> u64 {
    flyball_testkit::memory::held_kib(pid).unwrap()
}

#[test]
fn two_hundred_megabytes_of_output_are_never_held_in_memory() {
    // In a process of its own: what other tests hold beside it says nothing.
    let read = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process::reader_of_two_hundred_megabytes", "--nocapture"])
        .env(READER, "1")
        .output()
        .unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
}

/// Not a test of its own: reads what a program prints and looks at what that takes.
#[test]
fn reader_of_two_hundred_megabytes() {
    if std::env::var_os(READER).is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let spec = script("head -c 200000000 /dev/zero", dir.path());
    let before = held_kib(std::process::id());
    let (supervised, events) = start(&spec).unwrap();
    let (mut total, mut most) = (0, 0);
    loop {
        match events.recv_timeout(LONG).unwrap() {
            ProcessEvent::Started { .. } => {}
            ProcessEvent::Output { bytes, .. } => {
                assert!(bytes.len() <= 64 * 1024);
                total += bytes.len();
                if total % (64 * 64 * 1024) < bytes.len() {
                    thread::sleep(Duration::from_millis(2));
                    most = most.max(held_kib(std::process::id()));
                    let keeper = held_kib(supervised.keeper_pid());
                    assert!(keeper < 4 * 1024, "the keeper holds {keeper} KiB");
                }
            }
            ProcessEvent::Exited { how, .. } => break assert_eq!(how, ExitHow::Code(0)),
        }
    }
    assert_eq!(total, 200_000_000);
    assert!(most > 0 && most < before + 100 * 1024, "from {before} to {most} KiB");
}

/// Not a test of its own: supervises a program until it is killed.
#[test]
fn supervisor_to_be_killed() {
    let Ok(dir) = std::env::var(WORKER) else { return };
    let mut spec = script(
        "trap '' TERM INT HUP; echo $$ >>pids; setsid sh -c 'echo $$ >>pids; sleep 1000' &
         sleep 1000; sleep 1000",
        Path::new(&dir),
    );
    spec.env = vec![("FLYBALL_RUN".to_owned(), Some(dir.clone()))];
    let (supervised, events) = start(&spec).unwrap();
    fs::write(Path::new(&dir).join("keeper"), format!("{}\n", supervised.keeper_pid())).unwrap();
    finish(&events);
}

fn worker(dir: &Path) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process::supervisor_to_be_killed", "--nocapture"])
        .env(WORKER, dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn when_flyball_is_killed_the_whole_tree_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let mut worker = worker(dir.path());
    let mut pids = pids_in(&dir.path().join("pids"), 2);
    pids.extend(pids_in(&dir.path().join("keeper"), 1));
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert!(gone_within(&pids, Duration::from_secs(5)));
}

#[test]
fn leftovers_of_a_killed_keeper_are_found_by_their_run_and_ended() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunId::new(dir.path().to_str().unwrap());
    let mut worker = worker(dir.path());
    let pids = pids_in(&dir.path().join("pids"), 2);
    let keeper = pids_in(&dir.path().join("keeper"), 1);
    let mut bystander = Command::new("sleep").arg("1000").env("FLYBALL_RUN", "x").spawn().unwrap();
    // Stopped, flyball cannot end what its keeper leaves. The other way round it would be no use: a
    // keeper, even a stopped one, is woken by the death of its flyball and cleans up.
    let (flyball, keeper) = (worker.id(), keeper[0]);
    let steps = [("-STOP", flyball), ("-KILL", keeper), ("-KILL", flyball)];
    for (signal, pid) in steps {
        assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
    }
    worker.wait().unwrap();
    // A program that is just being started shows no environment for a moment.
    let limit = Deadline::after(LONG);
    let mut found = flyball::process::leftovers(&run);
    while !pids.iter().all(|pid| found.contains(pid)) {
        assert!(!limit.passed(), "{pids:?} are not all in {found:?}");
        thread::sleep(Duration::from_millis(10));
        found = flyball::process::leftovers(&run);
    }
    let ended = flyball::process::end_leftovers(&run);
    assert!(pids.iter().all(|pid| ended.contains(pid) && !alive(*pid)));
    assert!(flyball::process::leftovers(&run).is_empty());
    assert!(alive(bystander.id()));
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[test]
fn when_only_the_keeper_is_killed_its_session_is_ended_and_the_loss_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let text = "trap '' TERM; sleep 1000 & echo $! >>pids; echo $$ >>pids; sleep 1000; sleep 1000";
    let (supervised, events) = start(&script(text, dir.path())).unwrap();
    let pids = pids_in(&file, 2);
    Command::new("kill").args(["-9", &supervised.keeper_pid().to_string()]).status().unwrap();
    let ended = finish(&events);
    assert_eq!(ended.how, ExitHow::Lost);
    assert!(gone_within(&pids, LONG));
}

#[test]
fn signals_of_the_terminal_do_not_end_a_keeper() {
    let dir = tempfile::tempdir().unwrap();
    let (supervised, events) = start(&script("sleep 0.2; exit 4", dir.path())).unwrap();
    let keeper = supervised.keeper_pid().to_string();
    for signal in ["-INT", "-TERM", "-HUP"] {
        assert!(Command::new("kill").args([signal, &keeper]).status().unwrap().success());
    }
    assert_eq!(finish(&events).how, ExitHow::Code(4));
}

#[test]
fn a_keeper_without_a_flyball_ends_at_once() {
    let status = Command::new(KEEPER).arg("__keeper").stdin(Stdio::null()).status().unwrap();
    assert!(status.code().is_some());
}

#[test]
fn work_of_any_process_of_the_tree_counts_as_cpu_time() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let text = "setsid sh -c 'echo $$ >>pids; while :; do :; done' & sleep 1000";
    let (supervised, _events) = start(&script(text, dir.path())).unwrap();
    pids_in(&file, 1);
    let limit = Deadline::after(LONG);
    while supervised.cpu() < Duration::from_millis(50) {
        assert!(!limit.passed(), "no CPU time was seen");
        thread::sleep(Duration::from_millis(10));
    }
}
