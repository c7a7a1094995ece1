"""Smaller linters and runners, some of which nothing but the general reader understands."""
from common import *

JS2 = f"{TOOLS}/js2/node_modules"
def linters():
    p = "small"; files = {"a.py": "import os, sys\ndef f(a,b):\n    x = undefined_thing\n    return  1\nclass  teh:\n    pass\n"}
    rows = lambda command, pattern=r"^(.*?):(\d+):(?:\d+:?)? (.*)$": lambda cwd: [diag("", f, int(l), re.sub(r"^[A-Z]\d+ ", "", m)) for f, l, m in re.findall(pattern, output_of(command, cwd), re.M)]
    for name, command in [("pyflakes", "pyflakes a.py"), ("pycodestyle", "pycodestyle a.py")]:
        case(name, "plain", command, files, rows(command), project=p)
    case("vulture", "plain", "vulture a.py", files, rows("vulture a.py", r"^(.*?):(\d+): (.*)$"), project=p)
    case("codespell", "plain", "codespell .", files, [diag("", "a.py", 5, "teh ==> the")], project=p)
    case("pydocstyle", "plain", "pydocstyle a.py", files, [diag("D100", "a.py", 1, "Missing docstring in public module"), diag("D103", "a.py", 2, "Missing docstring in public function"), diag("D101", "a.py", 5, "Missing docstring in public class")], project=p)
    sql = lambda cwd: [diag(v["code"], f["filepath"], v["start_line_no"], v["description"]) for f in json.loads(output_of("sqlfluff lint --dialect ansi -f json q.sql", cwd)) for v in f["violations"]]
    case("sqlfluff", "plain", "sqlfluff lint --dialect ansi q.sql", {"q.sql": "SELECT a,b from t WHERE  x=1\n"}, sql, project=p)
    env = {"PATH": f"{JS2}/.bin:{os.environ['PATH']}"}
    case("markdownlint", "plain", "markdownlint r.md", {"r.md": "# T\n\n### skip\ntext   \n* a\n* b\n"}, lambda cwd: [diag(r, f, int(l), m) for f, l, r, m in re.findall(r"^(.*?):(\d+)(?::\d+)? error (\S+?)/\S+ (.*)$", output_of("markdownlint r.md 2>&1", cwd, env), re.M)], project=p, env=env)
    case("standard", "plain", "standard s.js", {"s.js": "const foo = 1\nvar b = \"x\";\nif (b == 1) {}\n"}, lambda cwd: [diag(r, f, int(l), m) for f, l, m, r in re.findall(r"^  (.*?):(\d+):\d+: (.*) \(([\w-]+)\)(?: \(warning\))?$", output_of("standard s.js", cwd, env), re.M)], project=p, env=env)
def runners():
    p = "small-js"; env = {"PATH": f"{JS2}/.bin:{os.environ['PATH']}"}; link = f"ln -sfn {JS2} node_modules"
    spec = "describe('cart', () => {\n  it('adds', () => { expect(1).toBe(2); });\n  it('throws', () => { throw new TypeError('no way'); });\n  it('fine', () => {});\n});\n"
    truth = lambda file, a, b: [test("adds", file, a, "Expected 1 to be 2"), test("throws", file, b, "no way")]
    case("jasmine", "plain", "jasmine spec/a_spec.js", {"package.json": {"name": "x"}, "spec/a_spec.js": spec}, truth("spec/a_spec.js", 2, 3), project=p, env=env)
    uvu = "import { test } from 'uvu';\nimport * as assert from 'uvu/assert';\ntest('adds', () => { assert.is(1, 2); });\ntest('fine', () => {});\ntest('throws', () => { throw new TypeError('no way'); });\ntest.run();\n"
    case("uvu", "plain", "node u.mjs", {"package.json": {"name": "x"}, "u.mjs": uvu}, [test("adds", "u.mjs", 3, "Expected values to be strictly equal:"), test("throws", "u.mjs", 5, "no way")], project=p, env=env, before=link)
    case("qunit", "plain", "qunit t", {"package.json": {"name": "x"}, "t/a.js": "QUnit.module('cart', () => {\n  QUnit.test('adds', (assert) => { assert.equal(1, 2, 'two prices'); });\n  QUnit.test('throws', () => { throw new TypeError('no way'); });\n});\n"}, [test("cart > adds", "t/a.js", 2, "two prices"), test("cart > throws", "t/a.js", msg="no way", places=[["t/a.js", 3]], msgs=["Died on test #1: no way"])], project=p, env=env)

if __name__ == "__main__":
    for recipe in (linters, runners): recipe()
