//! Ids that follow from the run's name: a second export gives the same spans, and an agent can be told
//! its parent before anything was sent.

use std::fmt::Write as _;

use flyball_core::{IterationNo, RunId};

/// The ids of one run.
#[derive(Clone, Debug)]
pub(super) struct Ids {
    run: RunId,
}

impl Ids {
    pub(super) fn of(run: &RunId) -> Self {
        Self { run: run.clone() }
    }

    /// The trace all spans of the run belong to.
    pub(super) fn trace(&self) -> Vec<u8> {
        self.digest("trace", 0, 0).as_bytes().iter().copied().take(16).collect()
    }

    /// The span of the run itself.
    pub(super) fn root(&self) -> Vec<u8> {
        self.span("run", 0, 0)
    }

    /// The span of an iteration; what happens before the first is the run's own.
    pub(super) fn iteration(&self, iteration: IterationNo) -> Vec<u8> {
        if iteration == IterationNo::BASELINE {
            return self.root();
        }
        self.span("iteration", u64::from(iteration.get()), 0)
    }

    /// The span of something that came with an event.
    pub(super) fn span(&self, kind: &str, number: u64, part: u64) -> Vec<u8> {
        self.digest(kind, number, part).as_bytes().iter().copied().take(8).collect()
    }

    fn digest(&self, kind: &str, number: u64, part: u64) -> blake3::Hash {
        blake3::hash(format!("flyball/{kind}/{}/{number}/{part}", self.run).as_bytes())
    }
}

/// What an agent is given in `TRACEPARENT`: a client that traces itself hangs below its iteration.
pub(crate) fn traceparent(run: &RunId, iteration: IterationNo) -> String {
    let ids = Ids::of(run);
    format!("00-{}-{}-01", hex(&ids.trace()), hex(&ids.iteration(iteration)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_told_its_parent_in_the_form_of_the_standard() {
        let run = RunId::new("20261115-100000-aaaa");
        let told = traceparent(&run, IterationNo::new(3));
        let parts: Vec<&str> = told.split('-').collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        assert_eq!((parts[0], parts[3], lengths), ("00", "01", vec![2, 32, 16, 2]));
        assert_eq!(told, traceparent(&run, IterationNo::new(3)));
        assert_ne!(told, traceparent(&run, IterationNo::new(4)));
        let other = traceparent(&RunId::new("another"), IterationNo::new(3));
        assert_ne!(told.split('-').nth(1), other.split('-').nth(1), "another trace");
    }
}
