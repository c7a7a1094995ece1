//! `flyball inspect`: what agents wasted, told from what they have written down of their sessions.

mod annotations;
mod arguments;
mod overview_text;
mod progress;
mod session_text;

use std::io::{self, IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flyball_core::{Millis, Policy};
use serde_json::json;

pub use self::arguments::{Annotations, FailOn, InspectArgs, When};
use self::progress::Bar;
use super::{Globals, fault, replay, words};
use crate::client::ReadRequest;
use crate::config::ReportFormat;
use crate::error::CliError;
use crate::files;
use crate::inspect::{
    Cache, Choice, Detail, FOOTER, Lens, Listed, Looked, Overview, SessionReport, Unheard, csv,
    detail, look, overview, overview_page, session_page, share,
};
use crate::journal::state_dir;
use crate::replay::Limits;
use crate::terminal::{self, Reader};
use crate::transcript::{Found, Source, find, find_at};
use crate::{apart, clock, driver};

/// How many of the worst are told.
const WORST: usize = 10;
/// How many files are named that could not be read.
const COMPLAINTS: usize = 10;
/// Without a path, sessions of this time.
const SINCE: Millis = Millis::from_secs(30 * 24 * 3600);

/// Looks, and tells.
pub fn run(args: &InspectArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let args = &meant(args);
    let lens = lens(args, globals)?;
    let found = found(args, globals)?;
    spare_sources(args, globals, &found)?;
    if let Some(id) = &args.session {
        let id = Some(id.as_str()).filter(|id| !id.is_empty());
        return one_session(args, globals, &found, id, &lens);
    }
    let choice = choice(args, globals);
    if let Some(file) = &args.share {
        return shared(file, globals, &found, &choice, &lens);
    }
    let folder = apart::cache_dir().ok().filter(|_| !args.no_cache);
    let mut cache = folder.map(|folder| Cache::open(&folder, &lens));
    let bar = Bar::new(Reader::of_json(args.json || args.csv));
    let looked = look(found, &lens, cache.as_mut(), &|done, whole| bar.show(done, whole));
    bar.clear();
    if let Some(cache) = &cache {
        // What cannot be kept is read again next time.
        drop(cache.write());
    }
    drop(cache);
    let Looked { reports, unheard, read, kept } = looked;
    let flaws: Vec<String> = reports.iter().filter_map(overview_text::flaw).collect();
    complain(&unheard, &flaws);
    let overview = overview(reports, &choice);
    let nothing = overview.sessions.is_empty() && !args.paths.is_empty();
    if nothing && (!unheard.is_empty() || !flaws.is_empty()) {
        return Err(CliError::data("nothing could be read there")
            .hint("docs/transcripts.md names the formats that are read"));
    }
    tell(args, globals, &overview, (read, kept))?;
    if annotates(args) {
        terminal::write_out(&annotations::github(&overview, &globals.start_dir()?))?;
    }
    let fails = args.fail_on.is_some_and(|least| overview.highest() >= least.rung());
    Ok(if fails { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Names what could not be read, the first of them.
fn complain(unheard: &[Unheard], flaws: &[String]) {
    let line = |one: &Unheard| {
        format!("not read: {}: {}\n", one.path.display(), words::line(&one.why, 300))
    };
    let lines: Vec<String> = flaws.iter().cloned().chain(unheard.iter().map(line)).collect();
    terminal::write_err(&lines.iter().take(COMPLAINTS).cloned().collect::<String>());
    let more = lines.len().saturating_sub(COMPLAINTS);
    if more > 0 {
        terminal::write_err(&format!("and {} not read\n", words::counted(more, "more file")));
    }
}

/// What was meant: `--session FILE` names a file, and so does `--html FILE` unless it is a page.
fn meant(args: &InspectArgs) -> InspectArgs {
    let mut meant = args.clone();
    if let Some(id) = &mut meant.session
        && meant.paths.is_empty()
        && Path::new(id).exists()
    {
        meant.paths.push(PathBuf::from(std::mem::take(id)));
    }
    let is_page = |file: &Path| {
        let end = file.extension().and_then(|end| end.to_str());
        file == Path::new("-") || matches!(end, Some("html" | "htm"))
    };
    if let Some(file) = meant.html.as_mut().filter(|file| !is_page(file)) {
        meant.paths.push(std::mem::replace(file, PathBuf::from("-")));
    }
    meant
}

/// No transcript is ever written over.
fn spare_sources(args: &InspectArgs, globals: &Globals, found: &Found) -> Result<(), CliError> {
    let start = globals.start_dir()?;
    for file in args.share.iter().chain(&args.html) {
        let path = start.join(file);
        let path = path.canonicalize().unwrap_or(path);
        let is_it = |source: &Source| source.path.canonicalize().is_ok_and(|own| own == path);
        if found.sources.iter().any(is_it) {
            return Err(CliError::usage(format!("`{}` is a transcript itself", file.display()))
                .hint("name another file to write to"));
        }
    }
    Ok(())
}

/// The limits that hold here, changed as asked, and the prices.
fn lens(args: &InspectArgs, globals: &Globals) -> Result<Lens, CliError> {
    let config = globals.sources()?.load()?;
    let policy = args.policy.as_ref().map(|file| replay::policy_of(file, globals)).transpose()?;
    let limits = Limits { policy, changes: args.changes.clone() };
    let rules: Policy = limits.upon(&config.policy).map_err(|error| {
        CliError::usage(error.to_string()).hint("`flyball config` shows what is set")
    })?;
    let request = ReadRequest {
        prices: driver::prices(&config),
        free_text: rules.calls.free_text.clone(),
        ..ReadRequest::default()
    };
    Ok(Lens { rules: rules.calls.clone(), request })
}

fn found(args: &InspectArgs, globals: &Globals) -> Result<Found, CliError> {
    if args.paths.is_empty() {
        let agents: Vec<&str> = args.agent.as_deref().into_iter().collect();
        let since = args.since.unwrap_or(When::Ago(SINCE)).moment();
        let env = |name: &str| std::env::var(name).ok();
        return Ok(find(&env, &agents, Some(since)));
    }
    let start = globals.start_dir()?;
    let mut all = Found::default();
    for path in &args.paths {
        let path = start.join(path);
        if path.symlink_metadata().is_err() {
            return Err(CliError::no_input(format!("`{}` is not there", path.display())).hint(
                "name a transcript, or a folder with some; without a path all are looked at",
            ));
        }
        let mut more = find_at(&path);
        all.sources.append(&mut more.sources);
        all.skipped.append(&mut more.skipped);
    }
    // Named twice is read once.
    all.sources.sort_by(|one, other| one.path.cmp(&other.path));
    all.sources.dedup_by(|one, other| one.path == other.path);
    Ok(all)
}

fn choice(args: &InspectArgs, globals: &Globals) -> Choice {
    let by_default = args.paths.is_empty().then_some(When::Ago(SINCE));
    // A folder that is there is meant by its path, whatever it is called.
    let project = args.project.as_ref().map(|project| {
        let folder = globals.start_dir().map(|start| start.join(project)).ok();
        let folder = folder.filter(|folder| folder.is_dir() && project.contains(['/', '.']));
        let folder = folder.and_then(|folder| folder.canonicalize().ok());
        folder.map_or_else(|| project.clone(), |folder| folder.to_string_lossy().into_owned())
    });
    Choice {
        since: args.since.or(by_default).map(When::moment),
        until: args.until.map(When::moment),
        agent: args.agent.clone(),
        project,
    }
}

fn annotates(args: &InspectArgs) -> bool {
    let runs_this = || std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    match args.annotations {
        Some(Annotations::Github) => true,
        Some(Annotations::None) => false,
        None => runs_this() && !args.json && !args.csv && args.html.is_none(),
    }
}

fn tell(
    args: &InspectArgs,
    globals: &Globals,
    overview: &Overview,
    (read, kept): (usize, usize),
) -> Result<(), CliError> {
    let shown = if args.all { usize::MAX } else { WORST };
    if let Some(file) = &args.html {
        return page(file, globals, &overview_page(overview, clock::wall()));
    }
    if args.csv {
        return terminal::write_out(&csv(&overview.sessions));
    }
    if args.json {
        let listed: Vec<serde_json::Value> =
            overview.worst().take(shown).map(with_command).collect();
        let mut all = json!(overview);
        if let Some(all) = all.as_object_mut() {
            all.insert("worst".to_owned(), json!(listed));
            all.insert("transcripts".to_owned(), json!({ "read": read, "unchanged": kept }));
            if !overview.table.is_empty() {
                let lines: Vec<String> =
                    overview.table.to_string().lines().map(str::to_owned).collect();
                all.insert("known_outcomes".to_owned(), json!(lines));
            }
            all.insert("definitions".to_owned(), json!(FOOTER));
        }
        return terminal::write_out(&format!("{all:#}\n"));
    }
    let paint = globals.color.for_stdout();
    let text = overview_text::text(overview, shown, terminal::out_columns(), paint);
    terminal::write_told(&text, Reader::Person)
}

fn with_command(one: &Listed) -> serde_json::Value {
    let mut value = json!(one);
    if let Some(value) = value.as_object_mut() {
        value.insert("open".to_owned(), json!(one.command()));
    }
    value
}

/// Writes a page to a file, or to standard output.
fn page(file: &Path, globals: &Globals, text: &str) -> Result<(), CliError> {
    if file == Path::new("-") {
        if stdout().is_terminal() {
            return Err(CliError::usage("a page is not for a terminal")
                .hint("name a file: `flyball inspect --html=report.html`"));
        }
        return terminal::write_out(text);
    }
    let path = globals.start_dir()?.join(file);
    files::write_whole(&path, text).map_err(fault::file(&path, "written"))?;
    terminal::write_err(&format!("Page written to {}\n", path.display()));
    Ok(())
}

fn one_session(
    args: &InspectArgs,
    globals: &Globals,
    found: &Found,
    id: Option<&str>,
    lens: &Lens,
) -> Result<ExitCode, CliError> {
    let (source, shown) = the_session(found, id, lens)?;
    let path = source.path.display().to_string();
    if let Some(file) = &args.html {
        page(file, globals, &session_page(&shown, &path, clock::wall()))?;
    } else if args.json {
        terminal::write_out(&format!("{:#}\n", session_json(&shown, &path)))?;
    } else {
        let paint = globals.color.for_stdout();
        let text = session_text::text(&shown, &path, terminal::out_columns(), paint);
        terminal::write_told(&text, Reader::Person)?;
    }
    let fails = args.fail_on.is_some_and(|least| shown.session.highest() >= least.rung());
    Ok(if fails { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// A session of the built-in agent, as a report.
pub(super) fn own_session(
    name: &str,
    format: ReportFormat,
    globals: &Globals,
) -> Result<String, CliError> {
    let found = find_at(&state_dir()?.join("journal.sqlite"));
    let lens = lens(&InspectArgs::default(), globals)?;
    let (source, shown) = the_session(&found, Some(name), &lens)?;
    let path = source.path.display().to_string();
    match format {
        ReportFormat::Html => Ok(session_page(&shown, &path, clock::wall())),
        ReportFormat::Md => Ok(session_text::text(&shown, &path, None, terminal::Paint::OFF)),
        ReportFormat::Json => Ok(format!("{:#}\n", session_json(&shown, &path))),
        ReportFormat::Csv => Err(CliError::usage("a session has no rows for a table")
            .hint("--format html, md or json; `flyball inspect --csv` has a row for each session")),
    }
}

fn session_json(shown: &Detail, path: &str) -> serde_json::Value {
    let mut all = json!(shown);
    if let Some(all) = all.as_object_mut() {
        all.insert("path".to_owned(), json!(path));
        all.insert("definitions".to_owned(), json!(FOOTER));
    }
    all
}

fn the_session<'a>(
    found: &'a Found,
    id: Option<&str>,
    lens: &Lens,
) -> Result<(&'a Source, Detail), CliError> {
    let mut others = Vec::new();
    for source in &found.sources {
        let read = detail(source, id, lens).map_err(|error| {
            CliError::io(format!("`{}` could not be read", source.path.display())).cause(error)
        })?;
        match read {
            Ok(shown) if id.is_some() || found.sources.len() == 1 => return Ok((source, shown)),
            Ok(shown) => others.push(shown.session.id),
            Err(sessions) => others.extend(sessions.into_iter().map(|session| session.id)),
        }
    }
    let named = || others.iter().take(5).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    Err(match (id, others.is_empty(), found.skipped.first()) {
        (_, true, Some(skipped)) => {
            CliError::data(format!("`{}`: {}", skipped.path.display(), skipped.why))
                .hint("docs/transcripts.md names the formats that are read")
        }
        (_, true, None) => CliError::no_input("there is no session there")
            .hint("name a transcript: `flyball inspect FILE --session`"),
        (Some(id), false, _) => CliError::no_input(format!("there is no session `{id}` there"))
            .hint(format!("there are {} of them, such as {}", others.len(), named())),
        (None, false, _) => CliError::usage(format!("there are {} sessions there", others.len()))
            .hint(format!("name one of them: `--session=ID`, such as {}", named())),
    })
}

fn shared(
    file: &Path,
    globals: &Globals,
    found: &Found,
    choice: &Choice,
    lens: &Lens,
) -> Result<ExitCode, CliError> {
    let path = globals.start_dir()?.join(file);
    let failed = |error: io::Error| fault::file(&path, "written")(error);
    let mut beside = files::beside(&path, 0o666).map_err(failed)?;
    let meant = |session: &SessionReport, source: &Source| choice.takes(session, source.modified);
    let mut buffered = io::BufWriter::new(beside.as_file_mut());
    let count = share(&found.sources, lens, &meant, &mut buffered)
        .map_err(|error| CliError::io("the sessions could not be copied").cause(error))?;
    drop(buffered);
    beside.persist(&path).map_err(|error| failed(error.error))?;
    terminal::write_err(&format!(
        "{} written to {}: no text, path, name or key is in it\nIt is read by `flyball inspect {}`\n",
        words::counted(usize::try_from(count).unwrap_or(usize::MAX), "session"),
        path.display(),
        file.display(),
    ));
    Ok(ExitCode::SUCCESS)
}
