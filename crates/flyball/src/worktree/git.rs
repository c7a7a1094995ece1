//! Every call of the `git` program: one environment, no hooks, no signing, no prompts, no locks on
//! what is the user's, a time limit, and bounded output.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::WorktreeError;
use crate::clock::Deadline;
use crate::platform;

/// How long one call may take: hashing a huge worktree for the first time is slow.
pub(super) const TIME_MAX: Duration = Duration::from_mins(10);
/// How much of an answer is kept unless a call says otherwise.
const OUTPUT_MAX: usize = 256 * 1024 * 1024;
/// How much of git's complaints is kept.
const STDERR_MAX: usize = 16 * 1024;
/// The name of temporary indexes: this, the process id, and a number.
const SCRATCH: &str = "flyball-index";

/// Settings that hold for every call, whatever the user's configuration says.
const SETTINGS: [&str; 14] = [
    "core.quotePath=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.splitIndex=false",
    "core.safecrlf=false",
    "core.logAllRefUpdates=false",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.addEmbeddedRepo=false",
    "advice.detachedHead=false",
    "color.ui=false",
    "core.pager=cat",
];

/// Variables of git's that say how git itself works here; all others are the caller's own business.
const KEPT: [&str; 7] = [
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSL_CAINFO",
];

/// Who signs what flyball commits for itself.
const PERSON: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "flyball"),
    ("GIT_AUTHOR_EMAIL", "flyball@localhost"),
    ("GIT_COMMITTER_NAME", "flyball"),
    ("GIT_COMMITTER_EMAIL", "flyball@localhost"),
];

/// Git in one worktree.
#[derive(Clone, Debug)]
pub(super) struct Git {
    pub(super) root: PathBuf,
    pub(super) git_dir: PathBuf,
}

impl Git {
    /// Finds the worktree a folder lies in.
    pub(super) fn discover(dir: &Path) -> Result<Self, WorktreeError> {
        let answer = Call::new(dir)
            .args(["rev-parse", "--is-bare-repository", "--absolute-git-dir", "--show-toplevel"])
            .answer()?;
        let mut lines = answer.stdout.splitn(3, |byte| *byte == b'\n');
        let (_bare, git_dir, root) = (lines.next(), lines.next(), lines.next());
        if answer.ok() {
            let path = |bytes: Option<&[u8]>| {
                let bytes = bytes.unwrap_or_default();
                let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
                PathBuf::from(OsString::from_vec(bytes.to_vec()))
            };
            return Ok(Self { root: path(root), git_dir: path(git_dir) });
        }
        let dir = dir.to_path_buf();
        if answer.stderr.contains("not a git repository") {
            return Err(WorktreeError::NoRepository { dir });
        }
        if answer.stderr.contains("must be run in a work tree") {
            return Err(WorktreeError::NoWorktree { dir });
        }
        Err(answer.refusal("rev-parse"))
    }

    /// A call in this worktree.
    pub(super) fn call<I, S>(&self, args: I) -> Call
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Call::new(&self.root).args(args)
    }
}

/// What git says its version is.
pub(super) fn version() -> Result<String, WorktreeError> {
    let text = Call::new(Path::new("/")).args(["--version"]).run()?.text();
    Ok(text.trim_start_matches("git version").trim().to_owned())
}

/// One call of git, being put together.
pub(super) struct Call {
    command: Command,
    dir: PathBuf,
    name: String,
    input: Option<Vec<u8>>,
    output_max: usize,
}

