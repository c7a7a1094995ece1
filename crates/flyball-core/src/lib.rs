//! The decisions of flyball, a governor for coding agents.
//!
//! Everything in here is a pure function of events: no I/O, no clock, no randomness, no async.
//! Time comes in with the event, orders go out as effects, and replaying the same events gives the
//! same state byte for byte.
//!
//! Three rings, one ladder: [`call::CallRing`] guards the calls inside one agent session,
//! the iteration ring the iterations of a run, the task ring the attempts at a task.
//! [`Governor`] holds all three for a whole run.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

/// The README's program is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod call;
pub mod claim;
pub mod compaction;
pub mod door;
pub mod effect;
pub mod event;
pub mod gate;
pub mod governor;
pub mod guard;
pub mod hindsight;
pub mod human;
pub mod id;
pub mod iteration;
pub mod iteration_session;
pub mod landing;
pub mod moment;
pub mod need;
pub mod outcome;
pub mod policy;
pub mod recording;
pub mod resource;
pub mod starting_point;
pub mod stop;
pub mod task;
pub mod tasklist;
pub mod text;
pub mod worktree;

pub use self::effect::Effect;
pub use self::event::{AgentFact, Event};
pub use self::governor::Governor;
pub use self::guard::{GuardKind, Trip};
pub use self::id::{CallId, GateName, IterationNo, RoundId, RunId, SubAgent, TaskId};
pub use self::moment::{Millis, Moment};
pub use self::outcome::Outcome;
pub use self::policy::{Policy, PolicyError};
