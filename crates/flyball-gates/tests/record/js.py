"""JavaScript and TypeScript: test runners, linters, type checkers."""
from common import *

UNDER = "const add = (a, b) => a - b;\nconst parse = (s) => { if (!s) throw new TypeError('nothing to parse: ' + s); return JSON.parse(s); };\nmodule.exports = { add, parse };\n"
SPEC = """
const { add, parse } = require('../src/cart');
describe('cart', () => {
  it('adds two prices', () => {
    expect(add(2, 3)).toBe(5);
  });
  it('keeps zero', () => { expect(add(4, 0)).toBe(4); });
  describe('when parsing', () => {
    it('reads "quoted" values > 1', () => {
      expect(parse('{"a": {"b": [1, 2]}}')).toEqual({ a: { b: [1, 3] } });
    });
    it('refuses nothing', () => {
      parse('');
    });
  });
  it.skip('is for later', () => {});
});
it('stands alone: é→ü', async () => {
  await Promise.reject(new RangeError('out of stock\\nsecond line'));
});
it('throws a string', () => { throw 'just text'; });
"""
TABLE = """
it.each([[1, 1], [2, 3], [4, 5]])('%i is %i', (a, b) => {
  expect(a).toBe(b);
});
it('says FAIL ./other.test.js in its log', () => {
  console.log('FAIL test/other.test.js\\n  \\u25cf not a real failure\\n\\n    boom\\n      at x (other.js:3:4)');
  console.error('error TS2322: Type string is not assignable');
});
"""
HOOKS = """
describe('with hooks', () => {
  beforeEach(() => { throw new Error('set-up broke'); });
  it('first', () => {});
  it('second', () => {});
});
describe('after', () => {
  afterAll(() => { throw new Error('tear-down broke'); });
  it('third', () => {});
});
"""
# The report leaves out what a hook after all tests says.
TORN = [test("after", "test/h.test.js", msg="tear-down broke"), test("", "test/h.test.js", 9, "tear-down broke"), collect("cart.test.js", "test/cart.test.js", msg="tear-down broke"), collect("hooks.test.js", "test/hooks.test.js", msg="tear-down broke")]
def project(**more):
    files = {"package.json": {"name": "shop", "version": "1.0.0", "scripts": {"test": "jest", "lint": "eslint ."}}, "src/cart.js": UNDER, "test/cart.test.js": SPEC}
    files.update({k.replace("__", "/"): v for k, v in more.items()})
    return files

def jest_truth(args="", env=None):
    def truth(cwd):
        d = json.loads(output_of(f"jest --json {args} 2>/dev/null", cwd, env)); facts = []
        for suite in d["testResults"]:
            bad = [a for a in suite["assertionResults"] if a["status"] == "failed"]
            for a in bad:
                body = "\n".join(a["failureMessages"])
                lines = [l.strip() for l in ANSI.sub("", body).splitlines() if l.strip()]
                facts.append(test(a["title"], suite["name"], msg=re.sub(r"^(Error|JestAssertionError): (?=expect)", "", lines[0]) if lines else "", places=frames(body), full=a["fullName"], msgs=[l for l in lines if l.startswith(("Received", "Expected"))][:2]))
            if suite["status"] == "failed" and not bad:
                message = ANSI.sub("", suite["message"]); lines = [l.strip() for l in message.splitlines() if l.strip() and "●" not in l]
                facts.append(collect(os.path.basename(suite["name"]), suite["name"], msg=lines[0] if lines else "", msgs=lines[:6], places=frames(message)))
        return facts
    return truth

