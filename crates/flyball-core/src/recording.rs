//! Recorded sessions as they are stored: one JSON object per line. The runs that come with the project
//! are kept so, and so is the copy that `flyball inspect --share` writes: nothing but the names of
//! common tools, numbers and lengths, so that equal things have equal numbers.
//!
//! A step holds a call with its answer. Where the answer came later, after other calls, it is a step
//! of its own (`_answer`). What is not told of a call is the plain case: its number is its id, and each
//! call is a turn of the model.

mod answer;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{
    Chant, Fingerprint, ToolCall, ToolOutcome, ToolResult, ValidationFailure, ValidationKind,
};
use crate::event::{AgentFact, Spend};
use crate::id::{CallId, RoundId, SubAgent};
use crate::moment::Moment;
use crate::policy::CallRules;

/// One recorded session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recording {
    /// Its name.
    pub id: String,
    /// Where it was published.
    pub source: String,
    /// The agent program.
    pub agent: String,
    /// The model, where it is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `success`, `failure` or `unknown`.
    pub outcome: String,
    /// The first nudge, refusal and halt of the account by itself, where they were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<[Option<u64>; 3]>,
    /// What happened, in order.
    pub steps: Vec<Step>,
}

/// One step of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    /// The tool that was called. `_user` is a message of a human, `_answer` an answer that came late,
    /// `_spent` what a model call used, `_spoke` that something well-formed was said, `_compacted` a context that was condensed, `_invalid` output
    /// that could not be understood, `_chant` words said again and again; any other name with a line
    /// in front is a turn of words.
    pub tool: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub args: Value,
    /// Identity of the answer as it stood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_hash: Option<String>,
    /// Identity of the answer without its volatile parts; none where there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_nhash: Option<String>,
    /// Length of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_len: Option<u64>,
    /// Its first characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_head: Option<String>,
    /// Whether it failed.
    pub error: bool,
    /// `tool`: the tool refused; else a program ran and failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<String>,
    /// Whether the call changes files.
    #[serde(skip_serializing_if = "is_false")]
    pub edit: bool,
    /// Identity of the words of this turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_hash: Option<String>,
    /// Whether the call ran at all, where that is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran: Option<bool>,
    /// Tokens read by the model for this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tok_in: Option<u64>,
    /// Tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tok_out: Option<u64>,
    /// What that cost, in millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    /// The call's id, or the one that is answered; 0 for none at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<u64>,
    /// The sub-agent; none for the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<u64>,
    /// The model's turn; 0 for a call that is alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u64>,
    /// When, in milliseconds since the session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
    /// How output was wrong (`_invalid`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<ValidationKind>,
    /// How often words were said (`_chant`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// Something that a recording tells, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// When, where that was recorded.
    pub at: Option<Moment>,
    /// In which of the recording's steps, from 1.
    pub record: u64,
    /// What.
    pub what: RecordedWhat,
}

/// What a recording tells.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedWhat {
    /// Something of the agent.
    Fact(AgentFact),
    /// A model was called.
    Used {
        /// Whose it is.
        agent: SubAgent,
        /// What it used.
        spend: Spend,
    },
    /// A human spoke.
    Human,
    /// The context was condensed.
    Compacted,
}

/// What is heard of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// All of it.
    Whole,
    /// As the evidence account is measured by itself: that words were said and not which, and of calls
    /// that did not run that they failed.
    AccountAlone,
}

impl Step {
    fn is_words(&self) -> bool {
        self.tool.starts_with('_')
    }

    fn agent(&self) -> SubAgent {
        self.sub_agent.map_or_else(SubAgent::default, |number| SubAgent::new(number.to_string()))
    }

    fn id(&self, number: u64) -> CallId {
        match self.call_id {
            Some(0) => CallId::default(),
            Some(id) => CallId::new(id.to_string()),
            None => CallId::new(number.to_string()),
        }
    }

    fn call(&self, number: u64, rules: &CallRules) -> ToolCall {
        let round = match self.round {
            Some(0) => RoundId::default(),
            Some(round) => RoundId::new(round.to_string()),
            // Each step is a turn of its own: whatever it leaves open stays so.
            None => RoundId::new(number.to_string()),
        };
        let call = ToolCall::new(self.id(number), self.tool.as_str(), &self.args, rules);
        let mut call = call.by(self.agent()).in_round(round);
        call.mutating = self.edit;
        call
    }

