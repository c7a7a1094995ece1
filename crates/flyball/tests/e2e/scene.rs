//! `flyball run` around a real client, in a repository and a home of their own.

use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flyball::platform;
use flyball_testkit::apart;
use flyball_testkit::clients::{Client, Surroundings, surroundings};
use flyball_testkit::model::{ModelServer, Request, Step};
use serde_json::Value;
use tempfile::TempDir;

/// A folder of our own, wherever the project was cloned to.
pub(crate) fn place() -> TempDir {
    apart::folder(Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("a folder")
}

/// A repository with one gate, a client and a model.
pub(crate) struct Scene {
    place: TempDir,
    pub(crate) server: ModelServer,
    around: Surroundings,
    model: Option<&'static str>,
    /// Those who listen beside it.
    neighbours: Option<(TcpListener, UdpSocket, UnixListener)>,
}

/// A run under way.
pub(crate) struct Running<'a> {
    scene: &'a Scene,
    pub(crate) process: Child,
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    /// Its JSON lines and what it said on standard error.
    pub(crate) out: String,
}

impl Scene {
    /// The gate is red until the file `mended` is there; `config` is added to `flyball.toml`.
    pub(crate) fn new(client: &Client, program: &Path, script: Vec<Step>, config: &str) -> Self {
        let server = ModelServer::start(script).expect("a free port");
        let place = place();
        let (root, home) = (place.path().join("repo"), place.path().join("home"));
        for folder in [&root, &home] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        let around = surroundings(client, &home, &server).expect("a home");
        let toml = |value: &dyn AsRef<str>| Value::from(value.as_ref()).to_string();
        let args: Vec<String> = around.args.iter().map(|arg| toml(arg)).collect();
        let config = format!(
            "[agent]\nname = \"{}\"\nprogram = {}\nargs = [{}]\n{config}[[gates.check]]\n\
             name = \"tests\"\ncommand = \"test -f mended || {{ echo mended is missing; exit 1; }}\"\n",
            client.name,
            toml(&program.to_string_lossy()),
            args.join(", "),
        );
        write(&root, &[("flyball.toml", &config), ("README.md", "hello from readme\n")]);
        begin(&root);
        Self { place, server, around, model: client.model, neighbours: None }
    }

    /// Somebody's project, cloned: nothing in it is flyball's, and the client is found on PATH.
    pub(crate) fn cloned(
        client: &Client,
        program: &Path,
        script: Vec<Step>,
        files: &[(&str, &str)],
    ) -> Self {
        let server = ModelServer::start(script).expect("a free port");
        let place = place();
        let (theirs, home) = (place.path().join("theirs"), place.path().join("home"));
        for folder in [&theirs, &home] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        write(&theirs, files);
        begin(&theirs);
        git(place.path(), &["clone", "-q", "theirs", "repo"]);
        let mut around = surroundings(client, &home, &server).expect("a home");
        // What brings it to the model stands where its user would have it.
        let settings: Vec<String> =
            around.args.iter().filter(|arg| *arg != "-c").cloned().collect();
        if client.name == "codex" {
            let model = client.model.map(|model| format!("model = \"{model}\""));
            let lines: Vec<String> = model.into_iter().chain(settings).collect();
            std::fs::write(home.join(".codex/config.toml"), lines.join("\n")).expect("a file");
        }
        around.args.clear();
        let folders = [program.parent(), Path::new(env!("CARGO")).parent()];
        let path = around.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        let path =
            folders.into_iter().flatten().map(|folder| folder.display().to_string()).chain(path);
        let path = path.collect::<Vec<_>>().join(":");
        let scene = Self { place, server, around, model: None, neighbours: None };
        let scene = scene.with("PATH", &path, "PATH");
        let scene =
            scene.with("GIT_AUTHOR_NAME", "t", "").with("GIT_AUTHOR_EMAIL", "t@localhost", "");
        let scene = scene.with("GIT_COMMITTER_NAME", "t", "").with(
            "GIT_COMMITTER_EMAIL",
            "t@localhost",
            "",
        );
        let Some(model) = client.model.filter(|_| client.name == "opencode") else { return scene };
        let settings = serde_json::json!({ "model": model }).to_string();
        scene.with("OPENCODE_CONFIG_CONTENT", &settings, "")
    }

