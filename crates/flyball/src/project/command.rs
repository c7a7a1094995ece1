//! Whether a command can be a gate: one that ends by itself and leaves the files as they are. Watchers
//! and fixers are given in the form that checks once, where there is one.

use std::fmt;

/// Why a command is no gate as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It waits for changes.
    Watches,
    /// It mends what it should find.
    Edits,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Watches => "it waits for changes and never ends",
            Self::Edits => "it changes files instead of checking them",
        })
    }
}

/// A command as a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AsGate {
    /// It checks once.
    Fits,
    /// It does not; this does the same and checks once.
    Instead(String, Fault),
    /// It does not, and no other form of it is known.
    Never(Fault),
}

/// Looks at a line for the shell. `call` writes a tool's own command line so that the tool is found,
/// where the line is a script of a package manager.
pub fn as_gate(line: &str, call: impl Fn(&str) -> String) -> AsGate {
    let mut fault = None;
    let mut parts = Vec::new();
    for part in line.split("&&").map(str::trim) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let start = words.iter().position(|word| !is_prefix(word)).unwrap_or(words.len());
        let (before, command) = words.split_at(start);
        match checking(command) {
            None => parts.push((before.join(" "), command.join(" "), false)),
            Some((_, None)) => return AsGate::Never(fault_of(command)),
            Some((found, Some(instead))) => {
                fault = fault.or(Some(found));
                parts.push((before.join(" "), instead, true));
            }
        }
    }
    let Some(fault) = fault else { return AsGate::Fits };
    // What else the shell would do with such a line is not ours to take apart.
    if line.contains(['|', ';', '`', '>', '<', '(', '\n']) {
        return AsGate::Never(fault);
    }
    let write = |(before, command, _): &(String, String, bool)| match before.as_str() {
        "" => call(command),
        before => format!("{before} {}", call(command)),
    };
    AsGate::Instead(parts.iter().map(write).collect::<Vec<_>>().join(" && "), fault)
}

/// Words in front of a tool that change nothing about what it does.
fn is_prefix(word: &str) -> bool {
    let assigns = word.split_once('=').is_some_and(|(name, _)| {
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty()
    });
    assigns || matches!(word, "cross-env" | "npx" | "bunx" | "env" | "dotenv" | "--")
}

fn fault_of(command: &[&str]) -> Fault {
    checking(command).map_or(Fault::Watches, |(fault, _)| fault)
}

