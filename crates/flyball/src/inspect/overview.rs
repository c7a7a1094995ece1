//! Many sessions, summed: by agent, model, project and kind of loop, and the worst of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use flyball_core::Moment;
use flyball_core::guard::Rung;
use flyball_core::hindsight::{Cost, LoopKind, Table};
use serde::Serialize;

use super::copies::count_once;
use super::session::{SessionReport, SourceReport};

/// Which sessions are meant.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Those that were at work at this moment or later.
    pub since: Option<Moment>,
    /// Those that began before it.
    pub until: Option<Moment>,
    /// Those of this agent.
    pub agent: Option<String>,
    /// Those that worked in this folder, or in one of that name.
    pub project: Option<String>,
}

impl Choice {
    /// Whether this session is meant; its transcript was last written to then.
    pub fn takes(&self, session: &SessionReport, modified: Moment) -> bool {
        // One that tells no times is as old as its file.
        let began = session.began.unwrap_or(modified);
        let ended = session.ended.unwrap_or(modified);
        let is_of = |project: &String| {
            let folder = session.project.as_deref().unwrap_or("");
            let name = Path::new(folder).file_name().is_some_and(|name| name == project.as_str());
            name || Path::new(folder) == Path::new(project)
        };
        self.since.is_none_or(|since| ended >= since)
            && self.until.is_none_or(|until| began < until)
            && self.agent.as_ref().is_none_or(|agent| session.agent == *agent)
            && self.project.as_ref().is_none_or(is_of)
    }
}

/// Sessions, summed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// Sessions; those of sub-agents count with the one that started them.
    pub sessions: u64,
    /// Calls and turns of words.
    pub steps: u64,
    /// What was spent.
    pub spent: Cost,
    /// Sessions in which a guard would have nudged, refused and halted.
    pub reached: [u64; 3],
    /// Loops.
    pub loops: u64,
    /// What was spent in loops after the first nudge, refusal and halt.
    pub waste: [Cost; 3],
    /// Sessions that still changed something after each rung.
    pub harmed: [u64; 3],
    /// Sessions that end in a dead tail, and its steps.
    pub dead_tails: u64,
    /// The steps of those.
    pub dead_steps: u64,
}

impl Sum {
    /// The sum of one session.
    pub fn of(session: &SessionReport) -> Self {
        let mut sum = Self::default();
        sum.add(session);
        sum
    }

    fn add(&mut self, session: &SessionReport) {
        let judged = &session.judged;
        self.sessions += u64::from(session.parent.is_none());
        self.steps += judged.steps;
        self.spent = self.spent.plus(judged.spent);
        for (sum, first) in self.reached.iter_mut().zip(judged.firsts.as_array()) {
            *sum += u64::from(first.is_some());
        }
        self.loops += judged.loops_total;
        for (sum, waste) in self.waste.iter_mut().zip(judged.waste) {
            *sum = sum.plus(waste);
        }
        for (sum, harmed) in self.harmed.iter_mut().zip(judged.harmed) {
            *sum += u64::from(harmed);
        }
        self.dead_tails += u64::from(judged.dead_tail > 0);
        self.dead_steps += judged.dead_tail;
    }
}

/// Loops of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KindSum {
    /// In words.
    pub words: &'static str,
    /// How many.
    pub loops: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// By the highest rung they would have reached: nudge, refuse, halt.
    pub highest: [u64; 3],
    /// What was spent in them after the first nudge, refusal and halt.
    pub waste: [Cost; 3],
}

/// A session, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The transcript.
    pub path: PathBuf,
    /// Whether it holds other sessions, too.
    #[serde(skip)]
    pub shared: bool,
    /// The session.
    #[serde(flatten)]
    pub session: SessionReport,
}

