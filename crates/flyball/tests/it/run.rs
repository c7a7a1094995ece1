//! `flyball run` from outside: scripted agents, real git, real gates, real processes.

mod advising;
mod bad_input;
mod calls;
mod chaos;
mod claims;
mod crash;
mod endings;
mod faults;
mod gates;
mod git;
mod guarded;
mod held_up;
mod helping;
mod launching;
mod limits;
mod moving;
mod outcomes;
mod progress;
mod resume;
mod signals;
mod snapshots;
mod tampering;
mod tasks;
mod telling;
mod terminal;
mod tools;
