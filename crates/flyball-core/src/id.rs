//! Names that cannot be mixed up: a run is not a task is not a gate.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes any text as the name.
            pub fn new(name: impl Into<String>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name_type! {
    /// One run of the loop, from `flyball run` to its outcome, resumes included.
    RunId
}
name_type! {
    /// One task (story) of the task list.
    TaskId
}
name_type! {
    /// One check flyball executes, by its configured name.
    GateName
}
name_type! {
    /// One tool call, by the id the agent gave it.
    CallId
}
name_type! {
    /// One turn of the model, whose calls belong together: the id of its message. Empty where the
    /// agent does not tell; such calls are judged one by one.
    RoundId
}
name_type! {
    /// Who inside a session made a call: the main agent or one of its sub-agents.
    SubAgent
}

/// The number of an iteration; the first is 1, 0 stands for the time before it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct IterationNo(u32);

impl IterationNo {
    /// Before the first iteration: where the baseline belongs.
    pub const BASELINE: Self = Self(0);

    /// The iteration with this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The plain number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The one after this.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for IterationNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
