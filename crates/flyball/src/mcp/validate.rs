//! Judging the iteration at hand: the session's rules are run here, what they came to is judged by
//! the core. Shared by the `iteration_*` tools.

use flyball_core::iteration_session::{self as core, Evidence, Judged, RuleOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refused::Refused;
use super::rules::{self, RuleResult};
use super::session::McpSession;
use super::site::{self, Call};

/// What the caller found by means of its own, beside the session's rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Report {
    /// Whether it passed.
    passed: bool,
    /// How good it is, 0 to 1; 1 or 0 by `passed` when left out.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    score: Option<f64>,
    /// What was found; files are taken from `file: <path>`.
    #[serde(default)]
    messages: Vec<String>,
}

impl Report {
    /// The report as the core takes it; refused when its score is none.
    pub(super) fn checked(self) -> Result<core::Report, Refused> {
        let Self { passed, score, messages } = self;
        match score {
            Some(score) if !(0.0..=1.0).contains(&score) => {
                Err(Refused::arguments(format!("`report.score` is {score}; it must be 0 to 1")))
            }
            Some(_) | None => Ok(core::Report { passed, score, messages }),
        }
    }
}

/// Runs the rules and has the core judge what they came to.
pub(super) fn judge(
    call: Call<'_>,
    session: &mut McpSession,
    output: &str,
    report: Option<&core::Report>,
) -> Result<(Judged, Vec<RuleResult>), Refused> {
    let results = rules::run_all(call, &session.validation_rules, output);
    if call.cancel.is_cancelled() {
        return Err(Refused::new("the call was cancelled; nothing was recorded"));
    }
    let outcomes: Vec<RuleOutcome> = results.iter().map(outcome).collect();
    let evidence = Evidence { output, rules: &outcomes, report };
    let judged = session.machine.judge(&call.site.config.policy, site::now(), &evidence);
    Ok((judged, results))
}

fn outcome(result: &RuleResult) -> RuleOutcome {
    RuleOutcome {
        name: result.name.clone(),
        passed: result.passed,
        score: result.score,
        message: result.message.clone(),
    }
}
