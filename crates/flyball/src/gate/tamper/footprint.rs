//! What gates do to their own checks while they run. A test that is replaced for the gate alone and
//! put back after it leaves no trace in any tree; but when the system last changed a file is nobody's
//! to set.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::files::{Files, TreeFiles};
use super::source::Language;
use super::tests_of::{may_hold_tests, tests_of};
use super::watched::Reach;
use super::{checkers, is_foreign_test, runner_files};
use crate::gate::plan::GatePlan;
use crate::worktree::Worktree;

/// The most files that are looked at.
const FILES_MAX: usize = 50_000;
/// The most that are told.
const TOLD_MAX: usize = 20;
/// Files of runners that tools write to by themselves.
const WRITTEN_BY_TOOLS: [&str; 5] =
    ["package.json", "pyproject.toml", "Cargo.toml", "setup.cfg", "pom.xml"];

/// What tells one state of a file from another: device, number, time of change, size.
type State = (u64, u64, i64, i64, u64);

/// The files of a tree as the system knows them.
#[derive(Debug, Default)]
pub struct Footprint {
    root: PathBuf,
    files: BTreeMap<String, State>,
}

impl Footprint {
    /// Everything that may check something, as it is now.
    pub fn of(worktree: &Worktree, tree: &str) -> Self {
        let mut this = Self { root: worktree.root().to_path_buf(), files: BTreeMap::new() };
        let all = worktree.list(tree).unwrap_or_default();
        for path in all.into_iter().filter(|path| may_check(path)).take(FILES_MAX) {
            if let Some(state) = this.state(&path) {
                this.files.insert(path, state);
            }
        }
        this
    }

    fn state(&self, path: &str) -> Option<State> {
        let found = std::fs::symlink_metadata(self.root.join(path)).ok()?;
        Some((found.dev(), found.ino(), found.ctime(), found.ctime_nsec(), found.len()))
    }

    /// Those that were touched since this was asked last.
    pub fn touched(&mut self) -> Vec<String> {
        let mut touched = Vec::new();
        let now: Vec<(String, State)> = self
            .files
            .iter()
            .filter_map(|(path, was)| {
                let is = self.state(path).unwrap_or_default();
                (is != *was).then(|| (path.clone(), is))
            })
            .collect();
        for (path, state) in now {
            self.files.insert(path.clone(), state);
            touched.push(path);
        }
        touched
    }
}

/// Of these, what holds tests, runs them, or is what they check with.
pub fn that_check(
    worktree: &Worktree,
    tree: &str,
    plan: &GatePlan,
    touched: Vec<String>,
) -> Vec<String> {
    if touched.is_empty() {
        return Vec::new();
    }
    let files = TreeFiles::new(worktree, tree, tree);
    let reach = Reach::of(plan, &files);
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let checks = |path: &String| {
        let by_tools = WRITTEN_BY_TOOLS.contains(&name(path).as_str());
        let holds_tests = Language::of(path)
            .filter(|language| may_hold_tests(*language, path))
            .zip(files.before(path))
            .is_some_and(|(language, text)| !tests_of(language, &text).is_empty());
        reach.checks_with(path)
            || (runner_files::may_matter(path) && !by_tools)
            || is_foreign_test(path)
            || holds_tests
            || checkers::holds_one(&files, path)
    };
    touched.into_iter().filter(checks).take(TOLD_MAX).collect()
}

fn may_check(path: &str) -> bool {
    let shell = [".sh", ".bash", ".mk"].iter().any(|end| path.ends_with(end));
    Language::of(path).is_some() || is_foreign_test(path) || runner_files::may_matter(path) || shell
}
