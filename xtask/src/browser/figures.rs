//! What the window's pages weigh, how soon they are seen, what the server holds, and what a page that
//! watches costs a run: with 1,000 runs, the latest of which has 100,000 events. Every figure has its
//! counterpart in the same browser and the same minute, for machines differ.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flyball_testkit::memory::{held_kib, resident_kib};
use serde_json::{Value, json};

use super::driver::Browser;
use crate::scene::{Scene, Served, fill, pages};
use crate::{dist, say};

const RUNS: &str = "1000";
const EVENTS: &str = "100000";
/// How often each page is opened; the median counts.
const LOOKS: usize = 7;
/// The most a page may weigh, and the server hold with all it has mapped, in bytes.
const PAGE_MAX: u64 = 50_000;
const RESIDENT_MAX: u64 = 15_000_000;
/// How often a run is made with and without a page that watches.
const PAIRS: usize = 6;

/// Measures, and fails where something is above what it may be.
pub(super) fn run(program: Option<&Path>) -> Result<()> {
    let program = match program {
        Some(program) => fs::canonicalize(program)?,
        None => dist::build(None)?,
    };
    let scene = Scene::new(&program)?;
    let empty = Scene::new(&program)?;
    fill(&scene, RUNS, EVENTS)?;
    let (served, nothing) = (scene.serve()?, empty.serve()?);
    let browser = Browser::start(scene.folder())?;
    browser.look(1280, "light")?;
    browser.go(&nothing.link)?;
    browser.go(&served.link)?;
    let run = browser.run_async(
        "const done = arguments[arguments.length - 1]; \
         fetch('/api/runs?limit=1').then((r) => r.json()).then((r) => done(r.runs[0].run))",
    )?;
    let run = run.as_str().context("no run")?.to_owned();
    let pages = pages(&run);
    let mut wrong = Vec::new();
    // The first look at a run reads all its events, and the first at the guards all runs.
    for page in &pages {
        browser.go(&format!("{}{page}", served.origin))?;
    }
    say(
        "page                                            bytes   seen after   an empty page   ratio",
    );
    for page in &pages {
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for _ in 0..LOOKS {
            other.push(seen_after(&browser, &format!("{}/", nothing.origin))?);
            own.push(seen_after(&browser, &format!("{}{page}", served.origin))?);
        }
        let bytes = browser.run_async(
            "const done = arguments[arguments.length - 1]; \
             fetch(location.href).then((r) => r.text()).then((t) => done(new Blob([t]).size))",
        )?;
        let bytes = bytes.as_u64().context("no size")?;
        let (own, other) = (median(&mut own), median(&mut other));
        let ratio = own / other.max(1.0);
        let name = page.replace(&run, "RUN");
        say(&format!("{name:44} {bytes:8}   {own:7.0} ms   {other:10.0} ms   {ratio:5.2}"));
        if bytes > PAGE_MAX {
            wrong.push(format!("{name} has {bytes} bytes"));
        }
        if ratio > 2.0 {
            wrong.push(format!("{name} is seen {ratio:.2} times as late as an empty page"));
        }
    }
    memory(&served, &mut wrong)?;
    cost_of_watching(&empty, &browser, &nothing, &mut wrong)?;
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}

/// What the server holds after all pages were looked at.
fn memory(served: &Served, wrong: &mut Vec<String>) -> Result<()> {
    let held = held(served)?;
    let resident = resident_kib(served.pid()).context("the server is gone")? * 1024;
    say(&format!(
        "the server holds {:.1} MB of its own, {:.1} MB with the program and libraries it shares",
        mega(held),
        mega(resident)
    ));
    if resident > RESIDENT_MAX {
        wrong.push(format!("{:.1} MB of the server are resident", mega(resident)));
    }
    Ok(())
}

/// What a page that watches costs a run.
fn cost_of_watching(
    scene: &Scene,
    browser: &Browser,
    served: &Served,
    wrong: &mut Vec<String>,
) -> Result<()> {
    let (watched, alone) = watching(scene, browser, served)?;
    let ratio = sum(&watched) / sum(&alone);
    say(&format!(
        "CPU time of a run: alone {}, watched {}, ratio {ratio:.3}",
        range(&alone),
        range(&watched)
    ));
    // A machine with other work makes some runs dearer, watched or not; a price all of them pay is one.
    let least = |figures: &[f64]| figures.iter().copied().fold(f64::MAX, f64::min);
    if ratio > 1.01 && least(&watched) > least(&alone) * 1.01 {
        wrong.push(format!("a run that is watched takes {ratio:.3} times as much CPU time"));
    }
    Ok(())
}

/// Milliseconds until something of the page is seen.
fn seen_after(browser: &Browser, address: &str) -> Result<f64> {
    browser.go(address)?;
    let painted = browser.run_async(
        "const done = arguments[arguments.length - 1]; const look = () => { \
         const [p] = performance.getEntriesByName('first-contentful-paint'); \
         p ? done(p.startTime) : setTimeout(look, 5) }; look()",
    )?;
    painted.as_f64().context("nothing was painted")
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(0.0)
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
const fn to_figure(count: u64) -> f64 {
    count as f64
}

fn mega(bytes: u64) -> f64 {
    to_figure(bytes) / 1e6
}

/// Memory that is the server's own: its program is in the file it was started from.
fn held(served: &Served) -> Result<u64> {
    Ok(held_kib(served.pid()).context("the server is gone")? * 1024)
}

/// CPU time of runs with a page that watches them, and without, in turns. The server is there all the
/// time: a run that is the last to close the journal has to tidy it, and one that is watched never is.
fn watching(scene: &Scene, browser: &Browser, served: &Served) -> Result<(Vec<f64>, Vec<f64>)> {
    let (mut watched, mut alone) = (Vec::new(), Vec::new());
    for turn in 0..PAIRS * 2 {
        // First the one, then the other, then the other again: what goes on beside changes slowly.
        if matches!(turn % 4, 0 | 3) {
            browser.go(&served.origin)?;
            browser
                .until("the stream", "document.querySelector('#live').textContent === 'live'")?;
            watched.push(to_figure(scene.cpu_of_busy_run()?));
        } else {
            browser.go("about:blank")?;
            let left = browser.run("return document.title")?;
            ensure!(left == json!("") || left == Value::Null, "the page was left: {left}");
            alone.push(to_figure(scene.cpu_of_busy_run()?));
        }
    }
    Ok((watched, alone))
}

fn sum(figures: &[f64]) -> f64 {
    figures.iter().sum()
}

/// The least and the most of some figures, in words.
fn range(figures: &[f64]) -> String {
    let least = figures.iter().copied().fold(f64::MAX, f64::min);
    let most = figures.iter().copied().fold(0.0, f64::max);
    format!("{least:.0} to {most:.0} ms")
}
