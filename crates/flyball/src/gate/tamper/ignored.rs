//! Ignored files a check may read. No tree of git's holds them, so what was in them is kept beside the
//! tree the run began on, and put into both trees before they are compared.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::{Files, TreeFiles};
use super::matters;
use super::watched::Reach;
use crate::gate::plan::GatePlan;
use crate::journal::TamperBase;
use crate::worktree::{Worktree, WorktreeError};

/// The most files that are kept.
const FILES_MAX: usize = 200;
/// The largest.
const FILE_MAX: u64 = 128 * 1024;
/// Folders that are made by the work: what is in them may be another thing every time.
const MADE: [&str; 16] = [
    "dist",
    "build",
    "out",
    "target",
    ".next",
    "coverage",
    "node_modules",
    "__pycache__",
    ".cache",
    "obj",
    "gen",
    "generated",
    ".tox",
    ".venv",
    "venv",
    "site-packages",
];
/// Words in lines that are nobody's to keep.
const SECRET: [&str; 4] = ["_auth", "token", "password", "secret"];
/// What a text begins with of which such lines were left out.
const SHORTENED: &str = "# lines that may hold secrets are left out\n";

/// Whether lines of a kept text were left out.
pub(super) fn is_shortened(text: &str) -> bool {
    text.starts_with(SHORTENED)
}

/// The ignored files that the gates of a plan may read, with what is in them.
pub(super) fn files(worktree: &Worktree, tree: &str, plan: &GatePlan) -> BTreeMap<String, String> {
    if plan.is_empty() {
        return BTreeMap::new();
    }
    let disk = DiskFiles {
        tree: TreeFiles::new(worktree, tree, tree),
        root: worktree.root().to_path_buf(),
        found: RefCell::default(),
    };
    let reach = Reach::of(plan, &disk);
    let mut found = disk.found.into_inner();
    for path in worktree.ignored() {
        let wanted = !path.ends_with('/') && !is_made(&path) && matters(&path, &reach);
        if wanted && found.len() < FILES_MAX && !found.contains_key(&path) {
            found.extend(read(worktree.root(), &path).map(|text| (path, text)));
        }
    }
    found
}

/// Both trees, with the ignored files of then and of now in them.
pub(super) fn trees(
    worktree: &Worktree,
    (base, tree): (&TamperBase, &str),
    plan: &GatePlan,
) -> Result<(String, String), WorktreeError> {
    let before = &base.body.ignored;
    let mut now = files(worktree, tree, plan);
    for path in before.keys().filter(|path| !is_made(path) || path.ends_with("/bin/activate")) {
        // One that is no longer ignored is in the tree.
        let is_known = now.contains_key(path) || worktree.show(tree, path)?.is_some();
        if !is_known {
            now.extend(read(worktree.root(), path).map(|text| (path.clone(), text)));
        }
    }
    let pairs = |files: &'_ BTreeMap<String, String>| -> Vec<(String, String)> {
        files.iter().map(|(path, text)| (path.clone(), text.clone())).collect()
    };
    let with = |tree: &str, files: Vec<(String, String)>| {
        worktree.with_files(tree, files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
    };
    Ok((with(&base.tree, pairs(before))?, with(tree, pairs(&now))?))
}

fn is_made(path: &str) -> bool {
    path.split('/').any(|part| MADE.contains(&part))
}

/// A plain file of a size to be kept, without lines that are nobody's.
fn read(root: &Path, path: &str) -> Option<String> {
    let text = crate::files::read_text(&root.join(path), FILE_MAX).ok()?;
    let is_secret = |line: &str| {
        let line = line.to_ascii_lowercase();
        SECRET.iter().any(|word| line.contains(word))
    };
    if !text.lines().any(is_secret) {
        return Some(text);
    }
    let lines: Vec<&str> = text.lines().filter(|line| !is_secret(line)).collect();
    Some(format!("{SHORTENED}{}\n", lines.join("\n")))
}

/// The files of a tree, and ignored ones where the tree has none; remembers those.
struct DiskFiles<'a> {
    tree: TreeFiles<'a>,
    root: PathBuf,
    found: RefCell<BTreeMap<String, String>>,
}

impl Files for DiskFiles<'_> {
    fn before(&self, path: &str) -> Option<String> {
        if let Some(text) = self.tree.before(path) {
            return Some(text);
        }
        let plain = !path.is_empty()
            && Path::new(path)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
        let activates = path.ends_with("/bin/activate");
        if !plain || (is_made(path) && !activates) || self.found.borrow().len() >= FILES_MAX {
            return None;
        }
        let text = read(&self.root, path)?;
        self.found.borrow_mut().insert(path.to_owned(), text.clone());
        Some(text)
    }

    fn after(&self, path: &str) -> Option<String> {
        self.before(path)
    }

    fn mentioning(&self, word: &str) -> Vec<String> {
        self.tree.mentioning(word)
    }

    fn ending(&self, parts: &str) -> Vec<String> {
        self.tree.ending(parts)
    }
}
