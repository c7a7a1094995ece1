//! Scripted agents, scenarios and a simulator for testing flyball.

pub mod sim;
