//! Installed packages that were edited where they lie. They are ignored, so no tree shows them; but a
//! package manager writes a package as a whole, and the time at which the system last changed a file
//! is nobody's to set: a package of which one file is newer than the run and others are older was
//! edited by hand.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flyball_core::Moment;
use flyball_core::gate::TamperFinding;

use crate::gate::plan::GatePlan;
use crate::journal::TamperBase;
use crate::worktree::Worktree;

/// The most files that are looked at.
const FILES_MAX: usize = 60_000;
/// How deep below an ignored folder packages are looked for, and how deep a package is.
const DEPTH_MAX: usize = 6;
/// Folders in which builds leave much and nobody installs anything.
const BUILT: [&str; 8] =
    ["target", "dist", "build", "out", ".next", ".cache", "__pycache__", "coverage"];
/// What is said of a program that no compiler has made.
const BUILT_BY_HAND: &str = "was put in place of a program that cargo built";
/// The most findings.
const FOUND_MAX: usize = 20;
/// The largest list of a package's files.
const LIST_MAX: u64 = 4 * 1024 * 1024;
/// The largest file that is compared.
const FILE_MAX: u64 = 16 * 1024 * 1024;

/// The packages edited since the run began.
pub(super) fn edited(
    worktree: &Worktree,
    plan: &GatePlan,
    base: &TamperBase,
) -> Vec<TamperFinding> {
    if plan.is_empty() {
        return Vec::new();
    }
    let root = worktree.root();
    let mut search = Search { root, since: base.at, left: FILES_MAX, found: Vec::new() };
    for folder in worktree.ignored().iter().filter_map(|path| path.strip_suffix('/')) {
        search.folder(&root.join(folder), 0);
        if folder.rsplit('/').next() == Some("target") {
            search.built(&root.join(folder));
        }
    }
    search.found.truncate(FOUND_MAX);
    let finish = |mut one: TamperFinding| {
        one.base.clone_from(&base.tree);
        one
    };
    search.found.into_iter().map(finish).collect()
}

/// Whether the file a finding names is still what it was found to be.
pub(super) fn still_stands(worktree: &Worktree, one: &TamperFinding) -> bool {
    let file = one.finding.file.as_deref().map(|path| worktree.root().join(path));
    file.and_then(|file| digest(&file)).is_some_and(|digest| digest == one.now)
}

fn digest(file: &Path) -> Option<String> {
    let bytes = crate::files::read(file, FILE_MAX).ok()?;
    Some(blake3::hash(&bytes).to_hex().to_string())
}

struct Search<'a> {
    root: &'a Path,
    since: Moment,
    left: usize,
    found: Vec<TamperFinding>,
}

