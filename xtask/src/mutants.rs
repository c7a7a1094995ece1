//! `cargo xtask mutants`: small faults put into the core, one at a time, and whether its tests notice.
//!
//! `cargo-mutants` makes the faults and runs the tests; this draws a sample of them by a seed, so that
//! a figure can be repeated, and says what share was noticed. A fault meets the quick unit tests first:
//! they are built in a third of the time and notice most. Only what they let pass meets all tests.
//! What was found is kept in `target/mutants`: a run that was interrupted goes on there, as long as no
//! file of the core has changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::chaos::numbers;
use crate::say;

const PACKAGE: &str = "flyball-core";
const FOLDER: &str = "crates/flyball-core";
/// The share of viable faults, in percent, that the tests must notice.
const NOTICED_MIN: usize = 95;
/// Seconds one run of the tests may take: many times what it needs on a loaded machine.
const LIMIT: &str = "180";
/// Unit tests that take longer than all the others together; they are left to the second round.
const SLOW: [&str; 8] = [
    "the_state_stays_small_whatever_happens",
    "long_and_hostile_texts_are_read_once",
    "many_tangled_dependencies_are_put_back_in_little_time",
    "what_is_remembered_is_bounded",
    "memory_is_bounded_while_counting_goes_on",
    "a_remedy_is_never_due_twice_for_the_same_attempts_and_texts_are_bounded",
    "texts_made_to_be_slow_are_read_once",
    "no_edit_makes_a_story_done_that_was_not_moved_legally",
];

/// What became of a fault, as `cargo-mutants` calls its lists.
const CAUGHT: &str = "caught";
const MISSED: &str = "missed";
const HUNG: &str = "timeout";
const UNVIABLE: &str = "unviable";

type Verdicts = BTreeMap<String, String>;

/// Draws a sample, tries it and prints what went unnoticed.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let [sample, seed, jobs] = numbers(words, [("--sample", 300), ("--seed", 1), ("--jobs", 1)])?;
    let all = list()?;
    let chosen = draw(&all, seed, usize::try_from(sample)?);
    let folder = kept()?;
    say(&format!("{} of {} faults, seed {seed}; {}", chosen.len(), all.len(), folder.display()));
    let quick = Round { folder: folder.join("quick"), is_quick: true, jobs };
    let first = quick.tried(&all, &chosen)?;
    let is_missed = |name: &&String| first.get(*name).is_some_and(|verdict| verdict == MISSED);
    let passed: Vec<&String> = chosen.iter().copied().filter(is_missed).collect();
    let whole = Round { folder: folder.join("whole"), is_quick: false, jobs };
    let second = whole.tried(&all, &passed)?;
    let verdict = |name: &String| second.get(name).or_else(|| first.get(name));
    let of = |wanted: &str| {
        let named = chosen.iter().filter(|name| verdict(name).is_some_and(|one| one == wanted));
        named.copied().collect::<Vec<_>>()
    };
    let [caught, missed, hung, unviable] = [CAUGHT, MISSED, HUNG, UNVIABLE].map(of);
    let noticed = caught.len() + hung.len();
    let viable = noticed + missed.len();
    let tried = viable + unviable.len();
    ensure!(tried == chosen.len(), "{tried} of {} were tried; call it again", chosen.len());
    ensure!(viable > 0, "no fault could be tried");
    for name in &missed {
        say(&format!("unnoticed: {name}"));
    }
    say(&format!(
        "{noticed} of {viable} viable faults noticed ({:.1} %), {} of them by tests that never \
         ended; {} do not compile",
        percent(noticed, viable),
        hung.len(),
        unviable.len()
    ));
    if noticed * 100 < viable * NOTICED_MIN {
        bail!("fewer than {NOTICED_MIN} % were noticed");
    }
    Ok(())
}

/// Faults tried with some or all of the tests.
struct Round {
    folder: PathBuf,
    is_quick: bool,
    jobs: u64,
}

