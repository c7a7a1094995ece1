//! `opencode run --format json`; hooks by a plugin file.

use serde_json::{Map, Value, json};

use super::NAME;
use super::hook::plugin;
use crate::client::{Launch, LaunchRequest, Permissions, Stdin};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let mut launch = Launch::of(request, NAME, &["run", "--format", "json"]);
    let mut config = Map::new();
    config.insert("autoupdate".to_owned(), json!(false));
    if request.permissions == Permissions::Bypass {
        launch.arg("--auto");
        config.insert("permission".to_owned(), json!({ "*": "allow" }));
    }
    launch.option("--model", request.model);
    if let Some(hooks) = request.hooks {
        let path = launch.private(request.private_dir, "flyball-opencode.js", plugin(hooks));
        config.insert("plugin".to_owned(), json!([format!("file://{path}")]));
    }
    launch.env("OPENCODE_CONFIG_CONTENT", Value::Object(config).to_string());
    launch.env("OPENCODE_DISABLE_AUTOUPDATE", "1");
    launch.extra(request);
    launch.stdin = Stdin::Text(request.prompt.to_owned());
    launch
}
