//! goose: can block and nothing else, and is told no results.

use serde_json::{Value, json};

use super::{Goose, NAME};
use crate::client::HookSetup;
use crate::client::hook::{
    CALL_AND_STOP, Dialect, Heard, Occasion, Reply, block, path, text, usual_heard, usual_occasion,
    usual_table,
};
use crate::client::hook_home::{Folders, HookFile, HookHome, Scope, whole};

/// Where it looks for plugins.
pub(super) const PLUGIN: &str = ".agents/plugins/flyball";

impl Dialect for Goose {
    fn name(&self) -> &'static str {
        NAME
    }

    fn occasion(&self, event: &str) -> Occasion {
        usual_occasion(event)
    }

    fn read(&self, _occasion: Occasion, input: &Value) -> Heard {
        let mut heard = usual_heard(input);
        heard.call.id = text(input, "tool_call_id");
        heard.dir = path(input, "working_dir");
        heard
    }

    fn write(&self, _event: &str, occasion: Occasion, reply: &Reply) -> String {
        let asks = matches!(occasion, Occasion::Before | Occasion::Stop);
        if asks && !reply.allows() { block(reply) } else { String::new() }
    }

    fn advises(&self, _occasion: Occasion) -> bool {
        false
    }

    fn sees_results(&self) -> bool {
        false
    }
}

impl HookHome for Goose {
    fn files(&self, scope: Scope, folders: &Folders, hooks: &HookSetup) -> Option<Vec<HookFile>> {
        let own = folders.own("GOOSE_PATH_ROOT", "").join(PLUGIN);
        let folder = folders.at(scope, PLUGIN, own);
        let file = |(name, text, mark)| whole(folder.join(name), text, mark);
        Some(plugin_files(hooks).into_iter().map(file).collect())
    }
}

/// The files of the plugin: name, text, and what no other file of that name holds.
pub(super) fn plugin_files(hooks: &HookSetup) -> [(&'static str, String, &'static str); 2] {
    let plugin = json!({
        "name": "flyball", "version": "0.0.1", "description": "guards of flyball",
    });
    let table = json!({ "hooks": usual_table(hooks, NAME, CALL_AND_STOP) });
    [
        ("plugin.json", plugin.to_string(), "guards of flyball"),
        ("hooks/hooks.json", table.to_string(), " hook goose "),
    ]
}
