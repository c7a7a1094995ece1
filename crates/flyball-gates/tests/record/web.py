"""JavaScript linters and type checkers, the newer runtimes, and what wraps them."""
from common import *
from js import SPEC, UNDER, ESM, project

LINK = f"mkdir -p node_modules && for m in {TOOLS}/js/node_modules/*; do ln -sfn $m node_modules/; done"
BAD = """
import fs from 'fs';
export function total(items) {
  var sum = 0
  for (const item of items) {
    if (item.price == null) { continue }
    sum += item.price
  }
  debugger
  return sum
}
export function clash(a, a2) {
  const unused = a;
  switch (a) { case 1: return 1; case 1: return 2; }
  if (a = 2) { return NaN === a; }
}
"""
SYNTAX = "export function broken( {\n  return 1;\n"
def eslint_truth(args="."):
    def truth(cwd):
        d = json.loads(output_of(f"eslint -f json {args}", cwd)); facts = [[], []]
        for f in d:
            for m in f["messages"]:
                facts[m["severity"] - 1].append(diag(m["ruleId"] or "", f["filePath"], m.get("line"), m["message"]))
        return facts[1] or facts[0]
    return truth
def eslint():
    p = "lint"; config = "export default [{ files: ['**/*.js'], rules: { 'no-unused-vars': 'error', 'no-undef': 'error', 'no-debugger': 'error', 'no-duplicate-case': 'error', 'no-cond-assign': 'error', eqeqeq: 'warn', 'use-isnan': 'error', 'no-var': 'warn' } }];\n"
    files = ESM | {"eslint.config.js": config, "src/a.js": BAD, "src/b c.js": "export const x = undefinedThing;\n"}
    case("eslint", "plain", "eslint .", files, eslint_truth(), project=p)
    case("eslint", "colours", "eslint --color .", files, eslint_truth(), project=p)
    case("eslint", "quiet", "eslint --quiet .", files, eslint_truth(), project=p)
    case("eslint", "json", "eslint -f json .", files, eslint_truth(), project=p)
    case("eslint", "syntax", "eslint .", files | {"src/a.js": SYNTAX, "src/b c.js": ""}, eslint_truth(), project=p)
    case("eslint", "max-warnings", "eslint --max-warnings 0 .", files | {"src/a.js": "export var a = 1;\nexport const b = a == 1;\n", "src/b c.js": ""}, eslint_truth(), project=p)
    case("eslint", "no-config", "eslint .", {"a.js": "1;\n"}, [], project="lint-none", verdict="broken")
    case("eslint", "no-files", "eslint nothing/", files, [], project=p, verdict="broken")

def biome_truth(args):
    def truth(cwd):
        text = output_of(f"biome {args} --reporter=json --max-diagnostics=200 2>/dev/null", cwd)
        d, _ = json.JSONDecoder().raw_decode(text[text.find('{"summary'):]); errors, warnings = [], []
        for m in d["diagnostics"]:
            place = m.get("location", {}); path = place.get("path"); path = path.get("file") if isinstance(path, dict) else path
            line = (place.get("start") or {}).get("line")
            if line is None and place.get("span"): line = 1 + open(os.path.join(cwd, path)).read().encode()[:place["span"][0]].count(b"\n")
            message = m.get("message"); message = message if isinstance(message, str) else m.get("description") or "".join(x["content"] for x in message)
            f = diag(m.get("category") or "", path or "", line or None, message)
            (errors if m["severity"] in ("error", "fatal") else warnings).append(f)
        return errors, warnings
    return lambda cwd: truth(cwd)[0] or truth(cwd)[1], lambda cwd: truth(cwd)[1]
