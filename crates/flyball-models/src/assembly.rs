//! An answer put together from what a stream brings, told event by event.

use serde::de::IgnoredAny;

use crate::failure::Partial;
use crate::message::{Arguments, Block, Call, Message, Origin, Role, Text, Thought};
use crate::reply::{Event, Reply, Stop};
use crate::usage::Usage;

/// Takes what a decoder understood and puts the answer together.
pub(crate) struct Assembly<'a> {
    on_event: &'a mut dyn FnMut(Event<'_>),
    origin: Origin,
    /// Ids the conversation has already.
    taken: Vec<&'a str>,
    /// The place of this answer in the conversation: part of ids that are made here.
    place: usize,
    arguments_max: usize,
    parts: Vec<Part>,
    calls: usize,
    is_closed: bool,
    usage: Usage,
    stop: Option<Stop>,
    id: String,
    model: String,
}

/// The arguments of a call are longer than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArgumentsTooLong(pub(crate) usize);

/// A block with the number its service gave it.
#[derive(Debug)]
struct Part {
    key: Option<u64>,
    open: Open,
}

#[derive(Debug)]
enum Open {
    Text(Text),
    Thought(Thought),
    Call { index: usize, call: Call, text: String, is_ready: bool },
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(
        origin: Origin,
        messages: &'a [Message],
        arguments_max: usize,
        on_event: &'a mut dyn FnMut(Event<'_>),
    ) -> Self {
        let taken = messages.iter().flat_map(Message::calls).map(|call| call.id.as_str()).collect();
        Self {
            on_event,
            origin,
            taken,
            place: messages.len(),
            arguments_max,
            parts: Vec::new(),
            calls: 0,
            is_closed: false,
            usage: Usage::default(),
            stop: None,
            id: String::new(),
            model: String::new(),
        }
    }

    /// Bytes have come.
    pub(crate) fn alive(&mut self, bytes: usize) {
        (self.on_event)(Event::Alive { bytes });
    }

    /// The answer has a name; told once.
    pub(crate) fn started(&mut self, id: &str, model: &str) {
        if self.id.is_empty() && self.model.is_empty() && !(id.is_empty() && model.is_empty()) {
            id.clone_into(&mut self.id);
            model.clone_into(&mut self.model);
            (self.on_event)(Event::Started { id, model });
        }
    }

    /// Words. A key names the block they belong to; without one they go on where the last ended.
    pub(crate) fn text(&mut self, key: Option<u64>, piece: &str) {
        if !piece.is_empty() {
            self.in_text(key, |text| text.text.push_str(piece));
            (self.on_event)(Event::Text(piece));
        }
    }

    /// What the service wants back with a text, or with the end of what was said.
    pub(crate) fn text_signature(&mut self, key: Option<u64>, signature: &str) {
        self.in_text(key, |text| text.signature = Some(signature.to_owned()));
    }

    /// A thought.
    pub(crate) fn thought(&mut self, key: Option<u64>, piece: &str) {
        if !piece.is_empty() {
            self.in_thought(key, |thought| thought.text.push_str(piece));
            (self.on_event)(Event::Thinking(piece));
        }
    }

    /// What the service wants back with a thought; pieces of it add up.
    pub(crate) fn thought_signature(&mut self, key: Option<u64>, piece: &str) {
        let add = |thought: &mut Thought| {
            thought.signature.get_or_insert_default().push_str(piece);
        };
        self.in_thought(key, add);
    }

    /// The same, told whole.
    pub(crate) fn thought_signed(&mut self, key: Option<u64>, signature: &str) {
        self.in_thought(key, |thought| thought.signature = Some(signature.to_owned()));
    }

    /// A thought the service hides.
    pub(crate) fn redacted(&mut self, key: Option<u64>, data: &str) {
        self.in_thought(key, |thought| {
            thought.redacted = true;
            thought.signature = Some(data.to_owned());
        });
    }

    /// What the service wants back with all thoughts: it goes with the first of them.
    pub(crate) fn first_thought_signed(&mut self, signature: &str) {
        let first = self.parts.iter_mut().find_map(|part| match &mut part.open {
            Open::Thought(thought) => Some(thought),
            Open::Text(_) | Open::Call { .. } => None,
        });
        match first {
            Some(thought) => thought.signature = Some(signature.to_owned()),
            None => self.thought_signed(None, signature),
        }
    }

    /// A call begins. Ids the conversation has already, and empty ones, are replaced.
    pub(crate) fn call_began(&mut self, key: u64, id: &str, name: &str) {
        let index = self.calls;
        self.calls += 1;
        let is_taken = id.is_empty() || self.taken.contains(&id) || self.has_call_id(id);
        let id = if is_taken { made_id(self.place, index) } else { id.to_owned() };
        (self.on_event)(Event::CallBegan { index, id: &id, name });
        let call = Call {
            id,
            name: name.to_owned(),
            arguments: Arguments::read(String::new()),
            signature: None,
        };
        let open = Open::Call { index, call, text: String::new(), is_ready: false };
        self.push(Some(key), open);
    }

    /// More of a call's arguments.
    pub(crate) fn call_arguments(&mut self, key: u64, piece: &str) -> Result<(), ArgumentsTooLong> {
        let max = self.arguments_max;
        if let Some(Part { open: Open::Call { index, text, .. }, .. }) = self.call_part(key)
            && !piece.is_empty()
        {
            if text.len().saturating_add(piece.len()) > max {
                return Err(ArgumentsTooLong(max));
            }
            text.push_str(piece);
            let index = *index;
            (self.on_event)(Event::CallArguments { index, text: piece });
        }
        Ok(())
    }

    /// The arguments of a call, told once more as a whole: they count when no piece of them came.
    pub(crate) fn call_whole(&mut self, key: u64, whole: &str) -> Result<(), ArgumentsTooLong> {
        match self.call_part(key) {
            Some(Part { open: Open::Call { text, .. }, .. }) if text.is_empty() => {
                self.call_arguments(key, whole)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What the service wants back with a call.
    pub(crate) fn call_signature(&mut self, key: u64, signature: &str) {
        if let Some(Part { open: Open::Call { call, .. }, .. }) = self.call_part(key) {
            call.signature = Some(signature.to_owned());
        }
    }

    /// A call is whole.
    pub(crate) fn call_ended(&mut self, key: u64) {
        let place = self.parts.iter().rposition(|part| {
            part.key == Some(key) && matches!(part.open, Open::Call { is_ready: false, .. })
        });
        if let Some(part) = place.and_then(|place| self.parts.get_mut(place)) {
            ready(part, self.on_event);
        }
    }

    /// The name of a call that began without one.
    pub(crate) fn call_named(&mut self, key: u64, name: &str) {
        if let Some(Part { open: Open::Call { call, .. }, .. }) = self.call_part(key)
            && call.name.is_empty()
        {
            name.clone_into(&mut call.name);
        }
    }

    /// Whether the arguments of a call are a whole value already.
    pub(crate) fn call_is_whole(&self, key: u64) -> bool {
        self.parts_with(key).any(|open| match open {
            Open::Call { text, .. } => serde_json::from_str::<IgnoredAny>(text).is_ok(),
            Open::Text(_) | Open::Thought(_) => false,
        })
    }

    /// Whether there is a call of that key.
    pub(crate) fn has_call(&self, key: u64) -> bool {
        self.parts_with(key).any(|open| matches!(open, Open::Call { .. }))
    }

    /// Whether there are words of that key.
    pub(crate) fn has_text(&self, key: u64) -> bool {
        self.parts_with(key).any(|open| matches!(open, Open::Text(_)))
    }

    /// Whether there is a thought of that key.
    pub(crate) fn has_thought(&self, key: u64) -> bool {
        self.parts_with(key).any(|open| matches!(open, Open::Thought(_)))
    }

    /// What follows without a key is another block.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// How many calls there are.
    pub(crate) fn calls(&self) -> usize {
        self.calls
    }

    /// What was used so far.
    pub(crate) fn usage(&mut self, usage: Usage) {
        if usage != self.usage {
            self.usage = usage;
            (self.on_event)(Event::Usage(usage));
        }
    }

    /// What is known to be used so far.
    pub(crate) fn used(&self) -> Usage {
        self.usage
    }

    /// Why the answer ended; the first reason counts.
    pub(crate) fn stopped(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
    }

    /// Whether a reason to end was told.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether anything was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The answer is whole.
    pub(crate) fn finish(mut self) -> Reply {
        for part in &mut self.parts {
            ready(part, self.on_event);
        }
        let has_calls = self.calls > 0;
        // Some services say "end" although they called.
        let stop = match self.stop.take() {
            Some(Stop::End) | None if has_calls => Stop::Calls,
            Some(stop) => stop,
            None => Stop::End,
        };
        let (id, model) = (std::mem::take(&mut self.id), std::mem::take(&mut self.model));
        let usage = self.usage;
        Reply { message: self.message(), stop, usage, id, model }
    }

    /// What had come when it failed; nothing when nothing had.
    pub(crate) fn partial(mut self) -> Option<Box<Partial>> {
        if self.parts.is_empty() && self.id.is_empty() && self.usage == Usage::default() {
            return None;
        }
        for part in &mut self.parts {
            ready(part, &mut |_| {});
        }
        let usage = self.usage;
        Some(Box::new(Partial { message: self.message(), usage }))
    }

    fn message(self) -> Message {
        let blocks = self.parts.into_iter().map(|part| match part.open {
            Open::Text(text) => Block::Text(text),
            Open::Thought(thought) => Block::Thought(thought),
            Open::Call { call, .. } => Block::Call(call),
        });
        Message { role: Role::Assistant, blocks: blocks.collect(), origin: Some(self.origin) }
    }

    fn has_call_id(&self, id: &str) -> bool {
        self.parts.iter().any(|part| match &part.open {
            Open::Call { call, .. } => call.id == id,
            Open::Text(_) | Open::Thought(_) => false,
        })
    }

    fn parts_with(&self, key: u64) -> impl Iterator<Item = &Open> {
        self.parts.iter().filter(move |part| part.key == Some(key)).map(|part| &part.open)
    }

    fn push(&mut self, key: Option<u64>, open: Open) {
        self.is_closed = false;
        self.parts.push(Part { key, open });
    }

    fn call_part(&mut self, key: u64) -> Option<&mut Part> {
        let of = |part: &&mut Part| {
            part.key == Some(key) && matches!(part.open, Open::Call { is_ready: false, .. })
        };
        self.parts.iter_mut().rev().find(of)
    }

    fn in_text(&mut self, key: Option<u64>, change: impl FnOnce(&mut Text)) {
        let found = self.parts_of(key).find_map(|part| match &mut part.open {
            Open::Text(text) => Some(text),
            Open::Thought(_) | Open::Call { .. } => None,
        });
        if let Some(text) = found {
            return change(text);
        }
        let mut text = Text::default();
        change(&mut text);
        self.push(key, Open::Text(text));
    }

    fn in_thought(&mut self, key: Option<u64>, change: impl FnOnce(&mut Thought)) {
        let found = self.parts_of(key).find_map(|part| match &mut part.open {
            Open::Thought(thought) => Some(thought),
            Open::Text(_) | Open::Call { .. } => None,
        });
        if let Some(thought) = found {
            return change(thought);
        }
        let mut thought = Thought::default();
        change(&mut thought);
        self.push(key, Open::Thought(thought));
    }

    /// The parts of that key; without one the last part alone.
    fn parts_of(&mut self, key: Option<u64>) -> impl Iterator<Item = &mut Part> {
        let (last, is_closed) = (self.parts.len().saturating_sub(1), self.is_closed);
        let wanted = move |(place, part): &(usize, &mut Part)| match key {
            Some(_) => part.key == key,
            None => *place == last && !is_closed,
        };
        self.parts.iter_mut().enumerate().filter(wanted).map(|(_, part)| part)
    }
}

/// Reads the arguments of a call that is whole.
fn ready(part: &mut Part, on_event: &mut dyn FnMut(Event<'_>)) {
    if let Open::Call { index, call, text, is_ready } = &mut part.open
        && !*is_ready
    {
        *is_ready = true;
        call.arguments = Arguments::read(std::mem::take(text));
        on_event(Event::CallReady { index: *index, call });
    }
}

/// An id for a call whose service gave none.
fn made_id(place: usize, index: usize) -> String {
    format!("call_{place}_{index}")
}

/// Whether an id was made here.
pub(crate) fn is_made_id(id: &str) -> bool {
    let numbers = id.strip_prefix("call_").and_then(|rest| rest.split_once('_'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    numbers.is_some_and(|(place, index)| is_number(place) && is_number(index))
}
