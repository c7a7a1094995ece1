//! Events and decisions become lines here, and nowhere else.

mod calls;
mod facts;
mod gates;
mod human;
mod notices;

use flyball_core::door::{DoorQuestion, Matter};
use flyball_core::effect::{Effect, Ending, Force, IterationReport, IterationResult, Notice};
use flyball_core::event::{Commit, StopCause, WorktreeSnapshot};
use flyball_core::gate::Finding;
use flyball_core::governor::RunStanding;
use flyball_core::guard::Trip;
use flyball_core::stop::StopVerdict;
use flyball_core::{AgentFact, Event, IterationNo, Moment};

use self::calls::Calls;
use super::call_words::call_words;
use super::echo::{Echoes, Heard};
use super::line::{Line, Severity, Speaker, Verb, Weight};
use super::live::Live;
use super::speech::Speech;
use super::words;
use crate::client::AgentNote;
use crate::gate::{GateProgress, why_known};

/// What stands for a client's repetition of what it was told.
const REPEATED: &str = "(the client repeats what it was told)";

/// Tells a run. Knows only what the lines of one event need from those before.
#[derive(Debug, Default)]
pub struct Narrator {
    /// The iteration at hand, or the last one.
    iteration: Option<IterationNo>,
    /// How many commits were seen after it.
    commits: usize,
    /// Weakened tests or gates that were told already.
    tamper: Vec<String>,
    /// How the run ended, until it is told or goes on.
    ending: Option<(Moment, Ending)>,
    /// The repository, from which paths are seen.
    root: String,
    /// What the agent says, as it comes.
    speech: Speech,
    /// What the agent was told.
    echoes: Echoes,
    /// The calls that were told.
    calls: Calls,
    /// How it stands right now.
    live: Live,
}

impl Narrator {
    /// Tells a run in this repository.
    pub fn of(root: &str) -> Self {
        Self { root: root.to_owned(), ..Self::default() }
    }

    /// Tells a fact.
    pub fn happened(&mut self, at: Moment, event: &Event) -> Vec<Line> {
        match event {
            // Told with what only its row knows: `Opening`.
            Event::RunStarted(_) | Event::TimerFired { .. } | Event::TimePassed => Vec::new(),
            Event::RunResumed(_) => {
                let mut lines = self.ended_before();
                let text = "going on where it was";
                lines.push(Line::new(at, Verb::Resume, Severity::Turn, text));
                lines
            }
            Event::Agent { iteration, fact } => self.agent(at, *iteration, fact),
            Event::WorktreeSeen { iteration, snapshot } => {
                self.commits = snapshot.commits.len();
                seen(at, *iteration, snapshot)
            }
            Event::GatesFinished { iteration, result, tamper } => {
                self.live.no_gates();
                let line = |check| gates::told(at, check, "").of(*iteration);
                let mut lines: Vec<Line> = result.checks.iter().map(line).collect();
                lines.extend(self.weakened(at, tamper).map(|line| line.of(*iteration)));
                lines
            }
            Event::StopRequested { cause } => {
                let line = Line::new(at, Verb::Stop, Severity::Warn, stop_words(*cause));
                vec![line.of(self.iteration).said_by(Speaker::Human)]
            }
            Event::HumanAsked { wish, .. } => vec![human::asked(at, wish, self.iteration)],
            Event::StateReplaced { why } => {
                vec![Line::new(at, Verb::Tamper, Severity::Bad, why).of(self.iteration)]
            }
            Event::ShellFailed { why } => {
                vec![Line::new(at, Verb::Fault, Severity::Bad, why).of(self.iteration)]
            }
        }
    }

