//! Scripted agents, scenarios and a simulator for testing flyball.

pub mod clients;
pub mod detect;
pub mod memory;
pub mod model;
pub mod redact;
pub mod sim;
