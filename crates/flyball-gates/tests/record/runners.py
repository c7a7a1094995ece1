"""Test runners and their reporters beside the usual ones, the truth by hand or from JUnit."""
from common import *

def robot():
    files = {"shop.robot": "*** Settings ***\nLibrary    lib.py\n\n*** Test Cases ***\nAdds Two Prices\n    ${x}=    Add    2    3\n    Should Be Equal As Integers    ${x}    5\n\nKeeps Zero\n    Should Be Equal    a    a\n\nFails In Keyword\n    Explode    now\n\nNo Such Keyword\n    Nowhere At All    1\n\nLater\n    [Tags]    robot:skip\n    Fail    never\n", "lib.py": "def add(a, b):\n    return int(a) - int(b)\n\ndef explode(word):\n    raise RuntimeError(f'boom {word}')\n"}
    truth = [test("Adds Two Prices", msg="-1 != 5"), test("Fails In Keyword", msg="RuntimeError: boom now"), test("No Such Keyword", msg="No keyword with name 'Nowhere At All' found.")]
    for name, args in [("plain", ""), ("dotted", "--console dotted"), ("quiet", "--console quiet"), ("colours", "--consolecolors on"), ("debug", "-L DEBUG -b debug.txt")]:
        case("robot", name, f"robot {args} shop.robot".replace("  ", " "), files, truth if name != "quiet" else [], project="robot")
    case("robot", "nothing", "robot nowhere.robot", files, [], project="robot", verdict="broken")
    case("robot", "suites", "robot .", dict(files, **{"sub/two.robot": "*** Test Cases ***\nSecond Suite Fails\n    Fail    on purpose\n"}), truth + [test("Second Suite Fails", msg="on purpose")], project="robot")

def behave():
    files = {"features/shop.feature": "Feature: Shop\n  Scenario: adds two prices\n    Given a price of 2\n    When 3 is added\n    Then the total is 5\n\n  Scenario: keeps zero\n    Given a price of 0\n    Then the total is 0\n\n  Scenario: nobody wrote this step\n    Given a step that is missing\n\n  Scenario: explodes\n    Given an explosion\n", "features/steps/shop.py": "from behave import given, when, then\n\n@given('a price of {n:d}')\ndef a(context, n):\n    context.total = n\n\n@when('{n:d} is added')\ndef b(context, n):\n    context.total -= n\n\n@then('the total is {n:d}')\ndef c(context, n):\n    assert context.total == n, f'{context.total} is not {n}'\n\n@given('an explosion')\ndef d(context):\n    raise RuntimeError('boom')\n"}
    truth = [test("adds two prices", "features/shop.feature", 5, "-1 is not 5", places=[["features/shop.feature", 5], ["features/steps/shop.py", 13], ["features/shop.feature", 2]]), test("nobody wrote this step", "features/shop.feature", 11, "", places=[["features/shop.feature", 11], ["features/shop.feature", 12]]), test("explodes", "features/shop.feature", 15, "boom", msgs=["RuntimeError: boom"], places=[["features/shop.feature", 15], ["features/shop.feature", 14], ["features/steps/shop.py", 17]])]
    for name, args in [("plain", ""), ("progress", "-f progress"), ("progress3", "-f progress3"), ("plain-form", "-f plain"), ("json", "-f json.pretty"), ("colours", "--color=always")]:
        case("behave", name, f"behave {args}".strip(), files, truth, project="behave")
    case("cucumber", "plain", "cucumber-js", CUKE, CUKES, project="cuke")
    for name, args in [("progress-bar", "--format progress-bar"), ("summary", "--format summary"), ("pretty", "--format pretty"), ("message", "--format json"), ("junit", "--format junit")]:
        case("cucumber", name, f"cucumber-js {args}", CUKE, CUKES, project="cuke")

CUKE = {"features/shop.feature": "Feature: Shop\n  Scenario: adds two prices\n    Given a price of 2\n    Then the total is 5\n\n  Scenario: keeps zero\n    Given a price of 0\n    Then the total is 0\n\n  Scenario: a step nobody wrote\n    Given nothing at all\n", "features/steps.js": "const {Given, Then} = require('@cucumber/cucumber')\nconst assert = require('assert')\nGiven('a price of {int}', function (n) { this.total = n })\nThen('the total is {int}', function (n) {\n  assert.strictEqual(this.total, n)\n})\n"}
CUKES = [test("adds two prices", "features/shop.feature", 2, "Expected values to be strictly equal", places=[["features/shop.feature", 2], ["features/shop.feature", 4], ["features/steps.js", 5], ["features/steps.js", 4]]), test("a step nobody wrote", "features/shop.feature", 10, "", places=[["features/shop.feature", 10], ["features/shop.feature", 11]])]

