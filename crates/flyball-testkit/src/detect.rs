//! Recorded runs for the call ring: when it would have spoken, and whether it would have been right.
//! How they are judged is the core's [`hindsight`](flyball_core::hindsight), the same that `flyball
//! inspect` asks.

mod recording;
mod vector;

pub use flyball_core::hindsight::{Firings, Guards, Row, Table};
pub use flyball_core::recording::Recording;

pub use self::recording::{RecordingError, read, recordings};
pub use self::vector::{Miss, VectorReport, play_vectors};

/// Plays a run: where each rung is first reached.
pub fn firings(run: &Recording, guards: Guards) -> Firings {
    guards.judge(run).firsts
}
