//! Looks at everything a stop is judged by: the worktree and the gates.

use std::time::Duration;

use flyball_core::event::{TasksSnapshot, WorktreeSnapshot};
use flyball_core::gate::GateResult;
use flyball_core::starting_point::StartingPoint;
use flyball_core::stop::{StopEvidence, StopRing, StopRules, StopTicket, StopVerdict};
use flyball_core::tasklist::TaskList;

use super::super::Asked;
use super::super::context::HookContext;
use crate::config::Sources;
use crate::error::CliError;
use crate::gate::{Cancel, GatePlan, GateRunner, TreeLook};
use crate::journal::Journal;
use crate::worktree::Worktree;

/// What a stop costs besides the gates: git, and ending gates that ran too long.
const ASIDE: Duration = Duration::from_secs(30);

/// How long the gates of a stop may take.
pub(super) fn gate_time(context: &HookContext) -> Duration {
    let gates = plan(context).map(|plan| time_of(&plan)).unwrap_or_default();
    gates.saturating_add(ASIDE)
}

/// The most time the gates of a plan can take together.
pub(crate) fn time_of(plan: &GatePlan) -> Duration {
    // Each may take a few seconds more to be ended.
    let one = |limit: u64| Duration::from_millis(limit).saturating_add(Duration::from_secs(5));
    let all = plan.gates().iter().map(|gate| one(gate.timeout.get()));
    all.fold(Duration::ZERO, Duration::saturating_add)
}

/// What was found when a stop was looked at.
pub(super) struct Examined {
    snapshot: WorktreeSnapshot,
    gates: Option<GateResult>,
}

impl Examined {
    /// Looks at everything; nothing to look at where the turn has changed nothing.
    pub(super) fn look(
        asked: &Asked<'_>,
        context: &HookContext,
        journal: &mut Journal,
        ring: &StopRing,
    ) -> Result<Option<Self>, CliError> {
        let config = Sources::of_process(&context.root).load()?;
        let max_file = config.checkpoints.max_file;
        let mut worktree = Worktree::open(&context.root)?.holding_files_up_to(max_file);
        let snapshot = look(&mut worktree, context)?;
        if ring.changed_nothing(&snapshot) {
            return Ok(None);
        }
        let gates = run_gates(asked, context, (&mut worktree, &snapshot), journal)?;
        Ok(Some(Self { snapshot, gates }))
    }

    /// Has the ring decide.
    pub(super) fn judge(
        &self,
        ring: &mut StopRing,
        rules: StopRules,
        ticket: &StopTicket,
    ) -> StopVerdict {
        // Nobody gave a person's session anything to do.
        let evidence = StopEvidence {
            start: &StartingPoint::default(),
            assignment: None,
            snapshot: &self.snapshot,
            gates: self.gates.as_ref(),
            // Nobody has begun to watch its checks either: the person is there.
            weakened: &[],
        };
        ring.judge(rules, ticket, &evidence)
    }
}

fn look(worktree: &mut Worktree, context: &HookContext) -> Result<WorktreeSnapshot, CliError> {
    let (dir, tasks) = (context.loop_dir.relative(), context.loop_dir.tasks_relative());
    Ok(worktree.snapshot(&dir, &tasks)?)
}

/// What is there now.
pub(super) fn code_tree(context: &HookContext) -> Result<String, CliError> {
    Ok(look(&mut Worktree::open(&context.root)?, context)?.code_tree)
}

/// Runs the gates that are not known for this tree; nothing when there are none.
fn run_gates(
    asked: &Asked<'_>,
    context: &HookContext,
    (worktree, snapshot): (&mut Worktree, &WorktreeSnapshot),
    journal: &mut Journal,
) -> Result<Option<GateResult>, CliError> {
    let plan = plan(context)?;
    if plan.is_empty() {
        return Ok(None);
    }
    let mut runner = GateRunner::new(plan, &context.root);
    runner.parallel = context.parallel;
    let (dir, tasks) = (context.loop_dir.relative(), context.loop_dir.tasks_relative());
    runner.look = Some(TreeLook::new(worktree.beside(), dir, tasks));
    let tree = &snapshot.code_tree;
    let Ok(result) = runner.run_known(journal, tree, &Cancel::new(), &|_| {}) else {
        return Ok(None);
    };
    // What was changed meanwhile was not checked: nothing is remembered of it.
    let unchanged = look(worktree, context)?.code_tree == *tree;
    // What is left is to write: a journal that is busy may not take the gates' time.
    asked.pace.allow(context, asked.occasion, context.timeout);
    if unchanged {
        runner.store(journal, crate::clock::wall(), &result)?;
    }
    Ok(Some(result))
}

/// The gates of the project as it is configured now.
fn plan(context: &HookContext) -> Result<GatePlan, CliError> {
    if !context.configured {
        return GatePlan::of(Vec::new());
    }
    let config = Sources::of_process(&context.root).load()?;
    let verify = match context.loop_dir.tasks() {
        TasksSnapshot::Found { text } => {
            TaskList::parse(&text).map(|list| list.verify_commands().to_vec()).unwrap_or_default()
        }
        TasksSnapshot::Absent | TasksSnapshot::Unreadable { .. } => Vec::new(),
    };
    GatePlan::resolve(&config, &context.root, &verify)
}
