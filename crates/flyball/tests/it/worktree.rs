//! Git as flyball reads it, and what it never touches.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use flyball::clock;
use flyball::worktree::{RewindTarget, Worktree, WorktreeError};
use flyball_core::event::WorktreeSnapshot;
use flyball_core::{IterationNo, Moment, RunId};
use tempfile::TempDir;

const TASKS: &str = ".flyball/tasks.json";

struct Repo {
    dir: TempDir,
}

impl Repo {
    fn empty() -> Self {
        let repo = Self { dir: tempfile::tempdir().unwrap() };
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    /// A repository with two files committed.
    fn new() -> Self {
        let repo = Self::empty();
        repo.write("a.txt", "one\n");
        repo.write("src/b.txt", "two\n");
        repo.commit("first");
        repo
    }

    fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.path(), args)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self, subject: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", subject]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn open(&self) -> Worktree {
        Worktree::open(&self.path()).unwrap()
    }
}

fn git(dir: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=user", "-c", "user.email=user@localhost"];
    let output = Command::new("git").current_dir(dir).args(identity).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn look(worktree: &mut Worktree) -> WorktreeSnapshot {
    worktree.snapshot(".flyball", Path::new(TASKS)).unwrap()
}

fn run_id() -> RunId {
    RunId::new("run-1")
}

#[test]
fn outside_a_repository_that_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let error = Worktree::open(dir.path()).unwrap_err();
    assert!(matches!(error, WorktreeError::NoRepository { .. }));
    assert!(error.to_string().contains("is not in a git repository"), "{error}");
    let error = Worktree::open(&dir.path().join("nowhere")).unwrap_err();
    assert!(matches!(error, WorktreeError::NoDirectory { .. }), "{error}");
}

#[test]
fn a_bare_repository_and_the_inside_of_one_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q", "--bare", "."]);
    assert!(matches!(Worktree::open(dir.path()), Err(WorktreeError::NoWorktree { .. })));
    let repo = Repo::new();
    let inside = Worktree::open(&repo.path().join(".git"));
    assert!(matches!(inside, Err(WorktreeError::NoWorktree { .. })));
}

#[test]
fn the_root_is_found_from_any_folder_below_and_in_linked_worktrees() {
    let repo = Repo::new();
    let below = Worktree::open(&repo.path().join("src")).unwrap();
    assert_eq!(below.root(), repo.path());
    assert_eq!(below.git_dir(), repo.path().join(".git"));
    let other = tempfile::tempdir().unwrap();
    let linked = other.path().canonicalize().unwrap().join("linked");
    repo.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap()]);
    let mut worktree = Worktree::open(&linked).unwrap();
    assert_eq!(worktree.root(), linked);
    assert!(worktree.git_dir().starts_with(repo.path().join(".git/worktrees")));
    let main = look(&mut repo.open());
    assert_eq!(look(&mut worktree), main);
}

#[test]
fn a_repository_without_commits_can_be_looked_at() {
    let repo = Repo::empty();
    let mut worktree = repo.open();
    let nothing = look(&mut worktree);
    assert_eq!(nothing.head, None);
    repo.write("a.txt", "one");
    let one = look(&mut worktree);
    assert_eq!(
        (one.uncommitted.as_slice(), one.changed.as_slice()),
        (["a.txt".to_owned()].as_slice(), ["a.txt".to_owned()].as_slice())
    );
    let hash = repo.commit("first");
    let committed = look(&mut worktree);
    assert_eq!(committed.head, Some(hash.clone()));
    assert_eq!(committed.commits.len(), 1);
    assert_eq!(committed.commits[0].hash, hash);
    assert_eq!(committed.checkpoint_tree, one.checkpoint_tree);
    assert!(committed.uncommitted.is_empty() && committed.changed.is_empty());
}

#[test]
fn the_checkpoint_tree_of_a_clean_worktree_is_the_committed_one() {
    let repo = Repo::new();
    assert_eq!(look(&mut repo.open()).checkpoint_tree, repo.git(&["rev-parse", "HEAD^{tree}"]));
}

#[test]
fn untracked_files_count_and_ignored_ones_do_not() {
    let repo = Repo::new();
    repo.write(".gitignore", "*.log\n");
    repo.write("new file ü.txt", "x");
    repo.write("debug.log", "x");
    let mut worktree = repo.open();
    let snapshot = look(&mut worktree);
    let files = worktree.list(&snapshot.checkpoint_tree).unwrap();
    assert_eq!(files, [".gitignore", "a.txt", "new file ü.txt", "src/b.txt"]);
    assert_eq!(snapshot.uncommitted, [".gitignore", "new file ü.txt"]);
}

