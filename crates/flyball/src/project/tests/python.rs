//! Python: whose runner, from which folders, in which environment.

use super::{Machine, check};

const UNITTEST: &str = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n";
const PYTEST: &str = "import pytest\n\ndef test_a(): pass\n";

#[test]
fn unittest_finds_the_tests_of_every_folder() {
    let python = &["python3"];
    check(&[
        // Packages below one folder: their modules are named from there.
        (
            python,
            &[
                ("pyproject.toml", ""),
                ("a/__init__.py", ""),
                ("a/tests/__init__.py", ""),
                ("a/tests/test_a.py", UNITTEST),
                ("b/__init__.py", ""),
                ("b/tests/__init__.py", ""),
                ("b/tests/test_b.py", UNITTEST),
            ],
            &["tests: python3 -m unittest discover -s ."],
        ),
        // One package: relative imports work from above it only.
        (
            python,
            &[
                ("pyproject.toml", ""),
                ("shop/__init__.py", ""),
                ("shop/tests/__init__.py", ""),
                ("shop/tests/test_a.py", UNITTEST),
            ],
            &["tests: python3 -m unittest discover -s shop -t ."],
        ),
        (
            python,
            &[
                ("pyproject.toml", ""),
                ("src/shop/__init__.py", ""),
                ("src/shop/test_a.py", UNITTEST),
            ],
            &["tests: python3 -m unittest discover -s src/shop -t src"],
        ),
        // Sources beside the tests, which nobody has installed.
        (
            python,
            &[("pyproject.toml", ""), ("src/shop/__init__.py", ""), ("tests/test_a.py", UNITTEST)],
            &["tests: PYTHONPATH=src python3 -m unittest discover -s tests"],
        ),
    ]);
}

#[test]
fn unittest_does_not_go_into_folders_that_are_no_packages() {
    let python = &["python3"];
    check(&[
        (
            python,
            &[("app/test_a.py", UNITTEST), ("lib/test_b.py", UNITTEST)],
            &[
                "tests: python3 -m unittest discover -s app",
                "tests-lib: python3 -m unittest discover -s lib",
            ],
        ),
        (
            python,
            &[
                ("setup.py", ""),
                ("tests/test_a.py", UNITTEST),
                ("tests/integration/test_b.py", UNITTEST),
            ],
            &[
                "tests: python3 -m unittest discover -s tests",
                "tests-integration: python3 -m unittest discover -s tests/integration",
            ],
        ),
        (
            python,
            &[("setup.py", ""), ("test_a.py", UNITTEST), ("sub/test_b.py", UNITTEST)],
            &[
                "tests: python3 -m unittest discover -s .",
                "tests-sub: python3 -m unittest discover -s sub",
            ],
        ),
    ]);
}

#[test]
fn unittest_is_told_of_other_names_and_run_by_the_environments_manager() {
    let python = &["python3"];
    check(&[
        (
            python,
            &[("setup.py", ""), ("tests/a_test.py", UNITTEST)],
            &["tests: python3 -m unittest discover -s tests -p '*_test.py'"],
        ),
        (
            python,
            &[("setup.py", ""), ("tests/a_test.py", UNITTEST), ("tests/test_b.py", UNITTEST)],
            &["tests: python3 -m unittest discover -s tests -p '*test*.py'"],
        ),
        // A manager's environment without pytest in it.
        (
            &["uv"],
            &[("uv.lock", ""), ("pyproject.toml", "[project]"), ("test_a.py", UNITTEST)],
            &["tests: uv run python3 -m unittest discover -s ."],
        ),
        (
            &["uv"],
            &[("uv.lock", ""), ("pyproject.toml", "dev = ['pytest']"), ("test_a.py", UNITTEST)],
            &["tests: uv run pytest"],
        ),
    ]);
}

#[test]
fn tests_that_need_pytest_are_named_where_it_is_missing() {
    let machine = Machine::new(
        &["python3"],
        &[("pyproject.toml", ""), ("tests/test_a.py", UNITTEST), ("unit/test_b.py", PYTEST)],
    );
    assert_eq!(machine.gates(), ["tests: python3 -m unittest discover -s tests"]);
    let remedy = "python3 -m venv .venv && .venv/bin/pip install pytest";
    assert_eq!(machine.hindrances(), [format!("pytest: `pytest` is not on PATH -> {remedy}")]);
    // So many gates help nobody: pytest runs them all.
    let names: Vec<String> = (0..9).map(|number| format!("tests{number}/test_a.py")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), UNITTEST)).collect();
    let many = Machine::new(&["python3"], &files);
    assert_eq!((many.gates().len(), many.hindrances().len()), (0, 1));
}

