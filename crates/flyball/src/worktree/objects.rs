//! Reading git's objects: trees, what differs between two of them, and the way from one commit to
//! another. No program is started for it.

use std::collections::BTreeMap;
use std::path::Path;

use super::WorktreeError;
use super::git::{Git, Kind, Object, Written};

/// The largest tree or commit that is read.
const OBJECT_MAX: usize = 64 * 1024 * 1024;
/// How deep folders are followed.
const DEPTH_MAX: usize = 512;

/// One entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    name: Vec<u8>,
    /// Its mode, as git writes it.
    mode: String,
    /// The id of what it is, in bytes.
    id: Vec<u8>,
}

impl Entry {
    /// Its name, as text.
    pub(super) fn name(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    /// Its name, in bytes.
    pub(super) fn raw_name(&self) -> &[u8] {
        &self.name
    }

    /// An entry; none when the id is none.
    pub(super) fn new(name: &[u8], mode: &str, id: &str) -> Option<Self> {
        let digit = |at: usize| id.get(at..at.checked_add(2)?);
        let bytes: Option<Vec<u8>> =
            (0..id.len()).step_by(2).map(|at| u8::from_str_radix(digit(at)?, 16).ok()).collect();
        let id = bytes.filter(|bytes| !bytes.is_empty())?;
        Some(Self { name: name.to_vec(), mode: mode.to_owned(), id })
    }

    pub(super) fn is_folder(&self) -> bool {
        self.mode == "40000"
    }

    pub(super) fn is_file(&self) -> bool {
        self.mode.starts_with("100")
    }

    /// The id of what it is.
    pub(super) fn id(&self) -> String {
        use std::fmt::Write;
        self.id.iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing into a text cannot fail.
            write!(text, "{byte:02x}").ok();
            text
        })
    }

    /// What makes it another entry of the same name: mode and content.
    pub(super) fn what(&self) -> Vec<u8> {
        [self.mode.as_bytes(), b"\0", &self.id].concat()
    }
}

/// A path that is not the same in two trees, with its entry in each.
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) before: Option<Entry>,
    pub(super) after: Option<Entry>,
}

/// How much of what was asked for could be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// As much as was wanted.
    All,
    /// A tree is not there.
    Part,
}

/// What the way from one commit to another is made of.
pub(super) enum Way {
    /// The commits from the one to the other, oldest first.
    Straight(Vec<(String, String)>),
    /// There are merges, or more commits than were asked for, or the one is not behind the other.
    Winding,
}

impl Git {
    /// Writes a tree of these entries, through a file that is made for it; its id.
    pub(super) fn write_tree(
        &self,
        entries: &[Entry],
        file: &Path,
    ) -> Result<String, WorktreeError> {
        let mut sorted: Vec<&Entry> = entries.iter().collect();
        // As git sorts them: a folder as if its name ended with a slash.
        sorted.sort_by_cached_key(|entry| {
            let slash: &[u8] = if entry.is_folder() { b"/" } else { b"" };
            [&entry.name, slash].concat()
        });
        let mut bytes = Vec::new();
        for Entry { name, mode, id } in sorted {
            for part in [mode.as_bytes(), b" ", name, b"\0", id] {
                bytes.extend_from_slice(part);
            }
        }
        self.write_object(Written::Tree, &bytes, file)
    }

    /// The entries of a tree, or of the tree a name leads to; none when there is none.
    pub(super) fn tree(&self, name: &str) -> Result<Option<Vec<Entry>>, WorktreeError> {
        match self.object(name, OBJECT_MAX)? {
            Object::Found { id, kind: Kind::Tree, bytes } => {
                Ok(Some(entries(&bytes, id.len() / 2).unwrap_or_default()))
            }
            Object::Found { .. } | Object::Missing | Object::TooLarge => Ok(None),
        }
    }

    /// The tree of a commit; none when there is no such commit.
    pub(super) fn tree_of(&self, commit: &str) -> Result<Option<String>, WorktreeError> {
        Ok(self.commit_head(commit)?.map(|head| head.tree))
    }

    /// Every file that differs between two trees, until `take` has had enough. A tree that is not
    /// there any more ends the search: nothing can be said of it, and that is told.
    pub(super) fn differences(
        &self,
        from: &str,
        to: &str,
        mut take: impl FnMut(Difference) -> Going,
    ) -> Result<Seen, WorktreeError> {
        let mut open = vec![(String::new(), Some(from.to_owned()), Some(to.to_owned()))];
        while let Some((path, from, to)) = open.pop() {
            if path.split('/').count() > DEPTH_MAX {
                continue;
            }
            let entries = |id: Option<String>| match id {
                Some(id) => self.tree(&id),
                None => Ok(Some(Vec::new())),
            };
            let (Some(before), Some(after)) = (entries(from)?, entries(to)?) else {
                return Ok(Seen::Part);
            };
            let mut folders = Vec::new();
            for (before, after) in paired(before, after) {
                if before.as_ref().map(Entry::what) == after.as_ref().map(Entry::what) {
                    continue;
                }
                let Some(one) = after.as_ref().or(before.as_ref()) else { continue };
                let full = join(&path, &one.name());
                if one.is_folder() {
                    folders.push((full, before.map(|e| e.id()), after.map(|e| e.id())));
                } else if let Going::Enough = take(Difference { path: full, before, after }) {
                    return Ok(Seen::All);
                }
            }
            open.extend(folders.into_iter().rev());
        }
        Ok(Seen::All)
    }