    /// Tells a decision.
    pub fn decided(&mut self, at: Moment, effect: &Effect) -> Vec<Line> {
        match effect {
            Effect::StartAgent { iteration, mode, task, briefing, .. } => {
                self.iteration = Some(*iteration);
                self.live.forget();
                let task = task.as_ref().map(|t| format!(" · {t}")).unwrap_or_default();
                let told = if briefing.is_empty() { "" } else { " · with a briefing" };
                let text = format!("{}{task}{told}", mode.as_str());
                vec![Line::new(at, Verb::Start, Severity::Turn, text).of(*iteration)]
            }
            Effect::StopAgent { iteration, force } => {
                let text = match force {
                    Force::Interrupt => "interrupting the agent",
                    Force::Terminate => "terminating the agent",
                    Force::Kill => "killing the agent",
                };
                vec![Line::new(at, Verb::Stop, Severity::Warn, text).of(*iteration)]
            }
            Effect::Announce(notice) => {
                let mut lines: Vec<Line> = self.asked_for(at, notice).into_iter().collect();
                lines.extend(notices::told(at, notice, self.iteration));
                lines
            }
            Effect::AnswerDoor { answer, .. } => {
                self.echoes.tell(&answer.message);
                Vec::new()
            }
            Effect::AnswerStop { verdict: StopVerdict::Refuse { reason, summary, .. }, .. } => {
                self.echoes.tell(reason);
                self.echoes.tell(summary);
                Vec::new()
            }
            Effect::CloseIteration(report) => vec![self.closed(at, report)],
            Effect::FinishRun(ending) => {
                self.ending = Some((at, ending.clone()));
                Vec::new()
            }
            Effect::SteerAgent { .. }
            | Effect::AnswerHuman { .. }
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
            | Effect::KeepTamper { .. } => Vec::new(),
        }
    }

    /// Tells a gate that ended just now; those that only begin are not told.
    pub fn gate(&mut self, at: Moment, progress: &GateProgress) -> Option<Line> {
        self.live.gate(at, progress);
        let (check, note) = match progress {
            GateProgress::Started { .. } => return None,
            GateProgress::Finished(check) => (check, String::new()),
            GateProgress::Cached(check) => (check, format!(" ({})", why_known(check))),
        };
        Some(gates::told(at, check, &note).of(self.iteration))
    }

    /// Tells what the agent says, and what its client says beside the facts, as far as it is worth
    /// a line.
    pub fn aside(&mut self, at: Moment, iteration: IterationNo, aside: &AgentNote) -> Vec<Line> {
        self.live.hears(at);
        let text = match aside {
            AgentNote::Retrying(text) | AgentNote::OwnLimit(text) | AgentNote::Failed(text) => {
                text.clone()
            }
            AgentNote::StopForced(text) => {
                format!("the client let it stop against the gate: {text}")
            }
            AgentNote::Said(piece) => return self.speech.said(at, iteration, piece),
            // The guard that refused it has said so.
            AgentNote::StopRefused(_) => return self.speech.ends(at, iteration),
            AgentNote::Session(_) | AgentNote::Model(_) | AgentNote::Unknown(_) => {
                return Vec::new();
            }
        };
        let mut lines = self.speech.ends(at, iteration);
        if self.echoes.hear(&text) == Heard::New {
            lines.push(Line::new(at, Verb::Agent, Severity::Warn, text).of(iteration));
        }
        lines
    }

    /// Tells what the agent's program prints on standard error. What it only repeats of what it was
    /// told is folded.
    pub fn stderr(&mut self, at: Moment, bytes: &[u8]) -> Vec<Line> {
        self.live.hears(at);
        let spoken = self.speech.errors(at, self.iteration.unwrap_or_default(), bytes);
        self.folded(spoken)
    }

    /// Somebody else is about to be told: what the agent had begun to say is a line of its own.
    pub fn pause(&mut self, at: Moment) -> Vec<Line> {
        if self.speech.is_quiet() {
            return Vec::new();
        }
        let spoken = self.speech.ends(at, self.iteration.unwrap_or_default());
        self.folded(spoken)
    }