#[test]
fn an_ignored_file_that_was_committed_counts() {
    let repo = Repo::new();
    repo.write("kept.log", "1");
    repo.git(&["add", "kept.log"]);
    repo.write(".gitignore", "*.log\n");
    repo.commit("both");
    let mut worktree = repo.open();
    let before = look(&mut worktree);
    repo.write("kept.log", "2");
    let after = look(&mut worktree);
    assert_eq!(after.changed, ["kept.log"]);
    assert_ne!(after.code_tree, before.code_tree);
}

#[test]
fn a_file_that_becomes_ignored_leaves_the_tree_whatever_was_seen_before() {
    let repo = Repo::new();
    repo.write("out.bin", "x");
    let mut worktree = repo.open();
    look(&mut worktree);
    repo.write(".gitignore", "out.bin\n");
    let snapshot = look(&mut worktree);
    assert!(!worktree.list(&snapshot.checkpoint_tree).unwrap().contains(&"out.bin".to_owned()));
    assert_eq!(snapshot.changed, [".gitignore", "out.bin"]);
    assert_eq!(snapshot.code_tree, look(&mut repo.open()).code_tree);
}

#[test]
fn each_tree_knows_what_belongs_to_it() {
    // What is written, and whether code, progress, checkpoint and the uncommitted list change.
    let cases = [
        ("src/b.txt", [true, true, true, true]),
        (".flyball/tasks.json", [false, true, true, true]),
        (".flyball/progress.txt", [false, false, true, true]),
        (".flyball/logs/iteration-001.log", [false; 4]),
        (".flyball/blocked.txt", [false; 4]),
        (".flyball/decide.txt", [false; 4]),
        (".flyball/active.json", [false; 4]),
        (".flyball/responses/1.txt", [false; 4]),
    ];
    for (path, expected) in cases {
        let repo = Repo::new();
        repo.write(".flyball/tasks.json", "{}");
        repo.commit("loop");
        let mut worktree = repo.open();
        let before = look(&mut worktree);
        repo.write(path, "changed");
        let after = look(&mut worktree);
        let changes = [
            after.code_tree != before.code_tree,
            after.progress_tree != before.progress_tree,
            after.checkpoint_tree != before.checkpoint_tree,
            after.uncommitted == [path.to_owned()],
        ];
        assert_eq!(changes, expected, "{path}");
        assert_eq!(after.changed.is_empty(), path != "src/b.txt", "{path}");
    }
}

#[test]
fn own_files_that_were_committed_still_do_not_count() {
    let repo = Repo::new();
    let without = look(&mut repo.open());
    repo.write(".flyball/logs/1.log", "x");
    repo.write(".flyball/blocked.txt", "x");
    repo.commit("oops");
    let mut worktree = repo.open();
    let with = look(&mut worktree);
    assert_eq!(worktree.list(&with.checkpoint_tree).unwrap(), ["a.txt", "src/b.txt"]);
    assert_eq!(with.code_tree, without.code_tree);
    assert!(repo.git(&["ls-files"]).contains(".flyball/blocked.txt"));
}

#[test]
fn a_task_list_that_is_ignored_counts_for_progress_all_the_same() {
    let repo = Repo::new();
    repo.write(".gitignore", ".flyball/\n");
    repo.write(TASKS, "1");
    let mut worktree = repo.open();
    let before = look(&mut worktree);
    repo.write(TASKS, "2");
    let after = look(&mut worktree);
    assert_eq!(after.code_tree, before.code_tree);
    assert_ne!(after.progress_tree, before.progress_tree);
}

#[test]
fn a_loop_folder_deep_in_the_tree_is_left_out_of_the_code() {
    let repo = Repo::new();
    let bare = repo.open().snapshot("tools/loop", Path::new("tools/loop/tasks.json")).unwrap();
    repo.write("tools/loop/tasks.json", "{}");
    let mut worktree = repo.open();
    let alone = worktree.snapshot("tools/loop", Path::new("tools/loop/tasks.json")).unwrap();
    assert_eq!(alone.code_tree, bare.code_tree);
    assert_ne!(alone.progress_tree, bare.progress_tree);
    repo.write("tools/other.txt", "x");
    let other = worktree.snapshot("tools/loop", Path::new("tools/loop/tasks.json")).unwrap();
    assert_ne!(other.code_tree, bare.code_tree);
    assert_eq!(other.changed, ["tools/other.txt"]);
}

