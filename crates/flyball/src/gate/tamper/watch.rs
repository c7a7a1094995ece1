//! The watch over a repository's checks, across runs: which tree is compared with, what earlier runs
//! left open, and what of it is still there.

use flyball_core::gate::{TamperFinding, TamperSight, TestBounds};
use flyball_core::{GateName, Millis, Moment, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::restore::{Origin, Restored};
use super::suspicion::Suspicion;
use super::{Context, Edited, Files, TreeFiles, partial_gates, suspicions, tamper};
use crate::config::CommandLine;
use crate::error::CliError;
use crate::gate::plan::{Gate, GatePlan, GateSource};
use crate::gate::tamper::watched::Reach;
use crate::journal::{
    BaseBody, Journal, KeptFile, KeptFinding, OpenTamper, RepositoryKey, TamperBase,
};
use crate::worktree::Worktree;

/// How much of a file is kept beside a finding, for clones that do not have it.
const KEPT_MAX: usize = 256 * 1024;
/// How many findings of earlier runs are looked at again.
const OPEN_MAX: usize = 500;

/// The watch of one worktree.
#[derive(Clone, Debug)]
pub struct Watch {
    base: TamperBase,
    plan: GatePlan,
    /// What earlier runs left open, and where it may be.
    older: Vec<OpenTamper>,
}

/// The names this repository has on this machine, so that its worktrees and clones are one.
pub fn repository_of(
    journal: &mut Journal,
    worktree: &Worktree,
) -> Result<RepositoryKey, CliError> {
    let own = format!("dir:{}", worktree.shared_dir().display());
    let known = journal.repository_names(&own)?;
    // Reading a whole history takes its time; once is enough.
    if known.iter().any(|name| name.starts_with("commit:")) {
        return Ok(journal.repository(&[own])?);
    }
    let commits = worktree.first_commits().into_iter().map(|commit| format!("commit:{commit}"));
    let mut names: Vec<String> = std::iter::once(own).chain(commits).collect();
    names.extend(worktree.local_origin().map(|dir| format!("dir:{}", dir.display())));
    Ok(journal.repository(&names)?)
}

/// What a run begins with, for the watch.
pub struct Beginning<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Everything in the worktree.
    pub tree: &'a str,
    /// What is checked out.
    pub head: Option<&'a str>,
    /// Its gates.
    pub plan: &'a GatePlan,
    /// Now.
    pub at: Moment,
    /// Whether this is the run that was at work here last, and it did not end: nothing begins anew.
    pub goes_on: bool,
}

impl Watch {
    /// The watch of a run that begins. What a run left without a look is looked at now; what people
    /// changed since an examined one is trusted.
    pub fn begin(
        journal: &mut Journal,
        worktree: &Worktree,
        of: &Beginning<'_>,
    ) -> Result<(Self, TamperSight), CliError> {
        let repository = repository_of(journal, worktree)?;
        let root = worktree.root();
        let left = journal
            .tamper_base(root)?
            .filter(|base| (of.goes_on || !base.examined) && worktree.has_tree(&base.tree));
        let open = journal.open_tamper(repository)?;
        let mut bounds = TestBounds::default();
        for base in left.iter().chain(open.iter().map(|one| &one.base)) {
            if base.root == root {
                bounds.merge(&base.body.bounds);
            }
        }
        let (base, plan) = match left {
            Some(base) => {
                let plan = plan_of(&base.body);
                (base, plan)
            }
            None => (Self::new_base(journal, repository, worktree, of)?, of.plan.clone()),
        };
        for gate in partial_gates(worktree, of.tree, of.plan) {
            bounds.runs_a_part(&GateName::new(gate));
        }
        let applies = |one: &OpenTamper| {
            one.root == root
                || one.base.head.as_deref().is_some_and(|head| worktree.descends_from(head))
        };
        let older: Vec<OpenTamper> = open.into_iter().filter(applies).take(OPEN_MAX).collect();
        let this = Self { base, plan, older };
        let mut sight = TamperSight { bounds, ..this.look(worktree, of.tree, of.plan) };
        sight.findings.extend(this.counted());
        Ok((this, sight))
    }