impl Round {
    /// What becomes of these faults; those that were tried before are not tried again.
    fn tried(&self, all: &[String], wanted: &[&String]) -> Result<Verdicts> {
        let lists = self.folder.join("mutants.out");
        let mut known = read(&self.folder)?;
        known.extend(read(&lists)?);
        let open = |name: &&String| wanted.contains(name) && !known.contains_key(*name);
        let others: Vec<&str> = all.iter().filter(|one| !open(one)).map(String::as_str).collect();
        if others.len() == all.len() {
            return Ok(known);
        }
        write(&self.folder, &known)?;
        // What it takes for noticed before, it does not try again. By patterns it could not be told:
        // a field left out of an expression is tried whatever they say.
        fs::remove_dir_all(&lists).or_else(absent)?;
        fs::create_dir_all(&lists)?;
        fs::write(lists.join("previously_caught.txt"), others.join("\n"))?;
        // Its own exit code says that something was missed; what was, is read below.
        self.command().status()?;
        let found = read(&lists)?;
        ensure!(!found.is_empty(), "nothing was tried: do the tests pass without a fault?");
        known.extend(found);
        Ok(known)
    }

    fn command(&self) -> Command {
        let mut mutants = cargo_mutants();
        mutants.args(["--iterate", "--timeout", LIMIT, "--colors", "never"]);
        mutants.arg("--jobs").arg(self.jobs.to_string()).arg("--output").arg(&self.folder);
        // A case that one fault breaks is no test for the next, and need not be a small one.
        mutants.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
        mutants.env("PROPTEST_MAX_SHRINK_ITERS", "0");
        mutants.env("CARGO_PROFILE_DEV_DEBUG", "false");
        if self.is_quick {
            mutants.args(["--cargo-arg", "--lib", "--", "--"]);
            for name in SLOW {
                mutants.args(["--skip", name]);
            }
        }
        mutants
    }
}

/// Where is kept what becomes of faults in the core as it is now.
fn kept() -> Result<PathBuf> {
    let listed = Command::new("git").args(["ls-files", "-z", FOLDER]).output()?;
    let mut state = Xxh3::new();
    for name in String::from_utf8(listed.stdout)?.split_terminator('\0') {
        state.update(name.as_bytes());
        state.update(&fs::read(name).with_context(|| name.to_owned())?);
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Ok(Path::new(&target).join(format!("mutants/{:016x}", state.digest())))
}

/// The lists of a folder, as far as they are there.
fn read(folder: &Path) -> Result<Verdicts> {
    let mut verdicts = Verdicts::new();
    for verdict in [CAUGHT, MISSED, HUNG, UNVIABLE] {
        let text = fs::read_to_string(folder.join(format!("{verdict}.txt")))
            .or_else(|error| absent(error).map(|()| String::new()))?;
        verdicts.extend(text.lines().map(|name| (name.to_owned(), verdict.to_owned())));
    }
    Ok(verdicts)
}

fn write(folder: &Path, verdicts: &Verdicts) -> Result<()> {
    fs::create_dir_all(folder)?;
    for wanted in [CAUGHT, MISSED, HUNG, UNVIABLE] {
        let names = verdicts.iter().filter(|(_, verdict)| *verdict == wanted);
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        fs::write(folder.join(format!("{wanted}.txt")), names.join("\n"))?;
    }
    Ok(())
}

fn absent(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
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
    fn what_was_found_is_read_again_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), Verdicts::new(), "nothing was tried yet");
        let found = [("a.rs:1:2: replace f with ()", CAUGHT), ("b", HUNG), ("c", UNVIABLE)];
        let found: Verdicts =
            found.map(|(name, verdict)| (name.to_owned(), verdict.to_owned())).into();
        write(folder.path(), &found).unwrap();
        assert_eq!(read(folder.path()).unwrap(), found);
    }
}
