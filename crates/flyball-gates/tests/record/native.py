"""C, C++, Go, Rust, Java: compilers, test frameworks, analysers."""
from common import *

C = "#include <stdio.h>\n#include \"cart.h\"\n\nint total(struct cart *c) {\n  int sum = \"zero\";\n  for (int i = 0; i < c->count; i++) sum += c->price[i];\n  undeclared = 3;\n  return sum\n}\n\nint main(void) {\n  total(1, 2);\n  printf(\"%s\\n\", 42);\n}\n"
H = "struct cart { int size; int price[4]; };\n"
def gcc_truth(command):
    def truth(cwd):
        errors, warnings = [], []
        for line in output_of(f"{command} -fdiagnostics-format=json 2>&1 >/dev/null", cwd).splitlines():
            if not line.startswith("["): continue
            for m in json.loads(line):
                at = m["locations"][0]["caret"] if m["locations"] else {}
                (errors if m["kind"] in ("error", "fatal error") else warnings).append(diag(m.get("option") or "", at.get("file") or "", at.get("line"), m["message"]))
        return errors, warnings
    return truth
def clang_truth(command):
    def truth(cwd):
        rows = re.findall(r"^(\S+?):(\d+):\d+: (fatal error|error|warning): (.*?)(?: \[(-W[\w=,+-]+)\])?$", output_of(f"{command} -fno-color-diagnostics 2>&1", cwd), re.M)
        return [diag(o.split(",")[-1], f, int(l), m) for f, l, k, m, o in rows if "error" in k], [diag(o, f, int(l), m) for f, l, k, m, o in rows if k == "warning"]
    return truth