    /// Time has passed: what the agent had begun to say, when it does not go on.
    pub fn waited(&mut self, at: Moment) -> Vec<Line> {
        let spoken = self.speech.waited(at, self.iteration.unwrap_or_default());
        self.folded(spoken)
    }

    /// How the run stands right now, in parts, the most wanted first.
    pub fn live(&mut self, now: Moment, standing: &RunStanding<'_>) -> Vec<String> {
        self.live.parts(now, standing)
    }

    /// What is being done right now, and for how long.
    pub fn doing(&mut self, now: Moment, standing: &RunStanding<'_>) -> Vec<String> {
        self.live.doing(now, standing)
    }

    fn folded(&mut self, spoken: Vec<Line>) -> Vec<Line> {
        let mut lines = Vec::with_capacity(spoken.len());
        for mut line in spoken {
            if line.verb == Verb::Stderr {
                match self.echoes.hear(&line.text) {
                    Heard::New => {}
                    Heard::Repeated => REPEATED.clone_into(&mut line.text),
                    Heard::Again => continue,
                }
            }
            lines.push(line);
        }
        lines
    }

    /// Tells a fact about the agent.
    fn agent(&mut self, at: Moment, iteration: IterationNo, fact: &AgentFact) -> Vec<Line> {
        // A message ends where something else begins; what is only counted is nothing else.
        let is_counted =
            matches!(fact, AgentFact::ShowedLife | AgentFact::Printed { .. } | AgentFact::Spent(_));
        let mut lines = if is_counted { Vec::new() } else { self.pause(at) };
        self.calls.asks(None);
        let line = if let AgentFact::CalledTool(call) = fact {
            let words = call_words(&call.tool, &call.preview, &self.root);
            self.live.hears(at);
            self.live.calls(call.id.as_str(), &words);
            // A call that was refused before the stream showed it stands there already.
            self.calls.shows(call).then(|| facts::call(at, &words))
        } else if let AgentFact::Asked(DoorQuestion { matter: Matter::Call(call), .. }) = fact {
            self.calls.asks(Some(call));
            let words = call_words(&call.tool, &call.preview, &self.root);
            Some(facts::may_run(at, &words))
        } else if let AgentFact::ToolReturned(result) = fact {
            self.live.hears(at);
            self.live.returned(result.id.as_str());
            let heard = self.echoes.hear(&result.preview);
            Some(facts::returned(at, result, heard))
        } else {
            if matches!(fact, AgentFact::Exited(_)) {
                self.live.forget();
            }
            facts::told(at, fact)
        };
        lines.extend(line.map(|line| line.of(iteration)));
        lines
    }

    /// A guard speaks about a call it was asked about: the call is told first, once.
    fn asked_for(&mut self, at: Moment, notice: &Notice) -> Option<Line> {
        if !matches!(notice, Notice::Tripped { .. }) {
            return None;
        }
        let call = self.calls.untold()?;
        let words = call_words(&call.tool, &call.preview, &self.root);
        Some(facts::call(at, &words).of(self.iteration))
    }

    /// Tells a remark of flyball's own, or of its hooks.
    pub fn note(at: Moment, iteration: Option<IterationNo>, note: &str) -> Line {
        Line::new(at, Verb::Note, Severity::Quiet, note).of(iteration)
    }

    /// Tells how the run ended, with all that is left to say.
    pub fn ended(at: Moment, ending: &Ending) -> Vec<Line> {
        let Ending { outcome, why, also, left, next_steps, .. } = ending;
        let severity = if outcome.is_success() { Severity::Good } else { Severity::Bad };
        let text = format!("{outcome} (exit {}): {why}", outcome.exit_code());
        let mut lines = vec![Line::new(at, Verb::End, severity, text)];
        let would = |trip: &Trip| Line::new(at, Verb::Also, Severity::Warn, trip_words(trip));
        lines.extend(also.iter().map(would));
        lines.extend(left.iter().map(|one| {
            let text = format!("{} ({}): {}", one.task, one.standing.words(), one.why);
            Line::new(at, Verb::Left, Severity::Warn, text)
        }));
        let next = |step: &String| Line::new(at, Verb::Next, Severity::Plain, step);
        lines.extend(next_steps.iter().map(next));
        lines
    }

