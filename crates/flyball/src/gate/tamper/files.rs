//! Files of the two trees that are compared, read when they are asked for.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::worktree::Worktree;

/// Any file of the two trees, changed or not.
pub(super) trait Files {
    /// As it was.
    fn before(&self, path: &str) -> Option<String>;
    /// As it is.
    fn after(&self, path: &str) -> Option<String>;
    /// The files that held this word.
    fn mentioning(&self, word: &str) -> Vec<String>;
    /// The files whose path ended with these parts.
    fn ending(&self, parts: &str) -> Vec<String>;
}

/// Files read when they are asked for, each once.
pub(super) struct TreeFiles<'a> {
    worktree: &'a Worktree,
    trees: [&'a str; 2],
    known: RefCell<BTreeMap<(usize, String), Option<String>>>,
}

impl<'a> TreeFiles<'a> {
    pub(super) fn new(worktree: &'a Worktree, first: &'a str, now: &'a str) -> Self {
        Self { worktree, trees: [first, now], known: RefCell::default() }
    }

    fn read(&self, side: usize, path: &str) -> Option<String> {
        let key = (side, path.to_owned());
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let tree = self.trees.get(side)?;
        let odd = path.is_empty() || path.contains(['\n', ':']) || path.starts_with('/');
        let bytes = if odd { None } else { self.worktree.show(tree, path).ok().flatten() };
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        self.known.borrow_mut().insert(key, text.clone());
        text
    }
}

impl Files for TreeFiles<'_> {
    fn before(&self, path: &str) -> Option<String> {
        self.read(0, path)
    }

    fn after(&self, path: &str) -> Option<String> {
        self.read(1, path)
    }

    fn mentioning(&self, word: &str) -> Vec<String> {
        let tree = self.trees.first().copied().unwrap_or_default();
        self.worktree.mentioning(tree, word).unwrap_or_default()
    }

    fn ending(&self, parts: &str) -> Vec<String> {
        let tree = self.trees.first().copied().unwrap_or_default();
        let all = self.worktree.list(tree).unwrap_or_default();
        let end = format!("/{parts}");
        all.into_iter().filter(|path| path == parts || path.ends_with(&end)).collect()
    }
}
