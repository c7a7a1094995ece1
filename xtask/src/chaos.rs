//! `cargo xtask chaos`, `soak` and `fuzz`: flyball killed at random moments, flyball for a long time, and
//! flyball given what nobody should write. On the built program, in folders that go away again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use flyball_testkit::{chaos, memory};

use crate::say;

/// How many iterations make the first and the last figure: the middle one of them counts.
const SPAN: usize = 100;
/// How much slower the last may be than the first: what a loaded machine makes of it.
const SLOWER_MAX: f64 = 1.5;
/// How much larger it may be at last than after its first tenth. No load changes that.
const LARGER_MAX: f64 = 1.25;
/// How much more it may read and write for an iteration at last than at first. Nor that.
const MORE_MAX: f64 = 1.1;

/// Kills flyball so many times.
#[expect(clippy::disallowed_methods, reason = "a chore may look at the clock")]
pub(crate) fn run(words: &[String]) -> Result<()> {
    let [kills, seed] = numbers(words, [("--kills", 500), ("--seed", 1)])?;
    let folder = folder("chaos")?;
    let program = build(&folder)?;
    let begun = Instant::now();
    let done = chaos::run(&program, &folder, seed, u32::try_from(kills)?);
    fs::remove_dir_all(&folder).ok();
    match done {
        Ok(done) => {
            let took = begun.elapsed().as_secs();
            say(&format!(
                "{} kills of flyball, {} of its keepers, {} runs, all resumed to their end, in {took} s",
                done.kills, done.keeper_kills, done.runs
            ));
            Ok(())
        }
        Err(why) => bail!("{why}"),
    }
}

/// One run of many iterations: what the last cost beside the first.
pub(crate) fn soak(words: &[String]) -> Result<()> {
    let [iterations] = numbers(words, [("--iterations", 1000)])?;
    let folder = folder("soak")?;
    let program = build(&folder)?;
    let measured = soak_in(&program, &folder, iterations);
    fs::remove_dir_all(&folder).ok();
    let Soaked { first, last, hundreds, memory, traffic } = measured?;
    let at = |tenth: usize| memory.get(memory.len() * tenth / 10).copied().unwrap_or(1);
    let [begun, half, ended] = [1, 5, 9].map(at);
    say(&format!(
        "{iterations} iterations: {:.1} ms each of the first {SPAN}, {:.1} ms of the last; it holds {begun} kB \
         after a tenth, {half} kB after half, {ended} kB near the end",
        first * 1e3,
        last * 1e3
    ));
    let hundreds: Vec<String> = hundreds.iter().map(|one| format!("{:.1}", one * 1e3)).collect();
    say(&format!("the middle of each {SPAN}, in ms: {}", hundreds.join(" ")));
    for (what, [early, late]) in ["reads and writes", "bytes of them"].iter().zip(traffic) {
        say(&format!("{what} of an iteration: {early:.0} early, {late:.0} late"));
        ensure!(late / early <= MORE_MAX, "more and more is read or written: {what}");
    }
    #[expect(clippy::cast_precision_loss, reason = "kilobytes")]
    let larger = ended as f64 / begun as f64;
    ensure!(last / first <= SLOWER_MAX, "iterations become slower: {:.2} times", last / first);
    ensure!(larger <= LARGER_MAX, "memory grows: {larger:.2} times");
    Ok(())
}

/// Spoiled inputs for everything that reads what others write.
#[expect(clippy::disallowed_methods, reason = "a chore may look at the clock")]
pub(crate) fn fuzz(words: &[String]) -> Result<()> {
    let [inputs] = numbers(words, [("--inputs", 10_000)])?;
    let begun = Instant::now();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tested = Command::new(cargo)
        .args(["test", "-p", "flyball", "--test", "fuzz"])
        .env("FLYBALL_FUZZ", inputs.to_string())
        .status()?;
    ensure!(tested.success(), "an input was not borne");
    say(&format!("{inputs} spoiled inputs each, in {} s", begun.elapsed().as_secs()));
    Ok(())
}

struct Soaked {
    /// Seconds of an iteration.
    first: f64,
    last: f64,
    /// The same of each hundred.
    hundreds: Vec<f64>,
    /// What the process held, at even distances.
    memory: Vec<u64>,
    /// How often it read and wrote for an iteration, and how many bytes: early, and late.
    traffic: [[f64; 2]; 2],
}

/// How many iterations had begun, how often the process had read and written, and how many bytes.
type Moved = [u64; 3];

