//! Taskfiles: the tasks that are checks by their name.

use super::{Look, Place, Proposal, as_gate};

/// Tasks and what they are for. `check` stands for the tests where there is no `test`.
const TASKS: [(&str, &str); 4] =
    [("test", "tests"), ("lint", "lint"), ("build", "build"), ("check", "check")];

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let file =
        look.first(&["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "Taskfile.dist.yml"])?;
    let text = look.read(file)?;
    let has_tests = task(&text, "test").is_some();
    let proposals = TASKS.iter().filter_map(|(name, role)| {
        let commands = task(&text, name)?;
        let role = if *name == "check" && !has_tests { "tests" } else { role };
        let why = format!("{file}, task `{name}`");
        let command = format!("task {name}");
        let found = as_gate(&commands, &Place::of(&look.dir));
        let made = Proposal::of_script(role, &command, found, why, look);
        Some(Proposal { recipes: Some(text.clone()), ..made })
    });
    Some(proposals.collect())
}

/// What a task runs, its lines joined as if each were needed; nothing where Task would have to work it out.
fn task(text: &str, name: &str) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    let lines = text.lines().filter(is_code).skip_while(|line| line.trim_end() != "tasks:").skip(1);
    let tasks: Vec<&str> = lines.take_while(|line| indent(line) > 0).collect();
    let level = indent(tasks.first()?);
    let names = |line: &&str| {
        let (key, _) = line.trim().split_once(':').unwrap_or_default();
        indent(line) == level && key.trim_matches(['\'', '"']) == name
    };
    let head = tasks.iter().position(names)?;
    let (_, body) = tasks.split_at(head);
    let rest = body.first()?.split_once(':').map_or("", |(_, rest)| rest).trim();
    let body = body.iter().skip(1).take_while(|line| indent(line) > level);
    let commands = body.filter_map(|line| {
        let line = line.trim();
        let command = line.strip_prefix("- ").or_else(|| line.strip_prefix("cmd: "))?;
        Some(command.trim_start_matches("cmd: ").trim())
    });
    let all = std::iter::once(rest).filter(|rest| !rest.is_empty()).chain(commands);
    let commands = all.collect::<Vec<_>>().join(" && ");
    Some(if commands.contains("{{") { String::new() } else { commands })
}
