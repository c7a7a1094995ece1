//! Real clients with installed hooks, in sessions of the user's own: nothing of `flyball run` is
//! there.
//!
//! `FLYBALL_E2E=goose,claude,codex` names the clients, as in `e2e.rs`.

#![expect(clippy::expect_used, reason = "a test fails loudly")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flyball::client::{LaunchRequest, Permissions, Stdin, adapter};
use flyball_testkit::apart;
use flyball_testkit::clients::{Client, Surroundings, cache, client, surroundings};
use flyball_testkit::model::{Given, ModelServer, Request, Step};
use serde_json::json;
use tempfile::TempDir;

#[test]
fn installed_hooks_fire_in_real_clients_and_are_removed_without_a_trace() {
    let Ok(asked) = std::env::var("FLYBALL_E2E") else {
        eprintln!("FLYBALL_E2E names no client: nothing was asked");
        return;
    };
    // flyball's own agent has no hooks: it asks itself.
    let names = asked.split(',').map(str::trim).filter(|name| !["", "session"].contains(name));
    for name in names {
        let client = client(name).unwrap_or_else(|| panic!("FLYBALL_E2E: no client `{name}`"));
        let program = client.install(&cache()).unwrap_or_else(|error| panic!("{error}"));
        // codex reads hooks from its home only. Hooks that are installed twice count once; plugins
        // cannot tell that there are two of them.
        let all = match name {
            "codex" => &[&["--user"][..]][..],
            "opencode" | "pi" => &[&["--project"][..], &["--user"]],
            _ => &[&["--project"][..], &["--user"], &["--project", "--user"]],
        };
        for scopes in all {
            eprintln!("{name} {scopes:?}");
            a_repeated_call_and_a_premature_stop_are_refused(client, &program, scopes);
        }
        a_stop_is_refused_three_times_and_no_more(client, &program);
        // goose does not tell its hooks what tools answered.
        if name != "goose" {
            a_large_result_goes_to_a_file_the_agent_can_read(client, &program);
        }
    }
}

/// What a turn has to do before a red gate is held against it.
const WORK: &str = "echo more >> README.md";

/// Three calls run, the fourth is refused; the stop with a red gate is sent back with the finding.
fn a_repeated_call_and_a_premature_stop_are_refused(
    client: &Client,
    program: &Path,
    scopes: &[&str],
) {
    let (tool, argument) = client.shell;
    let call = |command: &str| Step::call(tool, &json!({ argument: command }));
    let mut script: Vec<Step> = (0..4).map(|_| call("test -f README.md")).collect();
    script.extend([call(WORK), Step::text("done 1"), call("touch mended"), Step::text("done 2")]);
    let place = Place::new(client, script);
    let before = place.settings();
    for scope in scopes {
        place.flyball(&["hooks", "install", client.name, scope]);
    }
    assert_ne!(place.settings(), before, "{} {scopes:?}", client.name);
    let given = place.session(program);
    let (results, messages) = told(&given);
    let shown = || format!("{} {scopes:?}:\n{results:#?}\n{messages:#?}", client.name);
    assert_eq!(given.len(), 8, "{}", shown());
    let refused: Vec<_> = results.iter().filter(|text| text.contains("(blocked 1/3)")).collect();
    assert_eq!(refused.len(), 1, "{}", shown());
    assert_eq!(results.len(), 6, "{}", shown());
    // goose has no place for advice of a session that no run listens to: it is told no results.
    let advised = results.iter().chain(&messages).any(|text| text.contains("round in circles"));
    assert_eq!(advised, client.name != "goose", "{}", shown());
    // Claude Code may tell it in two messages; how often it was refused the turns say.
    assert!(messages.iter().any(|text| text.contains("Completion Blocked")), "{}", shown());
    assert!(messages.iter().any(|text| text.contains("mended is missing")), "{}", shown());
    place.flyball(&["hooks", "remove", client.name]);
    let after = place.settings();
    if client.name == "qwen" {
        // It writes its settings anew itself.
        let kept = |(_, text): &(PathBuf, Option<String>)| text.clone().unwrap_or_default();
        assert!(!after.iter().any(|one| kept(one).contains("flyball")), "{after:?}");
        return;
    }
    assert_eq!(after, before, "{} {scopes:?}", client.name);
}

fn a_stop_is_refused_three_times_and_no_more(client: &Client, program: &Path) {
    let (tool, argument) = client.shell;
    let call = Step::call(tool, &json!({ argument: WORK }));
    let words = ["done 1", "done 2", "done 3", "done 4", "never asked for"].map(Step::text);
    let place = Place::new(client, std::iter::once(call).chain(words).collect());
    place.flyball(&["hooks", "install", client.name, "--user"]);
    let given = place.session(program);
    let (results, messages) = told(&given);
    assert_eq!(given.len(), 5, "{}:\n{results:#?}\n{messages:#?}", client.name);
}

