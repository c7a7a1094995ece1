//! The tamper watch on real trees.

use std::fs;
use std::path::Path;
use std::process::Command;

use flyball::config::CommandLine;
use flyball::gate::{Gate, GatePlan, tamper};
use flyball::worktree::Worktree;
use flyball_core::Millis;
use flyball_core::gate::{Finding, FindingKind};
use tempfile::TempDir;

struct Repo {
    dir: TempDir,
}

impl Repo {
    fn new() -> Self {
        let repo = Self { dir: tempfile::tempdir().unwrap() };
        let done = Command::new("git").args(["init", "-q"]).current_dir(repo.dir.path()).status();
        assert!(done.unwrap().success());
        repo
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn tree(&self) -> String {
        let mut worktree = Worktree::open(self.dir.path()).unwrap();
        worktree.snapshot(".flyball", Path::new(".flyball/tasks.json")).unwrap().checkpoint_tree
    }

    fn tamper(&self, first: &str, now: &str) -> Vec<Finding> {
        let worktree = Worktree::open(self.dir.path()).unwrap();
        let plan = plan("npm run test");
        let found = tamper(&worktree, (first, now), &plan, &plan).unwrap();
        found.into_iter().map(|one| one.finding).collect()
    }
}

fn plan(command: &str) -> GatePlan {
    let command = CommandLine::Shell(command.to_owned());
    GatePlan::of(vec![Gate::new("tests", command, Millis::from_secs(1))]).unwrap()
}

const TESTS: &str = "fn helper() {}\n\n#[test]\nfn it_adds() {\n    assert_eq!(add(1, 2), 3);\n}\n\n\
                     #[test]\nfn it_subtracts() {\n    assert_eq!(subtract(3, 2), 1);\n}\n";

#[test]
fn a_deleted_test_is_shown_with_the_patch() {
    let repo = Repo::new();
    repo.write("tests/a.rs", TESTS);
    repo.write("package.json", r#"{"scripts": {"test": "jest"}}"#);
    let first = repo.tree();
    assert_eq!(repo.tamper(&first, &first), []);
    repo.write(
        "tests/a.rs",
        &TESTS.replace("#[test]\nfn it_adds() {\n    assert_eq!(add(1, 2), 3);\n}\n", ""),
    );
    repo.write("package.json", "{\n\"scripts\": {\n\"test\": \"jest || true\"}}");
    repo.write("src/lib.rs", "// new\n");
    let found = repo.tamper(&first, &repo.tree());
    let [script, test] = found.as_slice() else { panic!("{found:?}") };
    assert!([script, test].iter().all(|finding| finding.kind == FindingKind::Tamper));
    assert_eq!(test.message, "test `it_adds` was deleted from tests/a.rs");
    assert_eq!((test.name.as_deref(), test.file.as_deref()), (Some("it_adds"), Some("tests/a.rs")));
    assert_eq!(test.line, Some(4));
    let patch = test.excerpt.as_deref().unwrap();
    assert!(patch.contains("-fn it_adds() {") && patch.starts_with("@@"), "{patch}");
    assert_eq!(
        test.identity("tamper"),
        "tamper:Tamper:it_adds:tests/a.rs:test `it_adds` was deleted from tests/a.rs"
    );
    assert_eq!(
        script.message,
        "`test`, which gate `tests` runs, now hides failures: `jest || true`"
    );
    assert_eq!((script.file.as_deref(), script.line), (Some("package.json"), Some(3)));
    assert!(script.excerpt.as_deref().unwrap().contains("+\"test\": \"jest || true\"}}"));
}

#[test]
fn a_moved_file_is_not_weakening_and_a_deleted_one_is() {
    let repo = Repo::new();
    repo.write("tests/a.rs", TESTS);
    let first = repo.tree();
    fs::remove_file(repo.dir.path().join("tests/a.rs")).unwrap();
    let found = repo.tamper(&first, &repo.tree());
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].message,
        "test file tests/a.rs was deleted with its 2 tests: `it_adds`, `it_subtracts`"
    );
    repo.write("tests/moved/b.rs", TESTS);
    assert_eq!(repo.tamper(&first, &repo.tree()), []);
}

#[test]
fn another_command_is_found_without_any_file() {
    let repo = Repo::new();
    repo.write("a.txt", "a");
    let tree = repo.tree();
    let worktree = Worktree::open(repo.dir.path()).unwrap();
    let found = tamper(&worktree, (&tree, &tree), &plan("cargo test"), &plan("true")).unwrap();
    let found: Vec<Finding> = found.into_iter().map(|one| one.finding).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "gate `tests` no longer runs `cargo test` but `true`");
}

#[test]
fn odd_files_are_survived() {
    let repo = Repo::new();
    repo.write("tests/binary.rs", "#[test]\nfn a() { assert!(x()); }\n");
    repo.write("tests/a b\t'ü'.rs", "#[test]\nfn b() { assert!(y()); }\n");
    let first = repo.tree();
    fs::write(repo.dir.path().join("tests/binary.rs"), [0, 159, 146, 150, b'\n']).unwrap();
    fs::remove_file(repo.dir.path().join("tests/a b\t'ü'.rs")).unwrap();
    let messages: Vec<String> =
        repo.tamper(&first, &repo.tree()).into_iter().map(|finding| finding.message).collect();
    assert_eq!(
        messages,
        [
            "test `b` was deleted from tests/a b\t'ü'.rs",
            "test `a` was deleted from tests/binary.rs"
        ]
    );
}
