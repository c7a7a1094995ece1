//! Judging the iteration at hand: the session's rules, what the caller reports, what the agent said,
//! and the guards. Shared by the `iteration_*` tools.

use flyball_core::IterationNo;
use flyball_core::iteration::{IterationVerdict, Validation, files_in_message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refused::Refused;
use super::rules::{self, RuleResult};
use super::session::{Judgement, Of, Session, guard_name};
use super::site::{self, Call};

/// What the caller found by means of its own, beside the session's rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Report {
    /// Whether it passed.
    pub(super) passed: bool,
    /// How good it is, 0 to 1; 1 or 0 by `passed` when left out.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub(super) score: Option<f64>,
    /// What was found; files are taken from `file: <path>`.
    #[serde(default)]
    pub(super) messages: Vec<String>,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Signal {
    /// Validation passed and completion is promised: call `iteration_complete`.
    Complete,
    /// The agent cannot go on.
    Blocked,
    /// A guard tripped: a human is needed.
    Escalate,
    /// Go on: call `iteration_next`.
    Continue,
}

/// What judging came to.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) signal: Signal,
    pub(super) passed: bool,
    pub(super) score: Option<f64>,
    pub(super) rules: Vec<RuleResult>,
    pub(super) blocked_by: Option<String>,
    pub(super) message: Option<String>,
    pub(super) promise: Option<String>,
    pub(super) feedback: String,
}

/// Runs the rules and puts what they came to into the session; the latest validation of an
/// iteration is the one that counts.
pub(super) fn judge(
    call: Call<'_>,
    session: &mut Session,
    output: &str,
    report: Option<&Report>,
) -> Result<Judged, Refused> {
    if let Some(score) = report.and_then(|report| report.score)
        && !(0.0..=1.0).contains(&score)
    {
        return Err(Refused::arguments(format!("`report.score` is {score}; it must be 0 to 1")));
    }
    let results = rules::run_all(call, &session.validation_rules, output);
    if call.cancel.is_cancelled() {
        return Err(Refused::new("the call was cancelled; nothing was recorded"));
    }
    let reported = report.is_none_or(|report| report.passed);
    let passed = reported && results.iter().all(|result| result.passed);
    let score = combined(&results, report);
    session.current = Some(Judgement {
        validation: Validation {
            iteration: IterationNo::new(session.iteration),
            at: site::now(),
            verdict: verdict(session, &results, report),
            failure: flyball_core::iteration::FailureKind::RedGates,
            score,
            files: files(&results, report),
            tree: String::new(),
        },
        red: red(&results),
        report: report.cloned(),
    });
    let safety = session.safety(call.site, Of::ThisIteration)?;
    let promised = session.promised(output);
    let signal = if !safety.can_continue() {
        Signal::Escalate
    } else if promised.blocked.is_some() {
        Signal::Blocked
    } else if passed && promised.complete.is_some() {
        Signal::Complete
    } else {
        Signal::Continue
    };
    let message = match signal {
        Signal::Escalate => safety.message().map(str::to_owned),
        Signal::Blocked => promised.blocked,
        Signal::Complete | Signal::Continue => None,
    };
    let feedback = feedback(session, signal, &results, report);
    let promise = promised.complete;
    let blocked_by = safety.blocked_by().map(guard_name);
    Ok(Judged { signal, passed, score, rules: results, blocked_by, message, promise, feedback })
}

/// Red, but nothing turned red and fewer rules are red than before: neither counts nor resets.
fn verdict(session: &Session, results: &[RuleResult], report: Option<&Report>) -> IterationVerdict {
    let red = red(results);
    let reported_red = report.is_some_and(|report| !report.passed);
    if red.is_empty() && !reported_red {
        let nothing_checked = results.is_empty() && report.is_none();
        return if nothing_checked { IterationVerdict::Unjudged } else { IterationVerdict::Passed };
    }
    let improved = session.red_before.as_ref().is_some_and(|before| {
        red.len() < before.len() && red.iter().all(|rule| before.contains(rule))
    });
    if improved && !reported_red { IterationVerdict::Improved } else { IterationVerdict::Failed }
}

/// The rules that do not hold, told apart by their place.
fn red(results: &[RuleResult]) -> Vec<String> {
    let numbered = results.iter().enumerate().filter(|(_, result)| !result.passed);
    numbered.map(|(at, result)| format!("{at}:{}", result.name)).collect()
}

fn combined(results: &[RuleResult], report: Option<&Report>) -> Option<f64> {
    let own = rules::score(results);
    let Some(report) = report else { return own };
    let plain = if report.passed { 1.0 } else { 0.0 };
    let reported = report.score.unwrap_or(plain);
    // What did not pass is never all there is.
    let reported = if report.passed { reported } else { reported.min(0.99) };
    #[expect(clippy::cast_precision_loss, reason = "a handful of rules")]
    let number = results.len() as f64;
    Some(own.map_or(reported, |own| (own * number + reported) / (number + 1.0)))
}

fn files(results: &[RuleResult], report: Option<&Report>) -> Vec<String> {
    let of_rules = results.iter().filter(|result| !result.passed).map(|result| &result.message);
    let reported = report.into_iter().flat_map(|report| &report.messages);
    let mut files: Vec<String> = of_rules
        .chain(reported)
        .flat_map(|message| files_in_message(message))
        .map(str::to_owned)
        .collect();
    files.sort();
    files.dedup();
    files
}

fn feedback(
    session: &Session,
    signal: Signal,
    results: &[RuleResult],
    report: Option<&Report>,
) -> String {
    let red: Vec<&RuleResult> = results.iter().filter(|result| !result.passed).collect();
    let mut lines: Vec<String> = Vec::new();
    let reported_red = report.filter(|report| !report.passed);
    if red.is_empty() && reported_red.is_none() {
        lines.push(match results.len() {
            0 => "No validation rule checks this work.".to_owned(),
            rules => format!("All {rules} validation rules hold."),
        });
    } else {
        lines.push(format!("{} of {} validation rules fail:", red.len(), results.len()));
        lines.extend(red.iter().map(|rule| format!("- {}: {}", rule.name, rule.message)));
        let messages = reported_red.into_iter().flat_map(|report| report.messages.iter().take(20));
        lines.extend(messages.map(|message| format!("- reported: {message}")));
    }
    lines.push(match signal {
        Signal::Complete => "Call `iteration_complete` to finish.".to_owned(),
        Signal::Blocked => "The agent says that it is blocked: remove what is in the way, or call \
             `iteration_complete` with the BLOCKED promise to end the session as blocked."
            .to_owned(),
        Signal::Escalate => {
            "A guard has tripped: stop and tell a human. `iteration_next` will end this session \
             as blocked."
                .to_owned()
        }
        Signal::Continue if red.is_empty() && reported_red.is_none() => {
            let promises = session.completion_promises.join("` or `");
            format!("When the work is done, say `{promises}`; else call `iteration_next`.")
        }
        Signal::Continue => {
            "Mend what fails, then call `iteration_validate` again or `iteration_next`.".to_owned()
        }
    });
    flyball_core::text::head(&lines.join("\n"), 12_000)
}
