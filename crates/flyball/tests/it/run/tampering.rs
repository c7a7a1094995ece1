//! B10: an agent that weakens its checks, from outside. Each cheat alone would end the run green;
//! each honest change looks like one and is none.

mod cheats;
mod hidden;
mod honest;
mod laundering;
mod outwitted;

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
