//! The ring.
/// Ring.
#[derive(Debug)]
pub struct CallRing;
/// Status.
#[derive(Debug)]
pub struct CallStatus;
/// Notice.
#[derive(Debug)]
pub struct ContextNotice;
/// Verdict.
#[derive(Debug)]
pub struct Verdict;
