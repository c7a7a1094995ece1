//! What one session has said so far, and the facts that follow from it.
//!
//! Stream formats call these methods with what they read; they know nothing of fingerprints, bounds,
//! prices or of how claims are found.

mod counting;
mod rounds;

use std::collections::VecDeque;

use flyball_core::call::{
    Chant, ToolCall, ToolOutcome, ToolResult, ValidationFailure, ValidationKind,
    fingerprint_call_text, fingerprint_words,
};
use flyball_core::claim::read_structured;
use flyball_core::event::{Exit, ExitHow};
use flyball_core::text::prefix;
use flyball_core::{AgentFact, CallId, RoundId, SubAgent};

use self::counting::Counting;
use self::rounds::Rounds;
use super::meter::Meter;
use super::reading::{LocalTime, ReadRequest};
use super::trouble::Trouble;
use super::{AgentNote, Fact, Output, Tools, changes_files};

const PREVIEW: usize = 200;
const NAME: usize = 200;
const MESSAGE: usize = 1000;
const MADE: usize = 16;
const LAST_WORDS: usize = 4000;
/// The end of the final words that is searched for claims, in bytes.
pub(crate) const WORDS: usize = 256 * 1024;

/// A tool call as a stream format reads it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Call<'a> {
    pub(crate) id: &'a str,
    /// The sub-agent's name; empty for the main agent.
    pub(crate) agent: &'a str,
    pub(crate) tool: &'a str,
    /// The arguments as JSON.
    pub(crate) args: &'a str,
    /// The model's turn it belongs to; empty where the client does not tell.
    pub(crate) round: &'a str,
    /// Whether it changes files, where the agent says so itself.
    pub(crate) changes_files: Option<bool>,
}

/// A tool's answer as a stream format reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) id: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) outcome: ToolOutcome,
    pub(crate) text: &'a str,
}

/// How the client stands with its model.
#[derive(Debug)]
enum Reach {
    /// As far as known, well.
    Open,
    /// It tries again because of this.
    Retrying(Trouble),
    /// It gave up, and that was told.
    GaveUp,
    /// It says that the session went well: what is heard of retries now is old.
    Concluded,
}

/// One session of one agent.
#[derive(Debug)]
pub(crate) struct StreamSession {
    facts: Vec<Fact>,
    free_text: Vec<String>,
    tools: Tools,
    rounds: Rounds,
    words: String,
    /// The message the words belong to.
    message: Option<String>,
    /// Words were said that are not yet known to be a whole, well-formed message.
    unspoken: bool,
    meter: Meter,
    window: Option<u64>,
    permille: u16,
    /// Characters seen, for clients that do not tell how full their context is.
    seen: u64,
    counting: Counting,
    reach: Reach,
    /// The last calls with the beginning of their arguments.
    made: VecDeque<(String, String)>,
    /// The words that may hold a claim, when not all of them may.
    claimable: Option<String>,
    named: (Option<String>, Option<String>),
    clock: Option<fn() -> LocalTime>,
}

impl StreamSession {
    pub(crate) fn new(request: &ReadRequest, output: &dyn Output) -> Self {
        Self {
            facts: Vec::new(),
            free_text: output
                .free_text()
                .iter()
                .map(|&name| name.to_owned())
                .chain(request.free_text.iter().cloned())
                .collect(),
            tools: output.tools(),
            rounds: Rounds::default(),
            words: String::new(),
            message: None,
            unspoken: false,
            meter: Meter::new(request),
            window: request.context_window,
            permille: 0,
            seen: u64::try_from(request.prompt.len()).unwrap_or(u64::MAX),
            counting: Counting::OnTheWay,
            reach: Reach::Open,
            made: VecDeque::new(),
            claimable: None,
            named: (None, None),
            clock: request.clock,
        }
    }

    pub(crate) fn drain_into(&mut self, out: &mut Vec<Fact>) {
        out.append(&mut self.facts);
    }

    pub(crate) fn fact(&mut self, fact: AgentFact) {
        self.facts.push(Fact::Agent(fact));
    }

    pub(crate) fn note(&mut self, note: AgentNote) {
        self.facts.push(Fact::AgentNote(note));
    }

    /// The session's id, told once.
    pub(crate) fn id(&mut self, id: &str) {
        if !id.is_empty() && self.named.0.as_deref() != Some(id) {
            self.named.0 = Some(id.to_owned());
            self.note(AgentNote::Session(prefix(id, NAME).to_owned()));
        }
    }

    /// The model at work, told when it changes.
    pub(crate) fn model(&mut self, model: &str) {
        if !model.is_empty() && self.named.1.as_deref() != Some(model) {
            self.named.1 = Some(model.to_owned());
            self.meter.model(model);
            self.note(AgentNote::Model(prefix(model, NAME).to_owned()));
        }
    }

