//! One iteration of a run: what it was for, what came of it, what it cost.

use std::collections::BTreeMap;

use flyball_core::effect::{IterationReport, IterationResult};
use flyball_core::event::{AgentFact, Commit, Exit};
use flyball_core::gate::{Check, Counts};
use flyball_core::guard::{GuardKind, Rung, Trip};
use flyball_core::tasklist::Mode;
use flyball_core::{GateName, IterationNo, Millis, Moment, TaskId, text};
use serde::Serialize;

use super::line::Severity;
use super::{narrator, words};

/// How many acts of guards, commits, files and tools of one iteration are kept; the rest is counted.
const ACTS_MAX: usize = 40;
const FILES_MAX: usize = 40;
const TOOLS_MAX: usize = 40;
/// How much of a text is kept.
const BRIEFING_MAX: usize = 6_000;
const WORDS_MAX: usize = 2_000;
const EVIDENCE_MAX: usize = 400;

/// What a guard did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GuardAct {
    /// When.
    pub at: Moment,
    /// Which guard.
    pub guard: GuardKind,
    /// On which rung.
    pub rung: Rung,
    /// What it measured.
    pub measured: u64,
    /// What is allowed.
    pub allowed: u64,
    /// The evidence.
    pub evidence: String,
}

impl GuardAct {
    pub(super) fn new(at: Moment, trip: &Trip, rung: Rung) -> Self {
        let Trip { guard, measured, allowed, .. } = *trip;
        let evidence = words::line(&trip.evidence, EVIDENCE_MAX);
        Self { at, guard, rung, measured, allowed, evidence }
    }
}

/// What flyball made of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// It was checked and holds.
    Accepted,
    /// It was checked and does not.
    Refused,
    /// It is not judged, or not yet.
    Open,
}

/// What the agent claimed at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClaimView {
    /// COMPLETE, and what was made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<ClaimVerdict>,
    /// BLOCKED, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// DECIDE, and what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decide: Option<String>,
}

/// A gate after an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateView {
    /// Which.
    pub gate: GateName,
    /// How it ended, in a word.
    pub status: &'static str,
    /// Whether it is red.
    pub red: bool,
    /// What it counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// How long it took.
    pub duration: Millis,
}

impl GateView {
    pub(super) fn new(check: &Check) -> Self {
        Self {
            gate: check.gate.clone(),
            status: check.status.as_str(),
            red: check.status.is_red(),
            counts: check.counts,
            duration: check.duration,
        }
    }
}

/// One iteration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IterationView {
    /// Which.
    pub iteration: IterationNo,
    /// What it was for.
    pub mode: Mode,
    /// The task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Which agent: 0 is the configured one.
    pub agent: u32,
    /// When it began.
    pub started: Moment,
    /// When it ended, or was last heard of.
    pub ended: Moment,
    /// How it ended; none while it is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<IterationResult>,
    /// Whether it passed anything: a check fixed, a new best score, a story, or new work that the
    /// gates pass. None where nothing could tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<bool>,
    /// Stories passed after it.
    pub stories_complete: u32,
    /// The score after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Tokens it used.
    pub tokens: u64,
    /// Money it used, in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// Calls it made.
    pub calls: u64,
    /// Calls by tool, the most used first.
    pub tools: Vec<(String, u64)>,
    /// How full the context window was at most, in thousandths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_permille: Option<u16>,
    /// What it claimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimView>,
    /// What guards did, the first ones.
    pub guards: Vec<GuardAct>,
    /// How many more times guards spoke.
    pub guards_left_out: u64,
    /// The gates' words.
    pub gates: Vec<GateView>,
    /// Commits, the first ones.
    pub commits: Vec<Commit>,
    /// How many more commits.
    pub commits_left_out: usize,
    /// Files changed, the first ones.
    pub changed: Vec<String>,
    /// How many more files.
    pub changed_left_out: usize,
    /// Weakened tests or gates, compared with the beginning of the run.
    pub tamper: Vec<String>,
    /// What the agent was told beyond the prompt's template.
    pub briefing: String,
    /// The end of its final words.
    pub last_words: String,
    #[serde(skip)]
    pub(super) used: BTreeMap<String, u64>,
}

