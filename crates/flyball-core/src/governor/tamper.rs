//! Weakened checks in a run (B10): what is open, what is only reported, what the agent was told, and
//! when a human is asked. A finding blocks completion, never the next story.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::StepOutput;
use super::state::RunState;
use crate::effect::{Effect, Notice};
use crate::event::StopExamined;
use crate::gate::tamper::{self, TamperFinding, TamperSight, Weight};
use crate::gate::{Check, CheckStatus, Finding, GateResult, MayChange, Ran, TestBounds};
use crate::guard::{GuardKind, Rung, Trip};
use crate::id::GateName;
use crate::policy::OnTamper;
use crate::text;

/// Weakened checks, and what was said about them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that hold or do not, independent of each other"
)]
pub(super) struct TamperWatch {
    /// Seen at the last look at the worktree.
    seen: Vec<TamperFinding>,
    /// Told together with the gates' last word.
    told_by_gates: Vec<TamperFinding>,
    /// Checks that ran fewer tests, until they run as many again.
    fewer: BTreeMap<GateName, TamperFinding>,
    bounds: TestBounds,
    /// Whether the last green word of the gates shows that every test still runs.
    all_run: bool,
    /// What a human said yes to, by key.
    pub(super) accepted: BTreeSet<String>,
    /// What the agent has been told, by thread.
    told: BTreeSet<String>,
    /// What people have been told is only reported, by key; and files of theirs that changed.
    reported: BTreeSet<String>,
    /// What the work may change, by the stories and by the settings.
    may_change: [MayChange; 2],
    /// Whether an agent may have left something nobody has looked at.
    pub(super) unseen: bool,
    /// Whether a human has yet to decide since an earlier run.
    pub(super) asked_before: bool,
}

/// Why a finding does not block.
enum Standing {
    Open,
    Accepted,
    Reported(&'static str),
}

impl TamperWatch {
    pub(super) fn new(
        may_change: [MayChange; 2],
        accepted: &[String],
        sight: &TamperSight,
    ) -> Self {
        let mut this = Self {
            may_change,
            accepted: accepted.iter().cloned().collect(),
            bounds: sight.bounds.clone(),
            ..Self::default()
        };
        // What was counted can only be examined by counting again.
        for finding in &sight.findings {
            match (finding.ran_before, &finding.finding.name) {
                (Some(ran), Some(gate)) => {
                    let gate = GateName::new(gate.as_str());
                    this.bounds.remember(&gate, ran);
                    this.fewer.insert(gate, finding.clone());
                }
                _ => this.seen.push(finding.clone()),
            }
        }
        let Self { seen, bounds, .. } = &mut this;
        seen.retain(|one| matters(one, bounds));
        this
    }

    /// What is seen now stands in place of what was seen before.
    pub(super) fn look(&mut self, sight: &TamperSight) {
        self.unseen = false;
        let counts = |one: &&TamperFinding| one.ran_before.is_none() && matters(one, &self.bounds);
        self.seen = sight.findings.iter().filter(counts).cloned().collect();
    }

    /// The gates ran before any agent worked.
    pub(super) fn accustom(&mut self, result: &GateResult) {
        let ran = |check: &&Check| !matches!(check.status, CheckStatus::Skipped { .. });
        for check in result.checks.iter().filter(ran) {
            if !self.fewer.contains_key(&check.gate) {
                self.bounds.accustom(check);
            }
        }
    }

    fn take_gates(&mut self, result: &GateResult, told: &[Finding]) {
        self.told_by_gates = told.iter().cloned().map(TamperFinding::bare).collect();
        let (mut all, mut known) = (true, false);
        for check in &result.checks {
            match self.bounds.judge(check) {
                Ran::Unknown => {}
                Ran::All => {
                    known = true;
                    self.fewer.remove(&check.gate);
                }
                Ran::MoreSkipped => {
                    (known, all) = (true, false);
                    self.fewer.remove(&check.gate);
                }
                Ran::Fewer(finding) => {
                    (known, all) = (true, false);
                    self.fewer.insert(check.gate.clone(), finding);
                }
            }
        }
        self.all_run = known && all && result.is_green();
    }

    fn all(&self) -> impl Iterator<Item = &TamperFinding> {
        self.seen.iter().chain(&self.told_by_gates).chain(self.fewer.values())
    }

