//! Files that a command line or a program names: what it runs, takes its settings from, or expects.

use super::Sort;
use crate::gate::tamper::shell::Step;

/// Programs that run a script of the shell's.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", ".", "source"];
/// Programs that run a script of another language.
const INTERPRETERS: [&str; 14] = [
    "python", "python2", "python3", "node", "nodejs", "ruby", "perl", "php", "deno", "tsx",
    "ts-node", "lua", "Rscript", "pwsh",
];
/// Options that name a settings file of the program.
const SETTINGS: [&str; 6] = ["-c", "--config", "--config-file", "--rcfile", "--settings", "-C"];
/// What in a name says that a program checks others.
const CHECKING: [&str; 13] = [
    "test", "check", "verif", "valid", "lint", "gate", "assert", "spec", "smoke", "e2e", "ci",
    "runner", "suite",
];
/// What in a path says that it holds what must come out.
const EXPECTING: [&str; 6] =
    ["expected", "golden", "snapshot", "baseline", "reference", "approved"];
/// Folders of programs that serve the work and are not the work.
const SERVING: [&str; 13] = [
    "scripts", "script", "ci", ".ci", "tools", "tool", "hack", "test", "tests", "testing", "dev",
    ".github", "build",
];

/// The files a step runs, or takes its settings from.
pub(super) fn executed(step: &Step) -> Vec<(String, Sort)> {
    let words = &step.words;
    let Some(first) = words.first() else { return Vec::new() };
    let name = first.rsplit('/').next().unwrap_or(first);
    let mut found = Vec::new();
    if first.contains('/') && !first.starts_with('/') {
        found.push((step.path(first), Sort::Shell));
    }
    if step.fed {
        let files = words.iter().skip(1).filter(|word| !word.starts_with('-'));
        found.extend(files.map(|word| (step.path(word), Sort::Shell)));
    }
    let shell = SHELLS.contains(&name);
    if shell || INTERPRETERS.contains(&name) {
        // What it reads instead of a script.
        found.extend(step.input.iter().map(|word| (step.path(word), Sort::Shell)));
        let sort = if shell { Sort::Shell } else { Sort::Program };
        let mut rest = words.iter().skip(1);
        while let Some(word) = rest.next() {
            match word.as_str() {
                "-c" | "-e" if !shell => break,
                "-c" => break,
                "-o" | "-O" if shell => drop(rest.next()),
                "-m" if !shell => {
                    let module = rest.next().map(|name| name.replace('.', "/")).unwrap_or_default();
                    found.push((step.path(&format!("{module}.py")), sort));
                    found.push((step.path(&format!("{module}/__main__.py")), sort));
                    break;
                }
                "run" if name == "deno" => {}
                word if word.starts_with('-') => {}
                word => {
                    found.push((step.path(word), sort));
                    break;
                }
            }
        }
        return found;
    }
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let joined = word.split_once('=').filter(|(option, _)| SETTINGS.contains(option));
        let value = match joined {
            Some((_, value)) => Some(value.to_owned()),
            None if SETTINGS.contains(&word.as_str()) => rest.next().cloned(),
            None => None,
        };
        found.extend(
            value.filter(|value| value.contains('.')).map(|v| (step.path(&v), Sort::Settings)),
        );
    }
    found
}

/// What stands behind the last variable or command of a path: `$HERE/ci/a.sh` is some `ci/a.sh`.
pub(super) fn literal_end(path: &str) -> Option<&str> {
    let (_, rest) = path.rsplit_once('$')?;
    let rest = rest.trim_start_matches(|c: char| c.is_alphanumeric() || "_{(*@#?!".contains(c));
    let rest = rest.trim_start_matches(['"', '\'', ')', '}', '/', '.']);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    (rest.contains('.') && rest.chars().all(plain)).then_some(rest)
}

/// Scripts that a text gives a name of its own: `CHECK=ci/check.sh`.
#[expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the tools themselves look at the case"
)]
pub(super) fn given_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let line = line.trim().strip_prefix("export ").unwrap_or(line.trim());
        let Some((name, value)) = line.split_once('=') else { continue };
        let value = value.trim().trim_matches(['"', '\'']);
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        let script = value.ends_with(".sh") || value.ends_with(".bash");
        if is_name && plain && script && names.len() < 50 {
            names.push(value.to_owned());
        }
    }
    names
}

/// What runs a file, by its first line.
pub(super) fn by_first_line(text: &str) -> Sort {
    let first = text.lines().next().unwrap_or("");
    let other = INTERPRETERS.iter().any(|name| first.contains(name));
    if first.starts_with("#!") && other { Sort::Program } else { Sort::Shell }
}

/// Whether a program is there to check others: its name or its folder says so.
pub(super) fn checks(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or("").to_ascii_lowercase();
    CHECKING.iter().any(|word| name.contains(word)) || parts.any(|dir| SERVING.contains(&dir))
}

/// Whether a file lies where programs do that serve the work.
pub(in crate::gate::tamper) fn serves(path: &str) -> bool {
    path.split('/').rev().skip(1).any(|dir| SERVING.contains(&dir))
}

/// Whether a script is part of the program: it lies where programs do, and nothing calls it a check.
pub(super) fn is_library(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or("");
    ["src", "lib", "app"].contains(&first) && path.contains('/') && !checks(path)
}

/// Scripts a program names in its strings.
pub(super) fn named_scripts(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for piece in text.split(['"', '\'', '`']) {
        for word in piece.split_whitespace() {
            let fits = [".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".rb", ".pl"]
                .iter()
                .any(|end| word.ends_with(end) && word.len() > end.len());
            let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
            if fits && plain && names.len() < 50 {
                names.push(word.to_owned());
            }
        }
    }
    names
}

/// Modules beside it that a program of Python's or JavaScript's takes in: the files they may be.
#[expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the tools themselves look at the case"
)]
pub(super) fn imported(path: &str, text: &str) -> Vec<String> {
    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let step = Step { dir: dir.to_owned(), ..Step::default() };
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let python = line.strip_prefix("from ").or_else(|| line.strip_prefix("import "));
        if let Some(rest) = python.filter(|_| path.ends_with(".py")) {
            let names = if line.starts_with("from ") { 1 } else { 10 };
            for name in rest.split([',', ' ']).filter(|name| !name.is_empty()).take(names) {
                let name = name.trim_start_matches('.').replace('.', "/");
                found.push(step.path(&format!("{name}.py")));
            }
        }
        let script = ["js", "mjs", "cjs", "ts"].iter().any(|end| path.ends_with(end));
        for name in line.split(['\'', '"', '`']).filter(|name| script && name.starts_with('.')) {
            let ends = ["", ".js", ".mjs", ".cjs", ".ts", "/index.js"];
            found.extend(ends.iter().map(|end| step.path(&format!("{name}{end}"))));
        }
    }
    found.truncate(100);
    found
}

/// What a program expects, by files it names in its strings.
pub(super) fn named_data(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for word in text.split(['"', '\'', '`']) {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        let lower = word.to_ascii_lowercase();
        let expects = EXPECTING.iter().any(|mark| lower.contains(mark));
        if plain && expects && word.contains('.') && names.len() < 50 {
            names.push(word.to_owned());
        }
    }
    names
}