#[test]
fn equal_content_has_equal_trees_in_another_repository() {
    let (one, two) = (Repo::new(), Repo::empty());
    two.write("src/b.txt", "two\n");
    two.write("a.txt", "one\n");
    two.write(".flyball/progress.txt", "diary");
    let (one, two) = (look(&mut one.open()), look(&mut two.open()));
    assert_eq!((one.code_tree, one.progress_tree), (two.code_tree, two.progress_tree));
}

#[test]
fn an_edit_of_the_same_size_is_seen_however_soon_it_comes() {
    let repo = Repo::new();
    let mut worktree = repo.open();
    let mut last = look(&mut worktree).code_tree;
    for round in 0..30 {
        repo.write("a.txt", &format!("{round:03}\n"));
        let now = look(&mut worktree).code_tree;
        assert_ne!(now, last, "round {round}");
        last = now;
    }
}

#[test]
fn an_edit_in_the_second_of_the_last_commit_is_seen_later() {
    let repo = Repo::new();
    let clean = look(&mut repo.open()).code_tree;
    // Same size, same second as the index, and looked at seconds after.
    for _ in 0..3 {
        repo.git(&["reset", "-q", "--hard"]);
        repo.write("a.txt", "two\n");
        thread::sleep(Duration::from_millis(1100));
        assert_ne!(look(&mut repo.open()).code_tree, clean);
    }
}

#[test]
fn a_look_at_an_unchanged_worktree_says_that_nothing_changed() {
    let repo = Repo::new();
    repo.write("a.txt", "dirty");
    repo.write("new.txt", "x");
    // With a link the temporary index is needed, and shows when it is.
    symlink("a.txt", repo.path().join("link")).unwrap();
    let mut worktree = repo.open();
    look(&mut worktree);
    thread::sleep(Duration::from_millis(150));
    let first = look(&mut worktree);
    let index = temporary_index_time(&repo);
    for _ in 0..3 {
        assert_eq!(look(&mut worktree), first);
    }
    assert_eq!(temporary_index_time(&repo), index, "one `git status` is enough");
    assert!(first.changed.is_empty() && first.commits.is_empty());
    assert_eq!(first.uncommitted, ["a.txt", "link", "new.txt"]);
}

/// When the temporary index was last made.
fn temporary_index_time(repo: &Repo) -> SystemTime {
    let mut files = fs::read_dir(repo.path().join(".git")).unwrap().map(Result::unwrap);
    let index = files.find(|f| f.file_name().to_string_lossy().starts_with("flyball-index"));
    let meta = index.unwrap().metadata().unwrap();
    SystemTime::UNIX_EPOCH
        + Duration::new(meta.ctime().try_into().unwrap(), meta.ctime_nsec().try_into().unwrap())
}

#[test]
fn commits_are_told_oldest_first_and_bounded() {
    let repo = Repo::new();
    let mut worktree = repo.open();
    look(&mut worktree);
    let hash = repo.commit("second: with 'quotes' and ü");
    repo.commit("third");
    let snapshot = look(&mut worktree);
    let subjects: Vec<&str> = snapshot.commits.iter().map(|c| c.subject.as_str()).collect();
    assert_eq!(subjects, ["second: with 'quotes' and ü", "third"]);
    assert_eq!(snapshot.commits[0].hash, hash);
    for number in 0..105 {
        repo.git(&["commit", "-q", "--allow-empty", "-m", &format!("n{number}")]);
    }
    let snapshot = look(&mut worktree);
    assert_eq!(snapshot.commits.len(), 100);
    assert_eq!(snapshot.commits.last().unwrap().subject, "n104");
}

#[test]
fn a_head_that_moves_back_or_aside_is_no_error() {
    let repo = Repo::new();
    let first = repo.git(&["rev-parse", "HEAD"]);
    repo.write("a.txt", "changed");
    repo.commit("second");
    let mut worktree = repo.open();
    look(&mut worktree);
    repo.git(&["reset", "-q", "--hard", &first]);
    let back = look(&mut worktree);
    assert_eq!((back.head.as_ref(), back.commits.len()), (Some(&first), 0));
    assert_eq!(back.changed, ["a.txt"]);
    repo.git(&["checkout", "-q", "--orphan", "other"]);
    let unborn = look(&mut worktree);
    assert_eq!(unborn.head, None);
    let aside = repo.commit("aside");
    let snapshot = look(&mut worktree);
    assert_eq!(snapshot.head, Some(aside));
    assert_eq!(snapshot.commits.len(), 1);
}

