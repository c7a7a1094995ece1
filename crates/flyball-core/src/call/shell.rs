//! Whether a shell line changes files, as far as can be told from the line (A3).
//!
//! A guess that is right for what agents write: a redirection into a file, a program that is there to
//! change files, or a script in the line that opens one for writing. Builds and tests are none.

use alloc::vec::Vec;

/// Programs that change files whatever their arguments.
const PROGRAMS: [&str; 25] = [
    "apply_patch",
    "autopep8",
    "black",
    "chmod",
    "chown",
    "cp",
    "dd",
    "ed",
    "install",
    "isort",
    "ln",
    "mkdir",
    "mv",
    "patch",
    "rm",
    "rmdir",
    "rsync",
    "rustfmt",
    "tee",
    "touch",
    "truncate",
    "unlink",
    "unzip",
    "wget",
    "yapf",
];

/// Programs that do with one of these as their first word.
const SUBCOMMANDS: [(&str, &[&str]); 15] = [
    (
        "git",
        &[
            "add",
            "am",
            "apply",
            "checkout",
            "cherry-pick",
            "clean",
            "clone",
            "commit",
            "init",
            "merge",
            "mv",
            "pull",
            "rebase",
            "reset",
            "restore",
            "revert",
            "rm",
            "stash",
            "switch",
        ],
    ),
    ("cargo", &["add", "fix", "fmt", "init", "install", "new", "remove", "update"]),
    ("npm", &["add", "ci", "i", "init", "install", "remove", "uninstall", "update"]),
    ("pnpm", &["add", "i", "install", "remove", "update"]),
    ("yarn", &["add", "install", "remove", "upgrade"]),
    ("bun", &["add", "i", "install", "remove", "update"]),
    ("pip", &["install", "uninstall"]),
    ("pip3", &["install", "uninstall"]),
    ("uv", &["add", "pip", "remove", "sync"]),
    ("poetry", &["add", "install", "remove", "update"]),
    ("go", &["fmt", "generate", "get", "install", "mod"]),
    ("apt", &["install", "remove"]),
    ("apt-get", &["install", "remove"]),
    ("ruff", &["format"]),
    ("conda", &["create", "install", "remove", "update"]),
];

/// Programs that do with one of these among their words.
const FLAGS: [(&str, &[&str]); 8] = [
    ("sed", &["-i", "--in-place"]),
    ("perl", &["-i", "-pi"]),
    ("gofmt", &["-w"]),
    ("prettier", &["--write", "-w"]),
    ("eslint", &["--fix"]),
    ("ruff", &["--fix"]),
    ("curl", &["-o", "-O", "--output", "--remote-name"]),
    ("tar", &["x", "-x", "xf", "-xf", "xzf", "-xzf", "xvf", "-xvf", "--extract"]),
];

/// Programs whose scripts may stand in the line, and words of scripts that write.
const INTERPRETERS: [&str; 6] = ["python", "python3", "node", "ruby", "perl", "php"];
const WRITES: [&str; 9] = [
    ".write(",
    ".write_text(",
    "writeFile",
    "File.write",
    "'w')",
    "\"w\")",
    "shutil.",
    "os.remove",
    "file_put_contents",
];

/// Programs that only start another.
const WRAPPERS: [&str; 9] =
    ["sudo", "env", "time", "nice", "nohup", "command", "exec", "xargs", "npx"];

/// Whether this shell line changes files.
pub fn mutates(command: &str) -> bool {
    let parts = split(command);
    parts.iter().any(|part| part.redirects || part.changes())
        || (parts.iter().any(Part::interprets) && WRITES.iter().any(|word| command.contains(word)))
}

/// One simple command of a line.
#[derive(Default)]
struct Part<'a> {
    words: Vec<&'a str>,
    redirects: bool,
}