impl Call {
    fn new(dir: &Path) -> Self {
        let mut command = Command::new("git");
        command.current_dir(dir).process_group(0);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("GIT_") && !KEPT.contains(&text.as_ref()) {
                command.env_remove(&name);
            }
        }
        command.envs([("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C")]);
        command.envs(PERSON).env("GIT_LITERAL_PATHSPECS", "1").arg("--no-optional-locks");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        let (dir, name) = (dir.to_path_buf(), String::new());
        Self { command, dir, name, input: None, output_max: OUTPUT_MAX }
    }

    fn args<I, S>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        for arg in args {
            if self.name.is_empty() {
                self.name = arg.as_ref().to_string_lossy().into_owned();
            }
            self.command.arg(arg);
        }
        self
    }

    /// With one more argument.
    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// With this index instead of the user's.
    pub(super) fn index(mut self, index: &Path) -> Self {
        self.command.env("GIT_INDEX_FILE", index);
        self
    }

    /// With another folder in place of the worktree.
    pub(super) fn work_tree(mut self, git_dir: &Path, dir: &Path) -> Self {
        self.command.env("GIT_DIR", git_dir).env("GIT_WORK_TREE", dir).current_dir(dir);
        dir.clone_into(&mut self.dir);
        self
    }

    /// With pathspecs that have magic; without this they are plain paths.
    pub(super) fn magic(mut self) -> Self {
        self.command.env("GIT_LITERAL_PATHSPECS", "0");
        self
    }

    /// With this on its standard input.
    pub(super) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Keeps no more than this much of the answer.
    pub(super) fn at_most(mut self, bytes: usize) -> Self {
        self.output_max = bytes;
        self
    }

    /// What git says, as long as it says it successfully.
    pub(super) fn run(self) -> Result<Answer, WorktreeError> {
        let name = self.name.clone();
        let answer = self.answer()?;
        if answer.ok() { Ok(answer) } else { Err(answer.refusal(&name)) }
    }

    /// What git says, whatever it is.
    pub(super) fn answer(mut self) -> Result<Answer, WorktreeError> {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.command.spawn().map_err(|source| self.not_started(source))?;
        match self.collect(child) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err(WorktreeError::TimedOut { command: self.name }),
            Err(source) => Err(WorktreeError::io(format!("read `git {}`", self.name), source)),
        }
    }

    fn collect(&mut self, mut child: Child) -> io::Result<Option<Answer>> {
        let limit = Deadline::after(TIME_MAX);
        let stdout = keep(child.stdout.take(), self.output_max)?;
        let stderr = keep(child.stderr.take(), STDERR_MAX)?;
        if let (Some(input), Some(mut stdin)) = (self.input.take(), child.stdin.take()) {
            // Git that ended before it read everything says why itself.
            stdin.write_all(&input).ok();
        }
        let told = stdout.recv_timeout(limit.left());
        let complained = stderr.recv_timeout(limit.left());
        let (Ok((stdout, cut)), Ok((stderr, _))) = (told, complained) else {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        };
        let status = child.wait()?;
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Ok(Some(Answer { status, stdout, cut, stderr }))
    }

    fn not_started(&self, source: io::Error) -> WorktreeError {
        if source.kind() != io::ErrorKind::NotFound {
            return WorktreeError::io("start `git`", source);
        }
        if self.dir.is_dir() {
            return WorktreeError::NoGit;
        }
        WorktreeError::NoDirectory { dir: self.dir.clone() }
    }
}

/// What one call of git said.
pub(super) struct Answer {
    status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    /// There was more.
    pub(super) cut: bool,
    pub(super) stderr: String,
}

impl Answer {
    pub(super) fn ok(&self) -> bool {
        self.status.success()
    }

    pub(super) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The answer as one line of text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }

    /// The parts of an answer separated by NUL.
    pub(super) fn parts(&self) -> impl Iterator<Item = String> {
        self.stdout
            .split(|byte| *byte == 0)
            .filter(|part| !part.is_empty())
            .map(|part| String::from_utf8_lossy(part).into_owned())
    }

    /// The error this answer is.
    pub(super) fn refusal(&self, name: &str) -> WorktreeError {
        let message = self.stderr.trim().trim_start_matches("fatal: ");
        let message = match message {
            "" => self.status.to_string(),
            message => message.to_owned(),
        };
        WorktreeError::Git { command: name.to_owned(), message }
    }
}

/// Reads a pipe to its end in a thread of its own, keeping the first `max` bytes.
fn keep<R>(pipe: Option<R>, max: usize) -> io::Result<Receiver<(Vec<u8>, bool)>>
where
    R: Read + Send + 'static,
{
    let mut pipe = pipe.ok_or_else(|| io::Error::other("a pipe is missing"))?;
    let (sender, receiver) = channel();
    thread::Builder::new().name("git".to_owned()).spawn(move || {
        let mut kept = Vec::new();
        let most = u64::try_from(max).unwrap_or(u64::MAX);
        // What was read before an error is still what git said.
        (&mut pipe).take(most).read_to_end(&mut kept).ok();
        let more = io::copy(&mut pipe, &mut io::sink()).unwrap_or(0);
        // Nobody listens any more when git took too long.
        sender.send((kept, more > 0)).ok();
    })?;
    Ok(receiver)
}

/// A name for a temporary index that nobody else uses. What dead processes left is removed.
pub(super) fn scratch_index(git_dir: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for entry in fs::read_dir(git_dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(SCRATCH).and_then(|rest| rest.split('-').nth(1));
        let dead = |pid: &str| pid.parse().is_ok_and(|pid| !platform::alive(pid));
        if owner.is_some_and(dead) {
            // Someone else may have removed it first.
            fs::remove_file(entry.path()).ok();
        }
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    git_dir.join(format!("{SCRATCH}-{}-{number}", std::process::id()))
}
