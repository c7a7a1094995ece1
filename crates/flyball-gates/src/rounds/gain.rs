//! What one round adds, and many of them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::reading::SoFar;
use crate::report::Memory;
use crate::{Counts, Executed, Finding, Parsed};

/// What one round adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Gain {
    counts: Counts,
    left_out: u64,
    /// By runner; of each only how many.
    executed: Vec<Executed>,
}

impl Gain {
    /// What `after` has that `before` had not; nothing if that is more than numbers.
    pub(super) fn between(before: &Mark, after: &Mark) -> Option<Self> {
        let is_same = before.said == after.said && before.executed.len() == after.executed.len();
        let (one, two) = (before.counts, after.counts);
        let counts = Counts {
            passed: two.passed.checked_sub(one.passed)?,
            failed: two.failed.checked_sub(one.failed)?,
            skipped: two.skipped.checked_sub(one.skipped)?,
        };
        let left_out = after.left_out.checked_sub(before.left_out)?;
        let executed = before.executed.iter().zip(&after.executed);
        let executed = executed.map(|(one, two)| more(one, two)).collect::<Option<Vec<_>>>()?;
        is_same.then_some(Self { counts, left_out, executed })
    }

    /// Adds another so many times.
    pub(super) fn add(&mut self, other: &Self, times: u64) {
        self.counts = self.counts.and(other.counts.times(times));
        self.left_out = self.left_out.saturating_add(other.left_out.saturating_mul(times));
        for more in &other.executed {
            let known = self.executed.iter_mut().find(|known| known.runner == more.runner);
            let mut more = more.clone();
            more.ran = more.ran.saturating_mul(times);
            more.skipped = more.skipped.saturating_mul(times);
            more.names_left_out = more.names_left_out.saturating_mul(times);
            match known {
                Some(known) => grow(known, &more),
                None => self.executed.push(more),
            }
        }
    }

    /// All that was said, with this.
    pub(super) fn add_to(&self, mut parsed: Parsed) -> Parsed {
        parsed.counts = parsed.counts.map(|counts| counts.and(self.counts));
        if !parsed.findings.is_empty() {
            parsed.findings_left_out = parsed.findings_left_out.saturating_add(self.left_out);
        }
        for more in &self.executed {
            let known = parsed.executed.iter_mut().find(|known| known.runner == more.runner);
            if let Some(known) = known {
                grow(known, more);
            }
        }
        parsed
    }
}

fn grow(executed: &mut Executed, more: &Executed) {
    executed.ran = executed.ran.saturating_add(more.ran);
    executed.skipped = executed.skipped.saturating_add(more.skipped);
    executed.names_left_out = executed.names_left_out.saturating_add(more.names_left_out);
}

/// How many more tests of the same runner there are. Names that no round before had are counted among
/// those that are not kept.
fn more(before: &(u64, Executed), after: &(u64, Executed)) -> Option<Executed> {
    let ((names, before), (known, after)) = (before, after);
    (before.runner == after.runner).then_some(())?;
    let left_out = after.names_left_out.checked_sub(before.names_left_out)?;
    Some(Executed {
        runner: after.runner.clone(),
        ran: after.ran.checked_sub(before.ran)?,
        skipped: after.skipped.checked_sub(before.skipped)?,
        names_left_out: left_out.saturating_add(known.checked_sub(*names)?),
        ..Executed::default()
    })
}

/// What was said up to some point, as far as two points are compared: of texts only what they look
/// like, because all of them would need a great deal of memory.
#[derive(Debug)]
pub(super) struct Mark {
    /// Tools and findings.
    said: u64,
    counts: Counts,
    left_out: u64,
    /// By runner: how many names are kept, and the numbers.
    executed: Vec<(u64, Executed)>,
    /// How much is remembered, by list.
    memories: Vec<Memory>,
}

impl Mark {
    /// Whether the next rounds will add the same as what came between these two.
    pub(super) fn is_steady(&self, after: &Self) -> bool {
        let mut memories = self.memories.iter().zip(&after.memories);
        let mut names = self.executed.iter().zip(&after.executed);
        self.memories.len() == after.memories.len()
            && memories.all(|(one, two)| one.is_steady(*two))
            && names.all(|((one, _), (two, _))| one == two)
    }

    /// Of what was said.
    pub(super) fn of(said_so_far: SoFar) -> Self {
        let SoFar { parsed, findings, memories } = said_so_far;
        let mut said = DefaultHasher::new();
        parsed.tools.hash(&mut said);
        for finding in &findings {
            let Finding { kind, name, file, line, column, package, message, excerpt, old: _ } =
                &**finding;
            (kind, name, file, line, column, package, message, excerpt).hash(&mut said);
        }
        let executed = parsed.executed.into_iter().map(|mut executed| {
            let names = std::mem::take(&mut executed.names);
            (names.len() as u64, executed)
        });
        Self {
            said: said.finish(),
            counts: parsed.counts.unwrap_or_default(),
            left_out: parsed.findings_left_out,
            executed: executed.collect(),
            memories,
        }
    }
}