    fn new_base(
        journal: &mut Journal,
        repository: RepositoryKey,
        worktree: &Worktree,
        of: &Beginning<'_>,
    ) -> Result<TamperBase, CliError> {
        let unwatched = worktree.unwatched();
        let gates = notes_of(of.plan);
        let mut base = TamperBase {
            key: 0,
            root: worktree.root().to_path_buf(),
            tree: of.tree.to_owned(),
            head: of.head.map(str::to_owned),
            run: of.run.clone(),
            examined: true,
            body: BaseBody { gates, bounds: TestBounds::default(), unwatched },
        };
        base.key = journal.begin_tamper_base(repository, &base, of.at)?;
        Ok(base)
    }

    /// What is weakened in a tree, compared with the tree of the beginning; and what earlier runs
    /// left, as far as it is still there.
    pub fn look(&self, worktree: &Worktree, tree: &str, plan: &GatePlan) -> TamperSight {
        let mut findings = compare(worktree, (&self.base.tree, tree), &self.plan, plan);
        findings.extend(self.unwatched(worktree));
        let mut seen: Vec<&str> = vec![&self.base.tree];
        for one in &self.older {
            if seen.contains(&one.base.tree.as_str()) {
                continue;
            }
            seen.push(&one.base.tree);
            let of_base: Vec<&OpenTamper> =
                self.older.iter().filter(|other| other.base.tree == one.base.tree).collect();
            findings.extend(still_there(worktree, tree, plan, &of_base));
        }
        let mut said: Vec<(String, Option<String>)> = Vec::new();
        findings.retain(|one| {
            let what = (one.finding.message.clone(), one.finding.file.clone());
            let is_new = !said.contains(&what);
            said.push(what);
            is_new
        });
        TamperSight { findings, ..TamperSight::default() }
    }

    /// Files git was told not to look at since: nobody can say what is in them.
    fn unwatched(&self, worktree: &Worktree) -> Vec<TamperFinding> {
        let known = &self.base.body.unwatched;
        let new = worktree.unwatched().into_iter().filter(|path| !known.contains(path));
        let finding = |path: String| {
            let message = format!(
                "git was told not to look at `{path}`; `git update-index --no-skip-worktree \
                 --no-assume-unchanged {path}` undoes it"
            );
            let mut found = TamperFinding::about(format!("unwatched:{path}"), message);
            found.base.clone_from(&self.base.tree);
            found.finding.file = Some(path);
            found
        };
        new.map(finding).take(20).collect()
    }

    /// What earlier runs found by counting: only counting again can say whether it is still so.
    fn counted(&self) -> impl Iterator<Item = TamperFinding> {
        let counted = self.older.iter().filter(|one| one.root == self.base.root);
        let findings = counted.map(|one| one.kept.finding.clone());
        findings.filter(|one| one.ran_before.is_some())
    }

    /// An agent is about to be started, or could not be.
    #[expect(clippy::fn_params_excessive_bools, reason = "one flag, named by its parameter")]
    pub fn agent_starts(&mut self, journal: &mut Journal, starts: bool) -> Result<(), CliError> {
        self.base.examined = !starts;
        Ok(journal.tamper_unexamined(self.base.key, starts)?)
    }

    /// Keeps what is open for later runs.
    pub fn keep(
        &mut self,
        journal: &mut Journal,
        worktree: &Worktree,
        (run, at): (&RunId, Moment),
        open: &Open<'_>,
    ) -> Result<(), CliError> {
        let kept: Vec<KeptFinding> =
            open.findings.iter().map(|finding| self.kept(worktree, finding)).collect();
        self.base.examined = open.examined;
        self.base.body.bounds.clone_from(open.bounds);
        Ok(journal.keep_tamper(&self.base, (run, at), &kept)?)
    }

