//! What `git status` says, and whether two looks saw the same.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::clock;

/// A file changed this shortly before a look could be changed again without its times showing it.
const UNSETTLED_MS: i128 = 100;
/// The same for file systems that count whole seconds.
const UNSETTLED_COARSE_MS: i128 = 2500;

/// The loop folder, and what in it is flyball's own and changes with every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoopDir(String);

impl LoopDir {
    const FILES: [&str; 3] = ["blocked.txt", "decide.txt", "active.json"];
    const FOLDERS: [&str; 2] = ["logs", "responses"];

    /// The loop folder at this path from the root.
    pub(super) fn new(path: &str) -> Self {
        let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        Self(parts.collect::<Vec<_>>().join("/"))
    }

    /// Its path from the root; empty when the loop lives in the root itself.
    pub(super) fn path(&self) -> &str {
        &self.0
    }

    /// Whether a path lies in it.
    pub(super) fn holds(&self, path: &str) -> bool {
        !self.0.is_empty() && below(&self.0, path).is_some()
    }

    /// Whether a path is one of flyball's own files.
    pub(super) fn is_volatile(&self, path: &str) -> bool {
        let inside = if self.0.is_empty() { Some(path) } else { below(&self.0, path) };
        inside.is_some_and(|inside| {
            Self::FILES.contains(&inside)
                || Self::FOLDERS.iter().any(|f| inside == *f || below(f, inside).is_some())
        })
    }

    /// The paths of flyball's own files and folders.
    pub(super) fn volatile(&self) -> impl Iterator<Item = String> {
        Self::FILES.iter().chain(&Self::FOLDERS).map(|name| match self.0.as_str() {
            "" => (*name).to_owned(),
            path => format!("{path}/{name}"),
        })
    }
}

fn below<'path>(folder: &str, path: &'path str) -> Option<&'path str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// What `git status --porcelain=v2 --branch -z` said, without flyball's own files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) head: Option<String>,
    entries: Vec<StatusEntry>,
    /// There is a repository inside the repository whose state git does not tell in full.
    nested: bool,
}

/// A path that is not as it was committed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StatusEntry {
    /// As git wrote it.
    record: Vec<u8>,
    path: Vec<u8>,
    /// Git has never been told of it.
    pub(super) untracked: bool,
}

/// What stands in the worktree at a path, as far as git has said.
pub(super) enum Stands {
    Gone,
    /// A plain file; with the id of what it holds, where git has it already.
    File {
        mode: String,
        id: Option<String>,
    },
    /// Something git has never been told of.
    Untracked,
    /// A link, a repository, a merge under way.
    Unclear,
}

impl StatusEntry {
    /// What stands there.
    pub(super) fn stands(&self) -> Stands {
        if self.untracked {
            return Stands::Untracked;
        }
        let record = String::from_utf8_lossy(&self.record);
        let fields: Vec<&str> = record.splitn(9, ' ').collect();
        // Kind, how index and worktree differ, submodule, modes (commit, index, worktree), ids (commit,
        // index), path.
        let ["1", xy, "N...", _, _, mode, _, in_index, _] = fields.as_slice() else {
            return Stands::Unclear;
        };
        match *mode {
            "000000" => Stands::Gone,
            "100644" | "100755" => {
                let id = xy.ends_with('.').then(|| (*in_index).to_owned());
                Stands::File { mode: (*mode).to_owned(), id }
            }
            _ => Stands::Unclear,
        }
    }

    /// The path from the root, in bytes.
    pub(super) fn path(&self) -> &[u8] {
        &self.path
    }

    /// Where it is below this root.
    pub(super) fn below(&self, root: &Path) -> PathBuf {
        root.join(OsStr::from_bytes(&self.path))
    }
}

impl Status {
    pub(super) fn parse(records: impl Iterator<Item: AsRef<[u8]>>, own: &LoopDir) -> Self {
        let mut status = Self::default();
        for record in records {
            let record = record.as_ref();
            if let Some(oid) = record.strip_prefix(b"# branch.oid ") {
                let oid = String::from_utf8_lossy(oid).into_owned();
                status.head = (oid != "(initial)").then_some(oid);
                continue;
            }
            let fields = match record.first() {
                Some(b'1') => 9,
                Some(b'u') => 11,
                Some(b'?') => 2,
                Some(_) | None => continue,
            };
            let parts: Vec<&[u8]> = record.splitn(fields, |byte| *byte == b' ').collect();
            let Some(path) = parts.get(fields.saturating_sub(1)) else { continue };
            if own.is_volatile(&String::from_utf8_lossy(path)) {
                continue;
            }
            let untracked = fields == 2;
            let submodule = !untracked && parts.get(2).is_some_and(|sub| sub.starts_with(b"S"));
            status.nested |= submodule || path.ends_with(b"/");
            let (record, path) = (record.to_vec(), path.to_vec());
            status.entries.push(StatusEntry { record, path, untracked });
        }
        status
    }

