//! What was drafted, for people and for programs.

use flyball_core::TaskId;
use flyball_core::tasklist::Story;
use serde_json::json;

use super::drafting::Came;
use crate::terminal::{Paint, wrapped};
use crate::view::words::{dollars, line, span, stories};

/// Everything that came of it.
pub(super) struct Planned {
    pub(super) agent: String,
    pub(super) came: Came,
    /// The ids the stories have in the list, in their order.
    pub(super) ids: Vec<TaskId>,
    pub(super) written: Vec<String>,
    /// Files outside of the loop folder that the agent changed.
    pub(super) strayed: Vec<String>,
}

impl Planned {
    fn stories(&self) -> impl Iterator<Item = (&TaskId, &Story)> {
        self.ids.iter().zip(&self.came.draft.stories)
    }

    /// A story of the draft by the id it has in the list.
    fn named(&self, id: &TaskId) -> TaskId {
        let found = self.stories().find(|(_, story)| story.id == *id);
        found.map_or_else(|| id.clone(), |(named, _)| named.clone())
    }

    /// For people, readable in a narrow terminal.
    pub(super) fn text(&self, paint: Paint) -> String {
        let spend = self.came.spend;
        let tokens = spend.input_tokens.saturating_add(spend.output_tokens);
        let mut cost = vec![span(self.came.took).to_string()];
        if tokens > 0 || spend.cost_micro_usd > 0 {
            cost.push(format!("{tokens} tokens"));
            cost.push(dollars(spend.cost_micro_usd));
        }
        if self.came.tries > 1 {
            cost.push(format!("{} tries", self.came.tries));
        }
        let (count, agent) = (stories(self.ids.len()), line(&self.agent, 60));
        let mut out = wrapped("Drafted  ", &format!("{count} by {agent} ({})", cost.join(", ")));
        for (id, story) in self.stories() {
            let (lead, title) = (format!("{id}  "), line(&story.title, 400));
            let lines = wrapped(&lead, &title).replacen(id.as_str(), &paint.cyan(id.as_str()), 1);
            out.push('\n');
            out.push_str(&lines);
            let after: Vec<String> =
                story.depends_on.iter().map(|link| self.named(link).to_string()).collect();
            if !after.is_empty() {
                out.push_str(&paint.dim(&wrapped("  after ", &line(&after.join(", "), 400))));
            }
            for criterion in &story.acceptance_criteria {
                out.push_str(&wrapped("  - ", &line(criterion, 1000)));
            }
        }
        out.push('\n');
        let mut say = |label: &str, painted: String, text: &str| {
            out.push_str(&wrapped(label, text).replacen(label.trim_end(), &painted, 1));
        };
        for why in &self.came.draft.refused {
            say("Left out ", paint.red("Left out"), &line(why, 400));
        }
        for why in &self.came.draft.doubts {
            say("Look at  ", paint.yellow("Look at"), &line(why, 400));
        }
        if !self.strayed.is_empty() {
            let files = line(&self.strayed.join(", "), 400);
            let what = format!("the agent was to plan, and changed {files} (git diff)");
            say("Look at  ", paint.yellow("Look at"), &what);
        }
        for path in &self.written {
            say("Wrote    ", paint.green("Wrote"), path);
        }
        say("Next     ", "Next".to_owned(), "look at them, git commit, flyball run");
        out
    }

    /// For programs.
    pub(super) fn json(&self) -> String {
        let stories: Vec<_> = self
            .stories()
            .map(|(id, story)| {
                let after: Vec<TaskId> =
                    story.depends_on.iter().map(|link| self.named(link)).collect();
                json!({
                    "id": id, "title": story.title, "description": story.description,
                    "acceptanceCriteria": story.acceptance_criteria, "dependsOn": after,
                })
            })
            .collect();
        let value = json!({
            "agent": self.agent, "stories": stories, "refused": self.came.draft.refused,
            "doubts": self.came.draft.doubts, "written": self.written, "strayed": self.strayed,
            "role": "plan", "tries": self.came.tries, "took_ms": self.came.took.get(),
            "input_tokens": self.came.spend.input_tokens,
            "output_tokens": self.came.spend.output_tokens,
            "cost_micro_usd": self.came.spend.cost_micro_usd,
        });
        format!("{value:#}\n")
    }
}
