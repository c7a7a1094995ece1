//! A real git repository with a state folder of its own, a journal that can be written to, and the
//! program run in it.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use flyball::clock;
use flyball::journal::{Journal, NewRun, RunProgress};
use flyball_core::effect::{Ending, Tally};
use flyball_core::{IterationNo, Millis, Moment, Outcome, RunId, TaskId};
use tempfile::TempDir;

use crate::world::Said;

/// Stories that flyball accepts.
pub(crate) const TASKS: &str = r#"{"project": "shop", "userStories": [
  {"id": "A", "title": "First", "passes": true, "reviewStatus": "approved", "notes": "n"},
  {"id": "B", "title": "Second", "passes": false}
]}"#;

/// A repository, its state folder, and a home.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    /// A repository with a commit and a loop folder.
    pub(crate) fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(home.root_path()).unwrap();
        home.git(&["init", "-q", "-b", "main"]);
        home.file(".flyball/tasks.json", TASKS);
        home.file(".flyball/prompt.md", "Do {{task}}.\n");
        home.file(".flyball/.gitignore", "logs/\nblocked.txt\ndecide.txt\nactive.json\n");
        home.git(&["add", "-A"]);
        home.git(&["commit", "-q", "-m", "first"]);
        home
    }

    fn root_path(&self) -> PathBuf {
        self.folder.path().join("shop")
    }

    /// The repository's root, as runs are filed under.
    pub(crate) fn root(&self) -> PathBuf {
        self.root_path().canonicalize().unwrap()
    }

    /// The state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The journal the program uses.
    pub(crate) fn journal(&self) -> Journal {
        Journal::open(&self.state()).unwrap()
    }

    /// Writes a file of the repository.
    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The text of a file of the repository.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Whether the repository has a file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root().join(name).exists()
    }

    /// What git answers in the repository.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let identity = ["-c", "user.name=user", "-c", "user.email=user@localhost"];
        let output = Command::new("git")
            .current_dir(self.root_path())
            .args(identity)
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// The program, to be run in the repository.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flyball"));
        command
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("FLYBALL_STATE", self.state())
            .env("PATH", std::env::var_os("PATH").unwrap())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program in the repository.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        heard(self.command(arguments).spawn().unwrap())
    }

    /// Runs the program with something on its standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Said {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        heard(child)
    }

    /// Enters a run of this repository, begun an hour ago, by a process that still lives.
    pub(crate) fn begin(&self, run: &str) -> RunId {
        self.begin_by(run, std::process::id())
    }

    /// Enters a run whose process is gone.
    pub(crate) fn begin_lost(&self, run: &str) -> RunId {
        self.begin_by(run, gone())
    }

    /// Enters a run of the process with this id.
    pub(crate) fn begin_by(&self, run: &str, pid: u32) -> RunId {
        self.begin_in(self.root(), run, pid)
    }

    /// Enters a run at work in another repository.
    pub(crate) fn begin_elsewhere(&self, run: &str) -> RunId {
        self.begin_in(self.folder.path().join("elsewhere"), run, std::process::id())
    }

    fn begin_in(&self, root: PathBuf, run: &str, pid: u32) -> RunId {
        let id = RunId::new(run);
        let mut journal = self.journal();
        let started = clock::wall().minus(Millis::from_secs(3600));
        let new = NewRun {
            run: id.clone(),
            root,
            agent: "claude".to_owned(),
            pid,
            started,
            max_iterations: 15,
        };
        journal.start_run(&new).unwrap();
        let state = RunProgress {
            iteration: IterationNo::new(3),
            task: Some(TaskId::new("B")),
            phase: "iterating".to_owned(),
            tokens: 12_345,
            cost_micro_usd: 1_230_000,
            stories_complete: 1,
            stories_total: 2,
            ..RunProgress::default()
        };
        let said = flyball_core::Event::ShellFailed { why: "x".to_owned() };
        journal.append_all(&id, &[(clock::wall(), &said)]).unwrap();
        journal.update_run(&id, &state).unwrap();
        id
    }

    /// Enters how a run ended.
    pub(crate) fn end(&self, run: &RunId, outcome: Outcome) {
        self.journal().finish_run(run, clock::wall(), &ending(outcome)).unwrap();
    }
}

/// An end without trips.
pub(crate) fn ending(outcome: Outcome) -> Ending {
    let (also, left, trip) = (Vec::new(), Vec::new(), None);
    let tally = Tally {
        iterations: 3,
        runtime_ms: 61_000,
        stories_complete: 1,
        stories_total: 2,
        cost_micro_usd: 1_230_000,
        ..Tally::default()
    };
    Ending {
        outcome,
        why: "Because.".to_owned(),
        trip,
        also,
        left,
        tally,
        nothing_left: false,
        rescues: Vec::new(),
        roles: Vec::new(),
        flaky: std::collections::BTreeMap::new(),
        next_steps: Vec::new(),
    }
}

/// The id of a process that is gone.
fn gone() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

/// What the program said, once it has ended.
pub(crate) fn heard(child: Child) -> Said {
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The moment this many milliseconds after 1970.
pub(crate) fn at(millis: u64) -> Moment {
    Moment::from_millis(millis)
}
