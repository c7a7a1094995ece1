//! Whether an output that nobody understood shows that nothing could be checked: by who started whom,
//! by what is said of what a check needs, and by the lack of anything that only a check says.

use super::{fault, finding, in_words, is_relay, known};
use crate::prefix::{self, Shape};
use crate::report::Findings;
use crate::{Finding, FindingKind, place};

/// The lines without what stands before each of them, where they are too few for that to be seen
/// while they come.
pub(crate) fn bare<'a>(lines: &[(u64, &'a str)]) -> Vec<(u64, &'a str)> {
    let mut bare = lines.to_vec();
    for _ in 0..PREFIXES_MAX {
        let said = || bare.iter().filter(|(_, line)| !line.is_empty());
        let shape = said().next().and_then(|(_, line)| prefix::of(line)).map(|first| first.shape);
        let is_shared =
            said().all(|(_, line)| prefix::of(line).is_some_and(|own| Some(own.shape) == shape));
        let is_put = shape.is_some_and(|shape| {
            matches!(shape, Shape::Time | Shape::Step | Shape::Bar | Shape::Bracket | Shape::Tag)
        });
        if !is_shared || !is_put {
            break;
        }
        for (_, line) in &mut bare {
            *line = prefix::of(line).map_or(*line, |own| own.rest);
        }
    }
    bare
}

/// A line as it is, and without each of what may stand before it.
pub(super) fn each_bare(line: &str) -> impl Iterator<Item = &str> {
    fn rest<'a>(line: &&'a str) -> Option<&'a str> {
        prefix::of(line).map(|own| own.rest)
    }
    std::iter::successors(Some(line), rest).take(PREFIXES_MAX + 1)
}

/// How many prefixes a line may have, one inside the other.
const PREFIXES_MAX: usize = 3;

/// So many lines are little.
const WORDS_MAX: usize = 5;

/// What is known of an output besides its lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard<'a> {
    pub(crate) command: &'a str,
    /// Whether some tool was understood.
    pub(crate) has_tool: bool,
}

/// Whether an output in which nothing was counted shows that nothing could be checked. What was
/// found in it then says why; where nothing was, the line that says so is found here.
pub(crate) fn settle(found: &mut Findings, heard: Heard<'_>, lines: &[(u64, &str)]) {
    // One complaint about how to check, in the words of whoever reads such things.
    if found.len() == 1 {
        let is_of_config = |found: &Finding| is_of_config(found) && fault::is_told(&found.message);
        found.those(is_of_config).for_each(excuse);
    }
    if !found.kept().all(is_unread) {
        return;
    }
    if heard.has_tool {
        take_words(found, lines);
    } else if let Some((number, finding)) = fault::of_a_tool(lines) {
        found.truncate(0);
        found.push(number, finding);
    }
    let is_direct = known::is_known(heard.command) || is_last_echoed(lines);
    if is_list(found) || (!is_direct && fault::has_counted(lines)) {
        return;
    }
    let is_starter = known::is_starter(heard.command) && !fault::has_compared(lines);
    let is_silent = is_direct && !heard.has_tool;
    let is_one = !heard.has_tool && is_one_place(found);
    let is_fault = |finding: &Finding| {
        let first = finding.message.lines().next().unwrap_or_default();
        // Who starts others passes on what they say; a thing that is marked has been checked.
        let is_passed_on = is_starter && !heard.has_tool && finding.name.is_none();
        let is_ended = || fault::is_raised(first) || (is_headed(first) && !is_of_work(finding));
        let is_told = || finding.message.lines().any(fault::is_told);
        let is_wrong = || {
            let is_error = |line: &str| is_error(line) && line.contains(first);
            is_of_config(finding) && lines.iter().any(|(_, line)| is_error(line))
        };
        is_unread(finding)
            && (is_silent
                || (is_passed_on && is_ended())
                || (is_one && is_wrong())
                || (!is_of_work(finding) && is_told()))
    };
    found.those(is_fault).for_each(excuse);
    if !heard.has_tool && found.len() == 1 {
        let is_crash = |finding: &Finding| is_unread(finding) && fault::is_crash(&finding.message);
        found.those(is_crash).for_each(|finding| finding.kind = FindingKind::Crash);
    }
    let is_open = found.kept().all(|finding| is_unread(finding) && !is_of_work(finding));
    if is_open && !heard.has_tool {
        // Beside other words only an error is one.
        let is_alone = found.is_empty();
        let last = || last_words(lines).filter(|_| is_silent && is_alone);
        if let Some((number, finding)) =
            told(lines, |line| is_alone || is_error(line)).or_else(last)
        {
            found.push(number, finding);
        }
    }
}

