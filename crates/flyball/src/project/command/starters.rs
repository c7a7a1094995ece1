//! Programs that only start another one with the words behind them: `npx`, `poetry run`, `cross-env`.

use super::line::Word;
use super::tools::name_of;

/// A program that starts another one.
struct Starter {
    /// Itself and its subcommand.
    words: &'static [&'static str],
    /// Options of its own that take the next word.
    valued: &'static [&'static str],
    /// How many words of its own stand behind its options.
    takes: usize,
}

const fn starter(words: &'static [&'static str]) -> Starter {
    Starter { words, valued: &[], takes: 0 }
}

const fn with(words: &'static [&'static str], valued: &'static [&'static str]) -> Starter {
    Starter { words, valued, takes: 0 }
}

const PACKAGES: &[&str] = &["-p", "--package", "-w", "--workspace"];

/// All of them; the longer one first.
const STARTERS: [Starter; 54] = [
    starter(&["c8"]),
    starter(&["nyc"]),
    with(&["npx"], PACKAGES),
    with(&["bunx"], PACKAGES),
    with(&["pnpx"], PACKAGES),
    with(&["npm", "exec"], PACKAGES),
    with(&["npm", "x"], PACKAGES),
    with(&["pnpm", "exec"], &[]),
    with(&["pnpm", "dlx"], PACKAGES),
    with(&["pnpm", "run"], &[]),
    with(&["pnpm"], &["-C", "--dir", "-F", "--filter"]),
    with(&["yarn", "exec"], &[]),
    with(&["yarn", "dlx"], PACKAGES),
    with(&["yarn", "run"], &[]),
    with(&["yarn"], &["--cwd"]),
    with(&["bun", "x"], PACKAGES),
    with(&["bun", "run"], &[]),
    with(&["poetry", "run"], &[]),
    with(&["uv", "run"], &["--with", "--group", "--extra", "-p", "--python", "--project"]),
    with(&["uv", "tool", "run"], &["--from", "--with", "-p", "--python"]),
    with(&["uvx"], &["--from", "--with", "-p", "--python"]),
    with(&["pipx", "run"], &["--spec", "--python"]),
    starter(&["pipenv", "run"]),
    starter(&["pdm", "run"]),
    starter(&["hatch", "run"]),
    starter(&["rye", "run"]),
    starter(&["bundle", "exec"]),
    starter(&["composer", "exec"]),
    starter(&["mise", "exec"]),
    starter(&["mise", "x"]),
    starter(&["direnv", "exec"]),
    starter(&["python", "-m"]),
    starter(&["php"]),
    with(&["env"], &["-u", "-C"]),
    starter(&["cross-env"]),
    with(&["env-cmd"], &["-f", "--file", "-e", "-r"]),
    with(&["dotenv"], &["-e", "-v", "-c"]),
    with(&["dotenvx", "run"], &["-f", "--env-file"]),
    with(&["xargs"], &["-n", "-P", "-I", "-L", "-d"]),
    Starter { words: &["timeout"], valued: &["-k", "-s"], takes: 1 },
    with(&["nice"], &["-n"]),
    with(&["ionice"], &["-c", "-n"]),
    with(&["stdbuf"], &["-o", "-e", "-i"]),
    with(&["xvfb-run"], &["-s", "-n"]),
    starter(&["sudo"]),
    starter(&["time"]),
    starter(&["nohup"]),
    starter(&["command"]),
    starter(&["exec"]),
    starter(&["!"]),
    starter(&["then"]),
    starter(&["do"]),
    starter(&["else"]),
    starter(&["if"]),
];

/// How many words at the beginning only set variables or start what follows.
pub(super) fn skipped(words: &[Word]) -> Option<usize> {
    let assigned = words.iter().take_while(|word| word.assigns()).count();
    if assigned > 0 {
        return Some(assigned);
    }
    STARTERS.iter().find_map(|starter| starter.skips(words))
}

impl Starter {
    fn skips(&self, words: &[Word]) -> Option<usize> {
        let name = name_of(&words.first()?.value);
        let rest = words.iter().skip(1).map(|word| word.value.as_str());
        let begins = self.words.len() <= words.len()
            && self
                .words
                .iter()
                .copied()
                .eq(std::iter::once(name).chain(rest).take(self.words.len()));
        if !begins {
            return None;
        }
        let mut at = self.words.len();
        while let Some(word) = words.get(at).map(|word| word.value.as_str()) {
            match word {
                "--" => return Some(at.saturating_add(1)),
                _ if self.valued.contains(&word) => at = at.saturating_add(2),
                _ if word.starts_with('-') => at = at.saturating_add(1),
                _ => break,
            }
        }
        Some(at.saturating_add(self.takes))
    }
}
