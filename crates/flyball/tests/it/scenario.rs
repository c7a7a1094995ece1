//! A repository, an agent script and a `flyball run` on them: everything real, nothing of the
//! user's. What was left running is found by a mark in the environment of the scenario.

use std::cell::Cell;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use flyball::clock::{self, Deadline};
use flyball::journal::{Journal, RunFilter, RunSummary};
use flyball::platform::{self, Process};
use flyball_core::{AgentFact, Event};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

/// How long anything may take that should take moments.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// Two open stories, one on each line, so that a script can mark them.
pub(crate) const TWO_STORIES: &str = r#"{"project":"p","userStories":[
{"id":"a","title":"do a","passes":false,"notes":""},
{"id":"b","title":"do b","passes":false,"notes":""}
]}
"#;

/// Words every agent script knows.
const PRELUDE: &str = r#"
say() { printf '%s\n' "$*"; }
commit() { git add -A && git commit -qm "$*"; }
work() { echo "$FLYBALL_ITERATION $*" > "work-$FLYBALL_ITERATION"; commit "work $FLYBALL_ITERATION $*"; }
pass() { sed -i '/"id":"'"$1"'"/s/"passes":false,"notes":""/"passes":true,"notes":"done"/' .flyball/tasks.json; commit "$1: done"; }
call() { printf '{"type":"call","id":"%s","tool":"%s","args":%s}\n' "$1" "$2" "$3"; }
result() { printf '{"type":"result","id":"%s","output":"%s","error":%s}\n' "$1" "$2" "$3"; }
text() { printf '{"type":"text","text":"%s"}\n' "$*"; }
usage() { printf '{"type":"usage","input_tokens":%s,"output_tokens":0,"cost_usd":%s}\n' "$1" "$2"; }
n=$FLYBALL_ITERATION
"#;

/// A scenario under construction, then at play.
pub(crate) struct Scenario {
    folder: TempDir,
    mark: String,
    env: Vec<(String, String)>,
    flags: Vec<String>,
    command: Vec<String>,
    starts: Cell<u32>,
}

/// What one run of the program gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Processes of the scenario that were alive when the program had ended.
    pub(crate) left: Vec<u32>,
}

/// A run at work.
pub(crate) struct Running<'s> {
    scenario: &'s Scenario,
    child: Option<Child>,
    number: u32,
}

impl Scenario {
    /// A repository with two open stories and review off.
    pub(crate) fn new() -> Self {
        Self::bare().tasks(TWO_STORIES).env("FLYBALL_REVIEW__ENABLED", "false")
    }

    /// A repository with one file, and neither tasks nor gates.
    pub(crate) fn bare() -> Self {
        let this = Self::no_repository().file("a.txt", "hi\n");
        this.git(&["init", "-q", "-b", "main"]);
        this
    }