/// What a tool left open, where the words of others say what it was.
fn take_words(found: &mut Findings, lines: &[(u64, &str)]) {
    if found.is_empty() {
        return;
    }
    let Some((number, finding)) = in_words(lines) else { return };
    found.those(is_unread).for_each(|found| found.kind = finding.kind);
    if !found.kept().any(|found| found.message.contains(&finding.message)) {
        found.push(number, finding);
    }
}

/// The first line that tells of something a check needs.
fn told(lines: &[(u64, &str)], is_meant: impl Fn(&str) -> bool) -> Option<(u64, Finding)> {
    let at = lines.iter().position(|(_, line)| fault::is_told(line) && is_meant(line))?;
    let (number, line) = lines.get(at)?;
    let after = lines.get(at + 1..).unwrap_or_default();
    Some((*number, finding(FindingKind::CouldNotRun, line, after)))
}

fn is_unread(finding: &Finding) -> bool {
    finding.kind == FindingKind::Other
}

const fn excuse(finding: &mut Finding) {
    finding.kind = FindingKind::CouldNotRun;
}

/// Whether it is about a file that says how to check.
fn is_of_config(finding: &Finding) -> bool {
    finding.file.as_deref().is_some_and(place::is_equipment)
}

/// Whether it is about a file that is checked.
fn is_of_work(finding: &Finding) -> bool {
    finding.file.as_deref().is_some_and(|file| !place::is_equipment(file))
}

/// Whether a known program was started, and nothing else after it: then it is that one which speaks.
fn is_last_echoed(lines: &[(u64, &str)]) -> bool {
    let Some(at) = lines.iter().rposition(|(_, line)| is_echoed(line)) else { return false };
    let after = lines.get(at + 1..).unwrap_or_default();
    !after.iter().any(|(_, line)| each_bare(line).any(known::is_command))
}

/// Whether a known program was printed as it was started, whatever stands before.
fn is_echoed(line: &str) -> bool {
    each_bare(line).any(known::is_echoed)
}

/// Whether a text begins as errors do, or only passes one on.
fn is_headed(text: &str) -> bool {
    let word = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = word.split([' ', ':']).next().unwrap_or_default().to_ascii_lowercase();
    word.starts_with("error")
        || word.starts_with("fatal")
        || ["error", "exception"].iter().any(|end| word.ends_with(end))
        || each_bare(text).any(is_relay)
}

/// Whether a line is headed as an error.
fn is_error(line: &str) -> bool {
    let mut words = line.split_whitespace().take(3);
    words.any(|word| ["error:", "fatal:"].iter().any(|head| word.eq_ignore_ascii_case(head)))
}

/// Whether all that is told is told of one place.
fn is_one_place(found: &Findings) -> bool {
    let mut places = found.kept().map(|found| (&found.file, found.line));
    let first = places.next();
    first.is_some_and(|first| places.all(|other| other == first))
}

/// Whether several places are told, of what is checked: who lists such has checked.
fn is_list(found: &Findings) -> bool {
    let own = |found: &&Finding| {
        found.line.is_some() && !found.file.as_deref().is_some_and(place::is_equipment)
    };
    let mut places = found.kept().filter(own);
    let first = places.next().map(|first| (&first.file, first.line));
    first.is_some_and(|first| places.any(|other| (&other.file, other.line) != first))
}

/// What a program that checked nothing said last.
fn last_words(lines: &[(u64, &str)]) -> Option<(u64, Finding)> {
    let said = |line: &str| {
        let line = line.trim();
        !line.is_empty() && !known::is_echoed(line) && !is_relay(line)
    };
    // Who says much may have checked something, in words nobody knows.
    let at = lines.iter().rposition(|(_, line)| said(line))?;
    let (number, line) = lines.get(at)?;
    if lines.iter().filter(|(_, line)| said(line)).count() > WORDS_MAX {
        return None;
    }
    Some((*number, finding(FindingKind::CouldNotRun, line, &[])))
}

#[cfg(test)]
mod tests {
    use crate::{FindingKind, Parser};

