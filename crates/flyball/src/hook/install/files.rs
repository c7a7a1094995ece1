//! Files changed and changed back. What a file was before is kept in flyball's state folder, so that
//! it can be restored byte for byte.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Change, table};
use crate::client::hook_home::HookContent;
use crate::error::CliError;
use crate::files;

/// The largest settings of a client that are read.
const SETTINGS_MAX: u64 = 16 * 1024 * 1024;

/// A file of a client, and what of it is flyball's.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) agent: &'static str,
    pub(super) path: PathBuf,
    pub(super) content: HookContent,
}

/// What a file was before flyball changed it.
#[derive(Debug, Serialize, Deserialize)]
struct Earlier {
    path: PathBuf,
    /// Its text; none when there was no file.
    before: Option<String>,
    /// What flyball made of it.
    written: String,
    /// Folders flyball made for it, innermost last.
    folders: Vec<PathBuf>,
}

/// Refuses to touch a file that is someone else's, or that cannot be changed.
pub(super) fn refuse_foreign(target: &Target, state: &Path) -> Result<(), CliError> {
    let path = real(&target.path);
    let Some(text) = read(&path)? else { return Ok(()) };
    let shown = path.display();
    match &target.content {
        HookContent::Whole { mark, .. } if !text.contains(mark) => {
            return Err(CliError::usage(format!("`{shown}` exists and is not flyball's"))
                .hint(format!("mv {shown} {shown}.mine, then install again")));
        }
        HookContent::Whole { .. } => refuse_changed(&path, &text, state)?,
        HookContent::Part(hooks) => {
            add(&text, hooks, &path)?;
        }
    }
    refuse_read_only(&path)
}

/// A whole file of flyball's that someone has changed since is not flyball's alone any more.
fn refuse_changed(path: &Path, now: &str, state: &Path) -> Result<(), CliError> {
    let shown = path.display();
    match Earlier::load(state, path) {
        Some(earlier) if earlier.written != now => Err(CliError::usage(format!(
            "`{shown}` was changed since flyball wrote it, and nothing was done"
        ))
        .hint(format!("rm {shown}, or mv it away to keep what was added, then try again"))),
        Some(_) | None => Ok(()),
    }
}

fn refuse_read_only(path: &Path) -> Result<(), CliError> {
    let read_only = fs::metadata(path).is_ok_and(|found| found.permissions().readonly());
    if !read_only {
        return Ok(());
    }
    let shown = path.display();
    Err(CliError::io(format!("`{shown}` is read-only, and nothing was changed"))
        .hint(format!("chmod u+w {shown}, then try again")))
}

/// Puts flyball's part into a file.
pub(super) fn install(target: &Target, state: &Path) -> Result<Change, CliError> {
    if self::state(target) == Some(true) {
        return Ok(Change::Unchanged);
    }
    let path = real(&target.path);
    let now = read(&path)?;
    let earlier = Earlier::load(state, &path);
    let (before, mut folders) = match earlier {
        Some(earlier) if now.as_ref() == Some(&earlier.written) => {
            (earlier.before, earlier.folders)
        }
        Some(earlier) => (without_ours(target, now.as_deref(), &path)?, earlier.folders),
        None => (without_ours(target, now.as_deref(), &path)?, Vec::new()),
    };
    let written = match &target.content {
        HookContent::Whole { text, .. } => text.clone(),
        HookContent::Part(hooks) => add(before.as_deref().unwrap_or_default(), hooks, &path)?,
    };
    make_folders(&path, &mut folders)?;
    // Kept first: a file that is changed can then always be changed back.
    Earlier { path: path.clone(), before, written: written.clone(), folders }.save(state)?;
    replace(&path, &written, None)?;
    Ok(Change::Installed)
}

/// Takes flyball's part out of a file.
pub(super) fn remove(target: &Target, state: &Path) -> Result<Change, CliError> {
    let path = real(&target.path);
    let Some(now) = read(&path)? else {
        Earlier::forget(state, &path);
        return Ok(Change::Absent);
    };
    let earlier = Earlier::load(state, &path);
    let untouched = earlier.as_ref().is_some_and(|earlier| earlier.written == now);
    let folders = earlier.as_ref().map(|one| one.folders.clone()).unwrap_or_default();
    let before = match earlier {
        Some(earlier) if untouched => earlier.before,
        Some(_) | None => {
            let before = without_ours(target, Some(&now), &path)?;
            if before.as_ref() == Some(&now) {
                Earlier::forget(state, &path);
                return Ok(Change::Absent);
            }
            if matches!(target.content, HookContent::Whole { .. }) {
                refuse_changed(&path, &now, state)?;
            }
            before
        }
    };
    refuse_read_only(&path)?;
    if let Some(text) = before {
        replace(&path, &text, None)?;
    } else {
        files::remove(&path).map_err(|error| failed("removed", &path, &error))?;
        for folder in folders.iter().rev() {
            // Stays when something else has come into it.
            fs::remove_dir(folder).ok();
        }
    }
    Earlier::forget(state, &path);
    Ok(Change::Removed)
}

