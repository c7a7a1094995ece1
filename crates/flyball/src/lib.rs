//! The deeds of flyball: everything that touches the world. Decisions are `flyball-core`'s.

pub mod cli;
pub mod config;
pub mod error;
pub mod project;
pub mod terminal;
