//! `gemini --output-format stream-json`; hooks by a settings file.

use serde_json::json;

use super::NAME;
use super::hook::{EVENTS, table};
use crate::client::{Launch, LaunchRequest, Permissions, Stdin};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let mut launch = Launch::of(request, NAME, &["--output-format", "stream-json"]);
    launch.option("-m", request.model);
    if request.permissions == Permissions::Bypass {
        launch.arg("--yolo");
    }
    if let Some(hooks) = request.hooks {
        let settings = json!({ "hooks": table(hooks, EVENTS) }).to_string();
        let path = launch.private(request.private_dir, "gemini-settings.json", settings);
        launch.env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", path);
    }
    launch.extra(request);
    launch.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    launch.env("NO_COLOR", "1");
    launch.stdin = Stdin::Text(request.prompt.to_owned());
    launch
}
