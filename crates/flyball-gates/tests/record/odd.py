"""Odd shapes: parametrised and long names, other scripts, deep nesting, colours, long and empty messages."""
from common import *
from js import ESM, M, V, jest_truth, mocha_truth, node_truth, vitest_truth
from python import pytest_truth

LINK = f"mkdir -p node_modules && for m in {TOOLS}/js/node_modules/* {TOOLS}/js/node_modules/@*; do ln -sfn $m node_modules/ 2>/dev/null; done"
LONG = "keeps a very long name that goes on and on until no terminal of a usual width could show all of it without a break somewhere in the middle"
NAMES = """
describe('Übersicht › 価格', () => {
  describe('when (nested) [deep]', () => {
    describe('with "quotes" and `ticks`', () => {
      it('adds: 1 + 1 = 3', () => { assert(1 + 1 === 3, 'sum is 2, not 3'); });
      it('LONG', () => { assert(false, 'a message\\nof three lines\\nthe last of them'); });
    });
    it('100% > 50%', () => { assert(false, 'per cent'); });
    it('fails with an error inside an error', () => { throw new Error('outer went wrong', { cause: new Error('inner went wrong') }); });
  });
  it('is fine', () => {});
});
""".replace("LONG", LONG)
LOUD = """
describe('loud', () => {
  it('prints a diff and fails', () => { console.log('--- expected\\n+++ actual\\n- 1\\n+ 2\\nFAIL something/else.test.js'); assert(false, 'after the noise'); });
  it('prints an error and is fine', () => { console.error('Error: not mine\\n    at nowhere (other.js:1:2)'); });
  it('rejects', async () => { await Promise.reject(new TypeError('rejected by the server')); });
});
"""
CHECK = "const assert = (ok, why) => { if (!ok) throw new Error(why); };\n"

def js():
    p = "odd-js"; cjs = {"package.json": {"name": "odd", "version": "1.0.0"}}
    for name, args, env in [("odd-names", "", {}), ("odd-names-verbose", "--verbose", {}), ("odd-names-ci", "--ci --colors", {"CI": "true"})]:
        case("jest", name, f"jest {args}".strip(), cjs | {"test/a.test.js": CHECK + NAMES, "test/b.test.js": CHECK + LOUD}, jest_truth(), project=p, env=env)
    case("jest", "odd-each", "jest", cjs | {"a.test.js": "describe.each([['é', 1], ['💥', 2]])('kind %s', (kind, n) => {\n  test.each([[n, n + 1], [n, n]])(`%i is %i`, (a, b) => { expect(a).toBe(b); });\n  test.each`x | y\n  ${n} | ${'a b'}\n  `('$x beside $y', ({ x, y }) => { expect({ x }).toEqual({ x: y }); });\n});\n"}, jest_truth(), project=p)
    case("jest", "odd-shapes", "jest", cjs | {"a.test.js": "test('', () => { throw undefined; });\ntest('throws an object', () => { throw { code: 7 }; });\ntest('has no message', () => { throw new Error(); });\ntest('snapshot', () => { expect({ a: 1 }).toMatchInlineSnapshot(`\n{\n  \"a\": 2,\n}\n`); });\ntest('counts', () => { expect.assertions(2); expect(1).toBe(1); });\n"}, jest_truth(), project=p)
    for name, args, env in [("odd-names", "", {}), ("odd-names-verbose", "--reporter=verbose", {}), ("odd-names-colour", "", {"FORCE_COLOR": "1", "CI": "true"})]:
        case("vitest", name, f"vitest run {args}".strip(), ESM | {"test/a.test.js": V + CHECK + NAMES, "test/b.test.js": V + CHECK + LOUD}, vitest_truth(), project=p + "-v", before=LINK, env=env)
    case("vitest", "odd-each", "vitest run", ESM | {"a.test.js": V + "describe.each([['é', 1], ['💥', 2]])('kind %s', (kind, n) => {\n  it.each([[n, n + 1], [n, n]])('%i is %i', (a, b) => { expect(a).toBe(b); });\n  it('has no message', () => { throw new Error(); });\n});\n"}, vitest_truth(), project=p + "-v", before=LINK)
    for name, args in [("odd-names", ""), ("odd-names-colour", "--color"), ("odd-names-dot", "--reporter dot")]:
        case("mocha", name, f"mocha {args}".strip(), cjs | {"test/a.js": M + CHECK.replace("assert =", "check =").replace("const check", "const check") + NAMES.replace("assert(", "check("), "test/b.js": CHECK.replace("assert =", "check =") + LOUD.replace("assert(", "check(")}, mocha_truth(), project=p)
    N = "const { describe, it } = require('node:test');\n"
    for name, env in [("odd-names", {}), ("odd-names-colour", {"FORCE_COLOR": "1"})]:
        case("node-test", name, "node --test test/", cjs | {"test/a.test.js": N + CHECK + NAMES, "test/b.test.js": N + CHECK + LOUD}, node_truth(), project=p, env=env)

