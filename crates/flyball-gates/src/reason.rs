//! Why a check could not run: told by how it ended and by the words of shells, runners and tools.
//! Looked for only in the few lines that are kept, at the end.

use crate::report::Block;
use crate::{Exit, Finding, FindingKind, place, text};

/// What the end of a command says by itself.
pub(crate) fn of_exit(exit: Exit, command: &str, lines: &[(u64, &str)]) -> Option<Finding> {
    let (kind, message) = match exit {
        Exit::TimedOut => (FindingKind::Timeout, "it ran into its time limit".to_owned()),
        Exit::Signal(signal) => (FindingKind::Crash, ended_by(signal)),
        Exit::Code(code @ (126 | 127)) => return Some(not_started(code, command, lines)),
        Exit::Code(124) if is_limited(command) => {
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

/// Why nothing could be checked, in the words of those who tried.
pub(crate) fn in_words(lines: &[(u64, &str)]) -> Option<(u64, Finding)> {
    let tell = |is: fn(&str) -> Option<FindingKind>| {
        lines.iter().enumerate().find_map(|(at, (number, line))| {
            let kind = is(line.trim_end())?;
            Some((*number, finding(kind, line, lines.get(at + 1..).unwrap_or_default())))
        })
    };
    tell(crashed).or_else(|| tell(missing)).or_else(|| tell(relayed))
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
    let message = match below {
        Some(below) if message.ends_with(':') => format!("{message} {below}"),
        _ => message.to_owned(),
    };
    let mut finding = Finding::new(kind, message).with_excerpt(excerpt.take());
    finding.name = overflowed(line).map(str::to_owned);
    let own = |line: &&str| !place::is_foreign(line);
    let near = after.iter().take(12).map(|(_, line)| *line).filter(own);
    if kind == FindingKind::Crash
        && let Some(place) = std::iter::once(line).chain(near).find_map(place::mention)
    {
        finding = finding.at(place.file, place.line, place.column);
    }
    finding
}

/// The test in `thread 'deep' (1260) has overflowed its stack`.
fn overflowed(line: &str) -> Option<&str> {
    let name = line.strip_prefix("thread '")?.split('\'').next()?;
    (line.contains("has overflowed its stack") && name != "main").then_some(name)
}

/// What ends a program before its time.
fn crashed(line: &str) -> Option<FindingKind> {
    const WORDS: &[&str] = &[
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
    ];
    let line = line.trim_start();
    if line.starts_with("test ") || line.starts_with("E  ") {
        return None;
    }
    let is_killed = line == "Killed"
        || line == "Aborted"
        || (line.starts_with("make") && line.ends_with("] Killed"))
        || line.ends_with("] Aborted (core dumped)")
        || (line.contains(": line ") && line.trim_end().ends_with("Killed"));
    (is_killed || WORDS.iter().any(|word| line.contains(word))).then_some(FindingKind::Crash)
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
        || STARTS.iter().any(|start| bare.starts_with(start) || trimmed.starts_with(start))
        || WORDS.iter().any(|word| line.contains(word))
        || PAIRS.iter().any(|(one, two)| line.contains(one) && line.contains(two));
    is_told.then_some(FindingKind::CouldNotRun)
}

/// The beginnings of lines that say so.
const STARTS: &[&str] = &[
    // Shells and makers.
    "make: *** No rule to make target",
    "make: *** No targets",
    "just: error",
    "error: justfile does not contain recipe",
    "error: Justfile does not contain recipe",
    "error: No justfile found",
    "task: Task ",
    "task: No Taskfile found",
    "ninja: error: ",
    "rake aborted!",
    "No Rakefile found",
    "CMake Error: ",
    "[cargo-make] ERROR - Task ",
    // JavaScript.
    "npm error Missing script:",
    "npm ERR! Missing script:",
    "npm ERR! missing script:",
    "npm error Could not read package.json",
    "npm ERR! Could not read package.json",
    "npm error could not determine executable",
    "npm ERR! could not determine executable",
    "npm error enoent ",
    "npm error 404 ",
    "npm error No workspaces found",
    "npm error No workspace folder present",
    "Usage Error: ",
    "Internal Error: ",
    "error Command \"",
    "error Couldn't find a package.json",
    "error Couldn't find the binary",
    "ERR_PNPM_NO_",
    "ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL",
    "error: Script not found",
    "error: No package.json was found",
    "error: Module not found",
    "error: Task not found",
    "error: No test modules found",
    "Task not found: ",
    "No tests found, exiting with code",
    "No test files found",
    "Error: No test files found",
    "Error: No tests found",
    "Error: Cannot find any files matching pattern",
    "Error: Could not find a config file",
    "Error: Can't find a root directory",
    "Validation Error",
    "Multiple configurations found",
    "Could not find '",
    "MISSING DEPENDENCY",
    "failed to load config from",
    "Can't run because no spec files were found",
    "Can't run because you've entered an invalid",
    "Oops! Something went wrong! :(",
    "No files matching the pattern",
    "error] No files matching the pattern",
    "error] No parser could be inferred",
    "error] Invalid configuration",
    "error TS18003:",
    "error TS5",
    "error TS6053:",
    "This is not the tsc command you are looking for",
    "NX   Could not find",
    "NX   Cannot find",
    "x Could not find ",
    "x could not find ",
    "Missing tasks in project",
    "Could not find turbo.json",
    "lerna ERR! ENOLERNA",
    "lerna ERR! EUSAGE",
    // Python.
    "ERROR: file or directory not found",
    "ERROR: not found: ",
    "ERROR: usage: ",
    "ERROR: Wrong expression passed to",
    "ImportError while loading conftest",
    "ImportError: Start directory is not importable",
    "NO TESTS RAN",
    "no tests ran",
    "tox: error",
    "ROOT: No tox.ini",
    "ROOT: unknown environment",
    "ROOT: HandledError| ",
    "ruff failed",
    "error: file not found: ",
    "error: Failed to spawn: ",
    "error: No `project` table found",
    "error: No `pyproject.toml` found",
    "Poetry could not find a pyproject.toml",
    "Command not found: ",
    "There are no .py[i] files in",
    "Failed to find a noxfile",
    "Sessions not found: ",
    "No data to report.",
    "warning: No Python files found",
    "Usage of `",
    // Rust.
    "error: no such command: ",
    "error: no such subcommand: ",
    "error: could not find `Cargo.toml`",
    "error: failed to parse manifest",
    "error: no test target named",
    "error: no bin target named",
    "error: package ID specification",
    "error: no tests to run",
    "error: no matching package",
    "error: failed to select a version",
    "error: failed to get `",
    "error: failed to load manifest",
    "error: unexpected argument",
    "error: manifest path `",
    "error: rustup could not choose",
    // Go.
    "go: cannot find main module",
    "go: go.mod file not found",
    "go: errors parsing go.mod",
    "go: updates to go.mod needed",
    "go: warning: \"./...\" matched no packages",
    "no Go files in ",
    "no required module provides package ",
    "flag provided but not defined: ",
    "pattern ./",
    // Java.
    "Error: Could not find or load main class",
    "Error: Unable to access jarfile",
    "The JAVA_HOME environment variable is not defined",
    "ERROR: JAVA_HOME is not set",
    // Ruby, PHP, Elixir, Swift, .NET and others.
    "bundler: command not found",
    "Could not locate Gemfile",
    "Could not find gem ",
    "No examples found.",
    "Could not open input file: ",
    "No tests executed!",
    "Cannot open file \"",
    "Composer could not find a composer.json",
    "** (Mix) ",
    "error: Could not find Package.swift",
    "MSBUILD : error MSB10",
    "No test is available in",
    "No tests were found!!!",
    "[error] Not a valid command",
    "Cannot connect to the Docker daemon",
    "no configuration file provided: not found",
    "docker: Error response from daemon",
    "Error response from daemon",
    "Could not read: ",
    "Can't locate ",
];

/// Words that say so wherever they stand.
const WORDS: &[&str] = &[
    "could not find python interpreter matching",
    "could not be found within PATH",
    "Couldn't find a script named",
    "has no script named",
    "No package.json found",
    "no such option: ",
    "No such option: ",
    "No such command ",
    "unrecognized arguments: ",
    "unrecognized option ",
    "unknown option ",
    "Unknown option ",
    "invalid option -- ",
    "ESLint couldn't find ",
    "requires a project to execute but there is no POM",
    "Non-resolvable parent POM",
    "Unknown lifecycle phase",
    "No tests were executed",
    "No tests matching pattern",
    "No tests found for given includes",
    "does not contain a Gradle build",
    "not found in root project",
    "Don't know how to build task",
    "in locally installed gems",
    "does not contain main module",
    "is not in std",
    "is not in GOROOT",
    "build constraints exclude all Go files",
    "is not installed for the toolchain",
    "No configuration provided for",
    "browserType.launch: Executable doesn't exist",
    "could not find a Cypress configuration file",
    "Could not resolve dependencies for project",
    "Cannot find configuration for task",
    "No projects found",
    "no tests found",
    "cannot load such file -- ",
    ": does not exist (No such file or directory)",
    "error: Cannot read file: ",
];

/// Two words that say so together.
const PAIRS: &[(&str, &str)] = &[
    ("fatal error: ", "No such file or directory"),
    ("File or directory \"", "does not exist"),
    ("reset ", " not found"),
    ("ommand \"", "\" not found"),
    ("ommand \"", "\" is not defined"),
    ("ython", ": No module named "),
    ("can't open file ", "No such file or directory"),
    ("can't read file ", "No such file or directory"),
    ("Path ", " does not exist."),
    ("Test environment ", " cannot be found"),
    ("oolchain ", " is not installed"),
    ("Test file \"", " does not exist"),
    ("could not find task `", "` in project"),
    ("ecipe `", "` not found"),
    ("The task \"", "could not be found"),
];

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
