//! What a session is held to, what is found of it, and what goes wrong.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::gate::{Check, Finding, FindingKind, GateResult};
use crate::iteration::files_in_message;
use crate::text;

const ITERATIONS_MAX: u32 = 100;
const THRESHOLD_MAX: u32 = 20;
const PROMISES_MAX: usize = 20;
const PROMISE_CHARS_MAX: usize = 500;
/// Reported messages that count as findings, and characters of each.
const FINDINGS_MAX: usize = 50;
const FINDING_CHARS_MAX: usize = 500;

/// What a session is held to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRules {
    /// How many iterations there may be, 1 to 100.
    pub max_iterations: u32,
    /// Failed iterations in a row that end it, 1 to 20.
    pub circuit_breaker_threshold: u32,
    /// Texts in the agent's output that promise completion.
    pub completion_promises: Vec<String>,
}

impl SessionRules {
    /// So many iterations, with the usual breaker and promise.
    pub fn new(max_iterations: u32) -> Self {
        let completion_promises = Vec::from([String::from("<promise>COMPLETE</promise>")]);
        Self { max_iterations, circuit_breaker_threshold: 3, completion_promises }
    }

    /// Names the first senseless value.
    pub(super) fn check(&self) -> Result<(), SessionError> {
        let Self { max_iterations, circuit_breaker_threshold: threshold, .. } = self;
        let wrong = |what: String| Err(SessionError::Senseless { what });
        if !(1..=ITERATIONS_MAX).contains(max_iterations) {
            return wrong(format!(
                "`max_iterations` is {max_iterations}; it must be 1 to {ITERATIONS_MAX}"
            ));
        }
        if !(1..=THRESHOLD_MAX).contains(threshold) {
            return wrong(format!(
                "`circuit_breaker_threshold` is {threshold}; it must be 1 to {THRESHOLD_MAX}"
            ));
        }
        let promises = &self.completion_promises;
        if promises.is_empty() || promises.len() > PROMISES_MAX {
            return wrong(format!(
                "`completion_promises` has {} entries; it must have 1 to {PROMISES_MAX}",
                promises.len()
            ));
        }
        if promises.iter().any(|promise| promise.trim().is_empty()) {
            return wrong(String::from(
                "`completion_promises` has an empty text in it, which every output would contain",
            ));
        }
        if promises.iter().any(|promise| promise.chars().count() > PROMISE_CHARS_MAX) {
            return wrong(format!(
                "a completion promise is longer than {PROMISE_CHARS_MAX} characters"
            ));
        }
        Ok(())
    }
}

/// What one rule came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleOutcome {
    /// What the rule is called.
    pub name: String,
    /// Whether it holds.
    pub passed: bool,
    /// How far it holds, 0 to 1.
    pub score: f64,
    /// What was found; files are taken from `file: <path>`.
    pub message: String,
}

impl RuleOutcome {
    /// A rule that holds.
    pub fn passed(name: impl Into<String>) -> Self {
        Self { name: name.into(), passed: true, score: 1.0, message: String::new() }
    }

    /// A rule that does not hold at all.
    pub fn failed(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), passed: false, score: 0.0, message: message.into() }
    }
}

/// What the caller found by means of its own, beside the session's rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Whether it passed.
    pub passed: bool,
    /// How good it is, 0 to 1; 1 or 0 by `passed` when left out.
    pub score: Option<f64>,
    /// What was found; files are taken from `file: <path>`.
    pub messages: Vec<String>,
}

impl Report {
    /// What did not pass is never all there is.
    fn share(&self) -> f64 {
        match (self.passed, self.score) {
            (true, score) => score.unwrap_or(1.0),
            (false, score) => score.unwrap_or(0.0).min(0.99),
        }
    }
}

/// What an iteration is judged by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// What the agent said.
    pub output: &'a str,
    /// What each rule came to, always in the same order.
    pub rules: &'a [RuleOutcome],
    /// What the caller found by means of its own.
    pub report: Option<&'a Report>,
}

impl Evidence<'_> {
    /// Whether all rules hold and what was reported passed.
    pub(super) fn passed(&self) -> bool {
        self.reported_red().is_none() && self.rules.iter().all(|rule| rule.passed)
    }

    /// What was reported, where it did not pass.
    pub(super) fn reported_red(&self) -> Option<&Report> {
        self.report.filter(|report| !report.passed)
    }

    /// The mean of all scores, the report's like a rule's; none when nothing was checked.
    pub(super) fn score(&self) -> Option<f64> {
        let reported = self.report.map(Report::share);
        let scores: Vec<f64> = self.rules.iter().map(|rule| rule.score).chain(reported).collect();
        #[expect(clippy::cast_precision_loss, reason = "a handful of rules")]
        let number = scores.len() as f64;
        (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / number)
    }

    /// Files named where something failed or was reported.
    pub(super) fn files(&self) -> Vec<String> {
        let of_rules = self.rules.iter().filter(|rule| !rule.passed).map(|rule| &rule.message);
        let reported = self.report.into_iter().flat_map(|report| &report.messages);
        let messages = of_rules.chain(reported);
        let mut files: Vec<String> =
            messages.flat_map(|message| files_in_message(message)).map(String::from).collect();
        files.sort();
        files.dedup();
        files
    }

    /// The same as the results of gates, so that one judgement of progress serves both. Rules are
    /// told apart by their place, for two may have one name; what a rule printed is no finding, for
    /// it differs every time. What the caller reports is: it says itself what was found.
    pub(super) fn results(&self) -> GateResult {
        let numbered = self.rules.iter().enumerate();
        let mut checks: Vec<Check> = numbered
            .map(|(at, rule)| {
                let name = format!("{at}:{}", rule.name);
                if rule.passed { Check::passed(name) } else { Check::failed(name) }
            })
            .collect();
        checks.extend(self.report.map(|report| {
            if report.passed {
                return Check::passed("reported");
            }
            let messages = report.messages.iter().take(FINDINGS_MAX);
            let finding = |message: &String| {
                Finding::new(FindingKind::Other, text::prefix(message, FINDING_CHARS_MAX))
            };
            Check { findings: messages.map(finding).collect(), ..Check::failed("reported") }
        }));
        GateResult { tree: String::new(), checks }
    }
}

/// Why a session does not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SessionError {
    /// Its rules make no sense.
    #[error("{what}")]
    Senseless {
        /// Which, and what would.
        what: String,
    },
    /// It is over.
    #[error("it is {status} and does not go on: {why}")]
    Over {
        /// How it ended.
        status: &'static str,
        /// Why.
        why: String,
    },
    /// The promise is none of its own.
    #[error(
        "`{promise}` is none of this session's promises: `{known}`; to end it as blocked, give \
         `<promise>BLOCKED:reason</promise>`"
    )]
    UnknownPromise {
        /// What was promised.
        promise: String,
        /// What could have been.
        known: String,
    },
    /// Validation fails.
    #[error("completion is refused because validation fails. {feedback}")]
    Fails {
        /// What fails, and what to do.
        feedback: String,
    },
    /// A guard has tripped.
    #[error(
        "completion is refused because a guard has tripped: {message} Call `iteration_next` to \
         end this session, and tell a human."
    )]
    Tripped {
        /// The guard's word.
        message: String,
    },
    /// Nothing promises completion.
    #[error(
        "completion is refused because nothing promises it: give `promise` as one of `{known}`, \
         or the agent's words with it as `agent_output`"
    )]
    NoPromise {
        /// What would.
        known: String,
    },
}