    fn kept(&self, worktree: &Worktree, finding: &TamperFinding) -> KeptFinding {
        let known = self.older.iter().find(|one| one.kept.finding.key() == finding.key());
        if let Some(known) = known {
            return KeptFinding { finding: finding.clone(), before: known.kept.before.clone() };
        }
        let mut before: Vec<KeptFile> = Vec::new();
        for path in finding.files() {
            if before.iter().any(|file| file.path == path) {
                continue;
            }
            let text = worktree.show(&finding.base, path).ok().flatten();
            let text = text.filter(|bytes| bytes.len() <= KEPT_MAX);
            let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
            before.push(KeptFile { path: path.to_owned(), text });
        }
        KeptFinding { finding: finding.clone(), before }
    }
}

/// What is open after a look.
pub struct Open<'a> {
    /// The findings.
    pub findings: &'a [TamperFinding],
    /// What the checks have run so far.
    pub bounds: &'a TestBounds,
    /// Whether everything the agent left was looked at.
    pub examined: bool,
}

/// What is kept of a gate: enough to say later whether it still is what it was.
#[derive(Serialize, Deserialize)]
struct GateNote {
    name: GateName,
    command: Value,
    source: String,
}

fn notes_of(plan: &GatePlan) -> Value {
    let note = |gate: &Gate| GateNote {
        name: gate.name.clone(),
        command: gate.command.to_json(),
        source: match gate.source {
            GateSource::Configured => "configured",
            GateSource::Detected => "detected",
            GateSource::VerifyCommand => "verify",
        }
        .to_owned(),
    };
    let notes: Vec<GateNote> = plan.gates().iter().map(note).collect();
    serde_json::to_value(notes).unwrap_or_default()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds mean the same here")]
fn plan_of(body: &BaseBody) -> GatePlan {
    let notes: Vec<GateNote> = serde_json::from_value(body.gates.clone()).unwrap_or_default();
    let gate = |note: GateNote| {
        let command = match &note.command {
            Value::Array(words) => {
                let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
                CommandLine::Argv(words.collect())
            }
            other => CommandLine::Shell(other.as_str().unwrap_or_default().to_owned()),
        };
        let source = match note.source.as_str() {
            "detected" => GateSource::Detected,
            "verify" => GateSource::VerifyCommand,
            _ => GateSource::Configured,
        };
        Gate { source, ..Gate::new(note.name.as_str(), command, Millis::ZERO) }
    };
    GatePlan::of(notes.into_iter().map(gate).collect()).unwrap_or_default()
}

fn compare(
    worktree: &Worktree,
    trees: (&str, &str),
    first: &GatePlan,
    now: &GatePlan,
) -> Vec<TamperFinding> {
    tamper(worktree, trees, first, now).unwrap_or_else(|error| {
        // Not being able to look is not the same as having seen nothing.
        let message = format!("the trees could not be compared: {error}");
        vec![TamperFinding { base: trees.0.to_owned(), ..TamperFinding::about("trees", message) }]
    })
}

/// What of these, all found against one tree, is still there. Whatever was done to the same thing
/// since counts as still there.
fn still_there(
    worktree: &Worktree,
    tree: &str,
    plan: &GatePlan,
    open: &[&OpenTamper],
) -> Vec<TamperFinding> {
    let Some(first) = open.first() else { return Vec::new() };
    let first_plan = plan_of(&first.base.body);
    let mut found = if worktree.has_tree(&first.base.tree) {
        compare(worktree, (&first.base.tree, tree), &first_plan, plan)
    } else {
        from_kept(worktree, tree, (&first_plan, plan), open)
    };
    found.retain(|one| open.iter().any(|old| old.kept.finding.shares_subject(one)));
    found
}

/// The same without the tree itself: from what was kept of its files.
fn from_kept(
    worktree: &Worktree,
    tree: &str,
    (first, now): (&GatePlan, &GatePlan),
    open: &[&OpenTamper],
) -> Vec<TamperFinding> {
    let files = KeptFiles { open, now: TreeFiles::new(worktree, tree, tree) };
    let mut edited: Vec<Edited> = Vec::new();
    for file in open.iter().flat_map(|one| &one.kept.before) {
        let after = files.after(&file.path);
        if after != file.text && !edited.iter().any(|edit| edit.path == file.path) {
            edited.push(Edited { path: file.path.clone(), before: file.text.clone(), after });
        }
    }
    let added: Vec<String> =
        edited.iter().filter(|edit| edit.before.is_none()).map(|edit| edit.path.clone()).collect();
    let reach = Reach::of(first, &files);
    let (edited, added, reach, files) = (&edited, &added, &reach, &files);
    let base = open.first().map(|one| one.base.tree.clone()).unwrap_or_default();
    let finish = |Suspicion { mut found, .. }: Suspicion| {
        found.base.clone_from(&base);
        if found.now.is_empty() {
            let path = found.finding.file.as_deref().unwrap_or("");
            let id = files.after(path).and_then(|text| worktree.object_id(text.as_bytes()));
            found.now = id.unwrap_or_else(|| "gone".to_owned());
        }
        found
    };
    suspicions(&Context { edited, files, added, reach, first, now })
        .into_iter()
        .map(finish)
        .collect()
}

struct KeptFiles<'a> {
    open: &'a [&'a OpenTamper],
    now: TreeFiles<'a>,
}