def compilers():
    p = "native"; files = {"cart.c": C, "cart.h": H}
    for name, args in [("errors", "-c cart.c -o /dev/null"), ("colours", "-fdiagnostics-color=always -c cart.c -o /dev/null"), ("wall", "-Wall -Wextra -c cart.c -o /dev/null")]:
        t = gcc_truth(f"gcc {args}"); case("gcc", name, f"gcc {args}", files, lambda c: t(c)[0], also=lambda c: t(c)[1], project=p)
        u = clang_truth(f"clang {args.replace('-fdiagnostics-color=always', '')}"); case("clang", name, f"clang {args}", files, lambda c: u(c)[0], also=lambda c: u(c)[1], project=p)
    warn = {"a.c": "#include <stdio.h>\nint main(int argc, char **argv) {\n  int unused = 3;\n  if (argc = 2) printf(\"%s\\n\", argc);\n}\n"}
    t = gcc_truth("gcc -Wall -Wextra -Werror -c a.c -o /dev/null"); case("gcc", "werror", "gcc -Wall -Wextra -Werror -c a.c -o /dev/null", warn, lambda c: t(c)[0] or t(c)[1], project=p)
    u = clang_truth("clang -Wall -Wextra -Werror -c a.c -o /dev/null"); case("clang", "werror", "clang -Wall -Wextra -Werror -c a.c -o /dev/null", warn, lambda c: u(c)[0], project=p)
    link = {"a.c": "int helper(int);\nextern int shared;\nint main(void) { return helper(shared); }\n", "b.c": "int main(void) { return 0; }\n", "Makefile": "all:\n\tgcc a.c -o a\n"}
    undefined = [diag("", "a.c", msg="undefined reference to `shared'"), diag("", "a.c", msg="undefined reference to `helper'")]
    case("gcc", "link-undefined", "gcc a.c -o a", link, undefined, project=p)
    case("gcc", "link-debug", "gcc -g a.c -o a", link, [diag("", "a.c", 3, "undefined reference to `shared'"), diag("", "a.c", 3, "undefined reference to `helper'")], project=p)
    case("gcc", "link-twice", "gcc a.c b.c -o a", link, [diag("", "b.c", msg="multiple definition of `main'")] + undefined, project=p)
    case("gcc", "link-library", "gcc b.c -o b -lnowhere", link, [diag("-lnowhere", msg="cannot find -lnowhere")], project=p)
    case("clang", "link-undefined", "clang a.c -o a", link, undefined, project=p)
    case("gcc", "make-link", "make", link, undefined, project=p, wrapper="make")
    case("gcc", "no-file", "gcc nowhere.c", link, [], project=p, verdict="broken")
    cxx = {"a.cc": "#include <string>\n#include <vector>\ntemplate <class T> T twice(T t) { return t * 2; }\nstruct A { virtual void f() = 0; };\nint main() {\n  std::string s = twice(std::string(\"a\"));\n  A a;\n  std::vector<int> v = \"x\";\n  return s.size;\n}\n"}
    t = gcc_truth("g++ -c a.cc -o /dev/null"); case("gcc", "cxx-template", "g++ -c a.cc -o /dev/null", cxx, lambda c: t(c)[0], project=p)
    u = clang_truth("clang++ -c a.cc -o /dev/null"); case("clang", "cxx-template", "clang++ -c a.cc -o /dev/null", cxx, lambda c: u(c)[0], project=p)
    tidy = {"a.cc": "#include <cstring>\nint f(char *p) {\n  if (p = 0) return 1;\n  char b[2];\n  strcpy(b, p);\n  int *q = 0;\n  return *q;\n}\n"}
    row = lambda kinds: lambda cwd: [diag(o, f, int(l), m) for f, l, k, m, o in re.findall(r"^(\S+?):(\d+):\d+: (error|warning): (.*?) \[([\w.,-]+)\]$", output_of("clang-tidy a.cc --", cwd), re.M) if k in kinds]
    case("clang-tidy", "errors", "clang-tidy --warnings-as-errors='*' a.cc --", tidy, row(("error", "warning")), project=p)
    case("clang-tidy", "checks", "clang-tidy -checks='-*,bugprone-*,modernize-use-nullptr' --warnings-as-errors='*' a.cc --", tidy, lambda cwd: [diag(o.replace(",-warnings-as-errors", ""), f, int(l), m) for f, l, m, o in re.findall(r"^(\S+?):(\d+):\d+: error: (.*?) \[([\w.,-]+)\]$", output_of("clang-tidy -checks='-*,bugprone-*,modernize-use-nullptr' --warnings-as-errors='*' a.cc --", cwd), re.M)], project=p)
    check = {"a.c": "#include <stdlib.h>\nint f(int n) {\n  int a[4];\n  a[4] = n;\n  char *p = malloc(3);\n  if (n == 1) return a[0] / (n - n);\n  int x;\n  return x;\n}\nvoid g(void) { int *q = NULL; *q = 1; }\n", "b.c": "int h(int a) { int unused = a; return a; }\n"}
    def cppcheck(args):
        def truth(cwd):
            errors, others = [], []
            for e in xml.fromstring(output_of(f"cppcheck -q {args} --xml . 2>&1 >/dev/null", cwd)).iter("error"):
                at = e.find("location")
                if at is not None: (errors if e.get("severity") == "error" else others).append(diag(e.get("id"), at.get("file"), int(at.get("line")), e.get("msg")))
            return errors, others
        return truth
    for name, args in [("quiet", "-q"), ("all", "--enable=all --suppress=missingIncludeSystem"), ("style", "-q --enable=style"), ("gcc", "-q --enable=warning --template=gcc"), ("cppcheck1", "-q --template=cppcheck1"), ("verbose", "")]:
        t = cppcheck(re.sub(r"--template=\w+|-q", "", args))
        case("cppcheck", name, f"cppcheck --error-exitcode=1 {args} .".replace("  ", " "), check, lambda c: t(c)[0], also=lambda c: t(c)[1], project="analysed")
    t = cppcheck("--enable=style"); case("cppcheck", "style-only", "cppcheck -q --error-exitcode=1 --enable=style .", {"b.c": check["b.c"]}, lambda c: t(c)[0] or t(c)[1], project="analysed")
    case("cppcheck", "green", "cppcheck --error-exitcode=1 .", {"b.c": "int h(int a) { return a; }\n"}, [], project="analysed")

