//! The deeds of flyball: everything that touches the world. Decisions are `flyball-core`'s.

pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod demo;
pub(crate) mod door;
pub mod driver;
pub mod error;
pub mod gate;
pub(crate) mod guard_proxy;
pub mod hook;
pub mod journal;
pub mod loopdir;
pub(crate) mod mcp;
pub mod notify;
pub mod platform;
pub mod process;
pub mod project;
pub mod prompt;
pub mod report;
pub(crate) mod run_record;
pub mod telemetry;
pub mod terminal;
pub mod worktree;