    /// What is not as it was committed.
    pub(super) fn entries(&self) -> &[StatusEntry] {
        &self.entries
    }

    /// The paths that are not as they were committed.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned())
    }

    /// Whether there is a repository inside the repository.
    pub(super) const fn has_nested(&self) -> bool {
        self.nested
    }

    /// What two looks must share to have seen the same; none when that cannot be told for sure.
    pub(super) fn fingerprint(&self, root: &Path, tasks_file: &Path) -> Option<blake3::Hash> {
        if self.nested {
            return None;
        }
        let mut hash = blake3::Hasher::new();
        hash.update(self.head.as_deref().unwrap_or("none").as_bytes());
        let mut newest = Stamp::default();
        for entry in &self.entries {
            hash.update(&[0]).update(&entry.record);
            hash.update(&newest.see(&entry.below(root)));
        }
        hash.update(&newest.see(tasks_file));
        newest.settled().then(|| hash.finalize())
    }
}

/// The newest time among files.
#[derive(Default)]
pub(super) struct Stamp {
    pub(super) nanos: i128,
    /// Of a file system that counts whole seconds.
    pub(super) coarse: bool,
}

impl Stamp {
    /// A file's size, times and place, in bytes; nothing when there is none.
    fn see(&mut self, path: &Path) -> Vec<u8> {
        let Ok(meta) = fs::symlink_metadata(path) else { return vec![1] };
        let time = |secs: i64, nanos: i64| i128::from(secs) * 1_000_000_000 + i128::from(nanos);
        let modified = time(meta.mtime(), meta.mtime_nsec());
        let changed = time(meta.ctime(), meta.ctime_nsec());
        self.nanos = self.nanos.max(modified).max(changed);
        self.coarse |= meta.ctime_nsec() == 0;
        let mut bytes = vec![2];
        bytes.extend(meta.size().to_le_bytes());
        bytes.extend(meta.ino().to_le_bytes());
        bytes.extend(meta.mode().to_le_bytes());
        bytes.extend(modified.to_le_bytes());
        bytes.extend(changed.to_le_bytes());
        bytes
    }

    /// Whether another change would show.
    pub(super) fn settled(&self) -> bool {
        let margin = if self.coarse { UNSETTLED_COARSE_MS } else { UNSETTLED_MS };
        self.nanos / 1_000_000 + margin < i128::from(clock::wall().as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_folder_knows_its_own_however_it_is_written() {
        for written in [".flyball", "./.flyball/", ".flyball/"] {
            let own = LoopDir::new(written);
            assert_eq!(own.path(), ".flyball");
            for path in [".flyball/logs/iteration-001.log", ".flyball/active.json"] {
                assert!(own.is_volatile(path) && own.holds(path), "{path}");
            }
            for path in [".flyball/tasks.json", ".flyball/logs.md", ".flyball/progress.txt"] {
                assert!(!own.is_volatile(path) && own.holds(path), "{path}");
            }
            for path in ["logs/x", ".flyballs/logs/x", "a/.flyball/logs/x"] {
                assert!(!own.is_volatile(path) && !own.holds(path), "{path}");
            }
        }
    }

    #[test]
    fn a_loop_in_the_root_holds_nothing_but_has_volatile_files() {
        let own = LoopDir::new(".");
        assert!(!own.holds("src/lib.rs") && own.is_volatile("logs/x"));
        assert!(own.volatile().any(|path| path == "decide.txt"));
    }

    #[test]
    fn every_kind_of_entry_gives_its_path() {
        let oid = "0".repeat(40);
        let records = [
            format!("# branch.oid {oid}"),
            "# branch.head main".to_owned(),
            format!("1 .M N... 100644 100644 100644 {oid} {oid} a b.txt"),
            format!("u UU N... 100644 100644 100644 100644 {oid} {oid} {oid} c d"),
            "? .flyball/logs/x".to_owned(),
            "? e f".to_owned(),
        ];
        let status = Status::parse(records.into_iter(), &LoopDir::new(".flyball"));
        assert_eq!(status.head, Some(oid));
        assert_eq!(status.paths().collect::<Vec<_>>(), ["a b.txt", "c d", "e f"]);
        assert!(!status.nested);
    }

    #[test]
    fn a_repository_without_commits_has_no_head() {
        let records = ["# branch.oid (initial)".to_owned(), "? nested/".to_owned()];
        let status = Status::parse(records.into_iter(), &LoopDir::new(".flyball"));
        assert_eq!(status.head, None);
        assert!(status.nested && status.fingerprint(Path::new("/"), Path::new("/x")).is_none());
    }
}
