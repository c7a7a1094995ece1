//! Looking at the worktree: one `git status` when nothing happened, a few calls more when it did.

use std::fs::{self, File, FileTimes};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;

use flyball_core::event::{Commit, TasksSnapshot, WorktreeSnapshot};

use super::status::{LoopDir, Status};
use super::{Worktree, WorktreeError};

/// The most changed or uncommitted files a snapshot names.
const FILES_MAX: usize = 1000;
/// The most commits a snapshot names.
const COMMITS_MAX: usize = 100;
/// The longest subject of a commit that is kept, in characters.
const SUBJECT_MAX: usize = 500;
/// How much of a task list counts for progress.
const TASKS_MAX: u64 = 64 * 1024 * 1024;

/// What the look before saw.
#[derive(Debug)]
pub(super) struct Previous {
    pub(super) snapshot: WorktreeSnapshot,
    /// What must be the same for nothing to have happened, and how it was asked.
    same: Option<(LoopDir, PathBuf, blake3::Hash)>,
}

impl Worktree {
    /// Looks at the worktree. The task list's text is left for others to fill in; `tasks_file` is
    /// absolute or relative to the root.
    pub fn snapshot(
        &mut self,
        loop_dir: &str,
        tasks_file: &Path,
    ) -> Result<WorktreeSnapshot, WorktreeError> {
        let own = LoopDir::new(loop_dir);
        let tasks_file = self.git.root.join(tasks_file);
        let status = self.status(&own)?;
        let same = status
            .fingerprint(&self.git.root, &tasks_file)
            .map(|fingerprint| (own.clone(), tasks_file.clone(), fingerprint));
        if let Some(previous) = &mut self.previous
            && same.is_some()
            && previous.same == same
        {
            previous.snapshot.changed.clear();
            previous.snapshot.commits.clear();
            return Ok(previous.snapshot.clone());
        }
        let snapshot = self.snapshot_closely(&own, &tasks_file, &status)?;
        self.previous = Some(Previous { snapshot: snapshot.clone(), same });
        Ok(snapshot)
    }

    /// Takes an earlier snapshot (of the journal, after a restart) as the one before the next.
    pub fn remember(&mut self, snapshot: &WorktreeSnapshot) {
        let snapshot = WorktreeSnapshot { tasks: TasksSnapshot::Absent, ..snapshot.clone() };
        self.previous = Some(Previous { snapshot, same: None });
    }

    fn status(&self, own: &LoopDir) -> Result<Status, WorktreeError> {
        let args = ["status", "--porcelain=v2", "--branch", "-z", "-uall", "--no-renames"];
        Ok(Status::parse(self.git.call(args).run()?.parts(), own))
    }

    fn snapshot_closely(
        &self,
        own: &LoopDir,
        tasks_file: &Path,
        status: &Status,
    ) -> Result<WorktreeSnapshot, WorktreeError> {
        let before = self.previous.as_ref().map(|previous| &previous.snapshot);
        let tree = self.make_tree(own)?;
        let (layers, changed, commits) = thread::scope(|scope| {
            let changed = scope.spawn(|| self.changed(before, &tree, own));
            let commits = scope.spawn(|| self.commits(before, status.head.as_deref()));
            (self.layers(&tree, own), changed.join(), commits.join())
        });
        let panicked = |_| WorktreeError::io("read git", io::Error::other("a thread panicked"));
        let mut layers = layers?;
        let mut tree = tree;
        if layers.volatile_committed(own) {
            tree = self.tree_without_volatile(own)?;
            layers = self.layers(&tree, own)?;
        }
        let code_tree = layers.code(own);
        Ok(WorktreeSnapshot {
            head: status.head.clone(),
            progress_tree: progress(&code_tree, tasks_file),
            code_tree,
            checkpoint_tree: tree,
            uncommitted: status.paths().take(FILES_MAX).map(str::to_owned).collect(),
            changed: changed.map_err(panicked)??,
            commits: commits.map_err(panicked)?,
            tasks: TasksSnapshot::Absent,
        })
    }

