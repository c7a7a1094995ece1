//! Everything that was said in a session, and what follows from it. Pure: entries in, the next deed out.
//!
//! An entry is written down before it counts, so a session that was killed is its entries once more.
//! A call has two: [`Entry::Began`] before its deed and [`Entry::Returned`] after it. One that began and
//! never returned may have had its effect: it is not made again, and the model is told so.

use std::collections::VecDeque;

use flyball_core::Outcome;
use flyball_core::call::ToolOutcome;
use flyball_core::compaction::{Compaction, Weight};
use flyball_core::event::Spend;
use flyball_models::{Arguments, Block, Call, CallResult, Message, Role, Stop, Text};
use serde::{Deserialize, Serialize};

/// What the model is told of a call that began before flyball was killed.
pub(crate) const INTERRUPTED: &str = "interrupted: flyball was killed while this call was running. It may have had its \
     effect, or a part of it; it was not made again. Look at what is there before you repeat it.";
/// What a model that declined, or could not, is told when it is taken up again.
const GO_ON: &str = "Go on.";
/// How often in a row a silent model is asked again.
const STALLS_MAX: u32 = 1;

/// A line of a session's record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A human, or the run, said something to the model.
    Asked {
        /// What.
        text: String,
    },
    /// A guard has advice for the model, which hears it with the next thing it is told.
    Advised {
        /// What.
        text: String,
    },
    /// The model was sent back to work, and told why.
    SentBack {
        /// What.
        text: String,
    },
    /// The model answered.
    Answered {
        /// Word for word, with its calls.
        message: Message,
        /// Why it ended.
        stop: Stop,
        /// What it cost.
        spend: Spend,
        /// Tokens it had read: how full its window is.
        prompt: u64,
    },
    /// A call is about to be made.
    Began {
        /// Its id.
        call: String,
    },
    /// A call is over, or was not made at all.
    Returned {
        /// Its id.
        call: String,
        /// How it went.
        outcome: ToolOutcome,
        /// What the model is told.
        text: String,
    },
    /// The model said nothing for too long.
    Stalled {
        /// What it is told.
        text: String,
    },
    /// The older part became a summary.
    Compacted {
        /// How many messages it was.
        messages: usize,
        /// The summary.
        summary: String,
    },
    /// The model may rest: nothing is missing.
    Rested,
    /// A human ended the model's turn.
    Interrupted,
    /// It is over.
    Ended {
        /// How.
        ending: Ending,
    },
    /// Somebody takes it up again.
    Resumed,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub(crate) enum Ending {
    /// The model has said its last word, and may.
    Finished,
    /// A guard or a budget ended it.
    Halted {
        /// As what.
        outcome: Outcome,
        /// Why.
        why: String,
    },
    /// The model cannot be used.
    Failed {
        /// Why.
        why: String,
    },
    /// By a human, or a signal.
    Left,
}

