//! A session of the call ring played from a vector's steps.

use flyball_core::call::{
    CallRing, ToolCall, ToolOutcome, ToolResult, ValidationFailure, ValidationKind, Verdict,
};
use flyball_core::guard::Rung;
use flyball_core::policy::CallRules;
use flyball_core::{CallId, Moment, Policy, SubAgent};
use serde::Deserialize;
use serde_json::Value;

/// Settings of the call ring; what is not given has its default.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    nudge_after: Option<u32>,
    refuse_after: Option<u32>,
    max_refusals: Option<u32>,
    max_validation_failures: Option<u32>,
    max_consecutive_failures: Option<u32>,
    nudge_after_success: Option<u32>,
    refuse_after_changing: Option<u32>,
    /// The vectors show each rule by itself.
    account: bool,
}

impl Config {
    pub(crate) fn rules(self) -> CallRules {
        let mut rules = Policy::default().calls.clone();
        let set = [
            (&mut rules.nudge_after, self.nudge_after),
            (&mut rules.refuse_after, self.refuse_after),
            (&mut rules.max_refusals, self.max_refusals),
            (&mut rules.max_validation_failures, self.max_validation_failures),
            (&mut rules.max_consecutive_failures, self.max_consecutive_failures),
            (&mut rules.nudge_after_success, self.nudge_after_success),
            (&mut rules.refuse_after_changing, self.refuse_after_changing),
        ];
        for (rule, value) in set {
            *rule = value.unwrap_or(*rule);
        }
        rules.account = self.account;
        rules
    }
}

/// One step: a call with its result, a call without one, words, or something invalid.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Step {
    Call(CallStep),
    Invalid(InvalidStep),
    Said(SaidStep),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallStep {
    tool: String,
    args: Value,
    /// None: it never answers.
    result: Option<String>,
    error: Option<ToolOutcome>,
    #[serde(default)]
    agent: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InvalidStep {
    invalid: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaidStep {
    text: String,
}

/// What came of the steps; steps are counted from 1.
#[derive(Default)]
pub(crate) struct Played {
    pub(crate) rungs: Vec<Rung>,
    pub(crate) refused_at: Vec<usize>,
    pub(crate) halt: Option<(String, usize)>,
    pub(crate) messages: Vec<String>,
    pub(crate) ring: CallRing,
}

/// Plays the steps up to the end; a halt does not stop them.
pub(crate) fn play(rules: &CallRules, steps: &[Step]) -> Played {
    let mut played = Played::default();
    for (index, step) in steps.iter().enumerate() {
        let verdicts = match step {
            Step::Call(step) => call(&mut played.ring, rules, index, step),
            Step::Invalid(step) => vec![invalid(&mut played.ring, rules, index, step)],
            Step::Said(said) => {
                assert!(!said.text.is_empty(), "silence is not a well-formed response");
                played.ring.spoke(moment(index));
                vec![]
            }
        };
        played.note(index + 1, &verdicts);
    }
    played
}

impl Played {
    fn note(&mut self, number: usize, verdicts: &[Verdict]) {
        self.rungs.push(verdicts.iter().map(Verdict::rung).max().unwrap_or(Rung::Pass));
        for verdict in verdicts {
            self.messages.extend(verdict.message().map(String::from));
            if matches!(verdict, Verdict::Halt { .. }) && self.halt.is_none() {
                let outcome = verdict.trip().unwrap().guard.outcome().unwrap();
                self.halt = Some((name(&outcome), number));
            }
        }
        if verdicts.first().is_some_and(|verdict| !verdict.may_run()) {
            self.refused_at.push(number);
        }
    }
}

fn call(ring: &mut CallRing, rules: &CallRules, index: usize, step: &CallStep) -> Vec<Verdict> {
    let id = CallId::new(index.to_string());
    let agent = SubAgent::new(step.agent.as_str());
    let call = ToolCall::new(id.clone(), step.tool.as_str(), &step.args, rules).by(agent.clone());
    let before = ring.before(rules, moment(index), &call);
    let Some(text) = step.result.as_ref().filter(|_| before.may_run()) else {
        return vec![before];
    };
    let outcome = step.error.unwrap_or(ToolOutcome::Ok);
    let result = ToolResult::new(id, outcome, text).by(agent);
    let after = ring.after(rules, moment(index), &result);
    vec![before, after]
}

fn invalid(ring: &mut CallRing, rules: &CallRules, index: usize, step: &InvalidStep) -> Verdict {
    let kind = ValidationKind::UnparseableJson;
    let failure = ValidationFailure::new(kind, "an object", &step.invalid, "expected `{`");
    ring.invalid(rules, moment(index), &failure)
}

fn moment(index: usize) -> Moment {
    Moment::from_millis(index as u64 * 1_000)
}

/// The name a value has in JSON.
pub(crate) fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}
