//! What helps now (S2): for each way a run can end, what to look at and what to type, with the
//! evidence in it. Where an iteration had a better tree than the last, the way back to it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::state::RunState;
use super::tamper;
use crate::gate::{Check, GateResult};
use crate::guard::{GuardKind, Trip};
use crate::id::TaskId;
use crate::iteration::{FailureKind, IterationVerdict, Validation};
use crate::outcome::Outcome;
use crate::task::Standing;
use crate::{resource, text};

/// The most files, stories or scores one step names.
const NAMED_MAX: usize = 5;

/// What to look at and what to type after a run that ended so.
pub(super) fn after(outcome: Outcome, trip: Option<&Trip>, state: &RunState) -> Vec<String> {
    let mut steps = Steps { state, list: Vec::new() };
    if !outcome.is_success() {
        steps.list.extend(resource::steps(&state.last.exhausted));
    }
    let weakened = tamper::next_steps(state);
    let asks_that =
        trip.is_some_and(|trip| trip.guard == GuardKind::Tamper) || state.tamper.asked_before;
    if outcome == Outcome::Decide && asks_that {
        steps.list.extend(weakened);
        return steps.list;
    }
    steps.add(outcome, trip);
    if !outcome.is_success() {
        steps.list.extend(weakened);
    }
    steps.list
}

struct Steps<'a> {
    state: &'a RunState,
    list: Vec<String>,
}

