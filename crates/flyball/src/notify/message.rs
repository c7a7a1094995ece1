//! What is told: the facts for programs, and a title with a few words for people.

use std::path::Path;

use flyball_core::effect::{Ending, Notice};
use flyball_core::task::Standing;
use flyball_core::{Outcome, RunId};
use serde_json::{Value, json};

use crate::view::words;

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The facts.
    pub facts: Value,
    /// One line: what happened, where.
    pub title: String,
    /// The rest, for people.
    pub text: String,
    /// Whether someone is needed.
    pub urgent: bool,
    /// Whether all went well.
    pub success: bool,
}

impl Message {
    /// A run ended: blocked, with a question, or in any other way.
    pub fn run_ended(run: &RunId, root: &Path, ending: &Ending) -> Self {
        let tally = &ending.tally;
        let success = ending.outcome == Outcome::Complete;
        let facts = json!({
            "event": "run.ended",
            "run": run,
            "repository": root.to_string_lossy(),
            "outcome": ending.outcome,
            "exit_code": ending.outcome.exit_code(),
            "sentence": ending.outcome.sentence(),
            "why": ending.why,
            "iterations": tally.iterations,
            "stories_complete": tally.stories_complete,
            "stories_total": tally.stories_total,
            "tokens": tally.tokens,
            "cost_micro_usd": tally.cost_micro_usd,
        });
        let mut counted = vec![match tally.iterations {
            1 => "1 iteration".to_owned(),
            many => format!("{many} iterations"),
        }];
        if tally.stories_total > 0 {
            let (done, all) = (tally.stories_complete, tally.stories_total);
            counted.push(format!("{done} of {all} stories"));
        }
        if tally.cost_micro_usd > 0 {
            counted.push(words::money(tally.cost_micro_usd));
        }
        let text = format!("{}\n{} · {run}", ending.why, counted.join(" · "));
        Self {
            facts,
            title: format!("{}: {}", name(root), ending.outcome.as_str().replace('_', " ")),
            text,
            urgent: !success,
            success,
        }
    }

    /// A task needs a human while the run goes on; none when the notice needs nobody.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other notices need nobody")]
    pub fn noticed(run: &RunId, root: &Path, notice: &Notice) -> Option<Self> {
        let is_news = |standing: &Standing| {
            matches!(
                standing,
                Standing::Blocked | Standing::Asked | Standing::Escalated | Standing::Tripped
            )
        };
        let (event, task, standing, why) = match notice {
            Notice::TaskLeft { task, standing, why } if is_news(standing) => {
                ("task.left", task, Some(standing), why)
            }
            Notice::TaskRevisited { task, why } => ("task.revisited", task, None, why),
            _ => return None,
        };
        let facts = json!({
            "event": event,
            "run": run,
            "repository": root.to_string_lossy(),
            "task": task,
            "standing": standing,
            "why": why,
        });
        let what = match standing {
            Some(standing) => standing.words(),
            None => "is worked on again though it is done",
        };
        Some(Self {
            facts,
            title: format!("{}: task {task} {what}", name(root)),
            text: format!("{why}\nThe run goes on · {run}"),
            urgent: true,
            success: false,
        })
    }

    /// A task is handed to a human, outside of a run.
    pub fn escalated(root: &Path, why: &str) -> Self {
        let facts = json!({
            "event": "task.escalated",
            "repository": root.to_string_lossy(),
            "why": why,
        });
        let title = format!("{}: a task needs you", name(root));
        Self { facts, title, text: why.to_owned(), urgent: true, success: false }
    }

    /// Somebody tries whether messages arrive.
    pub fn test(root: &Path) -> Self {
        let why = "sent by `flyball notify test`";
        let facts = json!({
            "event": "test",
            "repository": root.to_string_lossy(),
            "why": why,
        });
        let title = format!("{}: a test message", name(root));
        Self { facts, title, text: why.to_owned(), urgent: false, success: false }
    }
}

/// The repository as people call it.
fn name(root: &Path) -> String {
    root.file_name()
        .map_or_else(|| "flyball".to_owned(), |name| name.to_string_lossy().into_owned())
}
