//! Why a check could not run: told by how it ended and by the words of shells, runners and tools.
//! Looked for only in the few lines that are kept, at the end.

mod asserted;
mod fault;
mod known;
mod unchecked;
mod words;

use self::asserted::asserted;
pub(crate) use self::unchecked::{Heard, bare, settle};
use self::words::{LAST, PAIRS, STARTS, WORDS};
use crate::report::Block;
use crate::{Exit, Finding, FindingKind, place, text};

/// What the end of a command says by itself.
pub(crate) fn of_exit(exit: Exit, command: &str, lines: &[(u64, &str)]) -> Option<Finding> {
    let (kind, message) = match exit {
        Exit::TimedOut => (FindingKind::Timeout, "it ran into its time limit".to_owned()),
        Exit::Signal(signal) => (FindingKind::Crash, ended_by(signal)),
        Exit::Code(code @ (126 | 127)) => return Some(not_started(code, command, lines)),
        Exit::Code(124)
            if is_limited(command) || lines.iter().any(|(_, line)| is_limited(line)) =>
        {
            (FindingKind::Timeout, "`timeout` ended it (exit code 124)".to_owned())
        }
        Exit::Code(code @ 129..=192) => {
            let how = ended_by(code - 128);
            (FindingKind::Crash, format!("{how} (exit code {code})"))
        }
        // Windows and others: an exit code that is a fault of the machine.
        Exit::Code(code) if code <= -1_000_000 => {
            (FindingKind::Crash, format!("it was ended by the system (exit code {code})"))
        }
        Exit::Code(_) | Exit::Unknown => return None,
    };
    Some(Finding::new(kind, message))
}

fn is_limited(command: &str) -> bool {
    command.split_whitespace().any(|word| matches!(word, "timeout" | "gtimeout"))
}

fn not_started(code: i32, command: &str, lines: &[(u64, &str)]) -> Finding {
    let what = if code == 127 { "was not found" } else { "could not be started" };
    let command = text::clip(command, 200);
    let message = format!("a program of `{command}` {what} (exit code {code})");
    let said = lines
        .iter()
        .find(|(_, line)| is_shell(line))
        .or_else(|| lines.iter().rev().find(|(_, line)| !line.trim().is_empty()));
    let message = match said {
        Some((_, said)) => format!("{message}: {}", text::clip(said.trim(), 300)),
        None => message,
    };
    Finding::new(FindingKind::CouldNotRun, message)
}

/// What a signal means to people.
fn ended_by(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT: interrupted",
        3 => "SIGQUIT",
        4 => "SIGILL: illegal instruction",
        6 => "SIGABRT: it aborted",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL: killed, most often because memory ran out",
        11 => "SIGSEGV: segmentation fault",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM: ended from outside",
        24 => "SIGXCPU: its limit of processor time",
        31 => "SIGSYS: a forbidden system call",
        _ => return format!("it was ended by signal {signal}"),
    };
    format!("it was ended by signal {signal} ({name})")
}

/// Whether a line only passes on that something below it failed.
pub(crate) fn is_relay(line: &str) -> bool {
    let line = line.trim_start();
    let by = [
        "npm error ",
        "npm ERR! ",
        "make: *** ",
        "make[",
        "error: Recipe `",
        "error: recipe `",
        "error Command ",
        "info Visit ",
        "Script ",
    ];
    by.iter().any(|start| line.starts_with(start))
        || ["ELIFECYCLE", "exited with code ", "exit code ", "exit code: ", "exit status "]
            .iter()
            .any(|words| line.contains(words))
}

/// Why nothing could be checked, in the words of those who tried.
pub(crate) fn in_words(lines: &[(u64, &str)]) -> Option<(u64, Finding)> {
    let tell = |is: fn(&str) -> Option<FindingKind>| {
        lines.iter().enumerate().find_map(|(at, (number, line))| {
            // What stands before it may be there too seldom to be seen.
            let (kind, line) = unchecked::each_bare(line.trim_end())
                .find_map(|line| is(line).map(|kind| (kind, line)))?;
            let mut finding = finding(kind, line, lines.get(at + 1..).unwrap_or_default());
            // Python says first where.
            if finding.file.is_none() && (is_import(line) || line == "MemoryError") {
                let frame = lines
                    .get(..at)?
                    .iter()
                    .rev()
                    .take(8)
                    .find_map(|(_, line)| place::of_python(line));
                (finding.file, finding.line) = frame.unzip();
            }
            Some((*number, finding))
        })
    };
    let told = asserted(lines).or_else(|| tell(crashed)).or_else(|| tell(missing));
    told.or_else(|| tell(relayed)).or_else(|| at_last(lines))
}

