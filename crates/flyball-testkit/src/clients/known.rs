//! The clients that are known, and how each is brought to the scripted model.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{Client, Surroundings};
use crate::model::ModelServer;

/// Every client that can be installed. cline needs a login step of its own and aider is no npm
/// package: both are tested by their recordings only.
#[expect(clippy::too_many_lines, reason = "a table: one entry per client")]
pub fn clients() -> &'static [Client] {
    static CLIENTS: [Client; 9] = [
        Client {
            name: "goose",
            package: "@aaif/goose-binary-linux-x64",
            version: "1.52.0",
            program: "@aaif/goose-binary-linux-x64/bin/goose",
            model: None,
            shell: ("shell", "command"),
        },
        Client {
            name: "claude",
            package: "@anthropic-ai/claude-code",
            version: "2.1.325",
            program: ".bin/claude",
            model: Some("claude-sonnet-4-5"),
            shell: ("Bash", "command"),
        },
        Client {
            name: "codex",
            package: "@openai/codex",
            version: "0.166.0",
            program: ".bin/codex",
            model: Some("gpt-5.5"),
            shell: ("exec_command", "cmd"),
        },
        Client {
            name: "gemini",
            package: "@google/gemini-cli",
            version: "0.61.0",
            program: ".bin/gemini",
            model: Some("gemini-2.5-flash"),
            shell: ("run_shell_command", "command"),
        },
        Client {
            name: "qwen",
            package: "@qwen-code/qwen-code",
            version: "0.24.4",
            program: ".bin/qwen",
            model: Some("mock-model"),
            shell: ("run_shell_command", "command"),
        },
        Client {
            name: "opencode",
            package: "opencode-ai",
            version: "1.18.33",
            program: ".bin/opencode",
            model: Some("mock/mock-model"),
            shell: ("bash", "command"),
        },
        Client {
            name: "copilot",
            package: "@github/copilot",
            version: "1.0.102",
            program: ".bin/copilot",
            model: None,
            shell: ("bash", "command"),
        },
        Client {
            name: "pi",
            package: "@mariozechner/pi-coding-agent",
            version: "0.73.1",
            program: ".bin/pi",
            model: Some("mock-model"),
            shell: ("bash", "command"),
        },
        // flyball itself: whoever asks for it has it.
        Client {
            name: "session",
            package: "",
            version: "built in",
            program: "",
            model: Some("claude-sonnet-4-5"),
            shell: ("run", "command"),
        },
    ];
    &CLIENTS
}

