//! One folder of a repository as the detectors see it, and the programs of this machine.

use std::path::{Path, PathBuf};

use super::{Programs, find_repository, path};

/// One folder and the programs of this machine.
pub(crate) struct Look<'a> {
    /// The folder.
    pub(crate) dir: PathBuf,
    /// The repository's root; the folder is in it or is it.
    pub(crate) root: &'a Path,
    /// The programs.
    pub(crate) programs: &'a Programs,
}

impl<'a> Look<'a> {
    pub(crate) fn at_root(root: &'a Path, programs: &'a Programs) -> Self {
        Self { dir: root.to_owned(), root, programs }
    }

    /// What there is to say of a folder for which no program matters.
    pub(crate) fn at<T>(dir: &Path, say: impl FnOnce(&Look<'_>) -> T) -> T {
        let root = find_repository(dir).unwrap_or_else(|| dir.to_owned());
        say(&Look { dir: dir.to_owned(), root: &root, programs: &Programs::default() })
    }

    /// The same in a folder below.
    pub(crate) fn below(&self, name: &str) -> Self {
        Self { dir: self.dir.join(name), root: self.root, programs: self.programs }
    }

    /// This folder and those above it up to the repository's root, each with the way there:
    /// nothing, `../`, `../../`.
    pub(crate) fn upwards(&self) -> impl Iterator<Item = (String, Self)> {
        let folders = self.dir.ancestors().take_while(|folder| folder.starts_with(self.root));
        folders.enumerate().map(|(steps, folder)| {
            let above = Self { dir: folder.to_owned(), root: self.root, programs: self.programs };
            ("../".repeat(steps), above)
        })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.dir.join(name).exists()
    }

    /// The first of these names that is there.
    pub(crate) fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// The text of a file, if it is there, readable and not enormous; without the mark some editors put first.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        const LARGEST: u64 = 4 << 20;
        let text = crate::files::read_text(&self.dir.join(name), LARGEST).ok()?;
        Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }

    /// Names in a folder below, sorted; none when it is not there.
    pub(crate) fn names(&self, below: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.join(below)).into_iter().flatten();
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The folders in a folder below that may hold work, sorted, as paths from here.
    pub(crate) fn folders(&self, below: &str) -> Vec<String> {
        let is_work = |name: &String| !name.starts_with('.') && !SKIPPED.contains(&name.as_str());
        let entries = std::fs::read_dir(self.dir.join(below)).into_iter().flatten().flatten();
        // Of very many files nothing is asked but what they are, which the folder says itself.
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
        let mut found: Vec<String> =
            names.filter(is_work).map(|name| joined(below, &name)).collect();
        found.sort();
        found
    }

    /// This folder, as an empty path, and the folders below that may hold work, so many levels deep,
    /// the nearest first.
    pub(crate) fn folders_within(&self, levels: usize) -> Vec<String> {
        const FOLDERS_MAX: usize = 500;
        let mut all = vec![String::new()];
        let mut level = all.clone();
        for _ in 0..levels {
            level = level.iter().flat_map(|folder| self.folders(folder)).collect();
            all.append(&mut level.clone());
            if all.len() > FOLDERS_MAX {
                break;
            }
        }
        all.truncate(FOLDERS_MAX);
        all
    }

    /// The files of such names in this folder and those below it, as paths from here.
    pub(crate) fn files_within(
        &self,
        levels: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let files = |folder: &String| {
            let names = self.names(folder).into_iter().filter(|name| is_wanted(name));
            names.map(|name| joined(folder, &name)).collect::<Vec<_>>()
        };
        self.folders_within(levels).iter().flat_map(files).collect()
    }

    pub(crate) fn runnable(&self, program: &str) -> bool {
        self.programs.can_start(program, &self.dir)
    }

    /// A program that is a file in this folder or in one above it, as a path from here.
    pub(crate) fn own_program(&self, candidates: &[String]) -> Option<String> {
        self.upwards().find_map(|(way, above)| {
            let found =
                candidates.iter().find(|name| path::is_executable(&above.dir.join(name)))?;
            Some(format!("{way}{found}"))
        })
    }
}

/// A name in a folder, where an empty path is the folder looked at.
pub(super) fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Whether a file's name has this ending after its last dot.
pub(super) fn ends(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == ending)
}

/// Folders that hold other people's projects, what was built, or none that is worked on.
const SKIPPED: [&str; 20] = [
    "node_modules",
    "target",
    "vendor",
    "venv",
    "third_party",
    "external",
    "deps",
    "dist",
    "build",
    "_build",
    "bin",
    "obj",
    "docs",
    "example",
    "examples",
    "fixtures",
    "testdata",
    "templates",
    "benchmarks",
    "__pycache__",
];
