"""Older versions of tools, other reporters, narrow terminals, wrappers and scripts of one's own."""
from common import *
PY = {
 "shop/__init__.py": "", "shop/cart.py": "def add(a, b):\n    return a - b\n\ndef total(items):\n    return sum(i['price'] for i in items)\n\nclass Cart:\n    def __init__(self):\n        self.items = []\n    def put(self, item):\n        self.items.append(item)\n        return len(self.items)\n",
 "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef cart():\n    from shop.cart import Cart\n    return Cart()\n\n@pytest.fixture\ndef broken():\n    raise RuntimeError('no database here')\n",
 "tests/test_cart.py": """
import pytest
from shop.cart import add, total

def test_add():
    assert add(2, 3) == 5

@pytest.mark.parametrize("a,b", [(1, 2), (3, 0), (5, 5)], ids=["one - two", "three::zero", "same/same"])
def test_params(a, b):
    assert add(a, b) == a + b

class TestCart:
    def test_put(self, cart):
        assert cart.put("x") == 2, "the cart\\nholds one"

    def test_total(self):
        assert total([{"price": 1}, {"cost": 2}]) == 3

    class TestInner:
        def test_deep(self, cart):
            with pytest.raises(ValueError):
                cart.put(1)

def test_broken(broken):
    pass

def test_missing_fixture(nowhere):
    pass

@pytest.mark.xfail(strict=True)
def test_strict():
    pass

def test_prints():
    print("FAILED tests/test_fake.py::test_ghost - not me")
    print("error TS2322: not me")
    print("--- FAIL: TestGhost (0.00s)")
    assert {"a": 1, "b": [1, 2]} == {"a": 1, "b": [1, 3]}

def test_long():
    assert "x" * 300 == "y" * 300

def test_fine():
    assert True
""",
 "tests/unit/test_more.py": "import os\n\ndef helper(n):\n    if n == 0:\n        raise KeyError('deep down')\n    return helper(n - 1)\n\ndef test_recursion():\n    helper(3)\n\ndef test_exit():\n    assert os.environ.get('NOPE') is not None\n",
}
def pyjunit(args=""):
    def truth(cwd):
        output_of(f"python -m pytest -p no:randomly -p no:sugar -q --junitxml={HOME}/j.xml {args}", cwd)
        text = open(f"{HOME}/j.xml").read(); facts = []
        for c in xml.fromstring(text).iter("testcase"):
            for bad in list(c.findall("failure")) + list(c.findall("error")):
                body = (bad.get("message") or "") + "\n" + (bad.text or "")
                places = [[p, int(l)] for p, l in re.findall(r"^([\w/.-]+\.py):(\d+): ", bad.text or "", re.M)]
                name = c.get("name") or c.get("classname")
                if not c.get("name") or "collection failure" in (bad.get("message") or ""):
                    facts.append(collect(c.get("name") or c.get("classname"), places[0][0] if places else "", msg=""))
                else:
                    m = (bad.get("message") or "").split("\n")[0]
                    m = re.sub(r'^failed on (setup|teardown) with "(.*)"?$', r"\2", m).rstrip('"')
                    facts.append(test(name, (c.get("classname") or "").replace(".", "/") .split("/Test")[0] + ".py", msg=m, places=places))
                break
        return facts
    return truth
