//! What is weakening and what is not, language by language.

mod listed;
mod switched_off;

pub(super) use self::listed::Listed;
use super::*;

type Table<'a> = &'a [(&'a str, Option<&'a str>, Option<&'a str>)];

fn messages(files: Table<'_>) -> Vec<String> {
    let edited: Vec<Edited> = files
        .iter()
        .map(|(path, before, after)| Edited {
            path: (*path).to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        })
        .collect();
    // What only counts for red tests has tests of its own.
    of_plans(&edited, &GatePlan::default(), &GatePlan::default())
        .into_iter()
        .filter(|one| !matches!(one.weight, Weight::IfRedFirst | Weight::TakenIn))
        .map(|one| one.finding.message)
        .collect()
}

/// Everything found between two plans on these files.
pub(super) fn of_plans(edited: &[Edited], first: &GatePlan, now: &GatePlan) -> Vec<TamperFinding> {
    let files = Listed(edited);
    let reach = Reach::of(first, &files);
    let new = edited.iter().filter(|edit| edit.before.is_none());
    let added: Vec<String> = new.map(|edit| edit.path.clone()).collect();
    // A file that did not change is there for its content only.
    let changed: Vec<Edited> =
        edited.iter().filter(|edit| edit.before != edit.after).cloned().collect();
    let context =
        Context { edited: &changed, files: &files, added: &added, reach: &reach, first, now };
    suspicions(&context).into_iter().map(|one| one.found).collect()
}

fn edit(path: &str, before: &str, after: &str) -> Vec<String> {
    messages(&[(path, Some(before), Some(after))])
}

/// In each language a file with two tests, `a` and `b`.
const TWO: [(&str, &str); 8] = [
    (
        "src/lib.rs",
        "#[test]\nfn a() {\n    assert_eq!(add(1, 2), 3);\n}\n\n#[tokio::test]\nasync fn b() {\n    \
         assert!(fetch(\"x\").await.is_ok());\n}\n",
    ),
    (
        "tests/test_x.py",
        "def test_a():\n    assert add(1, 2) == 3\n\n\n@pytest.mark.slow\nasync def test_b(client):\n    \
         assert await client.get('/x') == 200\n",
    ),
    (
        "src/x.test.ts",
        "describe('x', () => {\n  it('a', () => {\n    expect(add(1, 2)).toBe(3)\n  })\n  \
         test(\"b\", async () => {\n    expect(await load('y')).toEqual({ z: 1 })\n  })\n})\n",
    ),
    (
        "x_test.go",
        "func TestA(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n\n\
         func TestB(t *testing.T) {\n\trequire.NoError(t, load(\"y\"))\n}\n",
    ),
    (
        "src/test/java/XTest.java",
        "class XTest {\n  @Test\n  void a() {\n    assertEquals(3, add(1, 2));\n  }\n\n  \
         @ParameterizedTest\n  @ValueSource(ints = {1, 2})\n  public void b(int x) {\n    \
         assertTrue(load(x).isOpen());\n  }\n}\n",
    ),
    (
        "src/test/kotlin/XTest.kt",
        "class XTest {\n  @Test\n  fun `a`() {\n    assertEquals(3, add(1, 2))\n  }\n\n  @Test\n  \
         fun b() = runTest {\n    assertTrue(load(4).open)\n  }\n}\n",
    ),
    (
        "spec/x_spec.rb",
        "describe X do\n  it \"a\" do\n    expect(add(1, 2)).to eq(3)\n  end\n\n  it 'b' do\n    \
         expect(load('y')).to be_open\n  end\nend\n",
    ),
    (
        "test/x_test.rb",
        "class XTest < Minitest::Test\n  def test_a\n    assert_equal 3, add(1, 2)\n  end\n\n  \
         test \"b\" do\n    assert load('y').open?\n  end\nend\n",
    ),
];

#[test]
fn the_tests_of_every_language_are_found_by_name() {
    for (path, text) in TWO {
        let language = Language::of(path).unwrap();
        assert!(may_hold_tests(language, path), "{path}");
        let names: Vec<String> = tests_of(language, text)
            .iter()
            .map(|test| test.name.trim_start_matches("test_").replace("Test", "").to_lowercase())
            .collect();
        assert_eq!(names, ["a", "b"], "{path}");
        assert!(tests_of(language, text).iter().all(|test| !test.skipped), "{path}");
    }
}

#[test]
fn a_deleted_test_file_is_one_finding_and_a_moved_one_is_none() {
    for (path, text) in TWO {
        let found = messages(&[(path, Some(text), None)]);
        assert_eq!(found.len(), 1, "{path} {found:?}");
        assert!(found[0].starts_with(&format!("test file {path} was deleted with its 2 tests")));
        let moved = path.replace('x', "moved/y").replace('X', "moved/Y").replace("lib", "other");
        let moved = if path.ends_with("rb") { path.replace("x_", "y_") } else { moved };
        let moved =
            if path.ends_with("py") { path.replace("test_x", "moved/test_y") } else { moved };
        assert_eq!(messages(&[(path, Some(text), None), (&moved, None, Some(text))]), [""; 0]);
        assert_eq!(messages(&[(path, None, Some(text))]), [""; 0], "{path}");
        assert_eq!(edit(path, text, &format!("\n\n{text}\n")), [""; 0], "{path}");
    }
}

#[test]
fn a_deleted_or_commented_test_is_named_with_its_file() {
    let (rust, text) = TWO[0];
    let without = "#[tokio::test]\nasync fn b() {\n    assert!(fetch(\"x\").await.is_ok());\n}\n";
    assert_eq!(edit(rust, text, without), ["test `a` was deleted from src/lib.rs"]);
    let commented = text.replace("#[test]", "/*").replacen("\n}\n", "\n}\n*/", 1);
    assert_eq!(edit(rust, text, &commented), ["test `a` was deleted from src/lib.rs"]);
    let unmarked = text.replace("#[test]\n", "");
    assert_eq!(edit(rust, text, &unmarked), ["test `a` was deleted from src/lib.rs"]);
    let (python, text) = TWO[1];
    let renamed = text.replace("def test_a", "def no_test_a");
    assert_eq!(edit(python, text, &renamed), ["test `test_a` was deleted from tests/test_x.py"]);
    let (js, text) = TWO[2];
    let commented: String = text
        .lines()
        .map(|line| {
            if (2..5).any(|n| text.lines().nth(n - 1) == Some(line)) {
                format!("// {line}\n")
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    assert_eq!(edit(js, text, &commented), ["test `a` was deleted from src/x.test.ts"]);
    let not_found =
        messages(&[("src/x.test.ts", Some(text), None), ("src/x.ts", None, Some(text))]);
    assert_eq!(not_found.len(), 1, "a file no runner looks into");
    let (java, text) = TWO[4];
    let unmarked = text.replace("  @Test\n", "");
    assert_eq!(edit(java, text, &unmarked), [format!("test `a` was deleted from {java}")]);
}

#[test]
fn newly_skipped_tests_are_found_in_every_language() {
    let cases = [
        (0, "#[test]", "#[test]\n#[ignore]"),
        (0, "#[test]", "#[ignore = \"flaky\"]\n#[test]"),
        (0, "#[test]", "#[cfg_attr(miri, ignore)]\n#[test]"),
        (0, "#[test]", "#[cfg(any())]\n#[test]"),
        (1, "def test_a", "@pytest.mark.skip\ndef test_a"),
        (1, "def test_a", "@pytest.mark.skipif(\n    True, reason='x'\n)\ndef test_a"),
        (1, "def test_a", "@pytest.mark.xfail(strict=False)\ndef test_a"),
        (1, "def test_a", "@unittest.skip('later')\ndef test_a"),
        (1, "    assert add", "    pytest.skip('x')\n    assert add"),
        (2, "it('a'", "it.skip('a'"),
        (2, "it('a'", "xit('a'"),
        (2, "test(\"b\"", "test.skip(\"b\""),
        (2, "it('a', () => {", "it('a', { skip: true }, () => {"),
        (2, "it('a', () => {\n    expect(add(1, 2)).toBe(3)\n  })", "it.todo('a')"),
        (2, "it('a'", "it.skip.each([1, 2])('a'"),
        (2, "    expect(add", "    test.skip(true, 'x')\n    expect(add"),
        (3, "\tif add", "\tt.Skip(\"later\")\n\tif add"),
        (3, "\trequire", "\tt.SkipNow()\n\trequire"),
        (4, "@Test", "@Test\n  @Disabled(\"later\")"),
        (4, "@Test", "@Ignore @Test"),
        (4, "@Test", "@Test\n  @EnabledIfEnvironmentVariable(named = \"X\", matches = \"y\")"),
        (5, "@Test\n  fun `a`", "@Disabled\n  @Test\n  fun `a`"),
        (6, "it \"a\"", "xit \"a\""),
        (6, "    expect(add", "    pending \"later\"\n    expect(add"),
        (6, "    expect(add", "    skip\n    expect(add"),
        (6, "it \"a\" do", "it \"a\", skip: true do"),
        (7, "    assert_equal", "    skip \"later\"\n    assert_equal"),
    ];
    for (index, from, to) in cases {
        let (path, text) = TWO[index];
        assert!(text.contains(from), "{path}: {from}");
        let after = text.replacen(from, to, 1);
        let found = edit(path, text, &after);
        assert_eq!(found.len(), 1, "{path}: {to}: {found:?}");
        assert!(found[0].contains("is now skipped in "), "{path}: {to}: {found:?}");
        assert_eq!(edit(path, &after, text), [""; 0], "{path}: {to} taken back");
        assert_eq!(edit(path, &after, &format!("\n{after}")), [""; 0], "{path}: {to} as before");
    }
}

#[test]
fn a_skipped_group_skips_all_its_tests() {
    let cases = [
        (1, "def test_a", "pytestmark = pytest.mark.skip\n\ndef test_a"),
        (2, "describe('x'", "describe.skip('x'"),
        (2, "describe('x'", "xdescribe('x'"),
        (3, "func TestA", "//go:build ignore\n\nfunc TestA"),
        (4, "class XTest", "@Disabled\nclass XTest"),
        (5, "class XTest", "@Ignore(\"x\")\nclass XTest"),
        (6, "describe X", "xdescribe X"),
    ];
    for (index, from, to) in cases {
        let (path, text) = TWO[index];
        let after = text.replacen(from, to, 1);
        let after = if to.starts_with("//") {
            format!("{to}{}", text.replacen(from, "", 1))
        } else {
            after
        };
        let found = edit(path, text, &after);
        assert_eq!(found.len(), 2, "{path}: {to}: {found:?}");
    }
    let class = "class TestX:\n    def test_a(self):\n        assert f(1) == 2\n";
    let skipped = format!("@pytest.mark.skip(reason='x')\n{class}");
    assert_eq!(edit("test_x.py", class, &skipped), ["test `test_a` is now skipped in test_x.py"]);
}

#[test]
fn a_test_that_is_new_and_skipped_is_nobodys_loss() {
    let (path, text) = TWO[0];
    let after =
        format!("{text}\n#[test]\n#[ignore = \"needs a network\"]\nfn c() {{ assert!(x()); }}\n");
    assert_eq!(edit(path, text, &after), [""; 0]);
    let (path, text) = TWO[3];
    let after = text.replacen("\tif add", "\tif testing.Short() {\n\t\tt.Skip()\n\t}\n\tif add", 1);
    assert_eq!(edit(path, text, &after), [""; 0]);
}

#[test]
fn picking_out_one_test_is_found() {
    let (path, text) = TWO[2];
    for (from, to) in
        [("it('a'", "it.only('a'"), ("it('a'", "fit('a'"), ("describe('x'", "describe.only('x'")]
    {
        let after = text.replacen(from, to, 1);
        let found = edit(path, text, &after);
        assert_eq!(
            found,
            ["only part of the tests of src/x.test.ts still runs: `only` was added"],
            "{to}"
        );
        assert_eq!(edit(path, &after, text), [""; 0]);
    }
}

#[test]
fn refactorings_are_not_weakening() {
    let rust = "#[test]\nfn adds_small() { assert_eq!(add(1, 2), 3); }\n\
                #[test]\nfn adds_large() { assert_eq!(add(100, 200), 300); }\n";
    let cases = [
        // renamed
        rust.replace("adds_small", "sums_of_small_numbers"),
        // renamed and rearranged
        rust.replace("fn adds_small() { assert_eq!(add(1, 2), 3); }", "fn small() { let sum = add(1, 2); assert_eq!(sum, 3); }"),
        // put into a module
        format!("mod inner {{\n    use super::*;\n{rust}}}\n"),
        // merged into a table
        "#[test]\nfn adds() {\n for (a, b, c) in [(1, 2, 3), (100, 200, 300)] { assert_eq!(add(a, b), c); }\n}\n".to_owned(),
        // merged into cases
        "#[rstest]\n#[case(1, 2, 3)]\n#[case(100, 200, 300)]\nfn adds(#[case] a: u8, #[case] b: u8, #[case] c: u8) { assert_eq!(add(a, b), c); }\n".to_owned(),
        // one moved into the other
        "#[test]\nfn adds_small() { assert_eq!(add(1, 2), 3); assert_eq!(add(100, 200), 300); }\n".to_owned(),
        // through a helper
        rust.replace("assert_eq!(add(1, 2), 3)", "adds_up(1, 2, 3)"),
        // another expectation
        rust.replace("300", "301"),
        // other attributes
        rust.replace("#[test]\nfn adds_small", "#[test]\n#[cfg(unix)]\n#[allow(dead_code)]\nfn adds_small"),
    ];
    for after in cases {
        assert_eq!(edit("src/lib.rs", rust, &after), [""; 0], "{after}");
    }
}

#[test]
fn what_only_looks_like_a_refactoring_is_weakening() {
    let rust = "#[test]\nfn adds_small() { assert_eq!(add(1, 2), 3); }\n\
                #[test]\nfn parses() { assert_eq!(parse(\"a=1;b=2\").unwrap().len(), 2); }\n";
    let cases = [
        // replaced by something else
        (
            rust.replace(
                "fn parses() { assert_eq!(parse(\"a=1;b=2\").unwrap().len(), 2); }",
                "fn exists() { let _ = Thing::new(); }",
            ),
            "test `parses` was deleted from src/lib.rs",
        ),
        // renamed and emptied
        (
            rust.replace(
                "fn parses() { assert_eq!(parse(\"a=1;b=2\").unwrap().len(), 2); }",
                "fn parsing() { assert!(true); }",
            ),
            "test `parses` was deleted from src/lib.rs",
        ),
        // renamed and skipped
        (
            rust.replace("#[test]\nfn parses", "#[test]\n#[ignore]\nfn parsing"),
            "test `parsing` is now skipped in src/lib.rs",
        ),
    ];
    for (after, expected) in cases {
        assert_eq!(edit("src/lib.rs", rust, &after), [expected], "{after}");
    }
    let moved = messages(&[
        ("src/lib.rs", Some(rust), Some("")),
        (
            "tests/moved.rs",
            None,
            Some(
                "#[test]\nfn adds_small() { assert_eq!(add(1, 2), 3); }\n#[test]\nfn parses() { }\n",
            ),
        ),
    ]);
    assert_eq!(moved, ["test `parses` was emptied in tests/moved.rs"]);
}

#[test]
fn code_that_is_no_test_is_left_alone() {
    let cases = [
        ("src/db.py", "def test_connection():\n    assert ping()\n", ""),
        ("src/x.ts", "if (/a/.test(b)) { it('x', () => {}) }", ""),
        ("src/a.go", "func TestData() {}\n", ""),
        ("src/lib.rs", "fn test() { assert!(x()); }\n#[cfg(test)]\nmod tests {}\n", ""),
        ("tests/conftest.py", "@pytest.fixture\ndef test_client():\n    return Client()\n", ""),
        ("src/A.java", "class A { void test() { assertEquals(1, 2); } }", ""),
        ("tests/x.test.js", "const ok = re.test('it(1)'); // it('x', () => {})\n", ""),
        ("test/helper.js", "export function test(name) { return name }\n", ""),
    ];
    for (path, before, after) in cases {
        assert_eq!(edit(path, before, after), [""; 0], "{path}");
    }
}

#[test]
fn deleted_test_files_of_other_languages_are_noticed() {
    let gone: Table<'_> = &[("t/add.bats", Some("id1"), None), ("src/add.c", Some("id2"), None)];
    assert_eq!(messages(gone), ["test file t/add.bats was deleted"]);
    let moved: Table<'_> = &[("a_test.c", Some("id1"), None), ("t/b_test.c", None, Some("id1"))];
    assert_eq!(messages(moved), [""; 0]);
    let edited: Table<'_> = &[("FooTest.php", Some("id1"), Some("id2"))];
    assert_eq!(messages(edited), [""; 0]);
}

#[test]
fn a_finding_keeps_its_identity_when_lines_move() {
    let (path, text) = TWO[0];
    let identity = |before: &str| {
        let after = before.replace("#[test]", "#[test]\n#[ignore]");
        let file =
            Edited { path: path.to_owned(), before: Some(before.to_owned()), after: Some(after) };
        let plan = GatePlan::default();
        of_plans(&[file], &plan, &plan)[0].finding.identity("tamper")
    };
    assert_eq!(identity(text), identity(&format!("// one\n// two\n{text}")));
}

/// Would take minutes if any of it were looked at once per test.
#[test]
fn a_file_of_nothing_but_openings_is_read_to_its_end() {
    let openings = [
        ("src/lib.rs", "#[test] fn a() { "),
        ("test_x.py", "def test_a(:\n"),
        ("x.test.js", "it.skip('a', () => { "),
        ("x_test.go", "func TestA() { "),
        ("XTest.java", "@Test void a() { "),
        ("x_spec.rb", "it 'a' do\n"),
        ("x.test.js", "/* `"),
        ("src/lib.rs", "/* "),
    ];
    for (path, opening) in openings {
        edit(path, &opening.repeat(10_000), "");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reading_panic(text in "(?s)[#@\\[\\](){}'\"`/*\\\\ \n\tafnit:.=,]{0,200}") {
        for (path, _) in TWO {
            edit(path, &text, "");
            edit(path, "", &text);
        }
    }
}
