//! The story for people: one aligned line per thing that happened, the agent's own words between.

use flyball_core::effect::{Effect, Ending, IterationReport, IterationResult, Notice};

use flyball_core::governor::RunStanding;
use flyball_core::guard::Rung;
use flyball_core::guard::{GuardKind, Trip};
use flyball_core::{AgentFact, Event, IterationNo, Moment, RunId};

use super::status_line::StatusLine;
use super::summary::{dollars, summary_text};
use super::{Colour, Opening};
use crate::client::AgentNote;
use crate::clock;
use crate::gate::GateProgress;
use crate::telemetry::result_word;
use crate::terminal::Paint;

/// Writes lines.
#[derive(Debug)]
pub struct TextReport {
    paint: Paint,
    status: StatusLine,
    iteration: Option<IterationNo>,
}

/// Trips that come with a notice of their own, which says the same and more.
fn is_told_otherwise(guard: GuardKind, rung: Rung) -> bool {
    let has_notice = [GuardKind::ContextFill, GuardKind::TaskList, GuardKind::UsageLimit];
    has_notice.contains(&guard) && rung != Rung::Halt
}

/// That a session was charged by its size, in a line.
pub(crate) fn usage_estimated(bytes: u64, tokens: u64) -> String {
    format!("the agent told no usage; {bytes} bytes are charged as {tokens} tokens")
}

impl TextReport {
    pub(super) fn new(paint: Paint) -> Self {
        Self { paint, status: StatusLine::new(), iteration: None }
    }

    /// One line: the verb, the iteration, what happened.
    pub(super) fn line(
        &mut self,
        verb: &str,
        iteration: Option<IterationNo>,
        text: &str,
        colour: Colour,
    ) {
        let number = iteration.map_or_else(String::new, |n| format!("#{n}"));
        let padded = format!("{verb:>8}");
        let mut lines = text.lines();
        let first = lines.next().unwrap_or("");
        self.status.print_line(&format!("{}  {number:<4} {first}", colour(self.paint, &padded)));
        for line in lines {
            self.status.print_line(&format!("{:>8}  {:<4} {line}", "", ""));
        }
    }

    pub(super) fn opening(&mut self, opening: &Opening) {
        let gates = match opening.gates.as_slice() {
            [] => "no gate".to_owned(),
            gates => format!("gates {}", gates.join(", ")),
        };
        let stories = opening
            .stories
            .map_or_else(|| "no task list".to_owned(), |(d, t)| format!("{d}/{t} stories passed"));
        let permissions =
            opening.permissions.map(|words| format!(" · {words}")).unwrap_or_default();
        let (run, agent) = (&opening.run, &opening.agent);
        let text = format!("{run} · {agent}{permissions} · {gates} · {stories}");
        self.line("RUN", None, &text, Paint::cyan);
        for note in &opening.notes {
            self.line("NOTE", None, note, Paint::yellow);
        }
    }

