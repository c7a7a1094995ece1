//! The desk of a human: what needs one, and what one can do about it. Commands, page and terminal
//! act through here, so that none of them does it in a way of its own.

mod asks;
mod life;
mod tasks;

pub use self::asks::{Ask, AskKind, about, asks, human_files, of as ask_of};
pub use self::life::{Life, elapsed, life};
pub use self::tasks::{Site, Task, tasks_of};
