//! Thoughts in chat completions: nobody standardised them, so what came in a field goes back in it.

use serde_json::Value;

use crate::message::Thought;

/// The field thoughts came in; kept as the signature of a thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// `reasoning_content`: `DeepSeek`, llama.cpp, vLLM and others.
    Content,
    /// `reasoning`: Ollama, newer vLLM.
    Reasoning,
    /// `reasoning_details`: `OpenRouter`, with the signatures of the services behind it.
    Details,
}

impl Field {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Content => "reasoning_content",
            Self::Reasoning => "reasoning",
            Self::Details => "reasoning_details",
        }
    }
}

/// How a thought goes back: its field, and for details their value.
pub(super) fn written(thought: &Thought) -> (Field, Option<Value>) {
    match thought.signature.as_deref() {
        Some("reasoning") => (Field::Reasoning, None),
        Some(text) if text.starts_with('[') => match serde_json::from_str(text) {
            Ok(details) => (Field::Details, Some(details)),
            Err(_) => (Field::Content, None),
        },
        Some(_) | None => (Field::Content, None),
    }
}

/// Pieces of `reasoning_details`, put together as the service would send them whole.
#[derive(Debug, Default)]
pub(super) struct Details(Vec<Value>);

impl Details {
    pub(super) fn add(&mut self, piece: Value) {
        let same = |a: &Value, b: &Value, field: &str| a.get(field) == b.get(field);
        match self.0.last_mut() {
            Some(last) if same(last, &piece, "type") && same(last, &piece, "index") => {
                merge(last, piece);
            }
            Some(_) | None => self.0.push(piece),
        }
    }

    /// What goes back; none when there are no details.
    pub(super) fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| Value::from(self.0.clone()).to_string())
    }
}

/// Texts grow, everything else is replaced by what is not null.
fn merge(into: &mut Value, piece: Value) {
    let (Value::Object(into), Value::Object(piece)) = (into, piece) else { return };
    for (field, value) in piece {
        let grows = matches!(field.as_str(), "text" | "summary" | "data");
        match (into.get_mut(&field), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) if grows => text.push_str(&more),
            (_, value) => drop(into.insert(field, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_of_details_become_whole_blocks() {
        let mut details = Details::default();
        assert_eq!(details.text(), None);
        for piece in [
            json!({ "type": "reasoning.text", "text": "I ", "index": 0, "format": "f" }),
            json!({ "type": "reasoning.text", "text": "look", "index": 0, "signature": null }),
            json!({ "type": "reasoning.text", "index": 0, "signature": "sig" }),
            json!({ "type": "reasoning.encrypted", "data": "x", "index": 1 }),
        ] {
            details.add(piece);
        }
        let thought = Thought { signature: details.text(), ..Thought::default() };
        let (field, value) = written(&thought);
        assert_eq!(field, Field::Details);
        let wanted = json!([
            { "type": "reasoning.text", "text": "I look", "index": 0, "format": "f", "signature": "sig" },
            { "type": "reasoning.encrypted", "data": "x", "index": 1 },
        ]);
        assert_eq!(value, Some(wanted));
    }

    #[test]
    fn a_thought_goes_back_in_the_field_it_came_in() {
        for (signature, field) in [
            (None, Field::Content),
            (Some("reasoning_content"), Field::Content),
            (Some("reasoning"), Field::Reasoning),
            (Some("[broken"), Field::Content),
        ] {
            let thought = Thought { signature: signature.map(Into::into), ..Thought::default() };
            assert_eq!(written(&thought).0, field);
        }
    }
}