UNIT = {"test_shop.py": "import unittest\n\ndef add(a, b):\n    return a - b\n\nclass Cart(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(2, 3), 5)\n    def test_zero(self):\n        self.assertEqual(add(4, 0), 4)\n    def test_raises(self):\n        raise KeyError('gone')\n    def test_many(self):\n        for n in range(3):\n            with self.subTest(n=n):\n                self.assertNotEqual(n, 1)\n    @unittest.skip('later')\n    def test_later(self): pass\n    @unittest.expectedFailure\n    def test_odd(self): pass\n"}
UNITS = [test("test_adds", "test_shop.py", 8, "AssertionError: -1 != 5"), test("test_raises", "test_shop.py", 12, "KeyError: 'gone'"), test("test_many", "test_shop.py", 16, "AssertionError: 1 == 1")]
def unit():
    odd = [test("test_odd", "test_shop.py", None, "")]
    for name, command in [("nose2", "nose2"), ("nose2-v", "nose2 -v"), ("green", "green test_shop.py"), ("green-vv", "green -vv test_shop.py")]:
        case(name.split("-")[0], name, command, UNIT, UNITS, project="unit", also=odd)
    case("unittest", "locals", "python -m unittest --locals -v", UNIT, UNITS + odd, project="unit")
    case("unittest", "failfast", "python -m unittest -f -b", {"test_a.py": UNIT["test_shop.py"].replace("def test_adds", "def test_a")}, [test("test_a", "test_a.py", 8, "AssertionError: -1 != 5")], project="unit2")
    case("doctest", "plain", "python -m doctest shop.py", {"shop.py": "def add(a, b):\n    \"\"\"\n    >>> add(2, 3)\n    5\n    >>> add(1, 'x')\n    1\n    \"\"\"\n    return a - b\n"}, [test("shop.add", "shop.py", 3, "", places=[["shop.py", 3]]), test("shop.add", "shop.py", 5, "", places=[["shop.py", 5]])], project="doct")
    case("ward", "plain", "ward", {"test_shop.py": "from ward import test\n\ndef add(a, b): return a - b\n\n@test('adds two prices')\ndef _():\n    assert add(2, 3) == 5\n\n@test('raises')\ndef _():\n    raise KeyError('gone')\n\n@test('fine')\ndef _():\n    assert True\n"}, [test("adds two prices", "test_shop.py", 7, ""), test("raises", "test_shop.py", 11, "KeyError: 'gone'")], project="ward")
    case("pytest", "two-sessions", "pytest -q a; pytest -q b", {"a/test_a.py": "def test_one():\n    assert 1 == 2\ndef test_two():\n    pass\n", "b/test_b.py": "def test_three():\n    assert 'x' in 'abc'\n"}, [test("test_one", "a/test_a.py", 2, "assert 1 == 2"), test("test_three", "b/test_b.py", 2, "AssertionError: assert 'x' in 'abc'")], project="two")
    case("pytest", "bdd", "pytest", {"shop.feature": "Feature: Shop\n  Scenario: adds\n    Given a price\n    Then it is five\n", "test_bdd.py": "from pytest_bdd import scenarios, given, then\nscenarios('shop.feature')\n@given('a price', target_fixture='p')\ndef p(): return 2\n@then('it is five')\ndef five(p):\n    assert p == 5\n"}, [test("test_adds", "test_bdd.py", 7, "assert 2 == 5")], project="bdd")

