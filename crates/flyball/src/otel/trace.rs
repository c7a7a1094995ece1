//! A run's events, and what was decided on them, as spans: the run, its iterations, their calls and
//! their gates. Model calls are not among them: flyball does not see those, and invents none.

mod closing;

use std::collections::BTreeMap;
use std::mem::take;

use flyball_core::call::{ToolCall, ToolOutcome, ToolResult};
use flyball_core::effect::Notice;
use flyball_core::event::{Spend, StopCause};
use flyball_core::gate::{CheckStatus, GateResult};
use flyball_core::guard::{Rung, Trip};
use flyball_core::human::HumanWish;
use flyball_core::{AgentFact, CallId, Effect, Event, IterationNo, Millis, Moment};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;

use super::attribute::{Attributes, content, count, flag, message, text};
use super::ids::Ids;
use super::metrics::Meter;
use super::names;
use super::spans::OpenSpan;
use crate::journal::{Recorded, RunSummary};
use crate::run_record::model_of;
use crate::stats::agent_label;
use crate::view::{Builder, words};

/// Calls that may be unanswered at a time; further ones are not followed.
const CALLS_MAX: usize = 1_000;

/// A run as spans, event by event.
#[derive(Debug)]
pub(super) struct Trace {
    ids: Ids,
    row: RunSummary,
    model: Option<String>,
    with_content: bool,
    builder: Builder,
    meter: Meter,
    agents: Vec<String>,
    root: Option<OpenSpan>,
    /// When the run ended, and as what; none while it goes on.
    ended: Option<(Moment, Option<&'static str>)>,
    iteration: Option<OpenIteration>,
    calls: BTreeMap<CallId, OpenSpan>,
    /// When gates were ordered last.
    ordered: Option<Moment>,
    closed: Vec<Span>,
}

#[derive(Debug)]
struct OpenIteration {
    number: IterationNo,
    span: OpenSpan,
    agent: String,
    spent: Spend,
    /// When its agent was gone.
    exited: Option<Moment>,
}

impl Trace {
    /// Nothing has happened yet.
    #[expect(clippy::fn_params_excessive_bools, reason = "a setting")]
    pub(super) fn new(run: &RunSummary, with_content: bool) -> Self {
        Self {
            ids: Ids::of(&run.run),
            row: run.clone(),
            model: model_of(&run.run),
            with_content,
            builder: Builder::new(run),
            meter: Meter::new(run),
            agents: Vec::new(),
            root: None,
            ended: None,
            iteration: None,
            calls: BTreeMap::new(),
            ordered: None,
            closed: Vec::new(),
        }
    }

    /// The next event.
    pub(super) fn step(&mut self, recorded: &Recorded) {
        let Recorded { seq, at, event } = recorded;
        self.meter.happened(event);
        self.happened(*seq, *at, event);
        for effect in self.builder.step(*at, event) {
            self.meter.decided(&effect);
            self.decided(*at, &effect);
        }
    }

    /// What is over since the last time.
    pub(super) fn take_closed(&mut self) -> Vec<Span> {
        take(&mut self.closed)
    }

    /// How many iterations are over.
    pub(super) const fn iterations(&self) -> u64 {
        self.meter.iterations()
    }

    /// The run in figures, as it stands.
    pub(super) fn metrics(&self, run: &RunSummary) -> Vec<Metric> {
        self.meter.metrics(&self.builder.view(run))
    }

    /// Its process is gone, and nobody said how it ended: what is open ends with its last event.
    pub(super) fn lost(&mut self, at: Moment) {
        if self.ended.is_some() {
            return;
        }
        self.close_calls(at);
        self.ended = Some((at, Some(names::LOST)));
    }

    /// What ends with the run, once it has: an iteration that was under way, and the run's own span, the
    /// last of all. Both are kept, for it may be taken up again.
    pub(super) fn take_rest(&mut self) -> Vec<Span> {
        let Some((at, error)) = self.ended.take() else { return Vec::new() };
        let iteration = self.iteration.as_ref().map(|open| open.span.clone());
        let open = iteration.into_iter().chain(self.root.clone());
        open.map(|span| span.closed(self.ids.trace(), at, error)).collect()
    }

    fn close(&mut self, span: OpenSpan, at: Moment, error: Option<&str>) {
        self.closed.push(span.closed(self.ids.trace(), at, error));
    }

    /// Something happened in the iteration under way, or else in the run.
    fn note(&mut self, at: Moment, name: &str, attributes: Attributes) {
        let iteration = self.iteration.as_mut().map(|open| &mut open.span);
        if let Some(span) = iteration.or(self.root.as_mut()) {
            span.happened(at, name, attributes);
        }
    }