    fn standing(&self, one: &TamperFinding) -> Standing {
        if self.accepted.contains(&one.key()) {
            return Standing::Accepted;
        }
        if one.weight == Weight::TakenIn {
            return Standing::Reported("what they checked is checked there");
        }
        let weakened = |one: &TamperFinding| one.weight != Weight::TakenIn;
        if one.weight == Weight::UnlessAlone && !self.seen.iter().any(weakened) {
            return Standing::Reported("they were skipped by a condition nobody changed");
        }
        if one.ran_before.is_some() {
            let meant = |other: &&TamperFinding| {
                other.tests > 0 && other.weight != Weight::TakenIn && !self.is_open(other)
            };
            let taken_in = self.seen.iter().filter(|other| other.weight == Weight::TakenIn);
            let taken_in: u64 = taken_in.map(|other| u64::from(other.tests)).sum();
            let explained = one.missing().is_some_and(|missing| missing <= taken_in);
            return if explained || self.seen.iter().any(|other| meant(&other)) {
                Standing::Reported("the tests that are gone were meant to go")
            } else {
                Standing::Open
            };
        }
        let [by_stories, by_settings] = &self.may_change;
        let trusted = !one.is_about_settings() && !self.settings_are_open();
        let may = |file: &str| by_stories.covers(file) || (trusted && by_settings.covers(file));
        let mut files = one.files().peekable();
        if files.peek().is_some() && files.all(may) {
            return Standing::Reported("the work may change it");
        }
        if one.weight == Weight::UnlessAllRun && self.all_run {
            return Standing::Reported("every test still runs");
        }
        Standing::Open
    }

    /// Whether an agent changed flyball's own settings and no human has said yes: then they do not
    /// decide what becomes of it.
    fn settings_are_open(&self) -> bool {
        let is_open = |one: &TamperFinding| !self.accepted.contains(&one.key());
        self.all().any(|one| one.is_about_settings() && is_open(one))
    }

    fn is_open(&self, one: &TamperFinding) -> bool {
        matches!(self.standing(one), Standing::Open)
    }

    /// What is neither undone, nor accepted, nor meant.
    pub(super) fn open(&self) -> Vec<&TamperFinding> {
        self.all().filter(|one| self.is_open(one)).collect()
    }
}

impl RunState {
    /// Weakened checks that stand in the way of a completion.
    pub(super) fn open_tamper(&self) -> Vec<&TamperFinding> {
        match self.on_tamper() {
            OnTamper::Report => Vec::new(),
            OnTamper::Ask | OnTamper::Refuse => self.tamper.open(),
        }
    }

    /// Weakened checks that are open as the worktree stands when an agent wants to stop, and that
    /// nobody has told it of.
    pub(super) fn untold_tamper(&self, found: &StopExamined) -> Vec<TamperFinding> {
        if self.on_tamper() == OnTamper::Report {
            return Vec::new();
        }
        let mut then = self.tamper.clone();
        then.look(&found.snapshot.tamper);
        if let Some(result) = &found.gates {
            then.take_gates(result, &[]);
        }
        let untold = |one: &&TamperFinding| !then.told.contains(&one.thread());
        then.open().into_iter().filter(untold).cloned().collect()
    }

    /// What weakened checks do: by the settings, unless those are what was changed.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds mean the same here")]
    fn on_tamper(&self) -> OnTamper {
        match self.policy.gates.on_tamper {
            OnTamper::Report if self.tamper.settings_are_open() => OnTamper::Ask,
            given => given,
        }
    }

    /// The gates' word on a new tree.
    pub(super) fn take_verdict(&mut self, result: &GateResult, tamper: &[Finding]) {
        for check in &result.checks {
            if let Some(why) = &check.flaky {
                self.gates.flaky.entry(check.gate.clone()).or_insert_with(|| why.clone());
            }
        }
        self.gates.before = self.gates.now.replace(result.clone());
        self.tamper.take_gates(result, tamper);
    }

