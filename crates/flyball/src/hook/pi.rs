//! pi: flyball's own extension asks in the words of Claude Code and puts answers into effect.

use serde_json::Value;

use super::dialect::{Dialect, Heard, Occasion, Reply, usual_occasion};
use super::opencode::{plugin_heard, plugin_words};

pub(super) struct Pi;

impl Dialect for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn occasion(&self, event: &str) -> Occasion {
        usual_occasion(event)
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        plugin_heard(occasion, input)
    }

    fn write(&self, event: &str, occasion: Occasion, reply: &Reply) -> String {
        plugin_words(event, occasion, reply)
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
