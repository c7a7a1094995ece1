//! `claude -p --output-format stream-json`; hooks by a settings file.

use serde_json::json;

use super::NAME;
use crate::client::hook::{CALL_AND_STOP, usual_table};
use crate::client::{Launch, LaunchRequest, Permissions, Stdin};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let args = ["-p", "--output-format", "stream-json", "--verbose"];
    let mut launch = Launch::of(request, NAME, &args);
    launch.option("--model", request.model);
    if request.permissions == Permissions::Bypass {
        launch.arg("--dangerously-skip-permissions");
        // As root the flag is refused unless the client is told that it is in a sandbox.
        launch.env("IS_SANDBOX", "1");
    }
    if let Some(hooks) = request.hooks {
        let settings = json!({ "hooks": usual_table(hooks, NAME, CALL_AND_STOP) }).to_string();
        let path = launch.private(request.private_dir, "claude-settings.json", settings);
        launch.args(&["--settings", &path]);
        launch.env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "20");
    }
    launch.extra(request);
    launch.env("DISABLE_AUTOUPDATER", "1");
    launch.stdin = Stdin::Text(request.prompt.to_owned());
    launch
}
