//! The report for programs.

use serde_json::json;

use crate::view::{RunView, story};

/// Everything that is known of the run, and its story.
pub(super) fn document(run: &RunView) -> String {
    let value = json!({
        "flyball": env!("CARGO_PKG_VERSION"),
        "story": story(run),
        "cost_without_progress_micro_usd": run.cost_without_progress(),
        "failing": run.failing().map(|(first, last)| json!({ "first": first, "last": last })),
        "run": run,
    });
    format!("{value:#}\n")
}