#[test]
fn a_remembered_sight_is_the_one_before_the_next() {
    let repo = Repo::new();
    let before = look(&mut repo.open());
    repo.write("a.txt", "changed");
    repo.commit("while away");
    let mut worktree = repo.open();
    worktree.remember(&before);
    let snapshot = look(&mut worktree);
    assert_eq!((snapshot.changed.len(), snapshot.commits.len()), (1, 1));
    let mut lost = before;
    lost.head = Some("1".repeat(40));
    lost.checkpoint_tree = "2".repeat(40);
    worktree.remember(&lost);
    let snapshot = look(&mut worktree);
    assert!(snapshot.changed.is_empty() && snapshot.commits.is_empty());
}

#[test]
fn changed_files_are_bounded() {
    let repo = Repo::new();
    let mut worktree = repo.open();
    look(&mut worktree);
    for number in 0..1005 {
        repo.write(&format!("many/{number}.txt"), "x");
    }
    let snapshot = look(&mut worktree);
    assert_eq!((snapshot.changed.len(), snapshot.uncommitted.len()), (1000, 1000));
}

#[test]
fn repositories_inside_the_repository_are_no_error() {
    let repo = Repo::new();
    for name in ["with-commit", "without-commit"] {
        repo.write(&format!("{name}/x.txt"), "x");
        git(&repo.path().join(name), &["init", "-q"]);
    }
    git(&repo.path().join("with-commit"), &["commit", "-q", "--allow-empty", "-m", "inner"]);
    repo.write("own.txt", "x");
    thread::sleep(Duration::from_millis(150));
    let mut worktree = repo.open();
    let before = look(&mut worktree);
    assert!(worktree.list(&before.checkpoint_tree).unwrap().contains(&"own.txt".to_owned()));
    git(&repo.path().join("with-commit"), &["commit", "-q", "--allow-empty", "-m", "inner 2"]);
    assert_eq!(look(&mut worktree).changed, ["with-commit"]);
}

#[test]
fn unusual_files_are_no_error() {
    let repo = Repo::new();
    symlink("nowhere", repo.path().join("link")).unwrap();
    repo.write("unreadable.txt", "x");
    let mode = |bits| fs::Permissions::from_mode(bits);
    fs::set_permissions(repo.path().join("unreadable.txt"), mode(0o000)).unwrap();
    repo.write("run.sh", "x");
    fs::set_permissions(repo.path().join("run.sh"), mode(0o755)).unwrap();
    Command::new("mkfifo").arg(repo.path().join("pipe")).status().unwrap();
    repo.write("odd [name]* :(top)\n.txt", "x");
    let mut worktree = repo.open();
    let snapshot = look(&mut worktree);
    let files = worktree.list(&snapshot.checkpoint_tree).unwrap();
    for name in ["link", "run.sh", "odd [name]* :(top)\n.txt"] {
        assert!(files.contains(&name.to_owned()), "{name} is not in {files:?}");
    }
}

#[test]
fn a_merge_that_was_not_finished_can_be_looked_at() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("a.txt", "side\n");
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a.txt", "main\n");
    repo.commit("main");
    let merge = Command::new("git").current_dir(repo.path()).args(["merge", "-q", "side"]).output();
    assert!(!merge.unwrap().status.success());
    let mut worktree = repo.open();
    let snapshot = look(&mut worktree);
    assert_eq!(snapshot.uncommitted, ["a.txt"]);
    let text = worktree.show(&snapshot.checkpoint_tree, "a.txt").unwrap().unwrap();
    assert!(String::from_utf8(text).unwrap().contains("<<<<<<<"));
    assert!(repo.git(&["ls-files", "-u"]).contains("a.txt"));
}

