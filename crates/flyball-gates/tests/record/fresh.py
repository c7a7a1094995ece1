"""A round that was read at first sight: tools in calls that had not been recorded, several in one output, could not run."""
from common import *
from js import jest_truth, mocha_truth, node_truth, vitest_truth
from python import pytest_truth
from web import eslint_truth, tsc_truth

PY = {"depot/__init__.py": "", "depot/stock.py": "import os\nimport sys\n\n\nclass Empty(Exception):\n    pass\n\n\ndef take(shelf: dict[str, int], name: str, n: int = 1) -> int:\n    if shelf.get(name, 0) < n:\n        raise Empty(f'{name}: {n} wanted')\n    shelf[name] -= n\n    return str(shelf[name])\n\n\ndef label(name):\n    unused = 1\n    return name.titel()\n\n\nlabel(3) + take({}, 4)\n" .replace("label(3) + take({}, 4)\n", ""),
      "tests/test_stock.py": "import pytest\n\nfrom depot.stock import Empty, label, take\n\n\n@pytest.fixture\ndef shelf():\n    return {'nail': 3, 'saw': 0}\n\n\nclass TestTake:\n    def test_less(self, shelf):\n        assert take(shelf, 'nail', 2) == 1\n\n    def test_none_left(self, shelf):\n        take(shelf, 'saw')\n\n    @pytest.mark.parametrize('n', [1, 5])\n    def test_many(self, shelf, n):\n        with pytest.raises(Empty):\n            take(shelf, 'nail', n)\n\n\ndef test_label():\n    assert label('saw') == 'Saw'\n\n\ndef test_text():\n    assert 'one\\ntwo\\nthree' == 'one\\n2\\nthree'\n\n\n@pytest.mark.skip(reason='no depot')\ndef test_later():\n    pass\n\n\ndef test_fine():\n    assert True\n", "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n\n[tool.mypy]\nstrict = true\n\n[tool.ruff.lint]\nselect = ['E', 'F', 'I', 'UP', 'B']\n"}
