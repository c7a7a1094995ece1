//! How a run begins, and how it goes on after a death.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::briefing::Briefing;
use super::crew::Crew;
use super::phase::{Closed, End, Phase, SessionState};
use super::state::{
    Answer, CodeRecord, GateRecord, HumanWord, LastIteration, RunState, SetAside, TaskBoard,
};
use super::tamper::{self, TamperWatch};
use super::waiting::WaitMeter;
use super::{StepOutput, finish, human, planning, verifying};
use crate::claim::ClaimReading;
use crate::effect::{Effect, Ending, Notice};
use crate::event::{Exit, ExitHow, HumanFiles, Resume, RunStart, TasksSnapshot};
use crate::gate::tamper::is_question;
use crate::gate::{Finding, GateResult, MayChange};
use crate::id::{GateName, IterationNo, TaskId};
use crate::iteration::{IterationRing, StuckMeter};
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::starting_point::StartingPoint;
use crate::task::{Standing, TaskRing};
use crate::tasklist::{TaskList, TaskListError};

/// Why a run cannot begin at all. The shell asks before it starts one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartProblem {
    /// The task list is bad data.
    #[error("the task list cannot be used")]
    BadTasks(#[from] TaskListError),
    /// The file is there and cannot be read.
    #[error("the task list cannot be read: {0}")]
    UnreadableTasks(String),
    /// Nothing could ever show that the work is done.
    #[error("there is neither a task list nor a gate, so nothing could ever verify the work")]
    NothingToVerify,
    /// A story nobody has written: working on it costs money and gives nothing.
    #[error("story `{0}` is still the example that `flyball init` wrote")]
    ExampleStory(TaskId),
}

/// What keeps a run from beginning, if anything does. The example is the shell's question alone: a
/// run that was journalled with it is still read.
pub fn start_problem(
    tasks: &TasksSnapshot,
    gates: &[GateName],
    policy: &Policy,
) -> Option<StartProblem> {
    match read_tasks(tasks) {
        Err(problem) => Some(problem),
        Ok(None) => nothing_to_verify(gates, policy),
        Ok(Some(board)) => {
            let example = board.list.stories().iter().find(|story| story.is_example());
            example.map(|story| StartProblem::ExampleStory(story.id.clone()))
        }
    }
}

fn nothing_to_verify(gates: &[GateName], policy: &Policy) -> Option<StartProblem> {
    let is_blind = gates.is_empty() && !policy.iterations.trust_claims;
    is_blind.then_some(StartProblem::NothingToVerify)
}

/// The same of a run that was begun.
fn unusable(start: &RunStart) -> Option<StartProblem> {
    match read_tasks(&start.snapshot.tasks) {
        Err(problem) => Some(problem),
        Ok(None) => nothing_to_verify(&start.gates, &start.policy),
        Ok(Some(_)) => None,
    }
}

fn read_tasks(snapshot: &TasksSnapshot) -> Result<Option<TaskBoard>, StartProblem> {
    match snapshot {
        TasksSnapshot::Absent => Ok(None),
        TasksSnapshot::Unreadable { error } => Err(StartProblem::UnreadableTasks(error.clone())),
        TasksSnapshot::Found { text } => {
            let list = TaskList::parse(text)?;
            Ok(Some(TaskBoard { text: text.clone(), list }))
        }
    }
}

/// The first step of a run.
pub(super) fn begin(start: &RunStart, out: &mut StepOutput) -> (RunState, Phase) {
    let mut state = open_state(start, out);
    if let Some(problem) = unusable(start) {
        let why = problem.to_string();
        let phase = finish::end(Outcome::Fault, why, &mut state, out);
        return (state, phase);
    }
    let phase = match waiting_human(&start.human_files, &mut state, out) {
        Some(phase) => phase,
        None => first_look(&mut state, out),
    };
    (state, phase)
}

fn open_state(start: &RunStart, out: &StepOutput) -> RunState {
    let RunStart { run, policy, gates, snapshot, human_files, memory, agent, .. } = start;
    RunState {
        run: run.clone(),
        given_policy: policy.clone(),
        policy: policy.for_agent(agent),
        gates: GateRecord { names: gates.clone(), ..GateRecord::default() },
        crew: Crew::of(start),
        tasks: read_tasks(&snapshot.tasks).ok().flatten(),
        request: start.request.clone(),
        code: CodeRecord {
            start: StartingPoint::of(snapshot),
            head: snapshot.head.clone(),
            tree: snapshot.code_tree.clone(),
        },
        tamper: TamperWatch::new(may_change(start), &human_files.accepted_tamper, &snapshot.tamper),
        ring: IterationRing::default(),
        task_ring: TaskRing::new(memory.clone()),
        stuck: StuckMeter::new(snapshot.progress_tree.clone()),
        waits: WaitMeter::default(),
        briefing: Briefing::default(),
        human: HumanWord { answer: answer(human_files), stops_after_iteration: false },
        aside: SetAside::default(),
        last: LastIteration::default(),
        entries: 0,
        mark: out.at,
    }
}