GT = """
#include <gtest/gtest.h>
#include <stdexcept>
int add(int a, int b) { return a - b; }
TEST(Cart, AddsTwoPrices) { EXPECT_EQ(add(2, 3), 5) << "two prices"; }
TEST(Cart, KeepsZero) { EXPECT_EQ(add(4, 0), 4); }
TEST(Cart, Texts) {
  EXPECT_STREQ("abc", "abd");
  EXPECT_TRUE(add(1, 1));
  ASSERT_NEAR(1.0, 2.0, 0.1);
}
TEST(Cart, Throws) { throw std::runtime_error("out of stock"); }
TEST(Cart, Skipped) { GTEST_SKIP() << "later"; }
TEST(Cart, Prints) { printf("[  FAILED  ] Not.Me\\nother.cc:3: Failure\\n"); FAIL() << "on purpose"; }
class Sizes : public ::testing::TestWithParam<int> {};
TEST_P(Sizes, AreOdd) { EXPECT_EQ(GetParam() % 2, 1); }
INSTANTIATE_TEST_SUITE_P(Some, Sizes, ::testing::Values(1, 2, 3, 4));
class Fixture : public ::testing::Test { void SetUp() override { FAIL() << "set-up broke"; } };
TEST_F(Fixture, Never) {}
"""
def gtest():
    p = "gtest"; files = {"cart_test.cc": GT, "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(cart CXX)\nset(CMAKE_CXX_STANDARD 17)\nfind_package(GTest REQUIRED)\nadd_executable(cart_test cart_test.cc)\ntarget_link_libraries(cart_test GTest::gtest_main)\nenable_testing()\nadd_test(NAME cart_test COMMAND cart_test)\ninclude(GoogleTest)\nadd_executable(other_test other_test.cc)\ntarget_link_libraries(other_test GTest::gtest_main)\ngtest_discover_tests(other_test)\nadd_test(NAME sleeps COMMAND sleep 9)\nset_tests_properties(sleeps PROPERTIES TIMEOUT 1)\nadd_test(NAME missing COMMAND nowhere-at-all)\nadd_test(NAME aborts COMMAND sh -c \"kill -ABRT $$\")\nadd_test(NAME fine COMMAND true)\n",
             "other_test.cc": "#include <gtest/gtest.h>\nTEST(Other, Breaks) { EXPECT_LT(3, 2); }\nTEST(Other, Holds) { EXPECT_LT(2, 3); }\n"}
    def truth(cwd, args="", binary="build/cart_test"):
        facts = []; output_of(f"{binary} {args} --gtest_output=json:/tmp/gtest.json", cwd)
        for suite in json.load(open("/tmp/gtest.json"))["testsuites"]:
            for t in suite["testsuite"]:
                if t.get("failures"):
                    places, texts = [], []
                    for f in t["failures"]:
                        head, _, rest = f["failure"].partition("\n"); texts.append(first(rest))
                        m = re.match(r"(.*?):(\d+)$", head)
                        if m: places.append([relative(m[1]), int(m[2])])
                    facts.append(test(f"{t['classname']}.{t['name']}", places[0][0] if places else "", msg=texts[0], msgs=texts, places=places))
        return facts
    build = "cmake -S . -B build && cmake --build build -j2"
    case("gtest", "plain", "./build/cart_test", files, truth, project=p, before=build)
    for name, args in [("brief", "--gtest_brief=1"), ("colours", "--gtest_color=yes"), ("shuffle", "--gtest_shuffle --gtest_random_seed=7"), ("filter", "--gtest_filter=Cart.*"), ("fail-fast", "--gtest_fail_fast"), ("no-time", "--gtest_print_time=0")]:
        case("gtest", name, f"./build/cart_test {args}", None, lambda c: truth(c, args), project=p)
    case("gtest", "green", "./build/cart_test --gtest_filter=*Keeps*", None, [], project=p)
    def ct(cwd):
        output_of("ctest --output-junit /tmp/ctest.xml", cwd + "/build"); facts = []
        for c in xml.parse("/tmp/ctest.xml").iter("testcase"):
            if c.get("status") in ("fail", "notrun"):
                name = c.get("name"); own = {"cart_test": [["cart_test.cc", 4], ["cart_test.cc", 7]], "Other.Breaks": [["other_test.cc", 2]]}.get(name, [])
                facts.append(test(name, own[0][0] if own else "", places=own, msg=""))
        return facts
    for name, args in [("plain", ""), ("output", "--output-on-failure"), ("verbose", "-V"), ("parallel", "-j 2 --output-on-failure"), ("quiet", "-Q"), ("progress", "--progress")]:
        case("ctest", name, f"ctest {args} --test-dir build".replace("  ", " "), None, ct if name != "quiet" else [], project=p)
    case("ctest", "rerun", "ctest --test-dir build --rerun-failed --output-on-failure", None, ct, project=p)
    case("ctest", "no-tests", "ctest", {"a.txt": ""}, [], project="ctest-none")
    case("ctest", "green", "ctest --test-dir build -R fine", None, [], project=p)
    case("ctest", "cmake-error", "cmake -S . -B build && cmake --build build", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(cart C)\nfind_package(Nowhere REQUIRED)\nadd_executable(a a.c)\n"}, [diag("", "CMakeLists.txt", 3, 'By not providing "FindNowhere.cmake" in CMAKE_MODULE_PATH this project')], project="cmake")
    case("ctest", "cmake-build", "cmake -S . -B build && cmake --build build", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(cart C)\nadd_executable(a a.c)\n", "a.c": "int main(void) { return x; }\n"}, [diag("", "a.c", 1, "‘x’ undeclared")], project="cmake", wrapper="cmake")

CATCH = """
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
int add(int a, int b) { return a - b; }
TEST_CASE("adds two prices", "[cart]") { REQUIRE(add(2, 3) == 5); }
TEST_CASE("keeps zero") { REQUIRE(add(4, 0) == 4); }
TEST_CASE("with sections") {
  SECTION("first") { CHECK(1 == 1); }
  SECTION("second") {
    CHECK(std::string("abc") == "abd");
    CHECK_FALSE(true);
  }
}
TEST_CASE("throws") { throw std::runtime_error("out of stock"); }
SCENARIO("a cart is emptied") { GIVEN("a full cart") { WHEN("it is cleared") { THEN("nothing is left") { REQUIRE(3 == 0); } } } }
TEST_CASE("explicit") { INFO("with a note"); FAIL("on purpose"); }
"""
def catch2():
    p = "catch2"
    def truth(cwd):
        facts = []
        for case_ in xml.fromstring(output_of("./cart_test -r xml", cwd)).iter("TestCase"):
            places = [[e.get("filename"), int(e.get("line"))] for e in case_.iter() if (e.tag == "Expression" and e.get("success") == "false") or e.tag in ("Failure", "Exception")]
            texts = [first(e.findtext("Original") if e.tag == "Expression" else e.text) for e in case_.iter() if (e.tag == "Expression" and e.get("success") == "false") or e.tag in ("Failure", "Exception")]
            if places: facts.append(test(case_.get("name"), places[0][0], msg=texts[0], msgs=texts, places=places))
        return facts
    case("catch2", "plain", "./cart_test", {"cart_test.cc": CATCH}, truth, project=p, before="g++ -O0 -std=c++17 cart_test.cc -o cart_test")
    for name, args in [("compact", "-r compact"), ("success", "-s"), ("colours", "--use-colour yes"), ("abort", "-a"), ("tap", "-r tap"), ("junit", "-r junit"), ("durations", "-d yes")]:
        case("catch2", name, f"./cart_test {args}", None, (lambda c: truth(c)[:1]) if name == "abort" else truth, project=p)
    case("catch2", "none", "./cart_test nothing-like-this", None, [], project=p)
    case("catch2", "green", "./cart_test 'keeps zero'", None, [], project=p)

GO = """
package shop

import (
	"errors"
	"fmt"
	"testing"
)

func Add(a, b int) int { return a - b }

func TestAdds(t *testing.T) {
	if got := Add(2, 3); got != 5 {
		t.Errorf("Add(2, 3) = %d, want 5", got)
		t.Errorf("second complaint\\nwith two lines")
	}
}

func TestFine(t *testing.T) { fmt.Println("--- FAIL: TestNotMe (0.00s)\\n    x_test.go:3: boom") }

func TestTable(t *testing.T) {
	for _, c := range []struct{ name string; want int }{{"one", 1}, {"two words", 2}, {"a/b", 3}} {
		t.Run(c.name, func(t *testing.T) {
			if c.want > 1 {
				t.Fatalf("want %d", c.want)
			}
		})
	}
}

func TestFatal(t *testing.T) { t.Fatal(errors.New("out of stock")) }

func TestSkip(t *testing.T) { t.Skip("later") }
"""
def go_truth(cwd):
    failed, texts = [], {}
    for line in output_of("go test -json ./...", cwd).splitlines():
        if not line.startswith("{"): continue
        e = json.loads(line)
        if e.get("Test") and e["Action"] == "output": texts.setdefault(e["Test"], []).append(e["Output"])
        if e.get("Test") and e["Action"] == "fail": failed.append(e["Test"])
    facts = []
    for name in failed:
        if any(other.startswith(name + "/") for other in failed): continue
        found = re.findall(r"^\s+(\w+\.go):(\d+): (.*)$", "".join(texts.get(name, [])), re.M)
        facts.append(test(name, found[0][0] if found else "", msg=found[0][2] if found else "", places=[[f, int(l)] for f, l, _ in found]))
    return facts
def go():
    p = "shop-go"; files = {"go.mod": "module example.com/shop\n\ngo 1.19\n", "shop_test.go": GO}
    for name, args in [("plain", ""), ("verbose", "-v"), ("json", "-json"), ("count", "-count=1 -short"), ("failfast", "-failfast"), ("cover", "-cover"), ("shuffle", "-shuffle=1")]:
        case("go-test", name, f"go test {args} ./...".replace("  ", " "), files, (lambda c: go_truth(c)[:1]) if name == "failfast" else go_truth, project=p)
    case("go-test", "panic", "go test ./...", files | {"shop_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestPanics(t *testing.T) {\n\tvar m map[string]int\n\tm[\"a\"] = 1\n}\n\nfunc TestAfter(t *testing.T) {}\n"}, [test("TestPanics", "shop_test.go", 7, "panic: assignment to entry in nil map")], project=p)
    case("go-test", "exit", "go test ./...", files | {"shop_test.go": "package shop\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestExits(t *testing.T) { os.Exit(3) }\n"}, [], project=p, verdict="broken")
    case("go-test", "none", "go test ./...", {"go.mod": files["go.mod"]}, [], project=p, verdict="broken")
    case("go-test", "example", "go test ./...", files | {"shop_test.go": "package shop\n\nimport \"fmt\"\n\nfunc ExampleAdd() {\n\tfmt.Println(3)\n\t// Output: 5\n}\n"}, [test("ExampleAdd", "", msg="got:", msgs=["3"])], project=p)
    case("go-test", "race-helper", "go test -v ./...", files | {"shop_test.go": "package shop\n\nimport \"testing\"\n\nfunc check(t *testing.T, a, b int) {\n\tt.Helper()\n\tif a != b {\n\t\tt.Errorf(\"%d is not %d\", a, b)\n\t}\n}\n\nfunc TestHelped(t *testing.T) {\n\tt.Parallel()\n\tt.Log(\"a log line\")\n\tcheck(t, 1, 2)\n}\n"}, lambda c: [dict(f, msg="1 is not 2") for f in go_truth(c)], project=p)
    case("go-test", "compile", "go test ./...", files | {"shop_test.go": GO.replace("\"errors\"\n", ""), "other/a.go": "package other\n\nfunc F() int { return \"x\" }\n"}, [diag("", "shop_test.go", 29, "undefined: errors"), diag("", "other/a.go", 3, "cannot use \"x\"")], project=p, verdict="broken")
    case("go-build", "errors", "go build ./...", files | {"a.go": "package shop\n\nimport \"os\"\n\nfunc F() int {\n\tx := 1\n\treturn \"a\" + undefinedThing\n}\n"}, [diag("", "a.go", 3, 'imported and not used: "os"'), diag("", "a.go", 6, "x declared but not used"), diag("", "a.go", 7, "undefined: undefinedThing")], project=p)
    case("go-build", "vet", "go vet ./...", files | {"shop_test.go": "package shop\n", "a.go": "package shop\n\nimport \"fmt\"\n\nfunc F(s []int) {\n\tfmt.Printf(\"%d\\n\", \"a\")\n\tfor i := range s {\n\t\ti = i\n\t}\n\treturn\n\tfmt.Println()\n}\n"}, [diag("", "a.go", 6, "fmt.Printf format %d has arg \"a\" of wrong type string"), diag("", "a.go", 8, "self-assignment of i to i"), diag("", "a.go", 11, "unreachable code")], project=p)
    case("go-build", "missing-import", "go build ./...", files | {"a.go": "package shop\n\nimport \"example.com/nowhere\"\n"}, [diag("", "a.go", 3, "no required module provides package example.com/nowhere")], project=p)
    case("go-build", "syntax", "go build ./...", files | {"a.go": "package shop\n\nfunc F( {\n"}, [diag("", "a.go", 3, "syntax error: unexpected {")], project=p)
    case("go-test", "green", "go test -v ./...", files | {"shop_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestFine(t *testing.T) { t.Log(\"FAIL\") }\n"}, [], project=p)

RS = """
pub fn add(a: i32, b: i32) -> i32 { a - b }
#[cfg(test)]
mod tests {
    use super::add;
    #[test]
    fn adds() { assert_eq!(add(2, 3), 5, "two prices"); }
    #[test]
    fn fine() { println!("test tests::not_me ... FAILED"); }
    #[test]
    #[should_panic(expected = "boom")]
    fn panics() { panic!("another word"); }
    #[test]
    #[should_panic]
    fn does_not_panic() {}
    #[test]
    fn results() -> Result<(), String> { Err("out of stock".into()) }
    #[test]
    #[ignore = "later"]
    fn later() {}
    #[test]
    fn prints() { println!("error: not this\\n  --> src/lib.rs:1:1"); None::<i32>.expect("nothing there"); }
}
"""
def rust():
    p = "shop-rs"; toml = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
    files = {"Cargo.toml": toml, "src/lib.rs": RS}
    truth = [test("tests::adds", "src/lib.rs", 6, "assertion `left == right` failed: two prices"), test("tests::panics", "src/lib.rs", 11, "panic did not contain expected string"), test("tests::does_not_panic", "src/lib.rs", msg="test did not panic as expected"), test("tests::results", "src/lib.rs", msg="Error: \"out of stock\""), test("tests::prints", "src/lib.rs", 21, "nothing there")]
    for name, args in [("plain", ""), ("quiet", "-q"), ("colours", "--color always -- --color always"), ("nocapture", "-- --nocapture"), ("one-thread", "-- --test-threads=1 --show-output"), ("lib", "--lib --no-fail-fast")]:
        case("cargo-test", name, f"cargo test {args}".strip(), files, truth, project=p)
    case("cargo-test", "backtrace", "cargo test", files, truth, project=p, env={"RUST_BACKTRACE": "1"})
    case("cargo-test", "doc", "cargo test", files | {"src/lib.rs": "/// Adds.\n/// ```\n/// assert_eq!(shop::add(2, 3), 5);\n/// ```\n/// ```\n/// shop::nowhere();\n/// ```\npub fn add(a: i32, b: i32) -> i32 { a - b }\n"}, [test("src/lib.rs - add (line 2)", "src/lib.rs", 3, "assertion `left == right` failed"), test("src/lib.rs - add (line 5)", "src/lib.rs", 6, "cannot find function `nowhere` in crate `shop`")], project=p)
    case("cargo-test", "abort", "cargo test", files | {"src/lib.rs": "#[test]\nfn aborts() { std::process::abort(); }\n#[test]\nfn fine() {}\n"}, [], project=p, verdict="broken")
    case("cargo-test", "segfault", "cargo test", files | {"src/lib.rs": "#[test]\nfn overflows() { fn f(n: u64) -> u64 { let a = [n; 512]; if n == 0 { 0 } else { std::hint::black_box(&a); f(n + 1) + a[3] } } f(1); }\n"}, [], project=p, verdict="broken")
    case("cargo-test", "integration", "cargo test --no-fail-fast", files | {"src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { a - b }\n", "tests/one.rs": "#[test]\nfn one() { assert!(shop::add(1, 1) == 2, \"sum was {}\", shop::add(1, 1)); }\n", "tests/two.rs": "mod common;\n#[test]\nfn two() { common::check(3); }\n", "tests/common/mod.rs": "#[track_caller]\npub fn check(n: i32) { assert!(n < 3); }\n"}, [test("one", "tests/one.rs", 2, "sum was 0"), test("two", "tests/two.rs", 3, "assertion failed: n < 3")], project=p)
    bad = {"Cargo.toml": toml, "src/lib.rs": "use std::nowhere::Thing;\npub fn f(a: &str) -> i32 {\n    let unused = 3;\n    a.len()\n}\npub fn g() { let v = vec![1]; drop(v); println!(\"{:?}\", v); undefined(); }\n"}
    def rustc(command):
        def find(cwd):
            facts = []
            for line in output_of(f"{command} --message-format json 2>/dev/null", cwd).splitlines():
                m = json.loads(line).get("message") or {}
                if m.get("level") == "error" and m.get("spans"):
                    s = next(s for s in m["spans"] if s["is_primary"]); facts.append(diag((m.get("code") or {}).get("code") or "", s["file_name"], s["line_start"], m["message"]))
            return facts
        return find
    for name, command in [("check", "cargo check"), ("short", "cargo check --message-format short"), ("colours", "cargo build --color always"), ("quiet", "cargo check -q"), ("json", "cargo check --message-format json")]:
        case("rustc", name, command, bad, rustc("cargo check"), project=p)
    case("rustc", "test-build", "cargo test", bad, rustc("cargo check --tests"), project=p, verdict="broken")
    case("rustc", "manifest", "cargo check", {"Cargo.toml": "[package]\nname = \"shop\"\nverion = 3\n[dependencies\n"}, [], project=p, verdict="broken")
    case("rustc", "no-manifest", "cargo test", {"a.rs": ""}, [], project="no-rs", verdict="broken")
    lint = {"Cargo.toml": toml, "src/lib.rs": "pub fn f(v: &Vec<i32>) -> bool {\n    let x = 3;\n    if v.len() == 0 { return true; }\n    return false;\n}\npub fn g(a: i32) -> i32 { let b = a; b.clone() + 0 }\n"}
    clippy = rustc("touch src/lib.rs; cargo clippy --all-targets")
    def denied(cwd):
        facts = []
        for line in output_of("touch src/lib.rs; cargo clippy --message-format json -- -D warnings 2>/dev/null", cwd).splitlines():
            m = json.loads(line).get("message") or {}
            if m.get("level") == "error" and m.get("spans"):
                s = next(s for s in m["spans"] if s["is_primary"]); facts.append(diag((m.get("code") or {}).get("code") or "", s["file_name"], s["line_start"], m["message"]))
        return facts
    for name, command in [("denied", "cargo clippy -- -D warnings"), ("colours", "cargo clippy --color always -- -D warnings"), ("short", "cargo clippy --message-format short -- -D warnings")]:
        case("clippy", name, command, lint, denied, project=p)
    case("rustfmt", "check", "cargo fmt --check", lint, [diag("", "src/lib.rs", 1)], project=p)
    for name, args in [("plain", ""), ("all", "--no-fail-fast"), ("levels", "--no-fail-fast --status-level all --final-status-level all"), ("colours", "--no-fail-fast --color always"), ("never", "--no-fail-fast --failure-output never"), ("final", "--no-fail-fast --failure-output final --status-level fail"), ("immediate-final", "--no-fail-fast --failure-output immediate-final"), ("success", "--no-fail-fast --success-output immediate"), ("nocapture", "--no-fail-fast --no-capture"), ("retries", "--no-fail-fast --retries 1")]:
        case("nextest", name, f"cargo nextest run {args}".strip(), files, truth[:3:2] if name == "plain" else truth, project=p, also=truth)
    case("nextest", "abort", "cargo nextest run --no-fail-fast", files | {"src/lib.rs": "#[test]\nfn aborts() { std::process::abort(); }\n#[test]\nfn fine() {}\n#[test]\nfn exits() { std::process::exit(3); }\n"}, [test("aborts", msg=""), test("exits", msg="")], project=p)
    case("nextest", "no-tests", "cargo nextest run", {"Cargo.toml": toml, "src/lib.rs": ""}, [], project=p, verdict="broken")
    case("nextest", "green", "cargo nextest run fine", files, [], project=p)

def java():
    p = "shop-java"; files = {"A.java": "import java.util.*;\n\nclass A {\n    int total(List<Integer> items) {\n        String sum = 0;\n        for (int i : items) sum += i.price;\n        return sum;\n    }\n    void broken() { undefinedThing(); }\n}\n"}
    truth = [diag("", "A.java", 5, "incompatible types: int cannot be converted to String"), diag("", "A.java", 6, "int cannot be dereferenced"), diag("", "A.java", 7, "incompatible types: String cannot be converted to int"), diag("", "A.java", 9, "cannot find symbol")]
    case("javac", "errors", "javac A.java", files, truth, project=p)
    case("javac", "lint", "javac -Xlint:all -Werror A.java", {"A.java": "import java.util.*;\n\nclass A {\n    List items = new ArrayList();\n    void f(int a) { switch (a) { case 1: a = 2; case 2: a = 3; } }\n}\n"}, [diag("rawtypes", "A.java", 4, "found raw type: List"), diag("rawtypes", "A.java", 4, "found raw type: ArrayList")], project=p)
    case("javac", "syntax", "javac A.java", {"A.java": "class A {\n    void f( {\n    int x = 3\n}\n"}, lambda c: [diag("", "A.java", int(l), m) for l, m in re.findall(r"^A\.java:(\d+): error: (.*)$", output_of("javac A.java 2>&1", c), re.M)], project=p)
    case("javac", "no-file", "javac B.java", files, [], project=p, verdict="broken")
    case("javac", "packages", "javac -d out src/shop/A.java", {"src/shop/A.java": "package shop;\nimport org.nowhere.Thing;\nclass A { Thing t; }\n"}, [diag("", "src/shop/A.java", 2, "package org.nowhere does not exist"), diag("", "src/shop/A.java", 3, "cannot find symbol")], project=p)

if __name__ == "__main__":
    for recipe in (compilers, gtest, catch2, go, rust, java): recipe()
