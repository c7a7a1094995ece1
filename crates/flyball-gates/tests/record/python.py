"""Python: pytest and its plugins, unittest, type checkers, linters."""
from common import *

CART = "def add(a, b):\n    return a - b\n\n\ndef parse(text):\n    if not text:\n        raise ValueError(f'nothing to parse: {text!r}')\n    return dict(part.split('=') for part in text.split(';'))\n"
TESTS = """
import pytest
from cart import add, parse


def test_adds_two_prices():
    assert add(2, 3) == 5


def test_keeps_zero():
    assert add(4, 0) == 4


class TestParsing:
    def test_reads_values(self):
        assert parse("a=1;b=2") == {"a": "1", "b": "3"}

    def test_refuses_nothing(self):
        parse("")


@pytest.mark.parametrize("value", ["a - b", "x::y", "a/b", "", "long_" * 12])
def test_value(value):
    assert value == "other", f"no match for {value!r}"


def test_expects_an_error():
    with pytest.raises(KeyError):
        parse("a=1")


@pytest.mark.skip(reason="later")
def test_later():
    pass
"""
MORE = """
import pytest, sys


@pytest.fixture
def broken():
    raise RuntimeError("set-up broke")


@pytest.fixture
def late():
    yield 1
    raise RuntimeError("tear-down broke")


def test_with_broken_fixture(broken):
    pass


def test_with_late_fixture(late):
    assert late == 1


def test_missing_fixture(nowhere):
    pass


def test_group():
    raise ExceptionGroup("several", [ValueError("one"), TypeError("two")])


def test_chain():
    try:
        {}["key"]
    except KeyError as error:
        raise LookupError("lost the key") from error


@pytest.mark.xfail(strict=True)
def test_unexpectedly_fine():
    pass


def test_prints():
    print("FAILED tests/test_other.py::test_x - boom")
    print("E       AssertionError: not this one")
    print("=== 3 failed in 0.1s ===", file=sys.stderr)
    assert [1, 2, 3] == [1, 2, 4]
"""
def places_of(case, body):
    return [[p, int(l)] for p, l in dict.fromkeys(re.findall(r"^([\w./-]+\.py):(\d+):", body, re.M)) if "site-packages" not in p]
def pytest_truth(args="", env=None, bin=""):
    def truth(cwd):
        output_of(f"{bin}pytest -p no:cacheprovider -p no:xdist {args} --junitxml=/tmp/pytest.xml", cwd, env)
        facts = []
        for c in xml.parse("/tmp/pytest.xml").iter("testcase"):
            for bad in list(c.findall("failure")) + list(c.findall("error")):
                body = bad.text or ""; message = bad.get("message") or ""
                file = (c.get("classname") or "").replace(".", "/")
                while file and not os.path.exists(os.path.join(cwd, file + ".py")): file = file.rpartition("/")[0]
                file = file and file + ".py"
                if "sub-exceptions" in body: message = "ExceptionGroup: several (2 sub-exceptions)"
                msgs = [l[1:].strip() for l in body.splitlines() if l.startswith("E ")][:2]
                if message == "collection failure":
                    facts.append(collect(c.get("name").rpartition(".")[2], c.get("name").replace(".", "/") + ".py", msg=(msgs or [""])[-1], msgs=msgs, places=[])); continue
                facts.append(test(c.get("name"), file, msg=first(message), msgs=msgs + [first(body)], places=places_of(c, body)))
                break
        return facts
    return truth
