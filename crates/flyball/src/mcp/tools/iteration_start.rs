//! `iteration_start`: begins a guarded iteration session.

use flyball_core::TaskId;
use flyball_core::iteration_session::{IterationSession, SessionRules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::mcp::refused::Refused;
use crate::mcp::rules::{RULES_MAX, Rule};
use crate::mcp::session::McpSession;
use crate::mcp::site::{self, Call, Site};
use crate::mcp::tool::{Tool, ToolEffect};
use crate::mcp::words::{self, SessionStatus};

pub(super) struct IterationStart;

/// How a session is to be guarded.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The task: the id of a story of the task list, or what is to be done in your own words.
    task: String,
    /// How many iterations there may be, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    max_iterations: u32,
    /// Texts in the agent's output that promise completion; `<promise>COMPLETE</promise>` when
    /// left out.
    #[serde(default = "default_promises")]
    completion_promises: Vec<String>,
    /// What must be true for an iteration to pass.
    #[serde(default)]
    validation_rules: Vec<Rule>,
    /// Failed iterations in a row that end the session, 1 to 20.
    #[serde(default = "default_threshold")]
    #[schemars(range(min = 1, max = 20))]
    circuit_breaker_threshold: u32,
}

/// The session that has begun.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// Names the session in all other `iteration_*` tools.
    iteration_id: String,
    /// Its task.
    task: String,
    /// The iteration at hand: 1.
    iteration: u32,
    /// How many there may be.
    max_iterations: u32,
    /// What promises completion.
    completion_promises: Vec<String>,
    /// What must be true.
    validation_rules: Vec<Rule>,
    /// Failed iterations in a row that end the session.
    circuit_breaker_threshold: u32,
    /// Where the session stands.
    session_status: SessionStatus,
    /// What to do next.
    feedback: String,
}

fn default_promises() -> Vec<String> {
    vec!["<promise>COMPLETE</promise>".to_owned()]
}

const fn default_threshold() -> u32 {
    3
}

impl Tool for IterationStart {
    const NAME: &'static str = "iteration_start";
    const DESCRIPTION: &'static str = "Begin a guarded loop of iterations on one task. State how \
        many iterations there may be, which words promise completion, and which validation rules \
        (command, content_pattern, coverage, file_exists) must hold. Answers with an iteration_id \
        for iteration_validate, iteration_next and iteration_complete. The session is kept even \
        if this server is restarted. A task that plan_next leaves out (done, set aside, escalated, \
        stopped by a guard, waiting for others) is refused.";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let Input {
            task,
            max_iterations,
            completion_promises,
            validation_rules,
            circuit_breaker_threshold,
        } = input;
        let rules = SessionRules { max_iterations, circuit_breaker_threshold, completion_promises };
        let id = new_id();
        let machine = IterationSession::begin(rules, site::now())
            .map_err(|error| Refused::session(&id, &error))?;
        check(&validation_rules)?;
        let task = Site::task_id(&task)?;
        may_begin(call.site, &task)?;
        let task = task.to_string();
        let mut session = McpSession { revision: 0, id, task, validation_rules, machine };
        session.checkpoint(call.site, IterationSession::first_checkpoint());
        call.site.keep_new(&session)?;
        let feedback = if session.validation_rules.is_empty() {
            "Nothing checks this work: without validation rules only the promise counts. Work, \
             then call `iteration_validate` with what the agent said."
        } else {
            "Work, then call `iteration_validate` with what the agent said."
        };
        Ok(Output {
            iteration_id: session.id,
            task: session.task,
            iteration: session.machine.iteration(),
            max_iterations,
            completion_promises: session.machine.rules().completion_promises.clone(),
            validation_rules: session.validation_rules,
            circuit_breaker_threshold,
            session_status: session.machine.status().into(),
            feedback: feedback.to_owned(),
        })
    }
}

fn check(rules: &[Rule]) -> Result<(), Refused> {
    if rules.len() > RULES_MAX {
        return Err(Refused::arguments(format!(
            "there are {} validation rules; {RULES_MAX} are allowed",
            rules.len()
        )));
    }
    rules.iter().try_for_each(Rule::check)
}

/// Refuses a task that planning leaves out: no two tools contradict each other.
fn may_begin(site: &Site, task: &TaskId) -> Result<(), Refused> {
    let journal = site.journal()?;
    let ring = site.due_ring(&journal, site::now())?;
    let list = site.tasks_if_any();
    match ring.held_back(list.as_ref(), &site.config.policy.review, task) {
        None => Ok(()),
        Some(why) => Err(Refused::new(words::held_back(task, &why))),
    }
}

/// Names a session: no two share it.
fn new_id() -> String {
    let seed = format!("{}-{}", clock::unique_nanos(), std::process::id());
    let hash = blake3::hash(seed.as_bytes()).to_hex();
    format!("it-{}", hash.get(..16).unwrap_or_default())
}
