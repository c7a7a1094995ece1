//! `cargo xtask mutants`: small faults put into the core, one at a time, and whether its tests notice.
//!
//! `cargo-mutants` makes the faults and runs the tests; this draws a sample of them by a seed, so that
//! a figure can be repeated, and says what share was noticed.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::chaos::numbers;
use crate::say;

const PACKAGE: &str = "flyball-core";
/// The share of viable faults, in percent, that the tests must notice.
const NOTICED_MIN: usize = 95;
/// Seconds one run of the tests may take: many times what it needs on a loaded machine.
const LIMIT: &str = "180";

/// Draws a sample, tries it and prints what went unnoticed.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let [sample, seed, jobs] = numbers(words, [("--sample", 300), ("--seed", 1), ("--jobs", 1)])?;
    let all = list()?;
    let chosen = draw(&all, seed, usize::try_from(sample)?);
    say(&format!("{} of {} faults, seed {seed}", chosen.len(), all.len()));
    let folder = tempfile::tempdir()?;
    let mut mutants = cargo_mutants();
    mutants.args(["--timeout", LIMIT, "--colors", "never"]);
    mutants.arg("--jobs").arg(jobs.to_string()).arg("--output").arg(folder.path());
    for name in &chosen {
        mutants.arg("--re").arg(exactly(name));
    }
    // A field left out of an expression is tried whatever the patterns say.
    for name in all.iter().filter(|name| name.contains(": delete field ")) {
        if !chosen.contains(&name) {
            mutants.arg("--exclude-re").arg(exactly(name));
        }
    }
    // Its own exit code says that something was missed; what was, is read below.
    mutants.status()?;
    let found = folder.path().join("mutants.out");
    let [caught, missed, hung] =
        ["caught", "missed", "timeout"].map(|name| lines(&found.join(format!("{name}.txt"))));
    let (caught, missed, hung) = (caught?, missed?, hung?);
    let noticed = caught.len() + hung.len();
    let viable = noticed + missed.len();
    ensure!(viable > 0, "no fault could be tried: do the tests of {PACKAGE} pass without one?");
    for name in &missed {
        say(&format!("unnoticed: {name}"));
    }
    say(&format!(
        "{noticed} of {viable} viable faults noticed ({:.1} %), {} of them by tests that never ended",
        percent(noticed, viable),
        hung.len()
    ));
    if noticed * 100 < viable * NOTICED_MIN {
        bail!("fewer than {NOTICED_MIN} % were noticed");
    }
    Ok(())
}

fn cargo_mutants() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["mutants", "--package", PACKAGE]);
    cargo
}

/// Every fault that could be made, by name.
fn list() -> Result<Vec<String>> {
    let listed = cargo_mutants().arg("--list").output()?;
    ensure!(
        listed.status.success(),
        "`cargo mutants` does not answer; install it with `cargo install cargo-mutants --locked`\n{}",
        String::from_utf8_lossy(&listed.stderr)
    );
    Ok(String::from_utf8(listed.stdout)?.lines().map(str::to_owned).collect())
}

/// So many of the names, by lot. A name keeps its lot while others come and go.
fn draw(all: &[String], seed: u64, count: usize) -> Vec<&String> {
    let mut drawn: Vec<&String> = all.iter().collect();
    drawn.sort_by_key(|name| (xxh3_64_with_seed(name.as_bytes(), seed), *name));
    drawn.truncate(count);
    drawn
}

/// A pattern for this very name.
fn exactly(name: &str) -> String {
    let mut pattern = String::from("^");
    for character in name.chars() {
        if !character.is_alphanumeric() && !" _/:,<>\"'=&%!~".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('$');
    pattern
}

fn lines(file: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(file).with_context(|| {
        format!("{} is not there: the tests did not pass without a fault", file.display())
    })?;
    Ok(text.lines().map(str::to_owned).collect())
}

#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn percent(part: usize, whole: usize) -> f64 {
    part as f64 * 100.0 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_same_for_the_same_seed_and_another_for_another() {
        let all: Vec<String> = (0..500).map(|number| format!("fault {number}")).collect();
        assert_eq!(draw(&all, 7, 30), draw(&all, 7, 30));
        assert_ne!(draw(&all, 7, 30), draw(&all, 8, 30));
        let fewer: Vec<String> = all.iter().filter(|name| !name.ends_with('3')).cloned().collect();
        let kept = draw(&fewer, 7, 30);
        let before = draw(&all, 7, 30);
        assert!(before.iter().filter(|name| !name.ends_with('3')).all(|name| kept.contains(name)));
        assert_eq!(draw(&all, 7, 1000).len(), 500);
    }

    #[test]
    fn a_pattern_says_a_name_and_nothing_else() {
        assert_eq!(
            exactly("a/b.rs:1:2: replace f -> Option<u8> with Some(1)"),
            "^a/b\\.rs:1:2: replace f \\-> Option<u8> with Some\\(1\\)$"
        );
    }
}
