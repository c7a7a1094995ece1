//! `qwen --output-format stream-json`; hooks by a settings file.

use serde_json::json;

use super::NAME;
use crate::client::hook::{CALL_AND_STOP, usual_table};
use crate::client::{Launch, LaunchRequest, Permissions};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let mut launch = Launch::of(request, NAME, &["--output-format", "stream-json"]);
    launch.option("-m", request.model);
    if request.permissions == Permissions::Bypass {
        launch.arg("--yolo");
    }
    if let Some(hooks) = request.hooks {
        let settings = json!({
            "hooks": usual_table(hooks, NAME, CALL_AND_STOP),
            "general": { "enableAutoUpdate": false },
        });
        let path = launch.private(request.private_dir, "qwen-settings.json", settings.to_string());
        launch.env("QWEN_CODE_SYSTEM_SETTINGS_PATH", path);
    }
    launch.extra(request);
    launch.args(&["-p", request.prompt]);
    launch
}