    /// Makes the tree of everything but ignored files and flyball's own, in the temporary index.
    fn make_tree(&self, own: &LoopDir) -> Result<String, WorktreeError> {
        self.copy_index()?;
        let mut args: Vec<String> =
            ["add", "-A", "--ignore-errors", "--sparse", "--"].map(str::to_owned).to_vec();
        args.extend(own.volatile().map(|path| format!(":(top,exclude,literal){path}")));
        let added = self.git.call(&args).index(&self.scratch).magic().answer()?;
        // 1: some file could not be read. The others were added.
        if !matches!(added.code(), Some(0 | 1)) {
            return Err(added.refusal("add"));
        }
        self.write_tree()
    }

    fn write_tree(&self) -> Result<String, WorktreeError> {
        Ok(self.git.call(["write-tree"]).index(&self.scratch).run()?.text())
    }

    /// Flyball's own files were committed by the user: they are taken out of the temporary index.
    fn tree_without_volatile(&self, own: &LoopDir) -> Result<String, WorktreeError> {
        let mut args: Vec<String> =
            ["rm", "-r", "-q", "-f", "--cached", "--sparse", "--ignore-unmatch", "--"]
                .map(str::to_owned)
                .to_vec();
        args.extend(own.volatile());
        self.git.call(&args).index(&self.scratch).run()?;
        self.write_tree()
    }

    /// Starts the temporary index from the user's, so that git need not read unchanged files. The
    /// time of the copy is that of the original: git's protection against edits within the same
    /// second as the index compares with it.
    fn copy_index(&self) -> Result<(), WorktreeError> {
        let io = |source| WorktreeError::io("copy git's index", source);
        // Not there after the first look, and never there in the end.
        fs::remove_file(&self.scratch).ok();
        let mut index = match File::open(self.git.git_dir.join("index")) {
            Ok(index) => index,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(io(error)),
        };
        let modified = index.metadata().and_then(|meta| meta.modified()).map_err(io)?;
        let mut copy = File::create(&self.scratch).map_err(io)?;
        io::copy(&mut index, &mut copy).map_err(io)?;
        copy.set_times(FileTimes::new().set_modified(modified)).map_err(io)
    }

    fn changed(
        &self,
        before: Option<&WorktreeSnapshot>,
        tree: &str,
        own: &LoopDir,
    ) -> Result<Vec<String>, WorktreeError> {
        let Some(before) = before.map(|snapshot| snapshot.checkpoint_tree.as_str()) else {
            return Ok(Vec::new());
        };
        if before == tree {
            return Ok(Vec::new());
        }
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", before, tree];
        let answer = self.git.call(args).answer()?;
        // A tree of long ago may have been pruned; then nothing can be said.
        let files = answer.parts().filter(|path| !own.holds(path) && !own.is_volatile(path));
        Ok(files.take(FILES_MAX).collect())
    }

    fn commits(&self, before: Option<&WorktreeSnapshot>, head: Option<&str>) -> Vec<Commit> {
        let (Some(before), Some(head)) = (before, head) else { return Vec::new() };
        if before.head.as_deref() == Some(head) {
            return Vec::new();
        }
        let most = format!("--max-count={COMMITS_MAX}");
        let mut args = vec!["log", "-z", "--format=%H %s", "--reverse", &most, head];
        let without = before.head.as_ref().map(|old| format!("^{old}"));
        args.extend(without.as_deref());
        args.push("--");
        // The old head may be gone for good; then nothing can be said.
        let Ok(answer) = self.git.call(args).run() else { return Vec::new() };
        answer.parts().map(|record| commit(&record)).collect()
    }