    /// With these arguments of the client's before all others.
    pub(crate) fn with_first_arguments(self, arguments: &[&str]) -> Self {
        let path = self.root().join("flyball.toml");
        let text = std::fs::read_to_string(&path).expect("a file");
        let words = arguments
            .iter()
            .fold(String::new(), |text, word| text + &format!("{}, ", Value::from(*word)));
        std::fs::write(&path, text.replacen("args = [", &format!("args = [{words}"), 1))
            .expect("a file");
        git(&self.root(), &["commit", "-qam", "arguments"]);
        self
    }

    /// A path beside the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// What git says in the repository.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    /// With a variable in place of another.
    pub(crate) fn with(mut self, name: &str, value: &str, instead_of: &str) -> Self {
        self.around.env.retain(|(other, _)| other != instead_of);
        self.around.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With the attempts of the escape suite beside the repository, and what they are made at.
    pub(crate) fn with_victims(self) -> Self {
        let place = self.place.path();
        std::fs::write(place.join("attempts.py"), include_str!("../escape/attempts.py"))
            .expect("a file");
        for folder in ["state/secrets", "state/vault", "state/victim-folder"] {
            std::fs::create_dir_all(place.join(folder)).expect("a folder");
        }
        for file in ["state/victim", "state/victim-to-unlink", "state/secrets/token"] {
            std::fs::write(place.join(file), "x").expect("a file");
        }
        self
    }

    /// With secrets in the home, and with somebody who listens on this machine. The model is reached.
    pub(crate) fn with_neighbours(mut self) -> Self {
        let place = self.place.path().to_path_buf();
        for name in [
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".config/gh/hosts.yml",
            ".kube/config",
            ".docker/config.json",
            ".netrc",
            ".npmrc",
            ".gnupg/private",
            ".codex/auth.json",
        ] {
            let file = place.join("home").join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            if !file.exists() {
                std::fs::write(file, "secret\n").expect("a file");
            }
        }
        for folder in ["home/other/.git/hooks", "system/crontabs", "system/atjobs", "runtime"] {
            std::fs::create_dir_all(place.join(folder)).expect("a folder");
        }
        let web = TcpListener::bind("127.0.0.1:0").expect("a port");
        let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let bus = UnixListener::bind(place.join("runtime/bus")).expect("a socket");
        let port =
            |address: std::io::Result<SocketAddr>| address.expect("a port").port().to_string();
        let model = self.server.port();
        let text = |name: &str| place.join(name).to_string_lossy().into_owned();
        let variables = [
            ("FLYBALL_TEST_SYSTEM", text("system")),
            ("FLYBALL_TEST_RUNTIME", text("runtime")),
            ("XDG_RUNTIME_DIR", text("runtime")),
            ("FLYBALL_TEST_PORT", port(web.local_addr())),
            ("FLYBALL_TEST_DATAGRAMS", port(datagrams.local_addr())),
            ("FLYBALL_TEST_ABSTRACT", format!("flyball-e2e-{}", std::process::id())),
            ("FLYBALL_TEST_OTHER", text("other.sock")),
            ("GITHUB_TOKEN", "secret".to_owned()),
            ("AWS_PROFILE", "secret".to_owned()),
            ("FLYBALL_SANDBOX__LOOPBACK", format!("[{model}]")),
            ("FLYBALL_SANDBOX__ALLOW_HOSTS", "[\"allowed.example\"]".to_owned()),
        ];
        for (name, value) in variables {
            self = self.with(name, &value, name);
        }
        self.neighbours = Some((web, datagrams, bus));
        self
    }

    /// What the attempts said.
    pub(crate) fn attempts(&self) -> Vec<String> {
        let told = std::fs::read_to_string(self.root().join(".git/attempts")).unwrap_or_default();
        told.lines().filter(|line| line.starts_with("ATTEMPT ")).map(str::to_owned).collect()
    }

    /// With the folders clients make when they are used first: a sandbox opens what is there. Where
    /// the test has told one to keep its things elsewhere, that place is named.
    pub(crate) fn used_before(self) -> Self {
        let home = self.place.path().join("home");
        for folder in ["goose", ".codex"] {
            std::fs::create_dir_all(home.join(folder)).expect("a folder");
        }
        let places = format!("[\"{}\"]", home.join("goose").display());
        self.with("FLYBALL_SANDBOX__WRITE", &places, "")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.place.path().join("repo")
    }

    /// Starts `flyball run`.
    pub(crate) fn start(&self) -> Running<'_> {
        self.start_with(&[])
    }

