//! The gates of a landing: on what would land, and on the target where it must be known how many tests
//! they ran there.

use flyball_core::GateName;
use flyball_core::gate::{GateResult, TestBounds};
use flyball_core::landing::{Counted, GateWord, Merge};

use super::ground::Ground;
use super::{Candidate, Engine, LandOrder};
use crate::clock;
use crate::error::CliError;
use crate::gate::tamper::partial_gates;
use crate::gate::{GateRunner, TreeLook, tell_edits};
use crate::worktree::Worktree;

/// What the gates say.
pub(super) struct Checked {
    /// Of what would land.
    pub(super) word: GateWord,
    /// Of its tests beside those of the target; none where there is nothing to count.
    pub(super) counted: Option<Counted>,
}

impl Engine<'_> {
    /// What the gates say of what would land; none when they were ended.
    pub(super) fn check(
        &mut self,
        order: &LandOrder<'_>,
        candidate: &Candidate,
    ) -> Result<Option<Checked>, CliError> {
        if order.gates.is_empty() {
            return Ok(Some(Checked { word: GateWord::NoGates, counted: None }));
        }
        (self.say)(&format!("gates on {} merged into {}", order.branch, order.target));
        let ground = match order.place {
            Some(place) if candidate.merge == Merge::FastForward => {
                Ground::at(self, place, &candidate.commit)?
            }
            _ => None,
        };
        let ground = match ground {
            Some(ground) => ground,
            None => Ground::make(self, &candidate.commit)?,
        };
        let Some(merged) = self.run_gates(order, ground)? else { return Ok(None) };
        let word = word(&merged);
        if word != GateWord::Green {
            return Ok(Some(Checked { word, counted: None }));
        }
        let counted = match self.of_target(order, candidate)? {
            Before::Ended => return Ok(None),
            Before::Unknown => None,
            Before::Ran(target) => {
                let tree = self.repository.tree_of(&candidate.target_tip)?;
                let mut bounds = TestBounds::default();
                for gate in partial_gates(self.repository, &tree, order.gates) {
                    bounds.runs_a_part(&GateName::new(gate));
                }
                Some(Counted::compare(bounds, &target, &merged))
            }
        };
        Ok(Some(Checked { word, counted }))
    }

    /// What the gates said of the target: as a rule the journal knows.
    fn of_target(
        &mut self,
        order: &LandOrder<'_>,
        candidate: &Candidate,
    ) -> Result<Before, CliError> {
        (self.say)(&format!("gates on {} as it is, to compare the tests", order.target));
        // A target that cannot be set up says nothing; what would land was green all the same.
        let ground = match Ground::make(self, &candidate.target_tip) {
            Ok(ground) => ground,
            Err(error) => {
                (self.say)(&format!("its tests are not known: {}", error.message));
                return Ok(Before::Unknown);
            }
        };
        Ok(self.run_gates(order, ground)?.map_or(Before::Ended, Before::Ran))
    }

    /// Runs those gates whose word on this tree is not known; none when they were ended.
    fn run_gates(
        &mut self,
        order: &LandOrder<'_>,
        mut ground: Ground,
    ) -> Result<Option<GateResult>, CliError> {
        let mut worktree =
            Worktree::open(ground.root())?.holding_files_up_to(self.config.checkpoints.max_file);
        if let Some(walls) = ground.walls() {
            worktree.enclose(walls.clone());
        }
        let (dir, tasks) = (self.loop_dir().relative(), self.loop_dir().tasks_relative());
        let before = worktree.snapshot(&dir, &tasks)?;
        let tree = before.code_tree.clone();
        let mut runner = GateRunner::new(order.gates.clone(), worktree.root());
        runner.parallel = self.config.gates.parallel;
        runner.walls = ground.walls().cloned();
        runner.look = Some(TreeLook::new(worktree.beside(), dir.clone(), tasks.clone()));
        if !runner.is_known(self.journal, &tree) {
            ground.set_up(self.config)?;
        }
        let ran = runner.run_known(self.journal, &tree, self.cancel, self.observe);
        let Ok(mut result) = ran else { return Ok(None) };
        let after = worktree.snapshot(&dir, &tasks)?;
        tell_edits(&mut result, &worktree, &dir, (&before, &after));
        if after.code_tree == tree {
            runner.store(self.journal, clock::wall(), &result)?;
        }
        Ok(Some(result))
    }
}

/// What is known of the target.
enum Before {
    Ran(GateResult),
    Unknown,
    /// Somebody ended the gates.
    Ended,
}

fn word(result: &GateResult) -> GateWord {
    if result.is_green() {
        // What would land is not what they checked in the end.
        return match result.edited_words() {
            Some(summary) => GateWord::Red { summary },
            None => GateWord::Green,
        };
    }
    let red: Vec<String> = result.red().map(|check| check.gate.to_string()).collect();
    let first = result.failures().next().map(|(_, finding)| finding.message.clone());
    let first = first.map(|message| format!(": {}", flyball_core::text::head(&message, 200)));
    GateWord::Red { summary: format!("{} failed{}", red.join(", "), first.unwrap_or_default()) }
}