def pytest_():
    p = "shop-py"; files = {"cart.py": CART, "conftest.py": "", "tests/test_cart.py": TESTS}
    for name, args in [("plain", ""), ("quiet", "-q"), ("verbose", "-v"), ("short", "--tb=short"), ("line", "--tb=line"), ("native", "--tb=native"), ("no", "--tb=no"), ("long", "--tb=long -l"), ("colours", "--color=yes"), ("xdist", "-n 2"), ("first", "-x"), ("ra", "-ra -vv"), ("rA", "-rA -q"), ("no-summary", "-r N"), ("qq", "-qq")]:
        case("pytest", name, f"pytest {args}".strip(), files, pytest_truth("-x" if args == "-x" else ""), project=p)
    more = {"tests/test_more.py": MORE, "conftest.py": "", "cart.py": CART}
    for name, args in [("errors", ""), ("errors-short", "--tb=short -q"), ("errors-native", "--tb=native"), ("errors-line", "--tb=line"), ("errors-s", "-s")]:
        case("pytest", name, f"pytest {args}".strip(), more, pytest_truth(), project=p)
    case("pytest", "cov-threshold", "pytest --cov=cart --cov-fail-under=90 tests", {"cart.py": CART, "conftest.py": "", "tests/test_a.py": "from cart import add\n\ndef test_a():\n    assert add(2, 1) == 1\n"},
         [diag("coverage", msg="Required test coverage of 90% not reached. Total coverage:", msgs=["Coverage failure: total of"])], project=p)
    case("pytest", "cov-red", "pytest --cov=cart --cov-report=term-missing", files, pytest_truth(), project=p)
    case("pytest", "import", "pytest", {"tests/test_a.py": "from nowhere_at_all import thing\n\ndef test_a():\n    pass\n", "tests/test_b.py": "def test_b():\n    assert 1 == 2\n"}, pytest_truth(), project=p)
    case("pytest", "import-deep", "pytest -q", {"conftest.py": "", "cart.py": "import missing_part\n", "tests/test_a.py": "from cart import thing\n\ndef test_a():\n    pass\n"}, pytest_truth(), project=p)
    case("pytest", "conftest", "pytest", {"conftest.py": "import missing_part\n", "tests/test_a.py": "def test_a():\n    pass\n"}, [], project=p, verdict="broken")
    case("pytest", "doctest", "pytest --doctest-modules", {"cart.py": '"""\n>>> 1 + 1\n3\n"""\n\n\ndef f():\n    """\n    >>> f()\n    4\n    >>> nowhere\n    """\n    return 5\n'}, [test("cart", "cart.py", 2, "Expected:", msgs=["1 + 1", "Got:"]), test("cart.f", "cart.py", 9, "Expected:", msgs=["f()", "Got:"])], project=p)
    case("pytest", "exit", "pytest", {"tests/test_a.py": "import os\n\ndef test_a():\n    os._exit(3)\n"}, [], project=p, verdict="broken")
    case("pytest", "bad-option", "pytest --no-such-option", files, [], project=p, verdict="broken")
    case("pytest", "no-path", "pytest tests/nowhere.py", files, [], project=p, verdict="broken")
    case("pytest", "unittest-style", "pytest", {"tests/test_a.py": "import unittest\n\n\nclass Cart(unittest.TestCase):\n    def test_equal(self):\n        self.assertEqual([1], [2])\n\n    def test_sub(self):\n        for i in range(3):\n            with self.subTest(i=i):\n                self.assertEqual(i, 1)\n"}, [test("test_equal", "tests/test_a.py", 6, "AssertionError: Lists differ: [1] != [2]"), test("test_sub", "tests/test_a.py", 11, "AssertionError: 0 != 1"), test("test_sub", "tests/test_a.py", 11, "AssertionError: 2 != 1")], project=p)
    case("pytest", "green", "pytest -v", {"tests/test_a.py": "import pytest\n\ndef test_a():\n    print('E   boom')\n\n@pytest.mark.xfail\ndef test_x():\n    assert 0\n"}, [], project=p)
    sugar = f"{TOOLS}/pysugar/bin/"
    for name, args, env in [("sugar", "", {}), ("sugar-verbose", "-v", {}), ("sugar-colour", "--color=yes --force-sugar", {}), ("sugar-instafail", "--force-sugar", {})]:
        case("pytest", name, f"pytest {args}".strip(), files, pytest_truth("-p no:sugar", bin=sugar), project=p, env={"PATH": sugar.rstrip("/") + ":" + os.environ["PATH"]} | env)

UNIT = """
import unittest
from cart import add, parse


class CartTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(2, 3), 5, "two prices")

    def test_fine(self):
        pass

    def test_error(self):
        parse("")

    def test_sub(self):
        for i in range(3):
            with self.subTest("row", i=i):
                self.assertEqual(i, 1)

    @unittest.expectedFailure
    def test_unexpected(self):
        pass

    @unittest.skip("later")
    def test_later(self):
        pass


class SetupTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("set-up broke")

    def test_never(self):
        pass
"""
def unittest_():
    p = "shop-u"; files = {"cart.py": CART, "test_cart.py": UNIT}
    truth = [test("test_adds", "test_cart.py", 7, "AssertionError: -1 != 5 : two prices"), test("test_error", "test_cart.py", msg="ValueError: nothing to parse: ''", places=[["test_cart.py", 13], ["cart.py", 7]]),
             test("test_sub", "test_cart.py", 18, "AssertionError: 0 != 1"), test("test_sub", "test_cart.py", 18, "AssertionError: 2 != 1"), test("test_unexpected", "test_cart.py", msg="unexpected success"), test("setUpClass", "test_cart.py", 32, "RuntimeError: set-up broke")]
    for name, args in [("plain", ""), ("verbose", "-v"), ("buffer", "-b"), ("locals", "--locals")]:
        case("unittest", name, f"python -m unittest {args}".strip(), files, truth, project=p)
    case("unittest", "failfast", "python -m unittest -f", files, truth[:1], project=p)
    case("unittest", "import", "python -m unittest discover -s .", {"test_a.py": "import nowhere_at_all\n"}, [collect("test_a", "test_a.py", 1, "ModuleNotFoundError: No module named 'nowhere_at_all'")], project=p)
    case("unittest", "unexpected", "python -m unittest", {"test_a.py": "import unittest\n\nclass A(unittest.TestCase):\n    @unittest.expectedFailure\n    def test_unexpected(self):\n        pass\n"}, [test("test_unexpected", "test_a.py", msg="unexpected success")], project=p)
    case("unittest", "no-module", "python -m unittest tests.nowhere", files, [collect("tests", msg="ModuleNotFoundError: No module named 'tests'", places=[])], project=p)
    case("unittest", "green", "python -m unittest -v", {"test_a.py": "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        print('FAIL: test_x (a.B)')\n"}, [], project=p)

