//! `codex exec --json`; hooks by `-c` flags, so that nothing is written into the user's home.

use super::NAME;
use super::hook::EVENTS;
use crate::client::hook::usual_occasion;
use crate::client::{HookSetup, Launch, LaunchRequest, Permissions, Stdin};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let mut launch = Launch::of(request, NAME, &["exec", "--json", "--skip-git-repo-check"]);
    if request.permissions == Permissions::Bypass {
        launch.arg("--dangerously-bypass-approvals-and-sandbox");
    }
    launch.option("-m", request.model);
    launch.args(&["-c", "check_for_update_on_startup=false"]);
    if let Some(hooks) = request.hooks {
        launch.arg("--dangerously-bypass-hook-trust");
        for event in EVENTS {
            launch.args(&["-c", &hook_flag(hooks, event)]);
        }
    }
    launch.extra(request);
    launch.arg("-");
    launch.env("RUST_LOG", "error");
    launch.stdin = Stdin::Text(request.prompt.to_owned());
    launch
}

/// A hook as inline TOML.
fn hook_flag(hooks: &HookSetup, event: &str) -> String {
    let command = serde_json::Value::from(hooks.command(NAME, event));
    let secs = hooks.secs(usual_occasion(event));
    format!(
        "hooks.{event}=[{{matcher=\".*\",hooks=[{{type=\"command\",command={command},timeout={secs}}}]}}]"
    )
}