/// How many lines at the end are the last ones.
const LAST_LINES: usize = 8;

/// What is said only where nothing comes after it.
fn at_last(lines: &[(u64, &str)]) -> Option<(u64, Finding)> {
    let from = lines.len().saturating_sub(LAST_LINES);
    let is_told = |line: &str| LAST.iter().any(|word| line.contains(word));
    let at = lines.iter().skip(from).position(|(_, line)| is_told(line))? + from;
    let (number, line) = lines.get(at)?;
    let after = lines.get(at + 1..).unwrap_or_default();
    Some((*number, finding(FindingKind::CouldNotRun, line, after)))
}

/// Whether a shell, or who starts programs like one, says that something is not there: then a check
/// is broken whatever other tools found.
pub(crate) fn is_certain(lines: &[(u64, &str)]) -> Option<(u64, Finding)> {
    let relayed = lines.iter().any(|(_, line)| {
        let tail = line.trim_end().trim_end_matches('.');
        !tail.contains("' failed with status ")
            && ["Error 127", "Error 126", "code 127", "code 126", "status 127", "status 126"]
                .iter()
                .any(|end| tail.ends_with(end))
    });
    // What a test says of its own commands is that test's failure.
    let is_own = |line: &str| is_shell(line) && !line.trim_start().starts_with('#');
    let (number, line) = lines.iter().find(|(_, line)| is_own(line)).filter(|_| relayed)?;
    Some((*number, finding(FindingKind::CouldNotRun, line, &[])))
}

fn finding(kind: FindingKind, line: &str, after: &[(u64, &str)]) -> Finding {
    let mut excerpt = Block::default();
    excerpt.push(line);
    for (_, next) in after.iter().take(8) {
        excerpt.push(next);
    }
    let message = line.trim().trim_matches('!').trim();
    // A bare heading says nothing without what stands below it.
    let below = after.iter().map(|(_, line)| line.trim()).find(|line| !line.is_empty());
    let causes = after.iter().map_while(|(_, line)| line.trim_start().strip_prefix("Cause: "));
    let causes: Vec<&str> = causes.collect();
    let message = match below {
        Some(_) if !causes.is_empty() => format!("{message}: {}", causes.join(": ")),
        Some(below) if message.ends_with(':') => format!("{message} {below}"),
        Some(below) if is_code(message) => {
            format!("{message}: {}", below.trim_start_matches(['\u{d7}', ' ']))
        }
        _ => message.to_owned(),
    };
    let mut finding = Finding::new(kind, message).with_excerpt(excerpt.take());
    finding.name = overflowed(line).map(str::to_owned);
    let own = |line: &&str| !place::is_foreign(line);
    let near = after.iter().take(12).map(|(_, line)| *line).filter(own);
    let is_loaded = line.contains("cannot load such file -- ");
    if (kind == FindingKind::Crash || is_loaded)
        && let Some(place) = std::iter::once(line).filter(own).chain(near).find_map(place::mention)
    {
        finding = finding.at(place.file, place.line, place.column);
    } else if let Some((file, at)) = place::of_shell(line) {
        finding = finding.at(file, at, None);
    } else if let Some(place) = place::prefix(line.trim()).filter(|_| own(&line)) {
        finding = finding.at(place.file, place.line, place.column);
    } else {
        let near = after.iter().take(4).map(|(_, line)| *line);
        let near = std::iter::once(line).chain(near);
        if let Some(place) = near.into_iter().find_map(place::in_equipment) {
            finding = finding.at(place.file, place.line, place.column);
        }
    }
    finding
}