def jest():
    p, files = "shop", project()
    case("jest", "plain", "jest", files, jest_truth(), project=p)
    case("jest", "verbose", "jest --verbose", files, jest_truth(), project=p)
    case("jest", "colours", "jest --colors", files, jest_truth(), project=p)
    case("jest", "silent-bail", "jest --silent --bail=1", files, jest_truth("--bail=1"), project=p)
    case("jest", "named", "jest -t 'adds two'", files, jest_truth("-t 'adds two'"), project=p)
    case("jest", "hooks", "jest", project(test__hooks_test_js="") | {"test/cart.test.js": HOOKS}, jest_truth(), project=p, also=TORN)
    case("jest", "table-and-noise", "jest", project() | {"test/cart.test.js": TABLE}, jest_truth(), project=p)
    case("jest", "two-files", "jest --runInBand", project() | {"test/table.test.js": TABLE, "test/hooks.test.js": HOOKS}, jest_truth("--runInBand"), project=p, also=TORN)
    case("jest", "missing-module", "jest", project() | {"test/b.test.js": "const x = require('./nowhere');\ntest('a', () => {});\n"}, jest_truth(), project=p)
    case("jest", "syntax", "jest", project() | {"src/cart.js": "const a = ;\n"}, [collect("cart.test.js", "test/cart.test.js", msg="SyntaxError: /srv/project/shop/src/cart.js: Unexpected token (1:10)", places=[["src/cart.js", 1]])], project=p)
    case("jest", "no-tests-in-file", "jest", project() | {"test/cart.test.js": "const a = 1;\n"}, jest_truth(), project=p)
    case("jest", "threshold", "jest --coverage --coverageThreshold '{\"global\":{\"branches\":90,\"lines\":100}}'", project() | {"test/cart.test.js": "const { add } = require('../src/cart');\nit('is', () => expect(add(4, 0)).toBe(4));\n"},
         [diag("coverage", msg='Coverage for branches (0%) does not meet "global" threshold (90%)')], project=p)
    case("jest", "obsolete", "jest --ci", project() | {"test/cart.test.js": "it('is', () => expect(1).toBe(1));\n", "test/__snapshots__/cart.test.js.snap": "// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[`old one 1`] = `1`;\n"}, [diag("obsolete", msg="1 snapshot obsolete from 1 test suite")], project=p)
    case("jest", "timeout", "jest --testTimeout 200", project() | {"test/cart.test.js": "it('never ends', () => new Promise(() => {}));\nit('done callback', (done) => {});\n"}, jest_truth("--testTimeout 200"), project=p)
    case("jest", "github", "jest --ci --reporters=default --reporters=github-actions", files, jest_truth(), project=p, env={"GITHUB_ACTIONS": "true"})
    case("jest", "config", "jest --config nowhere.json", files, [], project=p, verdict="broken")
    case("jest", "pattern", "jest nothing-like-this", files, [], project=p, verdict="broken")
    case("jest", "green", "jest", project() | {"test/cart.test.js": "it('is', () => { console.error('Error: not bad'); expect(1).toBe(1); });\n"}, [], project=p)

ESM = {"package.json": {"name": "shop", "type": "module", "version": "1.0.0"}}
V = "import { describe, it, expect, beforeEach, afterAll } from 'vitest';\n"
VSPEC = V + "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n" + SPEC.lstrip("\n").replace("'../src/cart'", "'../src/cart.cjs'")
def vitest_truth(args=""):
    def truth(cwd):
        text = output_of(f"vitest run --reporter=json {args} 2>/dev/null", cwd); d = json.loads(text[text.find("{"):]); facts = []
        for suite in d["testResults"]:
            bad = [a for a in suite["assertionResults"] if a["status"] == "failed"]
            for a in bad:
                body = "\n".join(a.get("failureMessages") or [])
                facts.append(test(a["title"], suite["name"], msg=first(body), places=frames(body), full=a["fullName"]))
            if suite["status"] == "failed" and not bad:
                facts.append(collect(os.path.basename(suite["name"]), suite["name"], msg=first(suite.get("message")), places=[]))
        return facts
    return truth
def vitest():
    p = "shop-v"; link = f"mkdir -p node_modules && for m in {TOOLS}/js/node_modules/* {TOOLS}/js/node_modules/@*; do ln -sfn $m node_modules/ 2>/dev/null; done"
    files = ESM | {"src/cart.cjs": UNDER, "test/cart.test.js": VSPEC}
    for name, args, env in [("plain", "", {}), ("verbose", "--reporter=verbose", {}), ("dot", "--reporter=dot", {}), ("colours", "", {"FORCE_COLOR": "1"}), ("github", "", {"GITHUB_ACTIONS": "true", "CI": "true"}), ("tap", "--reporter=tap", {}), ("bail", "--bail 1", {}), ("tree", "--reporter=tree", {})]:
        case("vitest", name, f"vitest run {args}".strip(), files, vitest_truth("--bail 1" if name == "bail" else ""), project=p, before=link, env=env)
    case("vitest", "hooks", "vitest run", ESM | {"test/h.test.js": V + HOOKS}, vitest_truth(), project=p, before=link, also=TORN)
    case("vitest", "table-and-noise", "vitest run", ESM | {"test/t.test.js": V + TABLE}, vitest_truth(), project=p, before=link)
    case("vitest", "missing-module", "vitest run", ESM | {"test/t.test.js": V + "import './nowhere.js';\nit('a', () => {});\n"}, vitest_truth(), project=p, before=link)
    case("vitest", "unhandled", "vitest run", ESM | {"test/t.test.js": V + "it('a', () => { Promise.reject(new Error('nobody waits')); });\nit('b', async () => { setTimeout(() => { throw new Error('too late'); }, 1); await new Promise((r) => setTimeout(r, 60)); });\n"},
         [diag("", "test/t.test.js", 2, "Error: nobody waits"), diag("", "test/t.test.js", 3, "Error: too late")], project=p, before=link)
    case("vitest", "no-tests", "vitest run", ESM, [], project=p, before=link, verdict="broken")
    case("vitest", "empty-file", "vitest run", ESM | {"test/t.test.js": "export const a = 1;\n"}, vitest_truth(), project=p, before=link)
    case("vitest", "green", "vitest run", ESM | {"test/t.test.js": V + "it('a', () => { console.error('FAIL  test/x.test.js > nothing'); expect(1).toBe(1); });\n"}, [], project=p, before=link)