    /// Starts `flyball run` with these arguments too.
    pub(crate) fn start_with(&self, arguments: &[&str]) -> Running<'_> {
        let model = self.model.iter().flat_map(|model| ["--model", model]);
        let words = ["run", "--format", "json"].into_iter().chain(arguments.to_vec()).chain(model);
        self.start_as(&words.collect::<Vec<_>>())
    }

    /// Starts flyball with these arguments and no others.
    pub(crate) fn start_as(&self, arguments: &[&str]) -> Running<'_> {
        let process = Command::new(env!("CARGO_BIN_EXE_flyball"))
            .args(arguments)
            .env_clear()
            .envs(self.around.env.iter().cloned())
            .env("FLYBALL_STATE", self.place.path().join("state"))
            .current_dir(self.root())
            .stdin(Stdio::null())
            .stdout(Stdio::from(self.file("stdout")))
            .stderr(Stdio::from(self.file("stderr")))
            .spawn()
            .expect("flyball starts");
        Running { scene: self, process }
    }

    /// Runs it to its end.
    pub(crate) fn run(&self) -> Ended {
        self.start().ended()
    }

    /// What the model was told: results of tools and messages, in order.
    pub(crate) fn told(&self) -> Vec<String> {
        let given = self.server.turns().into_iter().map(|turn: Request| turn.given());
        given.flat_map(|given| given.results.into_iter().chain(given.messages)).collect()
    }

    /// Processes that belong to this scene: those with a variable that names its folder.
    pub(crate) fn processes(&self) -> Vec<String> {
        let folder = self.place.path().to_string_lossy().into_owned();
        let given = self.around.env.iter().filter(|(_, value)| value.contains(&folder));
        let mut marks: Vec<String> = given.map(|(name, value)| format!("{name}={value}")).collect();
        marks.push(format!("FLYBALL_STATE={folder}/state"));
        let ours = |pid| marks.iter().any(|mark| platform::carries(pid, mark.as_bytes()));
        let table = platform::snapshot();
        let pids = table.iter().map(|process| process.pid).filter(|pid| ours(*pid));
        pids.map(|pid| format!("{pid} {:?}", platform::program_of(pid))).collect()
    }

    fn file(&self, name: &str) -> std::fs::File {
        std::fs::File::create(self.place.path().join(name)).expect("a file")
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.place.path().join(name)).unwrap_or_default()
    }
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
}

/// Makes a repository of a folder.
fn begin(folder: &Path) {
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "t"],
        &["config", "user.email", "t@localhost"],
        &["add", "-A"],
        &["commit", "-qm", "start"],
    ] {
        git(folder, arguments);
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git").args(arguments).current_dir(folder).output().expect("git");
    assert!(done.status.success(), "git {arguments:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

impl Running<'_> {
    /// Waits until this holds.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Scene) -> bool) {
        let began = Instant::now();
        while !holds(self.scene) {
            let ended = self.process.try_wait().expect("a process");
            let out = || self.scene.text("stdout") + &self.scene.text("stderr");
            assert!(ended.is_none(), "the run ended before {what}: {}", out());
            assert!(began.elapsed() < Duration::from_mins(2), "no {what}: {}", out());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits for the end; nothing of ours may be left in the worktree, and nothing may be running.
    pub(crate) fn ended(mut self) -> Ended {
        let began = Instant::now();
        let code = loop {
            if let Some(status) = self.process.try_wait().expect("a process") {
                break status.code();
            }
            if began.elapsed() > Duration::from_mins(4) {
                self.process.kill().ok();
                panic!("the run takes too long: {}", self.scene.text("stdout"));
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let out = self.scene.text("stdout") + "\n" + &self.scene.text("stderr");
        let root = self.scene.root();
        for folder in [".agents", ".github", ".gemini", ".qwen", ".codex", ".claude", ".opencode"] {
            assert!(!root.join(folder).exists(), "{folder} was left behind: {out}");
        }
        let left = self.scene.processes();
        assert!(left.is_empty(), "still running: {left:?}\n{out}");
        Ended { code, out }
    }
}