    /// The root tree and every tree down to the loop folder, in one call.
    fn layers(&self, tree: &str, own: &LoopDir) -> Result<Layers, WorktreeError> {
        let mut names = vec![String::new()];
        let mut path = String::new();
        for part in own.path().split('/').filter(|part| !part.is_empty()) {
            path = if path.is_empty() { part.to_owned() } else { format!("{path}/{part}") };
            names.push(path.clone());
        }
        let asked: String = names.iter().flat_map(|name| [tree, ":", name, "\n"]).collect();
        let answer = self.git.call(["cat-file", "--batch"]).input(asked).run()?;
        let oid_len = tree.len() / 2;
        let mut rest = answer.stdout.as_slice();
        let mut layers = Vec::new();
        for name in names {
            let Some((object, after)) = next_object(rest) else { break };
            rest = after;
            layers.push((name, entries(object, oid_len)));
        }
        Ok(Layers(layers))
    }
}

/// The root tree and every tree down to the loop folder: path of the tree, its entries.
struct Layers(Vec<(String, Vec<Entry>)>);

/// One entry of a tree: its name, and its mode and object as git stores them.
struct Entry {
    name: String,
    what: Vec<u8>,
}

impl Layers {
    /// The identity of everything outside the loop folder: equal for equal content, anywhere.
    fn code(&self, own: &LoopDir) -> String {
        let mut hash = blake3::Hasher::new();
        for (path, entries) in &self.0 {
            if own.path() == path && !path.is_empty() {
                continue;
            }
            for entry in entries {
                let full = join(path, &entry.name);
                let leads_to_loop = full == own.path() || below(&full, own.path());
                if !leads_to_loop && !own.is_volatile(&full) {
                    hash.update(full.as_bytes()).update(&[0]).update(&entry.what).update(&[0]);
                }
            }
        }
        hash.finalize().to_hex().to_string()
    }

    fn volatile_committed(&self, own: &LoopDir) -> bool {
        self.0.iter().any(|(path, entries)| {
            entries.iter().any(|entry| own.is_volatile(&join(path, &entry.name)))
        })
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

fn below(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The next object of a batch and what comes after it; an empty one when git says it is missing.
fn next_object(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, rest) = (bytes.get(..end)?, bytes.get(end.saturating_add(1)..)?);
    let head = String::from_utf8_lossy(head);
    let mut words = head.rsplit(' ');
    let Some(size) = words.next().and_then(|size| size.parse::<usize>().ok()) else {
        return Some((&[], rest));
    };
    let object = if words.next() == Some("tree") { rest.get(..size)? } else { &[] };
    Some((object, rest.get(size.saturating_add(1)..)?))
}

/// The entries of a tree object: mode, blank, name, NUL, object id.
fn entries(tree: &[u8], oid_len: usize) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut rest = tree;
    while let Some((entry, after)) = next_entry(rest, oid_len) {
        found.push(entry);
        rest = after;
    }
    found
}

fn next_entry(tree: &[u8], oid_len: usize) -> Option<(Entry, &[u8])> {
    let blank = tree.iter().position(|byte| *byte == b' ')?;
    let end = tree.iter().position(|byte| *byte == 0)?;
    let after = end.saturating_add(1).checked_add(oid_len)?;
    let name = tree.get(blank.saturating_add(1)..end)?;
    let mut what = tree.get(..blank)?.to_vec();
    what.extend_from_slice(tree.get(end..after)?);
    let name = String::from_utf8_lossy(name).into_owned();
    Some((Entry { name, what }, tree.get(after..)?))
}

/// The identity of the code with the task list.
fn progress(code_tree: &str, tasks_file: &Path) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(code_tree.as_bytes());
    let mut text = Vec::new();
    let read = File::open(tasks_file).and_then(|file| file.take(TASKS_MAX).read_to_end(&mut text));
    if read.is_ok() {
        hash.update(b"tasks").update(&text);
    }
    hash.finalize().to_hex().to_string()
}

fn commit(record: &str) -> Commit {
    let (hash, subject) = record.split_once(' ').unwrap_or((record, ""));
    let subject = subject.chars().take(SUBJECT_MAX).collect();
    Commit { hash: hash.to_owned(), subject }
}
