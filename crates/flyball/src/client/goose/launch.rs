//! `goose run --output-format stream-json`; hooks by a plugin in the worktree, where alone it looks
//! for one.

use super::NAME;
use super::hook::{PLUGIN, plugin_files};
use crate::client::{Launch, LaunchRequest, Permissions, Stdin};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let args = ["run", "-q", "--output-format", "stream-json", "--with-builtin", "developer"];
    let mut launch = Launch::of(request, NAME, &args);
    launch.option("--model", request.model);
    if request.permissions == Permissions::Bypass {
        launch.env("GOOSE_MODE", "auto");
    }
    if let Some(hooks) = request.hooks {
        for (name, text, _) in plugin_files(hooks) {
            launch.worktree(request.worktree, &format!("{PLUGIN}/{name}"), text);
        }
        launch.env("GOOSE_STOP_HOOK_BLOCK_CAP", "20");
    }
    launch.extra(request);
    launch.args(&["-i", "-"]);
    launch.env("GOOSE_TELEMETRY_OFF", "1");
    launch.stdin = Stdin::Text(request.prompt.to_owned());
    launch
}
