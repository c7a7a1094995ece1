//! A place for one escape: a home, a repository and a state folder of one user, and flyball run in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, lchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use flyball::platform;
use flyball_testkit::apart;
use tempfile::TempDir;

/// Far above anything a healthy machine needs; only a hang reaches it.
pub(crate) const LONG: Duration = Duration::from_mins(2);

const PROGRAM: &str = env!("CARGO_BIN_EXE_flyball");
/// `daemon`, who is there on every system: all that matters is that it is not root.
const ORDINARY: u32 = 1;

/// Who the agent, and flyball, are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// Who runs the tests; root in CI.
    Own,
    /// Somebody without rights.
    Ordinary,
}

impl User {
    /// Everybody who can be tried here. Only root can be somebody else.
    pub(crate) fn all() -> Vec<Self> {
        if is_root() { vec![Self::Own, Self::Ordinary] } else { vec![Self::Own] }
    }

    /// Whether it is root.
    pub(crate) fn is_root(self) -> bool {
        self == Self::Own && is_root()
    }
}

fn is_root() -> bool {
    platform::own_user() == 0
}

/// One home with all that is in it. Outside of the folders everybody writes to, so that a sandbox
/// has something to protect.
pub(crate) struct House {
    folder: TempDir,
    user: User,
    /// The program under a name that this user can reach, where the one that was built is below a folder
    /// of root's alone.
    reachable: Option<TempDir>,
    env: Vec<(String, String)>,
}

/// Whether everybody can reach a file.
fn is_open(file: &Path) -> bool {
    file.ancestors()
        .skip(1)
        .all(|folder| fs::metadata(folder).is_ok_and(|data| data.permissions().mode() & 0o001 != 0))
}

/// A folder everybody can reach, with the program in it. Not in a house: what is there is given away.
fn linked(usual: &Path) -> TempDir {
    let folder = apart::folder(usual).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("flyball");
    if fs::hard_link(PROGRAM, &path).is_err() {
        fs::copy(PROGRAM, &path).unwrap();
    }
    folder
}

/// How a run in it went.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
    pub(crate) log: String,
}

