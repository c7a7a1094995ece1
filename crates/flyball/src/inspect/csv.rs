//! One row for each session, for spreadsheets.

use flyball_core::hindsight::Cost;

use super::overview::Listed;
use crate::clock;
use crate::telemetry::field;

const HEADER: &str = "file,session,agent,model,project,began,steps,calls,failed_calls,tokens,cost_usd,\
nudge_step,refuse_step,halt_step,loops,waste_calls,waste_tokens,waste_cost_usd,waste_after_halt_calls,\
dead_tail\n";

/// All rows below their heading.
pub fn csv(sessions: &[Listed]) -> String {
    HEADER.to_owned() + &sessions.iter().map(row).collect::<String>()
}

fn row(one: &Listed) -> String {
    let (session, judged) = (&one.session, &one.session.judged);
    let step = |step: Option<u64>| step.map(|step| (step + 1).to_string()).unwrap_or_default();
    let after_halt = judged.waste.last().copied().unwrap_or_default();
    let waste = session.waste();
    let cells = [
        said(&one.path.to_string_lossy()),
        said(&session.id),
        said(&session.agent),
        said(session.model.as_deref().unwrap_or("")),
        said(session.project.as_deref().unwrap_or("")),
        session.began.map(clock::rfc3339).unwrap_or_default(),
        judged.steps.to_string(),
        judged.calls.to_string(),
        judged.failed.to_string(),
        judged.spent.tokens().to_string(),
        dollars(&judged.spent),
        step(judged.firsts.nudge),
        step(judged.firsts.refuse),
        step(judged.firsts.halt),
        judged.loops_total.to_string(),
        waste.calls.to_string(),
        waste.tokens().to_string(),
        dollars(&waste),
        after_halt.calls.to_string(),
        judged.dead_tail.to_string(),
    ];
    cells.join(",") + "\n"
}

/// Money, empty where it is not known.
#[expect(clippy::cast_precision_loss, reason = "money for people")]
fn dollars(cost: &Cost) -> String {
    cost.known_micro_usd().map(|micro| format!("{:.4}", micro as f64 / 1e6)).unwrap_or_default()
}

/// A text of others: a spreadsheet must not take it for a formula.
fn said(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t']) {
        field(&format!("'{text}"))
    } else {
        field(text)
    }
}
