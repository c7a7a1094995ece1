//! A plugin of flyball's own.

use serde_json::Value;

use super::{NAME, Opencode};
use crate::client::hook::{Dialect, Heard, Occasion, Reply, usual_occasion};
use crate::client::hook_home::{Folders, HookFile, HookHome, Scope, whole};
use crate::client::plugin::{MARK, answer, filled, heard};
use crate::client::{HookSetup, Output};

/// The plugin with its blanks filled in.
pub(super) fn plugin(hooks: &HookSetup) -> String {
    filled(include_str!("plugin.js"), hooks, Opencode.stop_refusal_cap())
}

impl Dialect for Opencode {
    fn name(&self) -> &'static str {
        NAME
    }

    fn occasion(&self, event: &str) -> Occasion {
        usual_occasion(event)
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        heard(occasion, input)
    }

    fn write(&self, event: &str, occasion: Occasion, reply: &Reply) -> String {
        answer(event, occasion, reply)
    }

    fn advises(&self, occasion: Occasion) -> bool {
        occasion == Occasion::After
    }

    fn replaces(&self) -> bool {
        true
    }
}

impl HookHome for Opencode {
    fn files(&self, scope: Scope, folders: &Folders, hooks: &HookSetup) -> Option<Vec<HookFile>> {
        let own = folders.own("XDG_CONFIG_HOME", ".config").join("opencode/plugins/flyball.js");
        let path = folders.at(scope, ".opencode/plugins/flyball.js", own);
        Some(vec![whole(path, plugin(hooks), MARK)])
    }
}