/// Prepares a home and says what the client must be started with.
pub fn surroundings(
    client: &Client,
    home: &Path,
    server: &ModelServer,
) -> io::Result<Surroundings> {
    let mut around = Surroundings::default();
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
    let tmp = home.join("tmp");
    fs::create_dir_all(&tmp)?;
    around.set("PATH", &path);
    around.set("HOME", &home.to_string_lossy());
    around.set("TMPDIR", &tmp.to_string_lossy());
    around.set("LANG", "C.UTF-8");
    around.set("TERM", "dumb");
    let url = server.url();
    match client.name {
        "goose" => around.set_all(&[
            ("GOOSE_PROVIDER", "openai"),
            ("OPENAI_HOST", &url),
            ("OPENAI_API_KEY", "none"),
            ("GOOSE_MODEL", "mock-model"),
            ("GOOSE_DISABLE_KEYRING", "1"),
            ("GOOSE_PATH_ROOT", &home.join("goose").to_string_lossy()),
        ]),
        "claude" => around.set_all(&[
            ("ANTHROPIC_BASE_URL", &url),
            ("ANTHROPIC_API_KEY", "none"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ]),
        "session" => {
            around.set_all(&[("ANTHROPIC_BASE_URL", &url), ("ANTHROPIC_API_KEY", "none")]);
        }
        "codex" => codex(&mut around, home, &url)?,
        "gemini" => gemini(&mut around, home, &url)?,
        "qwen" => qwen(&mut around, home, &url)?,
        "opencode" => opencode(&mut around, home, &url)?,
        "copilot" => around.set_all(&[
            ("COPILOT_PROVIDER_BASE_URL", &format!("{url}/v1")),
            ("COPILOT_PROVIDER_API_KEY", "none"),
            ("COPILOT_MODEL", "gpt-4.1"),
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_HOME", &home.join(".copilot").to_string_lossy()),
        ]),
        "pi" => pi(&mut around, home, &url)?,
        other => return Err(io::Error::other(format!("no surroundings for `{other}`"))),
    }
    Ok(around)
}

fn codex(around: &mut Surroundings, home: &Path, url: &str) -> io::Result<()> {
    let own = home.join(".codex");
    fs::create_dir_all(&own)?;
    around.set_all(&[("CODEX_HOME", &own.to_string_lossy()), ("MOCK_API_KEY", "none")]);
    let provider = format!(
        "model_providers.mock={{name=\"mock\",base_url=\"{url}/v1\",env_key=\"MOCK_API_KEY\",\
         wire_api=\"responses\",request_max_retries=0,stream_max_retries=0}}"
    );
    let args = ["-c", "model_provider=\"mock\"", "-c", &provider];
    around.args = args.map(str::to_owned).to_vec();
    Ok(())
}

fn gemini(around: &mut Surroundings, home: &Path, url: &str) -> io::Result<()> {
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "general": { "enableAutoUpdate": false, "maxAttempts": 1 },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
    });
    write(home, ".gemini/settings.json", &settings)?;
    around.set_all(&[
        ("GEMINI_API_KEY", "none"),
        ("GOOGLE_GEMINI_BASE_URL", url),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ]);
    Ok(())
}

fn qwen(around: &mut Surroundings, home: &Path, url: &str) -> io::Result<()> {
    // Without the memory switches it makes one more model call with tools after its answer.
    let settings = json!({
        "security": { "auth": { "selectedType": "openai" } },
        "general": { "enableAutoUpdate": false },
        "privacy": { "usageStatisticsEnabled": false },
        "memory": { "enableManagedAutoMemory": false, "enableManagedAutoDream": false },
    });
    write(home, ".qwen/settings.json", &settings)?;
    around.set_all(&[("OPENAI_API_KEY", "none"), ("OPENAI_BASE_URL", &format!("{url}/v1"))]);
    around.args = ["--auth-type", "openai"].map(str::to_owned).to_vec();
    Ok(())
}

fn pi(around: &mut Surroundings, home: &Path, url: &str) -> io::Result<()> {
    let model = json!({
        "id": "mock-model", "contextWindow": 200_000, "maxTokens": 8000,
        "cost": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 0 },
    });
    let provider = json!({
        "baseUrl": format!("{url}/v1"), "api": "openai-completions", "apiKey": "none",
        "models": [model],
    });
    write(home, ".pi/agent/models.json", &json!({ "providers": { "mock": provider } }))?;
    around.set("PI_OFFLINE", "1");
    around.args = ["--provider", "mock"].map(str::to_owned).to_vec();
    Ok(())
}

fn opencode(around: &mut Surroundings, home: &Path, url: &str) -> io::Result<()> {
    let model = json!({
        "name": "Mock", "tool_call": true, "limit": { "context": 200_000, "output": 8000 },
        "cost": { "input": 3, "output": 15 },
    });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "Mock",
        "options": { "baseURL": format!("{url}/v1"), "apiKey": "none" },
        "models": { "mock-model": model },
    });
    let config = json!({
        "share": "disabled", "small_model": "mock/mock-model", "provider": { "mock": provider },
    });
    write(home, ".config/opencode/opencode.json", &config)?;
    around.set_all(&[
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ]);
    Ok(())
}

fn write(home: &Path, name: &str, content: &Value) -> io::Result<()> {
    let path = home.join(name);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content.to_string())
}

impl Surroundings {
    fn set(&mut self, name: &str, value: &str) {
        self.env.push((name.to_owned(), value.to_owned()));
    }

    fn set_all(&mut self, all: &[(&str, &str)]) {
        for (name, value) in all {
            self.set(name, value);
        }
    }
}
