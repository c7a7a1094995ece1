//! Programs in C and its relatives, in PHP and in Ruby that get around what checks them: they end the
//! whole process, take the place of `assert`, or reach into the runner. Like in the other languages, a
//! program's own way out is the work, and a gate that counts its tests shows by itself that they ran.

use super::foreign::is_foreign_test;
use super::source::{Language, Source};
use super::suspicion::Suspicion;
use super::tests_of::may_hold_tests;
use super::{Context, Edited};

/// Endings of C and its relatives.
const C: [&str; 10] = ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "m", "inl"];
/// What takes the place of `assert`, or of what happens when it fails: nobody's in any file.
const C_ANYWHERE: [&str; 7] = [
    "#defineNDEBUG",
    "#defineassert(",
    "#undefassert",
    "__assert_fail(",
    "__assert_rtn(",
    "signal(SIGABRT",
    "sigaction(SIGABRT",
];
/// What ends a program as if all were well.
const C_LEAVING: [&str; 8] = [
    "exit(0)",
    "exit(EXIT_SUCCESS)",
    "_exit(0)",
    "_Exit(0)",
    "quick_exit(0)",
    "__attribute__((constructor",
    "execl(\"/bin/true\"",
    "TerminateProcess(GetCurrentProcess(),0)",
];
const PHP_ANYWHERE: [&str; 4] =
    ["zend.assertions", "assert.exception", "assert.active", "assert_options("];
const PHP_LEAVING: [&str; 8] = [
    "exit;",
    "exit()",
    "exit(0)",
    "die;",
    "die()",
    "die(0)",
    "set_exception_handler(",
    "register_shutdown_function(",
];
const RUBY_RUNNERS: [&str; 4] = ["Minitest", "RSpec::", "Test::Unit", "ActiveSupport::TestCase"];
/// What tests in Ruby state things with.
const RUBY_STATING: [&str; 5] = ["defassert", "defrefute", "defexpect", "defmust_", "deffail("];

/// Whether a file may be one of those.
pub(super) fn may_matter(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or("");
    C.contains(&ending) || ending == "php"
}

/// Ways around what checks it that are new in a file.
pub(super) fn added(of: &Context<'_>) -> Vec<Suspicion> {
    if of.first.is_empty() {
        return Vec::new();
    }
    of.edited.iter().filter_map(in_file).collect()
}

fn in_file(edit: &Edited) -> Option<Suspicion> {
    let after = edit.after.as_deref()?;
    let before = edit.before.as_deref().unwrap_or("");
    let ending = edit.path.rsplit('.').next().unwrap_or("");
    let (language, anywhere, leaving): (Language, &[&str], &[&str]) = match ending {
        "php" => (Language::JavaScript, &PHP_ANYWHERE, &PHP_LEAVING),
        "rb" => return in_ruby(edit, before, after),
        ending if C.contains(&ending) => (Language::Go, &C_ANYWHERE, &C_LEAVING),
        _ => return None,
    };
    let joined = |text: &str| -> String {
        Source::new(language, text).code.chars().filter(|c| !c.is_whitespace()).collect()
    };
    let (was, is) = (joined(before), joined(after));
    let new = |marks: &[&'static str]| {
        marks.iter().copied().find(|mark| count(&is, mark) > count(&was, mark))
    };
    if let Some(mark) = new(anywhere) {
        return Some(said(edit, mark, "takes the place of what checks it"));
    }
    let text = if before.is_empty() { after } else { before };
    let begins = ["main(", "$argv", "PHP_SAPI", "$_GET", "$_SERVER", "$_POST", "header("];
    let is_entry = begins.iter().any(|mark| text.contains(mark)) || text.starts_with("#!");
    if is_entry || is_foreign_test(&edit.path) {
        return None;
    }
    let mut found = said(edit, new(leaving)?, "ends the whole process as if all were well");
    found.soften();
    Some(found)
}

