//! From a file as a tool wrote it to its path in the repository.

use alloc::format;
#[cfg(not(feature = "read"))]
use alloc::{string::String, vec::Vec};

use crate::Finding;

/// The tree in which a command ran.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// Its root, absolute; several where links lead to it.
    pub roots: &'a [&'a str],
    /// The folder of the command in it; empty for the root itself.
    pub folder: &'a str,
    /// Whether it has a file of this path, relative to the root.
    pub has: &'a dyn Fn(&str) -> bool,
}

impl core::fmt::Debug for Tree<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Tree")
            .field("roots", &self.roots)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Finding {
    /// Makes its file a path relative to the root of this tree: an absolute one that lies in it, and one that is relative
    /// to the command's folder or named in a package only. What is not there stays as the tool wrote it.
    pub fn locate(&mut self, tree: &Tree<'_>) {
        if let Some(path) = self.file.as_deref().and_then(|file| self.path_in(file, tree)) {
            self.file = Some(path);
        }
    }

    fn path_in(&self, file: &str, tree: &Tree<'_>) -> Option<String> {
        let file = file.strip_prefix("file://").unwrap_or(file);
        if file.starts_with('/') {
            let own = tree.roots.iter().find_map(|root| {
                file.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/')
            })?;
            return plain(own).filter(|path| !path.is_empty());
        }
        let below = |folder: &str| {
            let path = plain(&format!("{}/{folder}/{file}", tree.folder))?;
            (tree.has)(&path).then_some(path)
        };
        let package = self.package.as_deref().filter(|_| !file.contains('/'));
        // How much of a package's name is that of its module, nobody says.
        let folders = package.into_iter().flat_map(ends);
        folders.chain([""]).find_map(below).or_else(|| {
            let path = plain(file)?;
            (tree.has)(&path).then_some(path)
        })
    }
}

/// `a/b/c`, `b/c`, `c`.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    let starts = path.match_indices('/').map(|(at, _)| at + 1);
    core::iter::once(0).chain(starts).filter_map(|at| path.get(at..))
}

/// A path without `.`, `..` and empty parts; none where it leads out of the tree.
fn plain(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::Tree;
    use crate::{Finding, FindingKind};
    #[cfg(not(feature = "read"))]
    use std::string::String;

    fn located(file: &str, package: Option<&str>, folder: &str) -> String {
        let files = ["a.go", "bank/a.go", "bank/deep/a.go", "web/src/a.ts", "web/a.go", "top.py"];
        let has = |path: &str| files.contains(&path);
        let tree = Tree { roots: &["/home/me/repo", "/real/repo/"], folder, has: &has };
        let mut finding = Finding::new(FindingKind::Test, "x").at(file, 1, None);
        finding.package = package.map(String::from);
        finding.locate(&tree);
        finding.file.unwrap_or_default()
    }

    #[test]
    fn a_file_becomes_its_path_in_the_repository() {
        for (file, package, folder, path) in [
            // Absolute, through either name of the root; elsewhere it stays.
            ("/home/me/repo/web/src/a.ts", None, "", "web/src/a.ts"),
            ("/real/repo/gone.ts", None, "web", "gone.ts"),
            ("/home/me/repository/a.go", None, "", "/home/me/repository/a.go"),
            ("/usr/lib/a.py", None, "", "/usr/lib/a.py"),
            ("file:///home/me/repo/top.py", None, "", "top.py"),
            ("/home/me/repo/web/../top.py", None, "", "top.py"),
            // Relative to where the command ran, before the root.
            ("src/a.ts", None, "web", "web/src/a.ts"),
            ("./src/a.ts", None, "web/", "web/src/a.ts"),
            ("a.go", None, "web", "web/a.go"),
            ("../top.py", None, "web", "top.py"),
            ("top.py", None, "web", "top.py"),
            ("../../top.py", None, "web", "../../top.py"),
            ("src/gone.ts", None, "web", "src/gone.ts"),
            // Named in a package.
            ("a.go", Some("example.com/x/bank"), "", "bank/a.go"),
            ("a.go", Some("example.com/x/bank/deep"), "", "bank/deep/a.go"),
            ("a.go", Some("example.com/x"), "", "a.go"),
            ("a.go", Some("deep"), "bank", "bank/deep/a.go"),
            ("b.go", Some("example.com/x/bank"), "", "b.go"),
            ("bank/a.go", Some("example.com/x/bank"), "", "bank/a.go"),
        ] {
            assert_eq!(located(file, package, folder), path, "{file} {package:?} in {folder:?}");
        }
    }
}
