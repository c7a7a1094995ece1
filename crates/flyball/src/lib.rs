//! The deeds of flyball: everything that touches the world. Decisions are `flyball-core`'s.

pub mod agent;
pub mod cli;
pub mod clock;
pub mod config;
pub mod error;
pub mod gate;
pub mod journal;
pub mod process;
pub mod project;
pub mod terminal;
pub mod worktree;
