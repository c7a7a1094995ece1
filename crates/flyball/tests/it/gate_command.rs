//! `flyball gate`, as its user and as CI meets it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use flyball::platform;
use serde_json::Value;
use tempfile::TempDir;

/// Far above anything a healthy machine needs; only a hang reaches it.
const LONG: Duration = Duration::from_mins(1);

struct Repo {
    folder: TempDir,
}

struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Repo {
    fn new() -> Self {
        let repo = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(repo.root().join("below")).unwrap();
        let done = Command::new("git").args(["init", "-q"]).current_dir(repo.root()).status();
        assert!(done.unwrap().success());
        repo.file(".gitignore", "ran*\npid\n")
    }

    fn gates(gates: &[(&str, &str)]) -> Self {
        let table = |(name, command): &(&str, &str)| {
            format!("[[gates.check]]\nname = \"{name}\"\ncommand = '''{command}'''\n")
        };
        Self::new().file("flyball.toml", &gates.iter().map(table).collect::<String>())
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn file(self, name: &str, text: &str) -> Self {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap_or_default()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flyball"));
        command.arg("gate").args(arguments).current_dir(self.root()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.folder.path()).env("FLYBALL_STATE", self.folder.path().join("s"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn gate(&self, arguments: &[&str]) -> Said {
        self.gate_with(&[], arguments)
    }

    fn gate_with(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Said {
        let mut command = self.command(arguments);
        let output = command.env_remove("CI").envs(environment.iter().copied()).output().unwrap();
        Said {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

#[test]
fn green_exits_with_0_and_progress_goes_to_stderr() {
    let repo = Repo::gates(&[("build", "true"), ("tests", "echo hi")]);
    let said = repo.gate(&[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.stdout, "[x] build: passed\n[x] tests: passed\n");
    assert!(said.stderr.contains("[1/2] build …\nbuild: passed ("), "{}", said.stderr);
}

#[test]
fn red_exits_with_1_and_says_what_was_found() {
    let real = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../flyball-gates/tests/corpus/pytest/failing-coloured.txt"
    );
    let pytest = format!("cat {real}; exit 1");
    let repo = Repo::gates(&[("lint", "true"), ("tests", pytest.as_str())]);
    let said = repo.gate(&[]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.starts_with("# Gates: "), "{}", said.stdout);
    assert!(said.stdout.contains("assert 4 == 3") && said.stdout.contains("[x] lint: passed"));
    let json = repo.gate(&["--json"]);
    assert_eq!(json.code, Some(1));
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["green"], false);
    assert_eq!(json["gate_result"]["checks"][1]["counts"]["passed"], 3);
    assert_eq!(json["blocking_event"]["blocked_by"][0], "tests");
    let github = repo.gate(&["--format", "github"]);
    assert_eq!(github.code, Some(1));
    assert!(github.stdout.starts_with("::error file=test_cart.py,line=8,"), "{}", github.stdout);
}

#[test]
fn a_gate_is_told_that_nobody_watches_unless_someone_says_otherwise() {
    let repo = Repo::gates(&[("tests", "printf '%s\\n' \"CI is <$CI>\"; exit 1")]);
    let said = repo.gate(&["--no-cache"]);
    assert!(said.stdout.contains("CI is <1>"), "{}", said.stdout);
    let said = repo.gate_with(&[("CI", "mine")], &["--no-cache"]);
    assert!(said.stdout.contains("CI is <mine>"), "{}", said.stdout);
}

#[test]
fn the_same_tree_is_checked_once_unless_asked_to() {
    let repo = Repo::gates(&[("tests", "echo x >> ran")]);
    let times = |repo: &Repo| repo.read("ran").lines().count();
    assert_eq!(repo.gate(&[]).code, Some(0));
    let said = repo.gate(&[]);
    assert_eq!((said.code, times(&repo)), (Some(0), 1));
    assert_eq!(said.stderr, "tests: passed (known for this tree)\n");
    assert_eq!(repo.gate(&["--no-cache"]).code, Some(0));
    assert_eq!(times(&repo), 2);
    let repo = repo.file("new.txt", "content");
    assert_eq!((repo.gate(&[]).code, times(&repo)), (Some(0), 3));
}

#[test]
fn what_was_checked_while_files_changed_is_not_taken_for_known() {
    let repo = Repo::gates(&[("tests", "echo x >> ran; date +%N >> changing.txt")]);
    repo.gate(&[]);
    repo.gate(&[]);
    assert_eq!(repo.read("ran").lines().count(), 2);
    // Back to the tree the first check began on: it was not stored either.
    fs::remove_file(repo.root().join("changing.txt")).unwrap();
    repo.gate(&[]);
    assert_eq!(repo.read("ran").lines().count(), 3);
}

#[test]
fn only_named_gates_run_and_a_wrong_name_is_a_wrong_usage() {
    let repo = Repo::gates(&[("build", "echo b >> ran"), ("tests", "false")]);
    let said = repo.gate(&["build"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.stdout, "[x] build: passed\n[~] tests: skipped (not asked for)\n");
    let said = repo.gate(&["bild"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(64), ""));
    assert!(said.stderr.contains("there is no gate `bild`"), "{}", said.stderr);
    assert!(said.stderr.contains("`build`, `tests`") && said.stderr.contains("did you mean"));
}

#[test]
fn without_gates_it_says_what_to_add() {
    let said = Repo::new().gate(&[]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(78), ""));
    assert!(said.stderr.contains("[[gates.check]]"), "{}", said.stderr);
}

#[test]
fn outside_a_repository_it_says_so() {
    let repo = Repo::new();
    fs::remove_dir_all(repo.root().join(".git")).unwrap();
    let said = repo.gate(&[]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(66), ""));
    assert!(said.stderr.contains("not in a git repository"), "{}", said.stderr);
}

#[test]
fn verify_commands_of_the_task_list_are_gates() {
    let tasks = r#"{"project": "p", "description": "d", "verifyCommands": ["echo v >> ran"],
                    "userStories": []}"#;
    let repo = Repo::gates(&[("tests", "true")]).file(".flyball/tasks.json", tasks);
    let said = repo.gate(&["verify-1"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(repo.read("ran"), "v\n");
    let said = repo.file(".flyball/tasks.json", "{").gate(&[]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(65), ""));
}

#[test]
fn it_works_from_a_folder_below() {
    let repo = Repo::gates(&[("tests", "pwd > ran")]);
    let output = repo.command(&[]).current_dir(repo.root().join("below")).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let ran = PathBuf::from(repo.read("ran").trim()).canonicalize().unwrap();
    assert_eq!(ran, repo.root().canonicalize().unwrap());
}

#[test]
fn a_journal_that_cannot_be_used_is_no_reason_not_to_check() {
    let repo = Repo::gates(&[("tests", "true")]);
    fs::write(repo.folder.path().join("s"), "a file, no folder").unwrap();
    let said = repo.gate(&[]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "[x] tests: passed\n"));
    assert!(said.stderr.starts_with("warning: "), "{}", said.stderr);
}

#[test]
fn a_signal_ends_everything_that_was_started() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let repo =
            Repo::gates(&[("tests", "setsid sleep 1000 & echo $! > pid; wait"), ("more", "true")]);
        let child = repo.command(&[]).spawn().unwrap();
        let limit = Deadline::after(LONG);
        while !repo.read("pid").ends_with('\n') {
            assert!(!limit.passed(), "the gate begins");
            thread::sleep(Duration::from_millis(5));
        }
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}");
        assert!(output.stdout.is_empty());
        let left = platform::look(repo.read("pid").trim().parse().unwrap());
        assert!(left.is_none_or(|process| process.zombie), "{signal}: {left:?}");
    }
}
