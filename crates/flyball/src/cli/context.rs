//! `flyball context`: what remedies of the task ring have left in writing.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use flyball_core::TaskId;
use flyball_core::task::ContextEntry;

use super::{Globals, fault, place, words};
use crate::error::CliError;
use crate::terminal::{self, Paint, Reader};

/// Show the entries remedies have left for the tasks
#[derive(Clone, Debug, Default, Args)]
pub struct ContextArgs {
    /// Only this topic, such as `loop_escalation`
    #[arg(long, value_name = "TOPIC")]
    pub topic: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Prints the entries, by topic.
pub fn run(args: &ContextArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let root = place::repository(globals)?;
    let journal = place::open_journal()?;
    let topic = args.topic.as_deref();
    let entries = journal.contexts(&root, topic).map_err(fault::journal)?;
    let text = if args.json {
        let value = serde_json::to_string_pretty(&entries)
            .map_err(|error| CliError::internal("JSON could not be written").cause(error))?;
        format!("{value}\n")
    } else if entries.is_empty() {
        let on = topic.map(|topic| format!(" on `{topic}`")).unwrap_or_default();
        format!("There are no entries{on} here.\n")
    } else {
        text(&entries, globals.color.for_stdout())
    };
    terminal::write_told(&text, Reader::of_json(args.json))?;
    Ok(ExitCode::SUCCESS)
}

fn text(entries: &[ContextEntry], paint: Paint) -> String {
    let mut topics: BTreeMap<&str, Vec<&ContextEntry>> = BTreeMap::new();
    for entry in entries {
        topics.entry(&entry.topic).or_default().push(entry);
    }
    let sections: Vec<String> = topics
        .iter()
        .map(|(topic, entries)| {
            let entries: String = entries.iter().map(|entry| one(entry)).collect();
            format!("{}\n{entries}", paint.cyan(&words::line(topic, 80)))
        })
        .collect();
    sections.join("\n")
}

fn one(entry: &ContextEntry) -> String {
    let tasks: Vec<&str> = entry.related_tasks.iter().map(TaskId::as_str).collect();
    let tasks = words::line(&tasks.join(", "), 200);
    let content = words::lines(entry.content.trim());
    let content: Vec<String> = content.lines().map(|line| format!("    {line}")).collect();
    let head = format!("  {}  {tasks}  ({} %)", words::time(entry.at), entry.confidence);
    format!("{head}\n{}\n", content.join("\n"))
}
