//! The summary printed on every exit (B12).

use std::fmt::Write;

use flyball_core::effect::Ending;
use flyball_core::task::Standing;
use flyball_core::{Millis, Outcome, RunId};

/// Whole seconds above a second: nobody plans by milliseconds.
fn rounded(ms: u64) -> Millis {
    Millis::new(if ms >= 1000 { ms.saturating_add(500) / 1000 * 1000 } else { ms })
}

/// The summary as a person reads it.
pub fn summary_text(run: &RunId, ending: &Ending, max: u32, loop_dir: &str) -> String {
    let tally = ending.tally;
    let mut out = String::from("\nflyball summary\n---------------\n");
    let outcome = ending.outcome;
    row(&mut out, "Exit", &format!("{outcome} (code {})", outcome.exit_code()));
    row(&mut out, "", outcome.sentence());
    for line in ending.why.lines() {
        row(&mut out, "", line);
    }
    for trip in &ending.also {
        row(&mut out, "", &format!("also tripped: {} — {}", trip.guard, trip.evidence));
    }
    let max = if max == 0 { "no limit".to_owned() } else { max.to_string() };
    row(&mut out, "Iterations", &format!("{} / {max}", tally.iterations));
    row(&mut out, "Duration", &rounded(tally.runtime_ms).to_string());
    if tally.stories_total > 0 {
        let stories = format!("{}/{} complete", tally.stories_complete, tally.stories_total);
        row(&mut out, "Stories", &stories);
    }
    if tally.iterations > 0 {
        let count = u64::from(tally.iterations);
        row(&mut out, "Avg/iter", &rounded((tally.runtime_ms + count / 2) / count).to_string());
    }
    row(&mut out, "Stuck iters", &tally.stuck_iterations.to_string());
    if tally.tokens > 0 || tally.cost_micro_usd > 0 {
        let spent = format!("{} tokens, {}", tally.tokens, dollars(tally.cost_micro_usd));
        row(&mut out, "Spent", &spent);
    }
    for left in &ending.left {
        let word = match left.standing {
            Standing::Open => continue,
            Standing::Blocked => "blocked",
            Standing::Asked => "asked",
            Standing::SetAside => "set aside",
            Standing::Escalated => "needs a human",
            Standing::Tripped => "stopped by a guard",
            Standing::ForcedDone => "left as done",
        };
        row(&mut out, "Left", &format!("{} ({word}): {}", left.task, first_line(&left.why)));
    }
    row(&mut out, "Log", &format!("{loop_dir}/logs/summary.csv"));
    row(&mut out, "Run", &format!("{run}  (flyball log {run})"));
    if let Some(next) = next_step(outcome, run) {
        row(&mut out, "Next", &next);
    }
    out
}

/// What to type next.
fn next_step(outcome: Outcome, run: &RunId) -> Option<String> {
    Some(match outcome {
        Outcome::Complete | Outcome::CompleteUnverified => return None,
        Outcome::Blocked => "remove what blocks it, then: flyball unblock && flyball run".into(),
        Outcome::Decide => "flyball answer \"…\" && flyball run".into(),
        Outcome::MaxIterations => format!("flyball run --resume {run} --max-iterations N"),
        Outcome::MaxRuntime => format!("flyball run --resume {run} --max-runtime TIME"),
        Outcome::MaxTokens => format!("flyball run --resume {run} --max-tokens N"),
        Outcome::MaxCost => format!("flyball run --resume {run} --max-cost USD"),
        Outcome::AgentNotStarted | Outcome::AgentRefused => "flyball doctor".into(),
        Outcome::Interrupted | Outcome::Terminated | Outcome::UsageLimit | Outcome::Fault => {
            format!("flyball run --resume {run}")
        }
        Outcome::Stuck
        | Outcome::CircuitBreaker
        | Outcome::QualityRegression
        | Outcome::Thrashing
        | Outcome::ConsecutiveFailures
        | Outcome::ValidationFailure
        | Outcome::RepetitionLoop
        | Outcome::Stalled
        | Outcome::QualityGateExhausted => {
            format!("flyball log {run}, change the task or the prompt, then: flyball run")
        }
    })
}

fn row(out: &mut String, name: &str, value: &str) {
    let name = if name.is_empty() { String::new() } else { format!("{name}:") };
    writeln!(out, "{name:<12} {value}").ok();
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

/// Money as people write it.
pub(super) fn dollars(micro: u64) -> String {
    let cents = micro / 10_000;
    if cents == 0 && micro > 0 {
        return format!("$0.{:04}", micro / 100);
    }
    format!("${}.{:02}", cents / 100, cents % 100)
}
