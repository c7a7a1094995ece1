//! The vault: a repository in flyball's state folder that fetches every checkpoint. An agent may
//! move or delete what is in the user's repository; this copy is out of its reach.
//!
//! It is the vault that fetches. Of the user's repository only `upload-pack` runs, which takes
//! neither hooks nor filters from it. Objects are copied, never borrowed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_core::{IterationNo, Moment, RunId};

use super::checkpoint::{Checkpoint, REFS, by_commit, commits, list, prunable, ref_name};
use super::git::{Git, Starter};
use super::{Worktree, WorktreeError};

/// The folder of all vaults in the state folder.
const FOLDER: &str = "vault";
/// How many checkpoints are fetched in one call.
const BATCH: usize = 100;

/// The second home of a repository's checkpoints.
#[derive(Debug)]
pub struct Vault {
    git: Git,
    /// The repository whose checkpoints it keeps.
    from: PathBuf,
}

/// A checkpoint to be taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deposit {
    /// The name of its ref.
    pub name: String,
    /// Its commit.
    pub commit: String,
}

impl Vault {
    /// Where the vault of a worktree's repository is: worktrees of one repository share it.
    pub fn place(state_dir: &Path, worktree: &Worktree) -> PathBuf {
        let common = &worktree.git.common_dir;
        let hash = blake3::hash(common.as_os_str().as_encoded_bytes()).to_hex();
        let named = if common.ends_with(".git") { common.parent() } else { Some(common.as_path()) };
        let name = named.and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let name: String = name.chars().filter(fits).take(40).collect();
        let id = hash.get(..16).unwrap_or_default();
        state_dir.join(FOLDER).join(format!("{name}-{id}.git"))
    }

    /// The vault of a worktree's repository, if there is one.
    pub fn find(state_dir: &Path, worktree: &Worktree) -> Option<Self> {
        let path = Self::place(state_dir, worktree);
        path.join("HEAD").is_file().then(|| Self::at(&path, worktree))
    }

    /// The vault of a worktree's repository, be it there or not.
    pub fn of(state_dir: &Path, worktree: &Worktree) -> Self {
        Self::at(&Self::place(state_dir, worktree), worktree)
    }