    /// The commits between two, with their subjects, where one simply follows the other.
    pub(super) fn way(
        &self,
        from: Option<&str>,
        to: &str,
        max: usize,
    ) -> Result<Way, WorktreeError> {
        let mut found = Vec::new();
        let mut next = Some(to.to_owned());
        while let Some(id) = next {
            if from == Some(id.as_str()) {
                found.reverse();
                return Ok(Way::Straight(found));
            }
            let head = self.commit_head(&id)?;
            let Some(head) = head.filter(|head| found.len() < max && head.is_plain()) else {
                return Ok(Way::Winding);
            };
            next = head.parents.first().cloned();
            found.push((id, head.subject));
        }
        if from.is_some() {
            return Ok(Way::Winding);
        }
        found.reverse();
        Ok(Way::Straight(found))
    }

    fn commit_head(&self, name: &str) -> Result<Option<CommitHead>, WorktreeError> {
        match self.object(&format!("{name}^{{commit}}"), OBJECT_MAX)? {
            Object::Found { kind: Kind::Commit, bytes, .. } => Ok(Some(CommitHead::parse(&bytes))),
            Object::Found { .. } | Object::Missing | Object::TooLarge => Ok(None),
        }
    }
}

/// Whether a search goes on.
pub(super) enum Going {
    On,
    Enough,
}

/// What stands at the beginning of a commit.
struct CommitHead {
    tree: String,
    parents: Vec<String>,
    /// It says that it is not in UTF-8.
    encoded: bool,
    subject: String,
}

impl CommitHead {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
        let all = |key: &str| -> Vec<String> {
            head.lines().filter_map(|line| line.strip_prefix(key)).map(str::to_owned).collect()
        };
        let lines = message.trim_start_matches(['\n', ' ', '\t']).lines();
        let subject: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
        Self {
            tree: all("tree ").into_iter().next().unwrap_or_default(),
            parents: all("parent "),
            encoded: head.lines().any(|line| line.starts_with("encoding ")),
            subject: subject.join(" "),
        }
    }

    const fn is_plain(&self) -> bool {
        self.parents.len() < 2 && !self.encoded
    }
}

/// The entries of two trees, side by side. A file and a folder of one name are two.
fn paired(before: Vec<Entry>, after: Vec<Entry>) -> Vec<(Option<Entry>, Option<Entry>)> {
    let key = |entry: &Entry| (entry.name.clone(), entry.is_folder());
    let mut pairs: BTreeMap<_, (Option<Entry>, Option<Entry>)> = BTreeMap::new();
    for entry in before {
        let key = key(&entry);
        pairs.entry(key).or_default().0 = Some(entry);
    }
    for entry in after {
        let key = key(&entry);
        pairs.entry(key).or_default().1 = Some(entry);
    }
    pairs.into_values().collect()
}

pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// The entries of a tree object: mode, blank, name, NUL, object id.
fn entries(tree: &[u8], id_len: usize) -> Option<Vec<Entry>> {
    let mut found = Vec::new();
    let mut rest = tree;
    while !rest.is_empty() {
        let blank = memchr::memchr(b' ', rest)?;
        let end = memchr::memchr(0, rest)?;
        let after = end.saturating_add(1).checked_add(id_len)?;
        found.push(Entry {
            name: rest.get(blank.saturating_add(1)..end)?.to_vec(),
            mode: String::from_utf8_lossy(rest.get(..blank)?).into_owned(),
            id: rest.get(end.saturating_add(1)..after)?.to_vec(),
        });
        rest = rest.get(after..)?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(mode: &str, name: &str, id: u8) -> Vec<u8> {
        [mode.as_bytes(), b" ", name.as_bytes(), b"\0", &[id; 20]].concat()
    }

    #[test]
    fn a_tree_is_read_and_a_damaged_one_is_not() {
        let tree = [entry("100644", "a b", 1), entry("40000", "c", 2)].concat();
        let found = entries(&tree, 20).unwrap();
        let names: Vec<String> = found.iter().map(Entry::name).collect();
        assert_eq!(names, ["a b", "c"]);
        assert!(found[0].is_file() && found[1].is_folder());
        assert_eq!(found[1].id(), "02".repeat(20));
        assert!(entries(&tree[..tree.len() - 1], 20).is_none() && entries(b"x", 20).is_none());
    }

    #[test]
    fn a_file_that_became_a_folder_is_two_differences() {
        let one = entries(&entry("100644", "a", 1), 20).unwrap();
        let two = entries(&entry("40000", "a", 2), 20).unwrap();
        let pairs = paired(one, two);
        assert_eq!(pairs.len(), 2);
        assert!(pairs.iter().all(|(before, after)| before.is_some() != after.is_some()));
    }

    #[test]
    fn the_subject_of_a_commit_is_its_first_paragraph_on_one_line() {
        let text = b"tree t\nparent p\nauthor a\n\n\n one\ntwo\n\nbody\n";
        let head = CommitHead::parse(text);
        assert_eq!((head.tree.as_str(), head.subject.as_str()), ("t", "one two"));
        assert!(head.parents == ["p"] && head.is_plain());
        let other = CommitHead::parse(b"tree t\nparent p\nparent q\nencoding latin1\n\nx");
        assert!(!other.is_plain() && other.encoded);
    }
}
