//! The temporary index trees are made in. It starts from the user's and is kept between looks, so
//! that git reads a file once and not with every look.

use std::collections::BTreeSet;
use std::fs::{self, FileTimes};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::WorktreeError;
use super::git::{Git, scratch_index};
use super::status::{LoopDir, Stamp, Status, StatusEntry};
use crate::files;

/// A temporary index; removed when this is dropped.
#[derive(Debug)]
pub(super) struct ScratchIndex {
    path: PathBuf,
    kept: Option<Kept>,
}

/// Whose content a temporary index has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// That of the tree that was just made in it.
    OfTree,
    /// None yet: it starts from the user's.
    OfUser,
}

/// What the index holds.
#[derive(Debug)]
struct Kept {
    /// The user's index it started from, and the files that say what git adds and how.
    of: Vec<Option<FileStamp>>,
    /// The temporary index as it was left: nobody else writes it.
    left: Option<FileStamp>,
    tracked: BTreeSet<Vec<u8>>,
    untracked: BTreeSet<Vec<u8>>,
}

/// What tells a file from another one, or from itself as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileStamp {
    place: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok()?;
        Some(Self {
            place: (meta.dev(), meta.ino()),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }
}

impl FileStamp {
    /// Whether another change would show.
    pub(super) fn is_settled(&self) -> bool {
        let nanos =
            |(secs, nanos): (i64, i64)| i128::from(secs) * 1_000_000_000 + i128::from(nanos);
        let newest = nanos(self.modified).max(nanos(self.changed));
        Stamp { nanos: newest, coarse: self.changed.1 == 0 }.settled()
    }
}

