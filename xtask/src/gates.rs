//! `cargo xtask gates`: how much of what tools say is found in their recorded outputs, and how fast.

#[path = "../../crates/flyball-gates/tests/score/mod.rs"]
mod score;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use flyball_gates::Finding;
use serde::Deserialize;

use self::score::{Capture, Table, Told, captures, judge, wrapped};
use super::say;

/// Where the captures of the project are.
const FOLDER: &str = "crates/flyball-gates/tests/captures";

/// What was asked for.
struct Options {
    folder: PathBuf,
    /// The program to replay through instead of the library.
    flyball: Option<PathBuf>,
    misses: bool,
    /// Whether what stands before lines is tried as well.
    wrapped: bool,
    /// Only captures whose label begins so.
    only: String,
}

pub(crate) fn run(words: &[String]) -> Result<()> {
    if let Some(("--speed", rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return speed(rest);
    }
    let options = options(words)?;
    let all = captures(&options.folder)
        .with_context(|| format!("no captures in {}", options.folder.display()))?;
    if options.wrapped {
        let sameness = wrapped(&all, 1);
        for remark in sameness.remarks.iter().filter(|_| options.misses) {
            say(remark);
        }
        say(sameness.to_string().trim_end());
        return Ok(());
    }
    let mut table = Table::default();
    for capture in all.iter().filter(|capture| capture.label.starts_with(&options.only)) {
        let told = match &options.flyball {
            Some(program) => replay(capture, &options.folder, program)
                .with_context(|| format!("replaying {}", capture.label))?,
            None => capture.told(),
        };
        let score = judge(capture, &told);
        if options.misses && !score.remarks.is_empty() {
            let record = &capture.record;
            say(&format!("\n== {} [{}] exit {}", capture.label, record.command, record.exit));
            for remark in &score.remarks {
                say(&format!("   {remark}"));
            }
        }
        table.add(capture, &score);
    }
    say(table.to_string().trim_end());
    // The floor is that of the project's own captures.
    let is_own = options.folder == Path::new(FOLDER) && options.only.is_empty();
    for sunk in table.sunk().into_iter().filter(|_| is_own) {
        say(&format!("below the floor: {sunk}"));
    }
    Ok(())
}

/// How fast outputs are read beside `grep -c FAILED`, and in how much memory: `[MEGABYTES] [NAME…]`.
fn speed(words: &[String]) -> Result<()> {
    let status = Command::new("cargo")
        .args([
            "run",
            "--quiet",
            "--profile",
            "dist",
            "-p",
            "flyball-gates",
            "--example",
            "throughput",
            "--",
        ])
        .args(words)
        .status()
        .context("cargo")?;
    if !status.success() {
        bail!("the measurement failed");
    }
    Ok(())
}

#[expect(clippy::assigning_clones, reason = "clearer so")]
fn options(words: &[String]) -> Result<Options> {
    let mut options = Options {
        folder: PathBuf::from(FOLDER),
        flyball: None,
        misses: false,
        wrapped: false,
        only: String::new(),
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--misses" => options.misses = true,
            "--wrapped" => options.wrapped = true,
            "--tool" => options.only = value()?.clone(),
            "--flyball" => options.flyball = Some(fs::canonicalize(value()?)?),
            folder if !folder.starts_with('-') => options.folder = PathBuf::from(folder),
            other => {
                bail!(
                    "`{other}` is no option: [FOLDER] [--tool T] [--misses] [--wrapped] [--flyball BIN], \
                     or --speed [MEGABYTES] [NAME…]"
                )
            }
        }
    }
    Ok(options)
}

#[derive(Deserialize)]
struct Segments {
    segments: Vec<(String, usize)>,
}

#[derive(Deserialize)]
struct Printed {
    gate_result: Gates,
}

#[derive(Deserialize)]
struct Gates {
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct Check {
    findings: Vec<Finding>,
}

/// What `flyball gate --json` says when the command's program prints the capture.
fn replay(capture: &Capture, folder: &Path, flyball: &Path) -> Result<Told> {
    let place = tempfile::tempdir()?;
    let root = place.path();
    let command = &capture.record.command;
    let command = if command.starts_with("sh ") || command.starts_with("bash ") {
        "./ci.sh"
    } else {
        command.as_str()
    };
    let program = command.split(' ').find(|word| !word.contains('=')).unwrap_or("./ci.sh");
    let name = program.rsplit('/').next().unwrap_or(program);
    let command = if program.starts_with('/') {
        command.replacen(program, name, 1)
    } else {
        command.to_owned()
    };
    let script = script(capture, folder, root)?;
    let own = program.contains('/') && !program.starts_with('/');
    for path in [Some(root.join(".shim").join(name)), own.then(|| root.join(program))] {
        let Some(path) = path else { continue };
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(&path, &script)?;
        Command::new("chmod").arg("755").arg(&path).status()?;
    }
    Command::new("git").args(["init", "-q"]).arg(root).stdout(Stdio::null()).status()?;
    // Only the first program runs: what comes behind it is part of the capture already.
    let first = command.split([';', '|']).next().unwrap_or(&command);
    let first = first.split("&&").next().unwrap_or(first).trim();
    let line = if first == command { command.clone() } else { format!("{first} # {command}") };
    let settings =
        format!("[[gates.check]]\nname = \"g\"\ncommand = {}\n", serde_json::to_string(&line)?);
    fs::write(root.join("flyball.toml"), settings)?;
    let path = format!("{}:{}", root.join(".shim").display(), std::env::var("PATH")?);
    let output = Command::new(flyball)
        .args(["gate", "--json", "--no-cache"])
        .current_dir(root)
        .env("PATH", path)
        .env("HOME", root)
        .stdin(Stdio::null())
        .output()?;
    let printed: Printed = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let findings = printed.gate_result.checks.into_iter().flat_map(|check| check.findings);
    Ok(Told { findings: findings.collect(), is_green: output.status.success() })
}

/// A shell script that prints the capture to both streams in the same order and ends as it did.
#[expect(clippy::format_push_string, reason = "a text of a few lines")]
fn script(capture: &Capture, folder: &Path, root: &Path) -> Result<String> {
    let record = fs::read(folder.join(format!("{}.json", capture.label)))?;
    let Segments { segments } = serde_json::from_slice(&record)?;
    let parts = root.join(".parts");
    fs::create_dir_all(&parts)?;
    let mut script = String::from("#!/bin/sh\n");
    let mut rest = capture.output.as_slice();
    for (at, (stream, length)) in segments.iter().enumerate() {
        let (part, after) = rest.split_at_checked(*length).unwrap_or((rest, &[]));
        rest = after;
        let path = parts.join(at.to_string());
        fs::write(&path, part)?;
        let stream = if stream == "o" { "1" } else { "2" };
        // Two streams are read one after the other: a moment keeps their order.
        script.push_str(&format!("cat '{}' >&{stream}; sleep 0.01\n", path.display()));
    }
    let exit = capture.record.exit;
    script.push_str(&if exit < 0 {
        format!("kill -{} $$\n", -exit)
    } else {
        format!("exit {exit}\n")
    });
    Ok(script)
}