/// What an iteration of the first third took of it, and one of the last. The very first ones are left
/// out: they find everything new; and so are the very last: when the run ends, what it had started is
/// waited for, and its reads and writes are counted as the run's.
#[expect(clippy::cast_precision_loss, reason = "counts")]
fn early_and_late(moved: &[Moved]) -> Result<[[f64; 2]; 2]> {
    let count = moved.last().map_or(0, |[iterations, ..]| *iterations);
    let at = |tenth: u64| moved.iter().find(|[begun, ..]| *begun >= count * tenth / 10).copied();
    let between = |from: u64, to: u64| -> Option<[f64; 2]> {
        let ([from, calls, bytes], [to, more_calls, more_bytes]) = (at(from)?, at(to)?);
        let iterations = to.checked_sub(from).filter(|count| *count > 0)? as f64;
        let each = |more: u64, less: u64| Some(more.checked_sub(less)? as f64 / iterations);
        Some([each(more_calls, calls)?, each(more_bytes, bytes)?])
    };
    let (early, late) = (between(1, 4), between(6, 9));
    let ([calls, bytes], [late_calls, late_bytes]) =
        early.zip(late).context("too few iterations to compare")?;
    Ok([[calls, late_calls], [bytes, late_bytes]])
}

fn soak_in(program: &Path, folder: &Path, iterations: u64) -> Result<Soaked> {
    let repo = folder.join("repo");
    fs::create_dir_all(repo.join(".flyball"))?;
    fs::create_dir_all(folder.join("home"))?;
    fs::write(repo.join(".flyball/tasks.json"), r#"{"userStories":[{"id":"a","title":"do a"}]}"#)?;
    fs::write(repo.join(".flyball/.gitignore"), "logs/\nactive.json\n")?;
    let times = folder.join("times");
    let agent = format!(
        "date +%s%N >> {}; echo $FLYBALL_ITERATION > work; git add -A; git commit -qm \"$FLYBALL_ITERATION\"",
        times.display()
    );
    let isolated = |program: &Path| {
        let mut command = Command::new(program);
        command.current_dir(&repo).env("HOME", folder.join("home"));
        command.env("FLYBALL_STATE", folder.join("state"));
        command.env("FLYBALL_TASKS__MAX_ATTEMPTS", "64");
        command.env("FLYBALL_TASKS__MAX_ATTEMPTS_BEFORE_FORCE_NEXT", "64");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "somebody");
            command.env(format!("GIT_{who}_EMAIL"), "somebody@localhost");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    for words in ["init -q -b main", "add -A", "commit -q -m init"] {
        ensure!(
            isolated(Path::new("git")).args(words.split(' ')).status()?.success(),
            "git {words}"
        );
    }
    let count = iterations.to_string();
    let flags = ["run", "--max-iterations", &count, "--max-runtime", "0", "--", "sh", "-c", &agent];
    let mut flyball =
        isolated(program).args(flags).stderr(fs::File::create(folder.join("said"))?).spawn()?;
    let (mut memory, mut moved) = (Vec::new(), Vec::<Moved>::new());
    let status = loop {
        if let Some(status) = flyball.try_wait()? {
            break status;
        }
        memory.extend(memory::held_kib(flyball.id()));
        // Each iteration writes a line of twenty bytes.
        let begun = fs::metadata(&times).map_or(0, |file| file.len() / 20);
        moved.extend(memory::traffic(flyball.id()).map(|[calls, bytes]| [begun, calls, bytes]));
        thread::sleep(Duration::from_millis(250));
    };
    let said = fs::read_to_string(folder.join("said")).unwrap_or_default();
    let end: String = said.lines().rev().take(20).collect::<Vec<_>>().join("\n");
    ensure!(status.code() == Some(1), "it ended with {status}, and not by its limit:\n{end}");
    let starts: Vec<f64> =
        fs::read_to_string(times)?.lines().filter_map(|line| line.parse().ok()).collect();
    ensure!(starts.len() as u64 == iterations, "{} iterations", starts.len());
    let mut spans: Vec<f64> =
        starts.iter().zip(starts.iter().skip(1)).map(|(a, b)| b - a).collect();
    let span = SPAN.min(spans.len() / 2);
    let middle = |part: &mut [f64]| {
        part.sort_by(f64::total_cmp);
        part.get(part.len() / 2).copied().unwrap_or(0.0) / 1e9
    };
    let hundreds = spans.chunks(SPAN).map(|part| middle(&mut part.to_vec())).collect();
    let end = spans.len() - span;
    let first = spans.get_mut(..span).map_or(0.0, middle);
    let last = spans.get_mut(end..).map_or(0.0, middle);
    Ok(Soaked { first, last, hundreds, memory, traffic: early_and_late(&moved)? })
}

/// The release program, as a copy in the folder: a build beside the chore does not change it.
fn build(folder: &Path) -> Result<PathBuf> {
    let copy = folder.join("flyball");
    fs::copy(crate::bench::build()?, &copy)?;
    Ok(copy)
}

fn folder(name: &str) -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("flyball-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The numbers that were given for these names, or what they are without.
pub(crate) fn numbers<const N: usize>(
    words: &[String],
    known: [(&str, u64); N],
) -> Result<[u64; N]> {
    let mut values = known.map(|(_, value)| value);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let place = known.iter().zip(&mut values).find(|((name, _), _)| name == word);
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let (_, value) = place
            .with_context(|| format!("`{word}` is not known; it takes {}", names.join(", ")))?;
        let given = words.next().with_context(|| format!("`{word}` needs a number"))?;
        *value = given.parse().with_context(|| format!("`{given}` is no number for `{word}`"))?;
    }
    Ok(values)
}