/// `die(0)` is no part of `_die(0)`.
fn count(code: &str, mark: &str) -> usize {
    let whole = |(at, _): &(usize, &str)| {
        let before = code.get(..*at).and_then(|code| code.chars().next_back());
        let named =
            mark.starts_with(|c: char| c.is_alphanumeric() || c == '_') && !mark.starts_with("__");
        !(named && before.is_some_and(|c| c.is_alphanumeric() || "_>.$:\\".contains(c)))
    };
    code.match_indices(mark).filter(whole).count()
}

fn in_ruby(edit: &Edited, before: &str, after: &str) -> Option<Suspicion> {
    let code = |text: &str| Source::new(Language::Ruby, text).code;
    let (was, is) = (code(before), code(after));
    let holds = |text: &str, mark: &str| {
        let lines = text.lines().map(|line| line.split_whitespace().collect::<String>());
        lines.filter(|line| line.starts_with(mark)).count()
    };
    let is_test = may_hold_tests(Language::Ruby, &edit.path);
    if let Some(mark) = RUBY_STATING.iter().find(|mark| {
        // A check of one's own has a name of its own.
        let named = |text: &str| -> usize {
            ["_equal", "_nil", "_same", "_includes", "(", ""]
                .iter()
                .map(|end| format!("{mark}{end}"))
                .filter(|name| name.ends_with(['l', 'e', 's', '(']) && name.len() > 9)
                .map(|name| holds(text, &name))
                .sum()
        };
        named(&is) > named(&was)
    }) {
        return Some(said(edit, mark, "has the name of what tests check with"));
    }
    if is_test {
        return None;
    }
    let runner = RUBY_RUNNERS
        .iter()
        .find(|mark| is.matches(**mark).count() > was.matches(**mark).count())?;
    Some(said(edit, runner, "reaches into what checks it"))
}

fn said(edit: &Edited, mark: &str, how: &str) -> Suspicion {
    let path = &edit.path;
    let message = format!("`{path}` now {how}: `{mark}`");
    Suspicion::of_file(path, mark, message).whole(edit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_said(path: &str, before: &str, after: &str) -> bool {
        let (before, after) = (Some(before.to_owned()), Some(after.to_owned()));
        in_file(&Edited { path: path.to_owned(), before, after }).is_some()
    }

    #[test]
    fn ways_around_a_check_are_seen_and_work_is_not() {
        for (path, before, after, expected) in [
            ("work.h", "int f(void);\n", "#define NDEBUG\nint f(void);\n", true),
            ("work.h", "", "#undef assert\n#define assert(x) ((void)0)\n", true),
            ("work.c", "int f(void) { return 0; }\n", "int f(void) { exit(0); }\n", true),
            (
                "work.c",
                "",
                "__attribute__((constructor)) static void c(void) { _exit(0); }\n",
                true,
            ),
            ("work.c", "", "void __assert_fail(const char *a) { }\n", true),
            ("main.c", "int main(void) {}\n", "int main(void) { exit(0); }\n", false),
            ("work.c", "", "int f(void) { on_exit(0); return atexit(g); }\n", false),
            ("work.c", "", "// exit(0)\nint f(void) { exit(1); }\n", false),
            ("src/work.php", "<?php\n", "<?php\nini_set('zend.assertions', '0');\n", true),
            ("src/work.php", "<?php\n", "<?php\nfunction f() { exit(0); }\n", true),
            (
                "src/work.php",
                "<?php\n",
                "<?php\nset_exception_handler(function () { exit(0); });\n",
                true,
            ),
            ("index.php", "<?php\necho $_GET['a'];\n", "<?php\necho $_GET['a'];\nexit;\n", false),
            ("src/work.php", "<?php\n", "<?php\nfunction f() { return $this->die(0); }\n", false),
            ("lib/work.rb", "", "module Minitest\n  class Test\n  end\nend\n", true),
            ("lib/work.rb", "", "def assert_equal(*) = true\n", true),
            ("test/test_x.rb", "", "class TestX\n  def assert_equal(*) = true\nend\n", true),
            ("test/helper.rb", "", "def assert_parses(text)\n  assert parse(text)\nend\n", false),
            ("lib/work.rb", "", "def f\n  1\nend\n", false),
        ] {
            assert_eq!(is_said(path, before, after), expected, "{path}: {after}");
        }
    }
}
