//! May a run's branch land on the branch it came from? Facts in, a verdict out: nothing is moved unless
//! everything speaks for it.
//!
//! ```
//! use flyball_core::landing::{GateWord, Landing, LandingFacts, Merge, Move, Seat};
//!
//! let facts = LandingFacts {
//!     merge: Merge::Clean,
//!     tamper: Vec::new(),
//!     gates: GateWord::Unasked,
//!     seat: Seat::Free,
//! };
//! assert_eq!(facts.judge(), Landing::RunGates);
//! let facts = LandingFacts { gates: GateWord::Green, ..facts };
//! assert_eq!(facts.judge(), Landing::Move(Move::Branch));
//! ```

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::gate::tamper::Weight;
use crate::gate::{GateResult, MayChange, Ran, TamperFinding, TestBounds};
use crate::policy::OnTamper;
use crate::text;

/// What is known of a landing so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LandingFacts {
    /// How both sides go together.
    pub merge: Merge,
    /// Weakened checks that nobody has accepted: open ones, and those against the target.
    pub tamper: Vec<String>,
    /// What the gates say of the merged tree.
    pub gates: GateWord,
    /// Where the target is checked out.
    pub seat: Seat,
}

/// How two branches go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The target has everything already.
    Nothing,
    /// The target has nothing of its own.
    FastForward,
    /// Both have something, and it goes together.
    Clean,
    /// It does not.
    Conflict {
        /// Where.
        files: Vec<String>,
    },
}

/// What the gates say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateWord {
    /// They have not been asked.
    Unasked,
    /// There are none.
    NoGates,
    /// All are green.
    Green,
    /// Not all.
    Red {
        /// What is red, in one line.
        summary: String,
    },
}

/// Where a branch is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seat {
    /// Nowhere: it can be moved by itself.
    Free,
    /// In a worktree without uncommitted work.
    Clean {
        /// Which.
        path: String,
    },
    /// In a worktree with uncommitted work: nobody moves that under its owner.
    Dirty {
        /// Which.
        path: String,
    },
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landing {
    /// Nothing: it is there.
    AlreadyThere,
    /// Nothing speaks against it so far: the gates have to be asked.
    RunGates,
    /// It lands.
    Move(Move),
    /// Nothing is moved.
    Refused(LandingRefusal),
}

/// How the target moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// The branch alone, if it still is where it was.
    Branch,
    /// With the files of the worktree it is checked out in.
    Worktree {
        /// Which.
        path: String,
    },
    /// By its owner, who has uncommitted work there.
    ByHand {
        /// Where.
        path: String,
    },
}

/// Why nothing is moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LandingRefusal {
    /// Both sides changed the same.
    Conflict {
        /// Where.
        files: Vec<String>,
    },
    /// Checks were weakened.
    Tamper {
        /// How.
        findings: Vec<String>,
    },
    /// The merged tree is not green.
    Red {
        /// What is red, in one line.
        summary: String,
    },
}

impl LandingFacts {
    /// The verdict. What costs nothing to know is weighed before the gates are paid for.
    pub fn judge(&self) -> Landing {
        match &self.merge {
            Merge::Nothing => return Landing::AlreadyThere,
            Merge::Conflict { files } => {
                return Landing::Refused(LandingRefusal::Conflict { files: files.clone() });
            }
            Merge::FastForward | Merge::Clean => {}
        }
        if let GateWord::Red { summary } = &self.gates {
            return Landing::Refused(LandingRefusal::Red { summary: summary.clone() });
        }
        if !self.tamper.is_empty() {
            return Landing::Refused(LandingRefusal::Tamper { findings: self.tamper.clone() });
        }
        if self.gates == GateWord::Unasked {
            return Landing::RunGates;
        }
        Landing::Move(match &self.seat {
            Seat::Free => Move::Branch,
            Seat::Clean { path } => Move::Worktree { path: path.clone() },
            Seat::Dirty { path } => Move::ByHand { path: path.clone() },
        })
    }
}

