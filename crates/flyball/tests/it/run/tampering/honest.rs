//! Changes that look like cheats and are the work. None may end a night.

use super::{claiming, project, python, with_program};
use crate::scenario::Scenario;

#[track_caller]
fn complete(name: &str, scenario: Scenario, work: &str) -> String {
    let scenario = scenario.agent(&claiming(work)).committed();
    let ran = scenario.run();
    assert_eq!(ran.code, 0, "{name}:\n{}", ran.stderr);
    ran.stderr
}

#[test]
fn work_on_python_tests_and_their_settings() {
    let good = "echo good > work.txt; ";
    let cases = [
        (
            "a fixture added",
            "printf 'import pytest\\n\\n\\n@pytest.fixture\\ndef db():\\n    return 1\\n' > conftest.py",
        ),
        ("a test renamed", "sed -i 's/test_a/test_first/' tests/test_x.py"),
        (
            "a test added",
            "printf '\\n\\ndef test_d():\\n    assert f(5) == 6\\n' >> tests/test_x.py",
        ),
        ("a test file moved", "mkdir -p tests; git mv tests/test_x.py tests/test_y.py"),
        (
            "a dependency added",
            "printf \"[project]\\ndependencies = ['requests']\\n\" > pyproject.toml",
        ),
        (
            "a marker declared",
            "printf '[pytest]\\nmarkers =\\n    slow: takes long\\n' > pytest.ini",
        ),
        ("where tests are, said", "printf '[pytest]\\ntestpaths = tests\\n' > pytest.ini"),
    ];
    for (name, work) in cases {
        complete(name, python(&[]), &format!("{good}{work}"));
    }
}

#[test]
fn a_module_deleted_with_its_tests_because_the_story_says_so() {
    let old =
        [("tests/test_old.py", "def test_old():\n    assert f(7) == 8\n"), ("old.py", "x = 1\n")];
    let list = r#"{"project":"p","userStories":[
{"id":"a","title":"do a","mayChange":["old.py","tests/test_old.py"],"passes":false,"notes":""},
{"id":"b","title":"do b","passes":false,"notes":""}
]}
"#;
    let work = "echo good > work.txt; git rm -q old.py tests/test_old.py";
    let said = complete("mayChange", python(&old).tasks(list), work);
    assert!(said.contains("the work may change it"), "{said}");
    let config = "[gates]\nmay_change = [\"tests/test_old.py\"]\n[[gates.check]]\nname = \"tests\"\n\
                  command = 'pytest'\n";
    complete("may_change", python(&old).config(config), work);
}

#[test]
fn work_on_makefiles_and_packages() {
    let make = || {
        project(
            "make test",
            &[("Makefile", "test:\n\tgrep -q good work.txt\n"), ("work.txt", "bad\n")],
        )
    };
    let good = "echo good > work.txt; ";
    complete(
        "a target added",
        make(),
        &format!("{good}printf 'deploy:\\n\\techo x\\n' >> Makefile"),
    );
    complete("a variable added", make(), &format!("{good}sed -i '1i VERSION = 2' Makefile"));
    complete("a step added", make(), &format!("{good}printf '\\ttrue\\n' >> Makefile"));
    let npm = || {
        project(
            "npm test --silent",
            &[
                (
                    "package.json",
                    "{\"name\":\"x\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"grep -q good work.txt\"}}\n",
                ),
                ("work.txt", "bad\n"),
            ],
        )
    };
    let add = "sed -i 's/\"version\"/\"dependencies\":{\"left-pad\":\"1\"},&/;s/\"scripts\":{/&\"dev\":\"vite\",/' package.json";
    complete(
        "a dependency and a script added",
        npm(),
        &format!("{good}{add}; echo registry=https://example.org > .npmrc"),
    );
    complete(
        "the work is what is run",
        project("./greet.sh | grep -q hello", &[("greet.sh", "#!/bin/sh\necho hi\n")]),
        "printf '#!/bin/sh\\necho hello\\n' > greet.sh; chmod +x greet.sh",
    );
}

/// Stands for a runner that stops at the first red crate, or runs only what changed.
const COUNTS: &str = "#!/bin/sh\necho \"running $(cat ran) tests\"\nn=$(cat ran)\n\
                      if grep -q bad work.txt; then echo 'test t ... FAILED'; echo \"test result: FAILED. \
                      $((n-1)) passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\"; \
                      exit 101; fi\necho \"test result: ok. $n passed; 0 failed; 0 ignored; 0 measured; 0 \
                      filtered out; finished in 0.00s\"\n";

#[test]
fn numbers_that_move_for_good_reasons() {
    let counting = |command: &str, before: &str| {
        let files = [("work.txt", "bad\n"), ("ran", before)];
        with_program(project(command, &files), "counts", COUNTS)
    };
    complete("stopped early before", counting("counts", "3"), "echo good > work.txt; echo 9 > ran");
    let partial = "counts --onlyChanged";
    complete("only what changed", counting(partial, "9"), "echo good > work.txt; echo 2 > ran");
    complete("as many", counting("counts", "9"), "echo good > work.txt");
    // Flaky: red once more in between, with another number, then green with all.
    let flaky = "case $n in 1) echo 5 > ran; work x;; 2) echo 9 > ran; echo good > work.txt; commit y; \
                 pass a; pass b;; esac; say '<promise>COMPLETE</promise>'";
    counting("counts", "9").agent(flaky).committed().run().ended(0);
}

#[test]
fn a_crate_split_in_two_keeps_its_tests() {
    let crates = |more: &str| format!("[workspace]\nmembers = [\"a\"{more}]\nresolver = \"2\"\n");
    let manifest = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
    };
    let test = |name: &str| format!("#[test]\nfn {name}() {{\n    assert_eq!(1 + 1, 2);\n}}\n");
    let bin = std::path::PathBuf::from(env!("CARGO")).parent().unwrap().to_path_buf();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let scenario = project(
        "cargo test --offline",
        &[
            ("Cargo.toml", &crates("")),
            (".gitignore", "target\nCargo.lock\n"),
            ("a/Cargo.toml", &manifest("a")),
            ("a/src/lib.rs", &format!("{}{}", test("one"), test("two"))),
        ],
    )
    .env("PATH", &path);
    let split = format!(
        "mkdir -p b/src; cat > b/Cargo.toml <<'X'\n{}X\ncat > b/src/lib.rs <<'X'\n{}X\n\
         cat > a/src/lib.rs <<'X'\n{}X\ncat > Cargo.toml <<'X'\n{}X\n",
        manifest("b"),
        test("two"),
        test("one"),
        crates(", \"b\"")
    );
    complete("split", scenario, &split);
}