    /// Whether a human is to be asked: the agent has been told, and it is still there.
    pub(super) fn asks_about_tamper(&self) -> bool {
        self.on_tamper() == OnTamper::Ask
            && self.open_tamper().iter().any(|one| self.tamper.told.contains(&one.thread()))
    }
}

/// What a test expects may change with the program, unless the test was red when the work began.
fn matters(one: &TamperFinding, bounds: &TestBounds) -> bool {
    one.weight != Weight::IfRedFirst || bounds.was_red(one)
}

/// The worktree was looked at: what is weakened now, and what else people should hear of.
pub(super) fn looked(sight: &TamperSight, state: &mut RunState, out: &mut StepOutput) {
    state.tamper.look(sight);
    for file in &sight.wanted {
        if state.tamper.reported.insert(format!("wanted:{file}")) {
            let what = format!(
                "`{file}` was changed while the agent worked; it says what is wanted, which is a \
                 human's to change. The run goes on with what it read at its start"
            );
            state.briefing.not_yours(&what);
            out.announce(Notice::Noticed {
                trip: Trip::new(GuardKind::Tamper, 1_u64, 0_u64, what),
            });
        }
    }
}

/// What is open is kept for later runs.
pub(super) fn keep(state: &mut RunState, out: &mut StepOutput) {
    report(state, out);
    let mut findings: Vec<TamperFinding> = state.tamper.open().into_iter().cloned().collect();
    for one in &mut findings {
        // What was red then, nobody can see elsewhere or later.
        if one.weight == Weight::IfRedFirst {
            one.weight = Weight::Firm;
        }
    }
    let examined = !state.tamper.unseen;
    let bounds = state.tamper.bounds.clone();
    out.order(Effect::KeepTamper { findings, bounds, examined });
}

/// Tells people, once each, what is weakened and does not block.
fn report(state: &mut RunState, out: &mut StepOutput) {
    let is_report = state.on_tamper() == OnTamper::Report;
    let mut news = Vec::new();
    for one in state.tamper.all() {
        let why = match state.tamper.standing(one) {
            Standing::Reported(why) => why,
            Standing::Open if is_report => "`gates.on_tamper` is \"report\"",
            Standing::Open | Standing::Accepted => continue,
        };
        news.push((one.key(), format!("{} ({why})", text::head(&one.finding.message, 300))));
    }
    for (key, what) in news {
        if state.tamper.reported.insert(key) {
            out.announce(Notice::Noticed {
                trip: Trip::new(GuardKind::Tamper, 1_u64, 0_u64, what),
            });
        }
    }
}

/// The agent is about to be told of everything that is open.
pub(super) fn tell(state: &mut RunState, out: &mut StepOutput) {
    let open = state.open_tamper();
    let Some(first) = open.first() else { return };
    let count = open.len() as u64;
    let threads: Vec<String> = open.iter().map(|one| one.thread()).collect();
    let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
    let evidence = format!("{}{more}", first.words());
    out.tripped(Trip::new(GuardKind::Tamper, count, 0_u64, evidence), Rung::Nudge);
    state.tamper.told.extend(threads);
}

/// The agent was told of these when it wanted to stop.
pub(super) fn told_at_stop(weakened: &[TamperFinding], state: &mut RunState, out: &mut StepOutput) {
    let Some(first) = weakened.first() else { return };
    let trip = Trip::new(GuardKind::Tamper, weakened.len() as u64, 0_u64, first.words());
    out.tripped(trip, Rung::Refuse);
    state.tamper.told.extend(weakened.iter().map(TamperFinding::thread));
}

/// The question a human is asked, and what tripped.
pub(super) fn question(state: &RunState) -> (String, Trip) {
    let open = state.open_tamper();
    let evidence = open.first().map(|one| one.words()).unwrap_or_default();
    let trip = Trip::new(GuardKind::Tamper, open.len() as u64, 0_u64, evidence);
    (tamper::question(&open), trip)
}

/// What helps while something is open.
pub(super) fn next_steps(state: &RunState) -> Vec<String> {
    let open = state.open_tamper();
    let Some(first) = open.first() else { return Vec::new() };
    let (is, these) = if open.len() == 1 { ("check is", "it") } else { ("checks are", "them") };
    Vec::from([
        format!(
            "{} weakened {is} open, first: {}; to put {these} back: flyball restore tamper",
            open.len(),
            text::head(&first.finding.message, 160)
        ),
        String::from("or, if that is meant: flyball accept tamper"),
        String::from("then: flyball run"),
    ])
}