MOCHA = {"test/shop.js": "const assert = require('assert')\nconst add = (a, b) => a - b\ndescribe('Shop', () => {\n  it('adds two prices', () => {\n    assert.strictEqual(add(2, 3), 5)\n  })\n  it('keeps zero', () => assert.equal(add(4, 0), 4))\n  describe('deep', () => {\n    it('compares objects', () => {\n      assert.deepStrictEqual({a: 1, b: [1]}, {a: 1, b: [2]})\n    })\n    it('throws <odd> & \"quoted\"', async () => { await 0; throw new TypeError('it broke') })\n    it.skip('later')\n  })\n  it('calls back', done => done(new Error('from callback')))\n})\n"}
def js():
    def truth(cwd):
        d = json.loads(output_of("mocha --reporter json", cwd))
        return [test(f["title"], "test/shop.js", msg=f["err"]["message"].splitlines()[0], places=[p for p in frames(f["err"].get("stack", "")) if p[0].startswith("test/")]) for f in d["failures"]]
    for f in ("spec", "dot", "nyan", "tap", "landing", "list", "min", "progress", "json", "json-stream", "xunit"):
        case("mocha", "rep-" + f, f"mocha --reporter {f}", MOCHA, truth, project="mocha2")
    for name, flags in [("diff-off", "--no-diff"), ("bail", "--bail"), ("parallel", "--parallel"), ("full-trace", "--full-trace"), ("colour", "--color")]:
        case("mocha", "with-" + name, f"mocha {flags}", MOCHA, (lambda cwd: truth(cwd)[:1]) if name == "bail" else truth, project="mocha2")
    jas = {"spec/shop.spec.js": "describe('Shop', () => {\n  const add = (a, b) => a - b\n  it('adds two prices', () => {\n    expect(add(2, 3)).toBe(5)\n    expect(add(1, 1)).toEqual(2)\n  })\n  it('keeps zero', () => expect(add(4, 0)).toBe(4))\n  it('throws', () => { throw new Error('it broke') })\n  xit('later', () => {})\n})\n"}
    case("jasmine", "two", "jasmine 'spec/*.js'", jas, [test("adds two prices", "spec/shop.spec.js", 4, "Expected -1 to be 5."), test("throws", "spec/shop.spec.js", 8, "it broke")], project="jas")
    case("jasmine", "colour", "jasmine --color --random=false 'spec/*.js'", jas, [test("adds two prices", "spec/shop.spec.js", 4, "Expected -1 to be 5."), test("throws", "spec/shop.spec.js", 8, "it broke")], project="jas")
    ava = {"package.json": {"name": "x", "type": "module"}, "test.js": "import test from 'ava'\nconst add = (a, b) => a - b\ntest('adds two prices', t => {\n  t.is(add(2, 3), 5)\n})\ntest('fine', t => t.pass())\ntest('deep', t => t.deepEqual({a: [1]}, {a: [2]}))\ntest('throws', async t => { throw new Error('it broke') })\ntest('no assertions', t => {})\n"}
    avas = [test("adds two prices", "test.js", 4, ""), test("deep", "test.js", 7, ""), test("throws", "test.js", 8, "it broke"), test("no assertions", "test.js", 9, "Test finished without running any assertions")]
    for name, flags in [("two", ""), ("tap", "--tap"), ("serial", "--serial --color")]: case("ava", name, f"ava {flags}".strip(), ava, avas, project="ava", before=f"ln -sfn {TOOLS}/js/node_modules node_modules")
    tape = {"test.js": "const test = require('tape')\nconst add = (a, b) => a - b\ntest('adds two prices', t => {\n  t.equal(add(2, 3), 5, 'two and three')\n  t.end()\n})\ntest('deep', t => {\n  t.plan(2)\n  t.deepEqual({a: 1}, {a: 2})\n  t.ok(true, 'fine')\n})\ntest('throws', t => {\n  t.throws(() => {}, 'nothing thrown')\n  t.fail('on purpose')\n  t.end()\n})\n"}
    tapes = [test("two and three", "test.js", 4, ""), test("should be deeply equivalent", "test.js", 9, ""), test("nothing thrown", "test.js", 13, ""), test("on purpose", "test.js", 14, "")]
    for name, command in [("plain", "tape test.js"), ("spec", "tape test.js | tap-spec; exit ${PIPESTATUS[0]}"), ("faucet", "tape test.js | faucet; exit ${PIPESTATUS[0]}")]: case("tape", "two-" + name, command, tape, tapes, project="tape")
    qu = {"test/shop.js": "const add = (a, b) => a - b\nQUnit.module('Shop', () => {\n  QUnit.test('adds two prices', assert => {\n    assert.equal(add(2, 3), 5, 'sum')\n  })\n  QUnit.test('fine', assert => assert.ok(true))\n  QUnit.test('throws', assert => { throw new Error('it broke') })\n  QUnit.test('nothing', assert => {})\n})\n"}
    case("qunit", "two", "qunit test/*.js", qu, [test("adds two prices", "test/shop.js", 4, "sum"), test("throws", "test/shop.js", 7, "it broke"), test("nothing", "test/shop.js", 8, "Expected at least one assertion")], project="qu")
    lab = {"test/shop.js": "const {expect} = require('@hapi/code')\nconst Lab = require('@hapi/lab')\nconst {describe, it} = exports.lab = Lab.script()\nconst add = (a, b) => a - b\ndescribe('Shop', () => {\n  it('adds two prices', () => {\n    expect(add(2, 3)).to.equal(5)\n  })\n  it('fine', () => {})\n  it('throws', () => { throw new Error('it broke') })\n})\n"}
    labs = [test("adds two prices", "test/shop.js", 7, "Expected -1 to equal specified value: 5"), test("throws", "test/shop.js", 10, "it broke")]
    for name, flags in [("plain", ""), ("verbose", "-v"), ("tap", "-r tap"), ("junit", "-r junit"), ("json", "-r json")]: case("lab", name, f"lab {flags}".strip(), lab, labs, project="lab")
    nt = {"test/shop.test.mjs": "import {test, describe, it, before} from 'node:test'\nimport assert from 'node:assert'\nconst add = (a, b) => a - b\ndescribe('Shop', () => {\n  it('adds two prices', () => {\n    assert.strictEqual(add(2, 3), 5)\n  })\n  it('keeps zero', () => assert.equal(add(4, 0), 4))\n})\ntest('a title\\nof two lines', () => { throw new Error('it broke') })\ntest('sub', async t => {\n  await t.test('inner one', () => assert.deepEqual([1], [2]))\n})\n"}
    nts = [test("adds two prices", "test/shop.test.mjs", 6, "Expected values to be strictly equal"), test("of two lines", "test/shop.test.mjs", 10, "it broke", full="a title\nof two lines"), test("inner one", "test/shop.test.mjs", 12, "Expected values to be loosely deep-equal")]
    for f in ("spec", "tap", "dot", "junit"): case("node-test", "rep-" + f, f"node --test --test-reporter={f}", nt, nts, project="nt")
    jest = {"package.json": {"name": "x"}, "shop.test.js": "const add = (a, b) => a - b\ndescribe('Shop', () => {\n  test('adds two prices', () => {\n    expect(add(2, 3)).toBe(5)\n  })\n  test.each([[1, 2], [3, 3]])('is %i the same as %i', (a, b) => {\n    expect(a).toBe(b)\n  })\n  it('rejects', async () => { await expect(Promise.resolve(1)).rejects.toThrow('x') })\n  it('has a snapshot', () => { expect({a: 1}).toMatchInlineSnapshot(`{}`) })\n})\n", "two.test.js": "test('throws', () => { null.x })\ntest('fine', () => {})\nafterAll(() => { throw new Error('teardown') })\n"}
    def jtruth(cwd):
        d = json.loads(output_of("jest --ci --json", cwd)); facts = []
        for s in d["testResults"]:
            for a in s["assertionResults"]:
                if a["status"] == "failed":
                    body = ANSI.sub("", a["failureMessages"][0]); facts.append(test(a["title"], s["name"], msg=body.splitlines()[0], places=[p for p in frames(body) if ".test." in p[0]]))
        return facts
    for name, flags in [("verbose", "--verbose"), ("silent", "--silent --no-coverage"), ("in-band", "-i --colors"), ("bail", "--bail=10"), ("github", "--reporters=default --reporters=github-actions"), ("json", "--json"), ("coverage", "--coverage")]:
        case("jest", "rep-" + name, f"jest --ci {flags}", jest, jtruth, project="jest2", also=[test("two.test.js", "two.test.js", 3, "teardown")])
    vt = {"package.json": {"name": "x", "type": "module"}, "shop.test.js": jest["shop.test.js"].replace("const add", "import {test, describe, it, expect} from 'vitest'\nconst add"), "two.test.js": "import {test} from 'vitest'\ntest('throws', () => { null.x })\ntest('fine', () => {})\n"}
    def vtruth(cwd):
        d = json.loads(output_of("vitest run --reporter=json", cwd))
        return [test(a["title"], s["name"], msg=ANSI.sub("", a["failureMessages"][0]).splitlines()[0], places=[[relative(f), int(l)] for f, l in re.findall(r"(/srv/project/\S+?\.test\.js):(\d+)", a["failureMessages"][0])]) for s in d["testResults"] for a in s["assertionResults"] if a["status"] == "failed"]
    for f in ("default", "verbose", "dot", "json", "junit", "tap", "tap-flat", "tree", "github-actions"):
        case("vitest", "rep-" + f, f"vitest run --reporter={f}", vt, vtruth, project="vt2", env={"NODE_PATH": ""}, before=f"ln -sfn {TOOLS}/js/node_modules node_modules")

