//! One row for each iteration, for spreadsheets.

use crate::clock;
use crate::telemetry::{field, result_word};
use crate::view::{ClaimVerdict, IterationView, RunView};

const HEADER: &str = "run,iteration,mode,task,started,duration_seconds,result,progress,failing,fixed,\
broken,score,stories_complete,calls,guards,claim,tokens,cost_usd,commits,subject\n";

/// All rows below their heading.
pub(super) fn document(run: &RunView) -> String {
    let rows = run.iterations.iter().map(|one| row(run, one));
    HEADER.to_owned() + &rows.collect::<String>()
}

fn row(run: &RunView, one: &IterationView) -> String {
    let column = run.matrix.column(one.iteration).and_then(|at| run.matrix.columns.get(at));
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let claim = one.claim.as_ref().map_or("", |claim| match claim.complete {
        Some(ClaimVerdict::Accepted) => "complete accepted",
        Some(ClaimVerdict::Refused) => "complete refused",
        Some(ClaimVerdict::Open) => "complete",
        None if claim.blocked.is_some() => "blocked",
        None => "decide",
    });
    #[expect(clippy::cast_precision_loss, reason = "money for people")]
    let cost = one.cost_micro_usd as f64 / 1e6;
    let cells = [
        said(run.run.run.as_str()),
        one.iteration.to_string(),
        one.mode.as_str().to_owned(),
        said(one.task.as_ref().map_or("", |task| task.as_str())),
        clock::rfc3339(one.started),
        (one.duration().get() / 1000).to_string(),
        one.result.map_or("under way", result_word).to_owned(),
        one.progress.map(|progress| progress.to_string()).unwrap_or_default(),
        number(column.and_then(|column| column.failing)),
        number(column.map(|column| column.fixed)),
        number(column.map(|column| column.broken)),
        one.score.map(|score| format!("{score:.2}")).unwrap_or_default(),
        one.stories_complete.to_string(),
        one.calls.to_string(),
        one.guards_spoke().to_string(),
        claim.to_owned(),
        one.tokens.to_string(),
        format!("{cost:.4}"),
        (one.commits.len() + one.commits_left_out).to_string(),
        said(one.subject().unwrap_or("")),
    ];
    cells.join(",") + "\n"
}

/// A text of others: a spreadsheet must not take it for a formula.
fn said(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t']) {
        field(&format!("'{text}"))
    } else {
        field(text)
    }
}
