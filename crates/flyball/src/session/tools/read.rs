//! Looking: a file with its line numbers, a folder.

use std::fmt::Write;
use std::path::Path;

use flyball_core::text::prefix;
use serde_json::Value;

use super::place::{Places, Want, words};
use super::{Done, path};

/// The largest file that is read.
const FILE_MAX: u64 = 16 * 1024 * 1024;
/// Lines given without a wish.
const LINES: u64 = 2000;
/// Characters shown of one line.
const LINE_MAX: usize = 2000;
/// Entries of a folder that are given.
const ENTRIES_MAX: usize = 1000;

pub(super) fn read(places: &Places, args: &Value) -> Result<Done, String> {
    let path = path(args);
    let text = text_of(places, &path)?;
    let number = |name: &str| args.get(name).and_then(Value::as_u64);
    let from = number("from").unwrap_or(1).max(1);
    let wanted = number("lines").unwrap_or(LINES);
    let mut shown = String::new();
    let mut all: u64 = 0;
    for line in text.lines() {
        all += 1;
        if all < from || all - from >= wanted {
            continue;
        }
        let cut = prefix(line, LINE_MAX);
        let left = if cut.len() < line.len() { " …(line cut)" } else { "" };
        // Writing to a text cannot fail.
        writeln!(shown, "{all:>6}\t{cut}{left}").ok();
    }
    let last = from.saturating_add(wanted).saturating_sub(1);
    if all == 0 {
        return Ok(Done::said("(the file is empty)"));
    }
    if from > all {
        return Err(format!("line {from} is beyond the end: `{}` has {all} lines", path.display()));
    }
    if last < all {
        writeln!(shown, "({} more lines; go on with from={})", all - last, last + 1).ok();
    }
    Ok(Done::said(shown))
}

/// The text of a file of the project.
pub(super) fn text_of(places: &Places, path: &Path) -> Result<String, String> {
    let found = places.file(path, Want::Read)?;
    let bytes = found.folder.read(&found.name, FILE_MAX).map_err(|error| words(path, &error))?;
    String::from_utf8(bytes).map_err(|_| format!("`{}` is no UTF-8 text", path.display()))
}

pub(super) fn list(places: &Places, args: &Value) -> Result<Done, String> {
    let folder = places.folder(&path(args))?;
    let mut names = folder.names().map_err(|error| words(folder.path(), &error))?;
    names.retain(|name| name != ".git");
    names.sort();
    let more = names.len().saturating_sub(ENTRIES_MAX);
    let mut lines: Vec<String> = names
        .into_iter()
        .take(ENTRIES_MAX)
        .map(|name| if folder.has_folder(&name) { format!("{name}/") } else { name })
        .collect();
    if more > 0 {
        lines.push(format!("({more} more)"));
    }
    Ok(Done::said(if lines.is_empty() { "(empty)".to_owned() } else { lines.join("\n") }))
}