/// In place of the result where that can be, and gone with the session where its end is told.
fn a_large_result_goes_to_a_file_the_agent_can_read(client: &Client, program: &Path) {
    let (tool, argument) = client.shell;
    let call = |command: &str| Step::call(tool, &json!({ argument: command }));
    let look = call("grep -h -o 1987 .flyball/responses/*.txt");
    let place = Place::new(client, vec![call("seq 1 2000"), look, Step::text("done")]);
    let config = "[calls]\nlarge_response = 2000\npreview = 100\n[[gates.check]]\n\
                  name = \"tests\"\ncommand = \"true\"\n";
    fs::write(place.root().join("flyball.toml"), config).expect("a file");
    place.flyball(&["hooks", "install", client.name, "--user"]);
    let given = place.session(program);
    let (results, messages) = told(&given);
    let shown = || format!("{}:\n{results:#?}\n{messages:#?}", client.name);
    assert_eq!(results.len(), 2, "{}", shown());
    let result = |n: usize| results.get(n).map_or("", String::as_str);
    let (large, found) = (result(0), result(1));
    let replaces = ["codex", "gemini", "opencode", "pi"].contains(&client.name);
    assert_eq!(!large.contains("1987"), replaces, "{}", shown());
    let mut all = results.iter().chain(&messages);
    assert!(all.any(|text| text.contains(".flyball/responses/")), "{}", shown());
    assert!(found.contains("1987"), "{}", shown());
    // The others tell no end without a person in front of them: it is swept a day later.
    if ["claude", "codex", "gemini", "copilot"].contains(&client.name) {
        assert!(!place.root().join(".flyball/responses").exists(), "{}", client.name);
    }
}

/// What the model was told in all, each thing once.
fn told(given: &[Given]) -> (Vec<String>, Vec<String>) {
    // Every request holds all that was said before.
    let last = given.last().cloned().unwrap_or_default();
    (last.results, last.messages)
}

/// A repository, a home and a model.
struct Place {
    client: Client,
    folder: TempDir,
    server: ModelServer,
    around: Surroundings,
}

impl Place {
    fn new(client: &Client, script: Vec<Step>) -> Self {
        let server = ModelServer::start(script).expect("a free port");
        let folder = apart::folder(Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("a folder");
        let (root, home) = (folder.path().join("repo"), folder.path().join("home"));
        for one in [&root, &home] {
            fs::create_dir_all(one).expect("a folder");
        }
        let config = "[calls]\nrefuse_after = 3\n[[gates.check]]\nname = \"tests\"\n\
                      command = \"test -f mended || { echo mended is missing; exit 1; }\"\n";
        fs::write(root.join("flyball.toml"), config).expect("a file");
        fs::write(root.join("README.md"), "hello from readme\n").expect("a file");
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "t"],
            &["config", "user.email", "t@localhost"],
            &["add", "-A"],
            &["commit", "-qm", "start"],
        ] {
            let done = Command::new("git").args(arguments).current_dir(&root).status();
            assert!(done.expect("git").success());
        }
        let around = surroundings(client, &home, &server).expect("a home");
        if client.name == "copilot" {
            // What a person answers when it is started in a folder for the first time.
            let trusted = json!({ "trustedFolders": [root] }).to_string();
            fs::create_dir_all(home.join(".copilot")).expect("a folder");
            fs::write(home.join(".copilot/config.json"), trusted).expect("a file");
        }
        Self { client: *client, folder, server, around }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    fn flyball(&self, arguments: &[&str]) {
        let output = self.command(env!("CARGO_BIN_EXE_flyball")).args(arguments).output();
        let output = output.expect("flyball starts");
        assert!(output.status.success(), "{output:?}");
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.around.env.iter().cloned())
            .current_dir(self.root())
            .stdin(Stdio::null());
        command
    }

    /// One session of the client as its user would start it; what the model was told, by turn.
    fn session(&self, program: &Path) -> Vec<Given> {
        let mut args = self.around.args.clone();
        if self.client.name == "codex" {
            // A person says so once with /hooks.
            args.push("--dangerously-bypass-hook-trust".to_owned());
        }
        let launch = adapter(self.client.name).expect("an adapter").launch(&LaunchRequest {
            prompt: "please look around",
            model: self.client.model,
            permissions: Permissions::Bypass,
            hooks: None,
            private_dir: self.folder.path(),
            worktree: &self.root(),
            program: Some(&program.to_string_lossy()),
            extra_args: &args,
        });
        let (first, rest) = launch.argv.split_first().expect("a program");
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "120"]).arg(first).args(rest);
        command.env_clear().envs(self.around.env.iter().cloned()).envs(launch.env.clone());
        let input = self.folder.path().join("prompt");
        let text = match &launch.stdin {
            Stdin::Text(text) => text.as_str(),
            Stdin::Null => "",
        };
        fs::write(&input, text).expect("a file");
        let input = fs::File::open(&input).expect("a file");
        let output = command.current_dir(self.root()).stdin(input).output().expect("it starts");
        self.checked(&output)
    }

    fn checked(&self, output: &Output) -> Vec<Given> {
        let turns: Vec<Given> = self.server.turns().iter().map(Request::given).collect();
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}: {}\n{out}\n{err}", self.client.name, output.status);
        turns
    }

    /// Every file that hooks are installed in, and what git sees of the rest.
    fn settings(&self) -> Vec<(PathBuf, Option<String>)> {
        let home = self.folder.path().join("home");
        let files = [
            self.root().join(".claude/settings.local.json"),
            self.root().join(".gemini/settings.json"),
            self.root().join(".qwen/settings.json"),
            self.root().join(".agents"),
            self.root().join(".github"),
            self.root().join(".opencode/plugins"),
            self.root().join(".pi"),
            home.join(".claude/settings.json"),
            home.join(".codex/hooks.json"),
            home.join(".gemini/settings.json"),
            home.join(".qwen/settings.json"),
            home.join("goose/.agents"),
            home.join(".copilot/hooks"),
            home.join(".config/opencode/plugins"),
            home.join(".pi/agent/extensions"),
        ];
        let content = |path: PathBuf| {
            let text = if path.is_dir() {
                Some("a folder".to_owned())
            } else {
                fs::read_to_string(&path).ok()
            };
            (path, text)
        };
        files.into_iter().map(content).collect()
    }
}