    /// A folder that is no repository.
    pub(crate) fn no_repository() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mark = format!("FLYBALL_SCENARIO={}", folder.path().display());
        let (env, flags, command, starts) = (Vec::new(), Vec::new(), Vec::new(), Cell::new(0));
        let this = Self { folder, mark, env, flags, command, starts };
        fs::create_dir_all(this.root()).unwrap();
        fs::create_dir_all(this.outside("home")).unwrap();
        this.agent("true")
    }

    /// The repository's root.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// A path beside the repository.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The state folder with the journal.
    pub(crate) fn state(&self) -> PathBuf {
        self.outside("state")
    }

    /// Writes a file of the repository.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    /// Writes the task list.
    pub(crate) fn tasks(self, json: &str) -> Self {
        let ignore = include_str!("../../templates/gitignore");
        self.file(".flyball/.gitignore", ignore).file(".flyball/tasks.json", json)
    }

    /// Writes `flyball.toml`.
    pub(crate) fn config(self, toml: &str) -> Self {
        self.file("flyball.toml", toml)
    }

    /// Sets an environment variable for flyball.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds flags of `flyball run`.
    pub(crate) fn flags(mut self, flags: &[&str]) -> Self {
        self.flags.extend(flags.iter().map(|&flag| flag.to_owned()));
        self
    }

    /// The agent is this shell script, given after `--`. Plain text on stdout.
    pub(crate) fn agent(mut self, script: &str) -> Self {
        let path = self.outside("agent.sh");
        fs::write(&path, format!("{PRELUDE}{script}\n")).unwrap();
        self.command = vec!["sh".to_owned(), path.to_string_lossy().into_owned()];
        self
    }

    /// The agent is this shell script and speaks `output = "flyball"`.
    pub(crate) fn speaker(self, script: &str) -> Self {
        self.agent(script).env("FLYBALL_AGENT__OUTPUT", "flyball")
    }

    /// The agent is this command, given after `--`; none leaves it to the config.
    pub(crate) fn command(mut self, words: &[&str]) -> Self {
        self.command = words.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// Commits everything there is.
    pub(crate) fn committed(self) -> Self {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "init"]);
        self
    }

    /// Runs git in the repository; what it printed.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.program("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// `flyball run` with the flags and the agent, once everything is committed.
    pub(crate) fn run(&self) -> Ran {
        self.run_with(&[])
    }

    /// `flyball run` with further flags.
    pub(crate) fn run_with(&self, more: &[&str]) -> Ran {
        self.spawn_with(&[], more).wait()
    }

    /// `flyball run` under way.
    pub(crate) fn spawn(&self) -> Running<'_> {
        self.spawn_with(&[], &[])
    }

    /// `flyball run --resume`, with further flags.
    pub(crate) fn resume(&self, more: &[&str]) -> Ran {
        self.spawn_resume(&[], more).wait()
    }

    /// `flyball run --resume` under way: the agent comes from the journal.
    pub(crate) fn spawn_resume(&self, env: &[(&str, &str)], more: &[&str]) -> Running<'_> {
        let arguments: Vec<&str> = ["run", "--resume"].into_iter().chain(more.to_vec()).collect();
        self.start(env, &arguments)
    }

    /// `flyball run` under way, with further environment and flags.
    pub(crate) fn spawn_with(&self, env: &[(&str, &str)], more: &[&str]) -> Running<'_> {
        self.start(env, &self.arguments(more))
    }

    /// The arguments of `flyball run` with the flags and the agent.
    pub(crate) fn arguments<'s>(&'s self, more: &[&'s str]) -> Vec<&'s str> {
        let mut arguments = vec!["run"];
        arguments.extend(self.flags.iter().map(String::as_str));
        arguments.extend(more);
        if !self.command.is_empty() {
            arguments.push("--");
            arguments.extend(self.command.iter().map(String::as_str));
        }
        arguments
    }

    /// `flyball run` with its stderr on a terminal; what the terminal was sent.
    pub(crate) fn run_in_terminal(&self) -> String {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let mut command = self.program(env!("CARGO_BIN_EXE_flyball"));
        command.args(self.arguments(&[])).stdin(Stdio::null()).stdout(Stdio::null()).stderr(slave);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut seen = Vec::new();
        // A terminal that nobody holds any more answers with an error instead of an end.
        fs::File::from(master).read_to_end(&mut seen).ok();
        child.wait().unwrap();
        String::from_utf8(seen).unwrap()
    }

    /// Any command of flyball's.
    pub(crate) fn flyball(&self, arguments: &[&str]) -> Ran {
        self.start(&[], arguments).wait()
    }

    /// Any command of flyball's, in a folder beside the repository.
    pub(crate) fn flyball_in(&self, place: &str, arguments: &[&str]) -> Ran {
        let dir = self.outside(place).to_string_lossy().into_owned();
        let arguments: Vec<&str> = ["-C", &dir].into_iter().chain(arguments.to_vec()).collect();
        self.start(&[], &arguments).wait()
    }

    /// Any command of flyball's, under way.
    pub(crate) fn spawn_with_words(&self, arguments: &[&str]) -> Running<'_> {
        self.start(&[], arguments)
    }

    /// `flyball run` under way, deaf to nothing: under `nohup` these tests, and all they start, would
    /// ignore hang-ups.
    pub(crate) fn spawn_hearing_hangups(&self) -> Running<'_> {
        let flyball = env!("CARGO_BIN_EXE_flyball");
        let words = ["--default-signal=HUP", flyball].into_iter().chain(self.arguments(&[]));
        self.start_program("/usr/bin/env", &[], &words.collect::<Vec<_>>())
    }

    /// Any command of flyball's, under way in surroundings of its own.
    pub(crate) fn start(&self, env: &[(&str, &str)], arguments: &[&str]) -> Running<'_> {
        self.start_program(env!("CARGO_BIN_EXE_flyball"), env, arguments)
    }

    fn start_program(
        &self,
        program: &str,
        env: &[(&str, &str)],
        arguments: &[&str],
    ) -> Running<'_> {
        let number = self.starts.get() + 1;
        self.starts.set(number);
        let stream =
            |name: &str| fs::File::create(self.outside(&format!("{name}-{number}"))).unwrap();
        let child = self
            .program(program)
            .args(arguments)
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(stream("stdout"))
            .stderr(stream("stderr"))
            .spawn()
            .unwrap();
        Running { scenario: self, child: Some(child), number }
    }

    /// A program with the scenario's surroundings.
    pub(crate) fn program(&self, name: &str) -> Command {
        let (mark, value) = self.mark.split_once('=').unwrap();
        let mut command = Command::new(name);
        command
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.outside("home"))
            .env("FLYBALL_STATE", self.state())
            .env("OUT", self.folder.path())
            .env(mark, value)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // No housekeeping in the background: it would be taken for a child of the agent.
            .envs([("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "maintenance.auto")])
            .env("GIT_CONFIG_VALUE_0", "false")
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "somebody");
            command.env(format!("GIT_{who}_EMAIL"), "somebody@localhost");
        }
        command
    }

    /// Writes a file of the repository.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The text of a file of the repository.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        let text = fs::read(self.root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        String::from_utf8(text).unwrap()
    }

    /// The text of a file beside the repository; empty when there is none.
    pub(crate) fn told(&self, name: &str) -> String {
        fs::read_to_string(self.outside(name)).unwrap_or_default()
    }

    /// Whether a file of the repository is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root().join(name).exists()
    }

    /// The rows of `summary.csv` without its header.
    pub(crate) fn csv(&self) -> Vec<Vec<String>> {
        let text = self.read(".flyball/logs/summary.csv");
        let fields = |line: &str| line.split(',').map(str::to_owned).collect();
        text.lines().skip(1).map(fields).collect()
    }

    /// One column of `summary.csv`.
    pub(crate) fn column(&self, name: &str) -> Vec<String> {
        let text = self.read(".flyball/logs/summary.csv");
        let at = text.lines().next().unwrap().split(',').position(|c| c == name).unwrap();
        self.csv().into_iter().map(|row| row[at].clone()).collect()
    }

    /// The task list as JSON.
    pub(crate) fn stories(&self) -> Vec<serde_json::Value> {
        let list: serde_json::Value =
            serde_json::from_str(&self.read(".flyball/tasks.json")).unwrap();
        list["userStories"].as_array().unwrap().clone()
    }

    /// The journal.
    pub(crate) fn journal(&self) -> Journal {
        Journal::open(&self.state()).unwrap()
    }

    /// The latest run in the journal.
    pub(crate) fn last_run(&self) -> RunSummary {
        self.journal().runs(&RunFilter::default()).unwrap().into_iter().next().unwrap()
    }

    /// Tokens spent in the latest run by what the journal knows.
    fn spent(&self) -> u64 {
        let (journal, run) = (self.journal(), self.last_run().run);
        let events = journal.events(&run).unwrap();
        let mut spent = 0;
        for entry in events {
            if let Event::Agent { fact: AgentFact::Spent(spend), .. } = entry.unwrap().event {
                spent += spend.input_tokens;
            }
        }
        spent
    }

    /// Waits until so many tokens are journalled.
    #[track_caller]
    pub(crate) fn until_spent(&self, tokens: u64) {
        let limit = Deadline::after(LONG);
        while self.spent() != tokens {
            assert!(!limit.passed(), "{} spent", self.spent());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until a file beside the repository holds this text.
    #[track_caller]
    pub(crate) fn until_told(&self, name: &str, text: &str) {
        let limit = Deadline::after(LONG);
        while !self.told(name).contains(text) {
            assert!(!limit.passed(), "{name} never said {text:?}: {:?}", self.told(name));
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ids of live processes that carry the scenario's mark.
    pub(crate) fn alive(&self) -> Vec<u32> {
        self.processes().iter().map(|process| process.pid).collect()
    }

    fn processes(&self) -> Vec<Process> {
        let mut found = platform::snapshot();
        found.retain(|p| !p.zombie && platform::carries(p.pid, self.mark.as_bytes()));
        found
    }

    /// Waits until nothing of the scenario runs any more.
    #[track_caller]
    pub(crate) fn until_quiet(&self) {
        let limit = Deadline::after(Duration::from_secs(10));
        while !self.alive().is_empty() {
            assert!(!limit.passed(), "still running: {:?}", self.alive());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Scenario {
    fn drop(&mut self) {
        for process in self.processes() {
            platform::signal(&process, platform::Signal::Kill);
        }
    }
}

impl Running<'_> {
    /// Sends flyball itself a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.as_ref().unwrap().id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// The same, unless it has ended already.
    pub(crate) fn signal_if_there(&self, signal: Signal) {
        let id = i32::try_from(self.child.as_ref().unwrap().id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).ok();
    }

    fn said(&self, stream: &str) -> String {
        self.scenario.told(&format!("{stream}-{}", self.number))
    }

    /// Waits until flyball has said this.
    #[track_caller]
    pub(crate) fn until_says(&self, words: &str) {
        self.scenario.until_told(&format!("stderr-{}", self.number), words);
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn wait(mut self) -> Ran {
        let limit = Deadline::after(LONG);
        let mut child = self.child.take().unwrap();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if limit.passed() => {
                    child.kill().unwrap();
                    panic!("flyball does not end:\n{}", self.said("stderr"));
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        let code = status.code().or_else(|| status.signal().map(|signal| -signal)).unwrap();
        let left = self.scenario.alive();
        let (stdout, stderr) = (self.said("stdout"), self.said("stderr"));
        Ran { code, stdout, stderr, left }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

impl Ran {
    /// It ended with this code, with the summary, and left nothing running.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.stderr);
        assert_eq!(self.left, [0; 0], "left running:\n{}", self.stderr);
        assert_eq!(self.stderr.matches("flyball summary").count(), 1, "{}", self.stderr);
        self
    }

    /// It was refused with this code: an error, no run.
    #[track_caller]
    pub(crate) fn refused(self, code: i32) -> String {
        assert_eq!(self.code, code, "{}", self.stderr);
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        assert!(!self.stderr.contains("flyball summary"), "{}", self.stderr);
        assert_eq!((self.stdout.as_str(), self.left.len()), ("", 0));
        self.stderr
    }

    /// What it said holds this.
    #[track_caller]
    pub(crate) fn saying(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "{words:?} in:\n{}", self.stderr);
        self
    }

    /// What it said does not hold this.
    #[track_caller]
    pub(crate) fn silent_on(self, words: &str) -> Self {
        assert!(!self.stderr.contains(words), "{words:?} in:\n{}", self.stderr);
        self
    }
}

/// How long something took, in whole milliseconds.
pub(crate) fn timed<T>(go: impl FnOnce() -> T) -> (T, u64) {
    let since = clock::unique_nanos();
    let value = go();
    (value, u64::try_from((clock::unique_nanos() - since) / 1_000_000).unwrap())
}
