//! Commands whose checks are read here: when none of their words was understood, they did not check.

/// Programs that test, compile or lint.
const PROGRAMS: &[&str] = &[
    "pytest",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tape",
    "eslint",
    "ruff",
    "mypy",
    "ty",
    "pyright",
    "basedpyright",
    "black",
    "flake8",
    "pylint",
    "isort",
    "bandit",
    "rubocop",
    "rspec",
    "tsc",
    "prettier",
    "biome",
    "oxlint",
    "stylelint",
    "nox",
    "tox",
    "phpunit",
    "phpstan",
    "mvn",
    "playwright",
    "cypress",
    "shellcheck",
    "golangci-lint",
    "clang-tidy",
    "cppcheck",
    "coverage",
    "ctest",
    "bats",
    "jasmine",
    "phpcs",
    "behave",
    "robot",
    "cucumber-js",
    "yamllint",
    "sqlfluff",
    "hadolint",
    "actionlint",
];

/// Programs that do so, and say nothing when all is well.
const SILENT: &[&str] = &["gcc", "g++", "cc", "c++", "clang", "clang++"];

/// Programs that do so when the word behind them says it.
const PAIRS: &[(&str, &[&str])] = &[
    ("cargo", &["test", "nextest", "clippy", "build", "check", "fmt"]),
    ("go", &["test", "build", "vet"]),
    ("node", &["--test"]),
    ("deno", &["test", "lint", "check", "fmt"]),
    ("bun", &["test"]),
    ("dotnet", &["test", "build", "format"]),
    ("swift", &["test", "build"]),
    ("mix", &["test"]),
];

/// What starts another program, with the words that belong to it.
const STARTERS: &[&str] = &[
    "npx", "pnpm", "yarn", "bunx", "uv", "poetry", "pdm", "hatch", "pipenv", "bundle", "exec",
    "run", "dlx", "env", "time", "python", "python3", "-m",
];

/// Whether a command is one of these and nothing else.
pub(super) fn is_known(command: &str) -> bool {
    is_one_of(command, &[PROGRAMS, SILENT])
}