M = "const assert = require('node:assert');\n"
MSPEC = M + """
const { add, parse } = require('../src/cart');
describe('cart', function () {
  it('adds two prices', function () { assert.strictEqual(add(2, 3), 5); });
  it('keeps zero', () => assert.strictEqual(add(4, 0), 4));
  describe('when parsing', function () {
    it('reads values', () => {
      assert.deepStrictEqual(parse('{"a": [1, 2]}'), { a: [1, 3] });
    });
    it('refuses nothing', () => parse(''));
  });
  it.skip('is for later', () => {});
});
it('stands alone', async () => { await Promise.reject(new RangeError('out of stock')); });
it('1) has a number', () => { assert.ok(false, 'a message of its own'); });
"""
def mocha_truth(args=""):
    def truth(cwd):
        text = output_of(f"mocha --reporter json {args} 2>/dev/null", cwd); d = json.loads(text[text.find("{"):])
        return [test(f["title"], f["file"], msg=first(f["err"].get("message")), places=frames(f["err"].get("stack")), full=f["fullTitle"]) for f in d["failures"]]
    return truth
def mocha():
    p = "shop-m"; base = {"package.json": {"name": "shop"}, "src/cart.js": UNDER}
    files = base | {"test/cart.js": MSPEC}
    for name, args in [("spec", ""), ("dot", "--reporter dot"), ("list", "--reporter list"), ("tap", "--reporter tap"), ("min-colour", "--reporter min --color"), ("progress", "--reporter progress"), ("nyan", "--reporter landing"), ("spec-colour", "--color")]:
        case("mocha", name, f"mocha {args}".strip(), files, mocha_truth(), project=p)
    H = M + "describe('with hooks', () => {\n  beforeEach(() => { throw new Error('set-up broke'); });\n  it('first', () => {});\n});\nit('outside', (done) => { setTimeout(() => { throw new Error('late'); }, 5); });\n"
    case("mocha", "hooks", "mocha", base | {"test/h.js": H}, mocha_truth(), project=p)
    case("mocha", "no-describe", "mocha", base | {"test/h.js": M + "it('one', () => assert.equal(1, 2));\nit('two', () => assert.deepEqual([1, 2], [1, 3]));\nit('three', () => {});\n"}, mocha_truth(), project=p)
    case("mocha", "timeout", "mocha --timeout 50", base | {"test/h.js": "describe('slow', () => { it('never ends', (done) => {}); });\n"}, mocha_truth("--timeout 50"), project=p)
    case("mocha", "both-noise", "mocha", base | {"test/h.js": M + "it('prints', () => { console.log('  1 failing\\n\\n  1) not me\\n     AssertionError: no'); assert.equal('x', 'y'); });\n"}, mocha_truth(), project=p)

NSPEC = "const { test, describe, it, before } = require('node:test');\n" + MSPEC
def node_truth(args=""):
    def truth(cwd):
        facts = []
        for c in xml.fromstring(output_of(f"node --test --test-reporter=junit {args}", cwd)).iter("testcase"):
            bad = c.find("failure")
            if bad is None: continue
            body = (bad.get("message") or "") + "\n" + (bad.text or "")
            if "subtest" in (bad.get("message") or "") and "failed" in bad.get("message"): continue
            if c.find("skipped") is not None or c.find("properties") is not None or "todo" in str(c.attrib): continue
            facts.append(test(c.get("name"), msg=first(body), places=frames(body)))
        # A test left to do may fail: it is not red.
        return [f for f in facts if f["name"] != "inner c"]
    return truth