    fn happened(&mut self, seq: u64, at: Moment, event: &Event) {
        match event {
            Event::RunStarted(start) => {
                self.agents.clone_from(&start.agent_names);
                self.begin(at);
            }
            Event::RunResumed(_) => {
                self.ended = None;
                self.note(at, names::ACT, vec![text(names::ACT, "resume")]);
            }
            Event::Agent { iteration, fact } => self.fact(seq, at, (*iteration, fact)),
            Event::GatesFinished { iteration, result, .. } => {
                self.gates(seq, at, (*iteration, result));
            }
            Event::StopRequested { cause } => {
                let act = match cause {
                    StopCause::Interrupt => "interrupt",
                    StopCause::Terminate => "terminate",
                    StopCause::Command => "stop",
                };
                self.note(at, names::ACT, vec![text(names::ACT, act)]);
            }
            Event::HumanAsked { wish, .. } => {
                let act = match wish {
                    HumanWish::Tell { .. } => "tell",
                    HumanWish::ChangeLimits { .. } => "limits",
                    HumanWish::StopAfterIteration => "stop after iteration",
                };
                self.note(at, names::ACT, vec![text(names::ACT, act)]);
            }
            Event::WorktreeSeen { .. }
            | Event::TimerFired { .. }
            | Event::TimePassed
            | Event::StateReplaced { .. }
            | Event::ShellFailed { .. } => {}
        }
    }

    fn begin(&mut self, at: Moment) {
        let project = self.row.root.file_name().unwrap_or(self.row.root.as_os_str());
        let name = format!("{} {}", names::INVOKE_WORKFLOW, names::SCOPE);
        let root = OpenSpan::new((self.ids.root(), Vec::new()), name, at).with([
            text(names::OPERATION, names::INVOKE_WORKFLOW),
            text(names::WORKFLOW, names::SCOPE),
            text(names::RUN, self.row.run.as_str()),
            text(names::PROJECT, &project.to_string_lossy()),
        ]);
        self.root = Some(root);
    }

    fn fact(&mut self, seq: u64, at: Moment, (iteration, fact): (IterationNo, &AgentFact)) {
        if let AgentFact::CalledTool(call) = fact {
            self.called(seq, at, (iteration, call));
        } else if let AgentFact::ToolReturned(result) = fact {
            self.returned(at, result);
        } else if let AgentFact::StopExamined(examined) = fact
            && let Some(result) = &examined.gates
        {
            self.gates(seq, at, (iteration, result));
        }
        let Some(open) = self.iteration.as_mut().filter(|open| open.number == iteration) else {
            return;
        };
        if let AgentFact::Spent(spend) = fact {
            let sum = &mut open.spent;
            sum.input_tokens = sum.input_tokens.saturating_add(spend.input_tokens);
            sum.output_tokens = sum.output_tokens.saturating_add(spend.output_tokens);
        } else if let AgentFact::Exited(_) = fact {
            open.exited = Some(at);
        }
    }

    fn called(&mut self, seq: u64, at: Moment, (iteration, call): (IterationNo, &ToolCall)) {
        // What is late, or has no end, is nobody's call.
        let is_open = self.iteration.as_ref().is_some_and(|open| open.number == iteration);
        if !is_open || self.calls.len() >= CALLS_MAX {
            return;
        }
        let tool = words::line(&call.tool, 100);
        let place = (self.ids.span("call", seq, 0), self.ids.iteration(iteration));
        let name = format!("{} {tool}", names::EXECUTE_TOOL);
        let mut span = OpenSpan::new(place, name, at).with([
            text(names::OPERATION, names::EXECUTE_TOOL),
            text(names::TOOL, &tool),
            text(names::TOOL_CALL, call.id.as_str()),
            text(names::TOOL_TYPE, "function"),
        ]);
        if self.with_content && !call.preview.is_empty() {
            span.attributes.push(content(names::TOOL_ARGUMENTS, &call.preview));
        }
        self.calls.insert(call.id.clone(), span);
    }

    fn returned(&mut self, at: Moment, result: &ToolResult) {
        let Some(mut span) = self.calls.remove(&result.id) else { return };
        if self.with_content && !result.preview.is_empty() {
            span.attributes.push(content(names::TOOL_RESULT, &result.preview));
        }
        let error = match result.outcome {
            ToolOutcome::Ok => None,
            ToolOutcome::Exit => Some("exit"),
            ToolOutcome::Tool => Some("tool"),
            ToolOutcome::Refused => Some(names::REFUSED),
        };
        self.close(span, at, error);
    }

    /// Calls nobody answered end with their session.
    fn close_calls(&mut self, at: Moment) {
        for mut span in take(&mut self.calls).into_values() {
            span.attributes.push(flag(names::ANSWERED, false));
            self.close(span, at, None);
        }
    }

