//! A branch lands on another: merged without a worktree, its gates run on the merged tree, and only then
//! moved, at once and as a whole. What speaks for it is the core's to say (`flyball_core::landing`).
//!
//! Nothing of the user's is touched before the verdict; the one step that moves something is a
//! compare-and-swap of the branch, or `git merge --ff-only` where it is checked out.

mod checked;
mod ground;

use std::path::{Path, PathBuf};

use flyball_core::gate::{MayChange, TamperFinding};
use flyball_core::landing::{
    Allowed, Counted, GateWord, Landing, LandingFacts, LandingRefusal, Merge, Move, Seat,
};
use flyball_core::policy::OnTamper;
use flyball_core::tasklist::TaskList;

use crate::config::{Config, Sources};
use crate::error::CliError;
use crate::gate::tamper::{open_here, repository_of, tamper};
use crate::gate::{Cancel, GatePlan, GateProgress};
use crate::journal::Journal;
use crate::loopdir::LoopDir;
use crate::worktree::{MergedTree, Worktree};

/// What is to land, and where.
#[derive(Debug)]
pub struct LandOrder<'a> {
    /// What is said of it in the history.
    pub title: &'a str,
    /// The branch with the work.
    pub branch: &'a str,
    /// The branch it shall become part of.
    pub target: &'a str,
    /// The worktree the work was done in, while it is there: its dependencies are at hand.
    pub place: Option<&'a Path>,
    /// The gates as they stood when the work began.
    pub gates: &'a GatePlan,
    /// The branch a merge is kept on when its owner has to take it.
    pub keep_as: &'a str,
    /// What weakened checks mean.
    pub weakened: OnWeakened,
}

/// What weakened checks mean for a landing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnWeakened {
    /// What the settings say.
    #[default]
    AsSet,
    /// Nothing: a human has said that they are meant.
    Meant,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landed {
    /// The target had everything already.
    AlreadyThere,
    /// The target has moved.
    Moved {
        /// From this commit.
        from: String,
        /// To this one.
        to: String,
        /// Where it is checked out.
        seat: Option<PathBuf>,
    },
    /// Everything speaks for it, and its owner has to do it.
    ByHand {
        /// Where.
        path: PathBuf,
        /// The branch to take there.
        branch: String,
    },
    /// Nothing was moved.
    Refused(LandingRefusal),
    /// Somebody ended the gates.
    Interrupted,
}

/// Lands branches in one repository.
pub struct Engine<'a> {
    /// The repository, seen from any of its worktrees.
    pub repository: &'a Worktree,
    /// The settings as the target's people have them.
    pub config: &'a Config,
    /// The journal.
    pub journal: &'a mut Journal,
    /// The state folder.
    pub state_dir: &'a Path,
    /// Ends the gates.
    pub cancel: &'a Cancel,
    /// Hears how the gates go.
    pub observe: &'a (dyn Fn(GateProgress) + Sync),
    /// Hears what they run on.
    pub say: &'a dyn Fn(&str),
}

/// Both sides, put together.
struct Candidate {
    target_tip: String,
    /// The commit that would land.
    commit: String,
    merge: Merge,
}

