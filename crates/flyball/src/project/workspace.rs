//! Workspaces of npm, pnpm, yarn and bun: what the root's scripts leave open is run in all members.

use serde_json::Value;

use super::look::Look;
use super::{Proposal, node};
use crate::config::quoted;

/// One gate over all members for each purpose the root has no script for.
pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let members = members(look);
    if members.is_empty() {
        return None;
    }
    let package: Value = serde_json::from_str(&look.read("package.json")?).unwrap_or_default();
    let manager = node::manager(look, &package);
    let own = node::detect(look)?;
    let usable = own.iter().filter(|one| one.unfit.is_none());
    let at_root: Vec<&str> = usable.map(|one| one.role).collect();
    let mut open: Vec<(String, Proposal)> = Vec::new();
    for member in &members {
        let found = node::detect(&look.below(member)).unwrap_or_default().into_iter();
        let left = found.filter(|one| !at_root.contains(&one.role));
        open.extend(left.map(|one| (member.clone(), one)));
    }
    let mut roles: Vec<&str> = Vec::new();
    for (_, one) in &open {
        if !roles.contains(&one.role) {
            roles.push(one.role);
        }
    }
    let place = |role: &&str| ROLES.iter().position(|known| known == role);
    roles.sort_by_key(|role| place(role).unwrap_or(ROLES.len()));
    let proposals = roles.iter().flat_map(|role| {
        let of_role: Vec<_> = open.iter().filter(|(_, one)| one.role == *role).collect();
        of_one_role(look, (manager, &of_role, members.len()))
    });
    Some(proposals.collect::<Vec<_>>()).filter(|proposals| !proposals.is_empty())
}

/// What gates are for, in the order in which they are told; others come last.
const ROLES: [&str; 3] = ["tests", "lint", "build"];

/// The gates for one purpose: one over all members where every script can be called as it stands,
/// otherwise one for each, or all in one line where those would be too many.
fn of_one_role(
    look: &Look<'_>,
    (manager, found, members): (&str, &[&(String, Proposal)], usize),
) -> Vec<Proposal> {
    const GATES_MAX: usize = 4;
    let name_of = |one: &Proposal| {
        let name = one.command.strip_prefix(&format!("{manager} run "))?;
        let is_called = one.why == format!("package.json, script `{name}`");
        (one.unfit.is_none() && is_called).then(|| name.to_owned())
    };
    // A script that is called as it stands goes by its name.
    let names: Option<Vec<String>> = found.iter().map(|(_, one)| name_of(one)).collect();
    let Some(mut names) = names else {
        let inside = |(member, one): &&(String, Proposal)| Proposal {
            command: format!("cd {} && {}", quoted(member), one.command),
            why: format!("{member}/{}", one.why),
            part: Some(member.clone()),
            ..one.clone()
        };
        let (fit, unfit): (Vec<_>, Vec<_>) =
            found.iter().copied().map(|one| inside(&one)).partition(|one| one.unfit.is_none());
        let joined = match fit.split_first() {
            Some((first, rest)) if rest.len() >= GATES_MAX => {
                let lines = fit.iter().map(|one| format!("({})", one.command));
                let command = lines.collect::<Vec<_>>().join(" && ");
                let why = "package.json of the workspace's members".to_owned();
                vec![Proposal { command, why, part: None, ..first.clone() }]
            }
            _ => fit,
        };
        return joined.into_iter().chain(unfit).collect();
    };
    let role = found.first().map_or("", |(_, one)| one.role);
    let all = names.clone();
    names.sort();
    names.dedup();
    let made = names.iter().map(|name| {
        let having = found.iter().zip(&all).filter(|(_, other)| *other == name);
        let having: Vec<&String> = having.map(|((member, _), _)| member).collect();
        let command = in_all(look, manager, name, (&having, members));
        let why = format!("package.json, script `{name}` of the workspace's members");
        Proposal::new(role, &command, why)
    });
    made.collect()
}