impl Part<'_> {
    /// The words from the program on: without assignments and programs that only start it.
    fn command(&self) -> impl Iterator<Item = &str> {
        let leads = |word: &&&str| {
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let is_setting = word.contains('=') && !word.starts_with('-');
            WRAPPERS.contains(word) || **word == "timeout" || is_setting || is_number
        };
        self.words.iter().skip_while(leads).copied()
    }

    fn program(&self) -> &str {
        let path = self.command().next().unwrap_or("");
        path.rsplit('/').next().unwrap_or(path)
    }

    /// The first word behind the program that is no option, nor the folder `-C` names.
    fn subcommand(&self) -> Option<&str> {
        let mut words = self.command().skip(1);
        while let Some(word) = words.next() {
            match word {
                "-C" => drop(words.next()),
                _ if word.starts_with('-') => {}
                _ => return Some(word),
            }
        }
        None
    }

    fn interprets(&self) -> bool {
        INTERPRETERS.contains(&self.program())
    }

    fn changes(&self) -> bool {
        let program = self.program();
        let of = |table: &[(&str, &[&str])], word: &str| {
            table.iter().any(|(name, words)| *name == program && words.contains(&word))
        };
        let mut rest = self.command().skip(1);
        PROGRAMS.contains(&program)
            || self.subcommand().is_some_and(|first| of(&SUBCOMMANDS, first))
            || rest.any(|word| of(&FLAGS, word) || (program == "sed" && word.starts_with("-i")))
    }
}

/// The simple commands of a line, cut at `;`, `&`, `|`, parentheses and line ends outside of quotes.
fn split(line: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::from([Part::default()]);
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let Some(part) = parts.last_mut() else { break };
        let length = match first {
            ';' | '&' | '|' | '\n' | '(' | ')' | '{' | '}' | '`' => {
                parts.push(Part::default());
                first.len_utf8()
            }
            '>' => {
                let target = rest.trim_start_matches(['>', '|']);
                part.redirects |= !is_no_file(target.trim_start_matches([' ', '\t']));
                rest.len() - target.len() + usize::from(target.starts_with('&'))
            }
            _ if first.is_whitespace() || first == '<' => first.len_utf8(),
            _ => {
                let end = word_end(rest);
                let word = rest.get(..end).unwrap_or(rest);
                // A number right before a redirection names what is redirected.
                let is_target = rest.get(end..).is_some_and(|after| after.starts_with('>'));
                if !is_target || !word.bytes().all(|byte| byte.is_ascii_digit()) {
                    part.words.push(word);
                }
                end
            }
        };
        rest = rest.get(length..).unwrap_or("");
    }
    parts
}

/// Whether a redirection leads to another stream or nowhere.
fn is_no_file(target: &str) -> bool {
    target.starts_with('&') || target.starts_with("/dev/") || target.starts_with('(')
}

/// Where the word ends that begins here; what stands in quotes belongs to it.
fn word_end(text: &str) -> usize {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None | Some('"'), '\\') => escaped = true,
            (None, '"' | '\'') => quote = Some(c),
            (None, _) if c.is_whitespace() || ";&|(){}`<>".contains(c) => return at.max(1),
            (Some(_) | None, _) => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_files_is_known_by_its_line() {
        for line in [
            "rm -rf build",
            "cd src && mv a.rs b.rs",
            "cat <<'EOF' > reproduce.py\nprint(1)\nEOF",
            "echo x >> notes.txt",
            "sed -i 's/a/b/' x.py",
            "sed -i.bak s/a/b/ x.py",
            "FOO=1 sudo /bin/cp a b",
            "git commit -m 'x'",
            "git -C x checkout .; ls",
            "timeout 5 touch a",
            "find . -name '*.o' | xargs rm",
            "python - <<'EOF'\nopen('a', 'w').write('x')\nEOF",
            "pip install requests",
            "cargo fmt",
            "npx prettier --write .",
            "make 2>&1 | tee log.txt",
            "grep x y >|out",
        ] {
            assert!(mutates(line), "{line}");
        }
        for line in [
            "",
            "ls -la",
            "cat a.rs",
            "cargo test 2>&1 | tail -5",
            "grep -n '> x' a.txt",
            "git status; git diff --stat",
            "git log --oneline | head",
            "python -m pytest -q > /dev/null",
            "python -c 'print(1 > 0)'",
            "sed -n 1,20p a.rs",
            "echo \"rm -rf x\"",
            "find . -type f",
            "awk '{ print $1 }' a > /dev/stderr",
            "diff <(sort a) <(sort b)",
            "tar tf a.tar",
        ] {
            assert!(!mutates(line), "{line}");
        }
    }

    #[test]
    fn any_line_at_all_is_taken() {
        for line in ["'", "\"\\", "ä>", "\\", ">", "a'b\\'c", "((((", "<<<", "é\u{0}|\u{7f}>é"] {
            mutates(line);
        }
    }
}
