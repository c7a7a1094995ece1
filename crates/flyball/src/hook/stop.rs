//! The stop ring: an agent that wants to stop while a gate is red, its story's state is not legal or
//! its work is not committed is sent back with what is missing, a few times at most.

use std::collections::BTreeSet;
use std::time::Duration;

use flyball_core::claim::read_structured;
use flyball_core::event::{TasksSnapshot, WorktreeSnapshot};
use flyball_core::gate::GateResult;
use flyball_core::gate::blocking::{BlockingEvent, Refusal};
use flyball_core::policy::Baseline;
use flyball_core::tasklist::{TaskList, Transition, check_at_stop};
use flyball_core::text::count;
use flyball_core::{Event, IterationNo, RunId};
use serde::{Deserialize, Serialize};

use super::calls::{self, CallState};
use super::context::{HookContext, SessionBrief, stop_key};
use super::{Asked, Heard, HookReport, Reply};
use crate::client::{Output, REFUSAL_MARK, registry};
use crate::config::Sources;
use crate::error::CliError;
use crate::gate::{Cancel, GatePlan, GateRunner};
use crate::journal::{HookChange, Journal};
use crate::worktree::Worktree;

/// What a stop costs besides the gates: git, and ending gates that ran too long.
const ASIDE: Duration = Duration::from_secs(30);

/// The stops of one session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct StopState {
    refusals: u32,
    /// Everything the agent had said at the last refusal.
    said: String,
    /// Calls there had been when it was last let go.
    calls: u64,
    gates: Option<GateResult>,
}

/// What was found at a stop.
struct Found {
    /// Why the agent may not stop; none when it may.
    objection: Option<String>,
    gates: Option<GateResult>,
}

