//! Scripted agents, scenarios and a simulator for testing flyball.

pub mod apart;
pub mod chaos;
pub mod clients;
pub mod detect;
pub mod fuzz;
pub mod memory;
pub mod model;
pub mod processes;
pub mod processor;
pub mod redact;
pub mod sim;
