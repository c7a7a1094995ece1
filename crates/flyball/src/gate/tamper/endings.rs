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
/// Words that do nothing but end a process, or put another one in its place, by language.
const ENDING: [(Language, &[&str]); 6] = [
    (
        Language::Python,
        &["_exit", "execv", "execve", "execvp", "execvpe", "execl", "execle", "execlp", "execlpe"],
    ),
    (Language::JavaScript, &["reallyExit"]),
    (Language::Rust, &["_exit"]),
    (Language::Go, &[]),
    (Language::Ruby, &[]),
    (Language::Jvm, &["exitProcess"]),
];
/// Calls that do so with success, without blanks; what stands before them may be more of a name only
/// behind a dot or a colon.
const CALLS: [(Language, &[&str]); 6] = [
    (
        Language::Python,
        &[
            "sys.exit(0)",
            "sys.exit()",
            "sys.exit(None)",
            "sys.exit(False)",
            "raiseSystemExit\n",
            "SystemExit(0)",
            "SystemExit()",
            "SystemExit(None)",
            "quit()",
            "os.kill(os.getpid()",
            "getattr(os,",
            "getattr(sys,",
            "CDLL(None)",
        ],
    ),
    (
        Language::JavaScript,
        &[
            "process.exit(0)",
            "process.exit()",
            "exit(0)",
            "process.kill(process.pid",
            "process.exitCode=0",
            "process.exitCode=Number(",
            "process.exitCode=+",
            "process.exitCode=null",
            "process.exitCode=undefined",
            "process.exitCode=false",
            "process[",
            "Deno.exit(0)",
            "Deno.exit()",
        ],
    ),
    (Language::Rust, &["exit(0)"]),
    (Language::Go, &["os.Exit(0)", "syscall.Exit(0)"]),
    (Language::Ruby, &["exit!(0)", "exit(0)", "exit!(true)", "exit(true)", "abort()", "exit!\n"]),
    (Language::Jvm, &["System.exit(0)", "Runtime.getRuntime().halt(0)"]),
];
/// What hears of a failure that nobody has dealt with, in JavaScript.
const LAST_WORDS: [&str; 2] = ["uncaughtException", "unhandledRejection"];

/// Programs under test that newly end the process.
pub(super) fn added(of: &Context<'_>) -> Vec<Suspicion> {
    if of.first.is_empty() {
        return Vec::new();
    }
    of.edited.iter().filter_map(in_file).collect()
}

fn in_file(edit: &Edited) -> Option<Suspicion> {
    let language = Language::of(&edit.path)?;
    let after = edit.after.as_deref()?;
    // What tests do themselves is compared test by test; where a program begins it may also end.
    let text = edit.before.as_deref().unwrap_or(after);
    if is_entry(&edit.path, language, text) {
        return None;
    }
    let before = ways_out(language, edit.before.as_deref().unwrap_or(""));
    let count = |of: &[String], way: &String| of.iter().filter(|one| *one == way).count();
    let now = ways_out(language, after);
    let way = now.iter().find(|way| count(&now, way) > count(&before, way))?.trim_end();
    let line = after.lines().position(|line| without_blanks(line).contains(way));
    let line = line.and_then(|line| u32::try_from(line).ok()).map(|line| line.saturating_add(1));
    let path = &edit.path;
    let message = format!("`{path}` now ends the whole process as if all were well: `{way}`");
    let mut found = Suspicion::of_file(path, way, message).whole(edit).at(path, line);
    // Go counts packages, and one that ends itself is one of them.
    if language != Language::Go {
        found.soften();
    }
    Some(found)
}

