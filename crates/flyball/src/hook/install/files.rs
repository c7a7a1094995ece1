//! Files changed and changed back. What a file was before is kept in flyball's state folder, so that
//! it can be restored byte for byte.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::places::{Content, Target};
use super::{Change, table};
use crate::error::CliError;
use crate::loopdir;

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

/// Refuses to touch a file that is someone else's.
pub(super) fn refuse_foreign(target: &Target) -> Result<(), CliError> {
    let Some(text) = read(&target.path)? else { return Ok(()) };
    let shown = target.path.display();
    match &target.content {
        Content::Whole(_) if !text.contains("flyball") => {
            Err(CliError::usage(format!("`{shown}` exists and is not flyball's"))
                .hint("move it away, then install again"))
        }
        Content::Whole(_) => Ok(()),
        Content::Part(hooks) => {
            let mut settings = parse(&text, &target.path)?;
            table::add(&mut settings, hooks).ok_or_else(|| {
                CliError::data(format!("`{shown}` has something else where hooks belong"))
            })
        }
    }
}

/// Puts flyball's part into a file.
pub(super) fn install(target: &Target, state: &Path) -> Result<Change, CliError> {
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
        Content::Whole(text) => text.clone(),
        Content::Part(hooks) => {
            let mut settings = parse(before.as_deref().unwrap_or("{}"), &path)?;
            table::add(&mut settings, hooks).ok_or_else(|| {
                let shown = path.display();
                CliError::data(format!("`{shown}` has something else where hooks belong"))
            })?;
            format!("{settings:#}\n")
        }
    };
    let is_same = now.as_ref() == Some(&written);
    if !is_same {
        make_folders(&path, &mut folders)?;
        replace(&path, &written)?;
    }
    Earlier { path, before, written, folders }.save(state)?;
    Ok(if is_same { Change::Unchanged } else { Change::Installed })
}

/// Takes flyball's part out of a file.
pub(super) fn remove(target: &Target, state: &Path) -> Result<Change, CliError> {
    let path = real(&target.path);
    let now = read(&path)?;
    let earlier = Earlier::load(state, &path);
    let Some(now) = now else {
        Earlier::forget(state, &path);
        return Ok(Change::Absent);
    };
    let untouched = earlier.as_ref().is_some_and(|earlier| earlier.written == now);
    let folders = earlier.as_ref().map(|one| one.folders.clone()).unwrap_or_default();
    let before = match earlier {
        Some(earlier) if untouched => earlier.before,
        Some(_) | None => {
            let before = without_ours(target, Some(&now), &path)?;
            if before.as_ref() == Some(&now) {
                return Ok(Change::Absent);
            }
            before
        }
    };
    if let Some(text) = before {
        replace(&path, &text)?;
    } else {
        loopdir::remove(&path).map_err(|error| failed("removed", &path, &error))?;
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
        Content::Whole(text) => now.contains("flyball").then(|| now == *text),
        Content::Part(hooks) => {
            let mut settings: Value = serde_json::from_str(&now).ok()?;
            let before = settings.clone();
            table::take_out(&mut settings, target.agent).then(|| {
                table::add(&mut settings, hooks);
                settings == before
            })
        }
    }
}

/// The text without flyball's part; none when nothing would be left.
fn without_ours(
    target: &Target,
    now: Option<&str>,
    path: &Path,
) -> Result<Option<String>, CliError> {
    let Some(now) = now else { return Ok(None) };
    if let Content::Whole(_) = target.content {
        return Ok((!now.contains("flyball")).then(|| now.to_owned()));
    }
    let mut settings = parse(now, path)?;
    if !table::take_out(&mut settings, target.agent) {
        return Ok(Some(now.to_owned()));
    }
    let is_empty = settings.as_object().is_some_and(serde_json::Map::is_empty);
    Ok((!is_empty).then(|| format!("{settings:#}\n")))
}

fn parse(text: &str, path: &Path) -> Result<Value, CliError> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let parsed: Value = serde_json::from_str(text).map_err(|error| {
        CliError::data(format!("`{}` is no plain JSON, and nothing was changed", path.display()))
            .cause(error)
            .hint("take comments and trailing commas out of it, then install again")
    })?;
    if parsed.is_object() {
        return Ok(parsed);
    }
    Err(CliError::data(format!("`{}` holds no settings", path.display())))
}

fn read(path: &Path) -> Result<Option<String>, CliError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path, &error)),
    }
}

/// The file a link leads to: it is changed, not the link.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Writes a file anew, whole or not at all, with the rights it had.
fn replace(path: &Path, text: &str) -> Result<(), CliError> {
    let rights = fs::metadata(path).map(|found| found.permissions()).ok();
    loopdir::write_whole(path, text).map_err(|error| failed("written", path, &error))?;
    if let Some(rights) = rights {
        fs::set_permissions(path, rights).map_err(|error| failed("written", path, &error))?;
    }
    Ok(())
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
        let text = fs::read_to_string(Self::place(state, path)).ok()?;
        serde_json::from_str(&text).ok()
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
        loopdir::write_whole(&place, &text).map_err(|error| failed("written", &place, &error))
    }

    fn forget(state: &Path, path: &Path) {
        // What cannot be removed is overwritten by the next install.
        loopdir::remove(&Self::place(state, path)).ok();
        fs::remove_dir(state.join("hooks")).ok();
    }
}
