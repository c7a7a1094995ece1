//! `plan_next`: the task to take now.

use flyball_core::tasklist::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::task_list::{self, TaskRow};
use crate::mcp::refused::Refused;
use crate::mcp::site::{self, Call};
use crate::mcp::tool::{Tool, ToolEffect};

pub(super) struct PlanNext;

/// Nothing needs to be said.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {}

/// The task to take.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    /// Its id; left out when there is nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::mcp) task: Option<String>,
    /// What is to be done with it: implement, review or review-fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::mcp) mode: Option<&'static str>,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::mcp) title: Option<String>,
    /// What is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// What must hold in the end.
    acceptance_criteria: Vec<String>,
    /// What the last review wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    review_feedback: Option<String>,
    /// What to do, or why there is nothing to do.
    pub(in crate::mcp) advice: String,
    /// Tasks that are not done and not planned either.
    left_out: Vec<TaskRow>,
}

impl Tool for PlanNext {
    const NAME: &'static str = "plan_next";
    const DESCRIPTION: &'static str = "Choose the task to work on now, and in which mode \
        (implement, review, review-fix). Leaves out what is done, set aside, escalated to a human, \
        or waiting for other tasks.";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, _: Input) -> Result<Output, Refused> {
        plan(call)
    }
}

pub(in crate::mcp) fn plan(call: Call<'_>) -> Result<Output, Refused> {
    let (_, list) = call.site.tasks()?;
    let review = &call.site.config.policy.review;
    let journal = call.site.journal()?;
    let ring = call.site.due_ring(&journal, site::now())?;
    let Some((mode, story)) = ring.plan_next(&list, review) else {
        let open = |row: &TaskRow| {
            !list
                .story(&flyball_core::TaskId::new(&row.task))
                .is_some_and(|one| one.is_done(review))
        };
        let mut left_out = task_list::rows(call.site, &list)?;
        left_out.retain(open);
        let advice = if list.complete(review) {
            "every task is done".to_owned()
        } else if list.stories().is_empty() {
            "the task list has no tasks; add some".to_owned()
        } else {
            "no task can be planned: those that are left are set aside, with a human, or wait for \
             others; tell a human"
                .to_owned()
        };
        return Ok(Output {
            task: None,
            mode: None,
            title: None,
            description: None,
            acceptance_criteria: Vec::new(),
            review_feedback: None,
            advice,
            left_out,
        });
    };
    let given = |text: &String| (!text.trim().is_empty()).then(|| text.clone());
    Ok(Output {
        task: Some(story.id.to_string()),
        mode: Some(mode.as_str()),
        title: Some(story.title.clone()),
        description: given(&story.description),
        acceptance_criteria: story.acceptance_criteria.clone(),
        review_feedback: given(&story.review_feedback),
        advice: advice(mode).to_owned(),
        left_out: Vec::new(),
    })
}

const fn advice(mode: Mode) -> &'static str {
    match mode {
        Mode::Implement => {
            "implement it, then hand it in with `task_update` (review_status needs_review, or \
             passes true when reviews are off)"
        }
        Mode::Review => {
            "review it, then `task_update` with review_status approved, or changes_requested and \
             review_feedback"
        }
        Mode::ReviewFix => {
            "mend what review_feedback asks for, then `task_update` with review_status needs_review"
        }
    }
}