/// What the gates ran on what would land, compared with what they ran on the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Gates that ran fewer tests.
    fewer: Vec<TamperFinding>,
    /// Whether every test of the target is known to run.
    all_run: bool,
}

impl Counted {
    /// Compares what ran on the target with what ran on the merge. `bounds` knows which gates run
    /// only a part each time.
    pub fn compare(mut bounds: TestBounds, target: &GateResult, merged: &GateResult) -> Self {
        for check in &target.checks {
            bounds.judge(check);
        }
        let (mut fewer, mut all, mut is_known) = (Vec::new(), true, false);
        for check in &merged.checks {
            match bounds.judge(check) {
                Ran::Unknown => continue,
                Ran::All => {}
                Ran::MoreSkipped => all = false,
                Ran::Fewer(finding) => {
                    all = false;
                    fewer.push(finding);
                }
            }
            is_known = true;
        }
        Self { fewer, all_run: is_known && all && merged.is_green() }
    }
}

/// What a human has said of weakened checks, and what the work may change.
#[derive(Clone, Debug)]
pub struct Allowed<'a> {
    /// What weakened checks mean here.
    pub on_tamper: OnTamper,
    /// What a human has accepted, by the findings' keys.
    pub accepted: &'a [String],
    /// Paths the work may change.
    pub may_change: &'a MayChange,
}

impl Allowed<'_> {
    /// Those of the findings that keep a branch from landing, in words. An accepted change stays
    /// accepted whatever it is compared with, as long as what stands there is the same. Before the
    /// gates have run, nothing is counted: what they may show to be harmless does not count yet.
    pub fn against(&self, findings: &[TamperFinding], counted: Option<&Counted>) -> Vec<String> {
        if self.on_tamper == OnTamper::Report {
            return Vec::new();
        }
        // What was red first, the run knew: it has asked, or there was nothing to ask.
        let findings: Vec<&TamperFinding> =
            findings.iter().filter(|one| one.weight != Weight::IfRedFirst).collect();
        let harmless = |one: &TamperFinding| {
            let all_run = || counted.is_none_or(|counted| counted.all_run);
            one.weight == Weight::TakenIn || (one.weight == Weight::UnlessAllRun && all_run())
        };
        let seen = findings.iter().copied().filter(|one| !self.is_meant(one) && !harmless(one));
        let taken_in = |one: &TamperFinding| one.weight == Weight::TakenIn;
        let is_explained =
            findings.iter().any(|one| one.tests > 0 && (taken_in(one) || self.is_meant(one)));
        let is_open = |one: &&TamperFinding| {
            let skipped_itself = one.weight == Weight::UnlessAlone && findings.is_empty();
            !is_explained && !skipped_itself && !self.is_meant(one)
        };
        let fewer = counted.iter().flat_map(|counted| counted.fewer.iter()).filter(is_open);
        seen.chain(fewer).map(TamperFinding::words).collect()
    }

    /// Whether a human said yes to it, or said that the work may change it.
    fn is_meant(&self, one: &TamperFinding) -> bool {
        let files: Vec<&str> = one.files().collect();
        let may_be = !files.is_empty() && files.iter().all(|path| self.may_change.covers(path));
        may_be || self.accepted.iter().any(|key| one.is_same_change(key))
    }
}

/// A worktree of a run that is over, looked at before it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldWorktree {
    /// Files there that are not committed.
    pub uncommitted: usize,
    /// Commits of its branch that no other branch or tag has.
    pub only_there: usize,
}

impl OldWorktree {
    /// Why it must stay; none when everything in it is elsewhere too.
    pub fn must_stay(self) -> Option<String> {
        let commits = |count| format!("{} no other branch has", text::count(count, "commit"));
        let files = |count| format!("{} not committed", text::count(count, "file"));
        match (self.only_there as u64, self.uncommitted as u64) {
            (0, 0) => None,
            (commit, 0) => Some(commits(commit)),
            (0, file) => Some(files(file)),
            (commit, file) => Some(format!("{}, and {}", commits(commit), files(file))),
        }
    }
}

#[cfg(test)]
mod tests;
