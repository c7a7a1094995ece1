//! Chores of the project: `cargo xtask <chore>`.

mod bench;
mod browser;
mod chaos;
mod detect;
mod dist;
mod e2e;
mod features;
mod gates;
mod mutants;
mod reference;
mod scene;
mod sim;
mod tidy;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
Chores of the project

Usage: cargo xtask <chore>

  tidy                        check what a machine can check of taste: sizes, heads, words, links
  bench [turns]               what `flyball run` costs: overhead, memory, many at once; what a session's turns cost (release build)
  browser [--pictures DIR]    the window in a real Chromium, over a real run (chromium-driver, npm)
  browser --figures [PROGRAM] how large and how soon its pages are with 1,000 runs, what the server holds (of `dist`)
  chaos [--kills N] [--seed N]  kill flyball at random moments and resume it: 500 times
  soak [--iterations N]       one long run: what its last iterations cost beside the first
  fuzz [--inputs N]           spoiled inputs for everything that reads what others write: 10,000 each
  detect [FILE] [--firings F] the call ring on recorded runs: what it catches, whom it harms
  detect --vectors FILE       the call ring on cases of other detectors
  dist [--target T]           the program as it is shipped: small, and laid out by what it does most (valgrind)
  e2e [CLIENT…]               real agent clients against the scripted model, installed from npm
  features                    every small build: without features, and with each alone
  gates [FOLDER] [--misses]   what is found in recorded outputs of tools; --tool T, --flyball BIN
  gates --speed [MB] [NAME…]  how fast outputs are read, beside `grep -c FAILED`, and in how much memory
  mutants [--sample N] [--seed N]  faults put into the core: do its tests notice? 300 by lot
  reference [--check]         write the pages of commands and settings, or check them
  sim [--seed N] [--runs N]   simulate runs of the governor: 10,000 from seed 0, or one seed";

fn main() -> ExitCode {
    let mut words = env::args().skip(1);
    let chore = words.next().unwrap_or_default();
    let rest: Vec<String> = words.collect();
    match run(&chore, &rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say_error(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &str, words: &[String]) -> Result<()> {
    match chore {
        "bench" => bench::run(words),
        "browser" => browser::run(words),
        "chaos" => chaos::run(words),
        "soak" => chaos::soak(words),
        "fuzz" => chaos::fuzz(words),
        "detect" => detect::run(words),
        "dist" => dist::run(words),
        "e2e" => e2e::run(words),
        "features" => features::run(words),
        "gates" => gates::run(words),
        "mutants" => mutants::run(words),
        "reference" => reference::run(words),
        "sim" => sim::run(words),
        "tidy" => tidy::run(),
        "" | "help" | "--help" | "-h" => {
            say(HELP);
            Ok(())
        }
        other => bail!("`{other}` is no chore; `cargo xtask help` lists them"),
    }
}

/// Prints a line.
#[expect(clippy::print_stdout, reason = "chores talk to their terminal")]
fn say(line: &str) {
    println!("{line}");
}

#[expect(clippy::print_stderr, reason = "chores talk to their terminal")]
fn say_error(line: &str) {
    eprintln!("{line}");
}
