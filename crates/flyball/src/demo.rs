//! `flyball demo`: the whole thing in a temporary repository, with a built-in scripted agent. Real
//! git, real gates, a real journal; no network, no key.

mod agent;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus};

pub use self::agent::{AGENT_ARGUMENT, agent_main};
use crate::error::CliError;

const CONFIG: &str = "[agent]\ncommand = [\"FLYBALL\", \"AGENT\"]\noutput = \"flyball\"\nsteer = true\n\n\
[review]\nenabled = false\n\n[[gates.check]]\nname = \"tests\"\ncommand = \"sh check.sh\"\n";

const TASKS: &str = r#"{
  "project": "greeter",
  "userStories": [
    {
      "id": "greet",
      "title": "greet.sh greets by name, and the world when no name is given",
      "acceptanceCriteria": ["sh check.sh is green"],
      "passes": false
    }
  ]
}
"#;

const CHECK: &str = r#"echo 1..2
run() { got=$(sh greet.sh $3 2>&1); if [ "$got" = "$4" ]; then echo "ok $1 - $2"; else
  bad=1; echo "not ok $1 - $2"; echo "  ---"; echo "  message: expected '$4', got '$got'"
  echo "  at: greet.sh:1"; echo "  ..."; fi; }
run 1 greets_by_name Ada "Hello, Ada!"
run 2 greets_the_world "" "Hello, world!"
exit ${bad:-0}
"#;

/// Set for the run of the demo, whose repository does not outlive it.
pub(crate) const DEMO: &str = "FLYBALL_DEMO";

/// Lays out the repository the demo plays in.
pub fn lay_out(root: &Path) -> Result<(), CliError> {
    let io =
        |error: std::io::Error| CliError::io("the demo's folder cannot be written").cause(error);
    let own = std::env::current_exe().map_err(io)?;
    fs::create_dir_all(root.join(".flyball")).map_err(io)?;
    let config = CONFIG
        .replace("FLYBALL", &own.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
        .replace("AGENT", AGENT_ARGUMENT);
    let files = [
        ("flyball.toml", config.as_str()),
        (".flyball/tasks.json", TASKS),
        (".flyball/.gitignore", include_str!("../templates/gitignore")),
        ("check.sh", CHECK),
        ("README.md", "A greeter that does not exist yet.\n"),
    ];
    for (name, text) in files {
        fs::write(root.join(name), text).map_err(io)?;
    }
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "demo agent"],
        &["config", "user.email", "demo@localhost"],
        &["config", "commit.gpgsign", "false"],
        &["add", "-A"],
        &["commit", "-q", "-m", "a greeter is wanted"],
    ] {
        git(root, arguments)?;
    }
    Ok(())
}

/// Plays it: `flyball run` as anybody would type it, with a journal of its own.
pub fn play(root: &Path, state: &Path) -> Result<ExitStatus, CliError> {
    let own = std::env::current_exe()
        .map_err(|error| CliError::io("flyball cannot find itself").cause(error))?;
    Command::new(own)
        .arg("run")
        .current_dir(root)
        .env("FLYBALL_STATE", state)
        .env(DEMO, "1")
        .env_remove("FLYBALL_RUN")
        .env("XDG_CONFIG_HOME", state)
        .status()
        .map_err(|error| CliError::io("the demo's run cannot be started").cause(error))
}

fn git(root: &Path, arguments: &[&str]) -> Result<(), CliError> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| CliError::no_input("`git` cannot be started").cause(error))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(CliError::io(format!("`git {}` failed", arguments.join(" "))).cause(words))
}