    /// A span for each gate that ran. The journal knows how long each took and when all were done: one
    /// after the other where that fits, else side by side. What took longer than there was time for was
    /// found, not run.
    fn gates(&mut self, seq: u64, at: Moment, (iteration, result): (IterationNo, &GateResult)) {
        let time = self.ordered.take().map(|ordered| at.since(ordered));
        let is_cached = |took: Millis| time.is_some_and(|time| took > time);
        let ran = result.checks.iter().map(|check| check.duration);
        let sum = ran.filter(|took| !is_cached(*took)).fold(Millis::ZERO, Millis::plus);
        let in_a_row = time.is_some_and(|time| sum <= time);
        let mut ended = at;
        for (part, check) in (0..).zip(result.checks.iter().rev()) {
            if matches!(check.status, CheckStatus::Skipped { .. }) {
                continue;
            }
            let cached = is_cached(check.duration);
            let began = if cached { ended } else { ended.minus(check.duration) };
            let place = (self.ids.span("gate", seq, part), self.ids.iteration(iteration));
            let gate = words::line(check.gate.as_str(), 100);
            let mut span = OpenSpan::new(place, format!("gate {gate}"), began).with([
                text(names::GATE, &gate),
                text(names::GATE_STATUS, check.status.as_str()),
                flag(names::GATE_CACHED, cached),
                text(names::GATE_TREE, &result.tree),
            ]);
            if let Some(counts) = check.counts {
                span.attributes.push(count(names::GATE_PASSED, counts.passed));
                span.attributes.push(count(names::GATE_FAILED, counts.failed));
            }
            let error = check.status.is_red().then_some(check.status.as_str());
            self.close(span, ended, error);
            if in_a_row {
                ended = began;
            }
        }
    }

    fn decided(&mut self, at: Moment, effect: &Effect) {
        if let Effect::StartAgent { iteration, mode, task, briefing, agent } = effect {
            // One that goes on after a wait is the same.
            if self.iteration.as_ref().is_some_and(|open| open.number == *iteration) {
                return;
            }
            let at_place = usize::try_from(*agent).unwrap_or(usize::MAX);
            let agent = self.agents.get(at_place).unwrap_or(&self.row.agent);
            let agent = agent_label(agent);
            let place = (self.ids.iteration(*iteration), self.ids.root());
            let name = format!("{} {agent}", names::INVOKE_AGENT);
            let mut span = OpenSpan::new(place, name, at).with([
                text(names::OPERATION, names::INVOKE_AGENT),
                text(names::AGENT, &agent),
                count(names::ITERATION, u64::from(iteration.get())),
                text(names::MODE, mode.as_str()),
            ]);
            let task = task.as_ref().map(|task| text(names::TASK, task.as_str()));
            let provider = names::provider(&agent).map(|name| text(names::PROVIDER, name));
            let model = self.model.as_ref().map(|model| text(names::MODEL, model));
            span.attributes.extend(task.into_iter().chain(provider).chain(model));
            if self.with_content && !briefing.is_empty() {
                span.attributes.push(message(names::INPUT_MESSAGES, "user", briefing));
            }
            let (number, spent) = (*iteration, Spend::default());
            self.iteration = Some(OpenIteration { number, span, agent, spent, exited: None });
        } else if let Effect::RunGates { .. } | Effect::ExamineStop { .. } = effect {
            self.ordered = Some(at);
        } else if let Effect::Announce(notice) = effect {
            self.announced(at, notice);
        } else if let Effect::CloseIteration(report) = effect {
            self.close_iteration(at, report);
        } else if let Effect::FinishRun(ending) = effect {
            self.finish(at, ending);
        }
    }

    fn announced(&mut self, at: Moment, notice: &Notice) {
        if let Notice::Tripped { trip, rung } = notice
            && *rung != Rung::Pass
        {
            let attributes = self.trip(trip, *rung);
            self.note(at, names::GUARD, attributes);
        } else if let Notice::Waiting { until, .. } = notice {
            self.note(at, names::WAIT, vec![count(names::UNTIL, until.as_millis())]);
        }
    }

    /// The evidence quotes arguments: it goes where those go.
    fn trip(&self, trip: &Trip, rung: Rung) -> Attributes {
        let mut attributes = vec![
            text(names::GUARD, trip.guard.as_str()),
            text(names::RUNG, crate::stats::rung_word(rung)),
            count(names::MEASURED, trip.measured),
            count(names::ALLOWED, trip.allowed),
        ];
        if self.with_content {
            attributes.push(content(names::EVIDENCE, &trip.evidence));
        }
        attributes
    }
}
