//! The watch over a repository's checks, across runs: which tree is compared with, what earlier runs
//! left open, and what of it is still there.

mod abandoned;
mod gates;
mod later;
mod place;

use flyball_core::gate::{TamperFinding, TamperSight, TestBounds};
use flyball_core::{GateName, Moment, RunId};

use self::gates::{notes_of, plan_of};
use self::later::still_there;
pub use self::later::{OpenHere, open_here, restore_open};
use super::{ignored, installed, outside, partial_gates, tamper};
use crate::error::CliError;
use crate::gate::plan::GatePlan;
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
    /// Whether a new run begins.
    pub entry: Entry,
}

/// How a run comes to its worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It begins, or begins again after its end: what people did since is trusted.
    Anew,
    /// It was at work here last and did not end: nothing begins anew.
    GoesOn,
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
            .filter(|base| of.entry == Entry::GoesOn || !base.examined)
            .and_then(|base| readable(worktree, base));
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
            None => Self::new_base(journal, repository, worktree, of)?,
        };
        for gate in partial_gates(worktree, of.tree, of.plan) {
            bounds.runs_a_part(&GateName::new(gate));
        }
        let here = open.into_iter().filter(|one| lies_here(worktree, one));
        let older: Vec<OpenTamper> = here.take(OPEN_MAX).collect();
        let this = Self { base, plan, older };
        let mut sight = TamperSight { bounds, ..this.look(worktree, of.tree, of.plan) };
        sight.findings.extend(this.counted());
        Ok((this, sight))
    }

    /// What this run is compared with: its own beginning, or that of a run that died elsewhere and
    /// whose work is checked out here.
    fn new_base(
        journal: &mut Journal,
        repository: RepositoryKey,
        worktree: &Worktree,
        of: &Beginning<'_>,
    ) -> Result<(TamperBase, GatePlan), CliError> {
        let mut base = TamperBase {
            key: 0,
            root: worktree.root().to_path_buf(),
            tree: of.tree.to_owned(),
            head: of.head.map(str::to_owned),
            run: of.run.clone(),
            at: of.at,
            examined: true,
            body: BaseBody {
                gates: notes_of(of.plan),
                unwatched: worktree.unwatched(),
                ignored: ignored::files(worktree, of.tree, of.plan),
                outside: outside::places(worktree, of.tree, of.plan),
                ..BaseBody::default()
            },
        };
        let mut plan = of.plan.clone();
        let dead = abandoned::find(journal, repository, worktree)?;
        if let Some(dead) = &dead {
            plan = plan_of(&dead.body);
            (base.tree, base.head) = (dead.tree.clone(), dead.head.clone());
            (base.at, base.examined) = (dead.at, false);
            base.body.gates = dead.body.gates.clone();
        }
        base.key = journal.begin_tamper_base(repository, &base)?;
        if let Some(dead) = &dead {
            journal.take_over_tamper(dead, worktree.root())?;
        }
        Ok((base, plan))
    }

    /// What is weakened in a tree, compared with the tree of the beginning; and what earlier runs
    /// left, as far as it is still there.
    pub fn look(&self, worktree: &Worktree, tree: &str, plan: &GatePlan) -> TamperSight {
        let mut findings = compare(worktree, (&self.base, tree), &self.plan, plan);
        findings.extend(self.unwatched(worktree));
        findings.extend(installed::edited(worktree, &self.plan, &self.base));
        findings.extend(outside::changed(worktree, tree, &self.plan, &self.base));
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

    /// An agent is about to be started: there may be something to look at.
    pub fn agent_starts(&mut self, journal: &mut Journal) -> Result<(), CliError> {
        self.base.examined = false;
        Ok(journal.mark_tamper_base(&self.base)?)
    }

    /// The agent could not be started: there is nothing to look at.
    pub fn agent_did_not_start(&mut self, journal: &mut Journal) -> Result<(), CliError> {
        self.base.examined = true;
        Ok(journal.mark_tamper_base(&self.base)?)
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
            let text = text.or_else(|| self.base.body.ignored.get(path).cloned());
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

/// The base, where what it is compared with can be read; else with the commit it began on.
fn readable(worktree: &Worktree, base: TamperBase) -> Option<TamperBase> {
    if worktree.has_tree(&base.tree) {
        return Some(base);
    }
    let tree = worktree.tree_of(base.head.as_deref()?).ok()?;
    Some(TamperBase { tree, ..base })
}

/// Whether what was found may be in this worktree: it was found here, or what is checked out was
/// built on the commit it was found on.
fn lies_here(worktree: &Worktree, one: &OpenTamper) -> bool {
    let built_on = |head: &str| worktree.descends_from(head);
    one.root == worktree.root() || one.base.head.as_deref().is_some_and(built_on)
}

/// What is weakened in a tree, and in the ignored files that checks read.
fn compare(
    worktree: &Worktree,
    (base, tree): (&TamperBase, &str),
    first: &GatePlan,
    now: &GatePlan,
) -> Vec<TamperFinding> {
    let found = ignored::trees(worktree, (base, tree), first)
        .and_then(|(first_tree, now_tree)| tamper(worktree, (&first_tree, &now_tree), first, now));
    let found = found.unwrap_or_else(|error| {
        // Not being able to look is not the same as having seen nothing.
        let message = format!(
            "what was weakened cannot be told, for the tree this run began on cannot be compared: {error}"
        );
        vec![TamperFinding::about(format!("trees:{}", base.tree), message)]
    });
    found.into_iter().map(|one| TamperFinding { base: base.tree.clone(), ..one }).collect()
}
