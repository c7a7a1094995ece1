//! Measures what the shell costs: journal, looks at a worktree, and keepers.
//!
//! `cargo run --release -p flyball --example shell_figures [EVENTS] [FILES]`
#![expect(clippy::print_stdout, reason = "figures are for reading")]
#![expect(clippy::unwrap_used, reason = "a measurement that fails has nothing to say")]
#![expect(clippy::disallowed_methods, reason = "measuring is what this is for")]

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use flyball::journal::{Journal, NewRun, RunFilter};
use flyball::process::{ProcessEvent, Spec, Supervised, serve_keeper_if_asked};
use flyball::worktree::Worktree;
use flyball_core::{Event, IterationNo, Moment, RunId};

fn main() -> ExitCode {
    if let Some(code) = serve_keeper_if_asked() {
        return code;
    }
    let mut args = std::env::args().skip(1);
    let events = args.next().map_or(1_000_000, |count| count.parse().unwrap());
    let files = args.next().map_or(5_000, |count| count.parse().unwrap());
    journal(events);
    worktree(files);
    process();
    ExitCode::SUCCESS
}

/// The median of many goes.
fn median(goes: usize, mut go: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..goes)
        .map(|_| {
            let since = Instant::now();
            go();
            since.elapsed()
        })
        .collect();
    times.sort();
    times.get(goes / 2).copied().unwrap_or_default()
}

fn journal(events: u64) {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(dir.path()).unwrap();
    let run = RunId::new("run");
    let (root, agent) = (dir.path().to_path_buf(), "agent".to_owned());
    let started = Moment::from_millis(1);
    let new = NewRun { run: run.clone(), root, agent, pid: 1, started, max_iterations: 0 };
    journal.start_run(&new).unwrap();
    let event = Event::ShellFailed { why: "x".repeat(350) };
    let one = median(20_000, || {
        journal.append(&run, started, &event).unwrap();
    });
    println!("journal: append one event of 400 bytes          {one:?}");
    let batch = vec![(started, &event); 1000];
    let since = Instant::now();
    for _ in 0..events / 1000 {
        journal.append_all(&run, &batch).unwrap();
    }
    println!("journal: append {events} more, 1000 at a time  {:?}", since.elapsed());
    let listed = median(200, || {
        journal.runs(&RunFilter::default()).unwrap();
    });
    println!("journal: list runs                              {listed:?}");
    let since = Instant::now();
    let count = journal.events(&run).unwrap().map(Result::unwrap).count();
    println!("journal: read back {count} events              {:?}", since.elapsed());
    let opened = median(200, || drop(Journal::open(dir.path()).unwrap()));
    println!("journal: open while another has it open         {opened:?}");
    let session = median(2000, || {
        journal.with_session("s", started, |_| (Some(vec![0; 4096]), ())).unwrap();
    });
    println!("journal: change a session of 4 KiB              {session:?}");
}

fn git(dir: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=user", "-c", "user.email=user@localhost"];
    let output = Command::new("git").current_dir(dir).args(identity).args(args).output().unwrap();
    assert!(output.status.success());
}

fn worktree(files: u32) {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q"]);
    for number in 0..files {
        let folder = dir.path().join(format!("d{}", number / 100));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{number}.txt")), format!("{number}\n").repeat(50)).unwrap();
    }
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["commit", "-q", "-m", "all"]);
    std::thread::sleep(Duration::from_millis(2100));
    git(dir.path(), &["status"]);
    let mut worktree = Worktree::open(dir.path()).unwrap();
    let tasks = Path::new(".flyball/tasks.json");
    let since = Instant::now();
    worktree.snapshot(".flyball", tasks).unwrap();
    println!("worktree: {files} files, first look                {:?}", since.elapsed());
    let fast = median(50, || {
        worktree.snapshot(".flyball", tasks).unwrap();
    });
    println!("worktree: look, nothing changed                 {fast:?}");
    let mut number = 0;
    let slow = median(30, || {
        number += 1;
        fs::write(dir.path().join("d0/0.txt"), number.to_string()).unwrap();
        worktree.snapshot(".flyball", tasks).unwrap();
    });
    println!("worktree: look, one file changed                {slow:?}");
    let (run, mut iteration) = (RunId::new("run"), IterationNo::BASELINE);
    let snapshot = worktree.snapshot(".flyball", tasks).unwrap();
    let same = median(30, || {
        iteration = iteration.next();
        worktree.checkpoint(&run, iteration, &snapshot.checkpoint_tree).unwrap();
    });
    println!("worktree: checkpoint of an unchanged tree       {same:?}");
    let spawn = median(50, || git(dir.path(), &["version"]));
    println!("worktree: one call of git, for scale            {spawn:?}");
}

fn process() {
    let spec = Spec::new("true", "/");
    let kept = median(100, || {
        let (sender, receiver) = sync_channel(4);
        let running = Supervised::start(&spec, move |event| {
            sender.send(event).ok();
        });
        let running = running.unwrap();
        while !matches!(receiver.recv(), Ok(ProcessEvent::Exited { .. })) {}
        drop(running);
    });
    let bare = median(100, || assert!(Command::new("true").status().unwrap().success()));
    println!("process: `true` under a keeper, start to end    {kept:?} (bare {bare:?})");
    let mut spec = Spec::new("sh", "/");
    spec.args = vec!["-c".to_owned(), "sleep 1000 & setsid sleep 1000 & sleep 1000".to_owned()];
    let dropped = median(30, || {
        let running = Supervised::start(&spec, |_| {}).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        drop(running);
    });
    println!("process: start, 20 ms, drop a tree of four      {dropped:?}");
    let mut spec = Spec::new("head", "/");
    spec.args = ["-c", "1000000000", "/dev/zero"].map(str::to_owned).to_vec();
    let since = Instant::now();
    let (sender, receiver) = sync_channel(4);
    let running = Supervised::start(&spec, move |event| {
        sender.send(event).ok();
    });
    let running = running.unwrap();
    while !matches!(receiver.recv(), Ok(ProcessEvent::Exited { .. })) {}
    println!("process: 1 GB of output                         {:?}", since.elapsed());
    drop(running);
}
