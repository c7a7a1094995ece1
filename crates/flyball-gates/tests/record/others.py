"""Shell, PHP, Ruby, Elixir, containers, workflows: and what puts prefixes before everything."""
from common import *

def shellcheck():
    p = "shell"; files = {"run.sh": "#!/bin/bash\nname=$1\nif [ $name = x ]; then\n  echo `date`\nfi\nfor f in $(ls *.txt); do rm $f; done\nunused=3\ncd /tmp\n", "b.sh": "#!/bin/sh\n[[ $1 == a ]] && echo ok\narray=(1 2)\n", "c.sh": "#!/bin/sh\nif true; then\n  echo open\n"}
    def truth(args):
        def find(cwd):
            d = json.loads(output_of(f"shellcheck -f json {args}", cwd))
            high = [m for m in d if m["level"] == "error"]; rest = d
            return [diag(f"SC{m['code']}", m["file"], m["line"], m["message"]) for m in rest]
        return find
    for name, args in [("plain", "run.sh b.sh"), ("errors", "-S error b.sh c.sh"), ("gcc", "-f gcc run.sh b.sh"), ("colours", "--color=always run.sh"), ("syntax", "c.sh"), ("severity", "--severity=style run.sh"), ("json", "-f json run.sh"), ("checkstyle", "-f checkstyle run.sh")]:
        case("shellcheck", name, f"shellcheck {args}", files, truth(re.sub(r"-f \w+ ", "", args)), project=p)
    case("shellcheck", "no-file", "shellcheck nowhere.sh", files, [], project=p, verdict="broken")
    case("shellcheck", "green", "shellcheck ok.sh", {"ok.sh": "#!/bin/sh\necho \"$1\"\n"}, [], project=p)

def bats():
    p = "bats"; body = "add() { echo $(( $1 - $2 )); }\n\n@test \"adds two prices\" {\n  run add 2 3\n  [ \"$output\" -eq 5 ]\n}\n\n@test \"keeps zero\" {\n  [ \"$(add 4 0)\" = 4 ]\n}\n\n@test \"fails: with a colon\" {\n  echo 'not ok 7 not me'\n  false\n}\n\n@test \"later\" {\n  skip \"not now\"\n}\n\n@test \"command is missing\" {\n  nowhere_at_all\n}\n"
    files = {"test/cart.bats": body}; truth = [test("adds two prices", "test/cart.bats", 5, "`[ \"$output\" -eq 5 ]' failed"), test("fails: with a colon", "test/cart.bats", 14, "`false' failed"), test("command is missing", "test/cart.bats", 22, "`nowhere_at_all' failed with status 127")]
    for name, args in [("tap", "--tap"), ("pretty", "--pretty"), ("plain", ""), ("timing", "--timing --tap"), ("verbose", "--tap --print-output-on-failure --verbose-run"), ("junit", "--formatter junit")]:
        case("bats", name, f"bats {args} test".replace("  ", " "), files, truth, project=p, env={"TERM": "xterm"})
    case("bats", "setup", "bats --tap test", {"test/a.bats": "setup() { return 3; }\n@test \"one\" { true; }\n"}, [test("one", "test/a.bats", 1, "`setup() { return 3; }' failed with status 3")], project=p)
    case("bats", "syntax", "bats --tap test", {"test/a.bats": "@test \"one\" {\n  if true; then\n}\n"}, [], project=p, verdict="broken")
    case("bats", "no-file", "bats nowhere.bats", files, [], project=p, verdict="broken")