    /// How the run had ended before it went on; only the fact, for what was left is at hand again.
    fn ended_before(&mut self) -> Vec<Line> {
        let Some((at, ending)) = self.ending.take() else { return Vec::new() };
        Self::ended(at, &ending).into_iter().take(1).collect()
    }

    /// Weakened tests or gates, once for each set of them.
    fn weakened(&mut self, at: Moment, tamper: &[Finding]) -> Option<Line> {
        let found: Vec<String> = tamper.iter().map(|finding| finding.message.clone()).collect();
        if found == self.tamper {
            return None;
        }
        self.tamper = found;
        let first = self.tamper.first()?;
        let count = words::counted(tamper.len(), "weakened test");
        let text = format!("{count} or gate: {first}");
        Some(Line::new(at, Verb::Tamper, Severity::Bad, text))
    }

    fn closed(&self, at: Moment, report: &IterationReport) -> Line {
        let (result, severity) = result_words(report.result);
        let mut parts = vec![result];
        if let Some(commit) = &report.commit {
            let last = flyball_core::text::prefix(commit, 8);
            parts.push(match self.commits {
                0 | 1 => format!("commit {last}"),
                count => format!("{count} commits, last {last}"),
            });
        }
        if let Some(score) = report.score {
            parts.push(format!("score {score:.2}"));
        }
        if report.stuck > 0 {
            parts.push(format!("no progress ({})", report.stuck));
        }
        parts.push(report.ended.since(report.started).to_string());
        if report.cost_micro_usd > 0 {
            parts.push(words::dollars(report.cost_micro_usd));
        }
        Line::new(at, Verb::Done, severity, parts.join(" · ")).of(report.iteration)
    }
}

/// What was seen of the worktree, for those who look closely.
fn seen(at: Moment, iteration: IterationNo, snapshot: &WorktreeSnapshot) -> Vec<Line> {
    let detail = |verb, text: String| {
        let line = Line::new(at, verb, Severity::Plain, text).of(iteration);
        line.for_readers_of(Weight::Detail)
    };
    let commit = |Commit { hash, subject }: &Commit| {
        detail(Verb::Commit, format!("{} {subject}", words::short(hash)))
    };
    let mut lines: Vec<Line> = snapshot.commits.iter().map(commit).collect();
    if !snapshot.changed.is_empty() {
        lines.push(detail(Verb::Changed, snapshot.changed.join(", ")));
    }
    lines
}

/// How an iteration ended, in words.
pub(super) fn result_words(result: IterationResult) -> (String, Severity) {
    match result {
        IterationResult::Passed => ("passed".to_owned(), Severity::Good),
        IterationResult::Unchecked => ("unchecked".to_owned(), Severity::Warn),
        IterationResult::Red => ("red".to_owned(), Severity::Bad),
        IterationResult::Improved => ("red, but better".to_owned(), Severity::Warn),
        IterationResult::Halted(outcome) => (format!("halted, {outcome}"), Severity::Bad),
        IterationResult::Died => ("the agent died".to_owned(), Severity::Bad),
        IterationResult::Lost => ("lost with flyball".to_owned(), Severity::Bad),
        IterationResult::Cut(outcome) => (format!("cut short, {outcome}"), Severity::Bad),
    }
}

/// A guard's finding.
fn trip_words(trip: &Trip) -> String {
    format!("{}: {}", trip.guard, trip.evidence)
}

const fn stop_words(cause: StopCause) -> &'static str {
    match cause {
        StopCause::Interrupt => "interrupted from the keyboard",
        StopCause::Terminate => "asked to end by a signal",
        StopCause::Command => "asked to end by `flyball stop`",
    }
}
