//! What the governor knows of a run, whatever phase it is in.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::briefing::Briefing;
use super::crew::Crew;
use super::phase::Phase;
use super::tamper::TamperWatch;
use super::waiting::WaitMeter;
use crate::claim::Claim;
use crate::effect::{LeftTask, Tally};
use crate::event::{AgentTraits, Commit, Event, Spend};
use crate::gate::GateResult;
use crate::id::{GateName, IterationNo, RunId, TaskId};
use crate::iteration::{IterationRing, StuckMeter};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::resource::Resource;
use crate::starting_point::StartingPoint;
use crate::task::{AttemptReports, TaskRing};
use crate::tasklist::TaskList;

/// The task list as flyball holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskBoard {
    pub(super) text: String,
    pub(super) list: TaskList,
}

/// A claim held back because other tasks can still be worked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) iteration: IterationNo,
    pub(super) task: Option<TaskId>,
    pub(super) claim: Claim,
}

/// A human's answer on its way to the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) question: String,
    pub(super) text: String,
    /// The iteration it was given to.
    pub(super) given_to: Option<IterationNo>,
}

impl Answer {
    /// Whether both are the same answer to the same question.
    pub(super) fn says(&self, other: &Self) -> bool {
        (&self.question, &self.text) == (&other.question, &other.text)
    }
}

/// What the governor knows of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RunState {
    pub(super) run: RunId,
    /// The policy that was given.
    pub(super) given_policy: Policy,
    /// The policy while this agent is at work.
    pub(super) policy: Policy,
    pub(super) gates: GateRecord,
    pub(super) crew: Crew,
    pub(super) tasks: Option<TaskBoard>,
    /// What was asked for on the command line, in place of a task list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<String>,
    pub(super) code: CodeRecord,
    pub(super) tamper: TamperWatch,
    pub(super) ring: IterationRing,
    pub(super) task_ring: TaskRing,
    pub(super) stuck: StuckMeter,
    pub(super) waits: WaitMeter,
    pub(super) briefing: Briefing,
    pub(super) human: HumanWord,
    pub(super) aside: SetAside,
    pub(super) last: LastIteration,
    pub(super) entries: u32,
    pub(super) mark: Moment,
}

/// The gates there are, and what they said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct GateRecord {
    pub(super) names: Vec<GateName>,
    /// Their last word.
    pub(super) now: Option<GateResult>,
    /// The word before it.
    pub(super) before: Option<GateResult>,
    /// Whether the last word was only about what was touched, and not about everything.
    pub(super) is_partial: bool,
    /// Checks that were of both colours on one tree.
    pub(super) flaky: BTreeMap<GateName, String>,
}

/// The code as it was at the start, and as it was when it was last looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CodeRecord {
    pub(super) start: StartingPoint,
    pub(super) head: Option<String>,
    pub(super) tree: String,
}

/// What a human said that has not been done yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HumanWord {
    pub(super) answer: Option<Answer>,
    /// No further iteration is wanted.
    pub(super) stops_after_iteration: bool,
}

/// What was set aside because there is other work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SetAside {
    pub(super) held: Vec<Held>,
    pub(super) left: Vec<LeftTask>,
}

/// What the iterations so far leave for the next one to be judged by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LastIteration {
    pub(super) task: Option<TaskId>,
    /// The task whose completions were refused in a row.
    pub(super) refused_task: Option<TaskId>,
    /// Iterations in a row that ended with a malformed claim and without progress (A4).
    pub(super) malformed_claims: u32,
    /// Tasks attempted, to be looked at before the next iteration.
    pub(super) attempted: BTreeSet<TaskId>,
    /// What sessions cut short by a limit left behind, for the iteration that goes on.
    pub(super) carried: Carried,
    /// Resources that ran out.
    pub(super) exhausted: BTreeSet<Resource>,
}

/// What sessions cut short by a limit left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Carried {
    pub(super) commits: Vec<Commit>,
    pub(super) changed: Vec<String>,
    #[serde(default)]
    pub(super) reports: AttemptReports,
}

impl RunState {
    /// What is known of the agent of the session at hand.
    pub(super) fn traits(&self) -> AgentTraits {
        self.crew.traits().unwrap_or_default()
    }