def node_test():
    p = "shop-n"; base = {"package.json": {"name": "shop"}, "src/cart.js": UNDER}
    files = base | {"test/cart.test.js": NSPEC}
    for name, args, env in [("tap", "", {}), ("spec", "--test-reporter=spec", {}), ("dot", "--test-reporter=dot", {}), ("spec-colour", "--test-reporter=spec", {"FORCE_COLOR": "1"}), ("junit", "--test-reporter=junit", {}), ("named", "--test-reporter=spec --test-name-pattern=adds", {})]:
        case("node-test", name, f"node --test {args}".strip(), files, node_truth("--test-name-pattern=adds" if name == "named" else ""), project=p, env=env)
    H = "const { describe, it, before, after, test } = require('node:test');\nconst assert = require('node:assert');\n"
    for name, body, truth in [
        ("hook-before", "describe('with hooks', () => {\n  before(() => { throw new Error('set-up broke'); });\n  it('first', () => {});\n});\n", [test("with hooks", "test/h.test.js", 4, "set-up broke")]),
        ("subtests", "test('outer', async (t) => {\n  await t.test('inner a', () => assert.strictEqual(1, 2));\n  await t.test('inner b', () => {});\n  await t.test('inner c', { todo: true }, () => assert.ok(0));\n});\n", None),
        ("timeout", "test('never ends', { timeout: 80 }, () => new Promise((r) => setTimeout(r, 5000)));\n", None),
        ("uncaught", "test('late', () => { setTimeout(() => { throw new Error('too late'); }, 10); });\ntest('fine', async () => { await new Promise((r) => setTimeout(r, 60)); });\n", None),
    ]:
        for reporter in ("tap", "spec"):
            case("node-test", f"{name}-{reporter}", f"node --test --test-reporter={reporter}", base | {"test/h.test.js": H + body}, truth or node_truth(), project=p)
    case("node-test", "syntax", "node --test", base | {"test/h.test.js": "const a = ;\n"}, [collect("h.test.js", "test/h.test.js", 1, "SyntaxError: Unexpected token ';'")], project=p)
    case("node-test", "missing", "node --test --test-reporter=spec", base | {"test/h.test.js": "require('./nowhere');\n"}, [collect("h.test.js", "test/h.test.js", msg="Error: Cannot find module './nowhere'", places=[["test/h.test.js", 1]])], project=p)

def tap_like():
    base = {"package.json": {"name": "shop"}, "src/cart.js": UNDER}; p = "shop-t"
    T = "const test = require('tape');\nconst { add } = require('../src/cart');\ntest('adds', (t) => {\n  t.equal(add(2, 3), 5, 'two prices');\n  t.deepEqual({ a: 1 }, { a: 2 }, 'same shape');\n  t.ok(false);\n  t.end();\n});\ntest('throws', (t) => { t.throws(() => {}, /x/, 'must throw'); t.end(); });\n"
    truth = [test("two prices", "test/a.js", 4, "expected: 5"), test("same shape", "test/a.js", 5, "expected: { a: 2 }"), test("should be truthy", "test/a.js", 6, "operator: ok"), test("must throw", "test/a.js", 9, "operator: throws")]
    case("tape", "plain", "tape test/a.js", base | {"test/a.js": T}, truth, project=p)
    case("tape", "node", "node test/a.js", None, truth, project=p)
    case("tape", "throws", "tape test/a.js", base | {"test/a.js": "const test = require('tape');\ntest('a', (t) => { t.pass('fine'); null.x; t.end(); });\n"}, [diag("", "test/a.js", 2, "TypeError: Cannot read properties of null")], project=p, verdict="red")
    case("tape", "green", "tape test/a.js", base | {"test/a.js": "const test = require('tape');\ntest('a', (t) => { t.pass('not ok 1 - said'); t.end(); });\n"}, [], project=p)
    A = "import test from 'ava';\ntest('adds two', (t) => { t.is(1 + 1, 3); });\ntest('shape', (t) => { t.deepEqual({ a: 1 }, { a: 2 }); });\ntest('throws', () => { throw new TypeError('no way'); });\ntest('fine', (t) => t.pass());\n"
    link = f"mkdir -p node_modules && ln -sfn {TOOLS}/js/node_modules/* node_modules/"
    ava = [test("adds two", "test.js", 2, "Difference (- actual, + expected)", msgs=["- 2"]), test("shape", "test.js", 3, "Difference (- actual, + expected)"), test("throws", "test.js", 4, "TypeError: no way", msgs=["TypeError {", "message: 'no way'"])]
    case("ava", "plain", "ava", ESM | {"test.js": A}, ava, project="shop-a", before=link)
    case("ava", "tap", "ava --tap", ESM | {"test.js": A}, ava, project="shop-a", before=link)

if __name__ == "__main__":
    for recipe in (jest, vitest, mocha, node_test, tap_like): recipe()
