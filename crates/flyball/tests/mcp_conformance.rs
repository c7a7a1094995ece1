//! flyball's MCP server driven by clients we did not write, and its guard in front of servers we
//! did not write. Asked for with `FLYBALL_MCP_CLIENTS=1`: needs node, npm, python3 and a network
//! once; what is installed stays in the build folder.

#[cfg(test)]
#[path = "mcp/agents.rs"]
mod agents;

#[cfg(test)]
mod conformance {
    use std::fs;
    use std::io::{BufRead, BufReader, Write};
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::sync::OnceLock;

    use serde_json::{Value, json};
    use tempfile::TempDir;

    pub(crate) const FLYBALL: &str = env!("CARGO_BIN_EXE_flyball");
    const PACKAGES: [&str; 3] = [
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "@modelcontextprotocol/server-everything@2026.8.31",
        "@modelcontextprotocol/inspector@0.15.0",
    ];
    const PYTHON_SDK: &str = "mcp==2.3.0";

    pub(crate) fn wanted() -> bool {
        std::env::var("FLYBALL_MCP_CLIENTS").is_ok_and(|value| value == "1")
    }

    /// Where clients and servers are; installs them the first time and fails loudly if it cannot.
    fn installed() -> &'static Path {
        static PLACE: OnceLock<PathBuf> = OnceLock::new();
        PLACE.get_or_init(|| {
            let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-clients");
            fs::create_dir_all(&place).unwrap();
            if !place.join("complete").exists() {
                let npm = ["install", "--no-audit", "--no-fund", "--no-save", "--prefix", "."];
                run(Command::new("npm").current_dir(&place).args(npm).args(PACKAGES));
                run(Command::new("python3").current_dir(&place).args(["-m", "venv", "venv"]));
                run(Command::new("venv/bin/pip")
                    .current_dir(&place)
                    .args(["install", "--quiet", PYTHON_SDK]));
                fs::write(place.join("complete"), "").unwrap();
            }
            place
        })
    }

    fn run(command: &mut Command) -> String {
        let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
        out
    }

    pub(crate) fn server(name: &str) -> String {
        let path = format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js");
        installed().join(path).to_str().unwrap().to_owned()
    }

    pub(crate) struct Place {
        folder: TempDir,
        pub(crate) root: PathBuf,
    }

    pub(crate) fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(root.join(".flyball")).unwrap();
        let tasks = r#"{"userStories":[{"id":"US-1","title":"one"},{"id":"US-2","title":"two"}]}"#;
        fs::write(root.join(".flyball/tasks.json"), tasks).unwrap();
        let gates = "[[gates.check]]\nname = \"tests\"\ncommand = \"true\"\n";
        fs::write(root.join("flyball.toml"), gates).unwrap();
        run(Command::new("git").current_dir(&root).args(["init", "-q"]));
        Place { folder, root }
    }

    impl Place {
        fn command(&self, program: impl AsRef<Path>) -> Command {
            let mut command = Command::new(program.as_ref());
            command
                .current_dir(&self.root)
                .env("HOME", self.folder.path().join("home"))
                .env("FLYBALL_STATE", self.folder.path().join("state"))
                .env_remove("FLYBALL_RUN")
                .env_remove("XDG_CONFIG_HOME");
            command
        }

        fn drive(&self, args: &[&str]) {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/drive.py");
            let python = installed().join("venv/bin/python");
            let said = run(self.command(python).arg(script).args(args));
            assert!(said.ends_with("ok\n"), "{said}");
        }
    }

    #[test]
    fn the_python_sdk_uses_every_tool_over_stdio() {
        if wanted() {
            place().drive(&["tools", FLYBALL, "mcp"]);
        }
    }

    #[test]
    fn the_python_sdk_uses_every_tool_through_the_guard() {
        if wanted() {
            place().drive(&["tools", FLYBALL, "mcp-guard", "--", FLYBALL, "mcp"]);
        }
    }

    #[test]
    fn the_python_sdk_uses_every_tool_over_http() {
        if !wanted() {
            return;
        }
        let place = place();
        let mut server = place
            .command(FLYBALL)
            .args(["mcp", "--http", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(server.stderr.take().unwrap()).lines();
        let mut told = |what: &str| {
            let line = said.next().unwrap().unwrap();
            line.strip_prefix(what).unwrap().split(" (").next().unwrap().to_owned()
        };
        let (url, path) = (told("listening on "), told("token: "));
        let token = fs::read_to_string(path).unwrap();
        let driven = std::panic::catch_unwind(|| place.drive(&["http", &url, token.trim()]));
        server.kill().unwrap();
        server.wait().unwrap();
        assert!(driven.is_ok());
    }

    #[test]
    fn the_python_sdk_is_guarded_in_front_of_server_everything() {
        if wanted() {
            let everything = server("everything");
            place().drive(&["guard", FLYBALL, "mcp-guard", "--", "node", &everything]);
        }
    }

    #[test]
    fn the_inspector_lists_and_calls_tools() {
        if !wanted() {
            return;
        }
        let place = place();
        let inspector = installed().join("node_modules/.bin/mcp-inspector");
        let ask = |args: &[&str]| -> Value {
            let said = run(place.command(&inspector).args(["--cli", FLYBALL, "mcp"]).args(args));
            serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
        };
        let tools = ask(&["--method", "tools/list"]);
        assert_eq!(tools["tools"].as_array().unwrap().len(), 15);
        let args = ["--method", "tools/call", "--tool-name", "plan_next"];
        assert_eq!(ask(&args)["structuredContent"]["task"], "US-1");
        assert_eq!(ask(&["--method", "resources/list"])["resources"].as_array().unwrap().len(), 3);
        assert_eq!(ask(&["--method", "prompts/list"])["prompts"][0]["name"], "orient");
    }

    /// A server spoken to by lines.
    struct Spoken {
        child: Child,
        output: BufReader<std::process::ChildStdout>,
        lines: Vec<String>,
    }

    impl Spoken {
        fn start(mut command: Command) -> Self {
            let mut child = command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            Self { child, output, lines: Vec::new() }
        }

        fn send(&mut self, message: &Value) {
            let input = self.child.stdin.as_mut().unwrap();
            input.write_all(format!("{message}\n").as_bytes()).unwrap();
        }

        /// Reads lines until one that fits; all are kept.
        fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
            loop {
                let mut line = String::new();
                assert!(self.output.read_line(&mut line).unwrap() > 0, "{:?}", self.lines);
                let message: Value = serde_json::from_str(&line).unwrap();
                self.lines.push(line.strip_suffix('\n').unwrap_or(&line).to_owned());
                // A server that gets no answer to this waits a minute before it ends.
                if message["method"] == "roots/list" {
                    let roots =
                        json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": [] } });
                    self.send(&roots);
                }
                if fits(&message) {
                    return message;
                }
            }
        }

        fn request(&mut self, id: u64, method: &str, params: &Value) -> Value {
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
            self.until(|message| message["id"] == id && message["method"].is_null())
        }

        fn hello(&mut self) {
            let params = json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "sampling": {}, "elicitation": {}, "roots": {} },
                "clientInfo": { "name": "raw", "version": "1" },
            });
            self.request(0, "initialize", &params);
            self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }

        /// What was heard: answers and progress in their order, then what the server said by itself,
        /// which comes whenever its timers say.
        fn end(mut self) -> Vec<String> {
            drop(self.child.stdin.take());
            self.lines.extend(self.output.lines().map(Result::unwrap));
            self.child.wait().unwrap();
            let (mut by_itself, mut heard): (Vec<_>, Vec<_>) =
                self.lines.into_iter().partition(|line| {
                    let message: Value = serde_json::from_str(line).unwrap();
                    !matches!(message["method"].as_str(), None | Some("notifications/progress"))
                });
            by_itself.sort();
            heard.append(&mut by_itself);
            heard
        }
    }

    fn direct_and_guarded(place: &Place, server: &[&str]) -> [Command; 2] {
        let (program, rest) = server.split_first().unwrap();
        let mut direct = place.command(program);
        direct.args(rest);
        let mut guarded = place.command(FLYBALL);
        guarded.args(["mcp-guard", "--"]).args(server);
        [direct, guarded]
    }

    /// Calls every tool once, and lists everything there is.
    fn every_tool(mut spoken: Spoken, calls: &[(&str, Value)]) -> Vec<String> {
        spoken.hello();
        for (id, method) in (100..).zip(["tools/list", "resources/list", "prompts/list", "ping"]) {
            spoken.request(id, method, &json!({}));
        }
        for (id, (tool, arguments)) in (200..).zip(calls) {
            let token = format!("p-{id}");
            let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": token } });
            let answer = spoken.request(id, "tools/call", &params);
            assert!(answer["error"].is_null(), "{tool}: {answer}");
            assert_ne!(answer["result"]["isError"], true, "{tool}: {answer}");
        }
        spoken.end()
    }

    #[test]
    fn server_filesystem_answers_byte_for_byte_behind_the_guard() {
        if !wanted() {
            return;
        }
        let place = place();
        let files = place.root.join("files");
        let path = |name: &str| files.join(name).to_str().unwrap().to_owned();
        let calls = [
            ("list_allowed_directories", json!({})),
            ("create_directory", json!({ "path": path("sub") })),
            ("write_file", json!({ "path": path("sub/a.txt"), "content": "one\ntwo — drei\n" })),
            ("read_file", json!({ "path": path("sub/a.txt") })),
            ("read_text_file", json!({ "path": path("sub/a.txt"), "head": 1 })),
            ("read_media_file", json!({ "path": path("p.png") })),
            ("read_multiple_files", json!({ "paths": [path("sub/a.txt"), path("p.png")] })),
            (
                "edit_file",
                json!({ "path": path("sub/a.txt"),
                        "edits": [{ "oldText": "one", "newText": "eins" }] }),
            ),
            ("list_directory", json!({ "path": path("") })),
            ("list_directory_with_sizes", json!({ "path": path("sub") })),
            ("directory_tree", json!({ "path": path("") })),
            ("search_files", json!({ "path": path(""), "pattern": "*.txt" })),
            ("move_file", json!({ "source": path("sub/a.txt"), "destination": path("b.txt") })),
        ];
        let server = server("filesystem");
        let root = files.to_str().unwrap().to_owned();
        let heard = direct_and_guarded(&place, &["node", &server, &root]).map(|command| {
            fs::remove_dir_all(&files).ok();
            fs::create_dir_all(&files).unwrap();
            fs::write(files.join("p.png"), [137, 80, 78, 71]).unwrap();
            every_tool(Spoken::start(command), &calls)
        });
        assert!(heard[0].len() >= calls.len() + 5);
        assert_eq!(heard[0], heard[1]);
        // Times differ from run to run: only that it works.
        let [_, guarded] = direct_and_guarded(&place, &["node", &server, &root]);
        every_tool(Spoken::start(guarded), &[("get_file_info", json!({ "path": path("b.txt") }))]);
    }

    #[test]
    fn server_everything_answers_byte_for_byte_behind_the_guard() {
        if !wanted() {
            return;
        }
        let place = place();
        let calls = [
            ("echo", json!({ "message": "hello — \u{1f600}" })),
            ("get-annotated-message", json!({ "messageType": "error", "includeImage": true })),
            ("get-resource-links", json!({ "count": 2 })),
            ("get-structured-content", json!({ "location": "Chicago" })),
            ("get-sum", json!({ "a": 1, "b": 2 })),
            ("get-tiny-image", json!({})),
            ("get-env", json!({})),
            ("trigger-long-running-operation", json!({ "duration": 1, "steps": 2 })),
        ];
        let server = server("everything");
        let heard = direct_and_guarded(&place, &["node", &server])
            .map(|command| every_tool(Spoken::start(command), &calls));
        assert!(heard[0].len() >= calls.len() + 5);
        assert_eq!(heard[0], heard[1]);
        // These say times or depend on them: only that they work.
        let others = [
            ("get-resource-reference", json!({ "resourceType": "Text", "resourceId": 1 })),
            (
                "gzip-file-as-resource",
                json!({ "name": "x.gz", "data": "data:text/plain,hello", "outputType": "resource" }),
            ),
            ("toggle-simulated-logging", json!({})),
            ("toggle-subscriber-updates", json!({})),
        ];
        let [_, guarded] = direct_and_guarded(&place, &["node", &server]);
        every_tool(Spoken::start(guarded), &others);
    }

    #[test]
    fn sampling_and_elicitation_pass_through_the_guard() {
        if !wanted() {
            return;
        }
        let place = place();
        let server = server("everything");
        let [_, guarded] = direct_and_guarded(&place, &["node", &server]);
        let mut spoken = Spoken::start(guarded);
        spoken.hello();
        let ask = |tool: &str, arguments: Value| {
            json!({ "jsonrpc": "2.0", "id": 300, "method": "tools/call",
                    "params": { "name": tool, "arguments": arguments } })
        };
        spoken.send(&ask("trigger-sampling-request", json!({ "prompt": "p", "maxTokens": 9 })));
        let asked = spoken.until(|message| message["method"] == "sampling/createMessage");
        spoken.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {
            "role": "assistant", "model": "m", "content": { "type": "text", "text": "sampled" } } }));
        let result = spoken.until(|message| message["id"] == 300 && message["method"].is_null());
        assert!(result.to_string().contains("sampled"), "{result}");

        spoken.send(&ask("trigger-elicitation-request", json!({})));
        let asked = spoken.until(|message| message["method"] == "elicitation/create");
        spoken.send(
            &json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } }),
        );
        let result = spoken.until(|message| message["id"] == 300 && message["method"].is_null());
        assert!(result["error"].is_null(), "{result}");
        spoken.end();
    }
}