/// What the work itself may change: by the settings, and by the stories as people wrote them.
fn may_change(start: &RunStart) -> [MayChange; 2] {
    let stories = read_tasks(&start.snapshot.tasks).ok().flatten();
    let stories = stories.iter().flat_map(|board| board.list.stories());
    let of_stories = stories.flat_map(|story| story.may_change.iter().cloned());
    let of_settings = start.policy.gates.may_change.iter().cloned();
    [MayChange::new(of_stories), MayChange::new(of_settings)]
}

fn answer(human_files: &HumanFiles) -> Option<Answer> {
    let text = human_files.answer.clone()?;
    let question = human_files.question.clone().unwrap_or_default();
    Some(Answer { question, text, given_to: None })
}

/// B2: what a human has not yet dealt with ends the run at once.
fn waiting_human(
    human_files: &HumanFiles,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Option<Phase> {
    if let Some(reason) = &human_files.blocked {
        let why = alloc::format!(
            "Still blocked: {reason}\nRemove what blocks it, then `flyball unblock` (or delete \
             {}blocked.txt) and run again.",
            folder(human_files)
        );
        return Some(finish::end(Outcome::Blocked, why, state, out));
    }
    let question = human_files.question.as_ref().filter(|_| human_files.answer.is_none())?;
    if is_question(question) {
        return still_weakened(state, out);
    }
    let why = alloc::format!(
        "Still waiting for an answer to: {question}\nGive it with `flyball answer \"…\"` (or write \
         it below the line in {}decide.txt) and run again.",
        folder(human_files)
    );
    Some(finish::end(Outcome::Decide, why, state, out))
}

/// What stands before the names of the files, for people to find them.
fn folder(human_files: &HumanFiles) -> String {
    let folder = human_files.folder.as_ref().filter(|folder| !folder.is_empty());
    folder.map(|folder| alloc::format!("{folder}/")).unwrap_or_default()
}

/// A human was asked about weakened checks and has not said: what was undone since needs no answer.
fn still_weakened(state: &mut RunState, out: &mut StepOutput) -> Option<Phase> {
    let open = state.open_tamper();
    if open.is_empty() {
        out.order(Effect::RemoveDecide);
        return None;
    }
    let list: Vec<String> =
        open.iter().take(10).map(|one| alloc::format!("- {}", one.words())).collect();
    let why = alloc::format!(
        "Still weakened, and not accepted:\n{}\nPut it back with `flyball restore tamper`, or say \
         that it is meant with `flyball accept tamper`, and run again.",
        list.join("\n")
    );
    state.tamper.asked_before = true;
    Some(finish::end(Outcome::Decide, why, state, out))
}

/// Weakened checks that an earlier run left are told before the agent begins.
fn tell_weakened(state: &mut RunState, out: &mut StepOutput) {
    if !state.open_tamper().is_empty() {
        let event = verifying::blocking_event(state, &[]);
        state.briefing.blocked(&event, &state.policy.gates);
        tamper::tell(state, out);
    }
}

fn first_look(state: &mut RunState, out: &mut StepOutput) -> Phase {
    if state.gates.names.is_empty() {
        out.announce(Notice::NothingChecks);
        tamper::keep(state, out);
        if verifying::done_before_it_began(state) {
            return finish::complete_before_it_began(state, out);
        }
        tell_weakened(state, out);
        return planning::plan(state, out);
    }
    order_baseline(state, out);
    Phase::Baselining
}

fn order_baseline(state: &RunState, out: &mut StepOutput) {
    let (iteration, tree) = (IterationNo::BASELINE, state.code.tree.clone());
    out.order(Effect::RunGates { iteration, tree, whole: true });
}

/// The gates have said how things stood before the run.
pub(super) fn baseline(
    result: &GateResult,
    weakened: &[Finding],
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    state.tamper.accustom(result);
    state.take_verdict(result, weakened);
    state.code.start.take_gates(result);
    let meters = state.ring.meters;
    state.ring = IterationRing::with_baseline(result.score());
    state.ring.meters = meters;
    state.ring.findings.saw(result);
    if !result.is_green() {
        let gates = result.red().map(|check| check.gate.to_string()).collect();
        out.announce(Notice::BeginsRed { gates });
    }
    tamper::keep(state, out);
    if verifying::done_before_it_began(state) {
        return finish::complete_before_it_began(state, out);
    }
    if state.green() == Some(false) {
        state.briefing.begins_red(result, &state.policy.gates);
    }
    tell_weakened(state, out);
    planning::plan(state, out)
}

/// flyball died and goes on: every phase gives its standing order again.
pub(super) fn resume(
    phase: Phase,
    resume: &Resume,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    state.take_policy(resume.policy.clone());
    state.tamper.accepted.extend(resume.human_files.accepted_tamper.iter().cloned());
    let answer = answer(&resume.human_files);
    // One that is already on its way is not a second one: the iteration it was given to may still
    // be waiting for its gates.
    if answer
        .as_ref()
        .is_some_and(|new| !state.human.answer.as_ref().is_some_and(|old| old.says(new)))
    {
        state.human.answer = answer;
    }
    match phase {
        Phase::Baselining => {
            order_baseline(state, out);
            Phase::Baselining
        }
        Phase::Iterating(session) => lost(*session, state, out),
        Phase::Stopping(stop) => lost(stop.session, state, out),
        Phase::Inspecting(mut closed) => {
            forget_human(&mut closed);
            let iteration = closed.session.iteration;
            out.order(Effect::SnapshotWorktree { iteration });
            super::iterating::set_runtime_timer(&closed.session, state, out);
            Phase::Inspecting(closed)
        }
        Phase::Gating(mut closed) => {
            forget_human(&mut closed);
            let tree = state.code.tree.clone();
            let whole = super::inspecting::may_be_complete(&closed, state);
            out.order(Effect::RunGates { iteration: closed.session.iteration, tree, whole });
            Phase::Gating(closed)
        }
        Phase::Waiting(wait) => {
            let (timer, iteration, at) = (crate::event::Timer::Wait, wait.iteration, wait.until);
            out.order(Effect::SetTimer { timer, iteration, at });
            out.announce(Notice::Waiting { until: wait.until, message: wait.message.clone() });
            Phase::Waiting(wait)
        }
        Phase::Finished(finished) => {
            // The end of a run that flyball could not finish was decided all the same: it is only
            // written down. A failure of flyball itself is no end: there may be room on the disk now.
            let is_undone = !resume.closed && finished.ending.outcome != Outcome::Fault;
            if finished.ending.outcome.is_success() || is_undone {
                out.effects.extend(finished.orders.iter().cloned());
                return Phase::Finished(finished);
            }
            // The run had ended and a human wants it to go on: with more budget, or unblocked.
            taken_anew(resume, state);
            match waiting_human(&resume.human_files, state, out) {
                Some(phase) => phase,
                None => reopen(&finished.ending, state, out),
            }
        }
    }
}

/// What people changed since a run ended is taken as it is.
fn taken_anew(resume: &Resume, state: &mut RunState) {
    if let Some(Ok(Some(board))) = resume.tasks.as_ref().map(read_tasks) {
        state.tasks = Some(board);
    }
    if let Some(sight) = &resume.tamper {
        state.tamper.look(sight);
    }
}

/// A run that was stopped, not one that crashed: the human who asked then asks differently now.
/// The agent did not die of itself either, so its iteration is lost rather than failed.
fn forget_human(closed: &mut Closed) {
    if matches!(closed.end, End::Human(_)) {
        closed.end = End::Own;
        closed.exit.how = ExitHow::Lost;
    }
}

/// A human's word to go on. What guards counted is forgiven, so that the agent starts at least once
/// more and is told what happened; what was used up stays used up.
fn reopen(ending: &Ending, state: &mut RunState, out: &mut StepOutput) -> Phase {
    for task in state.task_ring.bring_back() {
        out.order(Effect::MarkTask { task, standing: Standing::Open });
    }
    state.human.stops_after_iteration = false;
    state.aside.held.clear();
    state.aside.left.clear();
    state.stuck.progressed();
    state.ring.forgive();
    state.crew.rescues.clear();
    state.waits.over();
    state.briefing.goes_on(ending);
    planning::plan(state, out)
}

fn lost(mut session: SessionState, state: &mut RunState, out: &mut StepOutput) -> Phase {
    human::lost(&mut session, state, out);
    let iteration = session.iteration;
    out.order(Effect::SnapshotWorktree { iteration });
    let exit =
        Exit { how: ExitHow::Lost, claims: ClaimReading::default(), last_words: String::new() };
    Phase::Inspecting(Box::new(Closed {
        session,
        end: End::Own,
        exit,
        ended: out.at,
        snapshot: None,
        violations: Vec::new(),
        newly_done: Vec::new(),
        handed_on: false,
    }))
}
