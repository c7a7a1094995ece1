//! Changing files: an exact text by another, or the whole.

use std::path::Path;

use serde_json::Value;

use super::place::{Found, Places, Want, words};
use super::read::text_of;
use super::{Change, Done, path, text};

/// Places of a text that stands there several times, at most so many of which are named.
const PLACES_SHOWN: usize = 10;

pub(super) fn edit(places: &Places, args: &Value) -> Result<Done, String> {
    let path = path(args);
    let (old, new) = (text(args, "old").unwrap_or_default(), text(args, "new").unwrap_or_default());
    let is_all = args.get("all").and_then(Value::as_bool).unwrap_or(false);
    let before = text_of(places, &path)?;
    if old == new {
        return Err("`old` and `new` are the same".to_owned());
    }
    let lines: Vec<String> = before
        .match_indices(old)
        .take(PLACES_SHOWN)
        .map(|(at, _)| line_at(&before, at).to_string())
        .collect();
    let times = before.matches(old).count();
    match times {
        0 => return Err(not_there(&before, old, &path)),
        1 => {}
        _ if is_all => {}
        _ => {
            return Err(format!(
                "`old` stands {times} times in `{}` (lines {}): give more of its surroundings, or `all`",
                path.display(),
                lines.join(", ")
            ));
        }
    }
    let after = before.replace(old, new);
    let found = places.file(&path, Want::Write)?;
    put(&found, &after, &path)?;
    let times = if times == 1 { String::new() } else { format!(" ({times} places)") };
    let shown = &found.shown;
    let first = lines.first().map(String::as_str).unwrap_or_default();
    let text = format!("changed `{shown}` at line {first}{times}");
    let change = Some(Change { path: shown.clone(), before, after });
    Ok(Done { change, ..Done::said(text) })
}

pub(super) fn write(places: &Places, args: &Value) -> Result<Done, String> {
    let path = path(args);
    let after = text(args, "content").unwrap_or_default().to_owned();
    let found = places.file(&path, Want::Write)?;
    let is_new = !found.folder.has(&found.name);
    let before = if is_new { String::new() } else { text_of(places, &path).unwrap_or_default() };
    put(&found, &after, &path)?;
    let shown = &found.shown;
    let (lines, verb) = (after.lines().count(), if is_new { "made" } else { "wrote" });
    let text = format!("{verb} `{shown}`, {lines} lines");
    let change = Some(Change { path: shown.clone(), before, after });
    Ok(Done { change, ..Done::said(text) })
}

fn put(found: &Found, text: &str, path: &Path) -> Result<(), String> {
    found.folder.replace(&found.name, text).map_err(|error| words(path, &error))
}

fn line_at(text: &str, at: usize) -> usize {
    text.get(..at).map_or(1, |before| before.matches('\n').count() + 1)
}

/// That a text is not there, and what is nearly so.
fn not_there(text: &str, old: &str, path: &Path) -> String {
    let shown = path.display();
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = squeezed(old.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    let near = text
        .lines()
        .enumerate()
        .find(|(_, line)| !first.is_empty() && squeezed(line) == first)
        .map(|(index, line)| format!("; line {} is nearly its first: {line:?}", index + 1));
    format!("`old` does not stand in `{shown}` exactly as given{}", near.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    #[test]
    fn an_edit_is_exact_and_says_what_is_in_its_way() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let file = root.join("a.sh");
        fs::write(&file, "one\n  two\r\nthree\ntwo\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let places = Places::new(&root, &root);
        let edit = |old: &str, new: &str, all: bool| {
            edit(&places, &json!({ "path": "a.sh", "old": old, "new": new, "all": all }))
        };
        let error = |done: Result<Done, String>| done.unwrap_err();
        assert!(error(edit("two", "2", false)).contains("stands 2 times in `a.sh` (lines 2, 4)"));
        assert!(error(edit("one", "one", false)).contains("the same"));
        let near = error(edit("two  three", "x", false));
        assert!(near.ends_with("exactly as given"), "{near}");
        let near = error(edit(" three ", "x", false));
        assert!(near.contains("line 3 is nearly its first: \"three\""), "{near}");
        let done = edit("  two\r\n", "  2\r\n", false).unwrap();
        assert_eq!(done.text, "changed `a.sh` at line 2");
        assert_eq!(fs::read_to_string(&file).unwrap(), "one\n  2\r\nthree\ntwo\n");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o755);
        edit("t", "T", true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "one\n  2\r\nThree\nTwo\n");
        let done = write(&places, &json!({ "path": "new/b", "content": "x\ny" })).unwrap();
        assert_eq!(done.text, "made `new/b`, 2 lines");
        assert_eq!(fs::read_to_string(root.join("new/b")).unwrap(), "x\ny");
    }
}
