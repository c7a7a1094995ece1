//! A run as lines: what happened, what was decided, and how it ended.

use std::collections::BTreeMap;

use flyball_core::effect::{Ending, IterationReport, IterationResult, Notice, Rescue};

use flyball_core::event::{Commit, StopCause};
use flyball_core::guard::{GuardKind, Rung};
use flyball_core::{Effect, Event, GateName, IterationNo, Moment, Trip};

use super::super::columns::Tint;
use super::{gates, told, words};
use crate::hook::HookNote;
use crate::journal::RunSummary;
use crate::report::usage_estimated;

/// How much of an evidence or reason is shown.
const TEXT_MAX: usize = 400;

/// How much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// What a person wants to know of a run.
    WorthReading,
    /// Calls, results and commits too.
    Everything,
}

/// One line of the story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// When.
    pub(super) at: Moment,
    /// What sort of thing.
    pub(super) word: &'static str,
    /// Its colour.
    pub(super) tint: Tint,
    /// The thing.
    pub(super) text: String,
}

/// The lines so far.
#[derive(Debug)]
pub(super) struct Story {
    detail: Detail,
    lines: Vec<Line>,
    commits: BTreeMap<IterationNo, Vec<Commit>>,
}

impl Story {
    /// Nothing told yet.
    pub(super) fn new(detail: Detail) -> Self {
        Self { detail, lines: Vec::new(), commits: BTreeMap::new() }
    }

    /// Tells a fact, when it is worth it.
    pub(super) fn happened(&mut self, at: Moment, event: &Event) {
        let (word, tint, text) = match event {
            Event::RunStarted(start) => {
                let names: Vec<&str> = start.gates.iter().map(GateName::as_str).collect();
                let gates = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                ("began", Tint::Plain, format!("gates: {gates}"))
            }
            Event::RunResumed(_) => ("resumed", Tint::Plain, String::new()),
            Event::Agent { fact, .. } => match told::agent(fact, self.detail) {
                Some(line) => line,
                None => return,
            },
            Event::WorktreeSeen { iteration, snapshot } => {
                self.commits.insert(*iteration, snapshot.commits.clone());
                return self.seen(at, snapshot);
            }
            Event::GatesFinished { iteration, result, tamper } => {
                let (text, tint) = gates::told(*iteration, result, tamper);
                ("gates", tint, text)
            }
            Event::TimerFired { .. } | Event::TimePassed => return,
            Event::StopRequested { cause } => ("stop", Tint::Warn, stop_word(*cause).to_owned()),
            Event::ShellFailed { why } => ("failed", Tint::Bad, words::line(why, TEXT_MAX)),
        };
        self.lines.push(Line { at, word, tint, text });
    }

    /// Tells what is to be said of the hooks.
    pub(super) fn noted(&mut self, note: &HookNote) {
        let text = words::line(&note.note, TEXT_MAX);
        self.lines.push(Line { at: note.at, word: "hooks", tint: Tint::Warn, text });
    }

    /// Tells a decision, when it is worth it.
    pub(super) fn decided(&mut self, at: Moment, effect: &Effect) {
        let Effect::Announce(notice) = effect else { return };
        let (word, tint, text) = match notice {
            Notice::Tripped { trip, rung } => {
                let tint = if *rung == Rung::Halt { Tint::Bad } else { Tint::Warn };
                (rung_word(*rung), tint, trip_text(trip))
            }
            Notice::Noticed { trip } if trip.guard == GuardKind::ContextFill => return,
            Notice::Noticed { trip } => ("noticed", Tint::Plain, trip_text(trip)),
            Notice::TasksRepaired { violations } => ("repaired", Tint::Warn, violations.join("; ")),
            Notice::Waiting { until, message } => {
                ("waits", Tint::Warn, format!("until {} UTC: {message}", words::time(*until)))
            }
            Notice::AgentChanged { agent, message } => {
                ("switches", Tint::Warn, format!("to fallback agent {agent}: {message}"))
            }
            Notice::RescueCalled(rescue) => ("rescue", Tint::Warn, rescue_text(rescue)),
            Notice::UsageEstimated { bytes, tokens } => {
                ("notice", Tint::Warn, usage_estimated(*bytes, *tokens))
            }
            Notice::TaskRevisited { task, why } => {
                ("asks", Tint::Warn, format!("{task} is done and is worked on again: {why}"))
            }
            Notice::TaskLeft { task, standing, why } => {
                ("leaves", Tint::Warn, format!("{task} {}: {why}", words::standing(*standing)))
            }
            Notice::AnswerDelivered => ("answer", Tint::Plain, "given to the agent".to_owned()),
            Notice::ContextFilling { percent, .. } => {
                ("context", Tint::Plain, format!("{percent} % full"))
            }
            Notice::NothingChecks => ("notice", Tint::Warn, "no gate checks this work".to_owned()),
            // The gates' own line, and the trip, say the same.
            Notice::BeginsRed { .. } | Notice::CompletionRefused(_) => return,
        };
        self.lines.push(Line { at, word, tint, text: words::line(&text, TEXT_MAX) });
    }