    /// A piece of the agent's own text. Pieces with the same message id belong together; a new
    /// message is a new answer, and what was said before it is no longer its final word.
    pub(crate) fn said(&mut self, message: Option<&str>, piece: &str) {
        if message.is_some() && self.message.as_deref() != message {
            self.spoke();
            self.words.clear();
            self.message = message.map(str::to_owned);
        }
        if piece.is_empty() {
            return;
        }
        self.progress();
        self.saw(piece.len());
        self.rounds.spoke();
        self.words.push_str(piece);
        if self.words.len() > 2 * WORDS {
            self.words = tail_bytes(&self.words, WORDS).to_owned();
        }
        self.unspoken = true;
        self.note(AgentNote::Said(piece.to_owned()));
    }

    /// A block of the agent's own text. A message may have several: each begins a line of its own.
    pub(crate) fn said_block(&mut self, message: Option<&str>, block: &str) {
        let goes_on = message.is_some() && self.message.as_deref() == message;
        if goes_on && !self.words.is_empty() && !self.words.ends_with('\n') && !block.is_empty() {
            self.said(message, &format!("\n{block}"));
        } else {
            self.said(message, block);
        }
    }

    /// The message is whole: it was well-formed, unless it held a call, which speaks for itself.
    pub(crate) fn spoke(&mut self) {
        if std::mem::take(&mut self.unspoken) {
            self.tell_chant();
            // Words beside a call of the same turn are no turn of their own.
            let beside_a_call =
                self.message.as_deref().is_some_and(|turn| self.rounds.is_last(turn));
            self.fact(if beside_a_call {
                AgentFact::Spoke
            } else {
                AgentFact::OnlySpoke {
                    agent: SubAgent::default(),
                    words: fingerprint_words(&self.words),
                }
            });
        }
    }

    /// A model that has begun to chant rarely ends by itself: mostly it is cut off.
    fn tell_chant(&mut self) {
        if let Some(chant) = Chant::at_end_of(&self.words) {
            self.fact(AgentFact::Chanted(chant));
        }
    }

    /// Something came after the agent's words: they are not its final ones.
    pub(crate) fn interrupted(&mut self) {
        self.spoke();
        self.words.clear();
        self.message = None;
    }

    /// The words so far.
    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    /// Puts other words in place of those so far.
    pub(crate) fn set_words(&mut self, words: &str) {
        words.clone_into(&mut self.words);
    }

    /// Only in these of its words a claim counts.
    pub(crate) fn claim_only(&mut self, words: &str) {
        self.claimable = Some(words.to_owned());
    }

    /// A tool was called.
    pub(crate) fn called(&mut self, call: &Call<'_>) {
        self.progress();
        self.saw(call.args.len());
        if std::mem::take(&mut self.unspoken) {
            self.tell_chant();
        }
        self.words.clear();
        let (id, preview) = (prefix(call.id, NAME), prefix(call.args, PREVIEW));
        self.remember(id, preview);
        let tool = prefix(call.tool, NAME);
        let mut fact = ToolCall::from_json(CallId::new(id), tool, call.args, &self.free_text)
            .by(SubAgent::new(prefix(call.agent, NAME)))
            .in_round(RoundId::new(self.rounds.called(call)));
        let args = || serde_json::from_str(call.args).unwrap_or_default();
        fact.mutating =
            call.changes_files.unwrap_or_else(|| changes_files(self.tools, call.tool, args));
        if let Some(short) = super::preview::preview(call.args, PREVIEW) {
            fact.preview = short;
        }
        // The whole name counts, however long it is.
        fact.call = fingerprint_call_text(call.tool, call.args, &self.free_text);
        self.fact(AgentFact::CalledTool(fact));
    }

    /// A tool answered.
    pub(crate) fn returned(&mut self, answer: &Answer<'_>) {
        self.progress();
        self.saw(answer.text.len());
        self.interrupted();
        self.rounds.answered(answer.id);
        let id = CallId::new(prefix(answer.id, NAME));
        let result = ToolResult::new(id, answer.outcome, answer.text);
        self.fact(AgentFact::ToolReturned(result.by(SubAgent::new(prefix(answer.agent, NAME)))));
    }

    /// A call was refused at the door.
    pub(crate) fn refused_call(&mut self, id: &str) {
        self.rounds.refused(id);
    }

    /// A call that could not be made: the message around it was not well-formed, and what it said
    /// is not the agent's final word.
    pub(crate) fn bad_call(&mut self, kind: ValidationKind, received: &str, error: &str) {
        self.unspoken = false;
        self.words.clear();
        self.nonsense(kind, received, error);
    }

