//! `iteration_start`: begins a guarded iteration session.

use flyball_core::iteration::IterationRing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::mcp::refused::Refused;
use crate::mcp::rules::{RULES_MAX, Rule};
use crate::mcp::session::{Session, SessionStatus, Trigger};
use crate::mcp::site::{self, Call, Site};
use crate::mcp::tool::{Effect, Tool};

const ITERATIONS_MAX: u32 = 100;
const THRESHOLD_MAX: u32 = 20;
const PROMISES_MAX: usize = 20;
const PROMISE_CHARS_MAX: usize = 500;

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
        if this server is restarted.";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        check(&input)?;
        let Input {
            task,
            max_iterations,
            completion_promises,
            validation_rules,
            circuit_breaker_threshold,
        } = input;
        let mut session = Session {
            revision: 0,
            id: new_id(),
            task: Site::task_id(&task)?.to_string(),
            max_iterations,
            circuit_breaker_threshold,
            completion_promises,
            validation_rules,
            started: site::now(),
            iteration: 1,
            status: SessionStatus::Open,
            ring: IterationRing::default(),
            current: None,
            red_before: None,
            checkpoints: Vec::new(),
            ending: None,
        };
        let start = call.site.checkpoint(&session, Trigger::Start);
        session.add_checkpoint(start);
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
            iteration: session.iteration,
            max_iterations,
            completion_promises: session.completion_promises,
            validation_rules: session.validation_rules,
            circuit_breaker_threshold,
            session_status: session.status,
            feedback: feedback.to_owned(),
        })
    }
}

fn check(input: &Input) -> Result<(), Refused> {
    let (iterations, threshold) = (input.max_iterations, input.circuit_breaker_threshold);
    if !(1..=ITERATIONS_MAX).contains(&iterations) {
        return Err(Refused::arguments(format!(
            "`max_iterations` is {iterations}; it must be 1 to {ITERATIONS_MAX}"
        )));
    }
    if !(1..=THRESHOLD_MAX).contains(&threshold) {
        return Err(Refused::arguments(format!(
            "`circuit_breaker_threshold` is {threshold}; it must be 1 to {THRESHOLD_MAX}"
        )));
    }
    let promises = &input.completion_promises;
    if promises.is_empty() || promises.len() > PROMISES_MAX {
        return Err(Refused::arguments(format!(
            "`completion_promises` has {} entries; it must have 1 to {PROMISES_MAX}",
            promises.len()
        )));
    }
    if promises.iter().any(|promise| promise.trim().is_empty()) {
        return Err(Refused::arguments(
            "`completion_promises` has an empty text in it, which every output would contain",
        ));
    }
    if promises.iter().any(|promise| promise.chars().count() > PROMISE_CHARS_MAX) {
        return Err(Refused::arguments(format!(
            "a completion promise is longer than {PROMISE_CHARS_MAX} characters"
        )));
    }
    if input.validation_rules.len() > RULES_MAX {
        return Err(Refused::arguments(format!(
            "there are {} validation rules; {RULES_MAX} are allowed",
            input.validation_rules.len()
        )));
    }
    input.validation_rules.iter().try_for_each(Rule::check)
}

/// Names a session: no two share it.
fn new_id() -> String {
    let seed = format!("{}-{}", clock::unique_nanos(), std::process::id());
    let hash = blake3::hash(seed.as_bytes()).to_hex();
    format!("it-{}", hash.get(..16).unwrap_or_default())
}
