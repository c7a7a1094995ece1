//! `cargo xtask bench`: what `flyball run` costs, measured on the release binary.
//!
//! Figures, not tests: they are for reading and for the limits the project promises. Nothing here
//! touches the user's own state.

mod cost;
mod turns;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use flyball_testkit::{memory, processor};

use self::cost::Cost;
use crate::say;

const ITERATIONS: u32 = 50;
/// Iterations of a run that the beginning and end of a run are told by: what is the same in a longer one.
const FEW: u32 = 10;
/// Bytes the talkative agent prints.
const OUTPUT: u64 = 400_000_000;
const STORY: &str = r#"{"userStories":[{"id":"a","title":"do a"}]}"#;

/// A repository, a home and a state folder that go away again.
struct Place {
    root: PathBuf,
    program: PathBuf,
}

/// What is on in a run, as its settings say it.
#[derive(Clone, Copy)]
struct With {
    shield: &'static str,
    vault: &'static str,
}

/// A run beside a bare loop.
struct Beside {
    ran: Measured,
    /// One iteration of each.
    each: Cost,
    bare: Cost,
    /// What a run takes however many iterations it has.
    once: Cost,
}

/// How one process went.
struct Measured {
    cost: Cost,
    /// Largest resident set of the process itself, in kB.
    peak_kb: u64,
    code: Option<i32>,
}

/// Builds the release binary and prints every figure, or those of a session's turns alone.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let program = build()?;
    let place = Place::new(program)?;
    if words.iter().any(|word| word == "turns") {
        let figures = place.turns();
        fs::remove_dir_all(&place.root).ok();
        return figures;
    }
    let figures = place
        .starting()
        .and_then(|()| place.overhead())
        .and_then(|()| place.talkative())
        .and_then(|()| place.appending())
        .and_then(|()| place.status())
        .and_then(|()| place.turns());
    fs::remove_dir_all(&place.root).ok();
    figures
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The release program; the one that `FLYBALL_PROGRAM` names, where it does.
pub(crate) fn build() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os("FLYBALL_PROGRAM") {
        return fs::canonicalize(&program).context("`FLYBALL_PROGRAM` names no program");
    }
    let built = cargo().args(["build", "--release", "-p", "flyball", "--quiet"]).status()?;
    ensure!(built.success(), "the release build failed");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(fs::canonicalize(target.join("release/flyball"))?)
}

impl Place {
    fn new(program: PathBuf) -> Result<Self> {
        let root = std::env::temp_dir().join(format!("flyball-bench-{}", std::process::id()));
        fs::create_dir_all(root.join("home"))?;
        Ok(Self { root, program })
    }

    /// A fresh small repository: twenty files, one story, one commit.
    fn repository(&self, name: &str) -> Result<PathBuf> {
        let repo = self.root.join(name);
        fs::create_dir_all(repo.join(".flyball"))?;
        for number in 0..20 {
            fs::write(repo.join(format!("file-{number}.txt")), "text\n".repeat(40))?;
        }
        fs::write(repo.join(".flyball/tasks.json"), STORY)?;
        fs::write(repo.join(".flyball/.gitignore"), "logs/\nactive.json\n")?;
        for words in ["init -q -b main", "add -A", "commit -qm init"] {
            let mut git = self.isolated("git");
            let done = git.args(words.split(' ')).current_dir(&repo).status()?;
            ensure!(done.success(), "git {words} failed");
        }
        Ok(repo)
    }

    fn isolated(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env("HOME", self.root.join("home"))
            .env("FLYBALL_STATE", self.root.join("state"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "bench");
            command.env(format!("GIT_{who}_EMAIL"), "bench@localhost");
        }
        command
    }

    fn flyball(&self, repo: &Path, arguments: &[&str], agent: &[&str]) -> Command {
        let mut command = self.isolated(&self.program);
        command.current_dir(repo).arg("run").args(arguments).arg("--").args(agent);
        command
    }

    /// Fifty iterations beside a bare loop that starts the same agent and asks git for HEAD, in the
    /// same run: of an agent that does nothing, one that commits, and one that leaves its work. What the
    /// shield, the vault and a gate add is told apart.
    fn overhead(&self) -> Result<()> {
        let mut alone = None;
        let commits = "echo x >> file-1.txt; git commit -qam x";
        let leaves = "echo x >> file-1.txt; echo y > new-$$.txt";
        let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"true\"\n";
        for (name, agent, with, config) in [
            ("idle", ":", With { shield: "off", vault: "false" }, ""),
            ("commits", commits, With { shield: "off", vault: "false" }, ""),
            ("leaves work", leaves, With { shield: "off", vault: "false" }, ""),
            ("idle, shield", ":", With { shield: "auto", vault: "false" }, ""),
            ("commits, shield", commits, With { shield: "auto", vault: "false" }, ""),
            ("commits, shield, vault", commits, With { shield: "auto", vault: "true" }, ""),
            ("all, with a gate", commits, With { shield: "auto", vault: "true" }, gate),
        ] {
            let Beside { ran, each, bare, once } = self.beside_bare(name, agent, with, config)?;
            for (of, each, bare, once) in [
                ("clock", each.wall, bare.wall, once.wall),
                ("processor", each.cpu, bare.cpu, once.cpu),
            ] {
                let ratio = each.as_secs_f64() / bare.as_secs_f64();
                say(&format!(
                    "one iteration, {name:<22} {of:<9} {each:>8.1?}   bare loop {bare:>8.1?}   {ratio:.1}x   \
                     (at most 2x, no shield, vault, gate); beginning and end of the run {once:.0?}"
                ));
            }
            alone.get_or_insert(ran.peak_kb);
        }
        let peak = alone.context("nothing was measured")?;
        say(&format!("flyball, resident at most              {peak} kB   (at most 15 MB)"));
        Ok(())
    }

