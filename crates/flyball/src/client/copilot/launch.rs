//! `copilot --output-format json`; hooks by a plugin folder. Hooks of a repository are not read in
//! prompt mode; those of a plugin are.

use serde_json::json;

use super::NAME;
use super::hook::{EVENTS, table};
use crate::client::{Launch, LaunchRequest, Permissions};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let mut launch = Launch::of(request, NAME, &["--output-format", "json", "--no-color"]);
    if request.permissions == Permissions::Bypass {
        launch.args(&["--allow-all-tools", "--allow-all-paths"]);
    }
    launch.option("--model", request.model);
    if let Some(hooks) = request.hooks {
        let plugin = json!({
            "name": "flyball", "version": "0.0.1", "description": "guards of flyball",
        });
        let folder = request.private_dir.join("copilot-plugin");
        launch.private(&folder, "plugin.json", plugin.to_string());
        let table = table(hooks, EVENTS, |_, command| command.to_owned());
        launch.private(&folder, "hooks.json", table.to_string());
        launch.option("--plugin-dir", Some(&folder.to_string_lossy()));
    }
    launch.extra(request);
    launch.args(&["-p", request.prompt]);
    launch.env("COPILOT_AUTO_UPDATE", "false");
    launch
}
