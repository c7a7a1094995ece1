//! What is remembered of tasks across runs and projects, in words: circles they went in, blockers that
//! come again and how those went away.

use flyball_core::task::{AppliedRemedy, KnownBlocker, Resolution};

use super::words;

/// How many ways out of a blocker are told, the latest first.
const WAYS_MAX: usize = 2;

/// How often a task went in circles, and what was done about it last; none where it never did.
pub(crate) fn circles(remedies: &[AppliedRemedy]) -> Option<String> {
    let last = remedies.last()?;
    let times: u64 = remedies.iter().map(|one| u64::from(one.times)).sum();
    Some(format!(
        "{}, last {} at {}: {}",
        flyball_core::text::count(times, "time"),
        words::pattern(last.pattern),
        words::time(last.at),
        words::remedy(last.remedy),
    ))
}

/// How a blocker went away before.
pub(crate) fn ways(one: &KnownBlocker) -> String {
    let ways = one.resolved.iter().rev().take(WAYS_MAX);
    let ways: Vec<String> = ways.map(|way| words::line(&Resolution::words(way), 300)).collect();
    if ways.is_empty() {
        return "has not gone away so far".to_owned();
    }
    format!("went away {}", ways.join("; "))
}

/// How often a blocker was met, and where.
pub(crate) fn met(one: &KnownBlocker) -> String {
    let projects = words::counted(one.projects.len(), "project");
    format!(
        "met {} in {projects}, last {}",
        flyball_core::text::count(one.times, "time"),
        words::time(one.last)
    )
}
