//! Looks at everything a stop is judged by: the worktree, the run it belongs to, the gates.

use std::time::Duration;

use flyball_core::event::{TasksSnapshot, WorktreeSnapshot};
use flyball_core::gate::GateResult;
use flyball_core::starting_point::StartingPoint;
use flyball_core::stop::{Assignment, StopEvidence, StopRing, StopRules, StopTicket, StopVerdict};
use flyball_core::tasklist::{TaskList, Transition};
use flyball_core::{Event, IterationNo, RunId};

use super::super::Asked;
use super::super::context::{HookContext, SessionBrief};
use crate::config::Sources;
use crate::error::CliError;
use crate::gate::{Cancel, GatePlan, GateRunner};
use crate::journal::Journal;
use crate::run_record::recorded_gates;
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
    start: StartingPoint,
    given: Option<(SessionBrief, Transition)>,
    snapshot: WorktreeSnapshot,
    gates: Option<GateResult>,
}

impl Examined {
    pub(super) fn look(
        asked: &Asked<'_>,
        context: &HookContext,
        journal: &mut Journal,
    ) -> Result<Self, CliError> {
        let mut worktree = Worktree::open(&context.root)?;
        let snapshot = look(&mut worktree, context)?;
        let (brief, start) = match &context.run {
            Some((run, _)) => (context.brief()?, starting_point(run, journal)?),
            None => (None, StartingPoint::default()),
        };
        let review = &context.policy.review;
        let given = brief.map(|brief| {
            let (mode, story, review) = (brief.mode, brief.task.clone(), review.clone());
            (brief, Transition { mode, story, review })
        });
        let gates = run_gates(asked, context, (&mut worktree, &snapshot), journal)?;
        Ok(Self { start, given, snapshot, gates })
    }

    /// Has the ring decide.
    pub(super) fn judge(
        &self,
        ring: &mut StopRing,
        rules: StopRules,
        ticket: &StopTicket,
    ) -> StopVerdict {
        let assignment = self.given.as_ref().map(|(brief, given)| Assignment {
            request: &brief.request,
            tasks: brief.tasks.as_deref(),
            given: given.clone(),
        });
        let evidence = StopEvidence {
            start: &self.start,
            assignment: assignment.as_ref(),
            snapshot: &self.snapshot,
            gates: self.gates.as_ref(),
        };
        ring.judge(rules, ticket, &evidence)
    }
}

fn look(worktree: &mut Worktree, context: &HookContext) -> Result<WorktreeSnapshot, CliError> {
    let (dir, tasks) = (context.loop_dir.relative(), context.loop_dir.tasks_relative());
    Ok(worktree.snapshot(&dir, &tasks)?)
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

/// The gates of the run, or of the project as it is configured now.
fn plan(context: &HookContext) -> Result<GatePlan, CliError> {
    if let Some((run, _)) = &context.run {
        return recorded_gates(&context.state_dir, run);
    }
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

/// How the run found the worktree: its first events, up to its first agent.
fn starting_point(run: &RunId, journal: &Journal) -> Result<StartingPoint, CliError> {
    let mut start = StartingPoint::default();
    for recorded in journal.events(run)? {
        match recorded?.event {
            Event::RunStarted(first) => start = StartingPoint::of(&first.snapshot),
            Event::GatesFinished { iteration: IterationNo::BASELINE, result, .. } => {
                start.take_gates(&result);
            }
            Event::Agent { .. } => break,
            Event::RunResumed(_)
            | Event::WorktreeSeen { .. }
            | Event::GatesFinished { .. }
            | Event::TimerFired { .. }
            | Event::StopRequested { .. }
            | Event::TimePassed
            | Event::ShellFailed { .. } => {}
        }
    }
    Ok(start)
}