#[test]
fn settings_of_the_user_do_not_get_in_the_way() {
    let repo = Repo::new();
    let settings = [
        ("core.fsmonitor", "false; touch ran"),
        ("core.splitIndex", "true"),
        ("core.safecrlf", "true"),
        ("core.autocrlf", "input"),
        ("commit.gpgSign", "true"),
        ("gpg.program", "false"),
        ("status.showUntrackedFiles", "no"),
        ("status.relativePaths", "true"),
        ("diff.external", "false"),
        ("diff.noprefix", "true"),
        ("log.showSignature", "true"),
        ("color.ui", "always"),
    ];
    for (key, value) in settings {
        repo.git(&["config", key, value]);
    }
    let hooks = ["reference-transaction", "post-checkout", "post-index-change", "pre-commit"];
    for hook in hooks {
        let path = format!(".git/hooks/{hook}");
        repo.write(&path, "#!/bin/sh\ntouch \"$(git rev-parse --show-toplevel)/hooked\"\nexit 1\n");
        fs::set_permissions(repo.path().join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
    repo.write("new.txt", "a\r\n");
    let mut worktree = repo.open();
    let before = look(&mut worktree);
    assert_eq!(before.uncommitted, ["new.txt"]);
    worktree.checkpoint(&run_id(), IterationNo::new(1), &before.checkpoint_tree).unwrap();
    repo.write("a.txt", "changed\n");
    let after = look(&mut worktree);
    let diff = worktree.diff(&before.checkpoint_tree, &after.checkpoint_tree, &[]).unwrap();
    assert!(diff.contains("--- a/a.txt") && diff.contains("+changed"), "{diff}");
    let place = tempfile::tempdir().unwrap();
    let target = RewindTarget::NewWorktree(place.path().join("back"));
    worktree.rewind(&run_id(), IterationNo::new(1), &target).unwrap();
    assert!(!repo.path().join("hooked").exists() && !repo.path().join("ran").exists());
}

#[test]
fn variables_of_a_calling_git_do_not_lead_elsewhere() {
    // In a process of its own: the environment is shared by all tests.
    if std::env::var_os("FLYBALL_TEST_GIT_ENV").is_some() {
        let snapshot = look(&mut Worktree::open(Path::new(".")).unwrap());
        return assert_eq!(snapshot.uncommitted, ["inner.txt"]);
    }
    let (outer, inner) = (Repo::new(), Repo::new());
    inner.write("inner.txt", "x");
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worktree::variables_of_a_calling_git_do_not_lead_elsewhere"])
        .current_dir(inner.path())
        .env("FLYBALL_TEST_GIT_ENV", "1")
        .env("GIT_DIR", outer.path().join(".git"))
        .env("GIT_WORK_TREE", outer.path())
        .env("GIT_INDEX_FILE", outer.path().join(".git/index"))
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
}

/// Everything of the user's, byte for byte.
fn belongings(repo: &Repo) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let asked: [&[&str]; 5] = [
        &["stash", "list"],
        &["rev-parse", "HEAD"],
        &["symbolic-ref", "HEAD"],
        &["for-each-ref", "refs/heads", "refs/tags", "refs/stash"],
        &["reflog"],
    ];
    for args in asked {
        found.insert(args.join(" "), repo.git(args).into_bytes());
    }
    for path in [".git/index", ".git/HEAD", ".git/config", "a.txt", "src/b.txt", "new.txt"] {
        found.insert(path.to_owned(), fs::read(repo.path().join(path)).unwrap());
    }
    found
}

#[test]
fn nothing_of_the_users_changes_in_twenty_looks_and_checkpoints() {
    let repo = Repo::new();
    repo.write("a.txt", "stashed\n");
    repo.git(&["stash", "-q"]);
    repo.write("src/b.txt", "staged\n");
    repo.git(&["add", "src/b.txt"]);
    repo.write("src/b.txt", "and edited again\n");
    repo.write("new.txt", "untracked\n");
    let before = belongings(&repo);
    let mut worktree = repo.open();
    for number in 0..20 {
        repo.write("scratch.txt", &number.to_string());
        let snapshot = look(&mut worktree);
        let tree = snapshot.checkpoint_tree;
        worktree.checkpoint(&run_id(), IterationNo::new(number), &tree).unwrap();
    }
    let branch = RewindTarget::NewBranch("flyball-back".to_owned());
    worktree.rewind(&run_id(), IterationNo::new(3), &branch).unwrap();
    repo.git(&["branch", "-q", "-D", "flyball-back"]);
    drop(worktree);
    assert_eq!(belongings(&repo), before);
    let left = fs::read_dir(repo.path().join(".git")).unwrap();
    let names: Vec<_> = left.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.contains("flyball-index")), "{names:?}");
}

