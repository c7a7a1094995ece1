//! Attributes as the wire wants them.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};

use flyball_core::Moment;

use crate::view::words;

/// What is told of a span, an event or a figure.
pub(super) type Attributes = Vec<KeyValue>;

/// The longest text of an attribute.
const TEXT_MAX: usize = 300;
/// The longest text of what agents and tools said.
const CONTENT_MAX: usize = 8_000;

fn attribute(name: &str, value: Value) -> KeyValue {
    let value = Some(AnyValue { value: Some(value) });
    KeyValue { key: name.to_owned(), value, ..KeyValue::default() }
}

/// A name, on one line.
pub(super) fn text(name: &str, value: &str) -> KeyValue {
    attribute(name, Value::StringValue(words::line(value, TEXT_MAX)))
}

/// What an agent or a tool said: its lines are kept, its secrets are not.
pub(super) fn content(name: &str, value: &str) -> KeyValue {
    let value = flyball_core::text::head(&words::lines(value), CONTENT_MAX);
    attribute(name, Value::StringValue(value))
}

/// What was said to a model or by it, in the form the conventions give messages.
pub(super) fn message(name: &str, role: &str, said: &str) -> KeyValue {
    let said = flyball_core::text::head(&words::lines(said), CONTENT_MAX);
    let parts =
        serde_json::json!([{ "role": role, "parts": [{ "type": "text", "content": said }] }]);
    attribute(name, Value::StringValue(parts.to_string()))
}

/// A count.
pub(super) fn count(name: &str, value: u64) -> KeyValue {
    attribute(name, Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)))
}

/// A measure.
pub(super) fn number(name: &str, value: f64) -> KeyValue {
    attribute(name, Value::DoubleValue(value))
}

/// Yes or no.
#[expect(clippy::fn_params_excessive_bools, reason = "a fact, not a mode")]
pub(super) fn flag(name: &str, value: bool) -> KeyValue {
    attribute(name, Value::BoolValue(value))
}

/// Money, in dollars.
pub(super) fn dollars(name: &str, micro_usd: u64) -> KeyValue {
    #[expect(clippy::cast_precision_loss, reason = "no run costs that much")]
    number(name, micro_usd as f64 / 1e6)
}

/// A moment, in nanoseconds.
pub(super) const fn nanos(at: Moment) -> u64 {
    at.as_millis().saturating_mul(1_000_000)
}