impl Steps<'_> {
    fn add(&mut self, outcome: Outcome, trip: Option<&Trip>) {
        let run = &self.state.run;
        match outcome {
            Outcome::Complete | Outcome::CompleteUnverified => {}
            Outcome::Blocked => {
                self.left_as_done();
                if self.tripped() {
                    self.say("remove what blocks it, then: flyball unblock && flyball run");
                }
            }
            Outcome::Decide => self.say("flyball answer \"…\" && flyball run"),
            Outcome::MaxIterations => self.raise("--max-iterations N"),
            Outcome::MaxRuntime => self.raise("--max-runtime TIME"),
            Outcome::MaxTokens => self.raise("--max-tokens N"),
            Outcome::MaxCost => self.raise("--max-cost USD"),
            Outcome::AgentNotStarted | Outcome::AgentRefused => self.say("flyball doctor"),
            Outcome::Interrupted | Outcome::Terminated | Outcome::UsageLimit | Outcome::Fault => {
                self.list.push(format!("flyball run --resume {run}"));
            }
            Outcome::Tampered => {
                self.say("put the state folder back where it was, and look at what the agent did");
                self.list.push(format!("flyball log {run}"));
            }
            Outcome::CircuitBreaker => self.breaker(),
            Outcome::QualityRegression => self.regression(),
            Outcome::Thrashing => self.thrashing(),
            Outcome::QualityGateExhausted => self.refused(trip),
            Outcome::Stuck => self.stuck(trip),
            Outcome::RepetitionLoop => self.repetition(trip),
            Outcome::Stalled => self.stalled(trip),
            Outcome::ValidationFailure => self.validation(trip),
            Outcome::ConsecutiveFailures => self.tool_failures(trip),
        }
    }

    fn say(&mut self, text: &str) {
        self.list.push(String::from(text));
    }

    /// Tasks that are marked as done and hold the completion up all the same.
    fn left_as_done(&mut self) {
        let state = self.state;
        let forced = state
            .open_stories()
            .into_iter()
            .filter(|task| state.task_ring.standing(task) == Standing::ForcedDone);
        self.list.extend(forced.take(NAMED_MAX).map(|task| {
            format!(
                "{task} was left as done and has not passed; to have it tried again: flyball tasks \
                 retry {task}"
            )
        }));
    }

    /// Tasks that a safety guard stopped: only their name brings them back. Says whether anything else
    /// is open.
    fn tripped(&mut self) -> bool {
        let state = self.state;
        let open = state.open_stories();
        let is_tripped = |task: &&&TaskId| state.task_ring.standing(task) == Standing::Tripped;
        let tripped: Vec<&TaskId> = open.iter().filter(is_tripped).copied().collect();
        self.list.extend(tripped.iter().take(NAMED_MAX).map(|task| {
            format!(
                "{task} was stopped by a safety guard; when what stopped it is mended: flyball tasks \
                 retry {task} && flyball run"
            )
        }));
        tripped.is_empty() || tripped.len() < open.len()
    }

    fn raise(&mut self, flag: &str) {
        self.better_tree();
        self.list.push(format!("flyball run --resume {} {flag}", self.state.run));
    }

    fn breaker(&mut self) {
        let failed: Vec<&Validation> = self
            .state
            .ring
            .history()
            .filter(|entry| entry.verdict == IterationVerdict::Failed)
            .collect();
        let is_red = |entry: &&&Validation| entry.failure == FailureKind::RedGates;
        if failed.iter().any(|entry| is_red(&entry)) {
            self.list.push(format!("see what stays red{}: flyball gate", self.red()));
        }
        if let Some(ended) = failed.iter().rev().find(|entry| !is_red(entry)) {
            let (run, number) = (&self.state.run, ended.iteration);
            let how = ended.words();
            self.list.push(format!("read why ({how}): flyball log {run} --iteration {number}"));
        }
        self.better_tree();
        self.go_on(&format!(
            "give {} a smaller first step, or mend what no agent can (a missing tool, a broken gate)",
            self.task()
        ));
    }

    fn regression(&mut self) {
        let scores: Vec<String> = self
            .state
            .ring
            .history()
            .filter_map(|entry| {
                Some(format!("{:.2} (iteration {})", entry.score?, entry.iteration))
            })
            .collect();
        let from = scores.len().saturating_sub(NAMED_MAX);
        let shown = scores.get(from..).unwrap_or(&[]).join(", ");
        let run = &self.state.run;
        self.list.push(format!("see where it turned: {shown}; flyball log {run}{}", self.red()));
        self.better_tree();
        self.go_on("say in the story what must not break, and begin from the better tree");
    }

    fn thrashing(&mut self) {
        let files = self.state.ring.thrashed(&self.state.policy);
        let named: Vec<String> = files
            .iter()
            .take(NAMED_MAX)
            .map(|(file, times)| {
                format!("{file} ({})", text::count(u64::from(*times), "red iteration"))
            })
            .collect();
        let more = files.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        self.list.push(format!("look at {}{more}{}", named.join(", "), self.red()));
        self.say(
            "what usually helps: one small failing test for the smallest case, a story of its own \
             for each of these files, or splitting a file in which several failures meet",
        );
        self.better_tree();
        self.go_on("change the design or the story");
    }

    fn refused(&mut self, trip: Option<&Trip>) {
        let times = trip.map_or(0, |trip| trip.measured);
        let open: Vec<&str> =
            self.state.open_stories().into_iter().map(TaskId::as_str).take(NAMED_MAX).collect();
        let missing = match (self.state.green(), open.is_empty()) {
            (Some(false), _) => format!("red{}", self.red()),
            (_, false) => format!("open: {}", open.join(", ")),
            (_, true) => String::from("work that is not committed or checks that were weakened"),
        };
        let is_red = self.state.green() == Some(false);
        let claims = match times {
            1 => String::from("1 claim was"),
            times => format!("{times} claims were"),
        };
        let run = &self.state.run;
        let look = if is_red { String::from("flyball gate") } else { format!("flyball log {run}") };
        self.list.push(format!("see why {claims} refused ({missing}): {look}"));
        self.better_tree();
        self.go_on(if is_red {
            "mend the gate if it asks for too much, or say in the story what it asks for"
        } else {
            "say in the prompt or the story what is still to be done before COMPLETE"
        });
    }

    fn stuck(&mut self, trip: Option<&Trip>) {
        let count = text::count(trip.map_or(0, |trip| trip.measured), "iteration");
        let (task, run) = (self.task(), &self.state.run);
        self.list.push(format!(
            "see what the last {count} at {task} did instead of committing: flyball log {run}; \
             git status shows work that was left uncommitted"
        ));
        self.say(
            "make the story smaller and say what counts as done; with `--profile overnight` a stuck \
             story is set aside and the next one taken",
        );
        self.better_tree();
        self.go_on("");
    }

    fn repetition(&mut self, trip: Option<&Trip>) {
        self.last_iteration("see the call it repeated", trip);
        self.go_on(
            "put what it looked for into the story or the prompt (the file, the command, the \
             answer), or take the tool away that tells it nothing",
        );
    }

    fn stalled(&mut self, trip: Option<&Trip>) {
        self.last_iteration("see what it waited for", trip);
        let is_timeout = trip.is_some_and(|trip| trip.guard == GuardKind::IterationTimeout);
        self.go_on(if is_timeout {
            "split the story into steps that end in time, or raise `limits.iteration_timeout`"
        } else {
            "run its last command by hand (one that asks for input or a permission never ends), or \
             raise `limits.stall_after` if it only needs long"
        });
    }

    fn validation(&mut self, trip: Option<&Trip>) {
        self.last_iteration("see what could not be understood", trip);
        self.go_on(
            "try another model (--model), check that `agent.output` names the format the agent \
             speaks, and that its client is up to date (flyball doctor)",
        );
    }

    fn tool_failures(&mut self, trip: Option<&Trip>) {
        self.last_iteration("see which tool failed and how", trip);
        self.go_on(
            "run that tool by hand: a missing program, a server that is down, rights it lacks; mend \
             that first",
        );
    }

    fn last_iteration(&mut self, what: &str, trip: Option<&Trip>) {
        let (run, number) = (&self.state.run, self.state.ring.meters.iterations);
        let evidence = trip
            .map(|trip| format!(" ({})", text::head(text::first_line(&trip.evidence), 160)))
            .unwrap_or_default();
        self.list.push(format!("{what}{evidence}: flyball log {run} --iteration {number}"));
    }

    fn go_on(&mut self, first: &str) {
        let run = &self.state.run;
        let then = if first.is_empty() { String::new() } else { format!("{first}, then: ") };
        self.list.push(format!("{then}flyball run --resume {run}"));
    }

    /// The way back, where an iteration was better than the last.
    fn better_tree(&mut self) {
        let ring = &self.state.ring;
        let now = self.state.gates.now.as_ref().and_then(GateResult::score);
        if let (Some(best), Some(at), Some(now)) = (ring.best(), ring.best_at(), now)
            && best > now
        {
            let run = &self.state.run;
            let which = if at.get() == 0 {
                String::from("the tree before the run")
            } else {
                format!("iteration {at}")
            };
            self.list.push(format!(
                "{which} scored {best:.2}, the last tree {now:.2}; to have it back: flyball rewind \
                 {run} {at}"
            ));
        }
    }

    /// The red gates in brackets; nothing when none is.
    fn red(&self) -> String {
        let red: Vec<String> =
            self.state.gates.now.iter().flat_map(GateResult::red).map(red_words).collect();
        if red.is_empty() { String::new() } else { format!(" (red: {})", red.join(", ")) }
    }

    fn task(&self) -> String {
        match &self.state.last.task {
            Some(task) => format!("task {task}"),
            None => String::from("the work"),
        }
    }
}

/// A red gate with its count and first finding.
fn red_words(check: &Check) -> String {
    let first = check.findings.first().map(|finding| {
        let name = finding.name.clone().or_else(|| finding.place());
        let name = name.unwrap_or_else(|| text::head(text::first_line(&finding.message), 60));
        format!(", first {}", text::head(&name, 80))
    });
    let failed = check.counts.map(|counts| counts.failed).filter(|failed| *failed > 0);
    let failed = failed.map(|failed| format!(" {failed} failed")).unwrap_or_default();
    format!("{}{failed}{}", check.gate, first.unwrap_or_default())
}