    /// Facts that are no consequence of an order.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::RunResumed(_) => {
                self.line("RESUME", None, "going on where it was", Paint::cyan);
            }
            Event::StopRequested { .. } => {
                self.line("STOP", self.iteration, "asked to end", Paint::yellow);
            }
            Event::ShellFailed { why } => self.line("FAULT", self.iteration, why, Paint::red),
            Event::Agent { iteration, fact } => self.fact(*iteration, fact),
            Event::RunStarted(_)
            | Event::WorktreeSeen { .. }
            | Event::GatesFinished { .. }
            | Event::TimePassed
            | Event::TimerFired { .. } => {}
        }
    }

    /// Calls are shown as they come; all other facts lead to notices.
    fn fact(&mut self, iteration: IterationNo, fact: &AgentFact) {
        if let AgentFact::CalledTool(call) = fact {
            let text = format!("{} {}", call.tool, call.preview);
            self.line("CALL", Some(iteration), text.trim(), Paint::dim);
        }
    }

    fn tripped(&mut self, iteration: Option<IterationNo>, trip: &Trip, rung: Rung) {
        let (verb, colour): (&str, Colour) = match rung {
            Rung::Pass => return,
            Rung::Nudge => ("NUDGE", Paint::yellow),
            Rung::Refuse => ("REFUSE", Paint::yellow),
            Rung::Redirect => ("STEER", Paint::yellow),
            Rung::Ask => ("ASK", Paint::yellow),
            Rung::Halt => ("HALT", Paint::red),
        };
        self.line(verb, iteration, &format!("{}: {}", trip.guard, trip.evidence), colour);
    }

    pub(super) fn effect(&mut self, at: Moment, effect: &Effect) {
        match effect {
            Effect::StartAgent { iteration, mode, task, briefing, .. } => {
                self.iteration = Some(*iteration);
                let task = task.as_ref().map(|t| format!(" · {t}")).unwrap_or_default();
                let told = if briefing.is_empty() { "" } else { " · with a briefing" };
                let time = clock::rfc3339(at);
                let text = format!("{}{task}{told} · {time}", mode.as_str());
                self.line("START", Some(*iteration), &text, Paint::cyan);
            }
            Effect::StopAgent { iteration, force } => {
                let text = match force {
                    flyball_core::effect::Force::Interrupt => "interrupting the agent",
                    flyball_core::effect::Force::Terminate => "terminating the agent",
                    flyball_core::effect::Force::Kill => "killing the agent",
                };
                self.line("STOP", Some(*iteration), text, Paint::yellow);
            }
            Effect::Announce(notice) => self.notice(notice),
            Effect::CloseIteration(report) => self.closed(report),
            Effect::SteerAgent { .. }
            | Effect::AnswerDoor { .. }
            | Effect::ExamineStop { .. }
            | Effect::AnswerStop { .. }
            | Effect::SnapshotWorktree { .. }
            | Effect::RunGates { .. }
            | Effect::SetTimer { .. }
            | Effect::WriteTasks { .. }
            | Effect::WriteBlocked { .. }
            | Effect::WriteDecide { .. }
            | Effect::RemoveDecide
            | Effect::RecordAttempt(_)
            | Effect::RecordContext(_)
            | Effect::MarkTask { .. }
            | Effect::FinishRun(_) => {}
        }
    }

    fn notice(&mut self, notice: &Notice) {
        let number = self.iteration;
        match notice {
            Notice::BeginsRed { gates } => {
                let text = format!("the run begins red: {}", gates.join(", "));
                self.line("RED", None, &text, Paint::red);
            }
            Notice::NothingChecks => {
                let text =
                    "no gate is configured or detected: nothing checks this work but its task list";
                self.line("NOTE", None, text, Paint::yellow);
            }
            // A notice of its own says the same and more.
            Notice::Noticed { trip } if is_told_otherwise(trip.guard, Rung::Nudge) => {}
            Notice::Noticed { trip } => {
                let text = format!("{}: {}", trip.guard, trip.evidence);
                self.line("NOTICE", number, &text, Paint::dim);
            }
            Notice::Tripped { trip, rung } if is_told_otherwise(trip.guard, *rung) => {}
            Notice::Tripped { trip, rung } => self.tripped(number, trip, *rung),
            // The trip that comes with it has said so.
            Notice::CompletionRefused(_) => {}
            Notice::TasksRepaired { violations } => {
                for violation in violations {
                    self.line("UNDO", number, violation, Paint::yellow);
                }
            }
            Notice::Waiting { until, message } => {
                let text = format!("{message}; waiting until {}", clock::rfc3339(*until));
                self.line("WAIT", number, &text, Paint::yellow);
            }
            Notice::AgentChanged { agent, message } => {
                let text = format!("{message}; fallback agent {agent} goes on");
                self.line("STEER", number, &text, Paint::yellow);
            }
            Notice::RescueCalled(rescue) => {
                let at = rescue.task.as_ref().map(|task| format!(" at {task}")).unwrap_or_default();
                let text = format!("the rescue agent takes one iteration{at}");
                self.line("RESCUE", Some(rescue.iteration), &text, Paint::yellow);
            }
            Notice::UsageEstimated { bytes, tokens } => {
                self.line("NOTE", number, &usage_estimated(*bytes, *tokens), Paint::yellow);
            }
            Notice::TaskRevisited { task, why } => {
                let text = format!("{task} is done and is worked on again: {why}");
                self.line("ASK", number, &text, Paint::yellow);
            }
            Notice::TaskLeft { task, standing, why } => {
                let text = format!("{task} ({}): {why}", standing.words());
                self.line("LEAVE", number, &text, Paint::yellow);
            }
            Notice::AnswerDelivered => {
                self.line("ANSWER", number, "the agent is given the human's answer", Paint::cyan);
            }
            Notice::ContextFilling { percent, .. } => {
                let text = format!("{percent} % of the context window is used");
                self.line("CONTEXT", number, &text, Paint::dim);
            }
        }
    }

    fn closed(&mut self, report: &IterationReport) {
        let (verb, colour): (&str, Colour) = match report.result {
            IterationResult::Passed => ("DONE", Paint::green),
            IterationResult::Improved | IterationResult::Unchecked => ("DONE", Paint::yellow),
            IterationResult::Red
            | IterationResult::Halted(_)
            | IterationResult::Died
            | IterationResult::Lost
            | IterationResult::Cut(_) => ("DONE", Paint::red),
        };
        let mut parts = vec![result_word(report.result).to_owned()];
        if let Some(commit) = &report.commit {
            parts.push(format!("commit {}", flyball_core::text::prefix(commit, 8)));
        }
        if let Some(score) = report.score {
            parts.push(format!("score {score:.2}"));
        }
        if report.stuck > 0 {
            parts.push(format!("no progress ({})", report.stuck));
        }
        parts.push(report.ended.since(report.started).to_string());
        if report.cost_micro_usd > 0 {
            parts.push(dollars(report.cost_micro_usd));
        }
        self.line(verb, Some(report.iteration), &parts.join(" · "), colour);
    }

    pub(super) fn gate(&mut self, progress: &GateProgress) {
        let (verb, text, colour) = super::gate_words(progress);
        if let Some(text) = text {
            self.line(verb, self.iteration, &text, colour);
        }
    }

    pub(super) fn aside(&mut self, iteration: IterationNo, aside: &AgentNote) {
        match aside {
            AgentNote::Said(text) => self.status.print_said(text),
            AgentNote::Retrying(text) | AgentNote::OwnLimit(text) | AgentNote::Failed(text) => {
                self.line("AGENT", Some(iteration), text, Paint::yellow);
            }
            AgentNote::StopForced(text) => {
                let text = format!("the client let it stop against the gate: {text}");
                self.line("AGENT", Some(iteration), &text, Paint::yellow);
            }
            AgentNote::Session(_)
            | AgentNote::Model(_)
            | AgentNote::StopRefused(_)
            | AgentNote::Unknown(_) => {}
        }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.status.print_errors(bytes);
    }

    pub(super) fn tick(&mut self, at: Moment, standing: &RunStanding<'_>) {
        self.status.draw(at, standing);
    }

    pub(super) fn summary(&mut self, run: &RunId, ending: &Ending, max: u32, loop_dir: &str) {
        self.status.clear();
        for line in summary_text(run, ending, max, loop_dir).lines() {
            self.status.print_line(line);
        }
    }
}