impl House {
    pub(crate) fn new(user: User) -> Self {
        // Root's own caches cannot be read by the others who play here.
        let usual = if is_root() { "/var/lib" } else { env!("CARGO_TARGET_TMPDIR") };
        let folder = apart::folder(Path::new(usual)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let is_shut = user == User::Ordinary && !is_open(Path::new(PROGRAM));
        let reachable = is_shut.then(|| linked(Path::new(usual)));
        let house = Self { folder, user, reachable, env: Vec::new() };
        for name in ["home", "repo", "deep/state/secrets", "deep/state/vault", "work"] {
            fs::create_dir_all(house.path(name)).unwrap();
        }
        fs::create_dir(house.path("deep/state/victim-folder")).unwrap();
        house.file("deep/state/victim", "x");
        house.file("deep/state/victim-to-unlink", "x");
        house.file("deep/state/secrets/token", "secret");
        house.file("repo/a.txt", "hi\n");
        house.file("attempts.py", include_str!("attempts.py"));
        house.settle();
        house.git(&["init", "-q", "-b", "main"]);
        house.commit();
        house
    }

    /// Sets a variable for flyball and all it starts.
    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path("deep/state")
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Gives everything to the user it belongs to.
    pub(crate) fn settle(&self) {
        if self.user == User::Ordinary {
            give(self.folder.path());
        }
    }

    /// Commits everything there is.
    pub(crate) fn commit(&self) {
        self.settle();
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.command("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A program of this user, in the repository.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path("repo"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.path("home"))
            .env("FLYBALL_STATE", self.state())
            .env("FLYBALL_TEST_PROGRAM", self.program())
            .env("FLYBALL_TEST_WORK", self.path("work"))
            .env("FLYBALL_REVIEW__ENABLED", "false")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        for (name, value) in [("NAME", "a"), ("EMAIL", "a@example.invalid")] {
            command.env(format!("GIT_AUTHOR_{name}"), value);
            command.env(format!("GIT_COMMITTER_{name}"), value);
        }
        if self.user == User::Ordinary {
            command.uid(ORDINARY).gid(ORDINARY);
        }
        command
    }

    pub(crate) fn flyball(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&self.program());
        command.args(arguments);
        command
    }

    fn program(&self) -> String {
        let linked = self.reachable.as_ref().map(|folder| folder.path().join("flyball"));
        linked.map_or_else(|| PROGRAM.to_owned(), |path| path.to_string_lossy().into_owned())
    }

    /// One iteration with this agent.
    pub(crate) fn play(&self, agent: &[&str]) -> Played {
        self.play_with(&[], agent)
    }

    /// One iteration with further flags of `flyball run`.
    pub(crate) fn play_with(&self, flags: &[&str], agent: &[&str]) -> Played {
        self.settle();
        let child = self.start_with(flags, agent);
        self.end(child)
    }

    pub(crate) fn start(&self, agent: &[&str]) -> Child {
        self.start_with(&[], agent)
    }

    fn start_with(&self, flags: &[&str], agent: &[&str]) -> Child {
        let mut command = self.flyball(&["run", "--max-iterations", "1", "--trust-claims"]);
        command.args(flags).arg("--").args(agent);
        let said = fs::File::create(self.path("said")).unwrap();
        command.stdout(said.try_clone().unwrap()).stderr(said).spawn().unwrap()
    }

    /// Waits for the end of a run.
    pub(crate) fn end(&self, mut child: Child) -> Played {
        let limit = Deadline::after(LONG);
        let code = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status.code();
            }
            if limit.passed() {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("the run never ended:\n{}", self.said());
            }
            thread::sleep(Duration::from_millis(10));
        };
        let log = self.path("repo/.flyball/logs/iteration-001.log");
        let log = fs::read(log).unwrap_or_default();
        Played { code, said: self.said(), log: String::from_utf8_lossy(&log).into_owned() }
    }

    pub(crate) fn said(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.path("said")).unwrap_or_default()).into_owned()
    }

    /// Plays the attempts of a group; whether each went through, and with which words.
    pub(crate) fn attempts(&self, flags: &[&str], group: &str) -> BTreeMap<u32, (bool, String)> {
        let (script, state) = (self.text("attempts.py"), self.text("deep/state"));
        let played = self.play_with(flags, &["python3", &script, group, &state]);
        let mut found = BTreeMap::new();
        for line in played.log.lines().filter_map(|line| line.strip_prefix("ATTEMPT ")) {
            let (number, rest) = line.split_once(' ').unwrap();
            found.insert(number.parse().unwrap(), (rest.starts_with("through"), rest.to_owned()));
        }
        assert!(!found.is_empty(), "nothing was tried:\n{}\n{}", played.said, played.log);
        found
    }

    /// The numbers of what went through, without and with what protects.
    pub(crate) fn through(found: &BTreeMap<u32, (bool, String)>) -> Vec<u32> {
        found.iter().filter(|(_, (through, _))| *through).map(|(number, _)| *number).collect()
    }

    /// Whether walls can be had here, as flyball itself says.
    pub(crate) fn has_walls(&self) -> bool {
        let said = self.flyball(&["doctor", "--json"]).output().unwrap();
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(text.contains("\"shield\""), "{text}");
        text.contains("on (namespaces)") || text.contains("on (bubblewrap)")
    }

    /// Where there are no walls, what is said then is looked at; whether that was so.
    pub(crate) fn falls_back(&self) -> bool {
        if self.has_walls() {
            return false;
        }
        eprintln!("no namespaces here: what flyball says without them was tested instead");
        let played = self.play(&["true"]);
        assert!(played.said.contains("shield: off: "), "{}", played.said);
        let required = self.env_run("FLYBALL_SANDBOX__SHIELD", "require");
        assert_eq!(required.0, Some(78), "{}", required.1);
        assert!(required.1.contains("the shield was required and cannot be had: "));
        let asked = self.env_run("FLYBALL_SANDBOX__PROFILE", "workspace");
        assert_eq!(asked.0, Some(78), "{}", asked.1);
        assert!(asked.1.contains("sandbox \"workspace\" cannot be had here: "), "{}", asked.1);
        true
    }

    fn env_run(&self, name: &str, value: &str) -> (Option<i32>, String) {
        let mut command = self.flyball(&["run", "--once", "--trust-claims", "--", "true"]);
        let output = command.env(name, value).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Processes with this word among their arguments.
pub(crate) fn with_argument(word: &str) -> Vec<u32> {
    let has = |pid: u32| {
        platform::arguments_of(pid).is_some_and(|words| words.iter().any(|found| found == word))
    };
    let table = platform::snapshot().into_iter().filter(|process| !process.zombie);
    table.map(|process| process.pid).filter(|pid| has(*pid)).collect()
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let limit = Deadline::after(LONG);
    while !holds() {
        assert!(!limit.passed(), "never: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn give(path: &Path) {
    lchown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
    if path.is_symlink() || !path.is_dir() {
        return;
    }
    chown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
    for entry in fs::read_dir(path).unwrap() {
        give(&entry.unwrap().path());
    }
}