def python():
    p = "shop-py"
    for name, args, env in [("v7", "", {}), ("v7-narrow", "", {"COLUMNS": "50"}), ("v7-colour", "--color=yes", {}), ("v7-locals", "--showlocals --tb=long", {}), ("v7-line-q", "--tb=line -q", {}),
                            ("v7-xdist", "-n 2", {}), ("v7-xdist-v", "-n 2 -v", {}), ("v7-sugar", "-p pytest_sugar", {}), ("v7-instafail", "--instafail --tb=short", {}), ("v7-randomly", "-p randomly", {}),
                            ("v7-noheader-short", "--no-header --tb=short -rfEx", {}), ("v7-rA", "-rA", {}), ("v7-native", "--tb=native", {}), ("v7-no-tb", "--tb=no", {}), ("v7-vv", "-vv", {}), ("v7-nosummary", "--no-summary", {}), ("v7-lf", "--maxfail=2", {}), ("v7-rerun", "--reruns 1", {}), ("v7-cov", "--cov=shop --cov-fail-under=99 --cov-report=term-missing", {}), ("v7-de", "", {"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8"}), ("v7-s", "-s", {}), ("v7-ci", "", {"CI": "true", "GITHUB_ACTIONS": "true"})]:
        off = "" if "sugar" in args else "-p no:sugar "
        off += "" if "randomly" in args else "-p no:randomly "
        args2 = args.replace("-p randomly", "").replace("-p pytest_sugar", "")
        extra = [diag("coverage", msg="Required test coverage")] if "cov" in name else []
        t = pyjunit("--maxfail=2" if "maxfail" in args else "")
        case("pytest", name, f"python -m pytest {off}{args2}".strip(), PY, lambda c: t(c), project=p, env=env, also=extra)
    bad = dict(PY); bad["tests/test_bad.py"] = "import nowhere_at_all\n\ndef test_x():\n    pass\n"; bad["tests/test_syn.py"] = "def test_x(:\n    pass\n"
    case("pytest", "v7-collect", "python -m pytest -p no:sugar -p no:randomly", bad, [collect("tests/test_bad.py", "tests/test_bad.py", msg="ModuleNotFoundError: No module named 'nowhere_at_all'"), collect("tests/test_syn.py", "tests/test_syn.py", msg="SyntaxError")], project=p, verdict="broken")
    case("pytest", "v7-collect-q", "python -m pytest -p no:sugar -p no:randomly -q --tb=short", bad, [collect("tests/test_bad.py", "tests/test_bad.py", msg="ModuleNotFoundError: No module named 'nowhere_at_all'"), collect("tests/test_syn.py", "tests/test_syn.py", msg="SyntaxError")], project=p, verdict="broken")
    case("pytest", "v7-nothing", "python -m pytest -p no:sugar -k nothing_like_this", PY, [], project=p, verdict="broken")
    case("pytest", "v7-segv", "python -m pytest -p no:sugar -p no:randomly", {"test_a.py": "import ctypes\ndef test_ok():\n    pass\ndef test_crash():\n    ctypes.string_at(0)\n"}, [], project=p, verdict="broken")
    U = {"test_u.py": "import unittest\nfrom shop import add\n\nclass Cart(unittest.TestCase):\n    def setUp(self):\n        self.x = 1\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5, 'two prices')\n    def test_multi(self):\n        self.assertEqual('a\\nb\\nc', 'a\\nB\\nc')\n    def test_raises(self):\n        with self.assertRaises(KeyError):\n            {}.get(1)\n    def test_sub(self):\n        for i in range(3):\n            with self.subTest(i=i):\n                self.assertNotEqual(i, 1)\n    def test_error(self):\n        'it says something'\n        raise OSError(2, 'no such thing')\n    def test_ok(self):\n        pass\n\nclass Broken(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        raise RuntimeError('no class')\n    def test_x(self):\n        pass\n", "shop.py": "def add(a, b):\n    return a - b\n"}
    T = [test("test_add", "test_u.py", 8, "AssertionError: -1 != 5 : two prices"), test("test_multi", "test_u.py", 10, "AssertionError: 'a\\nb\\nc' != 'a\\nB\\nc'"), test("test_raises", "test_u.py", 12, "AssertionError: KeyError not raised"), test("test_sub", "test_u.py", 17, "AssertionError: 1 == 1"), test("test_error", "test_u.py", 20, "FileNotFoundError: [Errno 2] no such thing"), test("setUpClass", "test_u.py", 27, "RuntimeError: no class")]
    case("unittest", "n-plain", "python -m unittest", U, T, project="un")
    case("unittest", "n-v", "python -m unittest discover -v", U, T, project="un")
    case("unittest", "n-buffer", "python -m unittest -b", U, T, project="un")
    case("unittest", "n-locals-v", "python -m unittest -v --locals", U, T, project="un")
    case("nose2", "plain", "nose2", U, T, project="un")
    case("nose2", "v", "nose2 -v", U, T, project="un")
    B = {"features/cart.feature": "Feature: cart\n  Scenario: adds\n    Given a cart\n    When I put 2\n    Then there are 3\n\n  Scenario: fine\n    Given a cart\n\n  Scenario: undefined\n    Given something nobody wrote\n", "features/steps/s.py": "from behave import *\n@given('a cart')\ndef a(c): c.n = 0\n@when('I put {n:d}')\ndef b(c, n): c.n += n\n@then('there are {n:d}')\ndef d(c, n): assert c.n == n, f'{c.n} not {n}'\n"}
    case("behave", "plain", "behave --no-color", B, [test("adds", "features/cart.feature", msg="2 not 3", places=[["features/cart.feature", 2], ["features/cart.feature", 5]]), test("undefined", "features/cart.feature", msg="", places=[["features/cart.feature", 10], ["features/cart.feature", 11]])], project="bh")
    R = {"t.robot": "*** Test Cases ***\nAdds\n    Should Be Equal    ${1}    ${2}\nFine\n    Log    x\nNo Keyword\n    Nothing Like This\n"}
    case("robot", "plain", "robot t.robot", R, [test("Adds", "", msg="1 != 2"), test("No Keyword", "", msg="No keyword with name 'Nothing Like This' found.")], project="rb")
    L = {"app/__init__.py": "", "app/m.py": "import os, sys\nimport json\n\ndef f(a, b=[]):\n    x = 1\n    if a == None:\n        return undefined_name\n    try:\n        eval(a)\n    except:\n        pass\n    l = 3\n    return 'very long ' + str(b) + 'line that goes on and on and on and on and on and on and on and on and on'\n\nclass A:\n  def g(self) -> int:\n    return 'x'\n\ndef h(n: int) -> str:\n    return n + 'a'\n"}
    ruffj = lambda args: lambda cwd: [diag(d["code"] or "", d["filename"], d["location"]["row"], d["message"]) for d in json.loads(output_of(f"ruff check {args} --output-format=json", cwd))]
    for name, args in [("n-full", ""), ("n-concise", "--output-format=concise"), ("n-text", "--output-format=full --select E,F,B"), ("n-grouped", "--output-format=grouped"), ("n-pylint", "--output-format=pylint"), ("n-azure", "--output-format=azure"), ("n-junit", "--output-format=junit"), ("n-jsonl", "--output-format=json-lines"), ("n-rdjson", "--output-format=rdjson"), ("n-stats", "--show-fixes")]:
        case("ruff", name, f"ruff check {args}".strip(), L, ruffj("--select E,F,B" if "select" in args else ""), project="lint")
    fl = lambda cwd: [diag(c, f, int(l), m) for f, l, c, m in re.findall(r"^(?:\./)?(\S+?):(\d+):\d+: (\S+) (.*)$", output_of("flake8", cwd), re.M)]
    for name, args in [("v5", ""), ("v5-show", "--show-source"), ("v5-stat", "--statistics --count"), ("v5-colour", "--color=always")]:
        case("flake8", name, f"flake8 {args}".strip(), L, fl, project="lint")
    def pl(cwd): return [diag(d["symbol"], d["path"], d["line"], d["message"]) for d in json.loads(output_of("pylint app -f json", cwd))]
    for name, args in [("v2", ""), ("v2-parse", "-f parseable"), ("v2-colour", "-f colorized"), ("v2-msvs", "-f msvs"), ("v2-noscore", "-sn -rn")]:
        case("pylint", name, f"pylint app {args}".strip(), L, pl, project="lint")
    my = lambda args: lambda cwd: [diag(c, f, int(l), m) for f, l, m, c in re.findall(r"^(\S+?):(\d+):(?:\d+:)? error: (.*?)(?:  \[([\w-]+)\])?$", output_of(f"mypy --no-pretty {args} .", cwd), re.M)]
    for name, args in [("v15", ""), ("v15-strict", "--strict"), ("v15-pretty", "--pretty"), ("v15-cols", "--show-column-numbers --show-error-end"), ("v15-colour", "--color-output --strict")]:
        case("mypy", name, f"mypy {args} .".replace("  ", " "), L, my(args.replace("--pretty", "")), project="lint", env={"MYPY_FORCE_COLOR": "1", "TERM": "xterm"} if "colour" in name else {})
    def pr(cwd): return [diag(d.get("rule") or "", d["file"], d["range"]["start"]["line"] + 1, d["message"].split("\n")[0]) for d in json.loads(output_of("pyright --outputjson", cwd))["generalDiagnostics"] if d["severity"] == "error"]
    case("pyright", "old", "pyright", L, pr, project="lint")
    case("basedpyright", "new", "basedpyright", L, lambda cwd: [diag(d.get("rule") or "", d["file"], d["range"]["start"]["line"] + 1, d["message"].split("\n")[0]) for d in json.loads(output_of("basedpyright --outputjson", cwd))["generalDiagnostics"] if d["severity"] == "error"], project="lint")
    case("ty", "n", "ty check", L, lambda cwd: [diag(c, f, int(l), m) for f, l, c, m in re.findall(r"^(\S+?):(\d+):\d+: error\[([\w-]+)\] (.*)$", output_of("ty check --output-format concise", cwd), re.M)], project="lint")
    case("pyrefly", "n", "pyrefly check", L, lambda cwd: [diag(d["name"], d["path"], d["line"], d["concise_description"]) for d in json.loads(output_of("pyrefly check --output-format json", cwd))["errors"]], project="lint")
    case("bandit", "n", "bandit -r app", L, lambda cwd: [diag(d["test_id"], d["filename"], d["line_number"], d["issue_text"]) for d in json.loads(output_of("bandit -q -r app -f json", cwd))["results"]], project="lint")
    case("black", "v23", "black --check .", L, [diag("", "app/m.py")], project="lint")
    case("isort", "n", "isort --check .", L, [diag("", "app/m.py", msg="Imports are incorrectly sorted")], project="lint")
    case("vulture", "n", "vulture .", L, lambda cwd: [diag("", f, int(l), m) for f, l, m in re.findall(r"^(\S+?):(\d+): (.*)$", output_of("vulture .", cwd), re.M)], project="lint")
    case("interrogate", "n", "interrogate -f 95 app", L, [diag("", msg="RESULT: FAILED")], project="lint")
    case("codespell", "n", "codespell", {"a.md": "teh cat\nrecieve it\n"}, [diag("", "a.md", 1, "teh ==> the"), diag("", "a.md", 2, "recieve ==> receive")], project="cs")
    W = dict(PY); W["tox.ini"] = "[tox]\nskipsdist=true\nenv_list=a,b\n[testenv]\nskip_install=true\nallowlist_externals=python\ncommands=python -m pytest -p no:sugar -p no:randomly -q\n"; W["Procfile"] = "one: python -m pytest -p no:sugar -p no:randomly -q --tb=short\ntwo: sh -c 'echo hi; sleep 1; echo there'\n"; W["Makefile"] = "test:\n\t@python -m pytest -p no:sugar -p no:randomly -q | sed 's/^/[py] /'; exit 1\nall: test\n"
    t = pyjunit()
    case("wrap-py", "n-honcho", "honcho start", W, lambda c: t(c), project=p, wrapper="honcho", env={"PYTHONUNBUFFERED": "1"})
    case("wrap-py", "n-sed", "make test", W, lambda c: t(c), project=p, wrapper="sed")
    case("wrap-py", "n-ts", "sh -c 'python -m pytest -p no:sugar -p no:randomly 2>&1 | while IFS= read -r l; do printf \"%s %s\\n\" \"$(date +%H:%M:%S)\" \"$l\"; done; exit 1'", W, lambda c: t(c), project=p, wrapper="time")
    case("wrap-py", "n-tee", "bash -c 'set -o pipefail; python -m pytest -p no:sugar -p no:randomly -v 2>&1 | tee log'", W, lambda c: t(c), project=p, wrapper="tee")
    case("wrap-py", "n-logger", "sh -c 'python -m pytest -p no:sugar -p no:randomly 2>&1 | sed \"s/^/2024-01-02T03:04:05.678Z [ci-runner-1] INFO  /\"; exit 1'", W, lambda c: t(c), project=p, wrapper="log")
    case("wrap-py", "n-gha", "sh -c 'echo \"##[group]Run pytest\"; echo \"pytest -q\"; echo \"##[endgroup]\"; python -m pytest -p no:sugar -p no:randomly -q; echo \"##[error]Process completed with exit code 1.\"; exit 1'", W, lambda c: t(c), project=p, wrapper="gha")
    case("wrap-py", "n-two", "sh -c 'ruff check .; python -m pytest -p no:sugar -p no:randomly -q'", dict(W, **{"app/__init__.py": "", "app/m.py": "import os\n"}), lambda c: [diag("F401", "app/m.py", 1, "`os` imported but unused")] + t(c), project="shop-two", wrapper="two", also=[])
    case("wrap-py", "n-compose", "sh -c 'python -m pytest -p no:sugar -p no:randomly 2>&1 | sed \"s/^/tests-1  | /\"; echo \"tests-1 exited with code 1\"; exit 1'", W, lambda c: t(c), project=p, wrapper="compose")
    case("wrap-py", "n-nomod", "python -m pytestt", W, [], project=p, wrapper="x", verdict="broken")
    case("wrap-py", "n-nofile", "python nowhere.py", W, [], project=p, wrapper="x", verdict="broken")
    case("wrap-py", "n-nopermission", "./tests/test_cart.py", W, [], project=p, wrapper="x", verdict="broken")
    case("wrap-py", "n-timeout", "timeout 1 python -c 'import time; print(\"waiting\", flush=True); time.sleep(9)'", W, [], project=p, wrapper="x", verdict="broken")
    case("wrap-py", "n-kill", "sh -c 'python -c \"import os; os.kill(os.getpid(), 9)\"'", W, [], project=p, wrapper="x", verdict="broken")
    case("wrap-py", "n-abort-make", "make -f m.mk", {"m.mk": "t:\n\tpython -c 'import os; os.abort()'\n"}, [], project="mk", wrapper="x", verdict="broken")
    S = {"check.sh": "echo start\necho 'ERROR: port 5432 is taken' >&2\nexit 3\n", "check.py": "def main():\n    raise SystemExit('config is wrong: no key')\nmain()\n", "boom.py": "def f(x):\n    return 1 / x\n\nf(0)\n", "boom.js": "function f(x) { return x.y.z }\nf({})\n", "rej.js": "Promise.reject(new Error('nobody listens'))\n", "boom.pl": "use strict;\nmy %h;\ndie \"no luck\" if 1;\n", "boom.php": "<?php\nfunction f($x) { return $x->y(); }\nf(null);\n", "boom.rb": "def f(x)\n  x.upcase\nend\nf(nil)\n", "err.sh": "set -eu\necho one\ncat /nowhere/file\n", "unb.sh": "set -eu\necho \"$NOPE\"\n"}
    case("unknown", "n-sh", "sh check.sh", S, [diag("", msg="ERROR: port 5432 is taken")], project="un2")
    case("unknown", "n-exit", "python check.py", S, [diag("", msg="config is wrong: no key")], project="un2")
    case("unknown", "n-py", "python boom.py", S, [diag("", "boom.py", 2, "ZeroDivisionError: division by zero")], project="un2")
    case("unknown", "n-js", "node boom.js", S, [diag("", "boom.js", 1, "TypeError: Cannot read properties of undefined (reading 'z')")], project="un2")
    case("unknown", "n-rej", "node rej.js", S, [diag("", "rej.js", 1, "Error: nobody listens")], project="un2")
    case("unknown", "n-perl", "perl boom.pl", S, [diag("", "boom.pl", 3, "no luck")], project="un2")
    case("unknown", "n-php", "php boom.php", S, [diag("", "boom.php", 2, "Call to a member function y() on null")], project="un2")
    case("unknown", "n-ruby", "ruby boom.rb", S, [diag("", "boom.rb", 2, "undefined method `upcase' for nil")], project="un2")
    case("unknown", "n-cat", "bash err.sh", S, [diag("", msg="cat: /nowhere/file: No such file or directory")], project="un2")
    case("unknown", "n-unbound", "bash unb.sh", S, [diag("", "unb.sh", 2, "NOPE: unbound variable")], project="un2")
