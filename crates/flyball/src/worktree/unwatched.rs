//! Files that git is told not to look at: two marks in its index (`--assume-unchanged`,
//! `--skip-worktree`). They are looked for with every look at the worktree, so they are read here, and
//! git is asked only where its index is of a kind that takes more than reading it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::Worktree;
use crate::files;

/// The most files that are named.
const UNWATCHED_MAX: usize = 1_000;
/// The largest index that is read here.
const INDEX_MAX: u64 = 512 * 1024 * 1024;
/// What of an entry comes before its id: times, place, mode, owner, size.
const STAT: usize = 40;
/// Parts of an index behind its entries that say that entries are elsewhere, or stand for many.
const ELSEWHERE: [&[u8]; 2] = [b"link", b"sdir"];

/// The marks of an entry: git takes it for unchanged.
const ASSUMED: u16 = 0x8000;
/// There are further marks.
const EXTENDED: u16 = 0x4000;
/// It is one side of a conflict.
const STAGE: u16 = 0x3000;
/// How long its name is, or this when it is longer.
const NAME: u16 = 0x0fff;
/// Of the further marks: it is left out of the worktree.
const SKIPPED: u16 = 0x4000;

impl Worktree {
    /// Files that are there and that git is told not to look at.
    pub fn unwatched(&self) -> Vec<String> {
        let told = self.told_in_index().unwrap_or_else(|| self.told_by_git());
        let is_there = |path: &Vec<u8>| self.git.root.join(OsStr::from_bytes(path)).exists();
        let there = told.into_iter().filter(is_there).take(UNWATCHED_MAX);
        there.map(|path| String::from_utf8_lossy(&path).into_owned()).collect()
    }

    /// As the index says; none where only git can tell.
    fn told_in_index(&self) -> Option<Vec<Vec<u8>>> {
        // A worktree that was looked at knows how long ids are here.
        let id = self.previous.as_ref()?.snapshot.checkpoint_tree.len() / 2;
        let found = files::read(&self.git.git_dir.join("index"), INDEX_MAX);
        files::optional(found).ok()?.map_or_else(|| Some(Vec::new()), |bytes| told(&bytes, id))
    }

    fn told_by_git(&self) -> Vec<Vec<u8>> {
        let Ok(answer) = self.git.call(["ls-files", "-v", "-z"]).run() else { return Vec::new() };
        let told = answer.raw_parts().filter_map(|line| {
            let (mark, path) = line.split_at_checked(2)?;
            let is_told = mark == b"S " || mark.first()?.is_ascii_lowercase();
            is_told.then(|| path.to_vec())
        });
        told.collect()
    }
}

/// The paths with one of the marks in an index whose ids have this length; none when it is of a kind
/// that is not read here, or damaged.
fn told(index: &[u8], id: usize) -> Option<Vec<Vec<u8>>> {
    let (body, _checksum) = index.split_at_checked(index.len().checked_sub(id)?)?;
    let mut rest = Rest(body);
    if rest.take(4)? != b"DIRC" {
        return None;
    }
    let version = rest.number()?;
    let is_short = match version {
        2 | 3 => false,
        4 => true,
        _ => return None,
    };
    let (mut found, mut name) = (Vec::new(), Vec::new());
    for _ in 0..rest.number()? {
        let before = rest.0.len();
        rest.take(STAT.checked_add(id)?)?;
        let marks = rest.half()?;
        let more = if marks & EXTENDED == 0 { 0 } else { rest.half()? };
        if is_short {
            rest.shortened(&mut name)?;
        } else {
            rest.padded(&mut name, marks & NAME, before)?;
        }
        if marks & ASSUMED != 0 || (more & SKIPPED != 0 && marks & STAGE == 0) {
            found.push(name.clone());
        }
    }
    while !rest.0.is_empty() {
        let part = rest.take(4)?;
        if ELSEWHERE.contains(&part) {
            return None;
        }
        let length = rest.number()?;
        rest.take(usize::try_from(length).ok()?)?;
    }
    Some(found)
}

/// What is left to be read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn half(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Takes a name that ends with a zero.
    fn name(&mut self, length: usize) -> Option<&'a [u8]> {
        let name = self.take(length)?;
        (self.take(1)? == [0]).then_some(name)
    }

    /// A whole name; zeros fill its entry up to a multiple of eight.
    fn padded(&mut self, name: &mut Vec<u8>, said: u16, before: usize) -> Option<()> {
        let length = if said < NAME { usize::from(said) } else { memchr::memchr(0, self.0)? };
        name.clear();
        name.extend_from_slice(self.name(length)?);
        let used = before.checked_sub(self.0.len())?;
        self.take(used.next_multiple_of(8).checked_sub(used)?).map(drop)
    }

    /// What a name has in place of the end of the one before.
    fn shortened(&mut self, name: &mut Vec<u8>) -> Option<()> {
        let dropped = self.count()?;
        name.truncate(name.len().checked_sub(dropped)?);
        let end = memchr::memchr(0, self.0)?;
        name.extend_from_slice(self.name(end)?);
        Some(())
    }

    /// A number of as many bytes as it needs: seven bits each, the highest bit says that more follow.
    fn count(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let byte = *self.take(1)?.first()?;
            value = value.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?.checked_mul(128)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_index_is_left_to_git() {
        let head = |version: u8, entries: u8| {
            [&b"DIRC"[..], &[0, 0, 0, version, 0, 0, 0, entries], &[0; 20]].concat()
        };
        assert_eq!(told(&head(2, 0), 20), Some(Vec::new()));
        for other in [head(5, 0), head(2, 1), head(4, 1), b"DIRC".to_vec(), Vec::new()] {
            assert_eq!(told(&other, 20), None, "{other:?}");
        }
        for part in ELSEWHERE {
            let split = [&head(2, 0)[..12], part, &[0, 0, 0, 0], &[0; 20]].concat();
            assert_eq!(told(&split, 20), None, "{part:?}");
        }
        let other = [&head(2, 0)[..12], b"TREE", &[0, 0, 0, 1, 7], &[0; 20]].concat();
        assert_eq!(told(&other, 20), Some(Vec::new()));
    }
}