PHP = """
<?php
use PHPUnit\\Framework\\TestCase;
final class CartTest extends TestCase {
    public function testAdds(): void {
        $this->assertSame(5, 2 - 3, 'two prices');
    }
    public function testFine(): void { $this->assertTrue(true); }
    public function testArrays(): void {
        $this->assertEquals(['a' => 1, 'b' => [1, 2]], ['a' => 1, 'b' => [1, 3]]);
    }
    public function testThrows(): void {
        throw new \\RuntimeException('out of stock');
    }
    /** @dataProvider values */
    public function testValue(string $value): void { $this->assertSame('x', $value); }
    public function values(): array { return [['x'], 'named one' => ['y'], ['z']]; }
    public function testLater(): void { $this->markTestSkipped('later'); }
    public function testTodo(): void { $this->markTestIncomplete('not yet'); }
    public function testRisky(): void {}
    public function testPrints(): void { echo "1) Not\\\\Me::testX\\nFailed asserting that nothing\\n"; $this->fail('on purpose'); }
    public function testTypeError(): void { strlen([]); }
}
"""
def phpunit():
    p = "shop-php"; files = {"tests/CartTest.php": PHP}
    def truth(args=""):
        def find(cwd):
            output_of(f"phpunit --no-configuration --log-junit /tmp/phpunit.xml {args} tests", cwd); facts = []
            for c in xml.parse("/tmp/phpunit.xml").iter("testcase"):
                for bad in list(c.findall("failure")) + list(c.findall("error")):
                    lines = [l for l in (bad.text or "").splitlines() if l.strip()]
                    places = [[relative(f), int(l)] for f, l in re.findall(r"^(/.*?\.php):(\d+)$", bad.text or "", re.M)]
                    facts.append(test(re.sub(r" \(.*$", "", c.get("name")), c.get("file"), msg=lines[1] if len(lines) > 1 else "", msgs=lines[1:4], places=places))
            # The report calls a risky test an error; without a flag it is none.
            return [f for f in facts if f["name"] != "testRisky"]
        return find
    for name, args in [("plain", ""), ("testdox", "--testdox"), ("colours", "--colors=always"), ("stop", "--stop-on-failure"), ("verbose", "--verbose"), ("debug", "--debug"), ("teamcity", "--teamcity"), ("strict", "--fail-on-risky --fail-on-warning")]:
        case("phpunit", name, f"phpunit --no-configuration {args} tests".replace("  ", " "), files, truth("--stop-on-failure" if name == "stop" else ""), project=p, also=[test("testRisky", "tests/CartTest.php", 19)])
    case("phpunit", "syntax", "phpunit --no-configuration tests", {"tests/CartTest.php": "<?php\nfinal class CartTest extends PHPUnit\\Framework\\TestCase {\n  public function testA() { $a = ; }\n}\n"}, [], project=p, verdict="broken")
    case("phpunit", "fatal", "phpunit --no-configuration tests", {"tests/CartTest.php": "<?php\nfinal class CartTest extends PHPUnit\\Framework\\TestCase {\n  public function testA() { nowhere_at_all(); }\n  public function testB() { new Nowhere(); }\n}\n"}, truth(), project=p)
    case("phpunit", "none", "phpunit --no-configuration tests", {"tests/a.txt": ""}, [], project=p)
    case("phpunit", "exit", "phpunit --no-configuration tests", {"tests/CartTest.php": "<?php\nfinal class CartTest extends PHPUnit\\Framework\\TestCase {\n  public function testA() { exit(3); }\n}\n"}, [], project=p, verdict="broken")
    case("phpunit", "lint", "php -l a.php", {"a.php": "<?php\n$a = ;\n"}, [diag("", "a.php", 2, "syntax error, unexpected token \";\"")], project=p)
    case("phpunit", "green", "phpunit --no-configuration tests", {"tests/CartTest.php": "<?php\nfinal class CartTest extends PHPUnit\\Framework\\TestCase {\n  public function testA() { $this->assertTrue(true); }\n}\n"}, [], project=p)

