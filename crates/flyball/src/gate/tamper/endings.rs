//! Calls in the program under test that end the whole process with success: what comes after them is
//! not checked, and the runner looks content. Where the runner counts its tests that shows by itself;
//! this is for checks that do not count. A program's own way out is the work.

use super::source::{Language, Source, words};
use super::suspicion::Suspicion;
use super::tests_of::may_hold_tests;
use super::{Context, Edited};

/// Names of files programs begin in.
const ENTRIES: [&str; 10] =
    ["main", "cli", "__main__", "bin", "app", "cmd", "server", "manage", "setup", "args"];
/// What in a text says that a program begins there.
const BEGINS: [&str; 19] = [
    "process.argv",
    "require.main",
    "import.meta.main",
    "parseArgs",
    "commander",
    "yargs",
    "sys.argv",
    "argparse",
    "__main__",
    "click",
    "typer",
    "fn main",
    "env::args",
    "clap",
    "func main",
    "static void main",
    "fun main",
    "ARGV",
    "OptionParser",
];
/// Calls that end a process, by language, without blanks.
const ENDS: [(Language, &[&str]); 6] = [
    (Language::Go, &["os.Exit(0)", "syscall.Exit(0)"]),
    (
        Language::JavaScript,
        &[
            "process.exit(0)",
            "process.exit()",
            "process.kill(process.pid",
            "process.reallyExit(0)",
            "process.reallyExit()",
            "process.exitCode=0",
            "process['exit']",
            "process[\"exit\"]",
            "Deno.exit(0)",
            "Deno.exit()",
        ],
    ),
    (
        Language::Python,
        &[
            "os._exit(0)",
            "sys.exit(0)",
            "sys.exit()",
            "SystemExit(0)",
            "SystemExit()",
            "quit()",
            "os.exec",
            "os.kill(os.getpid()",
        ],
    ),
    (Language::Rust, &["process::exit(0)"]),
    (Language::Ruby, &["exit!(0)", "exit(0)", "exit!(true)", "exit(true)", "abort()"]),
    (Language::Jvm, &["System.exit(0)", "exitProcess(0)", "Runtime.getRuntime().halt(0)"]),
];

/// Programs under test that newly end the process.
pub(super) fn added(of: &Context<'_>) -> Vec<Suspicion> {
    if of.first.is_empty() {
        return Vec::new();
    }
    of.edited.iter().filter_map(in_file).collect()
}

fn in_file(edit: &Edited) -> Option<Suspicion> {
    let language = Language::of(&edit.path)?;
    let (_, calls) = ENDS.iter().find(|(of, _)| *of == language)?;
    let after = edit.after.as_deref()?;
    // What tests do themselves is compared test by test; where a program begins it may also end.
    let text = edit.before.as_deref().unwrap_or(after);
    if is_entry(&edit.path, language, text) {
        return None;
    }
    let code = |text: &str| {
        let source = Source::new(language, text).code;
        let joined: String = source.chars().filter(|c| !c.is_whitespace()).collect();
        joined
    };
    let (was, is) = (code(edit.before.as_deref().unwrap_or("")), code(after));
    let call = calls.iter().find(|call| is.matches(*call).count() > was.matches(*call).count())?;
    let line = after.lines().position(|line| {
        let line: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        line.contains(call)
    });
    let line = line.and_then(|line| u32::try_from(line).ok()).map(|line| line.saturating_add(1));
    let path = &edit.path;
    let message = format!("`{path}` now ends the whole process as if all were well: `{call}`");
    let mut found = Suspicion::of_file(path, call, message).whole(edit).at(path, line);
    // Go counts packages, and one that ends itself is one of them.
    if language != Language::Go {
        found.soften();
    }
    Some(found)
}

fn is_entry(path: &str, language: Language, text: &str) -> bool {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let also_checked = matches!(language, Language::Rust | Language::Jvm | Language::Go);
    let test = may_hold_tests(language, path) && !also_checked;
    let said = words(stem).any(|(_, word)| word.split('_').any(|part| ENTRIES.contains(&part)));
    test || said
        || dir.split('/').any(|part| ["bin", "cmd", "scripts", "cli"].contains(&part))
        || text.starts_with("#!")
        || BEGINS.iter().any(|mark| text.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str, before: Option<&str>, after: &str) -> bool {
        let before = before.map(str::to_owned);
        let edit = Edited { path: path.to_owned(), before, after: Some(after.to_owned()) };
        in_file(&edit).is_some()
    }

    #[test]
    fn a_program_that_newly_ends_its_process_is_seen_and_a_command_line_is_not() {
        let cases = [
            ("work.js", Some("exports.f = 1"), "exports.f = () => process.exit( 0 )", true),
            ("lib/a.py", Some("x = 1"), "import sys\ndef f():\n    sys.exit(0)\n", true),
            ("src/lib.rs", Some(""), "pub fn f() { std::process::exit(0) }", true),
            ("lib/new.js", None, "process.exitCode = 0", true),
            // Failing is no way to look content.
            ("work.js", Some(""), "process.exit(1)", false),
            ("work.js", Some("process.exit(0)"), "x; process.exit(0)", false),
            ("work.js", Some(""), "// process.exit(0)", false),
            ("src/cli.js", Some(""), "if (v) process.exit(0)", false),
            ("bin/tool.js", None, "process.exit(0)", false),
            ("tool.py", Some("import argparse"), "import argparse, sys\nsys.exit(0)", false),
            ("src/main.rs", Some("fn main() {}"), "fn main() { std::process::exit(0) }", false),
            ("tests/a.py", Some(""), "sys.exit(0)", false),
        ];
        for (path, before, after, expected) in cases {
            assert_eq!(said(path, before, after), expected, "{path}: {after}");
        }
    }
}