J = {"cart.js": "exports.add = (a, b) => a - b;\nexports.total = (items) => items.reduce((s, i) => s + i.price.value, 0);\n",
 "a.test.js": """
const { add, total } = require('./cart');
describe('cart', () => {
  test('adds two prices', () => { expect(add(2, 3)).toBe(5); });
  test('keeps "quotes" › and arrows', () => { expect({ a: 1, b: [1] }).toEqual({ a: 1, b: [2] }); });
  describe('inner', () => {
    it('throws deep', () => { total([{}]); });
    it('rejects', async () => { await Promise.reject(new RangeError('out of stock')); });
  });
  test.each([[1, 1], [2, 2]])('each %i %i', (a, b) => { expect(a + b).toBe(0); });
  test('prints', () => { console.log('  ● not › me\\n\\n    Error: nor me'); console.error('error TS2322: no'); expect(1).toBe(2); });
  test('fine', () => {});
});
""", "b.test.js": "require('./nowhere');\ntest('x', () => {});\n", "package.json": {"name": "shop", "jest": {}}}
def jestj(args="", runner="jest"):
    def truth(cwd):
        d = json.loads(output_of(f"{runner} --json {args} 2>/dev/null", cwd)); facts = []
        for f in d["testResults"]:
            if not f["assertionResults"]: facts.append(collect(relative(f["name"]), f["name"], msg=""))
            for a in f["assertionResults"]:
                if a["status"] == "failed":
                    m = ANSI.sub("", a["failureMessages"][0]); facts.append(test(a["title"], f["name"], msg=first(m), places=frames(m), full=a["fullName"], msgs=[re.sub(r"^\w*Error: ", "", first(m))]))
        return facts
    return truth
