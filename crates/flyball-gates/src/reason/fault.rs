//! Whether something is wrong with what checks, and not with what is checked: told by what a line is
//! about and by how it is wrong, whoever says so, and by whose program a stack begins in.

use crate::{Finding, FindingKind, place, text};

/// What a check needs to run, one or several of them.
const THINGS: &[&str] = &[
    "settings",
    "lockfile",
    "lock file",
    "environment",
    "option",
    "argument",
    "flag",
    "parameter",
    "command",
    "module",
    "package",
    "plugin",
    "preset",
    "extension",
    "toolchain",
    "interpreter",
    "compiler",
    "linker",
    "runtime",
    "executable",
    "binary",
    "program",
    "script",
    "target",
    "task",
    "recipe",
    "hook",
    "session",
    "field",
    "key",
    "section",
    "rule",
    "manifest",
    "workspace",
    "project",
    "gem",
    "crate",
    "library",
    "loader",
    "parser",
    "reporter",
    "formatter",
    "driver",
    "browser",
    "daemon",
    "server",
    "host",
    "socket",
    "database",
    "registry",
    "repository",
    "token",
    "cache",
    "variable",
    "directory",
    "folder",
    "version",
    "import",
    "tests",
    "test file",
    "source",
    "space",
    "memory",
    "heap",
    "disk",
    "platform",
    "image",
    "container",
    "service",
    "network",
    "address",
    "port",
    "certificate",
    "dialect",
    "class",
];

/// The same, of which words of several endings are made.
const STEMS: &[&str] = &["config", "dependenc", "licen", "requirement", "permission", "credential"];

/// How that can be wrong.
const WRONGS: &[&str] = &[
    "not found",
    "not be found",
    "no such",
    "cannot ",
    "can't ",
    "can not ",
    "could not ",
    "couldn't ",
    "unable to ",
    "failed to ",
    "failed while ",
    "error while ",
    "error loading",
    "error reading",
    "error parsing",
    "unknown",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "unsupported",
    "not supported",
    "not allowed",
    "not recognized",
    "not a valid",
    "no valid",
    "no matching",
    "not installed",
    "not available",
    "not configured",
    "not defined",
    "not set",
    "not executable",
    "not satisfy",
    "not satisfied",
    "not compatible",
    "not match",
    "invalid",
    "malformed",
    "missing",
    "incompatible",
    "mismatch",
    "outdated",
    "out of date",
    "needs to be ",
    "need to be ",
    "must be ",
    "requires ",
    "required",
    "denied",
    "refused",
    "not exist",
    "n't exist",
    "is not a ",
    "is not in ",
    "no longer ",
    "conflict",
    "duplicate",
    "already ",
    "expired",
    "unreachable",
    "timed out",
    "not known",
    "did you mean",
    "not met",
    "not contain ",
    "changed",
    "only accept",
    "too old",
    "too new",
    "no binary",
    "dubious",
    "managed",
    "must configure",
    "no module named",
    "error importing",
];

/// Whether a line says that something which a check needs is not as it should be.
pub(super) fn is_told(line: &str) -> bool {
    let lower = line.trim().to_ascii_lowercase();
    // What is said of a place in a file is said of what is checked.
    place::mention(line).is_none_or(|place| place::is_installed(place.file))
        && WRONGS.iter().any(|wrong| lower.contains(wrong))
        && (lower.split([' ', '"', '`', '\'', ':', ',']).any(place::is_equipment)
            || THINGS.iter().any(|thing| ends_of(&lower, thing).any(|end| matches!(end, "" | "s")))
            || STEMS.iter().any(|stem| ends_of(&lower, stem).next().is_some()))
}

/// What follows, in the same word, wherever one begins so.
fn ends_of<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(start).filter_map(move |(at, _)| {
        let (before, rest) = (text.get(..at)?, text.get(at + start.len()..)?);
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        // The names of rules are no words.
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'));
        rest.get(..end).filter(|_| begins)
    })
}

/// Whether a line compares what was wanted with what there is, or speaks of the work as reviewers
/// do: then something was checked.
pub(super) fn has_compared(lines: &[(u64, &str)]) -> bool {
    const WORDS: &[&str] = &[
        "but was",
        "but got",
        " instead of ",
        "differ",
        " below ",
        " exceed",
        "slower than",
        "larger than",
        "limit of",
        "threshold",
        "coverage",
        "broken",
        "would be ",
        "not formatted",
        "unformatted",
        "returned error",
        "assert",
        "regress",
        " stale",
        "unused",
        "deprecated",
        "violat",
        "must not ",
        "should not ",
        "not up to date",
    ];
    const HAD: &[&str] = &["actual", "got", "received", "found", " was "];
    // What cannot be read is told in such words, too.
    const UNREAD: &[&str] = &["parse", "parsing", "syntax", "token", "invalid type"];
    let holds = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
    let has = |words: &[&str]| {
        let mut lines = lines.iter().map(|(_, line)| line.to_ascii_lowercase());
        lines.any(|line| holds(&line, words) && !holds(&line, UNREAD))
    };
    has(WORDS) || (has(&["expected"]) && has(HAD))
}

