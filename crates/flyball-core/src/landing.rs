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

use alloc::string::String;
use alloc::vec::Vec;

use crate::gate::{MayChange, TamperFinding};
use crate::policy::OnTamper;

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
        if !self.tamper.is_empty() {
            return Landing::Refused(LandingRefusal::Tamper { findings: self.tamper.clone() });
        }
        match &self.gates {
            GateWord::Unasked => return Landing::RunGates,
            GateWord::Red { summary } => {
                return Landing::Refused(LandingRefusal::Red { summary: summary.clone() });
            }
            GateWord::NoGates | GateWord::Green => {}
        }
        Landing::Move(match &self.seat {
            Seat::Free => Move::Branch,
            Seat::Clean { path } => Move::Worktree { path: path.clone() },
            Seat::Dirty { path } => Move::ByHand { path: path.clone() },
        })
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
    /// accepted whatever it is compared with, as long as what stands there is the same.
    pub fn against(&self, findings: &[TamperFinding]) -> Vec<String> {
        if self.on_tamper == OnTamper::Report {
            return Vec::new();
        }
        let is_open = |one: &&TamperFinding| {
            let files: Vec<&str> = one.files().collect();
            let is_meant =
                !files.is_empty() && files.iter().all(|path| self.may_change.covers(path));
            !is_meant && !self.accepted.iter().any(|key| one.is_same_change(key))
        };
        findings.iter().filter(is_open).map(TamperFinding::words).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::prelude::rust_2024::*;
    use std::vec;

    use super::*;
    use crate::gate::Finding;
    use crate::gate::FindingKind;

    type Case = (Merge, Vec<String>, GateWord, Seat, Landing);

    #[test]
    fn only_what_nothing_speaks_against_moves() {
        let conflict = Merge::Conflict { files: vec!["a".into()] };
        let refused = |why| Landing::Refused(why);
        let files = vec!["a".into()];
        let tampered = vec!["a test is gone".into()];
        let red = || GateWord::Red { summary: "tests failed".into() };
        let (clean, dirty) = (Seat::Clean { path: "/w".into() }, Seat::Dirty { path: "/w".into() });
        let there = Landing::Move(Move::Worktree { path: "/w".into() });
        let by_hand = Landing::Move(Move::ByHand { path: "/w".into() });
        let cases: Vec<Case> = vec![
            (Merge::Nothing, tampered.clone(), red(), dirty.clone(), Landing::AlreadyThere),
            (
                conflict,
                tampered.clone(),
                red(),
                Seat::Free,
                refused(LandingRefusal::Conflict { files }),
            ),
            (
                Merge::FastForward,
                tampered.clone(),
                GateWord::Green,
                Seat::Free,
                refused(LandingRefusal::Tamper { findings: tampered }),
            ),
            (Merge::FastForward, vec![], GateWord::Unasked, dirty.clone(), Landing::RunGates),
            (
                Merge::Clean,
                vec![],
                red(),
                Seat::Free,
                refused(LandingRefusal::Red { summary: "tests failed".into() }),
            ),
            (Merge::Clean, vec![], GateWord::Green, Seat::Free, Landing::Move(Move::Branch)),
            (Merge::Clean, vec![], GateWord::NoGates, Seat::Free, Landing::Move(Move::Branch)),
            (Merge::FastForward, vec![], GateWord::Green, clean, there),
            (Merge::Clean, vec![], GateWord::Green, dirty, by_hand),
        ];
        for (merge, tamper, gates, seat, landing) in cases {
            let facts = LandingFacts { merge, tamper, gates, seat };
            assert_eq!(facts.judge(), landing, "{facts:?}");
        }
    }

    #[test]
    fn what_is_accepted_or_meant_does_not_stand_in_the_way() {
        let finding = |base: &str, now: &str| {
            let finding =
                Finding::new(FindingKind::Tamper, "a test is gone").at("tests/a.rs", 3, None);
            let about = TamperFinding::about("tests/a.rs", "a test is gone");
            TamperFinding { finding, base: base.into(), now: now.into(), ..about }
        };
        let (none, tests) = (MayChange::new([]), MayChange::new(["tests/".into()]));
        let accepted = [finding("old base", "n1").key()];
        let cases: [(OnTamper, &[String], &MayChange, &str, usize); 6] = [
            (OnTamper::Ask, &[], &none, "n1", 1),
            (OnTamper::Refuse, &[], &none, "n1", 1),
            (OnTamper::Report, &[], &none, "n1", 0),
            (OnTamper::Ask, &accepted, &none, "n1", 0),
            (OnTamper::Ask, &accepted, &none, "n2", 1),
            (OnTamper::Ask, &[], &tests, "n1", 0),
        ];
        for (on_tamper, accepted, may_change, now, count) in cases {
            let allowed = Allowed { on_tamper, accepted, may_change };
            let open = allowed.against(&[finding("the target", now)]);
            assert_eq!(open.len(), count, "{allowed:?} {now}");
        }
    }
}