def js():
    p = "jest27"
    for name, args, env in [("v27", "", {}), ("v27-verbose", "--verbose", {}), ("v27-colour", "--colors", {}), ("v27-ci", "--ci", {"CI": "1"}), ("v27-cov", "--coverage", {}), ("v27-i", "-i --silent", {}), ("v27-narrow", "--verbose", {"COLUMNS": "40"}), ("v27-noloc", "--noStackTrace", {}), ("v27-bail", "--bail --no-expand", {})]:
        case("jest", name, f"jest {args}".strip(), J, jestj("--bail" if "bail" in args else ""), project=p, env=env)
    V = {k: v for k, v in J.items()}; V = {"cart.mjs": "export const add = (a, b) => a - b;\n", "a.test.mjs": """
import { describe, test, it, expect, vi } from 'vitest';
import { add } from './cart.mjs';
describe('cart', () => {
  test('adds two prices', () => { expect(add(2, 3)).toBe(5); });
  describe('inner > deep', () => {
    it('throws', () => { null.x; });
    it('objects', () => { expect({ a: 1, b: { c: [1, 2] } }).toEqual({ a: 1, b: { c: [1, 3] } }); });
  });
  test.each([1, 2])('each %i', (a) => { expect(a).toBe(0); });
  test('prints', () => { console.log(' FAIL  x.test.js > not me'); console.error('AssertionError: nor me'); expect('a\\nb').toBe('a\\nc'); });
  test('slow', async () => { await new Promise((r) => setTimeout(r, 400)); }, 50);
  test('fine', () => {});
});
""", "b.test.mjs": "import './nowhere.mjs';\n", "package.json": {"name": "v"}}
    def vj(cwd):
        d = json.loads(output_of("vitest run --reporter=json 2>/dev/null", cwd)); facts = []
        for f in d["testResults"]:
            if not f["assertionResults"]: facts.append(collect(relative(f["name"]), f["name"], msg=""))
            for a in f["assertionResults"]:
                if a["status"] == "failed": m = ANSI.sub("", a["failureMessages"][0]); facts.append(test(a["title"], f["name"], msg=first(m), places=frames(m), msgs=[re.sub(r"^\w*Error: ", "", first(m))]))
        return facts
    for name, args, env in [("v1", "", {}), ("v1-verbose", "--reporter=verbose", {}), ("v1-dot", "--reporter=dot", {}), ("v1-basic", "--reporter=basic", {}), ("v1-tap", "--reporter=tap", {}), ("v1-tapflat", "--reporter=tap-flat", {}), ("v1-junit", "--reporter=junit", {}), ("v1-colour", "", {"FORCE_COLOR": "1"}), ("v1-gha", "", {"GITHUB_ACTIONS": "true", "CI": "1"})]:
        case("vitest", name, f"vitest run {args}".strip(), V, vj, project="vitest1", env=env)
    M = {"test/a.js": """
const assert = require('assert');
describe('cart', function () {
  it('adds', () => { assert.strictEqual(1 + 1, 3); });
  context('inner', () => {
    it('objects', () => { assert.deepStrictEqual({ a: 1, b: 2 }, { a: 1, b: 3 }); });
    it('throws a string', () => { throw 'just words'; });
    it('slow', (done) => {}).timeout(30);
    it('fine', () => {});
    it('later');
  });
  it('prints', () => { console.log('  1 failing\\n\\n  1) not me:\\n     Error: nor me'); assert(false, 'said so'); });
});
describe('hooks', () => { before(() => { throw new TypeError('no database'); }); it('never', () => {}); });
"""}
    def mj(cwd):
        d = json.loads(re.search(r"^\{.*", output_of("mocha --reporter json", cwd), re.S | re.M).group(0)); return [test(f["title"], "test/a.js", msg=first(f["err"].get("message") or ""), places=frames(f["err"].get("stack") or "")) for f in d["failures"]]
    for name, args, env in [("v9", "", {}), ("v9-dot", "-R dot", {}), ("v9-min", "-R min", {}), ("v9-tap", "-R tap", {}), ("v9-xunit", "-R xunit", {}), ("v9-landing", "-R landing", {}), ("v9-list", "-R list", {}), ("v9-colour", "--color", {}), ("v9-inline", "--inline-diffs", {}), ("v9-fulltrace", "--full-trace", {}), ("v9-bail", "--bail", {}), ("v9-progress", "-R progress", {})]:
        case("mocha", name, f"mocha {args}".strip(), M, (lambda cwd: mj(cwd)[:1]) if "bail" in name else mj, project="mocha9", env=env)
    A = {"test.mjs": "import test from 'ava';\ntest('adds', t => { t.is(1 + 1, 3); });\ntest('shape', t => { t.deepEqual({ a: 1 }, { a: 2 }); });\ntest('throws', t => { throw new TypeError('no way'); });\ntest('rejects', async t => { await Promise.reject(new Error('out')); });\ntest('fine', t => { t.pass(); });\n", "package.json": {"name": "a", "ava": {"files": ["test.mjs"]}}}
    AT = [test("adds", "test.mjs", 2, ""), test("shape", "test.mjs", 3, ""), test("throws", "test.mjs", 4, "no way"), test("rejects", "test.mjs", 5, "out")]
    case("ava", "v5", "ava", A, AT, project="ava5"); case("ava", "v5-verbose", "ava --verbose", A, AT, project="ava5"); case("ava", "v5-colour", "ava --color", A, AT, project="ava5", env={"FORCE_COLOR": "1"})
    T = {"t.js": "const t = require('tap');\nt.test('adds', t => { t.equal(1 + 1, 3, 'two prices'); t.same({ a: 1 }, { a: 2 }, 'same shape'); t.end(); });\nt.test('throws', t => { throw new Error('no way'); });\nt.test('fine', t => { t.ok(true); t.end(); });\n"}
    TT = [test("two prices", "t.js", 2, ""), test("same shape", "t.js", 2, ""), test("no way", "t.js", 3, "no way")]
    case("node-tap", "v16", "tap --no-coverage t.js", T, TT, project="tap16", also=[test("adds"), test("throws"), test("t.js")]); case("node-tap", "v16-tap", "node t.js", T, TT, project="tap16", also=[test("adds"), test("throws")]); case("node-tap", "v16-spec", "tap --no-coverage -R spec t.js", T, TT, project="tap16", also=[test("adds"), test("throws"), test("t.js")])
    JA = {"spec/a.spec.js": "describe('cart', () => {\n  it('adds', () => { expect(1 + 1).toBe(3); });\n  it('several', () => { expect(1).toBe(2); expect('a').toEqual('b'); });\n  it('throws', () => { throw new Error('no way'); });\n  it('fine', () => { expect(1).toBe(1); });\n});\n", "spec/support/jasmine.json": {"spec_dir": "spec", "spec_files": ["**/*.spec.js"], "random": False}}
    JT = [test("cart adds", "spec/a.spec.js", 2, "Expected 2 to be 3."), test("cart several", "spec/a.spec.js", 3, "Expected 1 to be 2."), test("cart throws", "spec/a.spec.js", 4, "no way")]
    case("jasmine", "v4", "jasmine", JA, JT, project="jas"); case("jasmine", "v4-colour", "jasmine --color", JA, JT, project="jas"); 
    E = {".eslintrc.json": {"root": True, "env": {"es2021": True, "node": True}, "extends": "eslint:recommended", "rules": {"semi": "error", "quotes": "warn", "no-console": "warn"}, "parserOptions": {"sourceType": "module"}}, "src/a.js": "var x = 'a'\nif (x = 2) { undefinedThing(); }\nconsole.log(\"x\")\nfunction f() { return; foo(); }\n", "src/b.js": "const y = 1;\ny = 2;\nexport default y\n", "src/c.js": "const = 3;\n", "src/fine.js": "export const z = 1;\n"}
    ej = lambda cwd: [diag(m["ruleId"] or "", f["filePath"], m["line"], m["message"]) for f in json.loads(output_of("eslint src -f json", cwd)) for m in f["messages"] if m["severity"] == 2]
    ew = lambda cwd: [diag(m["ruleId"] or "", f["filePath"], m["line"], m["message"]) for f in json.loads(output_of("eslint src -f json", cwd)) for m in f["messages"] if m["severity"] == 1]
    for name, args in [("v8", ""), ("v8-compact", "-f compact"), ("v8-unix", "-f unix"), ("v8-tap", "-f tap"), ("v8-vs", "-f visualstudio"), ("v8-jslint", "-f jslint-xml"), ("v8-checkstyle", "-f checkstyle"), ("v8-junit", "-f junit"), ("v8-colour", "--color"), ("v8-quiet", "--quiet")]:
        case("eslint", name, f"eslint src {args}".strip(), E, ej, also=ew, project="eslint8")
    S = {"a.ts": "const x: number = 'a';\ninterface A { a: string; b: { c: number } }\nconst y: A = { a: 'x', b: { c: 'no' } };\nfunction f(a: number, b: string): void {}\nf('x');\nlet z = nowhere;\nexport const q = y.missing;\n", "b.ts": "import { nothing } from './a';\nimport x from 'no-such-module';\nexport default x;\n", "tsconfig.json": {"compilerOptions": {"strict": True, "noEmit": True, "types": []}}}
    ts = lambda cwd: [diag(c, f, int(l), m) for f, l, c, m in re.findall(r"^(\S+?)\((\d+),\d+\): error (TS\d+): (.*)$", output_of("tsc --pretty false", cwd), re.M)]
    for name, args in [("v4", ""), ("v4-pretty", "--pretty"), ("v4-files", "--noEmit a.ts b.ts"), ("v4-build", "-b")]:
        case("tsc", name, f"tsc {args}".strip(), S, ts, project="ts4")
    case("tsc", "v4-locale", "tsc --locale de", S, lambda cwd: [diag(c, f, int(l), m) for f, l, c, m in re.findall(r"^(\S+?)\((\d+),\d+\): error (TS\d+): (.*)$", output_of("tsc --locale de --pretty false", cwd), re.M)], project="ts4")
    case("prettier", "v2", "prettier --check .", {"a.js": "var x   =  1\n", "b.css": "a{b:c}\n", "c.js": "const = ;\n", "d.json": "{}\n"}, [diag("", "a.js"), diag("", "b.css"), diag("", "c.js")], project="pr2")
    case("prettier", "v2-l", "prettier -l .", {"a.js": "var x   =  1\n", "b.css": "a{b:c}\n"}, [diag("", "a.js"), diag("", "b.css")], project="pr2")
    case("stylelint", "v15", "stylelint '*.css'", {"a.css": "a { color: #GGG; colr: red; }\n\n\n\na { }\n", ".stylelintrc.json": {"extends": "stylelint-config-standard"}}, lambda cwd: [diag(w["rule"], f["source"], w["line"], re.sub(r" \([\w-]+\)$", "", w["text"])) for f in json.loads(output_of("stylelint '*.css' -f json", cwd)) for w in f["warnings"]], project="sl")
    case("oxlint", "old", "oxlint src", E, lambda cwd: [], also=lambda cwd: [], project="ox", verdict=None)
    case("biome", "v1", "biome check src", dict(E, **{"src/a.js": E["src/a.js"]}), lambda cwd: [diag(d["category"], (d["location"]["path"] or {}).get("file"), None, "") for d in json.loads(output_of("biome check src --reporter=json 2>/dev/null", cwd))["diagnostics"] if d["severity"] == "error"], project="bio1")
    case("standard", "n", "standard src/*.js", E, lambda cwd: [diag("", f, int(l), re.sub(r" \([\w/@-]+\)$", "", m)) for f, l, m in re.findall(r"^  (\S+?):(\d+):\d+: (.*)$", output_of("standard src/*.js", cwd), re.M)], project="std")
    case("jshint", "n", "jshint src", E, lambda cwd: [diag("", f, int(l), m) for f, l, m in re.findall(r"^(\S+?): line (\d+), col \d+, (.*)$", output_of("jshint src", cwd), re.M)], project="jsh")
    case("htmlhint", "n", "htmlhint .", {"a.html": "<html><body><p>x</body><img src=a></html>\n"}, lambda cwd: [diag(m["rule"]["id"], "a.html", m["line"], m["message"]) for f in json.loads(output_of("htmlhint -f json .", cwd)) for m in f["messages"]], project="hh")
    case("markdownlint", "n", "markdownlint .", {"a.md": "# A\n## B\n\n\n\n* x\n- y\n\tz\n"}, lambda cwd: [diag(m["ruleNames"][0], m["fileName"], m["lineNumber"], m["ruleDescription"]) for m in json.loads(subprocess.run(["bash", "-c", "markdownlint --json ."], cwd=cwd, env=environment({}), capture_output=True).stderr or b"[]")], project="ml")
    W = dict(J); W["package.json"] = {"name": "shop", "private": True, "workspaces": ["packages/*"], "scripts": {"test": "jest", "lint": "eslint src", "both": "concurrently -n jest,lint \"jest\" \"sh -c 'sleep 1; echo lint ok'\"", "seq": "run-s lintx test", "lintx": "echo linting"}, "jest": {"rootDir": "."}}
    t = jestj()
    case("wrap-js", "n-npm", "npm test", W, t, project="wj", wrapper="npm"); case("wrap-js", "n-npm-s", "npm run -s test", W, t, project="wj", wrapper="npm")
    case("wrap-js", "n-concurrently", "concurrently -n jest,lint jest \"sh -c 'sleep 1; echo lint ok'\"", W, t, project="wj", wrapper="concurrently")
    case("wrap-js", "n-concurrently-pid", "concurrently -p '{pid}' jest \"sh -c 'sleep 1; echo lint ok'\"", W, t, project="wj", wrapper="concurrently")
    case("wrap-js", "n-concurrently-time", "concurrently -p '[{time} {index}]' jest \"sh -c 'sleep 1; echo lint ok'\"", W, t, project="wj", wrapper="concurrently")
    case("wrap-js", "n-concurrently-cmd", "concurrently -p command jest \"sh -c 'sleep 1; echo lint ok'\"", W, t, project="wj", wrapper="concurrently")
    case("wrap-js", "n-run-p", "run-p -l test lintx", W, t, project="wj", wrapper="npm-run-all")
    case("wrap-js", "n-missing", "npm run nowhere", W, [], project="wj", wrapper="npm", verdict="broken")
    case("wrap-js", "n-badjson", "npm test", {"package.json": "{ \"scripts\": { \"test\": \n"}, [], project="wj2", wrapper="npm", verdict="broken")
    case("wrap-js", "n-nobin", "npm test", {"package.json": {"scripts": {"test": "nosuchtool --x"}}}, [], project="wj2", wrapper="npm", verdict="broken")
    case("wrap-js", "n-nopreset", "jest", {"package.json": {"jest": {"preset": "nowhere-preset"}}, "a.test.js": "test('x', () => {})\n"}, [], project="wj3", wrapper="x", verdict="broken")
    case("wrap-js", "n-eslint-noplugin", "eslint src", {".eslintrc.json": {"root": True, "plugins": ["nowhere"]}, "src/a.js": "var a\n"}, [], project="wj4", wrapper="x", verdict="broken")
    case("wrap-js", "n-tsc-noinput", "tsc -p nowhere.json", {"a.ts": "let a = 1\n"}, [], project="wj5", wrapper="x", verdict="broken")
    case("wrap-js", "n-mocha-nofiles", "mocha nothing/*.js", {"a.js": ""}, [], project="wj6", wrapper="x", verdict="broken")
    case("wrap-js", "n-heap", "node --max-old-space-size=20 -e 'const a = []; for (;;) a.push(new Array(1e4).fill(Math.random()))'", {"a.js": ""}, [], project="wj6", wrapper="x", verdict="broken")
