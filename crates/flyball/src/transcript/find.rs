//! Where transcripts are: in the homes of all clients, or below a path.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use flyball_core::Moment;

use super::{Found, Skipped, Source, formats};
use crate::client::transcript::{Format, Head};
use crate::files;

/// Bytes by which a file is recognised.
const HEAD: u64 = 64 * 1024;
/// How deep folders below a path are walked.
const DEPTH_MAX: usize = 16;
/// How many entries of folders are looked at below one place.
const ENTRIES_MAX: usize = 500_000;

/// The transcripts of all clients on this machine, or of those named. Files that were not written to
/// since `since` are left out.
pub fn find(env: &dyn Fn(&str) -> Option<String>, agents: &[&str], since: Option<Moment>) -> Found {
    let mut found = Found::default();
    for (name, client) in formats::clients() {
        if !agents.is_empty() && !agents.contains(&name) {
            continue;
        }
        for place in client.places(env) {
            let mut walk = Walk { depth_max: place.depth, left: ENTRIES_MAX };
            walk.folder(&place.folder, 0, &mut found, &mut |path, meta, found| {
                let format = match meta {
                    Some(meta) if meta.is_dir() => return Enter::IfFolder,
                    _ => (place.is_one)(path),
                };
                let Some(format) = format else { return Enter::No };
                // A link to a file is one; a pipe or a device is none.
                let meta = match path.metadata() {
                    Ok(meta) if meta.is_file() => meta,
                    Ok(_) => {
                        found.skip(path, "it is no file");
                        return Enter::No;
                    }
                    Err(error) => {
                        found.skip(path, error.to_string());
                        return Enter::No;
                    }
                };
                let source = source(format, path, &meta);
                if since.is_none_or(|since| source.modified >= since) {
                    found.sources.push(source);
                }
                Enter::No
            });
        }
    }
    found
}

/// The transcripts at this path: a file, or all below a folder.
pub fn find_at(path: &Path) -> Found {
    let mut found = Found::default();
    let meta = match path.metadata() {
        Ok(meta) => meta,
        Err(error) => {
            found.skip(path, error.to_string());
            return found;
        }
    };
    if !meta.is_dir() {
        recognised(path, &mut found);
        return found;
    }
    if let Some(whole) = whole_folder(path) {
        found.sources.push(whole);
        return found;
    }
    let mut walk = Walk { depth_max: DEPTH_MAX, left: ENTRIES_MAX };
    walk.folder(path, 0, &mut found, &mut |path, meta, found| match meta {
        Some(meta) if meta.is_dir() => match whole_folder(path) {
            Some(whole) => {
                found.sources.push(whole);
                Enter::No
            }
            None => Enter::IfFolder,
        },
        _ => {
            recognised(path, found);
            Enter::No
        }
    });
    found
}

/// What to do with an entry of a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Enter {
    IfFolder,
    No,
}

/// A walk through folders: no link is followed, and it ends.
struct Walk {
    depth_max: usize,
    left: usize,
}

type Visit<'a> = dyn FnMut(&Path, Option<&Metadata>, &mut Found) -> Enter + 'a;

impl Walk {
    fn folder(&mut self, folder: &Path, depth: usize, found: &mut Found, visit: &mut Visit<'_>) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => return found.skip(folder, error.to_string()),
        };
        let mut paths: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).take(self.left + 1).collect();
        if paths.len() > self.left {
            paths.truncate(self.left);
            found.skip(folder, format!("more than {ENTRIES_MAX} entries: the rest is left out"));
        }
        self.left -= paths.len();
        paths.sort_unstable();
        for path in paths {
            let meta = match path.symlink_metadata() {
                Ok(meta) => meta,
                Err(error) => {
                    found.skip(&path, error.to_string());
                    continue;
                }
            };
            let plain = (meta.is_file() || meta.is_dir()).then_some(&meta);
            let enter = visit(&path, plain, found);
            if enter == Enter::IfFolder && meta.is_dir() && depth < self.depth_max {
                self.folder(&path, depth + 1, found, visit);
            }
        }
    }
}

/// A file whose format is asked of its first bytes.
fn recognised(path: &Path, found: &mut Found) {
    let bytes = match files::read_start(path, HEAD) {
        Ok(bytes) => bytes,
        Err(error) => return found.skip(path, error.to_string()),
    };
    match (formats::recognise(&Head { path, bytes: &bytes }), path.metadata()) {
        (Some(format), Ok(meta)) => found.sources.push(source(format, path, &meta)),
        (None, _) => found.skip(path, looks_like(&bytes)),
        (_, Err(error)) => found.skip(path, error.to_string()),
    }
}

/// A folder that is one transcript.
fn whole_folder(path: &Path) -> Option<Source> {
    let format = formats::of_folder(path)?;
    Some(source(format, path, &path.metadata().ok()?))
}

/// What a file that nobody knows looks like.
fn looks_like(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "it is empty".to_owned();
    }
    let is_binary = bytes.contains(&0);
    let start = String::from_utf8_lossy(bytes.get(..80.min(bytes.len())).unwrap_or(bytes));
    let start: String = start.lines().next().unwrap_or("").chars().take(60).collect();
    if is_binary {
        "no known format: it is binary".to_owned()
    } else {
        format!("no known format: it begins with `{}`", start.escape_debug())
    }
}

fn source(format: &'static Format, path: &Path, meta: &Metadata) -> Source {
    // What a database was told last may stand in a file beside it.
    let mut beside = path.as_os_str().to_owned();
    beside.push("-wal");
    let is_database = path.extension().is_some_and(|kind| kind == "db" || kind == "sqlite");
    let beside = is_database.then(|| Path::new(&beside).symlink_metadata().ok()).flatten();
    let size = meta.len() + beside.as_ref().map_or(0, Metadata::len);
    let latest = beside.and_then(|beside| beside.modified().ok()).max(meta.modified().ok());
    let modified = latest.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let millis = modified.and_then(|since| u64::try_from(since.as_millis()).ok()).unwrap_or(0);
    Source {
        agent: format.agent,
        format: format.name,
        path: path.to_owned(),
        size,
        modified: Moment::from_millis(millis),
        how: format,
    }
}

impl Found {
    fn skip(&mut self, path: &Path, why: impl Into<String>) {
        self.skipped.push(Skipped { path: path.to_owned(), why: why.into() });
    }
}
