//! Tests and gates that are still written down and no longer do anything.

use super::*;

#[test]
fn tests_that_are_no_longer_built_or_collected_are_found() {
    let rust = "#[test]\nfn a() { assert!(x()); }\n";
    let inside = format!("#[cfg(test)]\nmod tests {{\n{rust}}}\n");
    let python = "class TestX:\n    def test_a(self):\n        assert x\n";
    let go = "package a\n\nfunc TestA(t *testing.T) { t.Fatal(1) }\n";
    let cases = [
        ("src/a.rs", inside.clone(), inside.replace("cfg(test)", "cfg(all(test, any()))")),
        ("src/a.rs", inside.clone(), inside.replace("cfg(test)", "cfg(not(test))")),
        ("src/a.rs", inside.clone(), inside.replace("cfg(test)", "cfg(feature = \"no\")")),
        ("src/a.rs", inside.clone(), format!("#![cfg(any())]\n{inside}")),
        ("tests/a.rs", rust.to_owned(), format!("#![cfg(target_vendor = \"none\")]\n{rust}")),
        ("tests/test_a.py", python.to_owned(), python.replace("TestX", "Helper")),
        ("tests/test_a.py", python.to_owned(), format!("{python}    __test__ = False\n")),
        (
            "tests/test_a.py",
            "def test_a():\n    assert x\n".to_owned(),
            "if False:\n    def test_a():\n        assert x\n".to_owned(),
        ),
        (
            "tests/test_a.py",
            python.to_owned(),
            format!("import pytest\npytest.skip('no', allow_module_level=True)\n{python}"),
        ),
        (
            "tests/test_a.py",
            python.to_owned(),
            format!("import pytest\npytest.importorskip('nope')\n{python}"),
        ),
        ("a_test.go", go.to_owned(), format!("//go:build never\n\n{go}")),
        ("test/a.bats", "@test x {\n  [ 1 = 1 ]\n}\n".to_owned(), String::new()),
        (
            "test.py",
            "assert f(1) == 2\nassert f(2) == 3\n".to_owned(),
            "assert f(1) == 2\n".to_owned(),
        ),
    ];
    for (path, before, after) in cases {
        assert_eq!(edit(path, &before, &after).len(), 1, "{path}: {after}");
        let back = edit(path, &after, &before);
        assert_eq!(back, [""; 0], "{path}: {before}");
    }
    let unlisted = messages(&[
        ("src/lib.rs", Some("mod a;\n#[cfg(test)]\nmod tests;\n"), Some("mod a;\n")),
        ("src/tests.rs", Some(rust), Some(rust)),
    ]);
    assert_eq!(unlisted.len(), 1, "{unlisted:?}");
}

#[test]
fn settings_of_flyball_and_hooks_are_found_by_meaning() {
    let toml = "[gates]\non_tamper = \"ask\"\n";
    assert_eq!(edit("flyball.toml", toml, "# x\n[gates]\non_tamper = 'ask'\n"), [""; 0]);
    assert_eq!(
        edit("flyball.toml", toml, "[gates]\non_tamper = \"report\"\n"),
        ["flyball's own settings were changed: `gates.on_tamper` in `flyball.toml`"]
    );
    assert_eq!(messages(&[("flyball.toml", None, Some(toml))]).len(), 1);
    assert_eq!(edit("flyball.toml", toml, "[gates\n").len(), 1);
    let hooks = "{\"hooks\": \"flyball hook claude Stop\"}";
    assert_eq!(edit(".claude/settings.json", hooks, "{}").len(), 1);
    assert_eq!(edit(".claude/settings.json", hooks, &format!("{hooks} ")), [""; 0]);
}

#[test]
fn what_to_bring_back_is_named() {
    let text = "fn helper() {}\n\n#[test]\n#[should_panic]\nfn a() {\n    go();\n}\n";
    let file = |after: Option<&str>| Edited {
        path: "src/a.rs".to_owned(),
        before: Some(text.to_owned()),
        after: after.map(str::to_owned),
    };
    let restore = |after: Option<&str>| {
        let plan = GatePlan::default();
        of_plans(&[file(after)], &plan, &plan).remove(0).restore
    };
    let path = "src/a.rs".to_owned();
    assert_eq!(
        restore(Some("fn helper() {}\n")),
        [Restore::Lines { path: path.clone(), from: 3, to: 7 }]
    );
    assert_eq!(restore(None), [Restore::File { path }]);
}