    /// Makes it, when there is none yet.
    pub fn prepare(&self, worktree: &Worktree) -> Result<(), WorktreeError> {
        let path = &self.git.git_dir;
        if path.join("HEAD").is_file() {
            return Ok(());
        }
        let io = |source| WorktreeError::io(format!("make `{}`", path.display()), source);
        let folder = path.parent().ok_or_else(|| io(io::ErrorKind::NotFound.into()))?;
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder).map_err(io)?;
        let format = worktree.git.call(["rev-parse", "--show-object-format"]).run()?.text();
        let format = format!("--object-format={format}");
        let args = ["init", "-q", "--bare", "--template=", &format];
        self.git.call_in(folder, args).arg(path).run().map(drop)
    }

    /// The checkpoints of a run that the repository has and the vault has not.
    pub fn lacks(&self, there: Vec<Deposit>, run: &RunId) -> Result<Vec<Deposit>, WorktreeError> {
        self.clear_locks(run);
        let mut safe = Vec::new();
        for one in self.checkpoints(run)? {
            safe.push(ref_name(run, one.iteration)?);
        }
        Ok(there.into_iter().filter(|own| !safe.contains(&own.name)).collect())
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.git.git_dir
    }

    fn at(path: &Path, worktree: &Worktree) -> Self {
        // Programs of its own: it goes on when those of the worktree are ended, and it works where
        // they may not.
        let git = Git::bare(path, Arc::new(Starter::of_process()));
        Self { git, from: worktree.git.common_dir.clone() }
    }

    /// Takes in a checkpoint that is one it has under another name.
    pub fn name_again(&self, deposit: &Deposit) -> Result<(), WorktreeError> {
        self.git.set_ref(&deposit.name, &deposit.commit)
    }

    /// Takes checkpoints in.
    pub fn take_in(&self, deposits: &[Deposit]) -> Result<(), WorktreeError> {
        for batch in deposits.chunks(BATCH) {
            // By what they are and not by their names: those may have been moved since.
            let refspecs = batch.iter().map(|one| format!("+{}:{}", one.commit, one.name));
            let args = ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--"];
            let mut call = self.git.call(args).arg(&self.from);
            for refspec in refspecs {
                call = call.arg(refspec);
            }
            call.run()?;
        }
        Ok(())
    }

    /// Its checkpoints of a run, by iteration.
    pub fn checkpoints(&self, run: &RunId) -> Result<Vec<Checkpoint>, WorktreeError> {
        list(&self.git, run)
    }

    /// Iterations whose ref in the repository is no longer what was taken in. Asked with programs of
    /// its own: those of the worktree are ended with the run.
    pub fn changed(&self, run: &RunId) -> Result<Vec<IterationNo>, WorktreeError> {
        let theirs = commits(&self.git.bare_beside(&self.from), run)?;
        let safe = commits(&self.git, run)?;
        // Refs have the same names in both, so that nearly always nothing has to be taken apart.
        if safe == theirs {
            return Ok(Vec::new());
        }
        Ok(differing(&by_commit(&safe, run)?, &by_commit(&theirs, run)?))
    }

    /// Hands a checkpoint to the worktree's repository: what it is made of, without a name.
    pub fn hand_out(&self, worktree: &Worktree, found: &Checkpoint) -> Result<(), WorktreeError> {
        let fetch = |more: &[&str]| {
            let args = ["fetch", "-q", "--no-tags", "--no-write-fetch-head"];
            let call = worktree.git.call(args.iter().chain(more).chain(&["--"]));
            call.arg(&self.git.git_dir).arg(&found.commit).run()
        };
        // One that seems to be there may lack its parts.
        fetch(&[]).or_else(|_| fetch(&["--refetch"])).map(drop)
    }

    /// The names of its checkpoints made before a moment, of all runs.
    pub fn prunable(&self, before: Moment) -> Result<Vec<String>, WorktreeError> {
        prunable(&self.git, before)
    }

    /// Removes checkpoints made before a moment, of all runs, with what only they held.
    pub fn prune(&self, before: Moment) -> Result<Vec<String>, WorktreeError> {
        let old = self.prunable(before)?;
        if !old.is_empty() {
            let orders: String = old.iter().flat_map(|name| ["delete ", name, "\n"]).collect();
            self.git.call(["update-ref", "--stdin"]).input(orders).run()?;
            self.git.call(["gc", "--quiet", "--prune=now"]).run()?;
        }
        Ok(old)
    }

    /// Bytes it takes on the disk.
    pub fn size(&self) -> u64 {
        folder_size(&self.git.git_dir)
    }

    /// Ends what it is doing, and lets it do nothing any more.
    pub fn end(&self) {
        self.git.end();
    }
}

/// What the files of a folder take, links not followed.
fn folder_size(folder: &Path) -> u64 {
    let mut open = vec![folder.to_path_buf()];
    let mut size: u64 = 0;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => open.push(entry.path()),
                Ok(meta) => size = size.saturating_add(meta.len()),
                Err(_) => {}
            }
        }
    }
    size
}

/// Where the checkpoints of a run are kept, and which of them somebody has changed.
#[derive(Debug)]
pub struct Kept {
    /// By iteration; the vault's word counts where there is one.
    pub checkpoints: Vec<Checkpoint>,
    /// Iterations whose ref in the repository is not what the vault holds.
    pub changed: Vec<IterationNo>,
    /// Iterations the vault holds.
    in_vault: Vec<IterationNo>,
}