impl Listed {
    /// What shows it: `flyball inspect FILE --session`.
    pub fn command(&self) -> String {
        let path = quoted(&self.path.to_string_lossy());
        let id = if self.shared { format!("={}", quoted(&self.session.id)) } else { String::new() };
        format!("flyball inspect {path} --session{id}")
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// All of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Overview {
    /// All sessions together.
    pub all: Sum,
    /// By agent.
    pub agents: BTreeMap<String, Sum>,
    /// By the model most used.
    pub models: BTreeMap<String, Sum>,
    /// By project.
    pub projects: BTreeMap<String, Sum>,
    /// By kind of loop.
    pub kinds: BTreeMap<LoopKind, KindSum>,
    /// All sessions, those with the most waste first.
    #[serde(skip)]
    pub sessions: Vec<Listed>,
    /// Sessions of which is known how they ended, counted as `cargo xtask detect` does.
    #[serde(skip)]
    pub table: Table,
    /// When the first session began, and the last one ended.
    pub from: Option<Moment>,
    /// The last one's end.
    pub to: Option<Moment>,
}

impl Overview {
    /// The highest rung that would have been reached in any session.
    pub fn highest(&self) -> Rung {
        self.worst().map(|one| one.session.highest()).max().unwrap_or(Rung::Pass)
    }

    /// Sessions in which a guard would have spoken, those with the most waste first.
    pub fn worst(&self) -> impl Iterator<Item = &Listed> {
        self.sessions.iter().filter(|one| one.session.highest() > Rung::Pass)
    }

    fn add(&mut self, listed: Listed) {
        let session = &listed.session;
        self.all.add(session);
        self.agents.entry(session.agent.clone()).or_default().add(session);
        if let Some(model) = &session.model {
            self.models.entry(model.clone()).or_default().add(session);
        }
        if let Some(project) = &session.project {
            self.projects.entry(project.clone()).or_default().add(session);
        }
        self.add_kinds(&listed.session);
        let source = session.source.as_deref().unwrap_or("");
        let outcome = session.outcome.as_deref().unwrap_or("");
        self.table.add(source, outcome, &session.judged);
        if let Some(began) = session.began {
            self.from = Some(self.from.map_or(began, |from| from.min(began)));
        }
        self.to = self.to.max(session.ended);
        self.sessions.push(listed);
    }

    fn add_kinds(&mut self, session: &SessionReport) {
        let mut kinds = BTreeSet::new();
        for one in &session.judged.loops {
            let sum = self.kinds.entry(one.kind).or_default();
            sum.words = one.kind.words();
            sum.loops += 1;
            sum.sessions += u64::from(kinds.insert(one.kind));
            let at = match one.highest() {
                Rung::Halt => 2,
                Rung::Refuse => 1,
                Rung::Pass | Rung::Nudge | Rung::Redirect | Rung::Ask => 0,
            };
            if let Some(count) = sum.highest.get_mut(at) {
                *count += 1;
            }
            for (sum, reached) in sum.waste.iter_mut().zip(one.rungs()) {
                *sum = sum.plus(reached.map(|reached| reached.after).unwrap_or_default());
            }
        }
    }
}

/// Sums the sessions that are meant.
pub fn overview(reports: Vec<SourceReport>, choice: &Choice) -> Overview {
    let mut chosen: Vec<Listed> = Vec::new();
    for report in reports {
        let SourceReport { path, modified, sessions, .. } = report;
        let shared = sessions.len() > 1;
        let meant = sessions.into_iter().filter(|session| choice.takes(session, modified));
        chosen.extend(meant.map(|session| Listed { path: path.clone(), shared, session }));
    }
    // The one that began first has what others copied.
    chosen.sort_by(|one, other| {
        (one.session.began, &one.path).cmp(&(other.session.began, &other.path))
    });
    count_once(&mut chosen);
    let mut overview = Overview::default();
    for mut one in chosen {
        one.session.model_calls = Vec::new();
        overview.add(one);
    }
    let key = |one: &Listed| {
        let waste = one.session.waste();
        (waste.tokens(), waste.calls, one.session.highest())
    };
    overview.sessions.sort_by_key(|one| std::cmp::Reverse(key(one)));
    overview
}
