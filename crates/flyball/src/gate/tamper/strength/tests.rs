//! Tests before and now, and whether they became weaker.

use super::super::tests_of::tests_of;
use super::Language::{Go, JavaScript, Jvm, Python, Ruby, Rust};
use super::*;

fn weakened(language: Language, before: &str, after: &str) -> Option<&'static str> {
    let one = |text| tests_of(language, text).into_iter().next().unwrap();
    weakness(&one(before), &one(after))
}

const EMPTIED: Option<&str> = Some("was emptied");
const RETURNS: Option<&str> = Some("returns before it checks anything");
const NOTHING: Option<&str> = Some("no longer checks anything");
const ALWAYS: Option<&str> = Some("now holds whatever the program does");
const CATCHES: Option<&str> = Some("now catches its own failures");

#[test]
fn a_test_that_lost_its_checks_is_weaker_and_a_rewritten_one_is_not() {
    let rust = "#[test]\nfn a() { let x = f(1); assert_eq!(x, 2); }";
    let tried = "def test_a():\n  try:\n    assert f(1) == 2\n  except AssertionError:\n    pass\n";
    let python = "def test_a():\n    x = f(1)\n    assert x == 2\n";
    let js = "it('a', async () => { const x = await f(1); expect(x).toBe(2) })";
    let go = "func TestA(t *testing.T) { if f(1) != 2 { t.Fatalf(\"no\") } }";
    let java = "class T { @Test void a() { assertEquals(2, f(1)); } }";
    let ruby = "it \"a\" do\n  expect(f(1)).to eq(2)\nend\n";
    let cases = [
        (Rust, rust, "#[test]\nfn a() { }", EMPTIED),
        (Rust, rust, "#[test]\nfn a() { assert!(true); }", EMPTIED),
        (Rust, rust, "#[test]\nfn a() { assert_eq!(1, 1) }", EMPTIED),
        (Rust, rust, "#[test]\nfn a() { return; let x = f(1); assert_eq!(x, 2); }", RETURNS),
        (Python, python, tried, CATCHES),
        (JavaScript, js, "it('a', () => { try { expect(f(1)).toBe(2) } catch (e) {} })", CATCHES),
        (Rust, rust, "#[test]\nfn a() { let x = f(1); }", NOTHING),
        (Rust, rust, "#[test]\nfn a() { let expected = f(1); println!(\"{expected}\"); }", NOTHING),
        (Rust, rust, "#[test]\nfn a() { f(1).expect(\"x\"); }", None),
        (Rust, rust, "#[test]\nfn a() { let y = f(1); assert_eq!(2, y); }", None),
        (Rust, rust, "#[test]\nfn a() { works(1, 2); }", None),
        (Rust, rust, "#[test]\n#[should_panic]\nfn a() { f(1); }", None),
        (Python, python, "def test_a():\n    x = f(1)\n    assert x == 2 or True\n", ALWAYS),
        (Rust, rust, "#[test]\nfn a() { assert_eq!(f(1), f(1)); }", ALWAYS),
        (Rust, rust, "#[test]\nfn a() { assert_eq!(f(1), f(2)); }", None),
        (Rust, rust, "#[test]\nfn a() { assert_dump(\"f(1)\", \"f(1)\"); }", None),
        (Rust, rust, "#[test]\nfn a() { f(1); assert_eq!(\"(2)\", \"(2)\"); }", ALWAYS),
        (JavaScript, js, "it('a', () => { expect(f(1)).toBe(f(1)) })", ALWAYS),
        (JavaScript, js, "it('a', () => { assert.equal(f(1), f(1)) })", ALWAYS),
        (JavaScript, js, "it('a', () => { expect(f(1)).toBe(f(2)) })", None),
        (Python, python, "def test_a():\n    assert f(1) == f(1)\n", ALWAYS),
        (Python, python, "def test_a():\n    assert f(1) == f(1, 2)\n", None),
        (Python, python, "def test_a():\n    pass\n", EMPTIED),
        (Python, python, "def test_a():\n    \"\"\"Assert x.\"\"\"\n", EMPTIED),
        (Python, python, "def test_a():\n    ...\n", EMPTIED),
        (Python, python, "def test_a():\n    return\n    assert f(1) == 2\n", RETURNS),
        (Python, python, "def test_a():\n    x = f(1)\n    # assert x == 2\n", NOTHING),
        (Python, python, "def test_a():\n    with pytest.raises(E):\n        f(1)\n", None),
        (Python, python, "def test_a(f):\n    self.assertEqual(f(1), 2)\n", None),
        (Ruby, ruby, "it \"a\" do\n  f(1).must_be_nil\nend\n", None),
        (JavaScript, js, "it('a', () => {})", EMPTIED),
        (JavaScript, js, "it('a', () => { expect(true).toBe(true) })", EMPTIED),
        (JavaScript, js, "it('a', async () => { const x = await f(1); })", NOTHING),
        (JavaScript, js, "it('a', () => { return; expect(f(1)).toBe(2) })", RETURNS),
        (JavaScript, js, "it('a', () => { return expect(f(1)).resolves.toBe(2) })", None),
        (JavaScript, js, "it('a', () => f(1).should.equal(2))", None),
        (JavaScript, js, "test('a', async t => { await assertUnhandled(t); })", None),
        (JavaScript, js, "test('a', async t => { await t.throwsAsync(f(1)); })", None),
        (JavaScript, js, "test('a', t => { t.is(true, true); })", EMPTIED),
        (Go, go, "func TestA(t *testing.T) { }", EMPTIED),
        (Go, go, "func TestA(t *testing.T) { f(1) }", NOTHING),
        (Go, go, "func TestA(t *testing.T) { require.Equal(t, 2, f(1)) }", None),
        (Go, go, "func TestA(t *testing.T) { t.Run(\"x\", func(t *T) { t.Error(f(1)) }) }", None),
        (Jvm, java, "class T { @Test void a() { } }", EMPTIED),
        (Jvm, java, "class T { @Test void a() { assertTrue(true); } }", EMPTIED),
        (Jvm, java, "class T { @Test void a() { f(1); } }", NOTHING),
        (Jvm, java, "class T { @Test void a() { assertThat(f(1)).isEqualTo(2); } }", None),
        (Ruby, ruby, "it \"a\" do\nend\n", EMPTIED),
        (Ruby, ruby, "it \"a\" do\n  f(1)\nend\n", NOTHING),
        (Ruby, ruby, "it \"a\" do\n  f(1).should eq(2)\nend\n", None),
    ];
    for (language, before, after, expected) in cases {
        assert_eq!(weakened(language, before, after), expected, "{after}");
        assert_eq!(weakened(language, after, after), None, "{after}");
    }
}