G = {"go.mod": "module example.com/shop\n\ngo 1.19\n", "cart.go": "package shop\n\nfunc Add(a, b int) int { return a - b }\n\nfunc Total(p []int) int { return p[3] }\n", "cart_test.go": """
package shop

import (
	"errors"
	"fmt"
	"testing"
)

func TestAdd(t *testing.T) {
	if got := Add(2, 3); got != 5 {
		t.Errorf("Add(2, 3) = %d, want 5", got)
	}
}

func TestTable(t *testing.T) {
	for _, c := range []struct{ name string; a, b, want int }{{"zero", 0, 0, 0}, {"one two", 1, 2, 3}, {"a/b", 2, 2, 4}} {
		t.Run(c.name, func(t *testing.T) {
			if got := Add(c.a, c.b); got != c.want {
				t.Fatalf("got %d\\nwant %d", got, c.want)
			}
		})
	}
}

func TestPrints(t *testing.T) {
	fmt.Println("--- PASS: TestGhost (0.00s)")
	fmt.Println("    --- FAIL: TestGhost/sub (0.00s)")
	fmt.Println("panic: not me")
	t.Log("a log line")
	t.Error(errors.New("out of stock"))
}

func TestParallel(t *testing.T) {
	for i := 0; i < 3; i++ {
		i := i
		t.Run(fmt.Sprint("p", i), func(t *testing.T) {
			t.Parallel()
			fmt.Println("from", i)
			if i == 1 {
				t.Error("one is wrong")
			}
		})
	}
}

func TestSkip(t *testing.T) { t.Skip("later") }
func TestFine(t *testing.T)  {}
"""}
def goj(args=""):
    def truth(cwd):
        out, bad = {}, []
        for line in output_of(f"go test -json {args} ./...", cwd).splitlines():
            try: e = json.loads(line)
            except ValueError: continue
            if "Test" not in e: continue
            out.setdefault(e["Test"], "") 
            if e["Action"] == "output": out[e["Test"]] += e["Output"]
            if e["Action"] == "fail": bad.append(e["Test"])
        leaves = [b for b in bad if not any(o.startswith(b + "/") for o in bad)]
        facts = []
        for b in leaves:
            rows = re.findall(r"^\s+(\w+\.go):(\d+): (.*)$", out[b], re.M)
            rows2 = [r for r in rows if "log line" not in r[2]]
            facts.append(test(b, rows2[0][0] if rows2 else "", msg=rows2[0][2] if rows2 else "", places=[[f, int(l)] for f, l, _ in rows2]))
        return facts
    return truth
