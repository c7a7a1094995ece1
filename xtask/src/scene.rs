//! A repository with an agent that asks, and a window on its runs.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use anyhow::{Context, Result, ensure};
use flyball_testkit::processes::cpu_used;
use tempfile::TempDir;

/// Asks once it is let go; then does what was answered.
const AGENT: &str = r#"
git config user.email a@example.invalid; git config user.name a
case "$(cat)" in
*mauve*) echo mauve > colour; git add -A; git commit -qm "colour: mauve"
  echo '<promise>COMPLETE</promise>' ;;
*) while [ ! -e ../go ]; do sleep 0.05; done
  echo '<promise>DECIDE:Blue or mauve?</promise>' ;;
esac
"#;

/// Makes many calls, some seconds long: CPU time is told in hundredths of a second, and a run that takes
/// ten of them would differ by a tenth where it differs by nothing.
const BUSY: &str = r#"
i=0; while [ $i -lt 30000 ]; do i=$((i+1))
printf '{"type":"call","id":"%s","tool":"Read","args":{"file":"f%s"}}\n' $i $i
printf '{"type":"result","id":"%s","output":"line %s","error":false}\n' $i $i
[ $((i % 1000)) = 0 ] && sleep 0.1; done
echo '{"type":"text","text":"done"}'
"#;

/// The pages of a window, one of them of each kind.
pub(crate) fn pages(run: &str) -> [String; 7] {
    [
        "/".to_owned(),
        format!("/runs/{run}"),
        format!("/runs/{run}/events"),
        format!("/runs/{run}/events?show=everything"),
        "/guards".to_owned(),
        "/tasks".to_owned(),
        format!("/compare?a={run}&b={run}"),
    ]
}

/// Fills a scene's journal with simulated runs, the latest of which has so many events.
pub(crate) fn fill(scene: &Scene, runs: &str, events: &str) -> Result<()> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let filled = Command::new(cargo)
        .args(["run", "-q", "-p", "flyball", "--example", "full_journal", "--"])
        .arg(scene.state())
        .args([runs, events])
        .status()?;
    ensure!(filled.success(), "the journal could not be written");
    Ok(())
}

/// Where all of it happens.
pub(crate) struct Scene {
    folder: TempDir,
    program: PathBuf,
}

/// A window that is served; ended when dropped.
pub(crate) struct Served {
    pub(crate) link: String,
    pub(crate) origin: String,
    child: Option<Child>,
    _stdin: ChildStdin,
}

impl Scene {
    pub(crate) fn new(program: &Path) -> Result<Self> {
        let scene = Self { folder: tempfile::tempdir()?, program: program.to_path_buf() };
        let root = scene.root();
        fs::create_dir_all(&root)?;
        fs::create_dir_all(scene.folder().join("home"))?;
        fs::write(scene.folder().join("agent.sh"), AGENT)?;
        fs::write(
            root.join("flyball.toml"),
            "[[gates.check]]\nname = \"tests\"\ncommand = \"test -e colour\"\n",
        )?;
        for words in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-qm", "init"]]
        {
            let done = scene.command("git").args(words).status()?;
            ensure!(done.success(), "git {words:?}");
        }
        Ok(scene)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn root(&self) -> PathBuf {
        self.folder().join("shop")
    }

    /// A program in the repository, with nothing of the user's.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.root())
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder().join("home"))
            .env("FLYBALL_STATE", self.state())
            .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_COMMITTER_NAME", "a")])
            .envs([
                ("GIT_AUTHOR_EMAIL", "a@example.invalid"),
                ("GIT_COMMITTER_EMAIL", "a@example.invalid"),
            ]);
        command
    }

    /// Serves the window.
    pub(crate) fn serve(&self) -> Result<Served> {
        self.serve_at(0)
    }

    /// Serves the window at a port; 0 is any.
    pub(crate) fn serve_at(&self, port: u16) -> Result<Served> {
        let mut command = self.command(&self.program);
        command.args(["serve", "--port", &port.to_string()]);
        Served::start(command)
    }

    /// A run that asks.
    pub(crate) fn start_run(&self) -> Result<Child> {
        let agent = self.folder().join("agent.sh");
        let mut run = self.command(&self.program);
        run.args(["run", "Paint it", "--", "sh"]).arg(agent);
        Ok(run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
    }

    /// Milliseconds of CPU time flyball itself used for a run with many calls.
    pub(crate) fn cpu_of_busy_run(&self) -> Result<u64> {
        let agent = self.folder().join("busy.sh");
        fs::write(&agent, BUSY)?;
        let mut run = self.command(&self.program);
        run.args(["run", "Be busy", "--once", "--", "sh"]).arg(agent);
        run.env("FLYBALL_AGENT__OUTPUT", "flyball");
        let mut child =
            run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        // The figures are there until it is waited for.
        let used = loop {
            let (used, is_over) = cpu_used(child.id()).context("the run is gone")?;
            if is_over {
                break used;
            }
            thread::sleep(Duration::from_millis(20));
        };
        child.wait()?;
        Ok(used)
    }

    /// The state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder().join("state")
    }

    /// Lets the agent ask.
    pub(crate) fn let_go(&self) -> Result<()> {
        Ok(fs::write(self.folder().join("go"), "")?)
    }

    /// Something changes in the journal.
    pub(crate) fn touch_journal(&self) -> Result<()> {
        let done = self.command(&self.program).args(["tasks", "retry", "none"]).output()?;
        ensure!(!done.status.success(), "there is no such task");
        Ok(())
    }

    /// What the agent made of the answer.
    pub(crate) fn colour(&self) -> Result<String> {
        Ok(fs::read_to_string(self.root().join("colour"))?.trim().to_owned())
    }
}

impl Served {
    /// Starts what serves a window, and waits for its link.
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take().context("no input")?;
        let said = child.stdout.take().context("no output")?;
        let line = BufReader::new(said).lines().next().context("it says nothing")??;
        let link = line.rsplit_once(' ').context("no link")?.1.to_owned();
        let origin = link.split("/open/").next().context("no link")?.to_owned();
        Ok(Self { link, origin, child: Some(child), _stdin: stdin })
    }

    /// The port it listens on.
    pub(crate) fn port(&self) -> Result<u16> {
        Ok(self.origin.rsplit_once(':').context("no port")?.1.parse()?)
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Ends it as a crash does.
    pub(crate) fn kill(mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }

    /// Ends it, as Ctrl-C does.
    pub(crate) fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(mut child) = self.child.take() {
            let pid = child.id().to_string();
            Command::new("kill").args(["-INT", &pid]).status().ok();
            child.wait().ok();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}