#[test]
fn checkpoints_are_kept_listed_and_pruned() {
    let repo = Repo::new();
    let mut worktree = repo.open();
    let run = run_id();
    let first = look(&mut worktree).checkpoint_tree;
    worktree.checkpoint(&run, IterationNo::BASELINE, &first).unwrap();
    let name = worktree.checkpoint(&run, IterationNo::new(1), &first).unwrap();
    assert_eq!(name, "refs/flyball/run-1/1");
    repo.write("a.txt", "changed");
    let second = look(&mut worktree).checkpoint_tree;
    worktree.checkpoint(&run, IterationNo::new(10), &second).unwrap();
    // As after a restart, and once more for the same iteration.
    let mut worktree = repo.open();
    look(&mut worktree);
    worktree.checkpoint(&run, IterationNo::new(10), &second).unwrap();
    let kept = worktree.checkpoints(&run).unwrap();
    let numbers: Vec<u32> = kept.iter().map(|c| c.iteration.get()).collect();
    assert_eq!(numbers, [0, 1, 10]);
    assert_eq!(kept[0].commit, kept[1].commit);
    assert_eq!((&kept[2].tree, &kept[2].head), (&second, &kept[0].head));
    let shown = repo.git(&["show", "-s", "--format=%an %P", "refs/flyball/run-1/10"]);
    assert_eq!(shown, format!("flyball {}", kept[0].commit));
    let now = clock::wall();
    assert!(worktree.prune(Moment::from_millis(now.as_millis() - 3_600_000)).unwrap().is_empty());
    let removed = worktree.prune(Moment::from_millis(now.as_millis() + 3_600_000)).unwrap();
    assert_eq!(removed.len(), 3);
    assert!(worktree.checkpoints(&run).unwrap().is_empty());
    assert!(repo.git(&["for-each-ref", "refs/flyball"]).is_empty());
    worktree.checkpoint(&run, IterationNo::new(11), &second).unwrap();
}

#[test]
fn a_run_whose_name_cannot_be_a_ref_is_refused() {
    let repo = Repo::new();
    let mut worktree = repo.open();
    let tree = look(&mut worktree).checkpoint_tree;
    for name in ["", "../heads", "a b", "a/b", "x.lock"] {
        let error = worktree.checkpoint(&RunId::new(name), IterationNo::new(1), &tree);
        assert!(matches!(error, Err(WorktreeError::BadRun { .. })), "{name}");
    }
}

#[test]
fn a_rewind_brings_everything_back_beside_the_users_work() {
    let repo = Repo::new();
    let mut worktree = repo.open();
    repo.write("a.txt", "edited\n");
    repo.write("untracked.txt", "precious\n");
    let tree = look(&mut worktree).checkpoint_tree;
    worktree.checkpoint(&run_id(), IterationNo::new(1), &tree).unwrap();
    repo.git(&["reset", "-q", "--hard"]);
    fs::remove_file(repo.path().join("untracked.txt")).unwrap();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let branch = RewindTarget::NewBranch("back".to_owned());
    let commit = worktree.rewind(&run_id(), IterationNo::new(1), &branch).unwrap();
    assert_eq!(repo.git(&["rev-parse", "back"]), commit);
    assert_eq!(repo.git(&["rev-parse", "back^"]), head);
    assert_eq!(repo.git(&["show", "back:untracked.txt"]), "precious");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    let error = worktree.rewind(&run_id(), IterationNo::new(1), &branch).unwrap_err();
    assert!(error.to_string().contains("already exists"), "{error}");
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("there");
    let target = RewindTarget::NewWorktree(path.clone());
    worktree.rewind(&run_id(), IterationNo::new(1), &target).unwrap();
    assert_eq!(fs::read_to_string(path.join("untracked.txt")).unwrap(), "precious\n");
    assert_eq!(fs::read_to_string(path.join("a.txt")).unwrap(), "edited\n");
    let error = worktree.rewind(&run_id(), IterationNo::new(2), &branch).unwrap_err();
    assert!(matches!(error, WorktreeError::NoCheckpoint { .. }), "{error}");
}

