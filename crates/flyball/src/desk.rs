//! The desk of a human: what needs one, and what one can do about it. Commands, page and terminal
//! act through here, so that none of them does it in a way of its own.

mod answer;
mod asks;
mod life;
mod limits;
mod place;
mod record;
mod resume;
mod retry;
mod tamper;
mod tasks;
mod unblock;
mod wish;

pub use self::answer::{Answered, Meant, answer};
pub use flyball_core::need::AskKind;

pub use self::asks::{Ask, about, asks, of as ask_of};
pub use self::life::{Life, at_work, elapsed, life};
pub use self::limits::limit_change;
pub use self::place::Workplace;
pub use self::record::recorded;
pub use self::resume::{resume, resume_command};
pub use self::retry::retry;
pub use self::tamper::{RestoreReport, TamperDesk, files_of, mark};
pub use self::tasks::{Site, Task, tasks_of};
pub use self::unblock::{Unblocked, unblock};
pub use self::wish::{ask_to_end, refuse_ended, signalled, wish, word};