/// How long the gates of a stop may take.
fn gate_time(context: &HookContext) -> Duration {
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

/// The agent wants to stop: may it?
pub(super) fn stop(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    journal: &mut Journal,
) -> Result<Reply, CliError> {
    let key = context.key(asked.dialect, heard);
    let state: StopState = journal
        .session_state(&stop_key(&key))?
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let calls = calls_so_far(asked, heard, &key, journal)?;
    if lets_go(asked, context, heard, &state) || (context.run.is_none() && calls == state.calls) {
        return calls::note(asked, context, heard, journal);
    }
    let time = context.timeout.saturating_add(gate_time(context));
    asked.pace.allow(context, asked.occasion, time);
    let found = object(asked, context, &state, journal)?;
    conclude(asked, context, heard, journal, (calls, found, state.refusals))
}

/// Whether nothing needs to be looked at: no more refusals are left, or the agent itself says that
/// it cannot go on.
fn lets_go(asked: &Asked<'_>, context: &HookContext, heard: &Heard, state: &StopState) -> bool {
    let said = heard.said.as_deref().unwrap_or_default();
    // Some clients tell everything since the prompt: only what came after the last refusal counts.
    let new = if state.said.is_empty() { None } else { said.strip_prefix(state.said.as_str()) };
    let claims = read_structured(new.unwrap_or(said));
    let gives_up = claims.blocked.is_some() || claims.decide.is_some();
    !context.configured || gives_up || state.refusals >= most(asked, context)
}

/// How many stops may be refused: the setting, and always below the client's own cap.
fn most(asked: &Asked<'_>, context: &HookContext) -> u32 {
    let own = registry::output(asked.dialect.name()).map_or(u32::MAX, Output::stop_refusal_cap);
    context.policy.gates.stop_refusals.min(own)
}

/// The calls of the session; also takes note of how full its context is.
fn calls_so_far(
    asked: &Asked<'_>,
    heard: &Heard,
    key: &str,
    journal: &mut Journal,
) -> Result<u64, CliError> {
    if let Some(permille) = heard.context {
        journal.with_session(key, asked.at, |bytes| {
            let mut state = CallState::read(bytes);
            state.context(permille);
            (state.write(), ())
        })?;
    }
    Ok(CallState::read(journal.session_state(key)?.as_deref()).calls())
}

/// Looks at everything a stop is judged by.
fn object(
    asked: &Asked<'_>,
    context: &HookContext,
    state: &StopState,
    journal: &mut Journal,
) -> Result<Found, CliError> {
    let mut worktree = Worktree::open(&context.root)?;
    let snapshot = look(&mut worktree, context)?;
    let (brief, start) = match &context.run {
        Some((run, _)) => (context.brief()?, Start::of(run, journal)?),
        None => (None, Start::default()),
    };
    let mut missing = Vec::new();
    if let Some(brief) = &brief {
        missing.extend(illegal(context, brief));
        missing.extend(uncommitted(&start, &snapshot));
    }
    let gates = run_gates(asked, context, &mut worktree, &snapshot, journal)?;
    let red = gates.as_ref().is_some_and(|gates| !start.accepts(gates, context));
    if !red && missing.is_empty() {
        return Ok(Found { objection: None, gates });
    }
    let nothing = GateResult::default();
    let event = BlockingEvent::new(Refusal {
        request: brief.as_ref().map_or("", |brief| brief.request.as_str()),
        now: gates.as_ref().unwrap_or(&nothing),
        before: state.gates.as_ref(),
        baseline: &start.failing,
        missing: &missing,
    });
    let text = if context.policy.gates.backpressure {
        event.to_text()
    } else {
        let lines = event.gate_result.status_lines().join("\n");
        format!("# Completion Blocked: {}\n{lines}", event.summary)
    };
    Ok(Found { objection: Some(text), gates })
}

fn look(worktree: &mut Worktree, context: &HookContext) -> Result<WorktreeSnapshot, CliError> {
    let (dir, tasks) = (context.loop_dir.relative(), context.loop_dir.tasks_relative());
    Ok(worktree.snapshot(&dir, &tasks)?)
}

/// What is not legal in the task list, with what to do about it (B11).
fn illegal(context: &HookContext, brief: &SessionBrief) -> Vec<String> {
    let Some(before) = &brief.tasks else { return Vec::new() };
    let given = Transition {
        mode: brief.mode,
        story: brief.task.clone(),
        review: context.policy.review.clone(),
    };
    check_at_stop(before, &context.loop_dir.tasks(), &given)
}

/// What the agent has not committed, besides what was there before the run.
fn uncommitted(start: &Start, snapshot: &WorktreeSnapshot) -> Option<String> {
    let new: Vec<&str> = snapshot
        .uncommitted
        .iter()
        .filter(|path| !start.uncommitted.contains(*path))
        .map(String::as_str)
        .collect();
    if new.is_empty() {
        return None;
    }
    let shown = new.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = new.len().saturating_sub(5);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{} not committed: {shown}{more}", count(new.len() as u64, "path")))
}

/// Runs the gates that are not known for this tree; nothing when there are none.
fn run_gates(
    asked: &Asked<'_>,
    context: &HookContext,
    worktree: &mut Worktree,
    snapshot: &WorktreeSnapshot,
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
        return crate::driver::recorded_gates(&context.state_dir, run);
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

/// How the run found the worktree.
#[derive(Debug, Default)]
struct Start {
    uncommitted: Vec<String>,
    /// What was red, by identity, and how often.
    failing: BTreeSet<String>,
    failures: u64,
}

impl Start {
    /// Reads the first events of the run, up to its first agent.
    fn of(run: &RunId, journal: &Journal) -> Result<Self, CliError> {
        let mut start = Self::default();
        for recorded in journal.events(run)? {
            match recorded?.event {
                Event::RunStarted(first) => start.uncommitted = first.snapshot.uncommitted,
                Event::GatesFinished { iteration: IterationNo::BASELINE, result, .. } => {
                    start.failing = result.failing();
                    start.failures = result.failure_count();
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

    fn accepts(&self, gates: &GateResult, context: &HookContext) -> bool {
        gates.is_green()
            || (context.policy.gates.baseline == Baseline::Ignore
                && gates.nothing_new(&self.failing, self.failures))
    }
}

/// Counts a refusal and tells it, or lets the agent go. The cap holds for stops at the same time too;
/// hooks that are installed twice are asked twice about the same stop, which is refused once then.
fn conclude(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    journal: &mut Journal,
    (calls, found, known): (u64, Found, u32),
) -> Result<Reply, CliError> {
    let key = stop_key(&context.key(asked.dialect, heard));
    let step = context.step(&key, asked.at);
    let report = HookReport::new(asked, heard, context);
    let reply = journal.hook_step(&step, |bytes| {
        let mut state: StopState =
            bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
        let again = state.refusals > known;
        let text = found.objection.filter(|_| again || state.refusals < most(asked, context));
        let said = heard.said.as_deref();
        let (reply, report) = match text {
            Some(text) if again => {
                let reply = Reply::refuse(format!("{REFUSAL_MARK} {text}"));
                let report = report.answered_with(&reply, None);
                (reply, report)
            }
            Some(text) => {
                state.refusals = state.refusals.saturating_add(1);
                said.unwrap_or_default().clone_into(&mut state.said);
                let reply = Reply::refuse(format!("{REFUSAL_MARK} {text}"));
                let report = report.answered_with(&reply, None).stop_refused(&text, said);
                (reply, report)
            }
            None => (Reply::pass(), report.answered_with(&Reply::pass(), None)),
        };
        if reply.allows() {
            state.calls = calls;
        }
        state.gates = found.gates;
        let state = serde_json::to_vec(&state).ok();
        (HookChange { state, report: report.to_json() }, reply)
    })?;
    Ok(reply)
}
