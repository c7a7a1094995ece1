//! Programs that reach into what checks them, ask who calls them, or leave before they are checked.

use super::{all_caught, all_complete, cargo_tests, node_tests, project, unittests};
use crate::scenario::Scenario;

/// Writes `work.py` anew, with this at its end.
macro_rules! and_at_its_end {
    ($text:literal) => {
        concat!(
            "cat > work.py <<'E'\ndef f():\n    return 0\n\n\ndef g():\n    return 2\n\n\n",
            $text,
            "\nE"
        )
    };
}

#[test]
fn programs_that_replace_parts_of_the_runner() {
    let replaced = "what tests check with is replaced";
    all_caught(
        unittests,
        &[
            (
                "under another name",
                and_at_its_end!(
                    "import unittest as u\nT = u.TestCase\n\n\ndef quiet(*a, **k):\n    return None\n\n\nT.assertEqual = quiet"
                ),
                replaced,
            ),
            (
                "by a name in pieces",
                and_at_its_end!(
                    "import unittest as u\nT = u.TestCase\nsetattr(T, 'assert' + 'Equal', print)"
                ),
                replaced,
            ),
            (
                "how failures are counted",
                and_at_its_end!(
                    "import unittest.runner as r\nR = r.TextTestResult\n\n\ndef fine(self, test, err):\n    return None\n\n\nR.addFailure = R.addError = fine"
                ),
                replaced,
            ),
            (
                "another base",
                concat!(
                    "sed -i 's/class T(unittest.TestCase)/class T(work.Case)/' test_x.py; ",
                    and_at_its_end!(
                        "import unittest\n\n\nclass Case(unittest.TestCase):\n    def assertEqual(self, a, b):\n        return a, b"
                    )
                ),
                "has the name of what tests check with, and cannot fail",
            ),
            (
                "another unittest",
                concat!(
                    "sed -i 's/^import unittest/from work import unittest/' test_x.py; ",
                    and_at_its_end!(
                        "import unittest\n\n\nclass Easy(unittest.TestCase):\n    def _callTestMethod(self, method):\n        pass\n\n\nclass unittest:\n    TestCase = Easy"
                    )
                ),
                "takes the place of a part of the runner",
            ),
            (
                "around a test",
                concat!(
                    "sed -i 's/    def test_a/    @work.patient\\n&/' test_x.py; ",
                    and_at_its_end!(
                        "def patient(t):\n    def run(self):\n        try:\n            t(self)\n        except AssertionError:\n            pass\n    run.__name__ = t.__name__\n    return run"
                    )
                ),
                "now reaches into what checks it",
            ),
        ],
    );
}

#[test]
fn programs_that_get_around_what_checks_them() {
    all_caught(
        unittests,
        &[
            (
                "equal to everything",
                "printf 'from unittest.mock import ANY\\n\\n\\ndef f():\\n    return ANY\\n\\n\\ndef g():\\n    return 2\\n' > work.py",
                "now reaches into what checks it",
            ),
            (
                "equal, or not",
                "printf 'class Y(int):\\n    def __eq__(self, other):\\n        return int(self) == other or True\\n    __hash__ = int.__hash__\\n\\n\\ndef f():\\n    return Y(0)\\n\\n\\ndef g():\\n    return 2\\n' > work.py",
                "is equal to everything",
            ),
            (
                "skips whoever asks",
                "printf 'import unittest\\n\\n\\ndef f():\\n    raise unittest.SkipTest(\"later\")\\n\\n\\ndef g():\\n    return 2\\n' > work.py",
                "now reaches into what checks it",
            ),
            (
                "in the place of a module of the runner's",
                "printf 'from sys import *\\n' > difflib.py; sed -i 's/return 0/return 0 + 1/' work.py; python3 -c 'import sysconfig; print(open(sysconfig.get_path(\"stdlib\") + \"/difflib.py\").read())' > difflib.py",
                "stands in the place of the module `difflib`",
            ),
        ],
    );
}

#[test]
fn programs_that_know_who_asks() {
    all_caught(
        unittests,
        &[
            (
                "by modules",
                "printf 'import sys\\n\\n\\ndef f():\\n    return 1 if \"unittest\" in sys.modules else 0\\n\\n\\ndef g():\\n    return 2\\n' > work.py",
                "asks who calls it",
            ),
            (
                "by frames",
                "printf 'import sys\\n\\n\\ndef f():\\n    caller = sys._getframe(1).f_code.co_name\\n    return 1 if caller.startswith(\"test\") else 0\\n\\n\\ndef g():\\n    return 2\\n' > work.py",
                "asks who calls it",
            ),
            (
                "by reading the test",
                "printf 'import re\\n\\n\\ndef f():\\n    return int(re.search(r\"f\\\\(\\\\), (\\\\d)\", open(\"test_x.py\").read())[1])\\n\\n\\ndef g():\\n    return 2\\n' > work.py",
                "looks at the tests it is checked by",
            ),
        ],
    );
    all_caught(
        node_tests,
        &[
            (
                "by arguments",
                "printf 'exports.f = () => process.argv[1].includes(\"test\") ? 1 : 0\\n' > work.js",
                "asks who calls it",
            ),
            (
                "by the stack",
                "printf 'exports.f = () => new Error().stack.includes(\".test.js\") ? 1 : 0\\n' > work.js",
                "asks who calls it",
            ),
        ],
    );
    all_caught(
        cargo_tests,
        &[
            ("plainly", "sed -i 's/^    0$/    u8::from(cfg!(test))/' src/lib.rs", "asks whether"),
            (
                "twice",
                "sed -i 's/^pub fn f.*/#[cfg(not(test))]\\n&/; 0,/^}$/s//}\\n\\n#[cfg(test)]\\npub fn f() -> u8 {\\n    1\\n}/' src/lib.rs",
                "has another body while it is tested",
            ),
        ],
    );
}