PY = '''
import pytest


@pytest.mark.parametrize("text", ["", "a b", "é→ü", "x" * 120, "a/b::c", "1 - 2", "[x]", "\\t"])
def test_text(text):
    assert text == "never"


class TestOuter:
    class TestInner:
        @pytest.mark.parametrize("a", [1, 2], ids=["first one", "second-one"])
        @pytest.mark.parametrize("b", [None])
        def test_deep(self, a, b):
            assert {"a": a, "b": b} == {"a": 2, "b": None}, f"pair {a} and {b}"


def test_long_name_that_goes_on_and_on_until_no_terminal_of_a_usual_width_could_show_all_of_it_in_one_row():
    raise RuntimeError("first line\\nsecond line\\n\\nfourth line")


def test_ünïcode_名前():
    assert "straße" == "strasse"


def test_no_message():
    raise Exception


def test_recursion():
    def deeper(n):
        return deeper(n + 1)
    deeper(0)
'''
def python():
    p = "odd-py"; files = {"tests/test_odd.py": PY}
    for name, args, env in [("odd", "", {}), ("odd-verbose", "-v", {}), ("odd-quiet-short", "-q --tb=short", {}), ("odd-colour", "--color=yes", {}), ("odd-ci", "-rA --tb=native", {"CI": "1"}), ("odd-no-header", "--no-header", {}), ("odd-workers", "-n 2 -v", {})]:
        case("pytest", name, f"pytest {args}".strip(), files, pytest_truth(), project=p, env=env)

GO = '''
package odd

import (
	"fmt"
	"testing"
)

func TestTable(t *testing.T) {
	for _, name := range []string{"plain", "with blanks", "é→ü", "a/b", "100%", ""} {
		t.Run(name, func(t *testing.T) {
			t.Run("deep", func(t *testing.T) { t.Errorf("%q is not %q", name, "that") })
			fmt.Println("--- PASS: TestOther (0.00s)")
		})
	}
}

func TestParallel(t *testing.T) {
	for i := 0; i < 3; i++ {
		t.Run(fmt.Sprint("n", i), func(t *testing.T) {
			t.Parallel()
			t.Log("working on", i)
			if i == 1 {
				t.Fatalf("number %d:\\n\\tgot  1\\n\\twant 2", i)
			}
		})
	}
}

func TestCleanup(t *testing.T) {
	t.Cleanup(func() { t.Error("the clean-up went wrong") })
}

func ExampleGreeting() {
	fmt.Println("hello")
	// Output: goodbye
}
'''
def go():
    def truth(cwd):
        failed, said = [], {}
        for line in output_of("go test -json ./...", cwd, {"HOME": os.path.expanduser("~")}).splitlines():
            e = json.loads(line); key = e.get("Test")
            if e["Action"] == "output" and key: said.setdefault(key, []).append(e["Output"])
            if e["Action"] == "fail" and key: failed.append(key)
        facts = []
        for name in failed:
            found = [re.match(r"\s+(\w+_test\.go):(\d+): (.*)", line) for line in said.get(name, [])]
            found = [f for f in found if f and not f[3].startswith("working on")]
            if found: facts.append(test(name, found[0][1], int(found[0][2]), found[0][3]))
            elif not any(other.startswith(name + "/") for other in failed): facts.append(test(name, "", None, "got:" if name.startswith("Example") else ""))
        return facts
    for name, args in [("odd", ""), ("odd-verbose", "-v")]:
        case("go-test", name, f"go test {args} ./...".replace("  ", " "), {"go.mod": "module example.com/odd\n\ngo 1.21\n", "odd_test.go": GO}, truth, project="odd-go")

if __name__ == "__main__":
    for recipe in (js, python, go): recipe()
