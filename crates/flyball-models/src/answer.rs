//! An answer from its first byte to its last: bytes in, the whole reply out. No network is needed.

use crate::assembly::Assembly;
use crate::decoder::Decoded;
use crate::dialect::Decoder;
use crate::failure::Partial;
use crate::message::{Message, Origin};
use crate::reply::{Event, Reply};
use crate::settings::Limits;
use crate::stream::EventStream;
use crate::trouble::Trouble;

/// Reads one answer.
pub(crate) struct Answer<'a> {
    stream: EventStream,
    decoder: Decoder,
    assembly: Assembly<'a>,
    bytes: usize,
    bytes_max: usize,
    is_whole: bool,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(
        asked: Origin,
        messages: &'a [Message],
        limits: &Limits,
        on_event: &'a mut dyn FnMut(Event<'_>),
    ) -> Self {
        Self {
            stream: EventStream::new(limits.line_bytes),
            decoder: Decoder::new(asked.wire),
            assembly: Assembly::new(asked, messages, limits.arguments_bytes, on_event),
            bytes: 0,
            bytes_max: limits.response_bytes,
            is_whole: false,
        }
    }

    /// A head without a body is a sign of life too.
    pub(crate) fn alive(&mut self) {
        self.assembly.alive(0);
    }

    /// Takes the next bytes of a stream.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > self.bytes_max {
            let words = format!("the answer has more than {} bytes", self.bytes_max);
            return Err(Trouble::TooLarge(words));
        }
        self.assembly.alive(bytes.len());
        let Self { stream, decoder, assembly, is_whole, .. } = self;
        stream.feed(bytes, &mut |frame| {
            // What comes after the end is no part of the answer.
            if !*is_whole {
                *is_whole = decoder.frame(frame, assembly)? == Decoded::Whole;
            }
            Ok(())
        })
    }

    /// The stream has ended; false when the answer has not.
    pub(crate) fn end(&mut self) -> Result<bool, Trouble> {
        let Self { stream, decoder, assembly, is_whole, .. } = self;
        let rest: Result<(), Trouble> = stream.finish(&mut |frame| {
            *is_whole |= decoder.frame(frame, assembly)? == Decoded::Whole;
            Ok(())
        });
        match rest {
            Ok(()) => Ok(self.is_whole || self.assembly.has_stopped()),
            // Half of an event.
            Err(Trouble::Unreadable(_)) => Ok(self.assembly.has_stopped()),
            Err(trouble @ (Trouble::Told(_) | Trouble::TooLarge(_))) => Err(trouble),
        }
    }

    /// Takes an answer that is one piece of JSON and no stream.
    pub(crate) fn whole(&mut self, body: &[u8]) -> Result<(), Trouble> {
        self.decoder.whole(&String::from_utf8_lossy(body), &mut self.assembly)
    }

    /// Whether anything has come.
    pub(crate) fn has_begun(&self) -> bool {
        self.bytes > 0
    }

    /// Whether the end has come.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether everything was said, with or without a farewell.
    pub(crate) fn has_stopped(&self) -> bool {
        self.assembly.has_stopped()
    }

    pub(crate) fn finish(self) -> Reply {
        self.assembly.finish()
    }

    pub(crate) fn partial(self) -> Option<Box<Partial>> {
        self.assembly.partial()
    }
}

#[cfg(test)]
mod tests;
