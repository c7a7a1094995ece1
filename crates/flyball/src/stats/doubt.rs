//! Where a guard may have been wrong, each with the run to look at.

use flyball_core::{GuardKind, RunId};
use serde::Serialize;

/// Why a guard is doubted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DoubtKind {
    /// D1: a halted run was taken up, or its task run again, with nothing changed, and at once it
    /// moved.
    MovedAfterAll,
    /// D2: a human accepted what was found.
    Accepted,
    /// D3: a refused call gave another result the next time, though nothing was changed in between.
    GaveAnother,
    /// D4: the same tree was red and green.
    Flaky,
    /// D5: an agent was stopped for silence while its processes worked.
    WasAlive,
}

impl DoubtKind {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::MovedAfterAll => "taken up unchanged, and its first iteration made progress",
            Self::Accepted => "a human accepted what was found",
            Self::GaveAnother => "a refused call gave another result the next time",
            Self::Flaky => "a gate was red and green on the same tree",
            Self::WasAlive => "stopped for silence within 10 s of a sign of life",
        }
    }
}

/// A doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// The run to look at.
    pub run: RunId,
    /// The guard.
    pub guard: GuardKind,
    /// Why.
    pub kind: DoubtKind,
}

/// Between which shares the true one lies with 95 % confidence (Wilson), in percent; none for fewer
/// than ten cases.
pub fn wilson(part: u64, whole: u64) -> Option<(f64, f64)> {
    const Z: f64 = 1.959_964;
    if whole < 10 || part > whole {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of cases")]
    let (n, share) = (whole as f64, part as f64 / whole as f64);
    let z2 = Z * Z;
    let centre = share + z2 / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 100.0 / (1.0 + z2 / n);
    Some((((centre - spread) * scale).max(0.0), ((centre + spread) * scale).min(100.0)))
}