impl IterationView {
    pub(super) fn begin(iteration: IterationNo, at: Moment, mode: Mode) -> Self {
        Self {
            iteration,
            mode,
            task: None,
            agent: 0,
            started: at,
            ended: at,
            result: None,
            progress: None,
            stories_complete: 0,
            score: None,
            tokens: 0,
            cost_micro_usd: 0,
            calls: 0,
            tools: Vec::new(),
            context_permille: None,
            claim: None,
            guards: Vec::new(),
            guards_left_out: 0,
            gates: Vec::new(),
            commits: Vec::new(),
            commits_left_out: 0,
            changed: Vec::new(),
            changed_left_out: 0,
            tamper: Vec::new(),
            briefing: String::new(),
            last_words: String::new(),
            used: BTreeMap::new(),
        }
    }

    /// How long it took.
    pub const fn duration(&self) -> Millis {
        self.ended.since(self.started)
    }

    /// How it ended in words, and how grave that is.
    pub fn result_words(&self) -> (String, Severity) {
        match self.result {
            Some(result) => narrator::result_words(result),
            None => ("under way".to_owned(), Severity::Turn),
        }
    }

    /// How often guards spoke.
    pub fn guards_spoke(&self) -> u64 {
        (self.guards.len() as u64).saturating_add(self.guards_left_out)
    }

    /// What was done, in one line: the subject of the last commit.
    pub fn subject(&self) -> Option<&str> {
        self.commits.last().map(|commit| commit.subject.as_str())
    }

    pub(super) fn called(&mut self, tool: &str) {
        self.calls += 1;
        let name = words::line(tool, 60);
        if self.used.len() < TOOLS_MAX || self.used.contains_key(&name) {
            *self.used.entry(name).or_default() += 1;
        }
    }

    pub(super) fn guarded(&mut self, act: GuardAct) {
        if self.guards.len() < ACTS_MAX {
            self.guards.push(act);
        } else {
            self.guards_left_out += 1;
        }
    }

    pub(super) fn briefed(&mut self, briefing: &str) {
        self.briefing = words::lines(&text::head(briefing, BRIEFING_MAX));
    }

    pub(super) fn said(&mut self, last_words: &str) {
        let safe = words::lines(text::tail(last_words, WORDS_MAX));
        safe.trim().clone_into(&mut self.last_words);
    }

    pub(super) fn worked(&mut self, commits: &[Commit], changed: &[String]) {
        let tidy = |commit: &Commit| Commit {
            hash: words::short(&commit.hash).to_owned(),
            subject: words::line(&commit.subject, 200),
        };
        let kept = commits.len().saturating_sub(FILES_MAX);
        self.commits = commits.iter().skip(kept).map(tidy).collect();
        self.commits_left_out = kept;
        self.changed = changed.iter().take(FILES_MAX).map(|file| words::line(file, 200)).collect();
        self.changed_left_out = changed.len().saturating_sub(FILES_MAX);
    }

    pub(super) fn closed(&mut self, report: &IterationReport) {
        self.task.clone_from(&report.task);
        (self.mode, self.started, self.ended) = (report.mode, report.started, report.ended);
        (self.tokens, self.cost_micro_usd) = (report.tokens, report.cost_micro_usd);
        (self.stories_complete, self.score) = (report.stories_complete, report.score);
        self.result = Some(report.result);
    }

    /// The tools by how often they were used.
    pub(super) fn rank_tools(&mut self) {
        let mut tools: Vec<(String, u64)> = self.used.clone().into_iter().collect();
        tools.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        self.tools = tools;
    }
}

/// What a fact says of its iteration.
pub(super) fn fact_in(one: &mut IterationView, fact: &AgentFact) {
    if let AgentFact::CalledTool(call) = fact {
        one.called(&call.tool);
    } else if let AgentFact::Spent(spend) = fact {
        let tokens = spend.input_tokens.saturating_add(spend.output_tokens);
        one.tokens = one.tokens.saturating_add(tokens);
        one.cost_micro_usd = one.cost_micro_usd.saturating_add(spend.cost_micro_usd);
    } else if let AgentFact::FilledContext { permille } = fact {
        one.context_permille = one.context_permille.max(Some(*permille));
    } else if let AgentFact::Exited(exit) = fact {
        exited(one, exit);
    }
}

fn exited(one: &mut IterationView, exit: &Exit) {
    one.said(&exit.last_words);
    let claims = &exit.claims;
    if claims.complete || claims.blocked.is_some() || claims.decide.is_some() {
        let tidy = |text: &String| words::line(text, 1_000);
        one.claim = Some(ClaimView {
            complete: claims.complete.then_some(ClaimVerdict::Open),
            blocked: claims.blocked.as_ref().map(tidy),
            decide: claims.decide.as_ref().map(tidy),
        });
    }
}
