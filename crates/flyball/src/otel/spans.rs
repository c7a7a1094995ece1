//! Spans as they are open, and what happened in them.

use flyball_core::Moment;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::{Event as SpanEvent, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};

use super::attribute::{nanos, text};
use super::names;

/// How many events one span keeps; the rest is counted.
const EVENTS_MAX: usize = 128;

/// Sampled, as `TRACEPARENT` says, and its parent is known to be of this very program.
const FLAGS: u32 = 0x101;

/// A span that is not over yet.
#[derive(Clone, Debug)]
pub(super) struct OpenSpan {
    pub(super) id: Vec<u8>,
    pub(super) parent: Vec<u8>,
    pub(super) name: String,
    pub(super) began: Moment,
    pub(super) attributes: Vec<KeyValue>,
    events: Vec<SpanEvent>,
    left_out: u32,
}

impl OpenSpan {
    pub(super) fn new((id, parent): (Vec<u8>, Vec<u8>), name: String, began: Moment) -> Self {
        let (attributes, events) = (Vec::new(), Vec::new());
        Self { id, parent, name, began, attributes, events, left_out: 0 }
    }

    /// With these attributes.
    pub(super) fn with(mut self, attributes: impl IntoIterator<Item = KeyValue>) -> Self {
        self.attributes.extend(attributes);
        self
    }

    /// Something happened in it.
    pub(super) fn happened(&mut self, at: Moment, name: &str, attributes: Vec<KeyValue>) {
        if self.events.len() >= EVENTS_MAX {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        self.events.push(SpanEvent {
            time_unix_nano: nanos(at),
            name: name.to_owned(),
            attributes,
            dropped_attributes_count: 0,
        });
    }

    /// It is over; what went wrong, in one word.
    pub(super) fn closed(mut self, trace: Vec<u8>, at: Moment, error: Option<&str>) -> Span {
        let status = error.map(|error| {
            self.attributes.push(text(names::ERROR_TYPE, error));
            Status { message: String::new(), code: StatusCode::Error.into() }
        });
        // Clocks may be set back; a span that ends before it begins is refused everywhere.
        let ended = if at < self.began { self.began } else { at };
        Span {
            trace_id: trace,
            span_id: self.id,
            parent_span_id: self.parent,
            flags: FLAGS,
            name: self.name,
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: nanos(self.began),
            end_time_unix_nano: nanos(ended),
            attributes: self.attributes,
            events: self.events,
            dropped_events_count: self.left_out,
            status,
            ..Span::default()
        }
    }
}