    /// What one more start of a program costs behind the shield and in a sandbox, beside a plain one:
    /// the middle of rounds that take turns, each of many starts.
    fn starting(&self) -> Result<()> {
        const ROUNDS: usize = 15;
        let kinds = [
            ("plain", "off", "off"),
            ("shield", "auto", "off"),
            ("workspace", "auto", "workspace"),
        ];
        let mut times: [Vec<Duration>; 3] = Default::default();
        let max = ITERATIONS.to_string();
        let many = ["--max-iterations", &max, "--max-stuck", "1000"];
        for round in 0..ROUNDS {
            for ((name, shield, profile), times) in kinds.iter().zip(&mut times) {
                let repo = self.repository(&format!("start {name} {round}"))?;
                let mut command = self.flyball(&repo, &many, &["true"]);
                command.envs([
                    ("FLYBALL_TASKS__MAX_ATTEMPTS", "64"),
                    ("FLYBALL_TASKS__MAX_ATTEMPTS_BEFORE_FORCE_NEXT", "64"),
                    ("FLYBALL_CHECKPOINTS__VAULT", "false"),
                    ("FLYBALL_SANDBOX__SHIELD", shield),
                    ("FLYBALL_SANDBOX__PROFILE", profile),
                ]);
                let ran = measure(&mut command)?;
                ensure!(ran.code == Some(1), "{name}: the run ended with {:?}", ran.code);
                times.push(ran.cost.wall / ITERATIONS);
            }
        }
        let middle = times.map(|mut times| {
            times.sort();
            times.get(times.len() / 2).copied().unwrap_or_default()
        });
        let [plain, shield, workspace] = middle.map(|time| time.as_secs_f64() * 1e3);
        say(&format!(
            "one start, beside a plain one          shield {:+.1} ms (at most 5), workspace {:+.1} ms (at \
             most 10), plain iteration {plain:.1} ms",
            shield - plain,
            workspace - plain
        ));
        Ok(())
    }

    /// The best of some rounds that take turns: flyball with this agent, and the bare loop. An iteration
    /// is what a longer run takes more than a shorter one.
    fn beside_bare(&self, name: &str, agent: &str, with: With, config: &str) -> Result<Beside> {
        const ROUNDS: u32 = 5;
        let mut last = None;
        let [mut few, mut many, mut few_bare, mut many_bare] = [Cost::MAX; 4];
        for round in 0..ROUNDS {
            for (iterations, best, bare) in
                [(FEW, &mut few, &mut few_bare), (FEW + ITERATIONS, &mut many, &mut many_bare)]
            {
                let of = format!("{name} {round} {iterations}");
                let ran = self.run_with(&of, agent, (with, config), iterations)?;
                *best = best.least(ran.cost);
                last = Some(ran);
                *bare = bare.least(self.bare(&of, agent, iterations)?);
            }
        }
        let each = many.each(few, ITERATIONS);
        let bare = many_bare.each(few_bare, ITERATIONS);
        let ran = last.context("nothing was measured")?;
        Ok(Beside { once: few.without(each, FEW), ran, each, bare })
    }

    /// So many iterations of flyball with this agent.
    fn run_with(
        &self,
        name: &str,
        agent: &str,
        (with, config): (With, &str),
        iterations: u32,
    ) -> Result<Measured> {
        // Attempts are remembered across runs: each has a repository of its own.
        let repo = self.repository(&format!("overhead {name}"))?;
        fs::write(repo.join("flyball.toml"), config)?;
        let max = iterations.to_string();
        let many = ["--max-iterations", &max, "--max-stuck", "1000"];
        let mut command = self.flyball(&repo, &many, &["sh", "-c", agent]);
        let ran = measure(command.envs([
            ("FLYBALL_TASKS__MAX_ATTEMPTS", "64"),
            ("FLYBALL_TASKS__MAX_ATTEMPTS_BEFORE_FORCE_NEXT", "64"),
            ("FLYBALL_CHECKPOINTS__VAULT", with.vault),
            ("FLYBALL_SANDBOX__SHIELD", with.shield),
        ]))?;
        ensure!(ran.code == Some(1), "the run ended with {:?}", ran.code);
        Ok(ran)
    }

