//! Tests of Python run by the standard library alone: which folders to start in, so that each is found.

use super::look::joined;
use super::{Look, Proposal, folders};
use crate::config::quoted;

/// A file that holds tests by its name.
pub(super) struct TestFile {
    /// The folder it is in, as a path from the one looked at.
    pub(super) folder: String,
    name: String,
    runner: Runner,
    /// Whether it has tests of any kind.
    has_test: bool,
}

/// Who can run what is in such a file.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Runner {
    /// There is nothing to run, or nobody has looked.
    #[default]
    Nobody,
    /// The standard library, if its methods are named for it.
    Unittest,
    /// Only pytest.
    Pytest,
}

impl Runner {
    fn of(text: &str) -> Self {
        let marks = ["import pytest", "from pytest", "def test_", "async def test_"];
        if text.lines().any(|line| marks.iter().any(|mark| line.starts_with(mark))) {
            Self::Pytest
        } else if text.contains("TestCase") {
            Self::Unittest
        } else {
            Self::Nobody
        }
    }
}

impl TestFile {
    pub(super) fn has_test(&self) -> bool {
        self.has_test
    }

    /// Whether pytest takes it for one of tests.
    pub(super) fn is_pytests(&self) -> bool {
        let stem = self.name.trim_end_matches(".py");
        stem.starts_with("test_") || stem.ends_with("_test")
    }

    fn is_unittest(&self) -> bool {
        self.runner == Runner::Unittest && (self.is_pytests() || self.has_test)
    }
}

/// The files with tests in the folder and below, without those of projects that are looked at themselves.
pub(super) fn test_files(look: &Look<'_>) -> Vec<TestFile> {
    const LEVELS: usize = 4;
    /// So many are read; of a project with more these say what it is like.
    const READ_MAX: usize = 300;
    let is_test = |name: &str| {
        name.strip_suffix(".py")
            .is_some_and(|stem| stem.starts_with("test") || stem.ends_with("_test"))
    };
    let named = |(at, path): (usize, String)| {
        let text = if at < READ_MAX { look.read(&path) } else { None };
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let runner = text.as_deref().map_or_else(Runner::default, Runner::of);
        let has_test = text.is_some_and(|text| text.contains("def test"));
        TestFile { folder: folder.to_owned(), name: name.to_owned(), runner, has_test }
    };
    let is_project = |folder: &String| {
        let below = look.below(folder);
        look.dir == look.root && below.first(&["pyproject.toml", "setup.py"]).is_some()
    };
    let projects: Vec<String> =
        folders::nearest(look).into_iter().filter(is_project).map(|name| name + "/").collect();
    let is_own = |path: &String| !projects.iter().any(|project| path.starts_with(project.as_str()));
    look.files_within(LEVELS, is_test).into_iter().filter(is_own).enumerate().map(named).collect()
}

/// What the standard library can run.
pub(super) struct ByUnittest {
    pub(super) proposals: Vec<Proposal>,
    /// Whether other tests need more than that.
    leaves_some: bool,
}

impl ByUnittest {
    /// Whether there are tests, and it can run all of them.
    pub(super) fn is_everything(&self) -> bool {
        !self.proposals.is_empty() && !self.leaves_some
    }
}

/// One gate for each folder that Python's modules are named from: `discover` goes from there into packages
/// and into nothing else.
pub(super) fn proposals(files: &[TestFile], python: &str, look: &Look<'_>) -> ByUnittest {
    const GATES_MAX: usize = 8;
    let has_sources = || {
        let is_module = |name: &str| name.strip_suffix(".py").is_some();
        look.has("src") && !look.below("src").files_within(1, is_module).is_empty()
    };
    // What is in `src` is found where it is installed, or where Python is told.
    let is_outside = files.iter().any(|file| !format!("{}/", file.folder).starts_with("src/"));
    let way = if is_outside && has_sources() { "PYTHONPATH=src " } else { "" };
    let mut groups: Vec<Group<'_>> = Vec::new();
    for file in files {
        let (top, start) = top_of(look, &file.folder);
        match groups.iter_mut().find(|group| group.top == top) {
            Some(group) => {
                if group.start != start {
                    group.start.clone_from(&top);
                }
                group.files.push(file);
            }
            None => groups.push(Group { top, start, files: vec![file] }),
        }
    }
    groups.retain(|group| group.files.iter().any(|file| file.is_unittest()));
    groups.retain(|group| !group.files.iter().any(|file| file.runner == Runner::Pytest));
    if groups.len() > GATES_MAX {
        return ByUnittest { proposals: Vec::new(), leaves_some: true };
    }
    let proposals = groups.iter().enumerate().map(|(index, group)| Proposal {
        part: (index > 0).then(|| group.start.clone()),
        ..group.proposal(way, python)
    });
    let leaves_some = files.iter().any(|file| file.runner == Runner::Pytest);
    ByUnittest { proposals: proposals.collect(), leaves_some }
}

/// The tests whose modules are named from one folder.
struct Group<'a> {
    /// That folder, the nearest upwards that is no package.
    top: String,
    /// The package right below it that holds them all, or the folder itself.
    start: String,
    files: Vec<&'a TestFile>,
}

impl Group<'_> {
    fn proposal(&self, way: &str, python: &str) -> Proposal {
        let shown = |folder: &str| if folder.is_empty() { ".".to_owned() } else { quoted(folder) };
        let mut command = format!("{way}{python} -m unittest discover -s {}", shown(&self.start));
        if self.start != self.top {
            command = format!("{command} -t {}", shown(&self.top));
        }
        let begins = |file: &&&TestFile| file.name.starts_with("test");
        let beginning = self.files.iter().filter(begins).count();
        // Without a pattern, names must begin with `test`.
        if beginning == 0 {
            command.push_str(" -p '*_test.py'");
        } else if beginning < self.files.len() {
            command.push_str(" -p '*test*.py'");
        }
        let proposal =
            Proposal::new("tests", &command, format!("test files in {}/", shown(&self.start)));
        proposal.with_program(python.split(' ').next().unwrap_or(python))
    }
}

/// The folder modules in a folder are named from, and the first package on the way back.
fn top_of(look: &Look<'_>, folder: &str) -> (String, String) {
    let (mut top, mut start) = (folder, folder);
    while !top.is_empty() && look.has(&joined(top, "__init__.py")) {
        start = top;
        top = top.rsplit_once('/').map_or("", |(above, _)| above);
    }
    (top.to_owned(), start.to_owned())
}