SPEC = """
def add(a, b) = a - b
RSpec.describe 'Cart' do
  it 'adds two prices' do
    expect(add(2, 3)).to eq(5)
  end
  it('keeps zero') { expect(add(4, 0)).to eq 4 }
  context 'when full' do
    it { is_expected.to be_nil }
    it 'raises' do
      raise ArgumentError, 'out of stock'
    end
    it 'aggregates', :aggregate_failures do
      expect(1).to eq 2
      expect('a').to include('b')
    end
  end
  it 'is pending' do
    pending 'later'
    expect(1).to eq 2
  end
  it 'pending but fine' do
    pending 'later'
  end
  xit 'skipped' do; end
  it 'compares hashes' do
    expect({ a: 1, b: 2 }).to eq({ a: 1, b: 3 })
  end
  before(:each, :broken) { raise 'set-up broke' }
  it('has a broken hook', :broken) { }
end
"""
def rspec():
    p = "shop-rb"; files = {"spec/cart_spec.rb": SPEC}
    def truth(args=""):
        def find(cwd):
            text = output_of(f"rspec -f json {args} 2>/dev/null", cwd); d = json.loads(text[text.find('{"version'):]); facts = []
            for e in d["examples"]:
                if e["status"] == "failed":
                    x = e["exception"]; lines = [l.strip() for l in x["message"].splitlines() if l.strip()]
                    places = [[re.sub(r".*?(spec/)", r"\1", f), int(l)] for f, l in re.findall(r"([\w./-]+_spec\.rb):(\d+)", "\n".join(x.get("backtrace") or []))]
                    facts.append(test(e["description"], e["file_path"].replace("./", ""), msg=lines[0] if lines else "", msgs=lines[:4] + [l.strip() for l in re.findall(r"expected: \S+", x["message"])] + (["Got 2 failures:"] if "aggregat" in e["description"] else []) + (["Expected pending 'later' to fail."] if "pending" in e["description"] else []), places=(places or [[e["file_path"].replace("./", ""), e["line_number"]]]) + ([["spec/cart_spec.rb", 13], ["spec/cart_spec.rb", 14]] if "aggregat" in e["description"] else []), full=e["full_description"]))
            return facts
        return find
    for name, args in [("plain", ""), ("documentation", "-f documentation"), ("colours", "--force-color"), ("fail-fast", "--fail-fast"), ("backtrace", "-b"), ("profile", "--profile 2"), ("order", "--order defined -f p")]:
        case("rspec", name, f"rspec {args}".strip(), files, truth("--fail-fast" if name == "fail-fast" else ""), project=p)
    case("rspec", "load", "rspec", {"spec/a_spec.rb": "require 'nowhere_at_all'\n"}, [collect("a_spec.rb", "spec/a_spec.rb", 1, "cannot load such file -- nowhere_at_all")], project=p, verdict="broken")
    case("rspec", "syntax", "rspec", {"spec/a_spec.rb": "RSpec.describe 'x' do\n  it 'y' do\n    expect(1).to eq(\n  end\nend\n"}, [collect("a_spec.rb", "spec/a_spec.rb", msg="SyntaxError", msgs=["syntax error"], places=[["spec/a_spec.rb", 4]])], project=p, verdict="broken")
    case("rspec", "no-file", "rspec spec/nowhere_spec.rb", files, [], project=p, verdict="broken")
    case("rspec", "green", "rspec", {"spec/a_spec.rb": "RSpec.describe 'x' do\n  it('y') { puts '  1) not me'; expect(1).to eq 1 }\nend\n"}, [], project=p)
    m = {"test/cart_test.rb": "require 'minitest/autorun'\nclass CartTest < Minitest::Test\n  def test_adds\n    assert_equal 5, 2 - 3, 'two prices'\n  end\n  def test_fine; assert true; end\n  def test_error\n    raise ArgumentError, 'out of stock'\n  end\n  def test_skip; skip 'later'; end\nend\n"}
    truth_m = [test("test_adds", "test/cart_test.rb", 4, "two prices."), test("test_error", "test/cart_test.rb", 8, "ArgumentError: out of stock")]
    case("minitest", "plain", "ruby test/cart_test.rb", m, truth_m, project="mini")
    case("minitest", "verbose", "ruby test/cart_test.rb -v", m, truth_m, project="mini")
    cop = {"a.rb": "def f(a,b)\n  x = 3\n  if a == nil then return \"x\" end\nend\n", ".rubocop.yml": "AllCops:\n  NewCops: disable\n  SuggestExtensions: false\n"}
    rub = lambda cwd: [diag(o["cop_name"], f["path"], o["location"]["line"], re.sub(r"^[\w/]+: ", "", o["message"]), msgs=[o["message"].replace("`", "")]) for f in json.loads(output_of("rubocop -f json", cwd))["files"] for o in f["offenses"]]
    for name, args in [("plain", ""), ("emacs", "-f emacs"), ("clang", "-f clang"), ("colours", "--color"), ("simple", "-f simple"), ("github", "-f github"), ("offenses", "-f quiet")]:
        case("rubocop", name, f"rubocop {args}".strip(), cop, rub, project="cop")
    case("rubocop", "green", "rubocop", {"a.rb": "# frozen_string_literal: true\n\nputs 'x'\n", ".rubocop.yml": cop[".rubocop.yml"]}, [], project="cop")