    /// The same in a bare loop.
    fn bare(&self, name: &str, agent: &str, iterations: u32) -> Result<Cost> {
        let repo = self.repository(&format!("bare {name}"))?;
        let script = format!(
            "i=0; while [ $i -lt {iterations} ]; do sh -c \"$AGENT\" < /dev/null; \
             git rev-parse HEAD; i=$((i+1)); done"
        );
        let mut sh = self.isolated("sh");
        sh.args(["-c", &script]).env("AGENT", agent).current_dir(&repo);
        Ok(measure(&mut sh)?.cost)
    }

    /// An agent that prints 400 MB, in short lines and in one endless one.
    fn talkative(&self) -> Result<()> {
        for (name, script) in [
            ("lines", format!("yes 'a line of text as agents print them' | head -c {OUTPUT}")),
            ("one line", format!("head -c {OUTPUT} /dev/zero | tr '\\0' x")),
        ] {
            let repo = self.repository(&format!("talkative {name}"))?;
            let ran = measure(&mut self.flyball(&repo, &["--once"], &["sh", "-c", &script]))?;
            ensure!(ran.code == Some(1), "the run ended with {:?}", ran.code);
            say(&format!(
                "400 MB of output, {name:<10}           {} kB in {:.1?}   (below 40 MB)",
                ran.peak_kb, ran.cost.wall
            ));
        }
        Ok(())
    }

    /// Eight runs at once, all appending to one journal.
    fn appending(&self) -> Result<()> {
        let repos: Vec<PathBuf> =
            (0..8).map(|n| self.repository(&format!("appending {n}"))).collect::<Result<_>>()?;
        let since = now();
        let agent = "i=0; while [ $i -lt 500 ]; do i=$((i+1)); echo '{\"type\":\"usage\",\"input_tokens\":1,\"output_tokens\":0}'; done";
        let mut children = Vec::new();
        for repo in &repos {
            let mut command = self.flyball(repo, &["--max-iterations", "3"], &["sh", "-c", agent]);
            command.env("FLYBALL_AGENT__OUTPUT", "flyball");
            let log = fs::File::create(repo.join(".flyball/run.log"))?;
            children.push(command.stdout(Stdio::null()).stderr(log).spawn()?);
        }
        let mut lost = 0;
        for (mut child, repo) in children.into_iter().zip(&repos) {
            let code = child.wait()?.code();
            let said = fs::read_to_string(repo.join(".flyball/run.log"))?;
            if said.contains("locked") || !matches!(code, Some(1 | 4)) {
                bail!("a run ended with {code:?}:\n{said}");
            }
            lost += usize::from(!said.contains("1.5k tokens"));
        }
        say(&format!(
            "8 runs appending 12000 events at once  {:.1?}, {lost} of them lost something",
            since.elapsed()
        ));
        ensure!(lost == 0, "events were lost");
        Ok(())
    }
}

impl Place {
    /// `flyball status` when the journal holds a million events of one run.
    fn status(&self) -> Result<()> {
        let repo = self.repository("status")?;
        let agent =
            "yes '{\"type\":\"usage\",\"input_tokens\":1,\"output_tokens\":0}' | head -n 1000000";
        let mut command = self.flyball(&repo, &["--once"], &["sh", "-c", agent]);
        let ran = measure(command.env("FLYBALL_AGENT__OUTPUT", "flyball"))?;
        ensure!(ran.code == Some(1), "the run ended with {:?}", ran.code);
        say(&format!(
            "1,000,000 events taken in and journalled {:.1?}, {} kB",
            ran.cost.wall, ran.peak_kb
        ));
        let mut times = Vec::new();
        for _ in 0..21 {
            let mut status = self.isolated(&self.program);
            let ran = measure(status.arg("status").current_dir(&repo))?;
            ensure!(ran.code == Some(0), "status ended with {:?}", ran.code);
            times.push(ran.cost.wall);
        }
        times.sort();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        say(&format!("flyball status after them              {median:.1?}   (at most 50 ms)"));
        Ok(())
    }
}

/// Runs a command to its end and watches how large it gets.
fn measure(command: &mut Command) -> Result<Measured> {
    let (since, before) = (now(), processor::of_children().unwrap_or_default());
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let watched = command_is_flyball(command);
    let pid = child.id();
    let mut peak_kb = 0;
    let code = loop {
        if !watched {
            break child.wait()?.code();
        }
        // The high-water mark of the kernel: a look now and then misses nothing but the last moment.
        peak_kb = peak_kb.max(memory::peak_kib(pid).unwrap_or(0));
        match child.try_wait()? {
            Some(status) => break status.code(),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let cpu = processor::of_children().unwrap_or_default().saturating_sub(before);
    Ok(Measured { cost: Cost { wall: since.elapsed(), cpu }, peak_kb, code })
}

fn command_is_flyball(command: &Command) -> bool {
    Path::new(command.get_program()).file_name().is_some_and(|name| name == "flyball")
}

#[expect(clippy::disallowed_methods, reason = "measuring is what this is for")]
fn now() -> Instant {
    Instant::now()
}