impl Files for KeptFiles<'_> {
    fn before(&self, path: &str) -> Option<String> {
        let mut kept = self.open.iter().flat_map(|one| &one.kept.before);
        match kept.find(|file| file.path == path) {
            Some(file) => file.text.clone(),
            None => self.now.after(path),
        }
    }

    fn after(&self, path: &str) -> Option<String> {
        self.now.after(path)
    }
}

/// What is open in a worktree, for the commands of people: rows with what is there now.
pub struct OpenHere {
    /// The row.
    pub row: OpenTamper,
    /// What is there now of it; nothing when it is undone.
    pub now: Option<TamperFinding>,
}

/// Looks at what is open here, without a run.
pub fn open_here(
    journal: &mut Journal,
    worktree: &Worktree,
    tree: &str,
    plan: &GatePlan,
) -> Result<Vec<OpenHere>, CliError> {
    let repository = repository_of(journal, worktree)?;
    let root = worktree.root().to_path_buf();
    let applies = |one: &OpenTamper| {
        one.root == root
            || one.base.head.as_deref().is_some_and(|head| worktree.descends_from(head))
    };
    let open: Vec<OpenTamper> =
        journal.open_tamper(repository)?.into_iter().filter(applies).collect();
    let mut here = Vec::with_capacity(open.len());
    for row in open {
        let counted = row.kept.finding.ran_before.is_some();
        let now = if counted {
            Some(row.kept.finding.clone())
        } else {
            still_there(worktree, tree, plan, &[&row]).into_iter().next()
        };
        here.push(OpenHere { row, now });
    }
    Ok(here)
}

/// Brings back what one open finding is about.
#[expect(clippy::fn_params_excessive_bools, reason = "one flag, named by its parameter")]
pub fn restore_open(
    worktree: &Worktree,
    open: &OpenHere,
    force: bool,
) -> Result<Vec<Restored>, CliError> {
    let Some(now) = &open.now else { return Ok(Vec::new()) };
    let kept = &open.row.kept.before;
    let origin = Origin { worktree, tree: &open.row.base.tree, kept };
    // What was found is compared with what is there; what to bring back is the same.
    let finding = TamperFinding { now: open.row.kept.finding.now.clone(), ..now.clone() };
    super::restore::restore(&origin, &finding, force)
}