    fn kinds(command: &str, output: &str) -> Vec<FindingKind> {
        let mut parser = Parser::new(command);
        parser.feed(output.as_bytes());
        parser.finish(Some(1)).findings.iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn what_could_not_check_is_told_in_any_words() {
        for (command, output) in [
            ("hatch run lint:check", "Unknown environment: lint\n"),
            (
                "inv acceptance",
                "USING RUNNER: x\nConfigError: No steps directory in '/p/features'\n",
            ),
            (
                "npm run precommit",
                "\n> crm@1.0.0 precommit\n> lint-staged\n\n\u{2716} No valid configuration found.\n",
            ),
            (
                "./ci.sh",
                "#9 0.731 An error has occurred: FatalError: git failed.\n#9 0.731 Check the log\n",
            ),
            (
                "meson test -C build",
                "Version: 1.0.1\nmeson.build:12:0: ERROR: Expecting rparen got id.\n",
            ),
            (
                "honcho run python manage.py test",
                "Traceback (most recent call last):\n  File \"/p/manage.py\", line 3, in <module>\n    go()\n  File \"/p/models.py\", line 5, in <module>\n    x()\nTypeError: x() missing 1 required argument\n",
            ),
            ("./ci.sh", "ruff: reading\ninvalid config: no such rule: \"line-lenght\"\n"),
            (
                "make e2e",
                "./e2e.sh: line 3: TOKEN: set it in the secrets\nmake: *** [Makefile:2: e2e] Error 1\n",
            ),
            (
                "make types",
                "pyproject.toml:1: error: Error importing plugin \"a.b\": No module named 'a'  [misc]\n",
            ),
        ] {
            assert_eq!(kinds(command, output), [FindingKind::CouldNotRun], "{command}: {output}");
        }
    }

    #[test]
    fn a_check_that_was_ended_by_a_fault_of_its_own_crashed() {
        let traced = |error: &str| {
            format!(
                "Traceback (most recent call last):\n  File \"/p/check.py\", line 3, in <module>\n    go()\n{error}\n"
            )
        };
        for (error, kind) in [
            ("KeyError: 'title'", FindingKind::Crash),
            ("json.decoder.JSONDecodeError: Expecting value: line 1", FindingKind::Crash),
            ("FileNotFoundError: [Errno 2] No such file: 'en.json'", FindingKind::Crash),
            ("AssertionError: 3 titles differ", FindingKind::Other),
            ("ValueError: the title of a.md is too long", FindingKind::Other),
            ("check.Drift: 3 tables", FindingKind::Other),
        ] {
            assert_eq!(kinds("./check.py", &traced(error)), [kind], "{error}");
        }
    }

    #[test]
    fn what_has_checked_is_red_whatever_it_speaks_of() {
        for (command, output) in [
            ("./check.sh", "FATAL: migration 0042 is missing\n"),
            ("make size", "ERROR: app.js exceeds its limit of 200 kB\n"),
            ("make links", "docs/a.md:3: no such target: x\ndocs/b.md:4: no such target: y\n"),
            ("npm run audit", "error: config of 3 services\n\n2 problems found\n"),
            (
                "./headers.sh",
                "src/b.py: missing license header\nsrc/c.py: missing license header\n",
            ),
            ("make smoke", "ERROR: expected 200 but got 404 from the server\n"),
            ("npm run links", "\u{2717} docs/guide.md: ./setup.md (dead)\n\u{2713} docs/a.md\n"),
            ("make guides", "guide: a dead link in a.md line 3\n"),
            ("make drift", "the table users has a column more than the model\n"),
            (
                "make check",
                "cc -o t t.c\n./t\nt.c:21:test_close:FAIL: no such file\n2 Tests 1 Failures\n",
            ),
            ("make check", "cc -o t t.c\n./t\nt.c:15: FAIL test_open: a: no such file\n1 failed\n"),
            ("make check", "eslint src\nnode ci/menu.js\nmenu: 2 titles are missing\n"),
            ("./cov.sh", "coverage 81.2% is below the minimum of 85%\n"),
        ] {
            let kinds = kinds(command, output);
            assert!(
                kinds.iter().all(|kind| *kind == FindingKind::Other),
                "{kinds:?} {command}: {output}"
            );
        }
    }

    #[test]
    fn silence_is_no_reason() {
        assert_eq!(kinds("make test", ""), []);
    }
}