    /// This agent has the next session, and its policy comes with it.
    pub(super) fn take_agent(&mut self, agent: u32) {
        self.crew.in_session = agent;
        self.policy = self.given_policy.for_agent(&self.traits());
    }

    /// The agent at work used something.
    pub(super) fn spend(&mut self, spend: Spend) {
        self.ring.meters.spend(spend);
        self.crew.spend(spend);
    }

    /// Another policy is given.
    pub(super) fn take_policy(&mut self, policy: Policy) {
        self.policy = policy.for_agent(&self.traits());
        self.given_policy = policy;
    }

    /// Adds the time since the last event to the runtime, unless nobody was alive or working.
    pub(super) fn pass_time(&mut self, at: Moment, event: &Event, phase: &Phase) {
        let counts = match phase {
            Phase::Waiting(_) | Phase::Finished(_) => false,
            Phase::Baselining
            | Phase::Iterating(_)
            | Phase::Stopping(_)
            | Phase::Inspecting(_)
            | Phase::Gating(_) => !matches!(event, Event::RunResumed(_)),
        };
        if counts {
            let passed = at.since(self.mark);
            self.ring.meters.runtime = self.ring.meters.runtime.plus(passed);
        }
        self.mark = self.mark.max(at);
    }

    /// Whether the agent at work can be told something at any time.
    pub(super) fn can_push(&self) -> bool {
        self.traits().steerable
    }

    /// Whether the gates let a completion through on the tree they last ran on; none without gates.
    pub(super) fn green(&self) -> Option<bool> {
        if self.gates.names.is_empty() {
            return None;
        }
        let Some(verdict) = &self.gates.now else { return Some(false) };
        Some(self.code.start.accepts(self.policy.gates.baseline, verdict))
    }

    /// The numbers so far.
    pub(super) fn tally(&self) -> Tally {
        let (stories_complete, stories_total) = self.stories();
        Tally {
            iterations: self.ring.meters.iterations,
            stuck_iterations: self.stuck.total(),
            runtime_ms: self.ring.meters.runtime.get(),
            stories_complete,
            stories_total,
            tokens: self.ring.meters.tokens,
            cost_micro_usd: self.ring.meters.cost_micro_usd,
        }
    }

    /// Stories passed, and stories in all.
    pub(super) fn stories(&self) -> (u32, u32) {
        self.tasks.as_ref().map_or((0, 0), |tasks| tasks.list.counts(&self.policy.review))
    }

    /// Whether there are stories and none is open.
    pub(super) fn all_done(&self) -> bool {
        let has_stories = self.tasks.as_ref().is_some_and(|board| !board.list.stories().is_empty());
        has_stories && self.open_stories().is_empty()
    }

    /// Stories that have not passed. One that was left has not, however it is marked.
    pub(super) fn open_stories(&self) -> Vec<&TaskId> {
        let stories = self.tasks.iter().flat_map(|board| board.list.stories());
        let open = stories.filter(|story| !story.is_done(&self.policy.review));
        open.map(|story| &story.id).collect()
    }

    /// Whether the task is a story of the list.
    pub(super) fn is_listed(&self, task: &TaskId) -> bool {
        self.tasks.as_ref().is_some_and(|board| board.list.story(task).is_some())
    }

    /// Whether this story has passed.
    pub(super) fn is_done(&self, task: &TaskId) -> bool {
        let story = self.tasks.as_ref().and_then(|board| board.list.story(task));
        story.is_some_and(|story| story.is_done(&self.policy.review))
    }

    /// The stories that have passed.
    pub(super) fn done(&self) -> Vec<TaskId> {
        let stories = self.tasks.iter().flat_map(|board| board.list.stories());
        let done = stories.filter(|story| story.is_done(&self.policy.review));
        done.map(|story| story.id.clone()).collect()
    }

    /// A task as people know it: id and title.
    pub(super) fn task_label(&self, task: &TaskId) -> String {
        let story = self.tasks.as_ref().and_then(|board| board.list.story(task));
        match story {
            Some(story) if !story.title.is_empty() => alloc::format!("{task}: {}", story.title),
            Some(_) | None => String::from(task.as_str()),
        }
    }

    /// A fresh id for a context entry.
    pub(super) fn entry_id(&mut self) -> String {
        self.entries = self.entries.saturating_add(1);
        alloc::format!("{}-{}", self.run, self.entries)
    }
}