LINT = PY | {"depot/stock.py": PY["depot/stock.py"].replace("import sys", "import sys\nfrom typing import List, Optional") + "\n\ndef pick(a: List[int], b: Optional[str] = None, c=[]):\n    try:\n        return a[b]\n    except:\n        pass\n    x = lambda y: y\n    if b == None: return x\n"}
def python():
    p = "depot"; t = pytest_truth()
    for name, cmd, env in [("f-quiet-short", "pytest -q --tb=short -ra", {}), ("f-module", "python -m pytest -v --no-header", {}), ("f-ci", "pytest -v -rfE --color=no", {"CI": "true"}), ("f-xdist-verbose", "pytest -n 2 -v --tb=short", {}), ("f-dist-file", "pytest -n 2 --dist loadfile -q", {}), ("f-live", "pytest -s -vv --log-cli-level=INFO", {}), ("f-cov", "pytest -q --cov=depot --cov-report=term-missing", {}), ("f-github", "pytest --tb=line -q", {"GITHUB_ACTIONS": "true", "CI": "true"})]:
        case("pytest", name, cmd, PY, t, project=p, env=env)
    case("pytest", "f-marker", "pytest --strict-markers -q", PY | {"tests/test_m.py": "import pytest\n\n\n@pytest.mark.slowly\ndef test_a(): pass\n"}, [collect("test_m", "tests/test_m.py", msg="'slowly' not found in `markers` configuration option")], project=p, verdict="broken", also=t)
    case("pytest", "f-nothing", "pytest -q -k nowhere", PY, [], project=p, verdict="broken")
    case("pytest", "f-plugin", "pytest -p nowhere_plugin", PY, [], project=p, verdict="broken")
    case("pytest", "f-config", "pytest -q", PY | {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--nowhere'\n"}, [], project=p, verdict="broken")
    U = {"tests/__init__.py": "", "tests/test_u.py": "import unittest\n\n\nclass U(unittest.TestCase):\n    def test_eq(self):\n        self.assertEqual({'a': 1}, {'a': 2})\n\n    def test_sub(self):\n        for n in (1, 2):\n            with self.subTest(n=n):\n                self.assertTrue(n > 1, 'too small')\n\n    def test_raise(self):\n        raise KeyError('gone')\n\n    def test_fine(self):\n        pass\n"}
    ut = [test("test_eq", "tests/test_u.py", 6, "AssertionError: {'a': 1} != {'a': 2}"), test("test_sub", "tests/test_u.py", 11, "AssertionError: False is not true : too small"), test("test_raise", "tests/test_u.py", 14, "KeyError: 'gone'")]
    for name, cmd in [("f-discover", "python -m unittest discover -s tests -t . -v"), ("f-quiet", "python -W error -m unittest -q tests.test_u"), ("f-buffer", "python -m unittest -b -v tests.test_u.U")]:
        case("unittest", name, cmd, U, ut, project="depot-u")
    ruff = lambda a: lambda cwd: [diag(m["code"] or "", m["filename"], m["location"]["row"], m["message"]) for m in json.loads(output_of(f"ruff check --output-format=json {a}", cwd))]
    for name, a in [("f-concise", "--output-format=concise --no-cache"), ("f-grouped", "--output-format=grouped"), ("f-statless", "--no-fix --quiet"), ("f-github", "--output-format=github"), ("f-select", "--select ALL --ignore D,ANN --output-format=full")]:
        ask = "--select ALL --ignore D,ANN" if "ALL" in a else ""
        case("ruff", name, f"ruff check {a} .", LINT, ruff(ask), project=p)
    case("ruff", "f-format", "ruff format --check .", LINT | {"depot/b.py": "x = {  'a':1 }\n"}, [diag("", "depot/b.py", msg="file would be reformatted", msgs=["Would reformat"]), diag("", "depot/stock.py", msg="file would be reformatted", msgs=["Would reformat"]), diag("", "tests/test_stock.py", msg="file would be reformatted", msgs=["Would reformat"])], project=p)
    case("ruff", "f-bad-config", "ruff check .", LINT | {"pyproject.toml": "[tool.ruff]\nline-lenght = 3\n"}, [], project=p, verdict="broken")
    mt = lambda a: lambda cwd: [diag(m["code"] or "", m["file"], m["line"], m["message"].splitlines()[0]) for m in map(json.loads, output_of(f"mypy -O json {a}", cwd).splitlines()) if m["severity"] == "error"]
    for name, a in [("f-end", "--show-error-end --show-column-numbers depot"), ("f-package", "-p depot --no-error-summary"), ("f-pretty-strict", "--strict --pretty --show-error-context depot"), ("f-context", "--show-error-context --hide-error-codes depot")]:
        case("mypy", name, f"mypy {a}", LINT, mt(re.sub("--(pretty|no-error-summary|show-error-context|hide-error-codes|show-error-end) ?", "", a)), project=p)
    case("mypy", "f-no-package", "mypy -p nowhere_at_all", LINT, [], project=p, verdict="broken")
    pyr = lambda cwd: [diag(m.get("rule", ""), m["file"], m["range"]["start"]["line"] + 1, m["message"].splitlines()[0]) for m in json.loads(output_of("pyright --outputjson depot", cwd))["generalDiagnostics"] if m["severity"] == "error"]
    case("pyright", "f-plain", "pyright depot", LINT, pyr, project=p)
    case("pyright", "f-warnings", "pyright --warnings --skipunannotated depot", LINT, pyr, project=p)
    pl = lambda cwd: [diag(m["symbol"], m["path"], m["line"], m["message"].splitlines()[0]) for m in json.loads(output_of("pylint -f json depot", cwd))]
    for name, a in [("f-no-score", "-rn -sn"), ("f-parseable", "-f parseable"), ("f-msvs", "-f msvs"), ("f-jobs", "-j 2 --msg-template='{path}:{line}:{column}: {msg_id}: {msg} ({symbol})'")]:
        case("pylint", name, f"pylint {a} depot", LINT, pl, project=p)
    fl = lambda cwd: [diag(c, f, int(l), m) for f, l, c, m in re.findall(r"^(.*?)\|(\d+)\|(\S+)\|(.*)$", output_of("flake8 --format '%(path)s|%(row)d|%(code)s|%(text)s'", cwd), re.M)]
    for name, a in [("f-source", "--show-source --statistics --count"), ("f-pylint", "--format=pylint"), ("f-colour", "--color=always --max-line-length 79")]:
        case("flake8", name, f"flake8 {a}", LINT, fl, project=p)
    both = lambda *ts: lambda cwd: [f for t in ts for f in t(cwd)]
    mk = "check:\n\truff check --no-fix .\n\tmypy depot\n\tpytest -q\n"
    case("wrap-py", "f-make-all", "make -k check", LINT | {"Makefile": mk}, ruff(""), project=p, wrapper="make")
    case("wrap-py", "f-three", "sh -c 'ruff check . ; mypy depot ; pytest -q'", LINT, both(ruff(""), mt("depot"), t), project=p, wrapper="sh")
    case("wrap-py", "f-three-loud", "sh -c 'set -x; flake8 ; black --check . ; python -m pytest --tb=short'", LINT, both(fl, t), project=p, wrapper="sh", also=lambda c: [diag("", f, msg="would reformat") for f in ("depot/stock.py", "tests/test_stock.py")])
    case("wrap-py", "f-stamps", "bash -o pipefail -c \"pytest -q --tb=short 2>&1 | sed 's/^/16-11-2026 01:02:03.004 /'\"", PY, t, project=p, wrapper="stamps")
    case("wrap-py", "f-gitlab", "bash -o pipefail -c \"pytest 2>&1 | sed 's/^/2026-11-16T01:02:03.004567Z 01O /'\"", PY, t, project=p, wrapper="gitlab")
    case("wrap-py", "f-tox-q", "tox -q", PY | {"tox.ini": "[tox]\nskipsdist = true\nenvlist = py\n[testenv]\nallowlist_externals = pytest, ruff\nskip_install = true\ncommands =\n  ruff check --exit-zero -q .\n  pytest -q\n"}, t, project=p, wrapper="tox", also=ruff(""))

JS = {"package.json": {"name": "depot", "version": "1.0.0", "scripts": {"test": "jest --ci", "lint": "eslint .", "types": "tsc --noEmit", "check": "npm run lint && npm test"}}, "src/stock.js": "function take(shelf, name, n = 1) {\n  if ((shelf[name] || 0) < n) throw new RangeError(`${name}: ${n} wanted`);\n  shelf[name] -= n;\n  return String(shelf[name]);\n}\nmodule.exports = { take };\n", "test/stock.test.js": "const { take } = require('../src/stock');\ndescribe('take', () => {\n  it('takes less', () => {\n    expect(take({ nail: 3 }, 'nail', 2)).toBe(1);\n  });\n  it('has none left', async () => {\n    await take({}, 'saw');\n  });\n  it.each(['a', 'b'])('names %s', (n) => {\n    expect({ n, list: [1, 2] }).toMatchObject({ n: 'a', list: [1, 2] });\n  });\n  it('is fine', () => {});\n});\n", "test/other.test.js": "it('stands alone', () => {\n  expect(['x']).toHaveLength(2);\n});\n", "eslint.config.js": "const js = require('@eslint/js');\nmodule.exports = [js.configs.recommended, { languageOptions: { globals: { module: 'readonly', require: 'readonly', describe: 'readonly', it: 'readonly', expect: 'readonly' } }, rules: { eqeqeq: 'warn', 'prefer-const': 'error' } }];\n"}
BAD = {"src/bad.js": "let a = 1;\nvar b = a == 2;\nfunction f(x) {\n  if (x = 3) { }\n  return undefinedThing;\n  f();\n}\n", "src/worse.js": "const { q } = ;\n"}
TS = {"tsconfig.json": {"compilerOptions": {"strict": True, "noEmit": True, "target": "es2020", "skipLibCheck": True, "types": []}, "include": ["src"]}, "src/a.ts": "export interface Shelf { nail: number; saw?: string }\nconst s: Shelf = { nail: '3' };\nexport const n: number = s.saw;\nfunction f(a: number) { return a.length }\nf('x', 2);\n"}
LINK = f"mkdir -p node_modules && for m in {TOOLS}/js/node_modules/* ; do ln -sfn $m node_modules/; done; mkdir -p node_modules/.bin; ln -sfn {TOOLS}/js/node_modules/.bin/* node_modules/.bin/"
HOME_ = {"HOME": "/srv/home"}
def javascript():
    p = "depot-js"
    for name, cmd, env in [("f-ci-band", "jest --ci --runInBand --no-color", {"CI": "true"}), ("f-verbose-expand", "jest --verbose --expand", {}), ("f-summary", "jest --reporters=summary --reporters=default", {}), ("f-silent", "jest --silent --noStackTrace", {}), ("f-one-worker", "jest -w 1 --coverage --coverageReporters=text-summary", {}), ("f-colour-log", "jest --colors --verbose=false", {}), ("f-only", "jest --onlyFailures --passWithNoTests test/other", {})]:
        case("jest", name, cmd, JS, jest_truth("test/other" if name == "f-only" else ""), project=p, env=env)
    case("jest", "f-preset", "jest --preset nowhere-preset", JS, [], project=p, verdict="broken")
    case("jest", "f-environment", "jest --env=nowhere", JS, [], project=p, verdict="broken")
    V = {"package.json": {"name": "depot", "type": "module"}, "test/stock.test.js": "import { describe, it, expect } from 'vitest';\n" + JS["test/stock.test.js"].replace("const { take } = require('../src/stock');\n", "import { take } from '../src/stock.js';\n"), "src/stock.js": JS["src/stock.js"].replace("module.exports =", "export")}
    for name, a, env in [("f-dot", "--reporter=dot", {}), ("f-tap-flat", "--reporter=tap-flat", {}), ("f-tree", "--reporter=tree", {}), ("f-ci", "--no-color --reporter=default", {"CI": "true"}), ("f-junit", "--reporter=junit", {}), ("f-bail", "--bail=9 --silent", {}), ("f-hide", "--reporter=verbose --hideSkippedTests --color", {})]:
        case("vitest", name, f"vitest run {a}", V, vitest_truth(), project="depot-v", env=env, before=LINK)
    case("vitest", "f-filter", "vitest run nowhere", V, [], project="depot-v", verdict="broken", before=LINK)
    case("vitest", "f-coverage", "vitest run --coverage", V, [], project="depot-v", verdict="broken", before="rm -rf node_modules; " + LINK + "; rm -rf node_modules/@vitest; mkdir node_modules/@vitest; for m in %s/js/node_modules/@vitest/*; do case $m in *coverage*) ;; *) ln -sfn $m node_modules/@vitest/;; esac; done" % TOOLS)
    M = {"package.json": {"name": "depot"}, "src/stock.js": JS["src/stock.js"], "test/stock.js": "const assert = require('node:assert');\nconst { take } = require('../src/stock');\ndescribe('take', function () {\n  it('takes less', () => assert.strictEqual(take({ nail: 3 }, 'nail', 2), 1));\n  it('has none left', async () => { await take({}, 'saw'); });\n  context('many', () => {\n    it('compares', () => { assert.deepStrictEqual({ a: [1] }, { a: [2] }); });\n  });\n  it('is fine', () => {});\n});\n"}
    for name, a in [("f-parallel", "--parallel"), ("f-bail-no-colour", "--no-color --retries 1"), ("f-xunit", "--reporter xunit"), ("f-list-full", "--reporter list --full-trace"), ("f-check", "--forbid-only --inline-diffs")]:
        case("mocha", name, f"mocha {a}", M, mocha_truth(), project="depot-m")
    case("mocha", "f-none", "mocha nowhere/*.js", M, [], project="depot-m", verdict="broken")
    N = {"package.json": {"name": "depot"}, "src/stock.js": JS["src/stock.js"], "test/stock.test.js": "const { describe, it } = require('node:test');\n" + M["test/stock.js"].replace("context(", "describe(")}
    for name, a in [("f-plain", ""), ("f-tap", "--test-reporter=tap"), ("f-concurrency", "--test-concurrency=1 --test-reporter=spec test/")]:
        case("node-test", name, f"node --test {a}".strip(), N, node_truth(), project="depot-n")
    L = JS | BAD
    for name, a in [("f-strict", ". --max-warnings 0 --no-color"), ("f-quiet-colour", ". --quiet --color"), ("f-glob", "'src/**/*.js'"), ("f-stats", ". --no-warn-ignored --report-unused-disable-directives")]:
        ask = "--quiet ." if "quiet" in a else "'src/**/*.js'" if "glob" in name else "."
        case("eslint", name, f"eslint {a}", L, eslint_truth(ask), project=p, before=LINK, also=lambda c: [diag(m["ruleId"] or "", f["filePath"], m.get("line"), m["message"]) for f in json.loads(output_of("eslint -f json .", c)) for m in f["messages"]])
    case("eslint", "f-bad-rule", "eslint .", L | {"eslint.config.js": "module.exports = [{ rules: { 'nowhere/rule': 'error' } }];\n"}, [], project=p, before=LINK, verdict="broken")
    T = {"package.json": {"name": "depot", "scripts": {"types": "tsc"}}} | TS
    for name, cmd in [("f-no-pretty", "tsc -p . --noEmit --pretty false"), ("f-npm", "npm run types --silent")]:
        case("tsc", name, cmd, T, tsc_truth, project="depot-t", env=HOME_)
    case("prettier", "f-list", "prettier -l src test", L | {"src/stock.js": "const a = {b:1}\n"}, [diag("", "src/stock.js", msg="src/stock.js", msgs=["not formatted"]), collect("", "src/worse.js", 1, "SyntaxError")], project=p, also=[diag("", f) for f in ("src/bad.js", "test/stock.test.js", "test/other.test.js")])
    case("wrap-js", "f-npm-check", "npm run check", JS, jest_truth(), project=p, wrapper="npm", before=LINK, env=HOME_)
    both = lambda *ts: lambda cwd: [f for t in ts for f in t(cwd)]
    case("wrap-js", "f-three", "sh -c 'eslint . ; tsc ; jest --ci'", JS | TS | {"src/bad.js": BAD["src/bad.js"]}, both(eslint_truth("."), tsc_truth, jest_truth()), project=p, wrapper="sh", before=LINK, also=[diag("eqeqeq", "src/bad.js", 2)])
    case("wrap-js", "f-concurrently", "concurrently -g -n lint,types,test 'eslint .' 'tsc' 'jest --ci'", JS | TS | {"src/bad.js": BAD["src/bad.js"]}, both(eslint_truth("."), tsc_truth, jest_truth()), project=p, wrapper="concurrently", before=LINK, also=[diag("eqeqeq", "src/bad.js", 2)])
    case("wrap-js", "f-concurrently-mixed", "concurrently --prefix '{time} {name} |' -n lint,test 'eslint .' 'jest --ci'", JS | {"src/bad.js": BAD["src/bad.js"]}, both(eslint_truth("."), jest_truth()), project=p, wrapper="concurrently", before=LINK, also=[diag("eqeqeq", "src/bad.js", 2)])
    W = {"package.json": {"name": "root", "private": True, "version": "1.0.0", "packageManager": "npm@10.8.2", "workspaces": ["packages/*"]}, "turbo.json": {"tasks": {"test": {"cache": False}}}, "pnpm-workspace.yaml": "packages:\n  - packages/*\n"}
    for n in ("ui", "api"):
        W |= {f"packages/{n}/package.json": {"name": f"@depot/{n}", "version": "1.0.0", "scripts": {"test": "jest" if n == "ui" else "node --test"}}, f"packages/{n}/test/{n}.test.js": f"test('counts {n}', () => {{\n  expect(1).toBe(2);\n}});\n" if n == "ui" else "const { test } = require('node:test');\nconst assert = require('node:assert');\ntest('answers api', () => {\n  assert.equal(1, 2, 'no answer');\n});\n"}
    W["packages/ui/jest.config.json"] = {}
    wt = [test("counts ui", "packages/ui/test/ui.test.js", 2, "expect(received).toBe(expected)"), test("answers api", "packages/api/test/api.test.js", 4, "no answer")]
    case("wrap-js", "f-pnpm-other", "pnpm -r run test", W, [], project="depot-ws", wrapper="pnpm", verdict="broken", before=LINK, env=HOME_)
    for name, cmd in [("f-turbo-stream", "turbo run test --continue --ui=stream --log-order=stream"), ("f-turbo-grouped", "turbo run test --continue --log-order=grouped --log-prefix=none"), ("f-pnpm-serial", "pnpm -r --workspace-concurrency=1 --no-bail run test"), ("f-npm-ws", "npm run test --workspaces --if-present")]:
        files = W | {"package.json": {"name": "root", "private": True, "version": "1.0.0"}} if "pnpm" in name else W
        case("wrap-js", name, cmd, files, wt, project="depot-ws", wrapper=name, before="git init -q . 2>/dev/null; " + LINK, env=HOME_)

GO = {"go.mod": "module example.com/depot\n\ngo 1.19\n", "depot.go": "package depot\n\nimport \"fmt\"\n\ntype Shelf map[string]int\n\nfunc (s Shelf) Take(n string, k int) (int, error) {\n\tif s[n] < k {\n\t\treturn 0, fmt.Errorf(\"%s: %d wanted\", n, k)\n\t}\n\ts[n] -= k\n\treturn s[n] + 1, nil\n}\n", "depot_test.go": "package depot\n\nimport \"testing\"\n\nfunc TestTake(t *testing.T) {\n\ts := Shelf{\"nail\": 3}\n\tt.Run(\"less\", func(t *testing.T) {\n\t\tgot, err := s.Take(\"nail\", 2)\n\t\tif err != nil || got != 1 {\n\t\t\tt.Fatalf(\"got %d, %v\", got, err)\n\t\t}\n\t})\n\tt.Run(\"none/left\", func(t *testing.T) {\n\t\tt.Helper()\n\t\tif _, err := s.Take(\"saw\", 1); err != nil {\n\t\t\tt.Error(err)\n\t\t\tt.Errorf(\"again: %v\", err)\n\t\t}\n\t})\n}\n\nfunc TestNil(t *testing.T) {\n\tvar s Shelf\n\ts[\"x\"] = 1\n}\n", "web/web_test.go": "package web\n\nimport \"testing\"\n\nfunc TestWeb(t *testing.T) { t.Log(\"noted\"); t.Fail() }\nfunc TestOther(t *testing.T) {}\n", "cmd/main.go": "package main\n\nfunc main() {}\n"}
GT = [test("TestTake/less", "depot_test.go", 10, "got 2, <nil>"), test("TestTake/none/left", "depot_test.go", 16, "saw: 1 wanted"), test("TestNil", "depot_test.go", 24, "panic: assignment to entry in nil map"), test("TestWeb", "web/web_test.go", 5, "noted")]
def native():
    env = {"GOFLAGS": "-vet=off"}; p = "depot-go"
    for name, cmd in [("f-plain", "go test ./..."), ("f-v-parallel", "go test -v -p 1 -parallel 4 ./..."), ("f-short-cover", "go test -short -coverprofile=c.out ./..."), ("f-json", "go test -json ./...")]:
        case("go-test", name, cmd, GO, GT, project=p, env=env)
    case("go-test", "f-timeout", "go test -timeout 1s ./slow", GO | {"slow/s_test.go": "package slow\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestSlow(t *testing.T) { time.Sleep(time.Minute) }\n"}, [test("TestSlow", "slow/s_test.go", 8, "panic: test timed out after 1s")], project=p)
    case("go-test", "f-no-package", "go test ./nowhere/...", GO, [], project=p, verdict="broken")
    case("go-build", "f-vet", "go vet ./...", GO | {"depot.go": GO["depot.go"] + "\nfunc Bad() { fmt.Printf(\"%d\\n\", \"x\") }\n"}, [diag("", "depot.go", 15, "fmt.Printf format %d has arg \"x\" of wrong type string")], project=p)
    case("go-build", "f-build", "go build ./...", GO | {"depot.go": GO["depot.go"] + "\nfunc Bad() int { x := 1; return \"y\" }\n", "web/w.go": "package web\n\nimport \"nowhere.example/x\"\n\nvar _ = x.Y\n"}, [diag("", "web/w.go", 3, "no required module provides package nowhere.example/x")], project=p, also=[diag("", "depot.go", 15, "")])
    case("wrap-py", "f-go-both", "sh -c 'go vet ./... ; go test ./...'", GO, GT, project=p, wrapper="sh", env=env)
    toml = "[workspace]\nmembers = ['a', 'b']\nresolver = '2'\n"; crate = "[package]\nname = '%s'\nversion = '0.1.0'\nedition = '2021'\n"
    RS = {"Cargo.toml": toml, "a/Cargo.toml": crate % "a", "b/Cargo.toml": crate % "b", "a/src/lib.rs": "pub fn take(have: u32, n: u32) -> u32 { have - n }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn less() {\n        assert_eq!(super::take(3, 2), 2, \"shelf {}\", \"nail\");\n    }\n    #[test]\n    fn none_left() {\n        super::take(0, 1);\n    }\n    #[test]\n    fn fine() {}\n}\n", "b/src/lib.rs": "#[test]\nfn result() -> Result<(), String> { Err(\"out of nails\".into()) }\n", "b/tests/whole.rs": "#[test]\nfn whole() {\n    let v: Option<u8> = None;\n    v.expect(\"a nail\");\n}\n"}
    RT = [test("tests::less", "a/src/lib.rs", 7, "assertion `left == right` failed: shelf nail"), test("tests::none_left", "a/src/lib.rs", 1, "attempt to subtract with overflow"), test("result", "b/src/lib.rs", msg="Error: \"out of nails\""), test("whole", "b/tests/whole.rs", 4, "a nail")]
    rp = "depot-rs"; rel = lambda facts: [dict(f, places=[[q, l] for q, l in f["places"]] + [[q.split("/", 1)[1], l] for q, l in f["places"]]) for f in facts]
    for tool, name, cmd, env in [("cargo-test", "f-workspace", "cargo test --workspace --no-fail-fast", {}), ("cargo-test", "f-quiet", "cargo test -q --workspace --no-fail-fast", {}), ("cargo-test", "f-targets", "cargo test --all-targets --no-fail-fast -- --test-threads=1", {"CARGO_TERM_COLOR": "never", "CI": "true"}), ("cargo-test", "f-backtrace", "cargo test --no-fail-fast", {"RUST_BACKTRACE": "full"}), ("nextest", "f-workspace", "cargo nextest run --workspace --no-fail-fast", {}), ("nextest", "f-ci", "cargo nextest run --no-fail-fast --status-level fail --final-status-level fail --failure-output final", {"CI": "true"}), ("nextest", "f-immediate", "cargo nextest run --no-fail-fast --success-output never --hide-progress-bar", {})]:
        case(tool, name, cmd, RS, rel(RT), project=rp, env=env)
    case("cargo-test", "f-no-target", "cargo test --test nowhere", RS, [], project=rp, verdict="broken")
    case("cargo-test", "f-no-manifest", "cargo test", {"x.txt": ""}, [], project="depot-none", verdict="broken")
    CL = RS | {"a/src/lib.rs": "pub fn take(have: &Vec<u32>, n: u32) -> bool {\n    let mut i = 0;\n    for k in 0..have.len() { if have[k] == n { i += 1; } }\n    return i > 0;\n}\npub fn unused() { let x = 5; }\n"}
    def cl(cwd):
        found = []
        for line in output_of("cargo clippy --workspace --message-format json -- -D warnings 2>/dev/null", cwd).splitlines():
            m = json.loads(line).get("message")
            if m and m["spans"]:
                s = next(s for s in m["spans"] if s["is_primary"]); found.append(diag((m["code"] or {}).get("code", ""), s["file_name"], s["line_start"], m["message"]))
        return found
    for name, cmd in [("f-all", "cargo clippy --all-targets --workspace -- -D warnings"), ("f-short", "cargo clippy --workspace --message-format short -q -- -D warnings"), ("f-human", "cargo clippy --workspace --keep-going --color always -- -D warnings")]:
        case("clippy", name, cmd, CL, cl, project="depot-cl", before="touch a/src/lib.rs", also=[diag("clippy::unnecessary_literal_unwrap", "b/tests/whole.rs", 4, "used `expect()` on `None` value")])
    SH = {"lib.sh": "#!/bin/sh\nfor f in $(ls *.txt); do\n  cat $f | grep x\ndone\ncd $1\nread line\n[ $a == 1 ] && echo yes\n", "run.sh": "#!/bin/bash\nlocal x=1\necho ${arr[@]}\n"}
    sc = lambda cwd: [diag(f"SC{m['code']}", m["file"], m["line"], m["message"]) for m in json.loads(output_of("shellcheck -f json lib.sh run.sh", cwd))]
    for name, a in [("f-gcc", "-f gcc"), ("f-tty", "-f tty -S style"), ("f-nocolour", "--color=never -x"), ("f-checkstyle", "-f checkstyle")]:
        case("shellcheck", name, f"shellcheck {a} lib.sh run.sh", SH, sc, project="depot-sh")
    BT = {"test/a.bats": "setup() { x=1; }\n@test \"adds up\" {\n  [ \"$((1+1))\" -eq 3 ]\n}\n@test \"runs\" {\n  run sh -c 'echo out; exit 4'\n  echo \"got $output\"\n  [ \"$status\" -eq 0 ]\n}\n@test \"fine\" { true; }\n@test \"later\" { skip \"no depot\"; }\n"}
    bt = [test("adds up", "test/a.bats", 3, "`[ \"$((1+1))\" -eq 3 ]' failed"), test("runs", "test/a.bats", 8, "`[ \"$status\" -eq 0 ]' failed")]
    for name, a in [("f-recursive", "-r test"), ("f-output", "--print-output-on-failure test"), ("f-tap", "--formatter tap test"), ("f-trace", "--verbose-run --show-output-of-passing-tests test")]:
        case("bats", name, f"bats {a}", BT, bt, project="depot-bats")
    RB = {"spec/stock_spec.rb": "class Shelf\n  def take(n) = n - 2\nend\n\nRSpec.describe Shelf do\n  subject(:shelf) { described_class.new }\n\n  it 'takes less' do\n    expect(shelf.take(3)).to eq(2)\n  end\n\n  context 'when empty' do\n    it 'raises' do\n      shelf.nowhere\n    end\n\n    it { expect([1, 2]).to include(3) }\n  end\n\n  it('is fine') { expect(1).to eq(1) }\n  xit('is for later') { }\nend\n"}
    rt = lambda cwd: [test(e["description"], e["file_path"], full=e["full_description"], msg=first(e["exception"]["message"]), places=[[f, int(l)] for f, l in re.findall(r"(spec/\w+\.rb):(\d+)", "\n".join(e["exception"]["backtrace"] or []))]) for e in json.loads(output_of("rspec -f json", cwd))["examples"] if e["status"] == "failed"]
    for name, a in [("f-ci", "--no-color --format progress --order defined"), ("f-doc-b", "-fd -b --no-profile"), ("f-warn", "-w --force-color"), ("f-exit", "--failure-exit-code 3 --fail-fast=9")]:
        case("rspec", name, f"rspec {a}", RB | {".rspec": "--require set\n"}, rt, project="depot-rb")
    case("rspec", "f-only", "rspec --only-failures", RB, [], project="depot-rb", verdict="broken")
    PH = {"tests/StockTest.php": "<?php\nuse PHPUnit\\Framework\\TestCase;\nfinal class StockTest extends TestCase {\n    public function testLess(): void {\n        $this->assertSame(2, 3 - 2, 'a nail');\n    }\n    /** @dataProvider many */\n    public function testMany(int $n): void {\n        $this->assertLessThan(4, $n);\n    }\n    public static function many(): array { return ['one' => [1], 'five' => [5]]; }\n    public function testThrows(): void {\n        throw new RuntimeException('no depot');\n    }\n    public function testFine(): void { $this->assertTrue(true); }\n}\n"}
    pt = [test("testLess", "tests/StockTest.php", 5, "a nail"), test("testMany with data set \"five\"", "tests/StockTest.php", 9, "Failed asserting that 5 is less than 4."), test("testThrows", "tests/StockTest.php", 13, "RuntimeException: no depot")]
    case("phpunit", "f-option", "phpunit --nowhere tests", PH, [], project="depot-php", verdict="broken")
    for name, a in [("f-never", "--colors=never --no-interaction"), ("f-defects", "--order-by=defects"), ("f-always", "--colors=always --testdox")]:
        case("phpunit", name, f"phpunit {a} tests", PH, pt, project="depot-php")
    case("phpunit", "f-no-file", "phpunit tests/Nowhere.php", PH, [], project="depot-php", verdict="broken")
    PV = {"t/a.t": "use strict; use warnings; use Test::More tests => 4;\nok(1, 'fine');\nis(1 + 1, 3, 'adds up');\nis_deeply([1, 2], [1, 3], 'list');\nlike('abc', qr/x/, 'has x');\n", "t/b.t": "use strict; use warnings; use Test::More;\nok(1);\ndie \"no depot\\n\";\n"}
    vt = [test("adds up", "t/a.t", 3, "got: '2'"), test("list", "t/a.t", 4, "Structures begin differing at:"), test("has x", "t/a.t", 5, "'abc'"), collect("b.t", "t/b.t", msg="Non-zero exit status: 255", msgs=["no depot"])]
    for name, a in [("f-recurse", "-r t"), ("f-verbose", "-v t"), ("f-jobs", "-j 2 --timer t"), ("f-quiet", "-Q t")]:
        case("prove", name, f"prove {a}", PV, vt, project="depot-pl")
    CP = {"a.c": "#include <stdlib.h>\nint f(int n) {\n  int *p = malloc(4);\n  int a[3];\n  a[n > 2 ? 3 : 5] = 1;\n  if (n == 0) return 1 / n;\n  return *p;\n}\nstatic int g(void) { int x; return x; }\nint main(void) { return f(0); }\n"}
    ct = lambda cwd: [diag(i, f, int(l), m) for i, f, l, m in re.findall(r"^(\S+?)\|(.*?)\|(\d+)\|(.*)$", subprocess.run(["bash", "-c", "cppcheck -q --enable=warning,style --template='{id}|{file}|{line}|{message}' a.c"], cwd=cwd, capture_output=True, text=True).stderr, re.M)]
    for name, a in [("f-all", "--enable=warning,style --error-exitcode=2"), ("f-gcc", "-q --enable=warning,style --template=gcc --error-exitcode=1"), ("f-quiet", "--quiet --enable=warning,style --error-exitcode=1 --inline-suppr")]:
        case("cppcheck", name, f"cppcheck {a} a.c", CP, ct, project="depot-c")

if __name__ == "__main__":
    for recipe in (python, javascript, native): recipe()
