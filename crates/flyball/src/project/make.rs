//! Makefiles and justfiles: the targets that are checks by their name.

use super::{Look, Proposal};

/// Targets and what they are for. `check` stands for the tests where there is no `test`.
const TARGETS: [(&str, &str); 4] =
    [("test", "tests"), ("lint", "lint"), ("build", "build"), ("check", "check")];

pub(super) fn detect_make(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let files = ["GNUmakefile", "makefile", "Makefile"];
    let (file, text) = files.into_iter().find_map(|name| Some((name, look.read(name)?)))?;
    let names: Vec<&str> = text.lines().flat_map(make_targets).collect();
    Some(proposals("make", (file, &text), &names))
}

pub(super) fn detect_just(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let files = ["justfile", "Justfile", ".justfile"];
    let (file, text) = files.into_iter().find_map(|name| Some((name, look.read(name)?)))?;
    let names: Vec<&str> = text.lines().filter_map(just_recipe).collect();
    Some(proposals("just", (file, &text), &names))
}

fn proposals(program: &str, (file, text): (&str, &str), names: &[&str]) -> Vec<Proposal> {
    let wanted = TARGETS.iter().filter(|(target, _)| names.contains(target));
    let has_tests = names.contains(&"test");
    wanted
        .map(|(target, role)| {
            let role = if *target == "check" && !has_tests { "tests" } else { role };
            let why = format!("{file}, target `{target}`");
            let command = format!("{program} {target}");
            let recipe = recipe(text, target);
            let made = Proposal::of_script(role, (&command, &recipe), str::to_owned, why);
            Proposal { recipes: Some(text.to_owned()), ..made }
        })
        .collect()
}

/// What a target runs, its lines joined as if each were needed; nothing where the program itself would
/// have to work it out.
fn recipe(text: &str, target: &str) -> String {
    let defines = |line: &&str| {
        let (names, _) = line.split_once(':').unwrap_or_default();
        let mut names = names.split_whitespace().map(|name| name.trim_start_matches('@'));
        !line.starts_with(['\t', ' ', '#', '.']) && names.any(|name| name == target)
    };
    let lines = text.lines().skip_while(|line| !defines(line)).skip(1);
    let body = lines.take_while(|line| line.starts_with(['\t', ' ']));
    let commands: Vec<&str> = body.map(|line| line.trim().trim_start_matches(['@', '-'])).collect();
    if commands.iter().any(|line| line.contains('$') || line.contains("{{")) {
        return String::new();
    }
    commands.join(" && ")
}

/// The targets a line of a makefile defines.
fn make_targets(line: &str) -> Vec<&str> {
    if line.starts_with(['\t', ' ', '#', '.']) {
        return Vec::new();
    }
    match line.split_once(':') {
        Some((names, rest)) if !rest.starts_with('=') && !names.contains(['=', '$', '%']) => {
            names.split_whitespace().collect()
        }
        _ => Vec::new(),
    }
}

/// The recipe a line of a justfile defines, when it can be called without arguments.
fn just_recipe(line: &str) -> Option<&str> {
    if line.starts_with(['\t', ' ', '#', '[']) {
        return None;
    }
    let (head, rest) = line.split_once(':')?;
    let mut words = head.split_whitespace();
    let name = words.next()?.trim_start_matches('@');
    let needs_nothing = words.all(|word| word.contains('=') || word.starts_with('*'));
    (!rest.starts_with('=') && needs_nothing).then_some(name)
}
