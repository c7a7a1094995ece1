//! Bringing back what was weakened, and nothing else: whole files, or those lines of a file that the
//! finding is about, with everything else in it left as it is.

use std::fs;
use std::path::Path;

use flyball_core::gate::{Restore, TamperFinding};

use super::ignored;
use crate::error::CliError;
use crate::files::write_whole;
use crate::journal::KeptFile;
use crate::worktree::Worktree;

/// The largest file that is brought back by its lines.
const FILE_MAX: u64 = 64 * 1024 * 1024;

/// What became of one deed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restored {
    /// It was done, in words.
    Done(String),
    /// It was as it should be already.
    Already(String),
    /// It was not done, and why.
    Left(String),
}

/// Whether what was changed since a finding was made goes too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// It stays, and is told.
    No,
    /// It goes.
    Yes,
}

/// Where what was there can be read.
pub(super) struct Origin<'a> {
    pub(super) worktree: &'a Worktree,
    pub(super) tree: &'a str,
    pub(super) kept: &'a [KeptFile],
}

impl Origin<'_> {
    fn text(&self, path: &str) -> Option<Vec<u8>> {
        let of_tree = self.worktree.show(self.tree, path).ok().flatten();
        let kept = || {
            let text = self.kept.iter().find(|file| file.path == path)?.text.clone();
            text.filter(|text| !ignored::is_shortened(text))
        };
        of_tree.or_else(|| kept().map(String::into_bytes))
    }
}

/// Brings back what one finding is about.
pub(super) fn restore(
    origin: &Origin<'_>,
    finding: &TamperFinding,
    force: Force,
) -> Result<Vec<Restored>, CliError> {
    if finding.restore.is_empty() && finding.ran_before.is_none() {
        // Nothing that flyball has could be put there.
        return Ok(vec![Restored::Left(finding.finding.message.clone())]);
    }
    let root = origin.worktree.root().to_path_buf();
    finding.restore.iter().map(|deed| one(origin, &root, deed, finding, force)).collect()
}

fn one(
    origin: &Origin<'_>,
    root: &Path,
    deed: &Restore,
    finding: &TamperFinding,
    force: Force,
) -> Result<Restored, CliError> {
    let path = deed.path();
    let file = root.join(path);
    let now = read(&file);
    let failed = |error: std::io::Error| {
        CliError::io(format!("`{path}` could not be brought back")).cause(error)
    };
    if file.is_symlink() || !inside(root, &file) {
        return Ok(Restored::Left(format!("{path}: it is a link now; look at it yourself")));
    }
    // What somebody did to it since it was found is not flyball's to take away.
    let changed_since = || {
        let is_file = finding.finding.file.as_deref() == Some(path);
        let id = now.as_deref().and_then(|bytes| origin.worktree.object_id(bytes));
        is_file && finding.now.len() >= 40 && id.is_some_and(|id| id != finding.now)
    };
    match deed {
        Restore::Remove { .. } if now.is_none() => {
            Ok(Restored::Already(format!("{path} is not there")))
        }
        Restore::Remove { .. } | Restore::File { .. } if force == Force::No && changed_since() => {
            Ok(Restored::Left(format!(
                "{path}: it was changed again since; `--force` takes that away too"
            )))
        }
        Restore::Remove { .. } => {
            fs::remove_file(&file).map_err(failed)?;
            Ok(Restored::Done(format!("removed {path}")))
        }
        Restore::File { .. } => {
            let Some(before) = origin.text(path) else {
                return Ok(Restored::Left(format!("{path}: what was in it is not known any more")));
            };
            if now.as_deref() == Some(before.as_slice()) {
                return Ok(Restored::Already(format!("{path} is as it was")));
            }
            write(&file, &before).map_err(failed)?;
            Ok(Restored::Done(format!("put {path} back")))
        }
        Restore::Lines { from, to, .. } => {
            let before =
                origin.text(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let Some(before) = before else {
                return Ok(Restored::Left(format!("{path}: what was in it is not known any more")));
            };
            let text = String::from_utf8_lossy(now.as_deref().unwrap_or_default()).into_owned();
            let instead = if finding.now == "gone" { Instead::Stays } else { Instead::Goes };
            let back = put_back(&before, &text, (*from, *to), instead);
            if back == text {
                return Ok(Restored::Already(format!(
                    "{path}: lines {from} to {to} are as they were"
                )));
            }
            write(&file, back.as_bytes()).map_err(failed)?;
            Ok(Restored::Done(format!("put lines {from} to {to} of {path} back")))
        }
    }
}

fn read(file: &Path) -> Option<Vec<u8>> {
    crate::files::read(file, FILE_MAX).ok()
}

/// Whether a file really lies in the repository, whatever its folders are links to.
fn inside(root: &Path, file: &Path) -> bool {
    let mut folder = file.parent();
    while let Some(path) = folder {
        if let Ok(real) = path.canonicalize() {
            return root.canonicalize().is_ok_and(|root| real.starts_with(root));
        }
        folder = path.parent();
    }
    false
}

fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mode = fs::metadata(file).ok().map(|meta| meta.permissions());
    write_whole(file, bytes)?;
    if let Some(mode) = mode {
        fs::set_permissions(file, mode)?;
    }
    Ok(())
}

/// What becomes of what stands in the place of lines that come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// It stays beside them.
    Stays,
    /// It goes.
    Goes,
}

