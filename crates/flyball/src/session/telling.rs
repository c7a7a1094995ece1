//! Who sees a session: a person at a terminal, or a program that reads flyball's own protocol.

mod diff;
mod lines;
mod screen;

use std::time::Duration;

use flyball_core::call::ToolCall;
use flyball_core::event::Spend;
use flyball_models::Failure;
use serde_json::Value;

pub(crate) use self::lines::Lines;
pub(crate) use self::screen::Screen;
use super::judge::Spoken;
use super::tools::Done;
use crate::gate::GateProgress;

/// A call, for those who see it.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) args: &'a Value,
}

/// Sees gates run.
pub(crate) type Watch = Box<dyn Fn(GateProgress) + Sync>;

/// Who is told what happens.
pub(crate) trait Teller {
    /// The model says something, piece by piece.
    fn said(&mut self, piece: &str);
    /// The model thinks.
    fn thought(&mut self, piece: &str);
    /// The model has stopped speaking, for whatever reason.
    fn fell_silent(&mut self);
    /// All it has said in this answer.
    fn answered(&mut self, words: &str);
    /// What it cost, and how full its window is, in thousandths.
    fn spent(&mut self, spend: Spend, permille: Option<u16>);
    /// A call is about to be judged, with all others of its answer.
    fn announced(&mut self, shown: &Shown<'_>);
    /// A call was judged, and its turn has come.
    fn called(&mut self, shown: &Shown<'_>);
    /// A call is over; the model is told this.
    fn returned(&mut self, call: &ToolCall, done: &Done, text: &str);
    /// The judge had something to say.
    fn judged(&mut self, spoken: &Spoken);
    /// The gates are asked: who is told which of them run, and how they end.
    fn watch_gates(&mut self) -> Watch;
    /// The model may not rest, and is told why.
    fn sent_back(&mut self, reason: &str);
    /// The model is asked again after a while.
    fn retrying(&mut self, why: &str, wait: Duration);
    /// The conversation is made shorter.
    fn compacting(&mut self, messages: usize);
    /// The model cannot be used.
    fn failed(&mut self, failure: &Failure);
    /// The model does not answer any more.
    fn lost(&mut self, why: &str);
    /// It is over: what it came to.
    fn summed_up(&mut self);
    /// What a human is asked before a call.
    fn question(&mut self, shown: &Shown<'_>) -> String;
}
