//! Dependencies replaced by a folder that came with the work: a checking library of which only the name
//! is the same.

use serde_json::Value;

use super::suspicion::Suspicion;
use super::{Context, Edited};

/// Whether a file of this name says where dependencies come from.
pub(super) fn may_matter(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("go.mod" | "Cargo.toml" | "package.json"))
}

/// A dependency that comes from elsewhere now.
struct Moved {
    name: String,
    folder: String,
}

/// Every dependency of before that is now a folder which was not there.
pub(super) fn added(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for edit in of.edited {
        let Some((before, after)) = edit.before.as_deref().zip(edit.after.as_deref()) else {
            continue;
        };
        let moved = match edit.path.rsplit('/').next() {
            Some("go.mod") => go(before, after),
            Some("Cargo.toml") => cargo(before, after),
            Some("package.json") => node(before, after),
            Some(_) | None => continue,
        };
        let new = moved.into_iter().find(|moved| is_new(of, edit, &moved.folder));
        if let Some(Moved { name, folder }) = new {
            let path = &edit.path;
            let message = format!(
                "`{name}` in `{path}` is no longer what it was, but `{folder}` of this work"
            );
            found.push(Suspicion::of_file(path, &name, message));
        }
    }
    found
}

/// Whether a folder beside a manifest was not there before.
fn is_new(of: &Context<'_>, edit: &Edited, folder: &str) -> bool {
    let mut parts: Vec<&str> = edit.path.split('/').collect();
    // The folder has a manifest of the same name, or the tool would not take it.
    let manifest = parts.pop().unwrap_or("");
    for part in folder.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.push(manifest);
    of.added.contains(&parts.join("/"))
}

/// `replace example.org/check => ./check`, on its own or in a block.
fn go(before: &str, after: &str) -> Vec<Moved> {
    let replaced = |line: &str| -> Option<Moved> {
        let line = line.split("//").next().unwrap_or(line).trim();
        let (left, right) = line.strip_prefix("replace ").unwrap_or(line).split_once("=>")?;
        let (name, folder) = (left.split_whitespace().next()?, right.split_whitespace().next()?);
        let is_folder = folder.starts_with(['.', '/']);
        is_folder.then(|| Moved { name: name.to_owned(), folder: folder.to_owned() })
    };
    let known: Vec<&str> = before.lines().map(str::trim).collect();
    let new = after.lines().filter(|line| !known.contains(&line.trim()));
    new.filter_map(replaced).filter(|moved| before.contains(&moved.name)).collect()
}

/// `insta = { path = "fake" }` where there was a version, or in a `[patch]`.
fn cargo(before: &str, after: &str) -> Vec<Moved> {
    fn path_of(line: &str) -> Option<(&str, &str)> {
        let (name, value) = line.split_once('=')?;
        let (_, path) = value.split_once("path")?;
        let path = path.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
        Some((name.trim().trim_matches('"'), path.split('"').next()?))
    }
    let known: Vec<&str> = before.lines().map(str::trim).collect();
    let new = after.lines().map(str::trim).filter(|line| !known.contains(line));
    let is_known = |name: &str| {
        let begins = |line: &&str| {
            let rest = line.trim_start_matches('"').strip_prefix(name);
            rest.is_some_and(|rest| {
                rest.trim_start_matches('"').trim_start().starts_with(['=', '.'])
            })
        };
        known.iter().any(begins)
    };
    let moved = new.filter_map(path_of).filter(|(name, _)| is_known(name));
    moved.map(|(name, path)| Moved { name: name.to_owned(), folder: path.to_owned() }).collect()
}

/// `"chai": "file:fake"` where there was a version.
fn node(before: &str, after: &str) -> Vec<Moved> {
    let read = |text: &str| -> Value { serde_json::from_str(text).unwrap_or_default() };
    let (before, after) = (read(before), read(after));
    let mut moved = Vec::new();
    for list in ["dependencies", "devDependencies"] {
        let Some(now) = after.get(list).and_then(Value::as_object) else { continue };
        for (name, value) in now {
            let was = before.get(list).and_then(|list| list.get(name)).filter(|was| *was != value);
            let own = ["file:", "link:", "portal:"];
            let value = value.as_str().unwrap_or("");
            let folder = own.iter().find_map(|begin| value.strip_prefix(begin));
            if let (Some(_), Some(folder)) = (was, folder) {
                moved.push(Moved { name: name.clone(), folder: folder.to_owned() });
            }
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_plans;
    use super::*;
    use crate::gate::plan::GatePlan;

    fn said(files: &[(&str, Option<&str>, &str)]) -> Vec<String> {
        let edited: Vec<Edited> = files
            .iter()
            .map(|(path, before, after)| Edited {
                path: (*path).to_owned(),
                before: before.map(str::to_owned),
                after: Some((*after).to_owned()),
            })
            .collect();
        let found = of_plans(&edited, &GatePlan::default(), &GatePlan::default());
        let all = found.into_iter().map(|one| one.finding.message);
        all.filter(|message| message.contains("no longer what it was")).collect()
    }

    const GO: &str = "module x\n\nrequire example.org/check v1.0.0\n";
    const CARGO: &str = "[dev-dependencies]\ninsta = \"1\"\n";
    const NODE: &str = r#"{"devDependencies": {"chai": "^5.0.0"}}"#;

    #[test]
    fn a_dependency_that_is_a_folder_of_the_work_now_is_seen() {
        let go = format!("{GO}\nreplace example.org/check => ./check\n");
        let block = format!("{GO}\nreplace (\n\texample.org/check v1.0.0 => ./check\n)\n");
        for after in [&go, &block] {
            let seen = said(&[("go.mod", Some(GO), after), ("check/go.mod", None, "module y\n")]);
            assert_eq!(
                seen,
                [
                    "`example.org/check` in `go.mod` is no longer what it was, but `./check` of this work"
                ]
            );
        }
        let patch = format!("{CARGO}\n[patch.crates-io]\ninsta = {{ path = \"own/insta\" }}\n");
        let path = CARGO.replace("\"1\"", "{ path = \"own/insta\" }");
        for after in [&patch, &path] {
            let own = ("a/own/insta/Cargo.toml", None, "[package]\n");
            assert_eq!(said(&[("a/Cargo.toml", Some(CARGO), after), own]).len(), 1, "{after}");
        }
        let node = NODE.replace("^5.0.0", "file:../chai");
        let own = ("chai/package.json", None, "{}");
        assert_eq!(said(&[("app/package.json", Some(NODE), &node), own]).len(), 1);
    }

    #[test]
    fn one_that_was_there_or_is_new_altogether_is_work() {
        let go = format!("{GO}\nreplace example.org/check => ./check\n");
        assert_eq!(said(&[("go.mod", Some(GO), &go)]), [""; 0], "the folder was there");
        let other = format!("{GO}\nreplace example.org/own => ./own\n");
        let own = ("own/go.mod", None, "module own\n");
        assert_eq!(said(&[("go.mod", Some(GO), &other), own]), [""; 0], "nobody used it before");
        let split = format!("{CARGO}\n[dependencies]\nown = {{ path = \"own\" }}\n");
        let own = ("own/Cargo.toml", None, "[package]\n");
        assert_eq!(said(&[("Cargo.toml", Some(CARGO), &split), own]), [""; 0], "a crate split off");
    }
}
