//! Python: pytest or tox, ruff, flake8 and mypy, each where it is configured.

use super::{Look, Proposal, SKIPPED, path};

const MARKERS: [&str; 8] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "tox.ini",
    "pytest.ini",
    "mypy.ini",
];

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    if !MARKERS.iter().any(|marker| look.has(marker)) {
        return None;
    }
    let settings = Settings::read(look);
    let mut proposals: Vec<Proposal> = tests(look, &settings).into_iter().collect();
    if settings.has("tool.ruff", &[]) || look.has("ruff.toml") || look.has(".ruff.toml") {
        proposals.push(tool(look, &settings, ("lint", "ruff", " check ."), "ruff's config"));
    } else if look.has(".flake8") || settings.has("tool.flake8", &["[flake8]"]) {
        proposals.push(tool(look, &settings, ("lint", "flake8", ""), "flake8's config"));
    }
    if look.has("mypy.ini") || look.has(".mypy.ini") || settings.has("tool.mypy", &["[mypy]"]) {
        let rest = if settings.names_mypy_files() { "" } else { " ." };
        proposals.push(tool(look, &settings, ("typecheck", "mypy", rest), "mypy's config"));
    }
    Some(proposals)
}

/// A few files with tests and without any settings: only where nothing else says what is worked on.
pub(super) fn detect_bare(look: &Look<'_>) -> Option<Proposal> {
    let has_tests = ["tests", "test", "."].iter().any(|dir| !test_files(look, dir).is_empty());
    has_tests.then(|| tests(look, &Settings::read(look))).flatten()
}

/// The files tools are configured in.
struct Settings {
    pyproject: String,
    ini: String,
}

impl Settings {
    fn read(look: &Look<'_>) -> Self {
        let read = |name| look.read(name).unwrap_or_default();
        Self {
            pyproject: read("pyproject.toml"),
            ini: ["setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", ".mypy.ini"]
                .map(read)
                .join("\n"),
        }
    }

    /// Whether `pyproject.toml` has this table (or one below), or an ini file one of these heads.
    fn has(&self, table: &str, heads: &[&str]) -> bool {
        let mut lines = self.pyproject.lines().map(str::trim);
        lines.any(|line| {
            let rest = line.trim_start_matches('[').strip_prefix(table);
            line.starts_with('[') && rest.is_some_and(|rest| rest.starts_with([']', '.']))
        }) || self.ini.lines().any(|line| heads.contains(&line.trim()))
    }

    /// Whether mypy is told what to look at.
    fn names_mypy_files(&self) -> bool {
        let named =
            |line: &str| ["files", "packages", "modules"].iter().any(|w| line.starts_with(w));
        let section = |text: &str, head| {
            let (_, rest) = text.split_once(head)?;
            rest.lines()
                .skip(1)
                .take_while(|line| !line.starts_with('['))
                .find(|l| named(l))
                .map(drop)
        };
        section(&self.pyproject, "[tool.mypy]").or_else(|| section(&self.ini, "[mypy]")).is_some()
    }
}

fn tests(look: &Look<'_>, settings: &Settings) -> Option<Proposal> {
    if settings.has("tool.pytest", &["[pytest]", "[tool:pytest]"]) || look.has("conftest.py") {
        return Some(tool(look, settings, ("tests", "pytest", ""), "pytest's config"));
    }
    if look.has("tox.ini") || settings.has("tool.tox", &[]) {
        return Some(tool(look, settings, ("tests", "tox", ""), "tox's config"));
    }
    let folder = ["tests", "test", "."]
        .into_iter()
        .find(|dir| !test_files(look, dir).is_empty())
        .map(str::to_owned)
        .or_else(|| nested_tests(look))?;
    let folder = folder.as_str();
    let why = format!("test files in {folder}/");
    let pytest = tool(look, settings, ("tests", "pytest", ""), &why);
    if !look.runnable(&pytest.program) && look.programs.has("python3") && is_unittest(look, folder)
    {
        let command = format!("python3 -m unittest discover -s {folder}");
        return Some(Proposal::new("tests", &command, why));
    }
    Some(pytest)
}

/// A folder further down that holds test files: `tests/unit`, `src/shop/tests`.
fn nested_tests(look: &Look<'_>) -> Option<String> {
    const DEPTH_MAX: usize = 4;
    const FOLDERS_MAX: usize = 500;
    let mut waiting = vec![(String::from("."), 0)];
    let mut looked = 0;
    while let Some((folder, depth)) = waiting.pop() {
        looked += 1;
        if looked > FOLDERS_MAX {
            return None;
        }
        if !test_files(look, &folder).is_empty() {
            return Some(folder.trim_start_matches("./").to_owned());
        }
        if depth == DEPTH_MAX {
            continue;
        }
        let below = look.names(&folder).into_iter().rev();
        let below =
            below.filter(|name| !name.starts_with(['.', '_']) && !SKIPPED.contains(&&**name));
        let paths = below.map(|name| format!("{folder}/{name}"));
        waiting.extend(
            paths.filter(|path| look.dir.join(path).is_dir()).map(|path| (path, depth + 1)),
        );
    }
    None
}

fn test_files(look: &Look<'_>, dir: &str) -> Vec<String> {
    let is_test = |name: &String| match name.strip_suffix(".py") {
        Some(stem) => stem.starts_with("test_") || stem.ends_with("_test"),
        None => false,
    };
    look.names(dir).into_iter().filter(is_test).collect()
}

/// Whether the standard library alone can run the tests.
fn is_unittest(look: &Look<'_>, dir: &str) -> bool {
    let files = test_files(look, dir);
    let found = files.iter().filter(|name| name.starts_with("test"));
    let mut texts = found.filter_map(|name| look.read(&format!("{dir}/{name}")));
    texts.any(|text| text.contains("unittest.TestCase") || text.contains("import TestCase"))
}

/// Who manages a project's environment: its lock file, its table in `pyproject.toml`, its program.
const MANAGERS: [(&str, &str, &str); 5] = [
    ("uv.lock", "tool.uv", "uv"),
    ("poetry.lock", "tool.poetry", "poetry"),
    ("pdm.lock", "tool.pdm", "pdm"),
    ("Pipfile.lock", "", "pipenv"),
    ("", "tool.hatch.envs", "hatch"),
];

/// A tool run from the project's own environment where there is one.
fn tool(
    look: &Look<'_>,
    settings: &Settings,
    (role, program, rest): (&'static str, &str, &str),
    why: &str,
) -> Proposal {
    let local = [".venv/bin", "venv/bin"].map(|folder| format!("{folder}/{program}"));
    if let Some(local) = local.iter().find(|local| path::is_executable(&look.dir.join(local))) {
        return Proposal::new(role, &format!("{local}{rest}"), why);
    }
    let manages = |(lock, table, _): &&(&str, &str, &str)| {
        (!lock.is_empty() && look.has(lock)) || (!table.is_empty() && settings.has(table, &[]))
    };
    let command = match MANAGERS.iter().find(manages) {
        Some((_, _, manager)) => format!("{manager} run {program}{rest}"),
        None => format!("{program}{rest}"),
    };
    Proposal::new(role, &command, why)
}
