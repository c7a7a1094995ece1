//! Checkpoints: private refs to commits of the whole worktree, one for each iteration.

use std::collections::BTreeMap;
use std::path::PathBuf;

use flyball_core::{IterationNo, Moment, RunId};

use super::git::{Git, Written};
use super::{Worktree, WorktreeError};
use crate::clock;

/// Where all of flyball's refs are.
pub(super) const REFS: &str = "refs/flyball";
/// The line of a checkpoint's message that says what was checked out.
const HEAD_KEY: &str = "Flyball-Head";
/// Who signs them.
const PERSON: &str = "flyball <flyball@localhost>";

/// The worktree after one iteration, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The iteration; 0 is the time before the first.
    pub iteration: IterationNo,
    /// The commit that holds it.
    pub commit: String,
    /// The tree of everything.
    pub tree: String,
    /// When the commit was made; an unchanged worktree keeps the commit of before.
    pub at: Moment,
    /// What was checked out then, where there was a commit.
    pub head: Option<String>,
}

/// Where a checkpoint is brought back to. Never where the user works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RewindTarget {
    /// A branch that does not exist yet.
    NewBranch(String),
    /// A folder that does not exist yet, as a further worktree of the repository.
    NewWorktree(PathBuf),
}

impl Worktree {
    /// Keeps a tree as the checkpoint of an iteration; the name of its ref.
    pub fn checkpoint(
        &mut self,
        run: &RunId,
        iteration: IterationNo,
        tree: &str,
    ) -> Result<String, WorktreeError> {
        let name = ref_name(run, iteration)?;
        let head = self.previous.as_ref().and_then(|previous| previous.snapshot.head.clone());
        let latest = match &self.latest {
            Some((of, latest)) if of == run => Some(latest.clone()),
            // Nothing of a run is older than its first checkpoint.
            Some(_) | None if iteration == IterationNo::BASELINE => None,
            Some(_) | None => self.checkpoints(run)?.pop(),
        };
        let made = match latest {
            Some(latest) if latest.tree == tree && latest.head == head => {
                Checkpoint { iteration, ..latest }
            }
            latest => {
                let mut message = format!("flyball checkpoint\n\nrun {run}, iteration {iteration}");
                if let Some(head) = &head {
                    message = format!("{message}\n\n{HEAD_KEY}: {head}");
                }
                let parent = latest.map(|latest| latest.commit);
                let commit = self.commit(tree, parent.as_deref(), &message)?;
                Checkpoint { iteration, commit, tree: tree.to_owned(), at: Moment::default(), head }
            }
        };
        self.git.set_ref(&name, &made.commit)?;
        self.latest = Some((run.clone(), made));
        Ok(name)
    }

    /// The checkpoints of a run in this repository, by iteration.
    pub fn checkpoints(&self, run: &RunId) -> Result<Vec<Checkpoint>, WorktreeError> {
        list(&self.git, run)
    }

    /// Brings a checkpoint of this repository back; the commit that now holds it.
    pub fn rewind(
        &self,
        run: &RunId,
        iteration: IterationNo,
        target: &RewindTarget,
    ) -> Result<String, WorktreeError> {
        let found = self.checkpoints(run)?.into_iter().find(|found| found.iteration == iteration);
        let found =
            found.ok_or_else(|| WorktreeError::NoCheckpoint { run: run.clone(), iteration })?;
        self.bring_back(run, &found, target)
    }

    /// Brings back a checkpoint whose parts are in this repository; the commit that now holds it, on
    /// top of what was checked out then.
    pub fn bring_back(
        &self,
        run: &RunId,
        found: &Checkpoint,
        target: &RewindTarget,
    ) -> Result<String, WorktreeError> {
        let commit = self.on_top_of_head(run, found)?;
        match target {
            RewindTarget::NewBranch(name) => {
                self.git.call(["branch", "--no-track", "--", name, &commit]).run()?;
            }
            RewindTarget::NewWorktree(path) => {
                let path = std::path::absolute(path).map_err(|source| {
                    WorktreeError::io(format!("use `{}`", path.display()), source)
                })?;
                let call = self.git.call(["worktree", "add", "--detach", "--"]).as_people_do();
                call.arg(&path).arg(&commit).run()?;
            }
        }
        Ok(commit)
    }

    /// The checkpoints made before a moment, of all runs: the names of their refs.
    pub fn prunable(&self, before: Moment) -> Result<Vec<String>, WorktreeError> {
        prunable(&self.git, before)
    }

    /// Removes checkpoints made before a moment, of all runs; the names of the refs removed.
    pub fn prune(&mut self, before: Moment) -> Result<Vec<String>, WorktreeError> {
        let old = self.prunable(before)?;
        if !old.is_empty() {
            let orders: String = old.iter().flat_map(|name| ["delete ", name, "\n"]).collect();
            self.git.call(["update-ref", "--stdin"]).input(orders).run()?;
            self.latest = None;
        }
        Ok(old)
    }

