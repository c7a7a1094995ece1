//! flyball killed at random moments, again and again: the program itself, its keeper, or both. Whatever
//! the moment, nothing is left running, the journal is whole, and a resume goes on until the work is
//! done; no iteration that was lost is taken for one without progress.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::processes;
use crate::sim::Rng;

/// How long anything may take that should take moments, on a machine with much to do.
const LONG: Duration = Duration::from_mins(1);
/// The latest moment of a kill after a start.
const KILL_MS: u64 = 1_500;
/// Stories of one run.
const STORIES: u32 = 5;

/// What the agent does depends on what it finds, not on its number: one that is started again after a
/// loss goes on where the work stands. git's own lock is flyball's care, any other the agent's.
const AGENT: &str = r#"
find .git -name '*.lock' ! -name index.lock -delete
next=$(grep -o '"id":"[a-z]*","title":"t","passes":false' .flyball/tasks.json | head -1 | cut -d'"' -f4)
echo '{"type":"call","id":"1","tool":"bash","args":{"command":"make '$next'"}}'
sleep 0.1
echo "$next $FLYBALL_ITERATION" >> "work-$next"
echo '{"type":"result","id":"1","output":"made '$next' in '$FLYBALL_ITERATION'","error":null}'
setsid sleep 300 &
git add -A && git commit -qm "work on $next"
sleep 0.1
sed -i '/"id":"'$next'"/s/"passes":false,"notes":""/"passes":true,"notes":"done"/' .flyball/tasks.json
git add -A && git commit -qm "$next: done"
echo '{"type":"usage","input_tokens":10,"output_tokens":0,"cost_usd":0}'
"#;

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chaos {
    /// Times flyball was killed.
    pub kills: u32,
    /// Times only its keeper was.
    pub keeper_kills: u32,
    /// Runs that came to their end.
    pub runs: u32,
}

/// Kills flyball so many times. `folder` must be new and is the caller's to remove; the error says what
/// did not hold, and at which kill.
pub fn run(program: &Path, folder: &Path, seed: u64, kills: u32) -> Result<Chaos, String> {
    let mut rng = Rng::new(seed);
    let mut done = Chaos::default();
    while done.kills + done.keeper_kills < kills {
        let place = folder.join(format!("run-{}", done.runs));
        let scene = Scene::lay_out(program, &place).map_err(|error| format!("scene: {error}"))?;
        let played = scene.play(&mut rng, &mut done, kills);
        scene.end_all();
        played.map_err(|why| format!("seed {seed}, after {done:?}: {why}"))?;
        done.runs += 1;
        fs::remove_dir_all(&place).ok();
    }
    Ok(done)
}

/// A repository, a state folder and an agent.
struct Scene {
    program: PathBuf,
    folder: PathBuf,
    mark: String,
}

/// How flyball is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    Anew,
    /// What was killed goes on.
    Again,
}

/// Whether anything more is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weather {
    Rough,
    Calm,
}

/// How one start went.
enum Went {
    Ended(ExitStatus),
    Killed,
}

