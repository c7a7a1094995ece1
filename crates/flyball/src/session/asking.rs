//! The model is asked: again where that helps, with a word where it was silent, and shorter where the
//! conversation has become too long.

use std::time::{Duration, UNIX_EPOCH};

use flyball_core::Outcome;
use flyball_core::event::Spend;
use flyball_core::iteration::micro_usd;
use flyball_models::{Calls, Event, Failure, FailureKind, Message, Reply, Request, Stop, Usage};

use super::conversation::{Ending, Entry, Next};
use super::judge::Spoken;
use super::{SessionLoop, choice, texts};
use crate::clock;
use crate::error::CliError;

impl SessionLoop<'_> {
    /// Asks the model, again where that helps, and writes its answer down.
    pub(super) fn ask(&mut self) -> Result<(), CliError> {
        let mut attempt = 0;
        loop {
            let failure = match self.question() {
                Ok(reply) => return self.answered(reply),
                Err(failure) => failure,
            };
            // What came before the failure was paid for.
            if let Some(partial) = &failure.partial {
                let spend = self.spend(&partial.usage);
                self.teller.spent(spend, None);
                let spoken = self.judge.spent(spend);
                if spoken.ends() {
                    return self.obey(&spoken);
                }
            }
            attempt += 1;
            let now = UNIX_EPOCH + Duration::from_millis(clock::wall().as_millis());
            if failure.kind == FailureKind::Cancelled {
                // Its time is up, or the loop asks who wanted that.
                let spoken = self.judge.spent(Spend::default());
                return if spoken.ends() { self.obey(&spoken) } else { Ok(()) };
            }
            if failure.kind == FailureKind::Silent {
                return self.stalled(&failure);
            }
            if failure.kind == FailureKind::TooLong {
                return self.too_long(&failure);
            }
            let seed = clock::wall().as_millis();
            match self.terms.retries.wait(&failure, attempt, seed, now) {
                Some(wait) => {
                    self.teller.retrying(&failure.to_string(), wait);
                    if self.inbox.cancel().wait(wait) {
                        return Ok(());
                    }
                }
                None => return self.failed(&failure),
            }
        }
    }

    fn question(&mut self) -> Result<Reply, Failure> {
        let Self {
            model, terms, judge, record, teller, inbox, conversation, system, tools, ..
        } = self;
        let mut request = Request::new(conversation.send());
        (request.system, request.tools) = (*system, tools.as_slice());
        (request.max_tokens, request.conversation) = (terms.max_tokens, record.id());
        judge.life();
        request.within = judge.time_left();
        let reply = model.ask(&request, &inbox.cancel(), &mut |event| {
            judge.life();
            if let Event::Text(piece) = event {
                teller.said(piece);
            } else if let Event::Thinking(piece) = event {
                teller.thought(piece);
            }
        });
        teller.fell_silent();
        reply
    }

    fn answered(&mut self, reply: Reply) -> Result<(), CliError> {
        let Reply { message, stop, usage, .. } = reply;
        let (spend, prompt) = (self.spend(&usage), usage.prompt());
        let words = message.text();
        let has_calls = message.calls().next().is_some();
        let permille = self.terms.window.permille(prompt);
        self.teller.answered(&words);
        self.teller.spent(spend, Some(permille));
        let spent = self.judge.spent(spend);
        self.put(Entry::Answered { message, stop: stop.clone(), spend, prompt })?;
        if spent.ends() {
            return self.obey(&spent);
        }
        if has_calls {
            // One that is about to rest has no use for advice.
            let filled = self.judge.filled(permille);
            self.obey(&filled)?;
        }
        match stop {
            // One without a call is about to rest, and sent back there.
            Stop::Length if has_calls => self.nonsense(&texts::cut_off(&words)),
            Stop::Window if !self.can_be_shorter() => {
                let why = "the model's window is full, and nothing can be left out".to_owned();
                self.end(Ending::Failed { why })
            }
            Stop::Malformed if has_calls => self.nonsense(&texts::malformed(&words)),
            Stop::Length | Stop::Malformed | Stop::Refused | Stop::Filtered => Ok(()),
            Stop::End | Stop::Calls | Stop::Paused | Stop::Window | Stop::Other(_) => {
                let spoken =
                    if has_calls { Spoken::pass() } else { self.judge.spoke(&self.agent, &words) };
                self.obey(&spoken)
            }
        }
    }

    /// The model was silent for too long: it is asked once more, with a word; then it is over (A6).
    fn stalled(&mut self, failure: &Failure) -> Result<(), CliError> {
        let spoken = self.judge.stalled();
        self.teller.judged(&spoken);
        if self.conversation.may_stall() {
            let text = spoken.message.unwrap_or_else(|| failure.to_string());
            return self.put(Entry::Stalled { text });
        }
        self.teller.lost(&failure.to_string());
        let why = format!("the model was silent twice: {failure}");
        self.end(Ending::Halted { outcome: Outcome::Stalled, why })
    }

    /// The conversation does not fit any more: it is made shorter, if it can be.
    fn too_long(&mut self, failure: &Failure) -> Result<(), CliError> {
        self.conversation.full();
        if self.can_be_shorter() { Ok(()) } else { self.failed(failure) }
    }

    fn can_be_shorter(&self) -> bool {
        matches!(self.conversation.next(&self.terms.window), Next::Compact(_))
    }

    fn failed(&mut self, failure: &Failure) -> Result<(), CliError> {
        self.teller.failed(failure);
        self.end(Ending::Failed { why: failure.to_string() })
    }

    /// Puts the older part of the conversation into a summary of the model's own. One that cannot be had
    /// is replaced by the bare facts.
    pub(super) fn compact(&mut self, messages: usize) -> Result<(), CliError> {
        self.conversation.send();
        self.teller.compacting(messages);
        let mut asked = self.conversation.first(messages).to_vec();
        let bare = texts::bare_summary(&asked);
        asked.push(Message::user(texts::SUM_UP));
        let mut request = Request::new(&asked);
        (request.system, request.tools) = (self.system, self.tools.as_slice());
        (request.calls, request.max_tokens) = (Calls::Forbidden, self.terms.max_tokens);
        request.within = self.judge.time_left();
        let judge = &mut self.judge;
        let reply = self.model.ask(&request, &self.inbox.cancel(), &mut |_| judge.life());
        self.record.may_die();
        let summary = match &reply {
            Ok(reply) if !reply.message.text().trim().is_empty() => reply.message.text(),
            Ok(_) | Err(_) => bare,
        };
        self.put(Entry::Compacted { messages, summary })?;
        match reply {
            Ok(reply) => {
                let spend = self.spend(&reply.usage);
                self.teller.spent(spend, None);
                let spoken = self.judge.spent(spend);
                self.obey(&spoken)
            }
            Err(_) => Ok(()),
        }
    }

    fn spend(&self, usage: &Usage) -> Spend {
        let price = self.terms.prices.price(self.model.name());
        Spend {
            input_tokens: usage.prompt(),
            output_tokens: usage.output,
            cost_micro_usd: micro_usd(usage.cost.unwrap_or_else(|| choice::cost(price, usage))),
        }
    }
}
