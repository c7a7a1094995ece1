//! `cargo xtask browser`: the window in a real Chromium, over a real run from *at work* to *needs you*,
//! answered in the page, to *complete*, without a reload; many tabs with one stream; a server that dies and
//! comes back; a cookie no other server gets; axe-core; pictures. `--figures` measures instead: how large
//! pages are, how soon they are seen, what the server holds and what a watching page costs a run.
//!
//! Needs Debian's `chromium` and `chromium-driver`; axe-core comes from npm and is not kept.

mod driver;
mod figures;
mod stranger;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use self::driver::Browser;
use crate::say;
use crate::scene::{Scene, Served};

/// Tabs that are open at once.
const TABS: usize = 9;
/// Widths that are looked at, and the looks.
const WIDTHS: [u32; 2] = [1280, 390];
const LOOKS: [&str; 2] = ["light", "dark"];

/// Runs it; `--pictures FOLDER` keeps what was seen, `--figures` measures instead.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let pictures = match words {
        [] => None,
        [flag, folder] if flag == "--pictures" => Some(PathBuf::from(folder)),
        [flag] if flag == "--figures" => return figures::run(None),
        [flag, program] if flag == "--figures" => return figures::run(Some(Path::new(program))),
        _ => bail!("usage: cargo xtask browser [--pictures FOLDER | --figures [PROGRAM]]"),
    };
    let program = built()?;
    let scene = Scene::new(&program)?;
    let served = scene.serve()?;
    let browser = Browser::start(scene.folder())?;
    browser.go(&served.link)?;
    browser.until("the overview", "document.querySelector('#headline') !== null")?;
    browser.until("the stream", "document.querySelector('#live').textContent === 'live'")?;
    browser.run("window.samePage = true")?;
    let story = story(&scene, &browser)?;
    say("from at work to needs you, answered, to complete: no reload");
    let pages = [
        "/".to_owned(),
        format!("/runs/{story}"),
        format!("/runs/{story}/events"),
        "/guards".to_owned(),
        "/tasks".to_owned(),
    ];
    look_at(&browser, &served.origin, &pages, scene.folder(), pictures.as_deref())?;
    tabs(&browser, &served.origin)?;
    say("many tabs, one stream");
    stranger::gets_no_cookie(&browser, &served)?;
    say("no other server of this machine gets the cookie");
    let faults = browser.faults()?;
    ensure!(faults.is_empty(), "the console complains: {}", faults.join("\n"));
    comes_back(&scene, &browser, served)?;
    say("a server that dies is missed, and a new link leads to the one that came after it");
    Ok(())
}

/// The server is killed and another takes its place: the page says so, and is right with a new link.
fn comes_back(scene: &Scene, browser: &Browser, served: Served) -> Result<()> {
    browser.go(&served.origin)?;
    browser.until("the stream", "document.querySelector('#live').textContent === 'live'")?;
    let port = served.port()?;
    served.kill();
    browser.until(
        "the loss to be told",
        "document.querySelector('#live').textContent === 'connection lost'",
    )?;
    let served = scene.serve_at(port)?;
    // Its name and its cookies are new: the old page is nobody to it.
    browser.until(
        "the end of the session to be told",
        "document.querySelector('#live').textContent.startsWith('session ended')",
    )?;
    browser.go(&served.link)?;
    browser.until("the stream", "document.querySelector('#live').textContent === 'live'")?;
    served.stop();
    browser.until(
        "the end to be told",
        "/lost|ended/.test(document.querySelector('#live').textContent)",
    )
}

/// The program under test; the one that `FLYBALL_PROGRAM` names, where it does.
fn built() -> Result<PathBuf> {
    if let Some(program) = env::var_os("FLYBALL_PROGRAM") {
        return fs::canonicalize(program).context("`FLYBALL_PROGRAM` names no program");
    }
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let built = Command::new(cargo).args(["build", "-q", "-p", "flyball"]).status()?;
    ensure!(built.success(), "flyball could not be built");
    let target = env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    Ok(fs::canonicalize(Path::new(&target).join("debug/flyball"))?)
}