impl Engine<'_> {
    /// Lands a branch, or says why not.
    pub fn land(&mut self, order: &LandOrder<'_>) -> Result<Landed, CliError> {
        let candidate = self.merge(order)?;
        let weakened = match candidate.merge {
            Merge::FastForward | Merge::Clean => self.weakened(order, &candidate)?,
            Merge::Nothing | Merge::Conflict { .. } => Weakened::default(),
        };
        let mut facts = LandingFacts {
            merge: candidate.merge.clone(),
            tamper: weakened.against(order, self.config, None),
            gates: GateWord::Unasked,
            seat: self.seat(order.target)?,
        };
        let mut verdict = facts.judge();
        if verdict == Landing::RunGates {
            let Some(checked) = self.check(order, &candidate)? else {
                return Ok(Landed::Interrupted);
            };
            facts.tamper = weakened.against(order, self.config, checked.counted.as_ref());
            facts.gates = checked.word;
            // It may have been checked out, or worked in, while the gates ran.
            facts.seat = self.seat(order.target)?;
            verdict = facts.judge();
        }
        match verdict {
            Landing::AlreadyThere => Ok(Landed::AlreadyThere),
            Landing::Refused(why) => Ok(Landed::Refused(why)),
            Landing::Move(how) => self.go(order, &candidate, how),
            Landing::RunGates => Err(CliError::internal("the gates were asked and said nothing")),
        }
    }

    /// Puts both sides together, without a worktree.
    fn merge(&self, order: &LandOrder<'_>) -> Result<Candidate, CliError> {
        let tip = |branch: &str| {
            self.repository.tip(branch)?.ok_or_else(|| {
                CliError::no_input(format!("there is no branch `{branch}` any more"))
            })
        };
        let (target_tip, own) = (tip(order.target)?, tip(order.branch)?);
        let with =
            |commit: String, merge| Ok(Candidate { target_tip: target_tip.clone(), commit, merge });
        if self.repository.is_part_of(&own, &target_tip)? {
            return with(target_tip.clone(), Merge::Nothing);
        }
        if self.repository.is_part_of(&target_tip, &own)? {
            return with(own, Merge::FastForward);
        }
        match self.repository.merge_trees(&target_tip, &own)? {
            MergedTree::Conflict(files) => with(own, Merge::Conflict { files }),
            MergedTree::Clean(tree) => {
                let message = format!(
                    "Merge branch '{}' into {}\n\n{}\n",
                    order.branch, order.target, order.title
                );
                let commit = self.repository.merge_commit(&tree, [&target_tip, &own], &message)?;
                with(commit, Merge::Clean)
            }
        }
    }

    /// Weakened checks: those still open where the work was done, and those that are new to the target.
    fn weakened(
        &mut self,
        order: &LandOrder<'_>,
        candidate: &Candidate,
    ) -> Result<Weakened, CliError> {
        let trees = (
            self.repository.tree_of(&candidate.target_tip)?,
            self.repository.tree_of(&candidate.commit)?,
        );
        let now = self.plan_in(&trees.1, order.gates);
        let mut findings = tamper(self.repository, (&trees.0, &trees.1), order.gates, &now)?;
        if let Some(place) = order.place
            && let Ok(worktree) = Worktree::open(place)
        {
            let open = open_here(self.journal, &worktree, &trees.1, order.gates)?;
            findings.extend(open.into_iter().filter_map(|one| one.now));
        }
        let repository = repository_of(self.journal, self.repository)?;
        let accepted = self.journal.accepted_tamper(repository)?;
        Ok(Weakened { findings, accepted, may_change: self.may_change(&trees.0) })
    }

    /// The gates as the settings in a tree have them; those of before where that says nothing of it.
    fn plan_in(&self, tree: &str, before: &GatePlan) -> GatePlan {
        let written = self.repository.show(tree, crate::config::FILE_NAME).ok().flatten();
        let Some(text) = written else { return before.clone() };
        let Ok(folder) = tempfile::tempdir() else { return before.clone() };
        let file = folder.path().join(crate::config::FILE_NAME);
        if crate::files::write_whole(&file, text).is_err() {
            return before.clone();
        }
        let sources =
            Sources { project_file: Some(file), ..Sources::of_process(self.repository.root()) };
        // Settings that cannot be read are a finding of their own: the file is watched.
        let Ok(config) = sources.load() else { return before.clone() };
        if config.gates.checks.is_empty() {
            return before.clone();
        }
        GatePlan::resolve(&config, self.repository.root(), &[]).unwrap_or_else(|_| before.clone())
    }

    /// What the work may change, as people of the target wrote it.
    fn may_change(&self, target_tree: &str) -> MayChange {
        let tasks = self.loop_dir().tasks_relative();
        let text = self.repository.show(target_tree, &tasks.to_string_lossy()).ok().flatten();
        let list = text.and_then(|text| TaskList::parse(&String::from_utf8_lossy(&text)).ok());
        let stories = list.iter().flat_map(TaskList::stories);
        let of_stories = stories.flat_map(|story| story.may_change.iter().cloned());
        MayChange::new(of_stories.chain(self.config.policy.gates.may_change.iter().cloned()))
    }

    fn loop_dir(&self) -> LoopDir {
        LoopDir::new(self.repository.root(), &self.config.loop_dir, &self.config.tasks_file)
    }

    /// Where the target is checked out, and whether it can be moved there.
    fn seat(&self, target: &str) -> Result<Seat, CliError> {
        let seats = self.repository.linked()?;
        let Some(seat) = seats.into_iter().find(|one| one.branch.as_deref() == Some(target)) else {
            return Ok(Seat::Free);
        };
        let path = seat.path.to_string_lossy().into_owned();
        // One whose folder is gone is nobody's workplace.
        if !seat.path.is_dir() {
            return Ok(Seat::Free);
        }
        let own = self.loop_dir().relative();
        let is_work = |file: &String| {
            !file.starts_with(&format!("{own}/")) && file != crate::config::FILE_NAME
        };
        let worktree = Worktree::open(&seat.path)?;
        let is_clean = !worktree.uncommitted()?.iter().any(is_work);
        Ok(if is_clean { Seat::Clean { path } } else { Seat::Dirty { path } })
    }

    /// The one step that moves something.
    fn go(
        &self,
        order: &LandOrder<'_>,
        candidate: &Candidate,
        how: Move,
    ) -> Result<Landed, CliError> {
        let (from, to) = (candidate.target_tip.clone(), candidate.commit.clone());
        match how {
            Move::Branch => {
                let why = format!("flyball land: {}", order.branch);
                self.repository.move_branch(order.target, (&from, &to), &why).map_err(|error| {
                    CliError::from(error).hint("the branch has moved meanwhile; land again")
                })?;
                Ok(Landed::Moved { from, to, seat: None })
            }
            Move::Worktree { path } => {
                let path = PathBuf::from(path);
                Worktree::open(&path)?.fast_forward(&to)?;
                Ok(Landed::Moved { from, to, seat: Some(path) })
            }
            Move::ByHand { path } => {
                let branch = if candidate.merge == Merge::FastForward {
                    order.branch.to_owned()
                } else {
                    self.keep(order.keep_as, &to)?;
                    order.keep_as.to_owned()
                };
                Ok(Landed::ByHand { path: PathBuf::from(path), branch })
            }
        }
    }

    /// Keeps a merge for its owner to take.
    fn keep(&self, branch: &str, commit: &str) -> Result<(), CliError> {
        match self.repository.tip(branch)? {
            Some(there) if there == commit => Ok(()),
            Some(there) => {
                Ok(self.repository.move_branch(branch, (&there, commit), "flyball land")?)
            }
            None => Ok(self.repository.make_branch(branch, commit)?),
        }
    }
}

/// Weakened checks, and what people said of such.
#[derive(Default)]
struct Weakened {
    findings: Vec<TamperFinding>,
    accepted: Vec<String>,
    may_change: MayChange,
}

impl Weakened {
    /// What of it stands in the way, in words.
    fn against(
        &self,
        order: &LandOrder<'_>,
        config: &Config,
        counted: Option<&Counted>,
    ) -> Vec<String> {
        let on_tamper = match order.weakened {
            OnWeakened::AsSet => config.policy.gates.on_tamper,
            OnWeakened::Meant => OnTamper::Report,
        };
        let Self { findings, accepted, may_change } = self;
        let mut words = Allowed { on_tamper, accepted, may_change }.against(findings, counted);
        words.dedup();
        words
    }
}
