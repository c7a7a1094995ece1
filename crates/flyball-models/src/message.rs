//! A conversation: plain data that can be kept, and read back by a later version.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::Wire;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block>,
    /// Which model said it. Thoughts and signatures go back to the very same model only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Whoever asks: people, and the tools that answer.
    User,
    /// The model.
    Assistant,
}

/// The model a message is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The format it came in.
    pub wire: Wire,
    /// The model that was asked.
    pub model: String,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Words.
    Text(Text),
    /// What a model thought before it spoke.
    Thought(Thought),
    /// A call of a tool.
    Call(Call),
    /// What a call gave.
    Result(CallResult),
}

/// Words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The words.
    pub text: String,
    /// What the service wants back with them, unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// What a model thought: its own words or a summary, and what proves it to the service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// The words, where the service shows them.
    pub text: String,
    /// What the service wants back with them, unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The service hid the words on purpose; the signature holds them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub redacted: bool,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// No other call of the conversation has it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with.
    pub arguments: Arguments,
    /// What the service wants back with it, unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// What a tool is called with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// An object.
    Json(Value),
    /// What the model wrote where an object should be.
    Invalid {
        /// Its text.
        text: String,
        /// What is wrong with it.
        error: String,
    },
}

/// What a call gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the model is told.
    pub content: String,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_error: bool,
}

impl Arguments {
    /// Reads what a model wrote; nothing at all is an object without fields.
    pub fn read(text: String) -> Self {
        if text.trim().is_empty() {
            return Self::Json(Value::Object(serde_json::Map::new()));
        }
        let error = match serde_json::from_str::<Value>(&text) {
            Ok(value @ Value::Object(_)) => return Self::Json(value),
            Ok(other) => format!("expected an object, found {}", kind(&other)),
            Err(error) => error.to_string(),
        };
        Self::Invalid { text, error }
    }

    /// The object; none when the model wrote something else.
    pub fn json(&self) -> Option<&Value> {
        match self {
            Self::Json(value) => Some(value),
            Self::Invalid { .. } => None,
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Message {
    /// Words of whoever asks.
    pub fn user(text: impl Into<String>) -> Self {
        let text = Text { text: text.into(), signature: None };
        Self { role: Role::User, blocks: vec![Block::Text(text)], origin: None }
    }

    /// What calls gave.
    pub fn results(results: Vec<CallResult>) -> Self {
        let blocks = results.into_iter().map(Block::Result).collect();
        Self { role: Role::User, blocks, origin: None }
    }

    /// Adds words at its end.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Text(Text { text: text.into(), signature: None }));
        self
    }

    /// Its calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Thought(_) | Block::Result(_) => None,
        })
    }

    /// All its words.
    pub fn text(&self) -> String {
        let words = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.text.as_str()),
            Block::Thought(_) | Block::Call(_) | Block::Result(_) => None,
        });
        words.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_an_object_or_told_why_not() {
        let cases = [
            ("", Ok(json!({}))),
            ("  \n", Ok(json!({}))),
            (r#"{"a":[1]}"#, Ok(json!({ "a": [1] }))),
            ("[]", Err("expected an object, found an array")),
            ("null", Err("expected an object, found null")),
            (r#"{"a":"#, Err("EOF while parsing a value at line 1 column 5")),
            (r#"{"a":1} x"#, Err("trailing characters at line 1 column 9")),
        ];
        for (text, wanted) in cases {
            let wanted = match wanted {
                Ok(value) => Arguments::Json(value),
                Err(error) => Arguments::Invalid { text: text.into(), error: error.into() },
            };
            assert_eq!(Arguments::read(text.to_owned()), wanted, "{text}");
        }
    }

    /// What a session kept years ago must still be read: this text is never changed.
    #[test]
    fn a_conversation_is_kept_in_this_very_form() {
        let kept = concat!(
            r#"[{"role":"user","blocks":[{"type":"text","text":"go"}]},"#,
            r#"{"role":"assistant","blocks":["#,
            r#"{"type":"thought","text":"hm","signature":"s1"},"#,
            r#"{"type":"thought","text":"","signature":"s2","redacted":true},"#,
            r#"{"type":"text","text":"I look."},"#,
            r#"{"type":"call","id":"c1","name":"read","arguments":{"json":{"path":"a"}}},"#,
            r#"{"type":"call","id":"c2","name":"read","arguments":{"invalid":{"text":"{","error":"EOF"}},"signature":"s3"}],"#,
            r#""origin":{"wire":"anthropic","model":"m"}},"#,
            r#"{"role":"user","blocks":[{"type":"result","id":"c1","name":"read","content":"x"},"#,
            r#"{"type":"result","id":"c2","name":"read","content":"no","is_error":true}]}]"#,
        );
        let read: Vec<Message> = serde_json::from_str(kept).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), kept);
        let calls: Vec<&str> = read[1].calls().map(|call| call.id.as_str()).collect();
        assert_eq!((calls, read[1].text()), (vec!["c1", "c2"], "I look.".to_owned()));
    }
}