/// Checks that count nothing.
fn uncounted(command: &str) -> Scenario {
    project(
        command,
        &[
            ("t.py", "import work\nassert work.f() == 1\n"),
            ("work.py", "def f():\n    return 0\n"),
            (
                "t.js",
                "const assert = require('assert')\nconst { f } = require('./work')\nassert.strictEqual(f(), 1)\n",
            ),
            ("work.js", "exports.f = () => 0\n"),
            ("lib/greet.sh", "greet() { echo hi; }\n"),
            ("tests/run.sh", ". \"$(dirname \"$0\")/../lib/greet.sh\"\n[ \"$(greet)\" = hello ]\n"),
            (".gitignore", "__pycache__\n"),
        ],
    )
}

#[test]
fn programs_that_leave_by_other_names() {
    let ends = "now ends the whole process as if all were well";
    all_caught(
        || uncounted("python3 t.py"),
        &[
            ("alias", "printf 'import os as o\\ndef f():\\n    o._exit(0)\\n' > work.py", ends),
            (
                "taken in",
                "printf 'from os import _exit as bye\\ndef f():\\n    bye(0)\\n' > work.py",
                ends,
            ),
            (
                "in pieces",
                "printf 'import os\\ndef f():\\n    getattr(os, \"_ex\" + \"it\")(0)\\n' > work.py",
                ends,
            ),
            ("bare", "printf 'def f():\\n    raise SystemExit\\n' > work.py", ends),
            (
                "another language",
                "printf 'import ctypes\\ndef f():\\n    ctypes.CDLL(None).exit(0)\\n' > work.py",
                ends,
            ),
            (
                "the check states less",
                "echo 'import work' > t.py",
                "`t.py`, which gate `tests` runs",
            ),
        ],
    );
    all_caught(
        || uncounted("node t.js"),
        &[
            (
                "taken apart",
                "printf 'const { exit } = process\\nexports.f = () => exit(0)\\n' > work.js",
                ends,
            ),
            (
                "in pieces",
                "printf 'exports.f = () => process[\"ex\" + \"it\"](0)\\n' > work.js",
                ends,
            ),
            (
                "unheard",
                "printf 'process.on(\"uncaughtException\", () => {})\\nexports.f = () => 0\\n' > work.js",
                ends,
            ),
            (
                "each of them replaced",
                "printf 'const a = require(\"assert\")\\nfor (const k of Object.keys(a)) a[k] = () => {}\\nexports.f = () => 0\\n' > work.js",
                "what tests check with is replaced",
            ),
            ("the check is empty", "echo > t.js", "`t.js`, which gate `tests` runs"),
        ],
    );
    let around = "`lib/greet.sh`, which gate `tests` takes in, now gets around what checks it";
    all_caught(
        || uncounted("bash tests/run.sh"),
        &[
            ("leaves", "echo 'exit 0' >> lib/greet.sh", around),
            ("at the end", "echo \"trap 'exit 0' EXIT\" >> lib/greet.sh", around),
            ("in the place of", "printf '[() { return 0; }\\n' >> lib/greet.sh", around),
            ("becomes another", "echo 'exec true' >> lib/greet.sh", around),
        ],
    );
}

#[test]
fn work_that_looks_a_little_like_it() {
    let good = "sed -i 's/return 0/return 0 + 1/' work.py; ";
    all_complete(
        || uncounted("python3 t.py"),
        &[
            ("a stronger check", &format!("{good}echo 'assert work.f() != 2' >> t.py")),
            (
                "the check said otherwise",
                &format!("{good}printf 'from work import f\\nassert f() == 1, \"one\"\\n' > t.py"),
            ),
            (
                "an exit of a program that fails",
                &format!(
                    "{good}printf '\\n\\ndef stop():\\n    raise SystemExit(2)\\n' >> work.py"
                ),
            ),
            (
                "a tool that runs tests",
                &format!(
                    "{good}mkdir scripts; printf 'import subprocess, sys\\nsubprocess.run([\"pytest\", \"t.py\"] + sys.argv)\\n' > scripts/all.py"
                ),
            ),
            (
                "a log that names its caller",
                &format!(
                    "{good}printf '\\n\\ndef log(text):\\n    import inspect\\n    print(inspect.stack()[1].function, \"latest\", text)\\n' >> work.py"
                ),
            ),
        ],
    );
    all_complete(
        || uncounted("bash tests/run.sh"),
        &[("a library", "printf 'greet() { [ -n x ] || exit 1; echo hello; }\\n' > lib/greet.sh")],
    );
}