fn is_one_of(command: &str, programs: &[&[&'static str]]) -> bool {
    let own = |word: &&str| !word.contains('=') && !STARTERS.contains(word);
    let mut words = command.split_whitespace().skip_while(|word| !own(word));
    let name = |word: &'static str, path: &str| path.rsplit('/').next() == Some(word);
    let Some(program) = words.next() else { return false };
    // What more is started may be anything.
    let unquoted = command.split(['\'', '"']).step_by(2);
    let is_one = !unquoted.into_iter().any(|part| part.contains(['|', ';', '&']));
    let second = words.next().unwrap_or_default();
    is_one
        && (programs.iter().flat_map(|some| some.iter()).any(|own| name(own, program))
            || PAIRS.iter().any(|(own, words)| name(own, program) && words.contains(&second)))
}

/// Programs that start others, and say themselves when that cannot be.
const RUNNERS: &[&str] = &[
    "npm",
    "pnpm",
    "yarn",
    "npx",
    "bunx",
    "lerna",
    "nx",
    "turbo",
    "rush",
    "wireit",
    "concurrently",
    "npm-run-all",
    "run-s",
    "run-p",
    "lint-staged",
    "lefthook",
    "husky",
    "zx",
    "gulp",
    "grunt",
    "jake",
    "make",
    "gmake",
    "cmake",
    "ninja",
    "meson",
    "scons",
    "bazel",
    "just",
    "task",
    "mage",
    "rake",
    "bundle",
    "composer",
    "honcho",
    "foreman",
    "overmind",
    "nf",
    "goreman",
    "tox",
    "nox",
    "pre-commit",
    "prek",
    "uv",
    "poetry",
    "pdm",
    "hatch",
    "pipenv",
    "pipx",
    "rye",
    "invoke",
    "inv",
    "doit",
    "duty",
    "poe",
    "taskipy",
    "ant",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "sbt",
    "mix",
    "docker",
    "docker-compose",
    "podman",
    "earthly",
    "act",
    "parallel",
    "xargs",
];

/// Whether a command starts others.
pub(super) fn is_starter(command: &str) -> bool {
    let program = command.split_whitespace().find(|word| !word.contains('='));
    let name = program.and_then(|program| program.rsplit('/').next());
    name.is_some_and(|name| RUNNERS.contains(&name))
}

/// What stands before a command that is printed as it is started.
const MARKS: &[&str] = &["> ", "$ ", "+ ", "% "];

/// Whether a line is any command as who starts it prints it, known or not: `./build/tests`,
/// `> node scripts/check.js`, make's `sh ci/links.sh`.
pub(super) fn is_command(line: &str) -> bool {
    const SHELLS: &[&str] =
        &["node", "python", "python3", "sh", "bash", "ruby", "perl", "php", "java", "deno", "bun"];
    let line = line.trim();
    let line = MARKS.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let mut words = line.split_whitespace();
    let (Some(first), second) = (words.next(), words.next().unwrap_or_default()) else {
        return false;
    };
    let is_path = first.starts_with("./")
        || (second.is_empty() && first.contains('/') && !first.contains([':', '(', '.']));
    let is_argument = second.starts_with('-') || second.contains(['.', '/']);
    (is_path && !first.ends_with(':')) || (SHELLS.contains(&first) && is_argument)
}

/// Whether a line is such a command as who starts it prints it: `> eslint .`, `$ mocha`, `+ cargo test`,
/// and make's `pytest -q`. Of those that may have said nothing, nobody knows who speaks next.
pub(super) fn is_echoed(line: &str) -> bool {
    let line = line.trim();
    let is_known = |command: &str| is_one_of(command, &[PROGRAMS]);
    let marked = MARKS.iter().find_map(|mark| line.strip_prefix(mark));
    if let Some(command) = marked {
        return is_known(command);
    }
    // Sentences may begin with the name of a program as well.
    let second = line.split_whitespace().nth(1).unwrap_or_default();
    let is_figure = second.starts_with(|c: char| c.is_ascii_digit());
    let is_argument =
        second.starts_with(['-', '.']) || (second.contains(['/', '.', '*']) && !is_figure);
    let is_pair = PAIRS.iter().any(|(_, words)| words.contains(&second));
    // `ruff check .` and `go test ./...` are none.
    let ends = line.ends_with('.') && !line.ends_with(" .") && !line.ends_with("...");
    let is_sentence = ends || line.ends_with([':', '!']) || line.contains(": ");
    !is_sentence && (second.is_empty() || is_argument || is_pair) && is_known(line)
}

#[cfg(test)]
mod tests {
    use super::{is_command, is_echoed, is_known, is_starter};

    #[test]
    fn who_starts_others_is_known() {
        assert!(is_starter("CI=1 npm test") && is_starter("make -s lint"));
        assert!(!is_starter("./check.sh") && !is_starter("pytest"));
    }

    #[test]
    fn commands_are_told_from_sentences() {
        for line in [
            "> eslint --format junit src",
            "$ mocha",
            "+ cargo test --locked",
            "pytest -q",
            "go test ./...",
            "ruff check .",
            "cargo nextest run -E 'test(a) & package(b)'",
        ] {
            assert!(is_echoed(line), "{line}");
        }
        for line in [
            "> web@1.4.0 lint",
            "ruff failed",
            "mypy: error: no",
            "black is not there.",
            "coverage 81.2% is below the minimum of 85%",
            "make test",
            "cc -o t t.c",
        ] {
            assert!(!is_echoed(line), "{line}");
        }
        for line in ["./t", "> node scripts/check.js", "sh ci/links.sh", "build/tests/conf"] {
            assert!(is_command(line), "{line}");
        }
        for line in ["./a.js: no", "> 4 | expect", "node is old", "src/a.js", "a.c:3: x", ""] {
            assert!(!is_command(line), "{line}");
        }
    }

    #[test]
    fn programs_are_known_however_they_are_started() {
        for command in [
            "pytest -q",
            "python3 -m pytest tests",
            "npx vitest run",
            "CI=1 ./node_modules/.bin/jest",
            "uv run ruff check .",
            "cargo test --lib",
            "go test ./...",
        ] {
            assert!(is_known(command), "{command}");
        }
        for command in ["make test", "./ci.sh", "npm test", "cargo run", "pytest | tee log", ""] {
            assert!(!is_known(command), "{command}");
        }
    }
}
