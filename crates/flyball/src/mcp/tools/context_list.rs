//! `context_list`: what remedies have left in writing.

use flyball_core::task::ContextEntry;
use flyball_core::text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::mcp::refused::Refused;
use crate::mcp::site::Call;
use crate::mcp::tool::{Tool, ToolEffect};

/// The most entries handed out.
const ENTRIES_MAX: usize = 200;
/// Characters of one entry's text.
const CONTENT_MAX: usize = 4_000;

pub(super) struct ListContext;

/// Which entries.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// Only this topic: `loop_recovery`, `loop_recovery_directive`, `unblock_authority`
    /// or `loop_escalation`.
    #[serde(default)]
    topic: Option<String>,
    /// Only entries about this task.
    #[serde(default)]
    task: Option<String>,
    /// At most this many, the latest ones; 1 to 200.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 200))]
    limit: usize,
}

const fn twenty() -> usize {
    20
}

/// One entry.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    /// Its id.
    id: String,
    /// When, RFC 3339.
    at: String,
    /// What it is about.
    topic: String,
    /// The text.
    content: String,
    /// The tasks it is about.
    related_tasks: Vec<String>,
    /// How sure, in percent.
    confidence: u8,
    /// How many attempts it rests on.
    evidence_attempts: usize,
}

/// The entries, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The entries, oldest first.
    context: Vec<Entry>,
    /// How many more there are.
    left_out: usize,
}

impl Tool for ListContext {
    const NAME: &'static str = "context_list";
    const DESCRIPTION: &'static str = "Read the decisions flyball has written down for the tasks: \
        directives to leave a task, authority to remove blockers, escalations. Read them before \
        starting work.";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        if !(1..=ENTRIES_MAX).contains(&input.limit) {
            return Err(Refused::arguments(format!(
                "`limit` is {}; it must be 1 to {ENTRIES_MAX}",
                input.limit
            )));
        }
        let journal = call.site.journal()?;
        let mut found = journal.contexts(&call.site.root, input.topic.as_deref())?;
        if let Some(task) = input.task.as_deref().map(str::trim) {
            found.retain(|entry| entry.related_tasks.iter().any(|one| one.as_str() == task));
        }
        let left_out = found.len().saturating_sub(input.limit);
        let context = found.into_iter().skip(left_out).map(entry).collect();
        Ok(Output { context, left_out })
    }
}

fn entry(entry: ContextEntry) -> Entry {
    Entry {
        id: entry.id,
        at: clock::rfc3339(entry.at),
        topic: entry.topic,
        content: text::head(&entry.content, CONTENT_MAX),
        related_tasks: entry.related_tasks.iter().map(ToString::to_string).collect(),
        confidence: entry.confidence,
        evidence_attempts: entry.evidence.len(),
    }
}