    /// The checkpoint's tree as a commit that follows what was checked out.
    fn on_top_of_head(&self, run: &RunId, found: &Checkpoint) -> Result<String, WorktreeError> {
        let Some(head) = &found.head else { return Ok(found.commit.clone()) };
        let asked = format!("{head}^{{tree}}");
        let known = self.git.call(["rev-parse", "--verify", "--quiet", &asked]).answer()?;
        if !known.ok() {
            return Ok(found.commit.clone());
        }
        if known.text() == found.tree {
            return Ok(head.clone());
        }
        let iteration = found.iteration;
        let message = format!("flyball: worktree after iteration {iteration} of run {run}");
        self.commit(&found.tree, Some(head), &message)
    }

    fn commit(
        &self,
        tree: &str,
        parent: Option<&str>,
        message: &str,
    ) -> Result<String, WorktreeError> {
        let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
        let seconds = clock::wall().as_millis() / 1000;
        let text = format!(
            "tree {tree}\n{parent}author {PERSON} {seconds} +0000\n\
             committer {PERSON} {seconds} +0000\n\n{message}\n"
        );
        self.git.write_object(Written::Commit, text.as_bytes(), &self.scratch.beside())
    }
}

/// The checkpoints of a run in a repository, by iteration.
pub(super) fn list(git: &Git, run: &RunId) -> Result<Vec<Checkpoint>, WorktreeError> {
    let prefix = format!("{}/", ref_folder(run)?);
    let mut found: Vec<Checkpoint> = refs(git, &prefix)?
        .into_iter()
        .filter_map(|fields| {
            let [name, commit, tree, at, head] = &fields;
            Some(Checkpoint {
                iteration: IterationNo::new(name.strip_prefix(&prefix)?.parse().ok()?),
                commit: commit.clone(),
                tree: tree.clone(),
                at: unix(at)?,
                head: (!head.is_empty()).then(|| head.clone()),
            })
        })
        .collect();
    found.sort_by_key(|checkpoint| checkpoint.iteration);
    Ok(found)
}

/// The refs of a run's checkpoints in a repository, a line each with its commit: all that tells
/// whether they are the same. It is asked again and again, so it holds no more than that.
pub(super) fn commits(git: &Git, run: &RunId) -> Result<String, WorktreeError> {
    let prefix = format!("{}/", ref_folder(run)?);
    let call = git.call(["for-each-ref", "--format=%(refname)%09%(objectname)", &prefix]);
    Ok(call.run()?.text())
}

/// Such lines, by iteration.
pub(super) fn by_commit<'text>(
    refs: &'text str,
    run: &RunId,
) -> Result<BTreeMap<IterationNo, &'text str>, WorktreeError> {
    let prefix = format!("{}/", ref_folder(run)?);
    let parsed = refs.lines().filter_map(|line| {
        let (name, commit) = line.split_once('\t')?;
        let iteration = IterationNo::new(name.strip_prefix(&prefix)?.parse().ok()?);
        Some((iteration, commit))
    });
    Ok(parsed.collect())
}

/// The checkpoints of a repository made before a moment, of all runs: the names of their refs.
pub(super) fn prunable(git: &Git, before: Moment) -> Result<Vec<String>, WorktreeError> {
    let all = refs(git, &format!("{REFS}/"))?.into_iter();
    Ok(all.filter_map(|[name, _, _, at, _]| (unix(&at)? < before).then_some(name)).collect())
}

/// All refs below a prefix: name, commit, tree, time, what was checked out.
fn refs(git: &Git, prefix: &str) -> Result<Vec<[String; 5]>, WorktreeError> {
    let format = format!(
        "--format=%(refname)%09%(objectname)%09%(tree)%09%(committerdate:unix)\
         %09%(contents:trailers:key={HEAD_KEY},valueonly,separator=%00)"
    );
    let answer = git.call(["for-each-ref", &format, prefix]).run()?;
    let text = answer.text();
    Ok(text
        .lines()
        .filter_map(|line| {
            let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
            <[String; 5]>::try_from(fields).ok()
        })
        .collect())
}

pub(super) fn ref_name(run: &RunId, iteration: IterationNo) -> Result<String, WorktreeError> {
    Ok(format!("{}/{iteration}", ref_folder(run)?))
}

fn ref_folder(run: &RunId) -> Result<String, WorktreeError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if run.as_str().is_empty() || !run.as_str().chars().all(fits) {
        return Err(WorktreeError::BadRun { run: run.clone() });
    }
    Ok(format!("{REFS}/{run}"))
}

fn unix(seconds: &str) -> Option<Moment> {
    Some(Moment::from_millis(seconds.parse::<u64>().ok()?.saturating_mul(1000)))
}
