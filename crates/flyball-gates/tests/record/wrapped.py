"""The same failures behind what people put around them: package managers, task runners, prefixes."""
from common import *
from js import jest_truth

TESTS = "test('splits %s', () => {\n  expect('a b'.split(' ')).toEqual(['a', 'c']);\n});\ntest('throws %s', () => {\n  throw new TypeError('no way');\n});\ntest('fine', () => {});\n"
PY = "def test_good():\n    assert 1\n\n\ndef test_bad():\n    assert 'ab'.upper() == 'Ab'\n\n\ndef test_error():\n    raise LookupError('lost')\n"
PYTRUTH = [test("test_bad", "tests/test_a.py", 6, "AssertionError: assert 'AB' == 'Ab'"), test("test_error", "tests/test_a.py", 10, "LookupError: lost")]
def js_truth(*packages):
    facts = []
    for name in packages:
        at = f"packages/{name}/" if len(packages) > 1 else ""
        facts += [test(f"splits {name}", f"{at}test/{name}.test.js", 2, "expect(received).toEqual(expected)"), test(f"throws {name}", f"{at}test/{name}.test.js", 5, "TypeError: no way")]
    return facts
def workspace(tool):
    files = {"package.json": {"name": "root", "private": True, "version": "1.0.0", "workspaces": ["packages/*"], "scripts": {"test": "jest"}}, "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
             "turbo.json": {"tasks": {"test": {"cache": False}}}, "lerna.json": {"version": "1.0.0", "packages": ["packages/*"], "useNx": False}}
    if tool == "turbo": files["package.json"]["packageManager"] = "npm@10.8.2"
    for name in "ab":
        files[f"packages/{name}/package.json"] = {"name": name, "version": "1.0.0", "scripts": {"test": "jest"}, "devDependencies": {"jest": "*"}}
        files[f"packages/{name}/jest.config.json"] = {"rootDir": "."}
        files[f"packages/{name}/test/{name}.test.js"] = TESTS % (name, name)
    return files
LINK = f"git init -q . 2>/dev/null; mkdir -p node_modules && for m in {TOOLS}/js/node_modules/* ; do ln -sfn $m node_modules/; done; mkdir -p node_modules/.bin; ln -sfn {TOOLS}/js/node_modules/.bin/* node_modules/.bin/"
# No settings of the machine.
HOME_ = {"HOME": "/srv/home"}
def javascript():
    p = "wrap"; one = {"package.json": {"name": "one", "version": "1.0.0", "scripts": {"test": "jest", "lint": "eslint ."}}, "jest.config.json": {}, "test/a.test.js": TESTS % ("a", "a")}
    t = js_truth("a")
    for name, command in [("npm", "npm test"), ("npm-silent", "npm test --silent"), ("npx", "npx jest"), ("sh-c", "sh -c 'jest; exit 3'")]:
        case("wrap-js", name, command, one, t, project=p, wrapper=name, before=LINK, env=HOME_)
    for name, sed in [("docker-compose", "s/^/web-1  | /"), ("act", "s/^/[CI\\/test]   | /"), ("concurrently", "s/^/[0] /"), ("iso", "s/^/2026-11-16T01:02:03.456Z /"), ("clock", "s/^/[01:02:03] /"), ("buildkite", "s/^/~~~ /"), ("logger", "s/^/INFO  test: /"), ("tab", "s/^/\\t/")]:
        case("wrap-js", name, f"bash -o pipefail -c \"jest 2>&1 | sed '{sed}'\"", one, t, project=p, wrapper=name)
    case("wrap-js", "github-group", "bash -c 'echo \"::group::Run jest\"; jest; code=$?; echo \"::endgroup::\"; exit $code'", one, t, project=p, wrapper="group")
    case("wrap-js", "timestamps-colour", "bash -o pipefail -c \"jest --colors 2>&1 | sed 's/^/2026-11-16 01:02:03 /'\"", one, t, project=p, wrapper="timestamps")
    for name, command in [("pnpm-r", "pnpm -r --no-bail test"), ("pnpm-stream", "pnpm -r --stream --no-bail test"), ("pnpm-parallel", "pnpm -r --parallel --no-bail test"), ("pnpm-aggregate", "pnpm -r --aggregate-output --no-bail test"), ("npm-workspaces", "npm test --workspaces"), ("turbo", "turbo run test --continue --output-logs=full"), ("lerna", "lerna run test --stream --no-bail"), ("concurrently-names", "concurrently -n a,b 'cd packages/a && jest' 'cd packages/b && jest'"), ("concurrently-raw", "concurrently --raw 'cd packages/a && jest' 'cd packages/b && jest'")]:
        case("wrap-js", name, command, workspace(name), js_truth("a", "b"), project="wrap-ws", wrapper=name, before=LINK, env=HOME_)
    case("wrap-js", "npm-missing", "npm run nowhere", one, [], project=p, wrapper="npm", verdict="broken", env=HOME_)
    case("wrap-js", "npm-no-package", "npm test", {"a.txt": ""}, [], project="wrap-none", wrapper="npm", verdict="broken", env=HOME_)
    case("wrap-js", "npm-not-found", "npm test", {"package.json": {"name": "x", "scripts": {"test": "nowhere-at-all --x"}}}, [], project="wrap-none", wrapper="npm", verdict="broken", env=HOME_)
    case("wrap-js", "pnpm-missing", "pnpm run nowhere", one, [], project=p, wrapper="pnpm", verdict="broken", env=HOME_)
    case("wrap-js", "node-no-file", "node scripts/nowhere.js", one, [], project=p, wrapper="node", verdict="broken")