    /// Tells the closed iterations and how the run ended.
    pub(super) fn close(&mut self, reports: &[IterationReport], run: &RunSummary) {
        self.close_iterations(reports);
        if let Some(ending) = &run.ending {
            self.ended(run.ended.unwrap_or(run.last_at), ending);
        }
    }

    /// Tells closed iterations.
    pub(super) fn close_iterations(&mut self, reports: &[IterationReport]) {
        for report in reports {
            let (result, tint) = result_word(report.result);
            let task = report.task.as_ref().map(|task| format!(" {task}")).unwrap_or_default();
            let text = format!(
                "{}, {}{task}: {result}, {}, {}",
                report.iteration,
                report.mode.as_str(),
                report.ended.since(report.started),
                self.commits_of(report),
            );
            self.lines.push(Line { at: report.ended, word: "iteration", tint, text });
        }
    }

    /// The lines in the order of time; of one moment, in the order they were told.
    pub(super) fn into_lines(mut self) -> Vec<Line> {
        self.lines.sort_by_key(|line| line.at);
        self.lines
    }

    fn ended(&mut self, at: Moment, ending: &Ending) {
        let Ending { outcome, why, also, left, next_steps, .. } = ending;
        let tint = if outcome.is_success() { Tint::Good } else { Tint::Bad };
        let why = words::line(why, 2 * TEXT_MAX);
        let text = format!("{outcome} (exit {}): {why}", outcome.exit_code());
        self.lines.push(Line { at, word: "ended", tint, text });
        for trip in also {
            let text = trip_text(trip);
            self.lines.push(Line { at, word: "also", tint: Tint::Warn, text });
        }
        for one in left {
            let text = format!("{} {}: {}", one.task, words::standing(one.standing), one.why);
            let text = words::line(&text, TEXT_MAX);
            self.lines.push(Line { at, word: "left", tint: Tint::Warn, text });
        }
        for step in next_steps {
            let text = words::line(step, 2 * TEXT_MAX);
            self.lines.push(Line { at, word: "next", tint: Tint::Plain, text });
        }
    }

    /// What was seen of the worktree; only when everything is told.
    fn seen(&mut self, at: Moment, snapshot: &flyball_core::event::WorktreeSnapshot) {
        if self.detail == Detail::WorthReading {
            return;
        }
        for Commit { hash, subject } in &snapshot.commits {
            let text = format!("{} {}", short(hash), words::line(subject, 200));
            self.lines.push(Line { at, word: "commit", tint: Tint::Plain, text });
        }
        let files: Vec<&str> = snapshot.changed.iter().map(String::as_str).collect();
        if !files.is_empty() {
            let text = words::line(&files.join(", "), TEXT_MAX);
            self.lines.push(Line { at, word: "changed", tint: Tint::Plain, text });
        }
    }

    fn commits_of(&self, report: &IterationReport) -> String {
        let commits = self.commits.get(&report.iteration).map_or(0, Vec::len);
        match &report.commit {
            None => "no commit".to_owned(),
            Some(last) => {
                format!("{} ({})", words::counted(commits.max(1), "commit"), short(last))
            }
        }
    }
}

fn short(hash: &str) -> &str {
    flyball_core::text::prefix(hash, 9)
}

/// Which iteration another agent takes, and before what.
fn rescue_text(rescue: &Rescue) -> String {
    let at = rescue.task.as_ref().map(|task| format!(" at {task}")).unwrap_or_default();
    let Rescue { iteration, guard, .. } = rescue;
    format!("the rescue agent takes iteration {iteration}{at} before {guard} ends the run")
}

fn trip_text(trip: &Trip) -> String {
    let text = format!("{}: {}", trip.guard, trip.evidence);
    words::line(&text, TEXT_MAX)
}

const fn rung_word(rung: Rung) -> &'static str {
    match rung {
        Rung::Pass => "passes",
        Rung::Nudge => "nudges",
        Rung::Refuse => "refuses",
        Rung::Redirect => "redirects",
        Rung::Ask => "asks",
        Rung::Halt => "halts",
    }
}

const fn stop_word(cause: StopCause) -> &'static str {
    match cause {
        StopCause::Interrupt => "interrupted from the keyboard",
        StopCause::Terminate => "asked to end by a signal",
        StopCause::Command => "asked to end by `flyball stop`",
    }
}

fn result_word(result: IterationResult) -> (String, Tint) {
    match result {
        IterationResult::Passed => ("passed".to_owned(), Tint::Good),
        IterationResult::Unchecked => ("ended, nothing checked it".to_owned(), Tint::Plain),
        IterationResult::Red => ("red".to_owned(), Tint::Bad),
        IterationResult::Improved => ("red, but better".to_owned(), Tint::Warn),
        IterationResult::Halted(outcome) => (format!("halted, {outcome}"), Tint::Bad),
        IterationResult::Died => ("the agent died".to_owned(), Tint::Bad),
        IterationResult::Lost => ("lost with flyball".to_owned(), Tint::Warn),
        IterationResult::Cut(outcome) => (format!("cut short, {outcome}"), Tint::Warn),
    }
}