#[test]
fn trees_can_be_read_and_compared() {
    let repo = Repo::new();
    let mut worktree = repo.open();
    let before = look(&mut worktree).checkpoint_tree;
    repo.write("a.txt", "uno\n");
    repo.write("src/c.txt", "new\n");
    let after = look(&mut worktree).checkpoint_tree;
    let all = worktree.diff(&before, &after, &[]).unwrap();
    assert!(all.contains("+uno") && all.contains("+new"), "{all}");
    let some = worktree.diff(&before, &after, &["src"]).unwrap();
    assert!(!some.contains("+uno") && some.contains("+new"), "{some}");
    assert_eq!(worktree.show(&before, "a.txt").unwrap(), Some(b"one\n".to_vec()));
    assert_eq!(worktree.show(&after, "a.txt").unwrap(), Some(b"uno\n".to_vec()));
    for nothing in ["src", "src/nothing.txt", "", "a\nb"] {
        assert_eq!(worktree.show(&after, nothing).unwrap(), None, "{nothing}");
    }
    repo.write("big.txt", &"line of text\n".repeat(200_000));
    let big = look(&mut worktree).checkpoint_tree;
    let cut = worktree.diff(&after, &big, &[]).unwrap();
    assert!(cut.len() < 1_100_000 && cut.ends_with("left out]\n"));
}

