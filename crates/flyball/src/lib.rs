//! The deeds of flyball: everything that touches the world. Decisions are `flyball-core`'s.

pub mod clock;
pub mod journal;
#[cfg(target_os = "linux")]
pub mod process;
pub mod worktree;
