//! Which settings of Python choose tests, and what may be added to `conftest.py`.

use super::*;

fn edit(path: &str, before: &str, after: &str) -> Edited {
    let text = |text: &str| (text != "-").then(|| text.to_owned());
    Edited { path: path.to_owned(), before: text(before), after: text(after) }
}

/// Firm, soft, or nothing.
fn said(found: Option<Suspicion>) -> &'static str {
    match found {
        None => "none",
        Some(found) if found.is_soft() => "soft",
        Some(_) => "firm",
    }
}

#[test]
fn a_fixture_may_be_added_to_conftest_and_nothing_else() {
    let before = "import pytest\n\n\n@pytest.fixture\ndef db():\n    return 1\n";
    let with = |more: &str| format!("{before}{more}");
    let cases = [
        (with(""), "none"),
        (with("# a comment\n"), "none"),
        (with("\n@pytest.fixture\ndef app(db):\n    return db\n"), "soft"),
        (with("\n@pytest.fixture(\n    scope='session',\n)\ndef app():\n    yield 1\n"), "soft"),
        (with("\nimport os\ndef helper():\n    return os.name\n"), "soft"),
        (with("\n@pytest.fixture(autouse=True)\ndef app():\n    pass\n"), "firm"),
        (with("\ndef pytest_collection_modifyitems(items):\n    items.clear()\n"), "firm"),
        (with("\ncollect_ignore = ['a.py']\n"), "firm"),
        (with("\nimport sys\nsys.exit(0)\n"), "firm"),
        (with("\nprint(1)\n"), "firm"),
        (before.replace("db()", "db() -> int"), "none"),
        (before.replace("db()", "db() -> os.remove('x')"), "firm"),
        (with("\nif TYPE_CHECKING:\n    from a import B\n"), "soft"),
        (with("\nif TYPE_CHECKING:\n    from a import B\n    b()\n"), "firm"),
        (before.replace("return 1", "return 2"), "firm"),
        ("-".to_owned(), "firm"),
        (String::new(), "firm"),
    ];
    for (after, expected) in cases {
        assert_eq!(said(conftest(&edit("conftest.py", before, &after))), expected, "{after}");
    }
    assert_eq!(said(conftest(&edit("tests/conftest.py", "-", before))), "soft");
}

#[test]
fn settings_that_choose_tests_are_told_from_those_that_do_not() {
    let cases = [
        ("pytest.ini", "-", "[pytest]\naddopts = -q\n", "soft"),
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -k 'not slow'\n", "firm"),
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts =\n    -q\n    --ignore=tests/b\n", "firm"),
        ("pytest.ini", "[pytest]\ntestpaths = a b\n", "[pytest]\ntestpaths = a\n", "soft"),
        ("pytest.ini", "[pytest]\n", "[pytest]\nmarkers =\n    slow: x\n# c\n", "none"),
        ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n", "none"),
        ("setup.cfg", "", "[tool:pytest]\npython_files = none_*.py\n", "soft"),
        ("tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = - pytest\n", "firm"),
        ("tox.ini", "[testenv]\ndeps = a\n", "[testenv]\ndeps = a\n  b\n", "none"),
        (
            "pyproject.toml",
            "[project]\ndependencies = []\n",
            "[project]\ndependencies = ['a']\n",
            "none",
        ),
        (
            "pyproject.toml",
            "",
            "[tool.pytest.ini_options]\naddopts = '--deselect tests/a.py::b'\n",
            "firm",
        ),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\naddopts = ['-q']\n",
            "[tool.pytest.ini_options]\naddopts = [ '-q' ]\nmarkers = ['x']\n",
            "none",
        ),
    ];
    for (path, before, after, expected) in cases {
        assert_eq!(said(settings(&edit(path, before, after), path)), expected, "{path}: {after}");
    }
}

#[test]
fn modules_that_stand_in_a_runners_place_are_known() {
    assert_eq!(shadowed("pytest.py"), Some(("pytest", "")));
    assert_eq!(shadowed("src/unittest/__init__.py"), Some(("unittest", "src")));
    assert_eq!(shadowed("app/pytest_helper.py"), None);
    assert!(may_matter("sitecustomize.py") && may_matter("a/x.pth") && !may_matter("a/x.py"));
}
