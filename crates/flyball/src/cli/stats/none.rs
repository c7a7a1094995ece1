//! What is said when there is nothing to count.

use super::StatsArgs;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Which runs were asked for, none of which are there.
pub(super) fn found(args: &StatsArgs) -> String {
    let mut told = String::from("No runs");
    for (what, name) in [("agent", &args.agent), ("model", &args.model), ("project", &args.project)]
    {
        if let Some(name) = name {
            told.push_str(&[" of ", what, " `", name, "`"].concat());
        }
    }
    let since = args.since.get();
    let within = match since / DAY_MS {
        days @ 2.. if since.is_multiple_of(DAY_MS) => format!("{days} days"),
        _ => args.since.to_string(),
    };
    format!("{told} within {within}.\n")
}