    fn outcome(&self, hearing: Hearing) -> ToolOutcome {
        match (self.error, self.error_kind.as_deref()) {
            (_, _) if hearing == Hearing::Whole && !self.ran() => ToolOutcome::Refused,
            (true, Some("tool")) => ToolOutcome::Tool,
            (true, _) => ToolOutcome::Exit,
            (false, _) => ToolOutcome::Ok,
        }
    }

    fn answer(&self, number: u64, hearing: Hearing) -> Option<ToolResult> {
        let result = self.result_nhash.as_deref()?;
        let raw = Fingerprint::of_text(self.result_hash.as_deref().unwrap_or(result));
        let outcome = self.outcome(hearing);
        let result = Fingerprint::of_text(result);
        let mut answer =
            ToolResult::identified(self.id(number), outcome, result, raw).by(self.agent());
        answer.empty = self.is_empty();
        answer.chars = self.result_len.unwrap_or(0);
        answer.preview = self.result_head.clone().unwrap_or_default();
        Some(answer)
    }

    fn spend(&self) -> Option<Spend> {
        let spend = Spend {
            input_tokens: self.tok_in.unwrap_or(0),
            output_tokens: self.tok_out.unwrap_or(0),
            cost_micro_usd: self.micro_usd.unwrap_or(0),
        };
        (spend != Spend::default()).then_some(spend)
    }

    fn words(&self, hearing: Hearing) -> AgentFact {
        let known = self.text_hash.as_deref().filter(|_| hearing == Hearing::Whole);
        AgentFact::OnlySpoke { agent: self.agent(), words: known.map(Fingerprint::of_text) }
    }

    fn nonsense(&self) -> AgentFact {
        let kind = self.invalid.unwrap_or(ValidationKind::BadStreamLine);
        AgentFact::SpokeNonsense(ValidationFailure::new(kind, "", "", ""))
    }

    /// What it tells, in order. `number` counts calls and turns of words.
    fn tell(&self, number: u64, rules: &CallRules, hearing: Hearing, to: &mut Vec<RecordedWhat>) {
        let agent = || self.agent();
        to.extend(self.spend().map(|spend| RecordedWhat::Used { agent: agent(), spend }));
        let fact = RecordedWhat::Fact;
        match self.tool.as_str() {
            "_spent" => {}
            "_spoke" => to.push(fact(AgentFact::Spoke)),
            "_user" => to.push(RecordedWhat::Human),
            "_compacted" => to.push(RecordedWhat::Compacted),
            "_answer" => {
                to.extend(self.answer(number, hearing).map(AgentFact::ToolReturned).map(fact));
            }
            "_invalid" => to.push(fact(self.nonsense())),
            "_chant" => {
                let chant =
                    Chant { unit: String::new(), times: self.times.unwrap_or(Chant::TIMES) };
                to.push(fact(AgentFact::Chanted(chant)));
            }
            _ if self.is_words() => to.push(fact(self.words(hearing))),
            _ => {
                to.push(fact(AgentFact::CalledTool(self.call(number, rules))));
                to.extend(self.answer(number, hearing).map(AgentFact::ToolReturned).map(fact));
            }
        }
    }

    /// Whether it is one of the steps that are counted: a call, or a turn of words.
    fn is_counted(&self) -> bool {
        let aside = ["_user", "_answer", "_spent", "_spoke", "_compacted", "_invalid", "_chant"];
        !aside.contains(&self.tool.as_str())
    }
}

impl Recording {
    /// Everything it tells, in order; calls are identified by these rules.
    pub fn facts(&self, rules: &CallRules, hearing: Hearing) -> Vec<Recorded> {
        let mut facts = Vec::with_capacity(self.steps.len().saturating_mul(2));
        let mut told = Vec::new();
        let mut number = 0;
        for (record, step) in (1..).zip(&self.steps) {
            step.tell(number, rules, hearing, &mut told);
            number += u64::from(step.is_counted());
            let at = step.at_ms.map(Moment::from_millis);
            facts.extend(told.drain(..).map(|what| Recorded { at, record, what }));
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_says_only_what_is_not_usual_and_is_read_as_it_was_written() {
        let usual = serde_json::to_string(&Step::default()).unwrap();
        assert!(!usual.contains("edit"), "{usual}");
        for edit in [true, false] {
            let step = Step { edit, ..Step::default() };
            let written = serde_json::to_string(&step).unwrap();
            assert_eq!(serde_json::from_str::<Step>(&written).unwrap(), step, "{written}");
        }
    }
}
