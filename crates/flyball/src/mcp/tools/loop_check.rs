//! `loop_check`: looks for a loop in the attempts at a task, and does what is due about it.

use flyball_core::task::{Applied, Detection, HeldBack, Standing, TaskRing};
use flyball_core::{Moment, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::journal::Journal;
use crate::mcp::refused::Refused;
use crate::mcp::site::{self, Call, Site};
use crate::mcp::tool::{Tool, ToolEffect};
use crate::mcp::words;

pub(super) struct CheckLoop;

/// Which task.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The task's id.
    task: String,
    /// What to do about a loop: `apply` the remedy that is due, or only `look`.
    #[serde(default)]
    action: Action,
}

/// What to do about a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    /// Do what is due.
    #[default]
    Apply,
    /// Only say what is due.
    Look,
}

/// What was found and done.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The task's id.
    task: String,
    /// Whether its attempts make a loop.
    loop_detected: bool,
    /// Which: `completed_task_revisit`, `blocked_task_spin`, `no_progress_repeat` or
    /// `task_cycle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<&'static str>,
    /// What is due: `advise`, `force_next`, `unblock_authority` or `escalate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'static str>,
    /// Whether it was done just now.
    applied: bool,
    /// Attempts at the task in the window.
    attempts: u32,
    /// What is in the way, where something is.
    blockers: Vec<String>,
    /// The tasks it goes round between, where it does.
    tasks_in_cycle: Vec<String>,
    /// Where the task stands now.
    standing: &'static str,
    /// What you are told; follow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    briefing: Option<String>,
    /// The context entries that were written.
    entries: Vec<String>,
    /// The run you are in: it does what is due itself, before its next iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_to: Option<String>,
}

impl Tool for CheckLoop {
    const NAME: &'static str = "loop_check";
    const DESCRIPTION: &'static str = "Look for a loop in the attempts at a task and do what is due \
        about it: advice, leaving the task (force_next), authority to remove exactly the blockers \
        named (unblock_authority), or handing it to a human (escalate). Follow the briefing it \
        answers with. Call it after attempt_record and before starting a task again.";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let task = Site::task_id(&input.task)?;
        let mut journal = call.site.journal()?;
        let now = site::now();
        let enclosing = call.site.enclosing_run(&journal)?;
        let mut ring = call.site.task_ring(&journal, now, enclosing.as_ref())?;
        let rules = &call.site.config.policy.tasks;
        let run = enclosing.as_ref().map(|enclosing| enclosing.run.clone()).unwrap_or_default();
        let mut found = ring.detect(rules, &run, now, &task);
        // A task that a guard stopped is a human's to bring back: no remedy gives it to the agent.
        if ring.standing(&task) == Standing::Tripped
            && let Some(found) = &mut found
        {
            found.remedy = None;
        }
        let due = input.action == Action::Apply
            && found.as_ref().is_some_and(|found| found.remedy.is_some());
        let applied = match (&found, &enclosing) {
            (Some(found), None) if due => {
                perform(call.site, &mut journal, (&mut ring, now), found)?
            }
            // The run has a ring of its own and does what is due; here it is only told.
            (Some(found), Some(_)) if due => {
                let told = ring.clone().apply(rules, now, found, String::new());
                Applied { briefing: told.briefing, ..Applied::default() }
            }
            (Some(_) | None, _) => Applied::default(),
        };
        let mut output = answer(&task, &ring, found, (due && enclosing.is_none(), applied));
        if let held @ Standing::Tripped = ring.standing(&task) {
            output.briefing = Some(words::held_back(&task, &HeldBack::Stands(held)));
        }
        output.left_to = enclosing.map(|enclosing| enclosing.run.to_string());
        Ok(output)
    }
}

/// Applies the remedy and writes down everything that follows from it.
fn perform(
    site: &Site,
    journal: &mut Journal,
    (ring, now): (&mut TaskRing, Moment),
    found: &Detection,
) -> Result<Applied, Refused> {
    let entry_id = format!("mcp-{}", clock::unique_nanos());
    let applied = ring.apply(&site.config.policy.tasks, now, found, entry_id);
    let tasks: Vec<TaskId> = if found.tasks_in_cycle.is_empty() {
        vec![found.task.clone()]
    } else {
        found.tasks_in_cycle.clone()
    };
    let memory = ring.memory();
    let fresh = memory.remedies.iter().filter(|one| one.at == now && tasks.contains(&one.task));
    for remedy in fresh {
        journal.record_remedy(&site.root, remedy)?;
    }
    for (task, standing) in &applied.standing_changes {
        journal.mark_task(&site.root, task, (*standing, now))?;
    }
    for entry in &applied.entries {
        journal.record_context(&site.root, entry)?;
    }
    if applied.notify {
        let what = applied.entries.first().map(|entry| entry.content.clone()).unwrap_or_default();
        tell_human(site, &what);
    }
    Ok(applied)
}

/// An escalation reaches a human through what `[notify]` names; without that, `flyball status`.
fn tell_human(site: &Site, what: &str) {
    crate::notify::escalated(&site.config.notify, &site.root, what);
}

fn answer(
    task: &TaskId,
    ring: &TaskRing,
    found: Option<Detection>,
    (apply, applied): (bool, Applied),
) -> Output {
    let standing = words::standing(ring.standing(task));
    let entries = applied.entries.iter().map(|entry| entry.id.clone()).collect();
    let Some(found) = found else {
        return Output {
            task: task.to_string(),
            loop_detected: false,
            pattern: None,
            remedy: None,
            applied: false,
            attempts: 0,
            blockers: Vec::new(),
            tasks_in_cycle: Vec::new(),
            standing,
            briefing: None,
            entries,
            left_to: None,
        };
    };
    Output {
        task: task.to_string(),
        loop_detected: true,
        pattern: Some(found.pattern.guard().as_str()),
        remedy: found.remedy.map(words::remedy),
        applied: apply,
        attempts: found.attempts,
        blockers: found.blockers.into_iter().collect(),
        tasks_in_cycle: found.tasks_in_cycle.iter().map(ToString::to_string).collect(),
        standing,
        briefing: applied.briefing,
        entries,
        left_to: None,
    }
}
