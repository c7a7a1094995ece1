//! How a file behind a gate differs from what it was, in words that follow its name.

use super::Sort;
use crate::gate::tamper::command::{stops_at_errors, swallowed};

/// Names that mean something to a check in the shell's language: one who takes them decides it.
const CHECKING: [&str; 12] =
    ["[", "[[", "test", "grep", "diff", "cmp", "exit", "false", "command", "set", "trap", "return"];

#[expect(clippy::match_same_arms, reason = "each case is told by itself")]
pub(super) fn how_changed(sort: Sort, before: &str, after: Option<&str>) -> Option<&'static str> {
    let Some(after) = after else { return Some("was removed") };
    let (was, is) = (code_lines(before), code_lines(after));
    if was == is {
        return None;
    }
    if is.is_empty() {
        return Some("was emptied");
    }
    if swallowed(after) > swallowed(before) {
        return Some("now hides failures");
    }
    if stops_at_errors(before) && !stops_at_errors(after) {
        return Some("no longer stops at the first failure");
    }
    let only_grew = || {
        let mut rest = is.iter();
        was.iter().all(|line| rest.any(|other| other == line))
    };
    match sort {
        Sort::Shell | Sort::Settings => Some("was changed"),
        Sort::Program if only_grew() => None,
        Sort::Program => Some("was changed"),
        Sort::Started | Sort::Library => None,
    }
}

/// The lines that do something.
fn code_lines(text: &str) -> Vec<&str> {
    let lines = text.lines().enumerate().map(|(index, line)| (index, line.trim_end()));
    let is_code = |(index, line): &(usize, &str)| {
        let bare = line.trim_start();
        let comment = bare.starts_with('#') && !(*index == 0 && bare.starts_with("#!"));
        !bare.is_empty() && !comment && !bare.starts_with("//")
    };
    lines.filter(is_code).map(|(_, line)| line).collect()
}

/// How many lines of a program say what must hold.
fn statements(text: &str) -> usize {
    let marks = ["assert", "expect(", "exit 1", "exit(1", "SystemExit(1", "exitCode = 1"];
    let states = |line: &&&str| marks.iter().any(|mark| line.contains(mark));
    code_lines(text).iter().filter(states).count()
}

/// How a file that is the work weakens what checks it: a program that states less than it did, a
/// library that leaves, or puts itself in the place of what the check is made of.
pub(super) fn how_loosened(sort: Sort, before: &str, after: Option<&str>) -> Option<String> {
    let after = after.unwrap_or("");
    if sort == Sort::Started {
        let (was, is) = (statements(before), statements(after));
        return (is < was).then(|| format!("states less than before: {was} checks became {is}"));
    }
    let count =
        |text: &str, way: &String| ways_around(text).iter().filter(|one| *one == way).count();
    let now = ways_around(after);
    let new = now.iter().find(|way| count(after, way) > count(before, way))?;
    Some(format!("now gets around what checks it: `{new}`"))
}

/// Lines of a script that end whoever takes it in with success, or decide for it.
fn ways_around(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in code_lines(text) {
        for step in line.split([';', '{', '}', '&', '|']).map(str::trim) {
            let mut words = step.split_whitespace();
            let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            let leaves = match first {
                "exit" => ["", "0"].contains(&second),
                // `exec 2>log` only moves what is printed.
                "exec" => {
                    let to = second.trim_start_matches(|c: char| c.is_ascii_digit());
                    !to.starts_with(['>', '<']) && !to.is_empty()
                }
                "trap" => step.contains("EXIT") || step.contains("ERR") || step.ends_with(" 0"),
                "set" => second.starts_with("+e"),
                "alias" => second.split_once('=').is_some_and(|(name, _)| CHECKING.contains(&name)),
                "function" => CHECKING.contains(&second.trim_end_matches("()")),
                name => name.strip_suffix("()").is_some_and(|name| CHECKING.contains(&name)),
            };
            if leaves {
                found.push(flyball_core::text::head(step, 60));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_may_work_and_not_decide() {
        let cases = [
            ("exit 0", true),
            ("f() { exit; }", true),
            ("trap 'exit 0' EXIT", true),
            ("[() { return 0; }", true),
            ("alias [=true", true),
            ("exec true", true),
            ("set +e", true),
            ("exec 2>/dev/null", false),
            ("f() { exit 1; }", false),
            ("greet() { echo hello; }", false),
            ("trap 'rm -f x' TERM", false),
            ("# exit 0", false),
        ];
        for (line, expected) in cases {
            let found = how_loosened(Sort::Library, "greet() { echo hi; }\n", Some(line));
            assert_eq!(found.is_some(), expected, "{line}: {found:?}");
        }
        assert_eq!(how_loosened(Sort::Library, "exit 0\n", Some("exit 0\necho x\n")), None);
    }

    #[test]
    fn a_program_that_checks_itself_may_not_state_less() {
        let was = "import work\nassert work.f() == 1\n";
        for (is, expected) in [
            ("import work\n", true),
            ("", true),
            ("from work import f\nassert f() == 1, 'one'\n", false),
            ("import work\nassert work.f() == 1\nassert work.g()\n", false),
        ] {
            assert_eq!(how_loosened(Sort::Started, was, Some(is)).is_some(), expected, "{is}");
        }
        assert_eq!(how_loosened(Sort::Started, "print(1)\n", Some("")), None, "it is the work");
    }
}
