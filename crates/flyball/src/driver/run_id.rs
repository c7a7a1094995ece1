//! Names of runs.

use flyball_core::{Moment, RunId};

use crate::clock;

/// A name for a run that begins now.
pub fn new_run_id() -> RunId {
    run_id_at(clock::wall())
}

/// A name that sorts by time and can be read aloud: `20261115-104512-k3f9`.
pub(super) fn run_id_at(now: Moment) -> RunId {
    let digits: String =
        clock::rfc3339(now).chars().filter(char::is_ascii_digit).take(14).collect();
    let (day, time) = digits.split_at_checked(8).unwrap_or((digits.as_str(), ""));
    let seed = format!("{}-{}", clock::unique_nanos(), std::process::id());
    let hash = blake3::hash(seed.as_bytes());
    let alphabet = b"abcdefghjkmnpqrstuvwxyz23456789";
    let tail: String = hash
        .as_bytes()
        .iter()
        .take(4)
        .filter_map(|byte| alphabet.get(usize::from(*byte) % alphabet.len()))
        .map(|byte| char::from(*byte))
        .collect();
    RunId::new(format!("{day}-{time}-{tail}"))
}