/// A run seen from its beginning to its end in one and the same page.
fn story(scene: &Scene, browser: &Browser) -> Result<String> {
    let mut first = scene.start_run()?;
    browser.until(
        "the run at work",
        "document.querySelectorAll('article.card .pulse').length === 1",
    )?;
    ensure!(browser.text("#headline")?.contains("1 at work"), "the headline is live");
    scene.let_go()?;
    browser.until("the question", "document.querySelector('article.ask textarea') !== null")?;
    first.wait()?;
    let asked = browser.text("article.ask .q")?;
    ensure!(asked.contains("Blue or mauve?"), "it asks: {asked}");
    ensure!(browser.text("#headline")?.contains("1 run needs you"), "the headline is live");
    // What is half typed survives a refresh.
    browser.run(
        "const t = document.querySelector('article.ask textarea'); t.focus(); t.value = 'mau'; \
         window.fetched = performance.getEntriesByType('resource').length",
    )?;
    scene.touch_journal()?;
    // Fetched again, and put in its place.
    browser.until(
        "a refresh",
        "performance.getEntriesByType('resource').length > window.fetched && !busy",
    )?;
    let typed = browser.run("return document.querySelector('article.ask textarea').value")?;
    ensure!(typed == json!("mau"), "what was typed is {typed}");
    browser.run(
        "const f = document.querySelector('article.ask form'); f.querySelector('textarea').value = 'mauve'; \
         f.requestSubmit(f.querySelector('button.go'))",
    )?;
    browser.until("the end", "document.querySelector('#ended .chip.good') !== null")?;
    ensure!(
        browser.run("return window.samePage === true")? == json!(true),
        "the page was loaded anew"
    );
    ensure!(scene.colour()? == "mauve", "the answer reached the agent");
    let link = browser.run("return document.querySelector('#ended a').getAttribute('href')")?;
    let link = link.as_str().unwrap_or_default().trim_start_matches("/runs/").to_owned();
    ensure!(!link.is_empty(), "the run is listed");
    Ok(link)
}

/// Every page at every width in every look: nothing that axe-core finds, nothing that scrolls sideways.
fn look_at(
    browser: &Browser,
    origin: &str,
    pages: &[String],
    folder: &Path,
    pictures: Option<&Path>,
) -> Result<()> {
    let axe = axe(folder)?;
    for page in pages {
        for width in WIDTHS {
            for look in LOOKS {
                browser.look(width, look)?;
                browser.go(&format!("{origin}{page}"))?;
                browser.until("the page", "document.readyState === 'complete'")?;
                // What is laid out while the window still changes its width is laid out again.
                browser.until(
                    &format!("{page} at {width} without scrolling sideways"),
                    "document.documentElement.scrollWidth <= innerWidth",
                )?;
                let found = browser.run_async(&format!("{axe}\n{AXE}"))?;
                ensure!(found == json!([]), "{page} at {width}, {look}: {found:#}");
                if let Some(folder) = pictures {
                    fs::create_dir_all(folder)?;
                    let name =
                        page.trim_matches('/').split('/').next_back().unwrap_or("").to_owned();
                    let name = if name.is_empty() { "runs".to_owned() } else { name };
                    let name = if page.matches('/').count() == 2 { "run".to_owned() } else { name };
                    let path = folder.join(format!("{name}-{width}-{look}.png"));
                    fs::write(path, browser.picture()?)?;
                }
            }
        }
    }
    say("axe-core finds nothing, at 1280 and 390 px, light and dark");
    Ok(())
}

/// What axe-core finds, in few words.
const AXE: &str = "const done = arguments[arguments.length - 1]; \
    axe.run(document).then((r) => done(r.violations.map((v) => v.id + ': ' + v.nodes[0].html.slice(0, 200))));";

fn axe(folder: &Path) -> Result<String> {
    let place = folder.join("axe");
    fs::create_dir_all(&place)?;
    let fetched = Command::new("npm")
        .args(["install", "--silent", "--no-save", "--no-audit", "--no-fund", "axe-core@4"])
        .current_dir(&place)
        .status()
        .context("npm")?;
    ensure!(fetched.success(), "axe-core could not be fetched");
    Ok(fs::read_to_string(place.join("node_modules/axe-core/axe.min.js"))?)
}

/// Many tabs of one browser: one of them listens, all of them are live; when it goes, another does.
fn tabs(browser: &Browser, origin: &str) -> Result<()> {
    browser.look(1280, "light")?;
    let mut open = vec![browser.tab()?];
    browser.go(origin)?;
    for _ in 1..TABS {
        open.push(browser.new_tab()?);
        browser.go(origin)?;
    }
    // Who gives a lock back and who takes it are told one after the other.
    let listens = |waiting: usize| {
        let script = format!(
            "const done = arguments[arguments.length - 1]; const look = () => \
             navigator.locks.query().then((q) => q.held.length === 1 && q.pending.length === {waiting} \
             ? done(true) : setTimeout(look, 50)); look()"
        );
        browser.run_async(&script)
    };
    for tab in &open {
        browser.to_tab(tab)?;
        browser.until(
            "every tab to be live",
            "document.querySelector('#live').textContent === 'live'",
        )?;
    }
    listens(TABS - 1).context("one tab listens, the others wait")?;
    let (first, rest) = open.split_first().context("no tab")?;
    browser.to_tab(first)?;
    browser.close_tab()?;
    let last = rest.last().context("no tab")?;
    browser.to_tab(last)?;
    browser
        .until("another tab to listen", "document.querySelector('#live').textContent === 'live'")?;
    listens(TABS - 2).context("another tab listens now")?;
    Ok(())
}