/// What is done next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Next<'c> {
    /// The model is asked.
    Ask,
    /// Before that, so many of its messages are put into a summary.
    Compact(usize),
    /// A call is judged, and made.
    Perform(&'c Call),
    /// A call that began before a death is answered for.
    Explain(&'c Call),
    /// The model wants to rest: may it?
    Rest,
    /// Nothing, until somebody says something.
    Listen,
    /// Nothing any more.
    End(&'c Ending),
}

/// A session as its entries tell it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation {
    /// The first thing that was asked, word for word.
    task: String,
    messages: Vec<Message>,
    /// Calls of the last answer without a result.
    open: VecDeque<Open>,
    /// What the next message to the model holds so far.
    results: Vec<CallResult>,
    words: Vec<String>,
    turn: Turn,
    /// Tokens the model read last.
    prompt: u64,
    /// The window is known to be full, whatever was counted.
    is_full: bool,
    stalls: u32,
    answers: u64,
    /// Why the last answer ended.
    stop: Option<Stop>,
}

#[derive(Clone, Debug)]
struct Open {
    call: Call,
    began: bool,
}

/// Whose turn it is.
#[derive(Clone, Debug, Default, PartialEq)]
enum Turn {
    /// A human's.
    #[default]
    Human,
    /// The model's.
    Model,
    /// The model has spoken, and wants to rest.
    Resting,
    /// Nobody's.
    Over(Ending),
}

impl Conversation {
    /// What is done next. The window is looked at before each question to the model.
    pub(crate) fn next(&self, window: &Compaction) -> Next<'_> {
        if let Turn::Over(ending) = &self.turn {
            return Next::End(ending);
        }
        if let Some(Open { call, began }) = self.open.front() {
            return if *began { Next::Explain(call) } else { Next::Perform(call) };
        }
        match &self.turn {
            Turn::Model => {
                let weights = self.weights();
                let cut = if self.is_full {
                    window.cut_now(&weights)
                } else {
                    window.cut(self.prompt, &weights)
                };
                cut.map_or(Next::Ask, Next::Compact)
            }
            Turn::Resting => Next::Rest,
            Turn::Human => Next::Listen,
            Turn::Over(ending) => Next::End(ending),
        }
    }

    /// Takes an entry in.
    pub(crate) fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Asked { text } => {
                if self.task.is_empty() {
                    self.task.clone_from(&text);
                }
                self.hear(text);
            }
            Entry::SentBack { text } => self.hear(text),
            Entry::Advised { text } => self.words.push(text),
            Entry::Answered { message, stop, prompt, .. } => self.answer(message, &stop, prompt),
            Entry::Began { call } => {
                if let Some(open) = self.open.iter_mut().find(|open| open.call.id == call) {
                    open.began = true;
                }
            }
            Entry::Returned { call, outcome, text } => self.returned(&call, outcome, text),
            Entry::Stalled { text } => {
                self.stalls = self.stalls.saturating_add(1);
                self.hear(text);
            }
            Entry::Compacted { messages, summary } => self.compact(messages, &summary),
            Entry::Rested => self.turn = Turn::Human,
            Entry::Interrupted => self.interrupt(),
            Entry::Ended { ending } => self.turn = Turn::Over(ending),
            Entry::Resumed => self.resume(),
        }
    }

    /// The messages as they are sent: with what the model has not been told yet.
    pub(crate) fn send(&mut self) -> &[Message] {
        let mut blocks: Vec<Block> = self.results.drain(..).map(Block::Result).collect();
        blocks.extend(self.words.drain(..).map(|text| Block::Text(Text { text, signature: None })));
        if !blocks.is_empty() {
            match self.messages.last_mut() {
                // Said after something else that was not answered.
                Some(last) if last.role == Role::User => last.blocks.extend(blocks),
                Some(_) | None => {
                    self.messages.push(Message { role: Role::User, blocks, origin: None });
                }
            }
        }
        &self.messages
    }

    /// The first messages, for a summary.
    pub(crate) fn first(&self, messages: usize) -> &[Message] {
        self.messages.get(..messages).unwrap_or(&self.messages)
    }

    /// Whether the model may be asked once more after it was silent.
    pub(crate) const fn may_stall(&self) -> bool {
        self.stalls < STALLS_MAX
    }

    /// The window is full, says the model's service.
    pub(crate) const fn full(&mut self) {
        self.is_full = true;
    }

    /// How often the model has answered: the name of its turn.
    pub(crate) const fn answers(&self) -> u64 {
        self.answers
    }

    /// Calls of its last answer that have not begun.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = &Call> {
        self.open.iter().filter(|open| !open.began).map(|open| &open.call)
    }

    /// Why its last answer ended.
    pub(crate) const fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// Whether nobody has asked for anything yet.
    pub(crate) const fn is_empty(&self) -> bool {
        self.task.is_empty()
    }

    /// The model's last words.
    pub(crate) fn last_words(&self) -> String {
        let said = self.messages.iter().rev().find(|message| message.role == Role::Assistant);
        said.map(Message::text).unwrap_or_default()
    }

    fn hear(&mut self, text: String) {
        self.words.push(text);
        if !matches!(self.turn, Turn::Over(_)) {
            self.turn = Turn::Model;
        }
    }

    /// Goes on where it ended: what the model has not heard is said, and what it had to say last is
    /// looked at once more.
    fn resume(&mut self) {
        let Turn::Over(ending) = &self.turn else { return };
        if !self.open.is_empty() {
            self.turn = Turn::Model;
            return;
        }
        let is_heard = self.words.is_empty() && self.results.is_empty();
        let has_failed = matches!(ending, Ending::Failed { .. });
        let has_spoken = self.messages.last().is_some_and(|last| last.role == Role::Assistant);
        self.turn = match (is_heard, has_spoken) {
            (true, false) => Turn::Human,
            (true, true) if !has_failed => Turn::Resting,
            (true, true) => {
                self.words.push(GO_ON.to_owned());
                Turn::Model
            }
            (false, _) => Turn::Model,
        };
    }

    fn answer(&mut self, message: Message, stop: &Stop, prompt: u64) {
        self.send();
        self.stalls = 0;
        self.is_full = matches!(stop, Stop::Window);
        self.prompt = prompt;
        self.answers = self.answers.saturating_add(1);
        self.stop = Some(stop.clone());
        self.open = message.calls().map(|call| Open { call: call.clone(), began: false }).collect();
        self.messages.push(message);
        let goes_on = matches!(stop, Stop::Paused | Stop::Window);
        self.turn = if self.open.is_empty() && !goes_on { Turn::Resting } else { Turn::Model };
    }

    /// Every call without a result gets one, and the turn is the human's.
    fn interrupt(&mut self) {
        while let Some(Open { call, began }) = self.open.pop_front() {
            let text = if began { "ended by the human" } else { "not made: ended by the human" };
            self.result(&call, ToolOutcome::Refused, text.to_owned());
        }
        self.words.push("(The human ended this turn.)".to_owned());
        self.turn = Turn::Human;
    }

    fn returned(&mut self, id: &str, outcome: ToolOutcome, text: String) {
        let Some(at) = self.open.iter().position(|open| open.call.id == id) else { return };
        if let Some(Open { call, .. }) = self.open.remove(at) {
            self.result(&call, outcome, text);
        }
    }

    fn result(&mut self, call: &Call, outcome: ToolOutcome, content: String) {
        let (id, name) = (call.id.clone(), call.name.clone());
        let is_error = matches!(outcome, ToolOutcome::Tool | ToolOutcome::Refused);
        self.results.push(CallResult { id, name, content, is_error });
    }

    fn compact(&mut self, messages: usize, summary: &str) {
        self.send();
        let task = &self.task;
        let rest = self.messages.split_off(messages.min(self.messages.len()));
        let text = format!("{task}\n\n# What happened so far, in short\n\n{summary}");
        self.messages = std::iter::once(Message::user(text)).chain(rest).collect();
        (self.prompt, self.is_full) = (0, false);
    }

    fn weights(&self) -> Vec<Weight> {
        let waiting = self.results.iter().map(|result| result.content.len()).sum::<usize>()
            + self.words.iter().map(String::len).sum::<usize>();
        let mut weights: Vec<Weight> = self.messages.iter().map(weight).collect();
        if waiting > 0 {
            // What is about to be said belongs to the last answer.
            weights.push(Weight { bytes: waiting as u64, is_joined: true });
        }
        weights
    }
}

fn weight(message: &Message) -> Weight {
    let bytes = |block: &Block| match block {
        Block::Text(text) => text.text.len(),
        Block::Thought(thought) => thought.text.len(),
        Block::Call(call) => call.name.len() + arguments(call),
        Block::Result(result) => result.content.len(),
    };
    let is_joined = message.blocks.iter().any(|block| matches!(block, Block::Result(_)));
    Weight { bytes: message.blocks.iter().map(bytes).sum::<usize>() as u64, is_joined }
}

fn arguments(call: &Call) -> usize {
    match &call.arguments {
        Arguments::Json(value) => value.to_string().len(),
        Arguments::Invalid { text, .. } => text.len(),
    }
}

#[cfg(test)]
mod tests;
