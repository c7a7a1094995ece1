//! An extension of flyball's own. pi names no sessions.

use serde_json::Value;

use super::{NAME, Pi};
use crate::client::hook::{Dialect, Heard, Occasion, Reply, usual_occasion};
use crate::client::hook_home::{Folders, HookFile, HookHome, Scope, whole};
use crate::client::plugin::{MARK, answer, filled, heard};
use crate::client::{HookSetup, Output};

/// The extension with its blanks filled in.
pub(super) fn extension(hooks: &HookSetup) -> String {
    filled(include_str!("extension.ts"), hooks, Pi.stop_refusal_cap())
}

impl Dialect for Pi {
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

    fn names_sessions(&self) -> bool {
        false
    }
}

impl HookHome for Pi {
    fn files(&self, scope: Scope, folders: &Folders, hooks: &HookSetup) -> Option<Vec<HookFile>> {
        let own = folders.home.join(".pi/agent/extensions/flyball.ts");
        let path = folders.at(scope, ".pi/extensions/flyball.ts", own);
        Some(vec![whole(path, extension(hooks), MARK)])
    }
}
