//! The tree of a worktree where little is not as it was committed: that of the commit, with those files in
//! it as they stand. Nothing is started for it, and no index is copied and written.
//!
//! Only where that is exactly what git would make of it: plain files that git takes in byte by byte. Where
//! attributes, settings, links, repositories inside the repository or merges under way have a say, the
//! temporary index does it (`index.rs`).

mod rules;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::WorktreeError;
use super::git::Git;
use super::index::FileStamp;
use super::objects::Entry;
use super::status::{Stands, StatusEntry};

use self::rules::Rules;

/// The most files that are taken in one by one: with more, git's own way takes no longer.
const FILES_MAX: usize = 2000;
/// How deep folders are followed.
const DEPTH_MAX: usize = 64;
const ATTRIBUTES: &[u8] = b".gitattributes";

/// What is known from look to look.
#[derive(Debug, Default)]
pub(super) struct Quick {
    rules: Option<Rules>,
    /// The ids of files that have not been touched since.
    blobs: Blobs,
}

/// Ids of files, by path, and the files they are of.
type Blobs = BTreeMap<Vec<u8>, (FileStamp, String)>;

/// What becomes of a folder of the tree.
#[derive(Default)]
struct Folder(BTreeMap<Vec<u8>, Node>);

#[derive(Default)]
struct Node {
    file: Option<File>,
    below: Folder,
}

enum File {
    Gone,
    Is { mode: String, id: String },
}

impl Quick {
    /// The tree of a commit's tree with these files as they stand; none where git's own way is needed.
    /// `file` is a place for a file that nobody else uses.
    pub(super) fn tree(
        &mut self,
        git: &Git,
        committed: &str,
        entries: &[&StatusEntry],
        file: &Path,
    ) -> Result<Option<String>, WorktreeError> {
        let fits = entries.len() <= FILES_MAX && entries.iter().all(|entry| is_plain(entry));
        if !fits {
            return Ok(None);
        }
        if self.rules.as_ref().is_none_or(|rules| !rules.still_hold()) {
            self.rules = Some(Rules::of(git)?);
        }
        let Some(rules) = self.rules.as_ref().filter(|rules| rules.allow()) else {
            return Ok(None);
        };
        let (mut top, mut known) = (Folder::default(), BTreeMap::new());
        let before = std::mem::take(&mut self.blobs);
        for entry in entries {
            let of = (rules, &before);
            let Some(change) = stands(git, entry, of, &mut known)? else { return Ok(None) };
            top.put(entry.path(), change);
        }
        self.blobs = known;
        let made = top.write(git, Some(committed), (String::new(), 0), file)?;
        Ok(match made {
            Written::Tree(id) => Some(id),
            Written::Nothing => git.write_tree(&[], file).map(Some)?,
            Written::Unclear => None,
        })
    }
}

/// Whether a path is one that can be told to a process that stands by, and changes nothing for others.
fn is_plain(entry: &StatusEntry) -> bool {
    let path = entry.path();
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let special = path.contains(&b'\n') || path.starts_with(b"\"");
    let depth = memchr::memchr_iter(b'/', path).count();
    !special && name != ATTRIBUTES && depth < DEPTH_MAX
}

/// What a file is in the tree; none when that is not clear.
fn stands(
    git: &Git,
    entry: &StatusEntry,
    (rules, before): (&Rules, &Blobs),
    known: &mut Blobs,
) -> Result<Option<File>, WorktreeError> {
    let (mode, id) = match entry.stands() {
        Stands::Gone => return Ok(Some(File::Gone)),
        Stands::Unclear => return Ok(None),
        Stands::File { mode, id } => (Some(mode), id),
        Stands::Untracked => (None, None),
    };
    if let (Some(mode), Some(id)) = (&mode, id) {
        return Ok(Some(File::Is { mode: mode.clone(), id }));
    }
    let path = entry.below(&git.root);
    let plain = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file);
    let Some((meta, stamp)) = plain.zip(FileStamp::of(&path)) else { return Ok(None) };
    let mode = mode.unwrap_or_else(|| rules.mode(meta.mode()));
    if let Some((of, id)) = before.get(entry.path())
        && *of == stamp
    {
        known.insert(entry.path().to_vec(), (stamp, id.clone()));
        return Ok(Some(File::Is { mode, id: id.clone() }));
    }
    let settled = stamp.is_settled();
    let id = git.write_blob(entry.path())?;
    // One that is written to while it is read is read again.
    if settled && FileStamp::of(&path) == Some(stamp) {
        known.insert(entry.path().to_vec(), (stamp, id.clone()));
    }
    Ok(Some(File::Is { mode, id }))
}

/// What was made of a folder.
enum Written {
    Tree(String),
    /// There is nothing in it any more.
    Nothing,
    Unclear,
}

impl Folder {
    fn put(&mut self, path: &[u8], file: File) {
        let (name, rest) = match memchr::memchr(b'/', path) {
            Some(slash) => {
                (path.get(..slash).unwrap_or_default(), path.get(slash.saturating_add(1)..))
            }
            None => (path, None),
        };
        let node = self.0.entry(name.to_vec()).or_default();
        match rest {
            Some(rest) => node.below.put(rest, file),
            // One that is gone from the index may be there as a file git does not know.
            None if matches!((&node.file, &file), (Some(File::Is { .. }), File::Gone)) => {}
            None => node.file = Some(file),
        }
    }

    /// Writes the tree of this folder and those below it that change.
    fn write(
        self,
        git: &Git,
        tree: Option<&str>,
        (path, depth): (String, usize),
        file: &Path,
    ) -> Result<Written, WorktreeError> {
        let place: PathBuf = git.root.join(&path).join(".gitattributes");
        if fs::symlink_metadata(place).is_ok() || depth > DEPTH_MAX {
            return Ok(Written::Unclear);
        }
        let found = match tree {
            Some(tree) => git.tree(tree)?,
            None => Some(Vec::new()),
        };
        let Some(found) = found else { return Ok(Written::Unclear) };
        let mut entries: BTreeMap<Vec<u8>, Entry> =
            found.into_iter().map(|entry| (entry.raw_name().to_vec(), entry)).collect();
        if entries.contains_key(ATTRIBUTES) {
            return Ok(Written::Unclear);
        }
        for (name, Node { file: own, below }) in self.0 {
            let mut folder = entries.remove(&name);
            let was_file = folder.as_ref().is_some_and(|entry| !entry.is_folder());
            let other = if was_file { folder.take() } else { None };
            let folder = if below.0.is_empty() {
                folder
            } else {
                let Ok(text) = std::str::from_utf8(&name) else { return Ok(Written::Unclear) };
                let at = (super::objects::join(&path, text), depth.saturating_add(1));
                let folder = folder.map(|entry| entry.id());
                match below.write(git, folder.as_deref(), at, file)? {
                    Written::Tree(id) => Entry::new(&name, "40000", &id),
                    Written::Nothing => None,
                    Written::Unclear => return Ok(Written::Unclear),
                }
            };
            let own = match own {
                Some(File::Gone) => None,
                Some(File::Is { mode, id }) => Some(Entry::new(&name, &mode, &id)),
                None => other.map(Some),
            };
            match (own, folder) {
                (Some(None), _) | (Some(Some(_)), Some(_)) => return Ok(Written::Unclear),
                (Some(Some(one)), None) | (None, Some(one)) => {
                    entries.insert(name, one);
                }
                (None, None) => {}
            }
        }
        if entries.is_empty() {
            return Ok(Written::Nothing);
        }
        let entries: Vec<Entry> = entries.into_values().collect();
        git.write_tree(&entries, file).map(Written::Tree)
    }
}