/// Whether somebody counts what was found: then something was checked.
pub(super) fn has_counted(lines: &[(u64, &str)]) -> bool {
    const COUNTED: &[&str] = &[
        "error",
        "problem",
        "warning",
        "issue",
        "failure",
        "failed",
        "passed",
        "violation",
        "offense",
        "finding",
        "vulnerab",
        "link",
        "mismatch",
    ];
    lines.iter().any(|(_, line)| {
        let mut words = line.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let number = word.trim_start_matches(['(', '[']);
            let is_number = number.parse::<u32>().is_ok_and(|number| number > 0);
            let next = words.peek().copied().unwrap_or_default().to_ascii_lowercase();
            if is_number && COUNTED.iter().any(|counted| next.starts_with(counted)) {
                return true;
            }
        }
        false
    })
}

/// The exception that ended a program of Python's which is not the project's: its stack begins in an
/// installed one.
pub(super) fn of_a_tool(lines: &[(u64, &str)]) -> Option<(u64, Finding)> {
    let start = lines.iter().rposition(|(_, line)| {
        line.trim_start().starts_with("Traceback (most recent call last)")
    })?;
    let below = lines.get(start + 1..)?;
    let frames = || below.iter().filter_map(|(_, line)| frame(line));
    frames().next().filter(|(file, _)| place::is_installed(file))?;
    let (number, said) = below.iter().find(|(_, line)| is_exception(line))?;
    let finding = Finding::new(FindingKind::CouldNotRun, said.trim());
    let own = frames().rfind(|(file, _)| !place::is_installed(file));
    let finding = match own {
        Some((file, line)) => finding.at(file, line, None),
        None => finding,
    };
    Some((*number, finding))
}

/// File and line of `File "a.py", line 3, in f`; not of what is frozen into Python itself.
fn frame(line: &str) -> Option<(&str, u32)> {
    let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    Some((file, text::small(rest)?.0)).filter(|(file, _)| !file.starts_with('<'))
}

/// Whether a line is what a stack of Python's ends in: `KeyError: 'x'`, `a.b.Missing`.
fn is_exception(line: &str) -> bool {
    let (name, rest) = line.split_once(':').unwrap_or((line, ""));
    !name.is_empty()
        && (rest.is_empty() || rest.starts_with(' '))
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'))
}

/// Whether a text is an exception by its name: `TypeError: no list`.
pub(super) fn is_raised(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or_default();
    is_exception(text) && (name.ends_with("Error") || name.ends_with("Exception"))
}

/// Whether an error of Python's is a fault of the program that it ended, and not what it has to say: nobody raises these
/// to tell of what was checked.
pub(super) fn is_crash(said: &str) -> bool {
    const FAULTS: &[&str] = &[
        "AttributeError",
        "ConnectionRefusedError",
        "FileNotFoundError",
        "IndexError",
        "IsADirectoryError",
        "JSONDecodeError",
        "KeyError",
        "MemoryError",
        "NameError",
        "NotADirectoryError",
        "PermissionError",
        "RecursionError",
        "TypeError",
        "UnboundLocalError",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
        "ZeroDivisionError",
    ];
    let class = said.split(':').next().unwrap_or(said);
    let class = class.rsplit('.').next().unwrap_or(class);
    FAULTS.contains(&class)
}

#[cfg(test)]
mod tests {
    use super::{has_counted, is_told, of_a_tool};

    #[test]
    fn what_a_check_needs_is_told_from_what_it_checks() {
        for line in [
            "ERROR: Task check contains invalid field: 'file_deps'",
            "Unknown environment: lint",
            "error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.",
            "invalid config: no such rule: \"line-lenght\"",
            "\u{2716} No valid configuration found.",
            "Your requirements could not be resolved to an installable set of packages.",
            "error: failed to parse nextest config at `/repo/.config/nextest.toml`",
        ] {
            assert!(is_told(line), "{line}");
        }
        for line in [
            "FATAL: migration 0042 is missing",
            "ERROR: 3 links are broken",
            "src/a.py:3: unknown option x",
            "about page: expected '200' but was '404'",
            "'optional' is invalid",
            "1 N801 invalid-class-name",
        ] {
            assert!(!is_told(line), "{line}");
        }
    }

    #[test]
    fn who_counts_has_checked() {
        assert!(has_counted(&[(1, "\u{2716} 3 problems (2 errors, 1 warning)")]));
        assert!(has_counted(&[(1, "checked 9 files: 2 failed")]));
        assert!(!has_counted(&[(1, "0 errors"), (2, "error 3"), (3, "line 3: error")]));
    }

    #[test]
    fn a_stack_that_begins_in_an_installed_program_is_its_fault() {
        let stack = [
            (1, "Traceback (most recent call last):"),
            (2, "  File \"/usr/bin/inv\", line 8, in <module>"),
            (3, "    sys.exit(program.run())"),
            (4, "  File \"/repo/tasks.py\", line 5, in <module>"),
            (5, "    URL = os.environ[\"URL\"]"),
            (6, "  File \"<frozen os>\", line 679, in __getitem__"),
            (7, "KeyError: 'URL'"),
        ];
        let (_, found) = of_a_tool(&stack).unwrap();
        assert_eq!(
            (found.message.as_str(), found.place().as_deref()),
            ("KeyError: 'URL'", Some("/repo/tasks.py:5"))
        );
        let own: Vec<(u64, &str)> =
            stack.into_iter().filter(|(_, line)| !line.contains("/inv")).collect();
        assert!(of_a_tool(&own).is_none());
    }
}