/// Iterations whose checkpoint is another one, or none, among the others.
fn differing<T: PartialEq>(
    safe: &BTreeMap<IterationNo, T>,
    others: &BTreeMap<IterationNo, T>,
) -> Vec<IterationNo> {
    let differs = |(iteration, commit): &(&IterationNo, &T)| others.get(iteration) != Some(commit);
    safe.iter().filter(differs).map(|(iteration, _)| *iteration).collect()
}

fn by_iteration(checkpoints: &[Checkpoint]) -> BTreeMap<IterationNo, &str> {
    checkpoints.iter().map(|one| (one.iteration, one.commit.as_str())).collect()
}

impl Kept {
    /// The checkpoints of a run, in the vault and in the repository.
    pub fn of(
        worktree: &Worktree,
        vault: Option<&Vault>,
        run: &RunId,
    ) -> Result<Self, WorktreeError> {
        let own = worktree.checkpoints(run)?;
        let Some(vault) = vault else {
            return Ok(Self { checkpoints: own, changed: Vec::new(), in_vault: Vec::new() });
        };
        let safe = vault.checkpoints(run)?;
        let changed = differing(&by_iteration(&safe), &by_iteration(&own));
        let in_vault: Vec<IterationNo> = safe.iter().map(|safe| safe.iteration).collect();
        let only_here = own.into_iter().filter(|own| !in_vault.contains(&own.iteration));
        let mut checkpoints: Vec<Checkpoint> = safe.into_iter().chain(only_here).collect();
        checkpoints.sort_by_key(|one| one.iteration);
        Ok(Self { checkpoints, changed, in_vault })
    }

    /// Whether the vault holds the checkpoint of an iteration.
    pub fn is_in_vault(&self, iteration: IterationNo) -> bool {
        self.in_vault.contains(&iteration)
    }
}

/// What the checkpoints of a repository take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Stock {
    /// How many there are.
    pub count: usize,
    /// Bytes on the disk.
    pub bytes: u64,
    /// Whether that is the vault; otherwise it is what only they hold in the repository.
    pub vault: bool,
}

impl Stock {
    /// Of the worktree's repository.
    pub fn of(state_dir: &Path, worktree: &Worktree) -> Result<Self, WorktreeError> {
        let count = |git: &Git| -> Result<usize, WorktreeError> {
            let refs = git.call(["for-each-ref", "--format=x", &format!("{REFS}/")]).run()?;
            Ok(refs.text().lines().count())
        };
        if let Some(vault) = Vault::find(state_dir, worktree) {
            return Ok(Self { count: count(&vault.git)?, bytes: vault.size(), vault: true });
        }
        let git = &worktree.git;
        let glob = format!("--glob={REFS}/*");
        let args = ["rev-list", "--objects", "--disk-usage", &glob, "--not", "--branches"];
        let bytes = git.call(args).arg("--tags").arg("--remotes").run()?.text();
        let bytes = bytes.parse().unwrap_or(0);
        Ok(Self { count: count(git)?, bytes, vault: false })
    }
}

impl Worktree {
    /// The checkpoints of a run as they are in the repository now. Asked for before an agent works
    /// there: later they may be somebody else's.
    pub fn deposits(&self, run: &RunId) -> Result<Vec<Deposit>, WorktreeError> {
        let with_name = |own: Checkpoint| {
            Ok(Deposit { name: ref_name(run, own.iteration)?, commit: own.commit })
        };
        // What has just been begun has the one it made itself.
        match self.deposit(run) {
            Some(only) => Ok(vec![only]),
            None => self.checkpoints(run)?.into_iter().map(with_name).collect(),
        }
    }

    /// The latest checkpoint this worktree made of a run, for the vault.
    pub fn deposit(&self, run: &RunId) -> Option<Deposit> {
        let (of, latest) = self.latest.as_ref()?;
        let name = ref_name(run, latest.iteration).ok()?;
        (of == run).then(|| Deposit { name, commit: latest.commit.clone() })
    }
}
