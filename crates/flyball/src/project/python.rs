//! Python: pytest, tox, nox, Django's or the standard library's runner, ruff, flake8 and mypy, each where
//! it is configured.

use super::unittest::TestFile;
use super::{Look, Proposal, environment, unittest};

const MARKERS: [&str; 9] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "tox.ini",
    "noxfile.py",
    "pytest.ini",
    "mypy.ini",
];

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    if look.first(&MARKERS).is_none() && !is_django(look) {
        return None;
    }
    let settings = Settings::read(look);
    let mut proposals = tests(look, &settings);
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
pub(super) fn detect_bare(look: &Look<'_>) -> Vec<Proposal> {
    tests(look, &Settings::read(look))
}

/// The files tools are configured in.
pub(super) struct Settings {
    pub(super) pyproject: String,
    ini: String,
}

impl Settings {
    pub(super) fn read(look: &Look<'_>) -> Self {
        let read = |name| look.read(name).unwrap_or_default();
        Self {
            pyproject: read("pyproject.toml"),
            ini: ["setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", ".mypy.ini"]
                .map(read)
                .join("\n"),
        }
    }

    /// Whether `pyproject.toml` has this table (or one below), or an ini file one of these heads.
    pub(super) fn has(&self, table: &str, heads: &[&str]) -> bool {
        let mut lines = self.pyproject.lines().map(str::trim);
        lines.any(|line| {
            let rest = line.trim_start_matches('[').strip_prefix(table);
            line.starts_with('[') && rest.is_some_and(|rest| rest.starts_with([']', '.']))
        }) || self.ini.lines().any(|line| heads.contains(&line.trim()))
    }

    /// Whether pytest is named among what the project needs.
    fn ask_for_pytest(&self, look: &Look<'_>) -> bool {
        let files = ["Pipfile", "setup.py", "requirements.txt", "requirements-dev.txt"];
        let named = |text: &str| text.contains("pytest");
        named(&self.pyproject)
            || named(&self.ini)
            || files.iter().any(|name| look.read(name).is_some_and(|text| named(&text)))
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

/// The tests by the first of the runners set up here that can be started, or else by the first.
fn tests(look: &Look<'_>, settings: &Settings) -> Vec<Proposal> {
    let by = |program, why: &str| vec![tool(look, settings, ("tests", program, ""), why)];
    if settings.has("tool.pytest", &["[pytest]", "[tool:pytest]"]) || look.has("conftest.py") {
        return by("pytest", "pytest's config");
    }
    let mut runners = Vec::new();
    if look.has("tox.ini") || settings.has("tool.tox", &[]) {
        runners.push(by("tox", "tox's config"));
    }
    if look.has("noxfile.py") {
        runners.push(by("nox", "noxfile.py"));
    }
    let files = unittest::test_files(look);
    if is_django(look) && files.iter().any(TestFile::has_test) {
        let django = ("tests", "python3", " manage.py test");
        runners.push(vec![tool(look, settings, django, "manage.py")]);
    }
    if let Some(file) = files.iter().find(|file| file.is_pytests()) {
        let folder = if file.folder.is_empty() { "." } else { &file.folder };
        runners.push(by("pytest", &format!("test files in {folder}/")));
    }
    let python = tool(look, settings, ("tests", "python3", ""), "");
    let by_python = || unittest::proposals(&files, &python.command, look);
    // A manager of environments that is there says nothing of what is in them.
    let is_guess = |one: &Proposal| {
        one.command.ends_with(" run pytest")
            && !settings.ask_for_pytest(look)
            && by_python().is_everything()
    };
    let is_there = |runner: &Vec<Proposal>| {
        runner.iter().all(|one| look.runnable(&one.program) && !is_guess(one))
    };
    if let Some(found) = runners.iter().position(is_there) {
        return runners.swap_remove(found);
    }
    let plain = by_python();
    let is_everything = plain.is_everything();
    let mut all = if look.runnable(&python.program) { plain.proposals } else { Vec::new() };
    if all.is_empty() || !is_everything {
        all.extend(runners.into_iter().next().unwrap_or_default());
    }
    all
}

/// Whether Django's own script is there.
fn is_django(look: &Look<'_>) -> bool {
    look.read("manage.py").is_some_and(|text| text.contains("django"))
}

/// A tool run from the project's own environment where there is one.
fn tool(
    look: &Look<'_>,
    settings: &Settings,
    (role, program, rest): (&'static str, &str, &str),
    why: &str,
) -> Proposal {
    let local = environment::FOLDERS.map(|folder| format!("{folder}/bin/{program}"));
    if let Some(local) = look.own_program(&local) {
        return Proposal::new(role, &format!("{local}{rest}"), why);
    }
    let manager = environment::manager(look, settings);
    let command = match manager {
        Some(manager) => format!("{} run {program}{rest}", manager.program),
        None => format!("{program}{rest}"),
    };
    Proposal::new(role, &command, why).with_remedy(environment::remedy(look, settings, program))
}