#[test]
fn django_runs_its_own_tests() {
    let manage = ("manage.py", "from django.core.management import execute_from_command_line");
    let all = &["python3", "pytest"];
    let django = &["tests: python3 manage.py test"];
    check(&[
        (all, &[manage, ("shop/tests.py", UNITTEST)], django),
        (all, &[manage, ("requirements.txt", ""), ("shop/tests/test_a.py", UNITTEST)], django),
        (all, &[manage, ("shop/tests.py", "# Create your tests here.")], &[]),
        (
            all,
            &[manage, ("shop/tests.py", UNITTEST), ("pytest.ini", "[pytest]")],
            &["tests: pytest"],
        ),
    ]);
}

#[test]
fn the_first_runner_that_is_set_up_and_there_runs_the_tests() {
    let files = &[("noxfile.py", ""), ("tests/test_a.py", PYTEST)];
    check(&[
        (&["nox", "pytest"], files, &["tests: nox"]),
        (&["pytest"], files, &["tests: pytest"]),
        (&["python3"], files, &[]),
    ]);
}

#[test]
fn what_brings_a_missing_tool_is_a_line_to_type() {
    let venv = "python3 -m venv .venv &&";
    let project = "[project]\nname = 'a'\ndependencies = ['requests']\n";
    let rows = [
        (
            vec![(
                "pyproject.toml",
                format!("{project}[project.optional-dependencies]\ntest = ['pytest']"),
            )],
            format!("{venv} .venv/bin/pip install -e '.[test]'"),
        ),
        (
            vec![("pyproject.toml", format!("{project}[dependency-groups]\ndev = ['pytest']"))],
            format!(
                "{venv} .venv/bin/pip install -U pip && .venv/bin/pip install -e . --group dev"
            ),
        ),
        (
            vec![("pyproject.toml", project.to_owned())],
            format!("{venv} .venv/bin/pip install -e . pytest"),
        ),
        (
            vec![("setup.py", "setup(extras_require={'dev': ['pytest']})".to_owned())],
            format!("{venv} .venv/bin/pip install -e '.[dev]'"),
        ),
        (
            vec![("requirements.txt", "flask".to_owned())],
            format!("{venv} .venv/bin/pip install -r requirements.txt pytest"),
        ),
        (
            vec![("pyproject.toml", "[tool.poetry]".to_owned())],
            "pipx install poetry && poetry install".to_owned(),
        ),
        (
            vec![("pyproject.toml", "build-backend = \"poetry.core.masonry.api\"".to_owned())],
            "pipx install poetry && poetry install".to_owned(),
        ),
    ];
    for (files, remedy) in rows {
        let mut files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        files.push(("tests/test_a.py", PYTEST));
        let machine = Machine::new(&[], &files);
        let told = machine.hindrances();
        assert!(told.len() == 1 && told[0].ends_with(&format!("-> {remedy}")), "{told:?}");
    }
    let files = &[("pyproject.toml", project), ("tests/test_a.py", PYTEST)];
    let line = format!("{venv} .venv/bin/pip install -e .");
    assert_eq!(Machine::new(&[], files).remedies(), [line]);
    let pdm = &[("pyproject.toml", "[tool.pdm]"), ("tests/test_a.py", PYTEST)];
    assert_eq!(Machine::new(&["pdm"], pdm).remedies(), ["pdm install"]);
}

#[test]
fn an_environment_holds_for_the_folders_below_it() {
    let machine = Machine::new(&[], &[("backend/pytest.ini", "[pytest]")]);
    machine.write("project/.venv/bin/python", "", 0o755);
    machine.write("project/.venv/bin/pip", "", 0o755);
    let line = "(cd backend && ../.venv/bin/pip install pytest)";
    let told = format!("cd backend && pytest: `pytest` is not on PATH -> {line}");
    assert_eq!(machine.hindrances(), [told]);
    machine.write("project/.venv/bin/pytest", "", 0o755);
    assert_eq!(machine.gates(), ["tests: cd backend && ../.venv/bin/pytest"]);
}