def biome():
    p = "biome"; files = ESM | {"src/a.js": BAD, "src/b.js": "export const x = {a:1,'b':2}\n"}
    for name, args, more in [("lint", "lint .", {}), ("check", "check .", {}), ("ci", "ci .", {}), ("format", "format .", {}), ("syntax", "check .", {"src/a.js": SYNTAX}), ("json-file", "check .", {"data.json": "{\"a\": 1,,}\n", "src/a.js": "export const a = 1;\n"})]:
        truth, also = biome_truth(args)
        case("biome", name, f"biome {args}", files | more, truth, also=also, project=p)
    truth, also = biome_truth("lint .")
    case("biome", "colours", "biome lint --colors=force .", files, truth, also=also, project=p)
    case("biome", "warnings", "biome lint --error-on-warnings .", ESM | {"src/a.js": "export function f(items) {\n  const unused = 1;\n  return items;\n}\n"}, truth, project=p)
    case("biome", "github", "biome ci --reporter=github .", files, biome_truth("ci .")[0], also=biome_truth("ci .")[1], project=p)
    case("biome", "bad-config", "biome check .", files | {"biome.json": "{ \"linter\": 3 }\n"}, [], project=p, verdict="broken")
    case("biome", "green", "biome lint .", ESM | {"src/a.js": "export const a = 1;\n"}, [], project=p)

def oxlint_truth(args=""):
    def truth(cwd):
        d = json.loads(output_of(f"oxlint -f json {args}", cwd)); errors, warnings = [], []
        for m in d["diagnostics"]:
            labels = m.get("labels") or [{}]; line = labels[0].get("span", {}).get("line")
            (errors if m["severity"] == "error" else warnings).append(diag(m.get("code") or "", m["filename"], line, m["message"]))
        return errors, warnings
    return truth
