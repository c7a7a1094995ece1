//! Runs as OpenTelemetry: spans and metrics made from the journal, sent over HTTP or written to a file.
//!
//! A second reader of the journal does all of it, in a process of its own beside the run: nothing of a
//! run waits for a collector, and what a collector missed can be sent at any later time. Ids follow from
//! the run's name and the numbers of its events, so a second export gives the same spans.

mod attribute;
mod beside;
mod histogram;
mod ids;
mod metrics;
mod names;
mod outgoing;
mod send;
mod sink;
mod spans;
mod target;
#[cfg(test)]
mod tests;
mod trace;

pub(crate) use self::beside::{Beside, follow};
pub(crate) use self::ids::traceparent;
pub(crate) use self::outgoing::{Exported, export};
pub(crate) use self::sink::{FileSink, HttpSink, Sink};
pub(crate) use self::target::{About, Target};
