//! Searching: a pattern in the files of the project that git does not ignore.

use std::path::Path;

use flyball_core::text::head;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::super::ground::Ground;
use super::place::{Places, Want};
use super::{Done, path, text};

/// Lines that are given.
const MATCHES_MAX: usize = 300;
/// The largest file that is looked into.
const FILE_MAX: u64 = 4 * 1024 * 1024;
/// Characters shown of a line.
const LINE_MAX: usize = 300;
/// What a pattern may grow to.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// Files looked into where there is no git to say which.
const FILES_MAX: usize = 50_000;

pub(super) fn search(ground: &Ground, places: &Places, args: &Value) -> Result<Done, String> {
    let pattern = text(args, "pattern").unwrap_or_default();
    let ignores_case = args.get("ignore_case").and_then(Value::as_bool).unwrap_or(false);
    let pattern = RegexBuilder::new(pattern)
        .case_insensitive(ignores_case)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| format!("the pattern cannot be used: {error}"))?;
    let below = places.inside(&path(args))?;
    let files = match ground.worktree().map_err(|error| error.message)? {
        Some(worktree) => worktree.files(&below).map_err(|error| error.to_string())?,
        None => walked(places, &below)?,
    };
    let (mut lines, mut found, mut in_files) = (Vec::new(), 0_usize, 0_usize);
    for file in &files {
        let before = found;
        look(places, Path::new(file), &pattern, |number, line| {
            found += 1;
            if lines.len() < MATCHES_MAX {
                lines.push(format!("{file}:{number}: {}", head(line.trim_end(), LINE_MAX)));
            }
        });
        in_files += usize::from(found > before);
    }
    if found == 0 {
        return Ok(Done::said(format!("nothing found in {} files", files.len())));
    }
    if found > lines.len() {
        lines.push(format!(
            "({found} lines in {in_files} files; the first {MATCHES_MAX} are shown)"
        ));
    }
    Ok(Done::said(lines.join("\n")))
}

/// Looks through one file; what is no text is passed over.
fn look(places: &Places, file: &Path, pattern: &Regex, mut found: impl FnMut(usize, &str)) {
    let Ok(at) = places.file(file, Want::Read) else { return };
    let Ok(bytes) = at.folder.read(&at.name, FILE_MAX) else { return };
    let Ok(text) = String::from_utf8(bytes) else { return };
    for (index, line) in text.lines().enumerate() {
        if pattern.is_match(line) {
            found(index + 1, line);
        }
    }
}

/// All files below a folder.
fn walked(places: &Places, below: &Path) -> Result<Vec<String>, String> {
    let (mut files, mut open) = (Vec::new(), vec![below.to_path_buf()]);
    while let Some(path) = open.pop() {
        let Ok(folder) = places.unlinked_folder(&path) else {
            files.push(path.display().to_string());
            continue;
        };
        let mut names = folder.names().unwrap_or_default();
        names.retain(|name| name != ".git");
        names.sort_by(|a, b| b.cmp(a));
        open.extend(names.into_iter().map(|name| path.join(name)));
        if files.len() > FILES_MAX {
            return Err(format!("there are more than {FILES_MAX} files: name a folder"));
        }
    }
    Ok(files)
}