def oxlint():
    p = "oxlint"; files = ESM | {"src/a.js": BAD, "src/b.js": "export const x = 1;\nconst y = 2;\n"}
    for name, args, more in [("deny", "-D correctness", {}), ("suspicious", "-D correctness -D suspicious -D style", {}), ("warnings", "--deny-warnings", {}), ("syntax", "", {"src/a.js": SYNTAX}), ("unix", "-D correctness -f unix", {}), ("stylish", "-D correctness -f stylish", {}), ("github", "-D correctness -f github", {}), ("quiet", "-D correctness --quiet", {})]:
        ask = re.sub(r" ?-f \w+", "", args)
        t = oxlint_truth(ask)
        case("oxlint", name, f"oxlint {args}".strip(), files | more, lambda cwd, t=t: t(cwd)[0] or t(cwd)[1], also=lambda cwd, t=t: t(cwd)[1], project=p)
    t = oxlint_truth("-D correctness")
    case("oxlint", "unicode", "oxlint -D correctness", files, lambda cwd: t(cwd)[0], also=lambda cwd: t(cwd)[1], project=p, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"})
    case("oxlint", "green", "oxlint", ESM | {"src/b.js": "export const x = 1;\n"}, [], project=p)

def stylelint():
    p = "style"; config = {"rules": {"color-no-invalid-hex": True, "block-no-empty": True, "unit-no-unknown": True, "property-no-unknown": True, "declaration-block-no-duplicate-properties": [True, {"severity": "warning"}]}}
    files = {"package.json": {"name": "style"}, ".stylelintrc.json": config, "src/a.css": "a { color: #12; margin: 3pq; }\nb {}\n.x { colr: red; top: 1px; top: 2px; }\n", "src/b.css": "p { color: #zzz; }\n"}
    def truth(cwd, args="'src/*.css'"):
        d = json.loads(output_of(f"stylelint -f json {args} 2>&1", cwd)); errors, warnings = [], []
        for f in d:
            for m in f["warnings"]: (errors if m["severity"] == "error" else warnings).append(diag(m["rule"], f["source"], m["line"], re.sub(r" \([\w-]+\)$", "", m["text"])))
        return errors, warnings
    for name, args in [("plain", ""), ("compact", "-f compact"), ("unix", "-f unix"), ("verbose", "-f verbose"), ("colours", "--color")]:
        case("stylelint", name, f"stylelint {args} 'src/*.css'".replace("  ", " "), files, lambda c: truth(c)[0], also=lambda c: truth(c)[1], project=p)
    case("stylelint", "syntax", "stylelint 'src/*.css'", files | {"src/a.css": "a { color: red;\n"}, lambda c: truth(c)[0], project=p)
    case("stylelint", "no-config", "stylelint a.css", {"a.css": "a {}\n"}, [], project="style-none", verdict="broken")
    case("stylelint", "green", "stylelint 'src/*.css'", files | {"src/a.css": "a { color: red; }\n", "src/b.css": ""}, [], project=p)

TS = "interface Item { price: number; name: string }\nexport function total(items: Item[]): number {\n  let sum: string = 0;\n  for (const item of items) { sum += item.cost; }\n  return sum;\n}\nexport const first: Item = { price: 'x' };\nexport function f(a: number, b?: string): string { return a; }\nf('1', 2, 3);\n"
def tsc_truth(cwd):
    return [diag(c, f, int(l), m) for f, l, c, m in re.findall(r"^(\S.*?)\((\d+),\d+\): error (TS\d+): (.*)$", output_of("tsc --noEmit --pretty false", cwd), re.M)]
def tsc():
    p = "typed"; files = {"package.json": {"name": "typed"}, "tsconfig.json": {"compilerOptions": {"strict": True, "target": "es2022", "module": "nodenext", "types": []}, "include": ["src"]}, "src/a.ts": TS, "src/b.ts": "import { nope } from './a.js';\nimport x from './nowhere.js';\n"}
    for name, args in [("plain", "--noEmit"), ("pretty", "--noEmit --pretty"), ("build", "-b --pretty false")]:
        case("tsc", name, f"tsc {args}", files, tsc_truth, project=p)
    case("tsc", "syntax", "tsc --noEmit", files | {"src/a.ts": "export function x( {\n", "src/b.ts": ""}, tsc_truth, project=p)
    case("tsc", "bad-option", "tsc --noEmit", files | {"tsconfig.json": {"compilerOptions": {"strct": True, "target": "es1"}}}, [diag("TS5023", "tsconfig.json", 3, "Unknown compiler option 'strct'"), diag("TS6046", "tsconfig.json", 4, "Argument for '--target' option must be")], project=p, also=tsc_truth)
    case("tsc", "no-inputs", "tsc --noEmit -p nowhere", files, [], project=p, verdict="broken")

def prettier():
    files = ESM | {"src/a.js": BAD, "src/b.js": SYNTAX, "src/ok.js": "export const a = 1;\n"}
    truth = [diag("", "src/a.js"), diag("", "src/b.js", 2, "SyntaxError")]
    case("prettier", "plain", "prettier --check src", files, truth, project="pretty")
    case("prettier", "list", "prettier -l src", files | {"src/b.js": ""}, [diag("", "src/a.js")], project="pretty")

DENO = """
import { assertEquals } from "./assert.ts";
import { add } from "./cart.ts";
Deno.test("adds two prices", () => { assertEquals(add(2, 3), 5); });
Deno.test("keeps zero", () => { assertEquals(add(4, 0), 4); });
Deno.test("with steps", async (t) => {
  await t.step("first", () => {});
  await t.step("second", () => { throw new TypeError("no second"); });
});
Deno.test({ name: "for later", ignore: true, fn() {} });
Deno.test("rejects", async () => { await Promise.reject(new RangeError("out of stock")); });
Deno.test("prints", () => { console.log("FAILED | 1 passed | 2 failed\\nerror: Uncaught Error"); });
"""
ASSERT = "export function assertEquals(a: unknown, b: unknown) {\n  if (a !== b) throw new Error(`Values are not equal: ${a} !== ${b}`);\n}\n"
def deno_truth(args=""):
    def truth(cwd):
        return [f for f in junit(output_of(f"deno test --no-check --reporter=junit {args} 2>/dev/null", cwd), place=lambda c, b: [q for q in frames(b) if "40_test" not in q[0]], file=lambda c: re.sub(r"^\./", "", c.get("classname") or "")) if "step" not in f["msg"]]
    return truth
def fix(f):
    f["msg"] = re.sub(r"^(Uncaught )?", "", f["msg"]); return f
def deno():
    p = "deno"; files = {"cart.ts": "export const add = (a: number, b: number) => a - b;\n", "assert.ts": ASSERT, "cart_test.ts": DENO}
    env = {"NO_COLOR": "1"}
    for name, args, e in [("plain", "", env), ("colours", "", {"FORCE_COLOR": "1"}), ("dot", "--reporter=dot", env), ("tap", "--reporter=tap", env), ("fail-fast", "--fail-fast", env), ("quiet", "--quiet", env)]:
        case("deno", name, f"deno test {args}".strip(), files, lambda c: [fix(f) for f in deno_truth(args if "fail" in args else "")(c)], project=p, env=e)
    case("deno", "types", "deno test", files | {"cart.ts": "export const add = (a: number, b: number): string => a - b;\n"}, [diag("TS2322", "cart.ts", 1, "Type 'number' is not assignable to type 'string'.")], project=p, env=env, verdict="broken")
    case("deno", "missing", "deno test", files | {"cart_test.ts": 'import "./nowhere.ts";\n'}, [collect("cart_test.ts", "cart_test.ts", 1, "Cannot find module 'file:///srv/project/deno/nowhere.ts'")], project=p, env=env, verdict="broken")
    case("deno", "lint", "deno lint", files | {"cart.ts": "export const add = (a: any) => { let x = 1; debugger; return a; };\n"}, lambda c: [diag(d["code"], d["filename"].replace("file://", ""), d["range"]["start"]["line"], d["message"]) for d in json.loads(output_of("deno lint --json 2>/dev/null", c))["diagnostics"]], project=p, env=env)
    case("deno", "no-tests", "deno test", {"a.ts": ""}, [], project=p, env=env, verdict="broken")
    case("deno", "green", "deno test", files | {"cart.ts": "export const add = (a: number, b: number) => a + b;\n", "cart_test.ts": 'import { add } from "./cart.ts";\nDeno.test("a", () => { add(1, 2); });\n'}, [], project=p, env=env)

def bun_truth(args=""):
    def truth(cwd):
        # The report names no reason: reasons by hand, from the sources.
        reasons = {"adds two prices": "expect(received).toBe(expected)", 'reads "quoted" values > 1': "expect(received).toEqual(expected)", "refuses nothing": "TypeError: nothing to parse:", "stands alone: é→ü": "RangeError: out of stock", "first": "set-up broke", "second": "set-up broke"}
        lines = {"adds two prices": [["test/cart.test.js", 4]], 'reads "quoted" values > 1': [["test/cart.test.js", 9]], "refuses nothing": [["src/cart.js", 2], ["test/cart.test.js", 12]]}
        output_of(f"bun test {args} --reporter=junit --reporter-outfile=/tmp/bun.xml", cwd)
        facts = junit(open("/tmp/bun.xml").read())
        for f in facts:
            f["file"] = "test/cart.test.js"; f["msg"] = reasons.get(f["name"], ""); f["places"] = lines.get(f["name"], [])
        return facts
    return truth
def bun():
    p = "bun"; files = project()
    for name, args, env in [("plain", "", {}), ("colours", "", {"FORCE_COLOR": "1"}), ("bail", "--bail", {}), ("github", "", {"GITHUB_ACTIONS": "true"}), ("dots", "--dots", {})]:
        case("bun", name, f"bun test {args}".strip(), files, bun_truth(args), project=p, env=env)
    case("bun", "hooks", "bun test", project() | {"test/cart.test.js": "describe('with hooks', () => {\n  beforeEach(() => { throw new Error('set-up broke'); });\n  it('first', () => {});\n  it('second', () => {});\n});\n"}, bun_truth(), project=p)
    case("bun", "timeout", "bun test --timeout 100", project() | {"test/cart.test.js": "it('never ends', () => new Promise(() => setTimeout(() => {}, 5000)));\n"}, [test("never ends", "test/cart.test.js", msg="timed out after 100ms")], project=p)
    case("bun", "missing", "bun test", project() | {"test/cart.test.js": "import './nowhere';\n"}, [collect("cart.test.js", "test/cart.test.js", msg="Cannot find module './nowhere' from", places=[])], project=p)
    case("bun", "syntax", "bun test", project() | {"src/cart.js": "const a = ;\n"}, [collect("cart.js", "src/cart.js", 1, "Unexpected ;")], project=p)
    case("bun", "no-tests", "bun test", {"package.json": {"name": "none"}}, [], project=p, verdict="broken")
    case("bun", "green", "bun test", project() | {"test/cart.test.js": "it('says (fail) x', () => { console.log('(fail) not me [0.1ms]'); expect(1).toBe(1); });\n"}, [], project=p)

PW = """
const { test, expect } = require('@playwright/test');
test('adds two prices', async () => { expect(2 - 3).toBe(5); });
test('keeps zero', async () => { expect(4).toBe(4); });
test.describe('when parsing', () => {
  test('reads values', async () => {
    expect({ a: [1, 2] }).toEqual({ a: [1, 3] });
  });
  test('throws', async () => { throw new TypeError('no way'); });
});
test.skip('later', async () => {});
test('never ends', async () => { test.setTimeout(300); await new Promise(() => {}); });
"""
def playwright_truth(cwd):
    d = json.loads(output_of("playwright test --reporter=json --retries=0 2>/dev/null", cwd)); facts = []
    def walk(suite):
        for spec in suite.get("specs", []):
            for t in spec["tests"]:
                for r in t["results"][:1]:
                    if r["status"] in ("failed", "timedOut"):
                        e = r.get("error") or {}; message = ANSI.sub("", e.get("message", ""))
                        place = e.get("location") or {}
                        facts.append(test(spec["title"], "tests/" + suite["file"], place.get("line"), first(message), places=[["tests/" + suite["file"], place["line"]]] if place else []))
        for s in suite.get("suites", []): walk(s)
    for s in d["suites"]: walk(s)
    return facts
def playwright():
    p = "play"; files = {"package.json": {"name": "play"}, "playwright.config.js": "module.exports = { testDir: 'tests', retries: 0, workers: 1 };\n", "tests/cart.spec.js": PW}
    for name, args, env in [("list", "--reporter=list", {}), ("line", "--reporter=line", {}), ("dot", "--reporter=dot", {}), ("default-ci", "", {"CI": "1"}), ("colours", "--reporter=list", {"FORCE_COLOR": "1"}), ("github", "--reporter=github,list", {"GITHUB_ACTIONS": "true"}), ("retries", "--reporter=list --retries=1", {})]:
        case("playwright", name, f"playwright test {args}".strip(), files, playwright_truth, project=p, before=LINK, env=env)
    case("playwright", "syntax", "playwright test --reporter=list", files | {"tests/cart.spec.js": "const a = ;\n"}, [collect("cart.spec.js", "tests/cart.spec.js", 1, "SyntaxError:", places=[["tests/cart.spec.js", 1]])], project=p, before=LINK)
    case("playwright", "no-tests", "playwright test", files | {"tests/cart.spec.js": ""}, [], project=p, before=LINK, verdict="broken")
    case("playwright", "green", "playwright test", files | {"tests/cart.spec.js": "const { test, expect } = require('@playwright/test');\ntest('a', async () => { expect(1).toBe(1); });\n"}, [], project=p, before=LINK)

if __name__ == "__main__":
    for recipe in (eslint, biome, oxlint, stylelint, tsc, prettier, deno, bun, playwright): recipe()