/// Whether a line ends with a code and no words: `Error: ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND`.
fn is_code(message: &str) -> bool {
    let last = message.rsplit(' ').next().unwrap_or_default();
    last.starts_with("ERR_") && last.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// Whether Python could not import something.
fn is_import(line: &str) -> bool {
    line.starts_with("ModuleNotFoundError: ") || line.starts_with("ImportError: ")
}

/// The test in `thread 'deep' (1260) has overflowed its stack`.
fn overflowed(line: &str) -> Option<&str> {
    let name = line.strip_prefix("thread '")?.split('\'').next()?;
    (line.contains("has overflowed its stack") && name != "main").then_some(name)
}

/// What ends a program before its time.
fn crashed(line: &str) -> Option<FindingKind> {
    const ENDS: &[&str] = &[
        "has overflowed its stack",
        "fatal runtime error: ",
        "process.exit called with ",
        "JavaScript heap out of memory",
        "Fatal Python error: ",
        "Segmentation fault",
        "core dumped)",
        "!!! KeyboardInterrupt !!!",
        "!!! Interrupted: ",
        "!!! _pytest.outcomes.Exit: ",
        "unexpected call to os.Exit",
        "INTERNALERROR> ",
        "was terminated by another process: signal=",
        "The forked VM terminated without",
        "OutOfMemoryError",
        "npm error signal ",
        "npm ERR! signal ",
        "std::bad_alloc",
        "AddressSanitizer: ",
        "signal: killed",
        "test exited abnormally",
        "Error occurred during initialization of VM",
        "virtual memory exhausted",
    ];
    let line = line.trim_start();
    if line.starts_with("test ") || line.starts_with("E  ") {
        return None;
    }
    let is_killed = line == "Killed"
        || line == "MemoryError"
        || line == "Aborted"
        || ((line.starts_with("make") || line.contains("make: *** [")) && is_signal(line))
        || (line.contains(": line ") && line.trim_end().ends_with("Killed"));
    (is_killed || ENDS.iter().any(|word| line.contains(word))).then_some(FindingKind::Crash)
}

/// Whether make says which signal ended a recipe: `make: *** [Makefile:2: test] Aborted`.
fn is_signal(line: &str) -> bool {
    const NAMES: &[&str] = &[
        "Killed",
        "Aborted",
        "Segmentation fault",
        "Bus error",
        "Illegal instruction",
        "Floating point exception",
        "Trace/breakpoint trap",
        "Terminated",
    ];
    let line = line.strip_suffix(" (core dumped)").unwrap_or(line);
    line.rsplit_once("] ").is_some_and(|(_, name)| NAMES.contains(&name))
}

/// What a shell says when it finds nothing to start.
fn is_shell(line: &str) -> bool {
    const STARTERS: &[&str] = &[
        "env: ",
        "/usr/bin/env: ",
        "make: ",
        "make[",
        "gmake: ",
        "time: ",
        "nohup: ",
        "xargs: ",
        "timeout: ",
        "nice: ",
        "sudo: ",
        "sh: ",
        "bash: ",
        "zsh: ",
        "dash: ",
        "ksh: ",
        "fish: ",
        "/bin/sh: ",
        "/bin/bash: ",
        "/usr/bin/bash: ",
        "/usr/bin/sh: ",
        "strace: ",
        "stdbuf: ",
        "setsid: ",
        "watchexec: ",
        "node: ",
    ];
    let line = line.trim();
    let by = STARTERS.iter().any(|starter| line.starts_with(starter));
    // `./ci.sh: 3: x: not found`, `./ci.sh: line 3: x: command not found`.
    let by_script = line.split_once(": ").is_some_and(|(script, rest)| {
        let rest = rest.strip_prefix("line ").unwrap_or(rest);
        !script.contains(' ') && text::number(rest).is_some_and(|(_, rest)| rest.starts_with(": "))
    });
    let ends = |words: &[&str]| words.iter().any(|word| line.ends_with(word));
    line.starts_with("zsh: command not found: ")
        || ends(&[": command not found", ": command not found..."])
        || ((by || by_script)
            && !line.contains("***")
            && (ends(&[
                ": not found",
                ": No such file or directory",
                ": Permission denied",
                ": Exec format error",
                ": Is a directory",
                ": cannot execute: required file not found",
                ": applet not found",
            ]) || line.contains("bad interpreter")
                || line.contains("cannot open ")
                || line.contains(": can't cd to ")
                || line.contains("failed to run command ")
                || line.contains("cannot execute binary file")))
        || line.contains("executable file not found in $PATH")
}

/// What is not there: a program, a script, a project, a test.
fn missing(line: &str) -> Option<FindingKind> {
    let trimmed = line.trim_start();
    let bare = trimmed
        .trim_start_matches([
            '\u{2716}', '\u{d7}', '\u{25cf}', '\u{2757}', '!', '[', '\u{276f}', '\u{2a2f}',
        ])
        .trim_start();
    let is_told = is_shell(line)
        || is_unset(line)
        || STARTS.iter().any(|start| bare.starts_with(start) || trimmed.starts_with(start))
        || WORDS.iter().any(|word| line.contains(word))
        || PAIRS.iter().any(|(one, two)| line.contains(one) && line.contains(two));
    is_told.then_some(FindingKind::CouldNotRun)
}

/// Whether a shell says that a variable which it needs is not set, in the words of its script:
/// `./e2e.sh: line 3: TOKEN: set it first`.
fn is_unset(line: &str) -> bool {
    let name = place::of_shell(line).and_then(|_| line.split(": ").nth(2));
    let is_name = |name: &str| {
        name.len() > 2
            && name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    name.is_some_and(is_name)
}

/// What passes on that something below could not run.
fn relayed(line: &str) -> Option<FindingKind> {
    let tail = line.trim_end().trim_end_matches('.');
    let code = tail.rsplit(' ').next()?.parse::<i32>().ok()?;
    let is_relay =
        ["Error ", "exit code ", "exit status ", "exited with code ", "errno ", "error code "]
            .iter()
            .any(|words| {
                tail.strip_suffix(&*code.to_string()).is_some_and(|head| head.ends_with(words))
            });
    match code {
        126 | 127 if is_relay => Some(FindingKind::CouldNotRun),
        129..=159 if is_relay => Some(FindingKind::Crash),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{in_words, of_exit};
    use crate::{Exit, FindingKind};

    fn kind(line: &str) -> Option<FindingKind> {
        in_words(&[(1, "building"), (2, line)]).map(|(_, finding)| finding.kind)
    }

    #[test]
    fn what_is_missing_is_told() {
        for line in [
            "sh: 1: pytestt: not found",
            "bash: line 1: x: command not found",
            "./ci.sh: line 3: x: command not found",
            "./ci.sh: 3: x: not found",
            "zsh: command not found: x",
            "make: pytest: No such file or directory",
            "make: *** No rule to make target 'lint'.  Stop.",
            "/usr/bin/env: 'python': No such file or directory",
            "npm error Missing script: \"nosuch\"",
            "Usage Error: Couldn't find a script named \"x\".",
            " ERR_PNPM_NO_SCRIPT  Missing script: x",
            "error: justfile does not contain recipe `lint`",
            "py27: failed with could not find python interpreter matching any of the specs py27",
            "pattern ./...: directory prefix . does not contain main module",
            "go: cannot find main module, but found .git/config in /repo",
            "/usr/bin/python3: No module named pytest",
            "No tests found, exiting with code 1",
            "Error: No test files found: \"nothing/*.js\"",
            "\u{25cf} Validation Error:",
            "ERROR: file or directory not found: tests/x.py",
            "[ERROR] The goal you specified requires a project to execute but there is no POM in this directory",
            "error: no such command: `nextest`",
            "make: *** [Makefile:2: test] Error 127",
            "pytest: error: unrecognized arguments: --x",
        ] {
            assert_eq!(kind(line), Some(FindingKind::CouldNotRun), "{line}");
        }
        for line in [
            "thread 'deep' (12) has overflowed its stack",
            "Killed",
            "make: *** [Makefile:2: test] Killed",
            "make: *** [Makefile:2: test] Error 137",
            "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
            "!!!!!!!!!!!! KeyboardInterrupt !!!!!!!!!!!",
        ] {
            assert_eq!(kind(line), Some(FindingKind::Crash), "{line}");
        }
        for line in [
            "make: *** [Makefile:2: test] Error 1",
            "all 3 tests passed",
            "x: not found",
            "file not found",
        ] {
            assert_eq!(kind(line), None, "{line}");
        }
    }

    #[test]
    fn what_somebody_may_try_again_is_told_only_at_the_end() {
        let refused = "connect ECONNREFUSED 127.0.0.1:5432";
        assert_eq!(kind(refused), Some(FindingKind::CouldNotRun));
        let later: Vec<(u64, &str)> = (2..20).map(|number| (number, "went on")).collect();
        let lines: Vec<(u64, &str)> = std::iter::once((1, refused)).chain(later).collect();
        assert_eq!(in_words(&lines), None);
    }

    #[test]
    fn the_exit_alone_tells_what_ended_it() {
        let kind = |exit| of_exit(exit, "timeout 5 x", &[]).map(|finding| finding.kind);
        assert_eq!(kind(Exit::Code(1)), None);
        assert_eq!(kind(Exit::Code(127)), Some(FindingKind::CouldNotRun));
        assert_eq!(kind(Exit::Code(137)), Some(FindingKind::Crash));
        assert_eq!(kind(Exit::Signal(11)), Some(FindingKind::Crash));
        assert_eq!(kind(Exit::Code(124)), Some(FindingKind::Timeout));
        assert_eq!(kind(Exit::TimedOut), Some(FindingKind::Timeout));
        assert_eq!(of_exit(Exit::Code(124), "x", &[]), None);
    }
}
