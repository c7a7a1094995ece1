//! What a look at a large worktree costs beside git itself, in one run.
//!
//! `cargo run --release -p flyball --example look_figures -- [FILES]` makes a repository of so many
//! files (200,000 unless said otherwise) in a temporary folder and times, each as the best of five
//! on a warm index: `git status` and `git add -A` of plain git, and flyball's looks at a worktree
//! that is unchanged, that was edited, and that was committed anew.
#![expect(clippy::print_stdout, reason = "figures are for reading")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use flyball::clock;
use flyball::process::serve_keeper_if_asked;
use flyball::worktree::Worktree;

const ROUNDS: u32 = 5;

type Done<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Done<ExitCode> {
    if let Some(code) = serve_keeper_if_asked() {
        return Ok(code);
    }
    let files = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200_000);
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    fill(root, files)?;
    for args in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-qm", "all"]] {
        git(root, args)?;
    }
    let edit = |words: &str, round: u32| -> Done {
        Ok(fs::write(root.join("d0/e0/f0.txt"), format!("{words} {round}\n"))?)
    };
    let nothing = |_| Ok(());
    let status = ["status", "--porcelain=v2", "-uall", "-z"];
    let plain_status = best(nothing, || git(root, &status))?;
    let plain_add = best(|round| edit("one", round), || git(root, &["add", "-A"]))?;
    git(root, &["commit", "-qm", "edited"])?;
    let mut worktree = Worktree::open(root)?;
    // What a run does with every look: what is there, and which files git is told not to look at.
    let mut look = || -> Done {
        worktree.snapshot(".flyball", Path::new("tasks.json"))?;
        worktree.unwatched();
        Ok(())
    };
    look()?;
    let unchanged = best(nothing, &mut look)?;
    let edited = best(|round| edit("two", round), &mut look)?;
    let commit = |round| {
        edit("three", round)?;
        git(root, &["commit", "-qam", "more"])
    };
    let committed = best(commit, &mut look)?;
    for (name, millis) in [
        ("git status", plain_status),
        ("git add -A, one file edited", plain_add),
        ("both: the most a look may cost", plain_status + plain_add),
        ("look at what is unchanged", unchanged),
        ("look at one edited file", edited),
        ("look after a commit", committed),
    ] {
        println!("{files} files, {name:<32} {millis:>6} ms");
    }
    Ok(ExitCode::SUCCESS)
}

/// The shortest of some rounds, in milliseconds; what comes before is not counted.
fn best(mut before: impl FnMut(u32) -> Done, mut round: impl FnMut() -> Done) -> Done<u128> {
    let mut shortest = u128::MAX;
    for number in 0..ROUNDS {
        before(number)?;
        let since = clock::unique_nanos();
        round()?;
        shortest = shortest.min(clock::unique_nanos().saturating_sub(since));
    }
    Ok(shortest / 1_000_000)
}

fn fill(root: &Path, files: u32) -> Done {
    for number in 0..files {
        let (folder, file) = (number / 100, number % 100);
        let folder = root.join(format!("d{}/e{folder}", folder % 40));
        if file == 0 {
            fs::create_dir_all(&folder)?;
        }
        fs::write(folder.join(format!("f{file}.txt")), format!("{number}\n"))?;
    }
    Ok(())
}

fn git(root: &Path, args: &[&str]) -> Done {
    let person = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "gc.auto=0"];
    let mut command = Command::new("git");
    let done = command.current_dir(root).args(person).args(args).stdout(Stdio::null()).status()?;
    if done.success() { Ok(()) } else { Err(format!("git {args:?} failed").into()) }
}
