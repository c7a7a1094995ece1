//! Validation rules: what an agent builder wants to be true before an iteration counts as passed.
//! Run a few at a time, each within its limits; what they print is cut.

mod command;
mod content;
mod coverage;
mod files;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use flyball_core::text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::coverage::CoverageFormat;
use super::refused::Refused;
use super::site::Call;
use crate::clock::Clock;

/// How many rules run side by side.
const SIDE_BY_SIDE: usize = 5;
/// How many rules there may be.
pub(super) const RULES_MAX: usize = 50;
/// Characters kept of what a rule has to say.
const MESSAGE_MAX: usize = 4_000;
/// The longest time a command may be given, in seconds.
const TIMEOUT_MAX: u64 = 3_600;

/// One thing that must be true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Rule {
    /// A command that must end with the expected exit code.
    Command {
        /// What the rule is called in results; the command itself when left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The command, run by a shell in the repository's root.
        command: String,
        /// The exit code that counts as passed.
        #[serde(default)]
        expected_exit_code: i32,
        /// How long it may take, 1 to 3600 seconds.
        #[serde(default = "five_minutes")]
        #[schemars(range(min = 1, max = 3600))]
        timeout_seconds: u64,
    },
    /// A regular expression that must (or must not) match.
    ContentPattern {
        /// What the rule is called in results.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The file to look in, relative to the repository's root; without one the agent's output
        /// is looked at.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The regular expression; ^ and $ match at lines.
        pattern: String,
        /// Whether it must match; false means that it must not.
        #[serde(default = "yes")]
        must_match: bool,
    },
    /// A coverage report that must show at least this much.
    Coverage {
        /// What the rule is called in results.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The report, relative to the repository's root.
        path: String,
        /// What kind of report it is; recognised by its content when left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<CoverageFormat>,
        /// The least share of covered lines, in percent.
        #[schemars(range(min = 0, max = 100))]
        minimum: f64,
    },
    /// Files that must exist.
    FileExists {
        /// What the rule is called in results.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The files, relative to the repository's root.
        paths: Vec<String>,
        /// Whether all of them must exist, or any one.
        #[serde(default)]
        require: Require,
    },
}

/// How many of the files must exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Require {
    /// Every one.
    #[default]
    All,
    /// At least one.
    Any,
}

const fn five_minutes() -> u64 {
    300
}

const fn yes() -> bool {
    true
}

/// What a rule came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct RuleResult {
    /// The rule's name.
    pub(super) name: String,
    /// Whether it holds.
    pub(super) passed: bool,
    /// How far it holds, 0 to 1.
    pub(super) score: f64,
    /// What was found.
    pub(super) message: String,
    /// How long it took.
    pub(super) duration_ms: u64,
}

/// A judgement without name and time.
struct Judged {
    score: f64,
    message: String,
}

impl Judged {
    fn passed(message: impl Into<String>) -> Self {
        Self { score: 1.0, message: message.into() }
    }

    fn failed(message: impl Into<String>) -> Self {
        Self { score: 0.0, message: message.into() }
    }

    /// Failed, but so much of it holds.
    fn partly(share: f64, message: impl Into<String>) -> Self {
        Self { score: share.clamp(0.0, 0.99), message: message.into() }
    }
}

impl Rule {
    /// What it is called.
    pub(super) fn name(&self) -> String {
        let (name, made) = match self {
            Self::Command { name, command, .. } => (name, text::prefix(command, 80).to_owned()),
            Self::ContentPattern { name, path, pattern, .. } => {
                let place = path.as_deref().unwrap_or("output");
                (name, format!("{place} ~ {}", text::prefix(pattern, 60)))
            }
            Self::Coverage { name, path, minimum, .. } => (name, format!("{path} >= {minimum}%")),
            Self::FileExists { name, paths, .. } => {
                (name, format!("exists: {}", text::prefix(&paths.join(", "), 80)))
            }
        };
        name.clone().unwrap_or(made)
    }

    /// Refuses a rule that can never be run.
    pub(super) fn check(&self) -> Result<(), Refused> {
        let wrong = |what: String| {
            Err(Refused::arguments(format!("validation rule `{}`: {what}", self.name())))
        };
        match self {
            Self::Command { command, timeout_seconds, .. } => {
                if command.trim().is_empty() {
                    return wrong("`command` is empty".to_owned());
                }
                if !(1..=TIMEOUT_MAX).contains(timeout_seconds) {
                    return wrong(format!(
                        "`timeout_seconds` is {timeout_seconds}; it must be 1 to {TIMEOUT_MAX}"
                    ));
                }
                Ok(())
            }
            Self::ContentPattern { pattern, .. } => match content::compile(pattern) {
                Ok(_) => Ok(()),
                Err(why) => wrong(format!("`pattern` is no regular expression: {why}")),
            },
            Self::Coverage { path, minimum, .. } => {
                if path.trim().is_empty() {
                    return wrong("`path` is empty".to_owned());
                }
                if !(0.0..=100.0).contains(minimum) {
                    return wrong(format!("`minimum` is {minimum}; it must be 0 to 100"));
                }
                Ok(())
            }
            Self::FileExists { paths, .. } => {
                if paths.is_empty() || paths.iter().any(|path| path.trim().is_empty()) {
                    return wrong("`paths` must name at least one file, and no empty ones".into());
                }
                Ok(())
            }
        }
    }

    fn run(&self, call: Call<'_>, output: &str) -> Judged {
        match self {
            Self::Command { command, expected_exit_code, timeout_seconds, .. } => {
                command::run(call, command, *expected_exit_code, *timeout_seconds)
            }
            Self::ContentPattern { path, pattern, must_match, .. } => {
                let place = path.as_deref();
                let wanted = content::Wanted::of(*must_match);
                content::run(call.site, place, pattern, (wanted, output))
            }
            Self::Coverage { path, format, minimum, .. } => {
                coverage::run(call.site, path, *format, *minimum)
            }
            Self::FileExists { paths, require, .. } => files::run(call.site, paths, *require),
        }
    }
}

/// Runs all rules; the results in the rules' order.
pub(super) fn run_all(call: Call<'_>, rules: &[Rule], output: &str) -> Vec<RuleResult> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, RuleResult)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some((at, rule)) = take(&next, rules) {
            let result = timed(rule, call, output);
            if let Ok(mut results) = results.lock() {
                results.push((at, result));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..SIDE_BY_SIDE.min(rules.len()) {
            // Without a further thread the work is done by those there are.
            thread::Builder::new().spawn_scoped(scope, work).ok();
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

fn take<'a>(next: &AtomicUsize, rules: &'a [Rule]) -> Option<(usize, &'a Rule)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    rules.get(at).map(|rule| (at, rule))
}

fn timed(rule: &Rule, call: Call<'_>, output: &str) -> RuleResult {
    let clock = Clock::start();
    let begun = clock.now();
    let run = || rule.run(call, output);
    let judged = catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Judged::failed("flyball failed while it ran this rule"));
    RuleResult {
        name: rule.name(),
        passed: judged.score >= 1.0,
        score: judged.score,
        message: text::head(&judged.message, MESSAGE_MAX),
        duration_ms: clock.now().since(begun).get(),
    }
}