def native():
    rs = {"spec/shop_spec.rb": "def add(a, b) = a - b\nRSpec.describe 'Shop' do\n  it 'adds two prices' do\n    expect(add(2, 3)).to eq(5)\n  end\n  it('fine') { expect(1).to eq 1 }\n  it 'raises' do\n    raise ArgumentError, 'it broke'\n  end\n  context 'shared' do\n    before { fail 'setup broke' }\n    it('never') { }\n  end\n  xit('later') { }\nend\n"}
    truth = lambda cwd: [test(e["description"], e["file_path"], full=e["full_description"], msg=e["exception"]["message"].strip().splitlines()[0], places=[[f, int(l)] for f, l in re.findall(r"(spec/\w+_spec\.rb):(\d+)", "\n".join(e["exception"]["backtrace"] or []))][:1] + [["spec/shop_spec.rb", e["line_number"]]]) for e in json.loads(output_of("rspec -f json", cwd))["examples"] if e["status"] == "failed"]
    for f in ("progress", "documentation", "failures", "json"):
        case("rspec", "rep-" + f, f"rspec -f {f}", rs, truth, project="rs2")
    case("rspec", "rep-both", "rspec -f progress -f documentation --profile 2 --backtrace --force-color", rs, truth, project="rs2")
    mt = {"test.rb": "require 'minitest/autorun'\nclass ShopTest < Minitest::Test\n  def test_adds\n    assert_equal 5, 2 - 3, 'two prices'\n  end\n  def test_fine; assert true; end\n  def test_raises; raise 'it broke'; end\n  def test_later; skip 'later'; end\nend\ndescribe 'Spec' do\n  it('says no') { _(1).must_equal 2 }\nend\n"}
    mts = [test("test_adds", "test.rb", 4, "two prices"), test("test_raises", "test.rb", 7, "RuntimeError: it broke"), test("says no", "test.rb", 11, "Expected: 2")]
    for name, flags in [("two", ""), ("verbose", "-v"), ("seed", "--seed 7")]: case("minitest", "rep-" + name, f"ruby test.rb {flags}".strip(), mt, mts, project="mt")
    case("test-unit", "plain", "ruby t.rb", {"t.rb": "require 'test/unit'\nclass ShopTest < Test::Unit::TestCase\n  def test_adds\n    assert_equal(5, 2 - 3)\n  end\n  def test_raises\n    raise 'it broke'\n  end\n  def test_fine; end\nend\n"}, [test("test_adds", "t.rb", 4, "<5> expected but was"), test("test_raises", "t.rb", 7, "it broke")], project="tu")
    c2 = {"t.cpp": "#define CATCH_CONFIG_MAIN\n#if __has_include(<catch2/catch_all.hpp>)\n#include <catch2/catch_all.hpp>\n#else\n#include <catch2/catch.hpp>\n#endif\n#include <stdexcept>\nint add(int a, int b) { return a - b; }\nTEST_CASE(\"adds two prices\", \"[shop]\") {\n  REQUIRE(add(4, 0) == 4);\n  SECTION(\"small\") {\n    CHECK(add(2, 3) == 5);\n  }\n  SECTION(\"large\") { REQUIRE(add(9, 0) == 9); }\n}\nTEST_CASE(\"throws\") {\n  throw std::runtime_error(\"it broke\");\n}\nTEST_CASE(\"fine\") { SUCCEED(); }\n", "build.sh": "g++ -std=c++17 -o t t.cpp -lCatch2Main -lCatch2 || g++ -std=c++17 -o t t.cpp\n"}
    cs = [test("adds two prices", "t.cpp", 12, "CHECK( add(2, 3) == 5 )", msgs=["add(2, 3) == 5"]), test("throws", "t.cpp", 16, "it broke", places=[["t.cpp", 16], ["t.cpp", 17]])]
    first_one = True
    for f in ("console", "compact", "xml", "junit"):
        case("catch2", "rep-" + f, f"./t -r {f}", c2 if first_one else None, cs, project="catch3", before="bash build.sh" if first_one else None); first_one = False
    dt = {"t.cpp": "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n#include <stdexcept>\nint add(int a, int b) { return a - b; }\nTEST_CASE(\"adds two prices\") {\n  CHECK(add(2, 3) == 5);\n  SUBCASE(\"deep\") {\n    REQUIRE_MESSAGE(add(1, 1) == 2, \"one and one\");\n  }\n}\nTEST_CASE(\"throws\") {\n  throw std::runtime_error(\"it broke\");\n}\nTEST_CASE(\"fine\") { CHECK(true); }\n"}
    ds = [test("adds two prices", "t.cpp", 6, "CHECK( add(2, 3) == 5 )", msgs=["add(2, 3) == 5"], places=[["t.cpp", 6], ["t.cpp", 8]]), test("throws", "t.cpp", 11, "it broke")]
    first_one = True
    for f in ("console", "xml", "junit"):
        case("doctest-cpp", f, f"./t -r={f}", dt if first_one else None, ds, project="doct2", before="g++ -std=c++17 -o t t.cpp" if first_one else None, also=[test("adds two prices", "t.cpp", 8, "one and one")]); first_one = False
    go = {"go.mod": "module example.com/x\n\ngo 1.19\n", "a.go": "package x\n\nimport \"fmt\"\n\nfunc F() int {\n\tfmt.Printf(\"%d\\n\", \"x\")\n\treturn 1\n}\n", "sub/b.go": "package sub\n\nimport \"sync\"\n\nfunc G(m sync.Mutex) { x := 1; x = x }\n"}
    vet = [diag("", "a.go", 6, "has arg \"x\" of wrong type string", msgs=["Printf format %d has arg"]), diag("", "sub/b.go", 5, "passes lock by value", msgs=["G passes lock by value"]), diag("", "sub/b.go", 5, "self-assignment of x to x")]
    case("go-build", "vet-plain2", "go vet ./...", go, vet, project="gov")
    case("go-build", "vet-json", "go vet -json ./...; exit 1", go, vet, project="gov")