def go():
    for name, args in [("n119", ""), ("n119-v", "-v"), ("n119-json", "-json"), ("n119-short", "-short -count=1"), ("n119-cover", "-cover"), ("n119-run", "-v -run 'TestTable|TestFine'"), ("n119-p", "-v -parallel 1")]:
        t = goj("-run 'TestTable|TestFine'" if "run" in name else "")
        case("go-test", name, f"go test {args} ./...".replace("  ", " "), G, t, project="gosh", env={"GOFLAGS": "-mod=mod", "GOCACHE": HOME + "/gocache"})
    P = dict(G); P["cart_test.go"] = "package shop\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Log(\"x\") }\n\nfunc TestBoom(t *testing.T) {\n\tTotal([]int{1})\n}\n"
    case("go-test", "n119-panic", "go test ./...", P, [test("TestBoom", "cart.go", 5, "panic: runtime error: index out of range [3] with length 1")], project="gosh", env={"GOCACHE": HOME + "/gocache"})
    case("go-test", "n119-panic-v", "go test -v ./...", P, [test("TestBoom", "cart.go", 5, "panic: runtime error: index out of range [3] with length 1")], project="gosh", env={"GOCACHE": HOME + "/gocache"})
    B = dict(G); B["bad.go"] = "package shop\n\nfunc f() { undefinedThing() }\n"
    case("go-test", "n119-build", "go test ./...", B, [diag("", "bad.go", 3, "undefined: undefinedThing")], project="gosh", verdict="broken", env={"GOCACHE": HOME + "/gocache"})
    case("go-build", "n119-vet", "go vet ./...", dict(G, **{"v.go": "package shop\n\nimport \"fmt\"\n\nfunc V() { fmt.Printf(\"%d\\n\", \"x\") }\n"}), [diag("", "v.go", 5, "fmt.Printf format %d has arg \"x\" of wrong type string")], project="gosh", env={"GOCACHE": HOME + "/gocache"}, also=[diag("", "v.go")])
