//! Gemini CLI: names of its own for events, no ids of calls, and at a stop everything that was said
//! since the prompt.

use flyball_core::call::ToolOutcome;
use serde_json::{Value, json};

use super::dialect::{
    Dialect, Heard, HeardResult, Occasion, Reply, text, usual_heard, usual_words, words,
};

pub(super) struct Gemini;

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn occasion(&self, event: &str) -> Occasion {
        match event {
            "BeforeTool" => Occasion::Before,
            "AfterTool" => Occasion::After,
            "AfterAgent" => Occasion::Stop,
            "SessionStart" | "BeforeAgent" => Occasion::Began,
            "SessionEnd" => Occasion::Ended,
            _ => Occasion::Other,
        }
    }

    fn read(&self, occasion: Occasion, input: &Value) -> Heard {
        let mut heard = Heard { stamp: text(input, "timestamp"), ..usual_heard(input) };
        if occasion == Occasion::After {
            let answer = input.get("tool_response");
            let error = answer.and_then(|answer| answer.get("error")).filter(|e| !e.is_null());
            heard.result = Some(HeardResult {
                outcome: if error.is_some() { ToolOutcome::Tool } else { ToolOutcome::Ok },
                text: without_group(&words(answer)),
            });
        }
        if occasion == Occasion::Stop {
            heard.said = Some(text(input, "prompt_response"));
        }
        heard
    }

    fn write(&self, event: &str, occasion: Occasion, reply: &Reply) -> String {
        if occasion == Occasion::After && reply.replaces {
            return json!({ "decision": "deny", "reason": reply.message }).to_string();
        }
        usual_words(event, occasion, reply)
    }

    fn advises(&self, occasion: Occasion) -> bool {
        occasion == Occasion::After
    }

    fn replaces(&self) -> bool {
        true
    }
}

/// The number of a process group is another one in each answer and says nothing.
fn without_group(text: &str) -> String {
    let kept: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("Process Group PGID:")).collect();
    kept.join("\n")
}