impl Scene {
    fn lay_out(program: &Path, folder: &Path) -> std::io::Result<Self> {
        let (repo, mark) = (folder.join("repo"), format!("FLYBALL_CHAOS={}", folder.display()));
        fs::create_dir_all(repo.join(".flyball"))?;
        fs::create_dir_all(folder.join("home"))?;
        fs::write(folder.join("agent.sh"), AGENT)?;
        let stories: Vec<String> = ('a'..)
            .take(STORIES as usize)
            .map(|id| format!(r#"{{"id":"{id}","title":"t","passes":false,"notes":""}}"#))
            .collect();
        let tasks = format!("{{\"userStories\":[\n{}\n]}}\n", stories.join(",\n"));
        fs::write(repo.join(".flyball/tasks.json"), tasks)?;
        let ignore = "logs/\nactive.json\nblocked.txt\ndecide.txt\nresponses/\n";
        fs::write(repo.join(".flyball/.gitignore"), ignore)?;
        let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"sleep 0.05; ls work-*\"\n";
        fs::write(repo.join("flyball.toml"), gate)?;
        let scene = Self { program: program.into(), folder: folder.into(), mark };
        for words in ["init -q -b main", "add -A", "commit -q -m init"] {
            scene.command("git").args(words.split(' ')).status()?;
        }
        Ok(scene)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let (name, value) = self.mark.split_once('=').unwrap_or((&self.mark, ""));
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.join("repo"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.join("home"))
            .env("FLYBALL_STATE", self.folder.join("state"))
            .env("FLYBALL_AGENT__OUTPUT", "flyball")
            .env("FLYBALL_REVIEW__ENABLED", "false")
            // Sessions that are killed from outside are failed ones; here that is not the agent's fault.
            .env("FLYBALL_ITERATIONS__CIRCUIT_BREAKER", "1000")
            .env("FLYBALL_LIMITS__ITERATIONS", "0")
            .env(name, value)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "maintenance.auto")])
            .env("GIT_CONFIG_VALUE_0", "false")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "somebody");
            command.env(format!("GIT_{who}_EMAIL"), "somebody@localhost");
        }
        command
    }

    fn start(&self, begin: Begin) -> Result<Child, String> {
        let mut flyball = self.command(&self.program);
        let log = fs::File::create(self.folder.join("said")).map_err(|error| error.to_string())?;
        flyball.stderr(log);
        if begin == Begin::Anew {
            let agent = self.folder.join("agent.sh");
            flyball.args(["run", "--", "sh"]).arg(agent);
        } else {
            flyball.args(["run", "--resume"]);
        }
        flyball.spawn().map_err(|error| format!("flyball could not be started: {error}"))
    }

    fn play(&self, rng: &mut Rng, done: &mut Chaos, kills: u32) -> Result<(), String> {
        let mut begin = Begin::Anew;
        loop {
            let child = self.start(begin)?;
            let weather = if done.kills + done.keeper_kills >= kills {
                Weather::Calm
            } else {
                Weather::Rough
            };
            match self.disturb(child, rng, done, weather)? {
                Went::Killed => {
                    self.until_quiet()?;
                    self.check_journal()?;
                    begin = Begin::Again;
                }
                Went::Ended(status) => match status.code() {
                    Some(0) => return self.check_work(),
                    // Killed before the run was in the journal: there is nothing to resume.
                    Some(66) if begin == Begin::Again => begin = Begin::Anew,
                    // Killed after the end was in the journal: it is told so.
                    Some(64) if self.said().contains("is complete") => return self.check_work(),
                    code => return Err(format!("it ended with {code:?}:\n{}", self.said())),
                },
            }
        }
    }

    /// Lets it run for a while, then kills something of it; or waits for its end.
    fn disturb(
        &self,
        mut child: Child,
        rng: &mut Rng,
        done: &mut Chaos,
        weather: Weather,
    ) -> Result<Went, String> {
        let moment = Duration::from_millis(rng.below(KILL_MS));
        let only_keeper = rng.chance(20);
        let begun = now();
        let mut is_disturbed = weather == Weather::Calm;
        loop {
            let ended = child.try_wait().map_err(|error| error.to_string())?;
            if let Some(status) = ended {
                return Ok(Went::Ended(status));
            }
            if !is_disturbed && begun.elapsed() >= moment {
                is_disturbed = true;
                let keepers = if only_keeper { self.keepers(child.id()) } else { Vec::new() };
                if keepers.is_empty() {
                    done.kills += 1;
                    child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
                    return Ok(Went::Killed);
                }
                done.keeper_kills += 1;
                for pid in &keepers {
                    kill(*pid);
                }
            }
            if begun.elapsed() > LONG {
                child.kill().and_then(|()| child.wait()).ok();
                return Err(format!("it does not end:\n{}", self.said()));
            }
            thread::sleep(Duration::from_millis(3));
        }
    }

    /// flyball's own processes but the first.
    fn keepers(&self, own: u32) -> Vec<u32> {
        let all = processes::marked(&self.mark);
        let is_keeper = |line: &str| line.starts_with("flyball ") && line.contains("keeper");
        all.into_iter().filter(|(pid, line)| *pid != own && is_keeper(line)).map(|p| p.0).collect()
    }

    fn until_quiet(&self) -> Result<(), String> {
        let begun = now();
        loop {
            let left = processes::marked(&self.mark);
            if left.is_empty() {
                return Ok(());
            }
            if begun.elapsed() > Duration::from_secs(15) {
                return Err(format!("left running: {left:?}"));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn check_journal(&self) -> Result<(), String> {
        let path = self.folder.join("state/journal.sqlite");
        if !path.exists() {
            return Ok(());
        }
        let verdict = rusqlite::Connection::open(&path).and_then(|journal| {
            journal.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
        });
        match verdict.as_deref() {
            Ok("ok") => Ok(()),
            other => Err(format!("the journal is damaged: {other:?}")),
        }
    }

    /// The work is done once, and nothing was taken for an iteration without progress.
    fn check_work(&self) -> Result<(), String> {
        self.until_quiet()?;
        self.check_journal()?;
        let tasks = fs::read_to_string(self.folder.join("repo/.flyball/tasks.json"));
        let passed = tasks.unwrap_or_default().matches("\"passes\":true").count();
        if passed != STORIES as usize {
            return Err(format!("{passed} of {STORIES} stories passed:\n{}", self.said()));
        }
        if self.said().contains("stuck (code 4)") {
            return Err(format!("taken for stuck:\n{}", self.said()));
        }
        Ok(())
    }

    fn said(&self) -> String {
        fs::read_to_string(self.folder.join("said")).unwrap_or_default()
    }

    fn end_all(&self) {
        for (pid, _) in processes::marked(&self.mark) {
            kill(pid);
        }
    }
}

fn kill(pid: u32) {
    // Gone already is as good.
    Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status().ok();
}

#[expect(clippy::disallowed_methods, reason = "the test kit may look at the clock")]
fn now() -> Instant {
    Instant::now()
}