EX = """
defmodule CartTest do
  use ExUnit.Case
  test "adds two prices" do
    assert Cart.add(2, 3) == 5
  end
  test "fine", do: assert true
  describe "when full" do
    test "raises" do
      raise ArgumentError, "out of stock"
    end
    test "matches" do
      assert {:ok, _} = {:error, :full}
    end
    @tag :skip
    test "later", do: flunk("no")
  end
  test "flunks" do
    IO.puts("  1) test not me (NotMeTest)\\n     test/x_test.exs:3")
    flunk("on purpose")
  end
  test "undefined" do
    Cart.nowhere(1)
  end
end
"""
def exunit():
    p = "shop_ex"; files = {"mix.exs": "defmodule Cart.MixProject do\n  use Mix.Project\n  def project, do: [app: :cart, version: \"0.1.0\", elixir: \"~> 1.14\"]\nend\n", "lib/cart.ex": "defmodule Cart do\n  def add(a, b), do: a - b\nend\n", "test/test_helper.exs": "ExUnit.start()\n", "test/cart_test.exs": EX}
    truth = [test("adds two prices", "test/cart_test.exs", msg="Assertion with == failed", places=[["test/cart_test.exs", 4], ["test/cart_test.exs", 3]]), test("when full raises", "test/cart_test.exs", msg="(ArgumentError) out of stock", places=[["test/cart_test.exs", 9], ["test/cart_test.exs", 8]]), test("when full matches", "test/cart_test.exs", msg="match (=) failed", places=[["test/cart_test.exs", 12], ["test/cart_test.exs", 11]]), test("flunks", "test/cart_test.exs", msg="on purpose", places=[["test/cart_test.exs", 19], ["test/cart_test.exs", 17]]), test("undefined", "test/cart_test.exs", msg="(UndefinedFunctionError) function Cart.nowhere/1 is undefined", places=[["test/cart_test.exs", 22], ["test/cart_test.exs", 21]])]
    for name, args in [("plain", ""), ("trace", "--trace"), ("colours", "--color"), ("seed", "--seed 0"), ("max", "--max-failures 1 --seed 0")]:
        case("exunit", name, f"mix test {args}".strip(), files, truth[:1] if name == "max" else truth, project=p)
    case("exunit", "compile", "mix test", files | {"lib/cart.ex": "defmodule Cart do\n  def add(a, b), do: a - c\nend\n"}, [diag("", "lib/cart.ex", 2, "undefined function c/0")], project=p, verdict="broken")
    case("exunit", "syntax", "mix test", files | {"test/cart_test.exs": "defmodule CartTest do\n  use ExUnit.Case\n  test \"a\" do\n"}, [], project=p, verdict="broken")
    case("exunit", "warnings", "mix compile --warnings-as-errors", files | {"lib/cart.ex": "defmodule Cart do\n  def add(a, b), do: a\nend\n"}, [diag("", "lib/cart.ex", 2, "variable \"b\" is unused")], project=p)
    case("exunit", "green", "mix test", files | {"test/cart_test.exs": "defmodule CartTest do\n  use ExUnit.Case\n  test \"a\", do: assert 1\nend\n"}, [], project=p)

def containers():
    p = "image"; files = {"Dockerfile": "FROM debian\nRUN cd /tmp && apt-get update && apt-get install -y curl\nRUN sudo ls\nCOPY a b c\nADD http://x/y.tar /z\nMAINTAINER me\nCMD echo hi\n"}
    had = lambda cwd: [diag(m["code"], m["file"], m["line"], m["message"]) for m in json.loads(output_of("hadolint -f json Dockerfile", cwd))]
    for name, args in [("plain", ""), ("colours", "--no-color"), ("gnu", "-f gnu"), ("threshold", "-t info"), ("json", "-f json"), ("checkstyle", "-f checkstyle")]:
        case("hadolint", name, f"hadolint {args} Dockerfile".replace("  ", " "), files, had, project=p)
    case("hadolint", "syntax", "hadolint Dockerfile", {"Dockerfile": "FROM debian\nRUNN ls\n"}, [diag("", "Dockerfile", 2, "missing whitespace")], project=p)
    case("hadolint", "no-file", "hadolint nowhere", files, [], project=p, verdict="broken")
    case("hadolint", "green", "hadolint Dockerfile", {"Dockerfile": "FROM debian:12\nCOPY a /b\n"}, [], project=p)

if __name__ == "__main__":
    for recipe in (shellcheck, bats, phpunit, rspec, exunit, containers): recipe()