def wrappers():
    py = {"tests/test_a.py": "def test_one():\n    assert 1 == 2\n\ndef test_two(): pass\n", "tox.ini": "[tox]\nskipsdist = true\nenvlist = unit\n[testenv]\nskip_install = true\nallowlist_externals = pytest\ncommands = pytest tests\n", "noxfile.py": "import nox\n@nox.session(python=False)\ndef unit(session):\n    session.run('pytest', 'tests')\n", ".pre-commit-config.yaml": "repos:\n- repo: local\n  hooks:\n  - {id: ruff, name: ruff, entry: ruff check --output-format concise, language: system, types: [python]}\n  - {id: fine, name: fine, entry: 'true', language: system, always_run: true}\n  - {id: unit, name: unit tests, entry: pytest tests, language: system, pass_filenames: false}\n", "bad.py": "import os\nprint(nowhere)\n"}
    one = [test("test_one", "tests/test_a.py", 2, "assert 1 == 2")]
    case("wrap-py", "tox", "tox", py, one, project="wrap2", wrapper="tox")
    case("wrap-py", "nox", "nox", py, one, project="wrap2", wrapper="nox")
    case("wrap-py", "pre-commit", "pre-commit run -a", py, one + [diag("F401", "bad.py", 1, "`os` imported but unused"), diag("F821", "bad.py", 2, "Undefined name `nowhere`")], project="wrap2", wrapper="pre-commit", before="git init -q . && git add -A")

if __name__ == "__main__":
    for part in (robot, behave, unit, js, native, wrappers):
        try: part()
        except Exception as e: print(part.__name__, "stopped:", repr(e))