/// The line that runs a script in every member that has it, out of so many.
fn in_all(
    look: &Look<'_>,
    manager: &str,
    script: &str,
    (having, members): (&[&String], usize),
) -> String {
    match manager {
        "npm" => format!("npm run {script} --workspaces --if-present"),
        "pnpm" => format!("pnpm -r --no-bail --if-present run {script}"),
        "bun" => format!("bun run --filter '*' {script}"),
        _ if is_berry(look) => format!("yarn workspaces foreach --all run {script}"),
        _ if having.len() == members => format!("yarn workspaces run {script}"),
        // The first yarn takes a member without the script for a failure.
        _ => {
            let call = |member: &&String| format!("yarn --cwd {} run {script}", quoted(member));
            having.iter().map(call).collect::<Vec<_>>().join(" && ")
        }
    }
}

/// Whether yarn is the second or a later one.
fn is_berry(look: &Look<'_>) -> bool {
    let package = look.read("package.json").unwrap_or_default();
    look.has(".yarnrc.yml")
        || ["2", "3", "4"].iter().any(|major| package.contains(&format!("\"yarn@{major}.")))
}

/// The folders of a workspace that hold a package, as paths from its root.
pub(super) fn members(look: &Look<'_>) -> Vec<String> {
    let patterns = patterns(look);
    let (without, with): (Vec<&str>, Vec<&str>) =
        patterns.iter().map(String::as_str).partition(|pattern| pattern.starts_with('!'));
    let with: Vec<&str> =
        with.into_iter().filter(|pattern| !pattern.trim_matches(['.', '/']).is_empty()).collect();
    if with.is_empty() {
        return Vec::new();
    }
    let fits = |pattern: &str, folder: &str| {
        let pattern = pattern.trim_start_matches(['!', '.']).trim_matches('/');
        let deep = pattern.contains("**");
        let same_depth = pattern.split('/').count() == folder.split('/').count();
        (deep || same_depth) && flyball_core::gate::fits(pattern, folder)
    };
    let levels = if with.iter().any(|pattern| pattern.contains("**")) {
        LEVELS_MAX
    } else {
        let depth = |pattern: &&str| pattern.trim_start_matches("./").split('/').count();
        with.iter().map(depth).max().unwrap_or_default().min(LEVELS_MAX)
    };
    let folders = look.folders_within(levels).into_iter().filter(|folder| {
        !folder.is_empty()
            && with.iter().any(|pattern| fits(pattern, folder))
            && !without.iter().any(|pattern| fits(pattern, folder))
    });
    folders.filter(|folder| look.has(&format!("{folder}/package.json"))).collect()
}

/// What the scripts of a package run that are for tests.
pub(super) fn test_scripts(look: &Look<'_>) -> Vec<String> {
    let package = look.read("package.json").unwrap_or_default();
    let package: Value = serde_json::from_str(&package).unwrap_or_default();
    let scripts = package.get("scripts").and_then(Value::as_object).into_iter().flatten();
    let for_tests = scripts.filter(|(name, _)| name.starts_with("test"));
    for_tests.filter_map(|(_, text)| text.as_str().map(str::to_owned)).collect()
}

/// How deep members are looked for.
const LEVELS_MAX: usize = 4;

/// What says where the members are.
fn patterns(look: &Look<'_>) -> Vec<String> {
    if let Some(text) = look.read("pnpm-workspace.yaml") {
        let list = text.lines().skip_while(|line| !line.starts_with("packages:")).skip(1);
        let entries = list.map_while(|line| match line.trim() {
            "" => Some(""),
            entry if entry.starts_with('#') => Some(""),
            entry => entry.strip_prefix('-').map(str::trim),
        });
        let bare = |entry: &str| entry.split(" #").next().unwrap_or(entry).trim().to_owned();
        let entries = entries.map(|entry| bare(entry).trim_matches(['\'', '"']).to_owned());
        return entries.filter(|entry| !entry.is_empty()).collect();
    }
    let package = look.read("package.json").unwrap_or_default();
    let package: Value = serde_json::from_str(&package).unwrap_or_default();
    let Some(workspaces) = package.get("workspaces") else { return Vec::new() };
    let list = workspaces.as_array().or_else(|| workspaces.get("packages")?.as_array());
    let entries = list.into_iter().flatten().filter_map(Value::as_str);
    entries.map(str::to_owned).collect()
}