impl Search<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) {
        match folder.file_name().and_then(|name| name.to_str()) {
            Some("node_modules") => self.node_modules(folder, depth),
            Some("site-packages") => self.site_packages(folder),
            Some(name) if BUILT.contains(&name) => {}
            _ if depth < DEPTH_MAX => {
                for inner in self.entries(folder).into_iter().filter(|path| path.is_dir()) {
                    if !inner.is_symlink() {
                        self.folder(&inner, depth.saturating_add(1));
                    }
                }
            }
            _ => {}
        }
    }

    /// Programs of tests that cargo has built: one that is a script was never built.
    fn built(&mut self, target: &Path) {
        for profile in self.entries(target) {
            for program in self.entries(&profile.join("deps")) {
                let is_program = program.extension().is_none();
                let meta = fs::symlink_metadata(&program);
                let newer = meta.is_ok_and(|meta| meta.is_file() && self.is_newer(&meta));
                if is_program && newer && is_script(&program) {
                    self.tell(&program, &program, BUILT_BY_HAND);
                }
            }
        }
    }

    /// What is in a folder, as long as anything more is looked at.
    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).take(self.left).collect();
        self.left = self.left.saturating_sub(paths.len());
        paths.sort();
        paths
    }

    fn node_modules(&mut self, folder: &Path, depth: usize) {
        for package in self.entries(folder) {
            let name = package.file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned();
            if package.is_symlink() {
                continue;
            }
            if name.starts_with('@') {
                for scoped in self.entries(&package) {
                    self.node_package(&scoped);
                }
            } else if name == ".pnpm" && depth < DEPTH_MAX {
                for store in self.entries(&package) {
                    self.folder(&store.join("node_modules"), depth.saturating_add(1));
                }
            } else if name == ".bin" && !folder.join(".modules.yaml").exists() {
                self.programs(&package);
            } else if !name.starts_with('.') {
                self.node_package(&package);
            }
        }
    }

    /// The links to programs: a file in place of one was put there by hand.
    fn programs(&mut self, folder: &Path) {
        for program in self.entries(folder) {
            let meta = fs::symlink_metadata(&program);
            if meta.is_ok_and(|meta| meta.is_file() && self.is_newer(&meta)) {
                self.tell(&program, &program, "was put in place of an installed program");
            }
        }
    }

    fn node_package(&mut self, package: &Path) {
        let mut of = Ages::default();
        self.ages(package, &mut of, 0);
        self.judge(package, of);
    }

    fn ages(&mut self, folder: &Path, of: &mut Ages, depth: usize) {
        for path in self.entries(folder) {
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            if meta.is_dir() {
                if name == "node_modules" {
                    self.node_modules(&path, depth);
                } else if !name.starts_with('.') && depth < DEPTH_MAX {
                    self.ages(&path, of, depth.saturating_add(1));
                }
            } else if self.is_newer(&meta) {
                of.newer.extend(is_code(name).then_some(path));
            } else {
                of.has_older = true;
            }
        }
    }

    fn site_packages(&mut self, folder: &Path) {
        let entries = self.entries(folder);
        let mut listed: Vec<PathBuf> = Vec::new();
        let mut was_there = false;
        for info in entries.iter().filter(|path| has_ending(path, "dist-info")) {
            let Ok(list) = crate::files::read_text(&info.join("RECORD"), LIST_MAX) else {
                continue;
            };
            let mut of = Ages::default();
            for line in list.lines().take(self.left) {
                let path = folder.join(line.split(',').next().unwrap_or("").trim_matches('"'));
                self.left = self.left.saturating_sub(1);
                let in_info = path.starts_with(info);
                match fs::symlink_metadata(&path) {
                    Ok(meta) if self.is_newer(&meta) => {
                        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
                        of.newer.extend((!in_info && is_code(name)).then(|| path.clone()));
                    }
                    Ok(_) => of.has_older = true,
                    // What is listed and gone: a package is not taken away in part.
                    Err(_) => of.has_older |= path.extension().is_some_and(|ending| ending == "py"),
                }
                if path.parent() == Some(folder) {
                    listed.push(path);
                }
            }
            was_there |= of.has_older;
            self.judge(info, of);
        }
        if !was_there {
            return;
        }
        for path in entries.iter().filter(|path| !listed.contains(*path)) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            let meta = fs::symlink_metadata(path);
            if runs_first(path, name) && meta.is_ok_and(|meta| self.is_newer(&meta)) {
                self.tell(
                    path,
                    path,
                    "runs before every check and belongs to no installed package",
                );
            }
        }
    }

    fn judge(&mut self, package: &Path, of: Ages) {
        let Ages { newer, has_older } = of;
        let Some(first) = newer.first().filter(|_| has_older) else { return };
        let shown = first.strip_prefix(self.root).unwrap_or(first).display().to_string();
        let what = format!("was edited where it is installed, in `{shown}`");
        self.tell(package, first, &what);
    }

    fn tell(&mut self, package: &Path, file: &Path, what: &str) {
        let shown = |path: &Path| {
            path.strip_prefix(self.root).unwrap_or(path).to_string_lossy().into_owned()
        };
        let (package, path) = (shown(package), shown(file));
        let again = if what == BUILT_BY_HAND { "build" } else { "install" };
        let message = format!("`{package}` {what}; {again} it again to undo it");
        let mut found = TamperFinding::about(format!("installed:{package}"), message);
        found.now = digest(file).unwrap_or_default();
        found.finding.file = Some(path);
        self.found.push(found);
    }

    /// Whether the system changed it after the run began.
    fn is_newer(&self, meta: &Metadata) -> bool {
        let seconds = u64::try_from(meta.ctime()).unwrap_or(0);
        let millis = u64::try_from(meta.ctime_nsec()).unwrap_or(0) / 1_000_000;
        seconds.saturating_mul(1_000).saturating_add(millis) > self.since.as_millis()
    }
}

/// How old the files of a package are, seen from the beginning of the run.
#[derive(Default)]
struct Ages {
    /// Code that is newer.
    newer: Vec<PathBuf>,
    has_older: bool,
}

/// Whether a file of this name is run or read as code.
fn is_code(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((_, ending)) => {
            ["js", "cjs", "mjs", "json", "py", "pth", "sh", "ts"].contains(&ending)
        }
        None => true,
    }
}

/// Whether a file is for an interpreter.
fn is_script(path: &Path) -> bool {
    let mut begin = [0_u8; 2];
    let read =
        crate::files::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut begin));
    read.is_ok() && begin == *b"#!"
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

/// Whether Python runs it before any program.
fn runs_first(path: &Path, name: &str) -> bool {
    if ["sitecustomize.py", "usercustomize.py"].contains(&name) {
        return true;
    }
    let runs = |text: String| text.lines().any(|line| line.starts_with("import"));
    has_ending(path, "pth") && crate::files::read_text(path, FILE_MAX).is_ok_and(runs)
}