/// The fault of a command, and the form that checks once. None: it is fine as it is.
#[expect(clippy::too_many_lines, reason = "a table: one arm per case")]
#[expect(clippy::cognitive_complexity, reason = "a table: one arm per case")]
fn checking(command: &[&str]) -> Option<(Fault, Option<String>)> {
    use Fault::{Edits, Watches};
    let (tool, args) = command.split_first()?;
    let name = tool.rsplit('/').next().unwrap_or(tool);
    let first = args.first().copied().unwrap_or_default();
    let has = |flags: &[&str]| args.iter().any(|arg| flags.contains(arg));
    let without = |flags: &[&str]| {
        let kept = args.iter().filter(|arg| !flags.contains(arg)).copied();
        std::iter::once(*tool).chain(kept).collect::<Vec<_>>().join(" ")
    };
    let plus = |flag: &str| format!("{} {flag}", command.join(" "));
    let after_first = |flag: &str| {
        let rest = args.iter().skip(1).copied();
        [*tool, first, flag].into_iter().chain(rest).collect::<Vec<_>>().join(" ")
    };
    let drop_flags = |fault, flags: &[&str]| has(flags).then(|| (fault, Some(without(flags))));
    match name {
        "vitest" => match first {
            "run" | "related" | "list" | "bench" | "init" => None,
            "watch" | "dev" => Some((Watches, Some(command.join(" ").replacen(first, "run", 1)))),
            _ if has(&["--run", "--watch=false", "--no-watch"]) => None,
            _ => {
                let once = without(&["--watch", "-w", "--ui"]);
                Some((Watches, Some(once.replacen(tool, &format!("{tool} run"), 1))))
            }
        },
        "jest" => drop_flags(Watches, &["--watch", "--watchAll"]),
        "tsc" | "vue-tsc" | "rollup" | "webpack" | "tsup" | "sass" | "mocha" | "ava" | "parcel"
        | "esbuild" | "swc" | "node" | "deno" | "bun" | "tap" | "playwright" | "tailwindcss" => {
            if name == "webpack" && first == "serve" {
                return Some((Watches, None));
            }
            drop_flags(Watches, &["--watch", "-w", "--ui"])
        }
        "ng" if first == "test" && !has(&["--watch=false", "--no-watch"]) => {
            Some((Watches, Some(plus("--watch=false"))))
        }
        "karma" if first == "start" && !has(&["--single-run"]) => {
            Some((Watches, Some(plus("--single-run"))))
        }
        "cypress" if first == "open" => {
            Some((Watches, Some(command.join(" ").replacen("open", "run", 1))))
        }
        "nodemon" | "tsc-watch" | "watchexec" | "entr" | "chokidar" | "ptw" | "pytest-watch"
        | "webpack-dev-server" => Some((Watches, None)),
        "vite" if first.is_empty() || first == "dev" || first == "serve" => Some((Watches, None)),
        "next" | "astro" | "nuxt" if first == "dev" => Some((Watches, None)),
        "cargo" | "tsx" if first == "watch" => Some((Watches, None)),
        "cargo" if first == "fix" => Some((Edits, None)),
        "cargo" if first == "fmt" && !has(&["--check"]) => {
            Some((Edits, Some(after_first("--check"))))
        }
        "cargo" if first == "clippy" && has(&["--fix"]) => {
            let flags = ["--fix", "--allow-dirty", "--allow-staged", "--allow-no-vcs"];
            Some((Edits, Some(without(&flags))))
        }
        "eslint" | "stylelint" | "oxlint" | "standard" | "xo" | "tslint" | "golangci-lint"
        | "markdownlint" | "htmlhint" => drop_flags(Edits, &["--fix"]),
        "biome" => {
            let flags = ["--write", "--apply", "--apply-unsafe", "--unsafe", "--fix"];
            drop_flags(Edits, &flags)
        }
        "prettier" if has(&["--write", "-w"]) => {
            let once = without(&["--write", "-w", "--check", "-c"]);
            Some((Edits, Some(once.replacen(tool, &format!("{tool} --check"), 1))))
        }
        "ruff" if first == "check" => drop_flags(Edits, &["--fix", "--fix-only", "--unsafe-fixes"]),
        "ruff" if first == "format" && !has(&["--check", "--diff"]) => {
            Some((Edits, Some(after_first("--check"))))
        }
        "black" if !has(&["--check", "--diff"]) => {
            Some((Edits, Some(command.join(" ").replacen(tool, &format!("{tool} --check"), 1))))
        }
        "isort" if !has(&["--check", "--check-only", "-c", "--diff"]) => Some((
            Edits,
            Some(command.join(" ").replacen(tool, &format!("{tool} --check-only"), 1)),
        )),
        "rubocop" => {
            drop_flags(Edits, &["-a", "-A", "--autocorrect", "--autocorrect-all", "--auto-correct"])
        }
        "shfmt" if has(&["-w"]) => {
            Some((Edits, Some(without(&["-w", "-d"]).replacen(tool, &format!("{tool} -d"), 1))))
        }
        "dprint" if first == "fmt" => {
            Some((Edits, Some(command.join(" ").replacen("fmt", "check", 1))))
        }
        "terraform" if first == "fmt" && !has(&["-check"]) => {
            Some((Edits, Some(after_first("-check"))))
        }
        "mix" if first == "format" && !has(&["--check-formatted"]) => {
            Some((Edits, Some(plus("--check-formatted"))))
        }
        "dotnet" if first == "format" && !has(&["--verify-no-changes"]) => {
            Some((Edits, Some(plus("--verify-no-changes"))))
        }
        "php-cs-fixer" if first == "fix" && !has(&["--dry-run"]) => {
            Some((Edits, Some(plus("--dry-run"))))
        }
        "gofmt" | "goimports" if has(&["-w"]) => {
            let once = without(&["-w", "-l"]).replacen(tool, &format!("{tool} -l"), 1);
            Some((Edits, Some(format!("test -z \"$({once})\""))))
        }
        "rustfmt" if !has(&["--check"]) => {
            Some((Edits, Some(command.join(" ").replacen(tool, &format!("{tool} --check"), 1))))
        }
        "stylua" | "gersemi" if !has(&["--check"]) => Some((Edits, Some(plus("--check")))),
        "yapf" | "autopep8" | "autoflake" | "pyupgrade" | "docformatter"
            if has(&["-i", "--in-place"]) =>
        {
            let once = without(&["-i", "--in-place"]);
            let flag = match name {
                "yapf" => "--diff",
                "autopep8" => "--exit-code --diff",
                "autoflake" | "docformatter" => "--check",
                _ => return Some((Edits, None)),
            };
            Some((Edits, Some(format!("{once} {flag}"))))
        }
        "sqlfluff" if matches!(first, "fix" | "format") => {
            Some((Edits, Some(command.join(" ").replacen(first, "lint", 1))))
        }
        "ktlint" => drop_flags(Edits, &["-F", "--format"]),
        "pint" if !has(&["--test"]) => Some((Edits, Some(plus("--test")))),
        "next" if first == "lint" => drop_flags(Edits, &["--fix"]),
        "pytest" => drop_flags(Watches, &["-f", "--looponfail"]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> String {
        match as_gate(line, ToOwned::to_owned) {
            AsGate::Fits => "fits".to_owned(),
            AsGate::Instead(line, Fault::Watches) => format!("once: {line}"),
            AsGate::Instead(line, Fault::Edits) => format!("check: {line}"),
            AsGate::Never(fault) => format!("never: {fault:?}"),
        }
    }

    #[test]
    fn watchers_are_given_in_the_form_that_ends() {
        let rows = [
            ("vitest", "once: vitest run"),
            ("vitest --coverage", "once: vitest run --coverage"),
            ("vitest watch src", "once: vitest run src"),
            ("vitest run", "fits"),
            ("vitest --run", "fits"),
            ("jest --watch", "once: jest"),
            ("jest --watchAll --ci", "once: jest --ci"),
            ("jest -w 2", "fits"),
            ("tsc -w --noEmit", "once: tsc --noEmit"),
            ("tsc --noEmit && vitest", "once: tsc --noEmit && vitest run"),
            ("NODE_ENV=test mocha --watch", "once: NODE_ENV=test mocha"),
            ("cross-env CI=1 ng test", "once: cross-env CI=1 ng test --watch=false"),
            ("karma start karma.conf.js", "once: karma start karma.conf.js --single-run"),
            ("cypress open", "once: cypress run"),
            ("pytest -f tests", "once: pytest tests"),
            ("nodemon -x 'npm test'", "never: Watches"),
            ("vite", "never: Watches"),
            ("vite build", "fits"),
            ("react-scripts test", "fits"),
            ("jest --watch | tee log", "never: Watches"),
        ];
        for (line, expected) in rows {
            assert_eq!(of(line), expected, "{line}");
        }
    }

    #[test]
    fn fixers_are_given_in_the_form_that_checks() {
        let rows = [
            ("eslint . --fix", "check: eslint ."),
            ("eslint .", "fits"),
            ("prettier --write .", "check: prettier --check ."),
            ("prettier -c .", "fits"),
            ("eslint --fix . && prettier -w .", "check: eslint . && prettier --check ."),
            ("biome check --write ./src", "check: biome check ./src"),
            ("ruff check --fix .", "check: ruff check ."),
            ("ruff format", "check: ruff format --check"),
            ("black src", "check: black --check src"),
            ("black --check src", "fits"),
            ("cargo fmt --all", "check: cargo fmt --check --all"),
            ("cargo fmt -- --check", "fits"),
            (
                "cargo clippy --fix --allow-dirty -- -D warnings",
                "check: cargo clippy -- -D warnings",
            ),
            ("cargo fix", "never: Edits"),
            ("gofmt -w .", "check: test -z \"$(gofmt -l .)\""),
            ("rustfmt src/a.rs", "check: rustfmt --check src/a.rs"),
            ("yapf -i -r src", "check: yapf -r src --diff"),
            ("sqlfluff fix models", "check: sqlfluff lint models"),
            ("next lint --fix", "check: next lint"),
            ("npx prettier --write . ", "check: npx prettier --check ."),
        ];
        for (line, expected) in rows {
            assert_eq!(of(line), expected, "{line}");
        }
    }

    #[test]
    fn a_packages_own_tool_is_called_through_its_manager() {
        let call = |command: &str| format!("pnpm exec {command}");
        let found = as_gate("TZ=UTC vitest && eslint --fix .", call);
        let line = "TZ=UTC pnpm exec vitest run && pnpm exec eslint .";
        assert_eq!(found, AsGate::Instead(line.to_owned(), Fault::Watches));
    }
}