impl ScratchIndex {
    pub(super) fn new(git_dir: &Path) -> Self {
        Self { path: scratch_index(git_dir), kept: None }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A file beside it that nobody else uses.
    pub(super) fn beside(&self) -> PathBuf {
        self.path.with_extension("commit")
    }

    /// Makes the tree of everything but ignored files, flyball's own, and what is left out.
    pub(super) fn tree(
        &mut self,
        git: &Git,
        own: &LoopDir,
        status: &Status,
        left_out: &BTreeSet<Vec<u8>>,
    ) -> Result<String, WorktreeError> {
        let wanted = status.entries().iter().filter(|entry| !left_out.contains(entry.path()));
        let (untracked, tracked): (Vec<_>, Vec<_>) = wanted.partition(|entry| entry.untracked);
        let set = |entries: Vec<&StatusEntry>| -> BTreeSet<Vec<u8>> {
            entries.into_iter().map(|entry| entry.path().to_vec()).collect()
        };
        let (tracked, untracked) = (set(tracked), set(untracked));
        let left = FileStamp::of(&self.path);
        let mut now = Kept { of: stamps(git), left, tracked, untracked };
        let before = self.kept.take().filter(|before| before.serves(&now));
        if before.is_none() {
            self.copy(git)?;
        }
        // What was taken in before and is as committed again must be taken in once more.
        let again = before.into_iter().flat_map(|before| before.tracked);
        let mut paths = now.tracked.clone();
        paths.extend(again);
        paths.extend(now.untracked.iter().cloned());
        if !self.take_in(git, &paths)? {
            self.copy(git)?;
            self.add_all(git, own, left_out)?;
            return self.write(git);
        }
        let tree = self.write(git)?;
        now.left = FileStamp::of(&self.path);
        self.kept = Some(now);
        Ok(tree)
    }

    /// The same without flyball's own files, which the user committed.
    pub(super) fn tree_without_own(
        &mut self,
        git: &Git,
        own: &LoopDir,
        from: Content,
    ) -> Result<String, WorktreeError> {
        if from == Content::OfUser {
            self.copy(git)?;
        }
        self.kept = None;
        let mut args: Vec<String> =
            ["rm", "-r", "-q", "-f", "--cached", "--sparse", "--ignore-unmatch", "--"]
                .map(str::to_owned)
                .to_vec();
        args.extend(own.volatile());
        git.call(&args).index(&self.path).run()?;
        self.write(git)
    }

    /// Takes these paths in as they stand; whether git could. Which paths there are `git status` has
    /// said: nothing needs to be searched a second time.
    fn take_in(&self, git: &Git, paths: &BTreeSet<Vec<u8>>) -> Result<bool, WorktreeError> {
        if paths.is_empty() {
            return Ok(true);
        }
        let mut input = Vec::new();
        for path in paths {
            // A repository inside the repository is named with a slash.
            input.extend_from_slice(path.strip_suffix(b"/").unwrap_or(path));
            input.push(0);
        }
        let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        Ok(git.call(args).index(&self.path).input(input).answer()?.ok())
    }

    /// Takes everything in that can be: where one path is refused, git's own search leaves it out.
    fn add_all(
        &self,
        git: &Git,
        own: &LoopDir,
        left_out: &BTreeSet<Vec<u8>>,
    ) -> Result<(), WorktreeError> {
        let mut call = git.call(["add", "-A", "--ignore-errors", "--sparse", "--"]).magic();
        for path in own.volatile() {
            call = call.arg(format!(":(top,exclude,literal){path}"));
        }
        for path in left_out {
            let path = String::from_utf8_lossy(path);
            call = call.arg(format!(":(top,exclude,literal){path}"));
        }
        let added = call.index(&self.path).answer()?;
        // 1: some file could not be read. The others were added.
        if matches!(added.code(), Some(0 | 1)) { Ok(()) } else { Err(added.refusal("add")) }
    }

    fn write(&self, git: &Git) -> Result<String, WorktreeError> {
        Ok(git.call(["write-tree"]).index(&self.path).run()?.text())
    }

    /// Starts from the user's index, so that git need not read unchanged files. The time of the copy
    /// is that of the original: git's protection against edits within the same second as the index
    /// compares with it.
    fn copy(&mut self, git: &Git) -> Result<(), WorktreeError> {
        let io = |source| WorktreeError::io("copy git's index", source);
        // Not there after the first look, and never there in the end.
        fs::remove_file(&self.path).ok();
        let users = git.git_dir.join("index");
        // Anything but a file could keep its reader waiting for ever.
        if !fs::metadata(&users).is_ok_and(|meta| meta.is_file()) {
            return Ok(());
        }
        let mut index = files::open(&users).map_err(io)?;
        let modified = index.metadata().and_then(|meta| meta.modified()).map_err(io)?;
        let mut copy = files::create_private(&self.path).map_err(io)?;
        io::copy(&mut index, &mut copy).map_err(io)?;
        copy.set_times(FileTimes::new().set_modified(modified)).map_err(io)
    }
}

impl Drop for ScratchIndex {
    fn drop(&mut self) {
        // Not there when nothing was looked at, or only something clean.
        fs::remove_file(&self.path).ok();
    }
}

impl Kept {
    /// Whether what was taken in before may stay: both indexes are the same, every file the user's
    /// does not know is still there and still not ignored, and how files are read has not changed.
    fn serves(&self, now: &Self) -> bool {
        let is_same = self.left.is_some() && self.left == now.left && self.of == now.of;
        let reads_alike = ![self, now].iter().any(|kept| kept.changes_attributes());
        is_same && reads_alike && self.untracked.is_subset(&now.untracked)
    }

    fn changes_attributes(&self) -> bool {
        let mut paths = self.tracked.iter().chain(&self.untracked);
        paths.any(|path| path.ends_with(b".gitattributes"))
    }
}

fn stamps(git: &Git) -> Vec<Option<FileStamp>> {
    let common = |name: &str| git.common_dir.join(name);
    let files = [git.git_dir.join("index"), common("config"), common("info/attributes")];
    files.iter().map(|file| FileStamp::of(file)).collect()
}
