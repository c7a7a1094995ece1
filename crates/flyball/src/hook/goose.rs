//! goose: can block and nothing else, and is told no results.

use serde_json::Value;

use super::dialect::{
    Dialect, Heard, Occasion, Reply, block, path, text, usual_heard, usual_occasion,
};

pub(super) struct Goose;

impl Dialect for Goose {
    fn name(&self) -> &'static str {
        "goose"
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