/// The text of now with these lines of before in it again: only the changes that touch them are
/// undone.
pub(super) fn put_back(
    before: &str,
    now: &str,
    (from, to): (u32, u32),
    instead: Instead,
) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = now.split_inclusive('\n').collect();
    let index = |line: u32| usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
    let (from, to) = (index(from), index(to));
    let mut out = String::with_capacity(before.len().max(now.len()));
    let (mut at, mut of) = (0_usize, 0_usize);
    for (same_old, same_new, length) in matches(&old, &new) {
        // Between two pieces that are the same lies a change.
        let touches = at <= to && same_old > from;
        let was = old.get(at..same_old).unwrap_or(&[]);
        let is = new.get(of..same_new).unwrap_or(&[]);
        if touches {
            out.extend(was.iter().copied());
        }
        if !touches || instead == Instead::Stays {
            out.extend(is.iter().copied());
        }
        let kept = new.get(same_new..same_new.saturating_add(length)).unwrap_or(&[]);
        out.extend(kept.iter().copied());
        at = same_old.saturating_add(length);
        of = same_new.saturating_add(length);
    }
    out
}

/// How many lines are compared at most, multiplied.
const WORK_MAX: usize = 16_000_000;

/// Pieces that are the same in both, in order; an empty one stands at the end.
fn matches(old: &[&str], new: &[&str]) -> Vec<(usize, usize, usize)> {
    let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or(&[]), new.get(head..).unwrap_or(&[]));
    let tail = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    let old_mid = old_rest.get(..old_rest.len().saturating_sub(tail)).unwrap_or(&[]);
    let new_mid = new_rest.get(..new_rest.len().saturating_sub(tail)).unwrap_or(&[]);
    let mut found = vec![(0, 0, head)];
    if old_mid.len().saturating_mul(new_mid.len()) <= WORK_MAX {
        let inner = common(old_mid, new_mid).into_iter();
        found.extend(inner.map(|(a, b)| (head.saturating_add(a), head.saturating_add(b), 1)));
    }
    found.push((old.len().saturating_sub(tail), new.len().saturating_sub(tail), tail));
    found
}

/// The longest common lines, as pairs of places.
fn common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let width = new.len().saturating_add(1);
    let mut lengths = vec![0_u32; old.len().saturating_add(1).saturating_mul(width)];
    let place = |a: usize, b: usize| a.saturating_mul(width).saturating_add(b);
    for (a, one) in old.iter().enumerate().rev() {
        for (b, other) in new.iter().enumerate().rev() {
            let get = |a: usize, b: usize| lengths.get(place(a, b)).copied().unwrap_or(0);
            let next = |number: usize| number.saturating_add(1);
            let length = if one == other {
                get(next(a), next(b)).saturating_add(1)
            } else {
                get(next(a), b).max(get(a, next(b)))
            };
            if let Some(slot) = lengths.get_mut(place(a, b)) {
                *slot = length;
            }
        }
    }
    let (mut a, mut b) = (0_usize, 0_usize);
    let mut pairs = Vec::new();
    while let (Some(one), Some(other)) = (old.get(a), new.get(b)) {
        let get = |a: usize, b: usize| lengths.get(place(a, b)).copied().unwrap_or(0);
        if one == other {
            pairs.push((a, b));
            (a, b) = (a.saturating_add(1), b.saturating_add(1));
        } else if get(a.saturating_add(1), b) >= get(a, b.saturating_add(1)) {
            a = a.saturating_add(1);
        } else {
            b = b.saturating_add(1);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_lines_asked_for_come_back() {
        let before = "a\nb\ntest1\nassert1\nc\ntest2\nassert2\n";
        let cases = [
            // Both tests are gone and something was added: the first comes back.
            ("a\nnew\nb\nc\n", (3, 4), "a\nnew\nb\ntest1\nassert1\nc\n"),
            ("a\nnew\nb\nc\n", (6, 7), "a\nnew\nb\nc\ntest2\nassert2\n"),
            // A line of it was changed.
            (
                "a\nb\ntest1\npass\nc\ntest2\nassert2\nz\n",
                (3, 4),
                "a\nb\ntest1\nassert1\nc\ntest2\nassert2\nz\n",
            ),
            // A line was added in the middle of it.
            ("a\nb\ntest1\nreturn\nassert1\nc\ntest2\nassert2\n", (3, 4), before),
            (before, (3, 4), before),
            ("", (3, 4), before),
        ];
        for (now, lines, expected) in cases {
            assert_eq!(put_back(before, now, lines, Instead::Goes), expected, "{now:?}");
        }
        let kept = put_back("f\ntest\nassert\n", "f\nmine\n", (2, 3), Instead::Stays);
        assert_eq!(kept, "f\ntest\nassert\nmine\n");
    }

    proptest! {
        #[test]
        #[expect(clippy::format_collect, reason = "a text of a few lines")]
        fn the_lines_are_there_again_and_all_of_them_bring_all_back(
            before in prop::collection::vec("[abcde]", 1..12),
            now in prop::collection::vec("[abcdeXYZ]", 0..12),
            at in 0_usize..12,
        ) {
            let join = |lines: &[String]| lines.iter().map(|l| format!("{l}\n")).collect::<String>();
            let (text, other) = (join(&before), join(&now));
            let line = u32::try_from(at % before.len()).unwrap() + 1;
            let back = put_back(&text, &other, (line, line), Instead::Goes);
            let wanted = before[at % before.len()].as_str();
            prop_assert!(back.lines().any(|line| line == wanted));
            let last = u32::try_from(before.len()).unwrap();
            prop_assert_eq!(put_back(&text, &text, (1, last), Instead::Goes), text.clone());
            prop_assert_eq!(put_back(&text, "", (1, last), Instead::Goes), text);
        }
    }
}