/// Everything in a text that ends the process with success, one for each place.
fn ways_out(language: Language, text: &str) -> Vec<String> {
    let source = Source::new(language, text);
    let of = |table: &'static [(Language, &'static [&'static str]); 6]| {
        table.iter().filter(move |(of, _)| *of == language).flat_map(|(_, all)| all.iter())
    };
    let ending: Vec<&str> = of(&ENDING).copied().collect();
    let mut found: Vec<String> = words(&source.bare)
        .filter(|(_, word)| ending.contains(word))
        .map(|(_, word)| word.to_owned())
        .collect();
    let joined = by_their_names(language, &source.code);
    for call in of(&CALLS) {
        let alone = |at: usize| {
            let before = joined.get(..at).unwrap_or("");
            // A method of that name is another thing.
            let bare = call.starts_with("exit(") && language == Language::JavaScript;
            let bare = bare || call.starts_with("quit(");
            let may_lead = |c: char| !c.is_alphanumeric() && c != '_' && !(bare && c == '.');
            before.chars().next_back().is_none_or(may_lead)
        };
        let harmless = |at: usize| {
            let rest = joined.get(at.saturating_add(call.len())..).unwrap_or("");
            let by_name = call.starts_with("getattr(");
            // Only what is called at once.
            if by_name {
                let close = rest.find(')').map_or("", |at| rest.get(at..).unwrap_or(""));
                return !close.starts_with(")(");
            }
            *call == "process["
                && ["env", "argv", "platform", "versions"]
                    .iter()
                    .any(|name| rest.get(1..).is_some_and(|rest| rest.starts_with(name)))
        };
        let places = joined.match_indices(call).filter(|(at, _)| alone(*at) && !harmless(*at));
        found.extend(places.map(|_| (*call).to_owned()));
    }
    if language == Language::JavaScript {
        found.extend(silenced(&source));
    }
    found
}

/// The code without blanks, line by line, with the names that modules of the system go by here put
/// back: `import os as o`, `from sys import exit`, `require("process").exit`.
fn by_their_names(language: Language, code: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut names: Vec<(String, &str)> = Vec::new();
    for line in code.lines() {
        if language == Language::Python {
            for module in ["os", "sys"] {
                if let Some(name) = line.trim().strip_prefix(&format!("import {module} as ")) {
                    names.push((format!("{}.", name.trim()), module));
                }
            }
        }
        let mut line = without_blanks(line);
        for (name, module) in &names {
            line = line.replace(name.as_str(), &format!("{module}."));
        }
        for quote in ['"', '\''] {
            for module in ["process", "node:process"] {
                line = line.replace(&format!("require({quote}{module}{quote})"), "process");
            }
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// `process.on("uncaughtException", …)` with a listener that neither ends the process with a failure
/// nor passes it on.
fn silenced(source: &Source) -> Vec<String> {
    let code = source.code.as_str();
    let listens = |name: &str| {
        code.match_indices(name).any(|(at, _)| {
            let before = code.get(..at).unwrap_or("");
            let open = before.rfind('(').unwrap_or(at);
            let method = before.get(..open).and_then(|head| head.trim_end().rsplit_once('.'));
            let called = method.is_some_and(|(_, name)| ["on", "once"].contains(&name));
            let body = code.get(open..source.close(open)).unwrap_or("");
            let fails = ["exit(1", "exitCode = 1", "throw", "abort("];
            called && !fails.iter().any(|word| body.contains(word))
        })
    };
    LAST_WORDS.iter().filter(|name| listens(name)).map(|name| (*name).to_owned()).collect()
}

/// Whether a program begins in a file, by its name or by what is in it.
pub(super) fn is_entry(path: &str, language: Language, text: &str) -> bool {
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
            ("work.py", Some(""), "import os as o\ndef f():\n    o._exit(0)", true),
            ("work.py", Some(""), "from os import _exit as bye\nbye(0)", true),
            ("work.py", Some(""), "import sys as s\ns.exit(None)", true),
            ("work.py", Some(""), "def f():\n    raise SystemExit\n", true),
            ("work.py", Some(""), "try:\n    f()\nexcept SystemExit:\n    pass\n", false),
            ("work.py", Some(""), "driver.quit()\n", false),
            ("work.py", Some(""), "def f(ctx):\n    ctx.exit(0)\n    self.on_exit()\n", false),
            ("work.py", Some(""), "def f():\n    raise SystemExit(2)\n", false),
            ("work.py", Some(""), "getattr(os, 'x')(0)", true),
            ("work.py", Some(""), "if getattr(sys, 'frozen', False): x()", false),
            ("work.js", Some(""), "const { exit } = process; f = () => exit(0)", true),
            ("work.js", Some(""), "require('process').exit(0)", true),
            ("work.js", Some(""), "process['ex' + 'it'](0)", true),
            ("work.js", Some(""), "process['env'].X", false),
            ("work.js", Some(""), "editor.exit(0)", false),
            ("work.js", Some(""), "process.on('uncaughtException', () => {})", true),
            (
                "work.js",
                Some(""),
                "process.on('uncaughtException', e => { log(e); process.exit(1) })",
                false,
            ),
            ("src/a.rs", Some(""), "use std::process as p;\nfn f() { p::exit(0) }", true),
        ];
        for (path, before, after, expected) in cases {
            assert_eq!(said(path, before, after), expected, "{path}: {after}");
        }
    }
}