def others():
    B = {"t/a.bats": "setup() { :; }\n@test \"adds two\" {\n  run echo 4\n  [ \"$output\" -eq 5 ]\n}\n@test \"fine\" { true; }\n@test \"prints: not ok 9\" {\n  echo 'not ok 3 - ghost'\n  echo '# hm'\n  false\n}\n@test \"skipped\" { skip later; }\n@test \"missing cmd\" {\n  nowhere_cmd\n}\n"}
    BT = [test("adds two", "t/a.bats", 4, "`[ \"$output\" -eq 5 ]' failed"), test("prints: not ok 9", "t/a.bats", 10, "`false' failed"), test("missing cmd", "t/a.bats", 14, "`nowhere_cmd' failed with status 127")]
    for name, args in [("n", ""), ("n-pretty", "--pretty"), ("n-tap13", "-F tap13"), ("n-junit", "-F junit"), ("n-timing", "--timing"), ("n-trace", "--trace"), ("n-gather", "--print-output-on-failure")]:
        case("bats", name, f"bats {args} t".replace("  ", " "), B, BT, project="bats18")
    R = {"spec/a_spec.rb": "class Cart; def add(a, b) a - b end; end\nRSpec.describe Cart do\n  it('adds') { expect(Cart.new.add(2, 3)).to eq 5 }\n  it 'has several', :aggregate_failures do\n    expect(1).to eq 2\n    expect('a').to include('b')\n  end\n  context 'when empty' do\n    it('raises') { raise ArgumentError, \"no\\nluck\" }\n    it('pends')\n    it('is fine') { expect(1).to eq 1 }\n  end\n  it { is_expected.to be_nil }\n  it('prints') { puts \"Failures:\\n\\n  1) not me\\n     Failure/Error: nor me\"; expect([1, 2]).to match_array([1, 3]) }\nend\n"}
    def rj(cwd):
        d = json.loads(re.search(r"\{\"version.*", output_of("rspec -f json", cwd), re.S).group(0).splitlines()[0]); return [test(e["full_description"], e["file_path"].lstrip("./"), msg=first(e["exception"]["message"]), places=[["spec/a_spec.rb", int(l)] for l in re.findall(r"a_spec\.rb:(\d+)", "\n".join(e["exception"]["backtrace"]))]) for e in d["examples"] if e["status"] == "failed"]
    for name, args in [("n", ""), ("n-doc", "-f d"), ("n-colour", "--force-color"), ("n-profile", "-f p --profile 2"), ("n-failures", "-f failures"), ("n-back", "-b"), ("n-html", "--order rand:3")]:
        case("rspec", name, f"rspec {args}".strip(), R, rj, project="rspec3")
    case("rspec", "n-noconst", "rspec", {"spec/b_spec.rb": "RSpec.describe Nowhere do\n  it('x') {}\nend\n"}, [collect("spec/b_spec.rb", "spec/b_spec.rb", msg="uninitialized constant Nowhere")], project="rspec4", verdict="broken")
    P = {"tests/CartTest.php": "<?php\nuse PHPUnit\\Framework\\TestCase;\nfinal class CartTest extends TestCase {\n  public function testAdds(): void { $this->assertSame(5, 2 - 3, 'two prices'); }\n  public function testThrows(): void { throw new RuntimeException('out of stock'); }\n  /** @dataProvider rows */\n  public function testRows(int $a, int $b): void { $this->assertEquals($a, $b); }\n  public static function rows(): array { return ['same' => [1, 1], 'other one' => [1, 2]]; }\n  public function testArray(): void { $this->assertEquals(['a' => 1], ['a' => 2]); }\n  public function testRisky(): void {}\n  public function testSkip(): void { $this->markTestSkipped('later'); }\n  public function testNothing(): void { $x = null; $x->foo(); }\n}\n"}
    def pj(cwd):
        output_of(f"phpunit --log-junit {HOME}/p.xml tests", cwd); facts = []
        for c in xml.fromstring(open(f"{HOME}/p.xml").read()).iter("testcase"):
            for bad in list(c.findall("failure")) + list(c.findall("error")):
                lines = bad.text.splitlines(); facts.append(test(c.get("name"), "tests/CartTest.php", msg=lines[1] if len(lines) > 1 else "", places=[["tests/CartTest.php", int(l)] for l in re.findall(r"CartTest\.php:(\d+)", bad.text)]))
        return facts
    for name, args in [("n9", ""), ("n9-testdox", "--testdox"), ("n9-colour", "--colors=always"), ("n9-verbose", "-v"), ("n9-debug", "--debug"), ("n9-teamcity", "--teamcity"), ("n9-reverse", "--reverse-list")]:
        case("phpunit", name, f"phpunit {args} tests".replace("  ", " "), P, pj, project="php9")
    M = {"test_a.rb": "require 'minitest/autorun'\nclass CartTest < Minitest::Test\n  def test_adds\n    assert_equal 5, 2 - 3, 'two prices'\n  end\n  def test_raises\n    raise ArgumentError, 'out of stock'\n  end\n  def test_fine\n    assert true\n  end\n  def test_nil\n    refute_nil nil\n  end\nend\n"}
    MT = [test("test_adds", "test_a.rb", 4, "two prices"), test("test_raises", "test_a.rb", 7, "ArgumentError: out of stock"), test("test_nil", "test_a.rb", 13, "Expected nil to not be nil.")]
    case("minitest", "n", "ruby test_a.rb", M, MT, project="mt"); case("minitest", "n-v", "ruby test_a.rb -v", M, MT, project="mt")
    S = {"a.sh": "#!/bin/sh\nx=$1\necho $x\ncd $x\nif [ $x == 1 ]; then echo `ls`; fi\nlocal y=2\n", "b.bash": "#!/bin/bash\nfor f in $(ls *.txt); do rm -rf $f/*; done\nread a\n"}
    sj = lambda cwd: [diag("SC%d" % d["code"], d["file"], d["line"], d["message"]) for d in json.loads(output_of("shellcheck -f json a.sh b.bash", cwd))]
    for name, args in [("n", ""), ("n-gcc", "-f gcc"), ("n-colour", "-C"), ("n-check", "-f checkstyle"), ("n-json1", "-f json1"), ("n-diff", "-f tty -S warning")]:
        t = sj if "diff" not in name else (lambda cwd: [diag("SC%d" % d["code"], d["file"], d["line"], d["message"]) for d in json.loads(output_of("shellcheck -S warning -f json a.sh b.bash", cwd))])
        case("shellcheck", name, f"shellcheck {args} a.sh b.bash".replace("  ", " "), S, t, project="sc")
    C = {"t.cc": "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n#include <stdexcept>\nint add(int a, int b) { return a - b; }\nTEST_CASE(\"adds two prices\", \"[cart]\") { CHECK(add(2, 3) == 5); REQUIRE(add(1, 1) == 2); }\nTEST_CASE(\"with sections\") {\n  SECTION(\"first\") { REQUIRE(std::string(\"abc\") == \"abd\"); }\n  SECTION(\"second\") { CHECK_FALSE(true); }\n}\nTEST_CASE(\"throws\") { throw std::runtime_error(\"out of stock\"); }\nTEST_CASE(\"fine\") { REQUIRE(1 == 1); }\nTEST_CASE(\"a very long name of a test case that goes on and on and on until it has to be wrapped somewhere\") { FAIL(\"on purpose\"); }\n"}
    CT = [test("adds two prices", "t.cc", 5, "add(2, 3) == 5"), test("with sections", "t.cc", msg="std::string(\"abc\") == \"abd\"", places=[["t.cc", 7], ["t.cc", 8]]), test("throws", "t.cc", 10, "out of stock"), test("a very long name of a test case that goes on and on and on until it has to be wrapped somewhere", "t.cc", 12, "on purpose")]
    for name, args in [("n2", ""), ("n2-s", "-s"), ("n2-colour", "--use-colour yes"), ("n2-abort", "-a"), ("n2-junit", "-r junit"), ("n2-tap", "-r tap"), ("n2-xml", "-r xml"), ("n2-durations", "-d yes")]:
        case("catch2", name, f"./t {args}".strip(), C, CT[:1] if "abort" in name else CT, project="c2", before="test -x ../c2bin/t || (mkdir -p ../c2bin && g++ -O0 t.cc -o ../c2bin/t); cp ../c2bin/t .")
    case("gcc", "n-include", "gcc -c a.c", {"a.c": "#include \"nowhere.h\"\nint main() {}\n"}, [diag("", "a.c", 1, "nowhere.h: No such file or directory")], project="gc", verdict="broken")
    case("gcc", "n-cxx", "g++ -std=c++20 -c a.cc", {"a.cc": "#include <vector>\n#include <algorithm>\nstruct A {};\nint main() { std::vector<A> v; std::sort(v.begin(), v.end()); int x = \"a\"; undefined_fn(); }\n"}, lambda cwd: [diag(m.get("option") or "", m["locations"][0]["caret"]["file"], m["locations"][0]["caret"]["line"], m["message"]) for line in output_of("g++ -std=c++20 -fdiagnostics-format=json -c a.cc 2>&1", cwd).splitlines() if line.startswith("[") for m in json.loads(line) if m["kind"] == "error"], project="gc")
    K = {"Makefile": "CFLAGS=-Wall\nall: a.o b.o\n%.o: %.c\n\tgcc $(CFLAGS) -c $<\n", "a.c": "int f() { return x; }\n", "b.c": "int g(void) { return y }\n"}
    case("gcc", "n-makej", "make -k -j2", K, [diag("", "a.c", 1, "‘x’ undeclared"), diag("", "b.c", 1, "‘y’ undeclared"), diag("", "b.c", 1, "expected ‘;’ before ‘}’ token")], project="gm", wrapper="make", env={"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"})
python(); js(); go(); others()