    /// A call that was told, and then turned out to be none.
    pub(crate) fn bad_answer(&mut self, id: &str, kind: ValidationKind, error: &str) {
        self.rounds.answered(id);
        let made = self.made.iter().rposition(|(made, _)| made == prefix(id, NAME));
        let args = made.and_then(|at| self.made.remove(at)).map(|(_, args)| args);
        self.bad_call(kind, args.as_deref().unwrap_or(error), error);
    }

    /// The answer was cut off by the token limit.
    pub(crate) fn cut_off(&mut self, error: &str) {
        if std::mem::take(&mut self.unspoken) {
            self.tell_chant();
        }
        let end = flyball_core::text::tail(&self.words, PREVIEW).to_owned();
        self.nonsense(ValidationKind::TruncatedResponse, &end, error);
    }

    /// Something that could not be understood, told beside the agent's words.
    pub(crate) fn nonsense(&mut self, kind: ValidationKind, received: &str, error: &str) {
        self.fact(AgentFact::SpokeNonsense(failure(kind, received, error)));
    }

    /// The client tries again by itself.
    pub(crate) fn retrying(&mut self, trouble: Option<Trouble>, message: &str) {
        self.note(AgentNote::Retrying(prefix(message, MESSAGE).to_owned()));
        if let (Some(trouble), Reach::Open | Reach::Retrying(_)) = (trouble, &self.reach) {
            self.reach = Reach::Retrying(trouble);
        }
    }

    /// The client says that the session went well.
    pub(crate) fn concluded(&mut self) {
        self.reach = Reach::Concluded;
    }

    /// The client gave up because of this. One session has one such end.
    pub(crate) fn trouble(&mut self, trouble: Trouble) {
        if matches!(std::mem::replace(&mut self.reach, Reach::GaveUp), Reach::GaveUp) {
            return;
        }
        self.unspoken = false;
        self.words.clear();
        self.fact(trouble.bounded(MESSAGE).into_fact());
    }

    /// The client failed otherwise.
    pub(crate) fn failed(&mut self, message: &str) {
        self.note(AgentNote::Failed(prefix(message, MESSAGE).to_owned()));
    }

    /// Now, on the local clock, where one was given.
    pub(crate) fn now(&self) -> Option<LocalTime> {
        self.clock.map(|clock| clock())
    }

    /// The process is gone: what was still open is told, and what it said at last is read.
    pub(crate) fn end(&mut self, how: ExitHow) -> Exit {
        match std::mem::replace(&mut self.reach, Reach::Open) {
            Reach::Retrying(trouble) => self.trouble(trouble),
            Reach::Open | Reach::GaveUp | Reach::Concluded => {}
        }
        self.spoke();
        let words = tail_bytes(&self.words, WORDS);
        let claims = read_structured(self.claimable.as_deref().unwrap_or(words));
        Exit { how, claims, last_words: last_words(words) }
    }

    /// The model answered: what was retried got through.
    pub(crate) fn progress(&mut self) {
        self.reach = Reach::Open;
    }

    /// Keeps a call for the case that it turns out to be none, in place of the oldest one.
    fn remember(&mut self, id: &str, args: &str) {
        let oldest = if self.made.len() == MADE { self.made.pop_front() } else { None };
        let mut call = oldest.unwrap_or_default();
        id.clone_into(&mut call.0);
        args.clone_into(&mut call.1);
        self.made.push_back(call);
    }

    fn saw(&mut self, bytes: usize) {
        self.seen = self.seen.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }
}

/// The last words for people and briefings.
pub(crate) fn last_words(words: &str) -> String {
    flyball_core::text::tail(words.trim(), LAST_WORDS).to_owned()
}

/// The end of a text, at most so many bytes, never inside a character.
pub(crate) fn tail_bytes(text: &str, max: usize) -> &str {
    let cut = text.len().saturating_sub(max);
    (cut..=text.len()).find_map(|at| text.get(at..)).unwrap_or("")
}

/// Something that could not be understood, in bounds.
pub(crate) fn failure(kind: ValidationKind, received: &str, error: &str) -> ValidationFailure {
    ValidationFailure::new(kind, expected(kind), received, prefix(error, MESSAGE))
}

fn expected(kind: ValidationKind) -> &'static str {
    match kind {
        ValidationKind::UnparseableJson => "arguments that are valid JSON",
        ValidationKind::MissingField => "every required field",
        ValidationKind::WrongType => "fields of the right type",
        ValidationKind::UnknownTool => "a tool that exists",
        ValidationKind::MalformedClaim => "a closed tag of a known kind",
        ValidationKind::EmptyClaim => "a reason or a question",
        ValidationKind::TruncatedResponse => "a whole answer",
        ValidationKind::BadStreamLine => "one JSON event on each line",
    }
}