def python():
    p = "wrap-py"; files = {"tests/test_a.py": PY, "conftest.py": "", "Makefile": "test:\n\tpytest tests\n\nboth: test\n\truff check .\n", "Procfile": "web: sleep 3\ntest: pytest tests\n", "tox.ini": "[tox]\nskipsdist = true\nenvlist = py\n[testenv]\nallowlist_externals = pytest\nskip_install = true\ncommands = pytest tests\n", "noxfile.py": "import nox\n\n\n@nox.session(venv_backend='none')\ndef tests(session):\n    session.run('pytest', 'tests', external=True)\n", "ci.sh": "#!/bin/sh\nset -e\necho 'Preparing'\npytest tests\necho 'never reached'\n"}
    for name, command in [("make", "make test"), ("make-k", "make -k both"), ("script", "./ci.sh"), ("tox", "tox"), ("nox", "nox"), ("honcho", "honcho start"), ("time", "bash -c 'time pytest tests'"), ("timeout", "timeout 60 pytest tests"), ("env", "env PYTHONHASHSEED=0 pytest tests"), ("python-m", "python -m pytest tests"), ("coverage", "coverage run -m pytest tests")]:
        case("wrap-py", name, command, files, PYTRUTH, project=p, wrapper=name)
    for name, sed in [("docker-compose-old", "s/^/web_1      | /"), ("syslog", "s/^/Nov 16 01:02:03 host ci[42]: /"), ("k8s", "s/^/[pod\\/web-1] /"), ("cargo-make", "s/^/[cargo-make] INFO - /")]:
        case("wrap-py", name, f"bash -o pipefail -c \"pytest tests 2>&1 | sed '{sed}'\"", files, PYTRUTH, project=p, wrapper=name)
    case("wrap-py", "oom", "bash -c 'echo working; kill -9 $$'", files, [], project=p, wrapper="signal", verdict="broken")
    case("wrap-py", "abort", "bash -c 'python -c \"import os; os.abort()\"'", files, [], project=p, wrapper="signal", verdict="broken")
    case("wrap-py", "not-found", "bash -c 'pytestt tests'", files, [], project=p, wrapper="shell", verdict="broken")
    case("wrap-py", "denied", "bash -c './conftest.py'", files, [], project=p, wrapper="shell", verdict="broken")
    case("wrap-py", "make-none", "make nowhere", files, [], project=p, wrapper="make", verdict="broken")
    case("wrap-py", "no-module", "python -m nowhere_at_all", files, [], project=p, wrapper="python", verdict="broken")
    case("wrap-py", "tox-none", "tox -e nowhere", files, [], project=p, wrapper="tox", verdict="broken")
def unknown():
    noise = "for i in $(seq 60); do echo \"step $i of 60: nothing to see\"; done"
    case("unknown", "reason-first", "./check.sh", {"check.sh": f"#!/bin/bash\necho 'FATAL: the table users is missing' >&2\n{noise}\nexit 2\n"}, [diag("", msg="FATAL: the table users is missing")], project="unknown")
    case("unknown", "reason-last", "./check.sh", {"check.sh": f"#!/bin/bash\n{noise}\necho 'ERROR: 3 links are broken'\nexit 1\n"}, [diag("", msg="ERROR: 3 links are broken")], project="unknown")
    case("unknown", "silent", "./check.sh", {"check.sh": "#!/bin/bash\nexit 4\n"}, [], project="unknown")
    case("unknown", "traceback", "./check.py", {"check.py": "#!/usr/bin/env python3\nimport json\n\n\ndef load(text):\n    return json.loads(text)\n\n\nload('{')\n"}, [diag("", "check.py", 6, "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes")], project="unknown", before="chmod +x check.py")
    case("unknown", "green", "./check.sh", {"check.sh": "#!/bin/bash\necho 'Error: none'\n"}, [], project="unknown")

if __name__ == "__main__":
    for recipe in (javascript, python, unknown): recipe()