/// Whether a file holds flyball's part, and whether just so.
pub(super) fn state(target: &Target) -> Option<bool> {
    let now = read(&target.path).ok().flatten()?;
    match &target.content {
        HookContent::Whole { text, mark } => now.contains(mark).then(|| now == *text),
        HookContent::Part(hooks) => table::holds(&now, target.agent, hooks),
    }
}

/// The text without flyball's part; none when nothing would be left.
fn without_ours(
    target: &Target,
    now: Option<&str>,
    path: &Path,
) -> Result<Option<String>, CliError> {
    let Some(now) = now else { return Ok(None) };
    if let HookContent::Whole { mark, .. } = target.content {
        return Ok((!now.contains(mark)).then(|| now.to_owned()));
    }
    // What nobody could read holds no hook that anybody would run, unless it names one.
    if !now.contains(&format!(" hook {} ", target.agent)) {
        return Ok(Some(now.to_owned()));
    }
    table::take_out(now, target.agent).map_err(|error| no_json(path, &error))
}

/// The text of settings with flyball's hooks; an empty one has no settings yet.
fn add(text: &str, hooks: &Map<String, Value>, path: &Path) -> Result<String, CliError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    table::add(text, hooks).map_err(|trouble| match trouble {
        table::Trouble::Unreadable(error) => no_json(path, &error),
        table::Trouble::Occupied => {
            let shown = path.display();
            CliError::data(format!(
                "`{shown}` has something else where hooks belong, and nothing was changed"
            ))
            .hint(format!("make `hooks` in {shown} an object of lists, then try again"))
        }
    })
}

fn no_json(path: &Path, error: &jsonc_parser::errors::ParseError) -> CliError {
    let shown = path.display();
    CliError::data(format!("`{shown}` is no JSON, and nothing was changed"))
        .cause(error)
        .hint(format!("put {shown} right, then try again"))
}

fn read(path: &Path) -> Result<Option<String>, CliError> {
    let found = files::optional(files::read_text(path, SETTINGS_MAX));
    found.map_err(|error| failed("read", path, &error))
}

/// The file a link leads to, there or not: it is changed, not the link.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match fs::read_link(path) {
        Ok(to) => path.parent().unwrap_or(path).join(to),
        Err(_) => path.to_path_buf(),
    }
}

/// Writes a file anew, whole or not at all, with these rights or those it had.
fn replace(path: &Path, text: &str, rights: Option<u32>) -> Result<(), CliError> {
    let had = fs::metadata(path).ok().map(|found| found.permissions().mode() & 0o7777);
    let write = || -> io::Result<()> {
        let mut file = files::beside(path, had.or(rights).unwrap_or(0o666))?;
        file.write_all(text.as_bytes())?;
        if let Some(had) = had {
            file.as_file().set_permissions(fs::Permissions::from_mode(had))?;
        }
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| failed("written", path, &error))
}

fn make_folders(path: &Path, made: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(path);
    let missing: Vec<&Path> = folder.ancestors().take_while(|one| !one.exists()).collect();
    for one in missing.into_iter().rev() {
        fs::create_dir(one).map_err(|error| failed("made", one, &error))?;
        made.push(one.to_path_buf());
    }
    Ok(())
}

fn failed(done: &str, path: &Path, error: &io::Error) -> CliError {
    CliError::io(format!("`{}` could not be {done}", path.display())).cause(error)
}

impl Earlier {
    fn place(state: &Path, path: &Path) -> PathBuf {
        let name = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
        state.join("hooks").join(format!("{name}.json"))
    }

    fn load(state: &Path, path: &Path) -> Option<Self> {
        let text = files::read(&Self::place(state, path), SETTINGS_MAX).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn save(&self, state: &Path) -> Result<(), CliError> {
        use std::os::unix::fs::DirBuilderExt;
        let place = Self::place(state, &self.path);
        let folder = state.join("hooks");
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(|error| failed("made", &folder, &error))?;
        let text = serde_json::to_string(self)
            .map_err(|error| CliError::io("what was there cannot be kept").cause(error))?;
        // Settings may hold keys: what is kept of them is for the user alone.
        replace(&place, &text, Some(0o600))
    }

    fn forget(state: &Path, path: &Path) {
        // What cannot be removed is overwritten by the next install.
        files::remove(&Self::place(state, path)).ok();
        fs::remove_dir(state.join("hooks")).ok();
    }
}
