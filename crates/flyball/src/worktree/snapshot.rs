//! Looking at the worktree: one `git status` when nothing happened or everything was committed, two
//! calls more when not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use flyball_core::event::{Commit, TasksSnapshot, WorktreeSnapshot};
use flyball_core::gate::TamperSight;

use super::index::Content;
use super::objects::{Entry, Going, Way, join};
use super::status::{LoopDir, Status};
use super::{LeftOut, Worktree, WorktreeError};

/// The most changed or uncommitted files a snapshot names.
const FILES_MAX: usize = 1000;
/// The most commits a snapshot names.
const COMMITS_MAX: usize = 100;
/// The longest subject of a commit that is kept, in characters.
const SUBJECT_MAX: usize = 500;

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
        Ok(Status::parse(self.git.call(args).run()?.raw_parts(), own))
    }

    fn snapshot_closely(
        &mut self,
        own: &LoopDir,
        tasks_file: &Path,
        status: &Status,
    ) -> Result<WorktreeSnapshot, WorktreeError> {
        let left_out = self.too_large(status);
        let (tree, layers) = self.make_tree(own, status, &left_out)?;
        let before = self.previous.as_ref().map(|previous| &previous.snapshot);
        let code_tree = layers.code(own);
        Ok(WorktreeSnapshot {
            head: status.head.clone(),
            progress_tree: progress(&code_tree, tasks_file),
            code_tree,
            uncommitted: status.paths().take(FILES_MAX).collect(),
            changed: self.changed(before, &tree, own)?,
            commits: self.commits(before, status.head.as_deref())?,
            checkpoint_tree: tree,
            tasks: TasksSnapshot::Absent,
            tamper: TamperSight::default(),
        })
    }

    /// The untracked files that are too large for a checkpoint.
    fn too_large(&mut self, status: &Status) -> BTreeSet<Vec<u8>> {
        self.left_out.clear();
        let mut paths = BTreeSet::new();
        let untracked = status.entries().iter().filter(|entry| entry.untracked);
        for entry in untracked.filter(|_| self.max_file > 0) {
            let size = fs::symlink_metadata(entry.below(&self.git.root))
                .map_or(0, |meta| if meta.is_file() { meta.len() } else { 0 });
            if size > self.max_file {
                let path = String::from_utf8_lossy(entry.path()).into_owned();
                self.left_out.push(LeftOut { path, size });
                paths.insert(entry.path().to_vec());
            }
        }
        paths
    }

    /// The tree of everything but ignored files and flyball's own. Where all is as it was committed,
    /// that is the tree of the commit.
    fn make_tree(
        &mut self,
        own: &LoopDir,
        status: &Status,
        left_out: &BTreeSet<Vec<u8>>,
    ) -> Result<(String, Layers), WorktreeError> {
        let committed = match &status.head {
            Some(head) if status.entries().is_empty() => self.git.tree_of(head)?,
            Some(_) | None => None,
        };
        if let Some((tree, layers)) = self.quick_tree(own, status, left_out)? {
            return Ok((tree, layers));
        }
        let content = if committed.is_none() { Content::OfTree } else { Content::OfUser };
        let tree = match committed {
            Some(tree) => tree,
            None => self.scratch.tree(&self.git, own, status, left_out)?,
        };
        let layers = self.layers(&tree, own)?;
        if !layers.volatile_committed(own) {
            return Ok((tree, layers));
        }
        let tree = self.scratch.tree_without_own(&self.git, own, content)?;
        let layers = self.layers(&tree, own)?;
        Ok((tree, layers))
    }

    /// The same without git's index, where that is simple enough.
    fn quick_tree(
        &mut self,
        own: &LoopDir,
        status: &Status,
        left_out: &BTreeSet<Vec<u8>>,
    ) -> Result<Option<(String, Layers)>, WorktreeError> {
        let Some(head) = status.head.as_ref().filter(|_| !status.has_nested()) else {
            return Ok(None);
        };
        if status.entries().is_empty() {
            return Ok(None);
        }
        let Some(committed) = self.git.tree_of(head)? else { return Ok(None) };
        let taken = status.entries().iter().filter(|entry| !left_out.contains(entry.path()));
        let (taken, file) = (taken.collect::<Vec<_>>(), self.scratch.beside());
        let made = match self.quick.tree(&self.git, &committed, &taken, &file) {
            Ok(Some(made)) => made,
            Err(error @ WorktreeError::Ended { .. }) => return Err(error),
            // A file nobody can read, for instance: git's own way says what is to be said.
            Ok(None) | Err(_) => return Ok(None),
        };
        let layers = self.layers(&made, own)?;
        Ok((!layers.volatile_committed(own)).then_some((made, layers)))
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
        let mut files = Vec::new();
        if before == tree {
            return Ok(files);
        }
        // A tree of long ago may have been pruned; then nothing can be said.
        self.git.differences(before, tree, |found| {
            if !own.holds(&found.path) && !own.is_volatile(&found.path) {
                files.push(found.path);
            }
            if files.len() < FILES_MAX { Going::On } else { Going::Enough }
        })?;
        Ok(files)
    }

    fn commits(
        &self,
        before: Option<&WorktreeSnapshot>,
        head: Option<&str>,
    ) -> Result<Vec<Commit>, WorktreeError> {
        let (Some(before), Some(head)) = (before, head) else { return Ok(Vec::new()) };
        let old = before.head.as_deref();
        if old == Some(head) {
            return Ok(Vec::new());
        }
        if let Way::Straight(commits) = self.git.way(old, head, COMMITS_MAX)? {
            return Ok(commits.into_iter().map(|(hash, subject)| commit(hash, &subject)).collect());
        }
        let most = format!("--max-count={COMMITS_MAX}");
        let mut args = vec!["log", "-z", "--format=%H %s", "--reverse", &most, head];
        let without = old.map(|old| format!("^{old}"));
        args.extend(without.as_deref());
        args.push("--");
        match self.git.call(args).run() {
            Ok(answer) => Ok(answer
                .parts()
                .map(|record| {
                    let (hash, subject) = record.split_once(' ').unwrap_or((&record, ""));
                    commit(hash.to_owned(), subject)
                })
                .collect()),
            // The old head may be gone for good; then nothing can be said.
            Err(WorktreeError::Git { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The root tree and every tree down to the loop folder.
    fn layers(&self, tree: &str, own: &LoopDir) -> Result<Layers, WorktreeError> {
        let mut layers = vec![(String::new(), self.git.tree(tree)?.unwrap_or_default())];
        let mut path = String::new();
        for part in own.path().split('/').filter(|part| !part.is_empty()) {
            path = join(&path, part);
            let entries = self.git.tree(&format!("{tree}:{path}"))?;
            let Some(entries) = entries else { break };
            layers.push((path.clone(), entries));
        }
        Ok(Layers(layers))
    }
}

/// The root tree and every tree down to the loop folder: path of the tree, its entries.
struct Layers(Vec<(String, Vec<Entry>)>);

impl Layers {
    /// The identity of everything outside the loop folder: equal for equal content, anywhere.
    fn code(&self, own: &LoopDir) -> String {
        let mut hash = blake3::Hasher::new();
        for (path, entries) in &self.0 {
            if own.path() == path && !path.is_empty() {
                continue;
            }
            for entry in entries {
                let full = join(path, &entry.name());
                let leads_to_loop = full == own.path() || below(&full, own.path());
                if !leads_to_loop && !own.is_volatile(&full) {
                    hash.update(full.as_bytes()).update(&[0]).update(&entry.what()).update(&[0]);
                }
            }
        }
        hash.finalize().to_hex().to_string()
    }

    fn volatile_committed(&self, own: &LoopDir) -> bool {
        self.0.iter().any(|(path, entries)| {
            entries.iter().any(|entry| own.is_volatile(&join(path, &entry.name())))
        })
    }
}

fn below(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The identity of the code with the task list.
fn progress(code_tree: &str, tasks_file: &Path) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(code_tree.as_bytes());
    if let Ok(text) = crate::files::read_start(tasks_file, crate::loopdir::TASKS_MAX) {
        hash.update(b"tasks").update(&text);
    }
    hash.finalize().to_hex().to_string()
}

fn commit(hash: String, subject: &str) -> Commit {
    Commit { hash, subject: subject.chars().take(SUBJECT_MAX).collect() }
}
