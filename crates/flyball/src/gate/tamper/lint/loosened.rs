//! Settings that look for less without switching a rule off.

use super::Linter;

/// Lists of what is looked for or looked at that became shorter, and limits that were moved.
pub(super) fn loosened(linter: &Linter, name: &str, before: &str, after: &str) -> Option<String> {
    const LISTS: [&str; 6] = ["select", "extend-select", "enable", "extends", "include", "Checks"];
    for key in LISTS {
        let (was, is) = (listed(before, key), listed(after, key));
        let all = is.iter().any(|entry| ["ALL", "all", "*"].contains(&entry.as_str()));
        let gone = was.iter().find(|entry| !is.contains(entry));
        if let Some(gone) = gone.filter(|_| !is.is_empty() && is.len() < was.len() && !all) {
            return Some(format!("`{gone}` is gone from `{key}`"));
        }
    }
    let number = |text: &str, key: &str| -> Option<u64> {
        let line = text.lines().map(str::trim).find(|line| line.starts_with(key))?;
        line.get(key.len()..)?
            .trim_start_matches([' ', ':', '=', '"'])
            .split(['"', ' ', '#'])
            .next()?
            .parse()
            .ok()
    };
    if linter.name == "phpstan"
        && let (Some(was), Some(is)) = (number(before, "level"), number(after, "level"))
        && is < was
    {
        return Some(format!("`level` went from {was} to {is}"));
    }
    for key in before.lines().filter_map(|line| line.split_once(['=', ':'])).map(|(key, _)| key) {
        let key = key.trim();
        let bare = key.trim_matches(['"', '\'']).replace('_', "-");
        let is_limit = bare.starts_with("max-")
            || bare.ends_with("line-length")
            || (bare.contains("threshold") && name.ends_with("clippy.toml"));
        if is_limit
            && let (Some(was), Some(is)) = (number(before, key), number(after, key))
            && is > was
        {
            return Some(format!("`{key}` went from {was} to {is}"));
        }
    }
    if linter.name == "eslint" {
        return narrowed(before, after);
    }
    None
}

/// Patterns of files everywhere that became ones of files somewhere.
fn narrowed(before: &str, after: &str) -> Option<String> {
    let patterns = |text: &str| -> Vec<String> {
        let lists = text.match_indices("files").filter_map(|(at, key)| {
            let rest = text.get(at + key.len()..)?.trim_start_matches(['"', '\'', ' ']);
            rest.strip_prefix(':')?.trim_start().strip_prefix('[')?.split(']').next()
        });
        let entries = lists.flat_map(|list| list.split(','));
        entries.map(|entry| entry.trim().trim_matches(['"', '\'', '`']).to_owned()).collect()
    };
    let everywhere = |entry: &&String| entry.starts_with("**/") || entry.starts_with("*.");
    let (was, is) = (patterns(before), patterns(after));
    let gone = was.iter().filter(everywhere).find(|entry| !is.contains(entry))?;
    let fewer = is.iter().filter(everywhere).count() < was.iter().filter(everywhere).count();
    (fewer && !is.is_empty()).then(|| format!("`{gone}` is gone from `files`"))
}

/// The entries of a list in settings of any kind: `key = ["a"]`, `"key": ["a"]`, or lines with a dash.
fn listed(text: &str, key: &str) -> Vec<String> {
    let clean =
        |entry: &str| entry.trim().trim_matches(['"', '\'', ',', '[', ']']).trim().to_owned();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let bare = line.trim().trim_start_matches('"');
        let Some(rest) = bare.strip_prefix(key) else { continue };
        let rest = rest.trim_start_matches('"').trim_start();
        let Some(rest) = rest.strip_prefix(['=', ':']) else { continue };
        let mut value = rest.trim().to_owned();
        if value.is_empty() || (value.starts_with('[') && !value.contains(']')) {
            for line in lines.by_ref() {
                let bare = line.trim();
                let goes_on = bare.starts_with("- ") || value.starts_with('[');
                if !goes_on {
                    break;
                }
                value.push_str(bare.trim_start_matches("- ").trim_end_matches(','));
                value.push(',');
                if bare.contains(']') {
                    break;
                }
            }
        }
        let value = value.split(']').next().unwrap_or("");
        return value.split(',').map(clean).filter(|entry| !entry.is_empty()).collect();
    }
    Vec::new()
}