TYPED = """
import os, sys
from typing import Optional


def total(items: list[int], start: Optional[int] = None) -> str:
    result: str = 0
    for item in items:
        result += item.price
    return start + 1


def unused(a, b=[]):
    try:
        eval(a)
    except:
        pass
    return undefined_name


total("x", 3, 4)
"""
def lints():
    p = "typed-py"; files = {"shop/__init__.py": "", "shop/cart.py": TYPED, "shop/other.py": "from .nowhere import thing\nimport missing_part\nx: int = 'a'\n"}
    broken = {"shop/__init__.py": "", "shop/cart.py": "def broken(x:\n    return x\n"}
    def pyright(bin):
        def truth(cwd):
            d = json.loads(output_of(f"{bin} --outputjson", cwd)); errors, warnings = [], []
            for m in d["generalDiagnostics"]: (errors if m["severity"] == "error" else warnings).append(diag(m.get("rule") or "", m["file"], m["range"]["start"]["line"] + 1, first(m["message"])))
            return errors, warnings
        return truth
    for bin in ("pyright", "basedpyright"):
        for name, f, args in [("types", files, ""), ("syntax", broken, ""), ("one-file", files, "shop/other.py")]:
            t = pyright(f"{bin} {args}")
            case("pyright", f"{bin}-{name}" if bin != "pyright" else name, f"{bin} {args}".strip(), f, lambda c: t(c)[0], also=lambda c: t(c)[1], project=p)
    t = pyright("pyright --warnings")
    case("pyright", "warnings", "pyright --warnings", {"a.py": "import yaml_nowhere  # noqa\n", "pyrightconfig.json": {"reportMissingImports": "warning"}}, lambda c: t(c)[0] or t(c)[1], project=p)
    case("pyright", "no-file", "pyright nowhere.py", files, [], project=p, verdict="broken")
    case("pyright", "green", "pyright", {"a.py": "x = 1\n"}, [], project=p)
    def ty(cwd):
        d = json.loads(output_of("ty check --output-format gitlab 2>/dev/null", cwd)); errors, warnings = [], []
        for m in d: (warnings if m["severity"] in ("minor", "info") else errors).append(diag(m["check_name"], m["location"]["path"], m["location"]["positions"]["begin"]["line"], re.sub(r"^[\w-]+: ", "", m["description"])))
        return errors, warnings
    for name, f, args, env in [("types", files, "", {}), ("syntax", broken, "", {}), ("concise", files, "--output-format concise", {}), ("colours", files, "--color always", {}), ("github", files, "--output-format github", {})]:
        case("ty", name, f"ty check {args}".strip(), f, lambda c: ty(c)[0], also=lambda c: ty(c)[1], project=p, env=env)
    case("ty", "warnings", "ty check --error-on-warning", {"a.py": "from typing import reveal_type\nx: int = 1\nx.foo = 2  # type: ignore\ndef f():\n    if __name__:\n        zz = 1\n    return zz\n"}, lambda c: ty(c)[0] or ty(c)[1], project=p)
    case("ty", "green", "ty check", {"a.py": "x = 1\n"}, [], project=p)
    def mypy(args):
        def truth(cwd):
            return [diag(m.get("code") or "", m["file"], m["line"], m["message"]) for m in map(json.loads, filter(None, output_of(f"mypy -O json {args} 2>/dev/null", cwd).splitlines())) if m["severity"] == "error"]
        return truth
    for name, args, env in [("plain", "shop", {}), ("strict", "--strict shop", {}), ("pretty", "--pretty --show-column-numbers shop", {}), ("no-codes", "--hide-error-codes shop", {}), ("colours", "shop", {"MYPY_FORCE_COLOR": "1", "TERM": "xterm", "FORCE_COLOR": "1"})]:
        case("mypy", name, f"mypy {args}", files, mypy(args), project=p, env=env)
    case("mypy", "syntax", "mypy shop", broken, mypy("shop"), project=p)
    case("mypy", "no-file", "mypy nowhere.py", files, [], project=p, verdict="broken")
    case("mypy", "duplicate", "mypy .", {"a/x.py": "", "b/x.py": ""}, [diag("", "b/x.py", msg='Duplicate module named "x"')], project=p)
    def ruff(cwd, args=""):
        return [diag(m["code"] or "", m["filename"], m["location"]["row"], m["message"]) for m in json.loads(output_of(f"ruff check {args} --output-format=json .", cwd))]
    for name, args, env in [("full", "", {}), ("concise", "--output-format=concise", {}), ("grouped", "--output-format=grouped", {}), ("github", "--output-format=github", {}), ("gitlab", "--output-format=gitlab", {}), ("pylint", "--output-format=pylint", {}), ("select", "--select ALL", {}), ("colours", "", {"FORCE_COLOR": "1"})]:
        truth = (lambda c: ruff(c, "--select ALL")) if name == "select" else ruff
        case("ruff", name, f"ruff check {args} .".replace("  ", " "), files, truth, project=p, env=env)
    case("ruff", "syntax", "ruff check .", broken, ruff, project=p)
    case("ruff", "format", "ruff format --check .", files, [diag("", "shop/other.py", 3)], project=p)
    case("ruff", "bad-config", "ruff check .", files | {"ruff.toml": "line-lenght = 3\n"}, [], project=p, verdict="broken")
    flake = lambda cwd: [diag(c, f, int(l), m) for f, l, c, m in re.findall(r"^(.*?)\|(\d+)\|(\S+)\|(.*)$", output_of("flake8 --format '%(path)s|%(row)d|%(code)s|%(text)s'", cwd), re.M)]
    for name, args in [("plain", ""), ("source", "--show-source"), ("pylint", "--format pylint"), ("count", "--count --statistics"), ("colours", "--color=always")]:
        case("flake8", name, f"flake8 {args}".strip(), files, flake, project=p)
    case("flake8", "syntax", "flake8", broken, flake, project=p)
    pylint = lambda args: lambda cwd: [diag(m["symbol"], m["path"], m["line"], first(m["message"])) for m in json.loads(output_of(f"pylint -f json {args}", cwd))]
    for name, args in [("plain", "shop"), ("errors-only", "-E shop"), ("colorized", "-f colorized shop"), ("parseable", "-f parseable shop"), ("no-score", "--score=n shop")]:
        case("pylint", name, f"pylint {args}", files, pylint(re.sub(r"-f \w+ ", "", args)), project=p)
    case("pylint", "syntax", "pylint shop", broken, pylint("shop"), project=p)
    case("black", "check", "black --check .", files, [diag("", "shop/other.py")], project=p)
    case("black", "syntax", "black --check .", broken, [diag("", "shop/cart.py", 2, "cannot parse")], project=p)
    case("black", "diff", "black --check --diff .", files, [diag("", "shop/other.py")], project=p)
    case("isort", "check", "isort --check-only .", {"a.py": "import sys\nimport os\n"}, [diag("", "a.py", msg="Imports are incorrectly sorted")], project=p)
    case("isort", "diff", "isort --check-only --diff .", {"a.py": "import sys\nimport os\n"}, [diag("", "a.py", msg="Imports are incorrectly sorted")], project=p)
    bandit = lambda cwd: [diag(m["test_id"], m["filename"], m["line_number"], m["issue_text"]) for m in json.loads(output_of("bandit -q -r . -f json 2>/dev/null", cwd))["results"]]
    for name, args in [("plain", "-r ."), ("quiet", "-q -r ."), ("colours", "-q -r . -f screen"), ("custom", "-q -r . -f custom")]:
        case("bandit", name, f"bandit {args}", {"a.py": "import subprocess\nsubprocess.call('ls ' + x, shell=True)\npassword = 'hunter2'\nassert password\nexec(password)\n"}, bandit, project=p)
    yaml = lambda cwd: [diag(r or "", f, int(l), m) for f, l, m, r in re.findall(r"^(.*?):(\d+):\d+: \[error\] (.*?)(?: \(([\w-]+)\))?$", output_of("yamllint -f parsable .", cwd), re.M)]
    for name, args in [("plain", "."), ("parsable", "-f parsable ."), ("colours", "-f colored ."), ("github", "-f github .")]:
        case("yamllint", name, f"yamllint {args}", {"a.yaml": "a: 1\nb:   [1,2]\na: 3\n  c: 4\n", "b.yaml": "key: value   \nlist:\n- a\n -b\n"}, yaml, project="yaml", also=lambda c: [diag("", f, int(l), "") for f, l in re.findall(r"^(.*?):(\d+):\d+: \[warning\]", output_of("yamllint -f parsable .", c), re.M)])

if __name__ == "__main__":
    for recipe in (pytest_, unittest_, lints): recipe()