#[test]
fn a_tree_can_be_laid_out_elsewhere_and_is_removed_again() {
    let repo = Repo::new();
    let mut worktree = repo.open();
    repo.write("run.sh", "echo");
    fs::set_permissions(repo.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.txt", repo.path().join("link")).unwrap();
    let tree = look(&mut worktree).checkpoint_tree;
    repo.write("a.txt", "later\n");
    let before = belongings_of_index(&repo);
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("tree");
    let detached = worktree.detached(&tree, &path).unwrap();
    assert_eq!(fs::read_to_string(detached.path().join("a.txt")).unwrap(), "one\n");
    assert_eq!(fs::read_link(path.join("link")).unwrap(), Path::new("a.txt"));
    assert_eq!(fs::metadata(path.join("run.sh")).unwrap().permissions().mode() & 0o111, 0o111);
    assert!(worktree.detached(&tree, &path).is_err(), "a folder that is there is not written over");
    assert!(path.join("a.txt").exists());
    drop(detached);
    assert!(!path.exists());
    worktree.detached(&tree, &path).unwrap().remove().unwrap();
    assert_eq!(belongings_of_index(&repo), before);
    assert_eq!(fs::read_to_string(repo.path().join("a.txt")).unwrap(), "later\n");
}

fn belongings_of_index(repo: &Repo) -> (Vec<u8>, String) {
    (fs::read(repo.path().join(".git/index")).unwrap(), repo.git(&["status", "--porcelain"]))
}

#[test]
fn a_temporary_index_of_a_dead_process_is_removed() {
    let repo = Repo::new();
    let (dead, alive) = ("flyball-index-4194999-0", "flyball-index-1-0");
    repo.write(&format!(".git/{dead}"), "x");
    repo.write(&format!(".git/{alive}"), "x");
    repo.open();
    assert!(!repo.path().join(".git").join(dead).exists());
    assert!(repo.path().join(".git").join(alive).exists());
}

/// A worktree that was looked at reads the marks itself; one that was not has git tell them.
#[test]
fn files_git_does_not_look_at_are_found_in_every_kind_of_index() {
    let deep = format!("{}/c.txt", "long".repeat(60));
    for (kind, version) in [("sha1", "2"), ("sha1", "4"), ("sha256", "2"), ("sha256", "4")] {
        let repo = Repo { dir: tempfile::tempdir().unwrap() };
        repo.git(&["init", "-q", "-b", "main", &format!("--object-format={kind}")]);
        for path in ["a.txt", "a/b.txt", "ab.txt", "d.txt", "gone.txt", &deep] {
            repo.write(path, path);
        }
        repo.commit("first");
        repo.git(&["update-index", "--index-version", version]);
        let looked_at = || {
            let mut worktree = repo.open();
            look(&mut worktree);
            assert_eq!(worktree.unwatched(), repo.open().unwatched(), "{kind} {version}");
            worktree.unwatched()
        };
        assert_eq!(looked_at(), [""; 0]);
        repo.git(&["update-index", "--assume-unchanged", "a/b.txt"]);
        repo.git(&["update-index", "--skip-worktree", "ab.txt", &deep, "gone.txt"]);
        fs::remove_file(repo.path().join("gone.txt")).unwrap();
        assert_eq!(looked_at(), ["a/b.txt", "ab.txt", deep.as_str()]);
        repo.git(&["update-index", "--split-index"]);
        repo.git(&["update-index", "--assume-unchanged", "d.txt"]);
        assert_eq!(looked_at(), ["a/b.txt", "ab.txt", "d.txt", deep.as_str()]);
    }
}

/// The tree git itself makes of a worktree, in an index of its own.
fn tree_by_git(repo: &Repo) -> String {
    let index = repo.path().join(".git/by-git");
    fs::copy(repo.path().join(".git/index"), &index).unwrap();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(repo.path()).env("GIT_INDEX_FILE", &index).args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    git(&["add", "-A"]);
    let tree = git(&["write-tree"]);
    fs::remove_file(index).unwrap();
    tree
}

/// Everything that can become of files between two looks, one after the other, in one worktree.
#[test]
fn the_tree_of_uncommitted_work_is_the_one_git_makes() {
    let repo = Repo::new();
    for path in ["a-b/x", "a.b/x", "deep/one/two/three.txt", "gone.txt", "becomes", "folder/in"] {
        repo.write(path, path);
    }
    repo.commit("more");
    let mut worktree = repo.open();
    let remove = |path: &str| fs::remove_file(repo.path().join(path)).unwrap();
    let mode = |path: &str, mode: u32| {
        fs::set_permissions(repo.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let steps: [(&str, &dyn Fn()); 18] = [
        ("an edit", &|| repo.write("a.txt", "other\n")),
        ("the same again", &|| {}),
        ("an edit of the same size", &|| repo.write("a.txt", "again\n")),
        ("new files between others", &|| {
            ["a-", "a", "a0", "a/y", "a-b/y", "new/folder/file", "b c", "ä", "-x"]
                .iter()
                .filter(|path| **path != "a")
                .for_each(|path| repo.write(path, path));
        }),
        ("staged", &|| drop(repo.git(&["add", "a-", "a.txt"]))),
        ("staged and changed since", &|| repo.write("a-", "since")),
        ("deleted", &|| remove("gone.txt")),
        ("deleted in the index alone", &|| drop(repo.git(&["rm", "-q", "--cached", "a.b/x"]))),
        ("the last file of folders", &|| remove("deep/one/two/three.txt")),
        ("a file becomes a folder", &|| {
            remove("becomes");
            repo.write("becomes/file", "x");
        }),
        ("a folder becomes a file", &|| {
            remove("folder/in");
            fs::remove_dir(repo.path().join("folder")).unwrap();
            repo.write("folder", "x");
        }),
        ("a program", &|| mode("src/b.txt", 0o755)),
        ("a new program", &|| {
            repo.write("new/run.sh", "x");
            mode("new/run.sh", 0o755);
        }),
        ("told of and not added", &|| {
            repo.write("intended", "x");
            repo.git(&["add", "-N", "intended"]);
        }),
        ("a link", &|| symlink("a.txt", repo.path().join("link")).unwrap()),
        ("no link any more", &|| remove("link")),
        ("attributes", &|| {
            repo.write(".gitattributes", "*.crlf text\n");
            repo.write("x.crlf", "one\r\ntwo\r\n");
        }),
        ("line ends by a setting", &|| {
            remove(".gitattributes");
            repo.git(&["config", "core.autocrlf", "input"]);
        }),
    ];
    for (what, step) in steps {
        step();
        assert_eq!(look(&mut worktree).checkpoint_tree, tree_by_git(&repo), "{what}");
    }
    for path in repo.git(&["ls-files"]).lines().map(str::to_owned).collect::<Vec<_>>() {
        fs::remove_file(repo.path().join(path.trim_matches('"'))).ok();
    }
    assert_eq!(look(&mut worktree).checkpoint_tree, tree_by_git(&repo), "almost nothing is left");
}

/// Without attributes and settings of the user's that have a say, no index is written.
#[test]
fn plain_files_need_no_index() {
    let repo = Repo::new();
    let mut worktree = repo.open();
    let indexes = || {
        let names = fs::read_dir(repo.path().join(".git")).unwrap().map(|e| e.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("flyball-index")).count()
    };
    repo.write("new.txt", "x");
    look(&mut worktree);
    assert_eq!(indexes(), 0);
    symlink("a.txt", repo.path().join("link")).unwrap();
    look(&mut worktree);
    assert_eq!(indexes(), 1, "a link is git's own affair");
}
