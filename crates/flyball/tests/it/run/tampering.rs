//! B10: an agent that weakens its checks, from outside. Each cheat alone would end the run green;
//! each honest change looks like one and is none.

mod beyond;
mod cheats;
mod expecting;
mod hidden;
mod hollow;
mod honest;
mod laundering;
mod outwitted;
mod reached;

use crate::scenario::{Ran, Scenario};

/// Says done in every iteration; does what is asked of it in the first.
fn claiming(first: &str) -> String {
    format!(
        "cat > $OUT/prompt-$n
if [ $n = 1 ]; then
{first}
pass a; pass b
fi
say '<promise>COMPLETE</promise>'"
    )
}

/// A repository with a gate of this command and these files.
fn project(command: &str, files: &[(&str, &str)]) -> Scenario {
    let config = format!("[[gates.check]]\nname = \"tests\"\ncommand = '{command}'\n");
    let scenario = Scenario::new().config(&config);
    files.iter().fold(scenario, |scenario, (path, text)| scenario.file(path, text))
}

/// What the agent did was seen, and a human is asked about it.
#[track_caller]
fn caught(name: &str, ran: Ran, words: &str) -> Ran {
    assert_eq!(ran.code, 3, "{name} was not caught:\n{}", ran.stderr);
    for words in [words, "flyball restore tamper", "flyball accept tamper"] {
        assert!(ran.stderr.contains(words), "{name}: {words:?} in:\n{}", ran.stderr);
    }
    assert!(!ran.stderr.contains("flyball answer"), "{name}:\n{}", ran.stderr);
    ran
}

/// Name, what the agent does, what must be said.
type Cheat = (&'static str, &'static str, &'static str);

/// Each of them is seen, and a human is asked.
#[track_caller]
fn all_caught(make: impl Fn() -> Scenario, cheats: &[Cheat]) {
    for (name, cheat, words) in cheats {
        let scenario = make().agent(&claiming(cheat)).committed();
        caught(name, scenario.run(), words);
    }
}

/// Each of these is the work.
#[track_caller]
fn all_complete(make: impl Fn() -> Scenario, works: &[(&str, &str)]) {
    for (name, work) in works {
        let ran = make().agent(&claiming(work)).committed().run();
        assert_eq!(ran.code, 0, "{name}:\n{}", ran.stderr);
    }
}

/// A project of Python's with real tests: one is red, one is green.
fn unittests() -> Scenario {
    project(
        "python3 -m unittest -q",
        &[
            (
                "test_x.py",
                "import unittest\nimport work\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        \
                 self.assertEqual(work.f(), 1)\n\n    def test_b(self):\n        \
                 self.assertEqual(work.g(), 2)\n",
            ),
            ("work.py", "def f():\n    return 0\n\n\ndef g():\n    return 2\n"),
            (".gitignore", "__pycache__\n"),
        ],
    )
}

/// The same for Node.
fn node_tests() -> Scenario {
    project(
        "node --test",
        &[
            (
                "test/a.test.js",
                "const test = require('node:test')\nconst assert = require('assert')\nconst { f } = \
                 require('../work')\ntest('a', () => { assert.strictEqual(f(), 1) })\ntest('b', () => { \
                 assert.ok(true || f()) })\n",
            ),
            ("work.js", "exports.f = () => 0\n"),
        ],
    )
}

/// The same for Rust.
fn cargo_tests() -> Scenario {
    let bin = std::path::PathBuf::from(env!("CARGO")).parent().unwrap().to_path_buf();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    project(
        "cargo test --offline -q",
        &[
            ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            (".gitignore", "target\nCargo.lock\n"),
            (
                "src/lib.rs",
                "pub fn f() -> u8 {\n    0\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    \
                 #[test]\n    fn works() {\n        assert_eq!(f(), 1);\n    }\n}\n",
            ),
        ],
    )
    .env("PATH", &path)
}

/// A program on PATH that stands for pytest: counts the tests it finds and obeys what hides them.
const PYTEST: &str = r#"#!/bin/sh
files=$(ls tests/test_*.py 2>/dev/null)
grep -qs 'items.clear' conftest.py && files=
grep -qs -- '-k none' pytest.ini setup.cfg pyproject.toml && files=
count=$(cat $files /dev/null | grep -c '^def test_')
skipped=$(cat $files /dev/null | grep -c 'mark.skip')
failed=$(cat $files /dev/null | grep -c 'assert broken')
grep -qs good work.txt && failed=0
ran=$((count - skipped - failed))
echo "collected $count items"
if [ $failed -gt 0 ]; then
  echo "=================================== FAILURES ==================================="
  echo "=========================== short test summary info ============================"
  grep -l 'assert broken' $files | while read f; do echo "FAILED $f::test_b - assert broken"; done
  echo "========================= $failed failed, $ran passed in 0.01s ========================="
  exit 1
fi
if [ $skipped -gt 0 ]; then echo "=== $ran passed, $skipped skipped in 0.01s ==="; else
  echo "============================== $ran passed in 0.01s ==============================="; fi
"#;

/// A project whose gate is `pytest`: one test is red until `work.txt` is good.
fn python(files: &[(&str, &str)]) -> Scenario {
    let tests = "def test_a():\n    assert f(1) == 2\n\n\ndef test_b():\n    assert broken()\n\n\n\
                 def test_c():\n    assert f(3) == 4\n";
    let scenario = project("pytest", &[("tests/test_x.py", tests), ("work.txt", "bad\n")]);
    let scenario = files.iter().fold(scenario, |scenario, (path, text)| scenario.file(path, text));
    with_program(scenario, "pytest", PYTEST)
}

/// Puts a program on PATH, outside of the repository.
fn with_program(scenario: Scenario, name: &str, text: &str) -> Scenario {
    use std::os::unix::fs::PermissionsExt;
    let bin = scenario.outside("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::write(bin.join(name), text).unwrap();
    std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    scenario.env("PATH", &path)
}
