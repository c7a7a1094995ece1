//! Calls and results through the call ring, whose state lies in the journal: one hook after the
//! other, whichever process it is.

use std::collections::VecDeque;

use flyball_core::call::{CallRing, Fingerprint, ToolCall, ToolResult, Verdict};
use flyball_core::guard::Rung;
use flyball_core::policy::CallRules;
use flyball_core::{GuardKind, Moment};
use serde::{Deserialize, Serialize};

use super::context::HookContext;
use super::ring_input;
use super::spill::{spilled, with_large};
use super::{Asked, Heard, HeardCall, HookReport, Occasion, Reply};
use crate::call_session::GuardTally;
use crate::client::REFUSAL_MARK;
use crate::error::CliError;
use crate::journal::{HookChange, Journal};

/// Verdicts remembered by call, for clients that ask twice.
const JUDGED_MAX: usize = 32;
/// Advice kept until it can be given.
const DEFERRED_MAX: usize = 3;

/// The calls of one session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallState {
    ring: CallRing,
    /// What each guard did; `flyball status` reads it.
    guards: GuardTally,
    /// Advice the client had no place for yet.
    deferred: VecDeque<Advice>,
    judged: VecDeque<Judged>,
}

/// Advice on its way to the agent, and the guard it comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Advice {
    message: String,
    /// None where it is counted already.
    guard: Option<GuardKind>,
}

/// A call that was asked about.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Judged {
    call: Fingerprint,
    /// Why it may not run; none when it may.
    refusal: Option<String>,
}

impl CallState {
    /// The state as it was kept; a new one when there is none, or none that can be read.
    pub(crate) fn read(bytes: Option<&[u8]>) -> Self {
        bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
    }

    /// The state as it is kept.
    pub(crate) fn write(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }

    /// A call is about to run. Asked twice about the same one, the answer is the same.
    fn before_as(
        &mut self,
        rules: &CallRules,
        at: Moment,
        call: &ToolCall,
        identity: Option<Fingerprint>,
    ) -> Verdict {
        let verdict = self.ring.before(rules, at, call);
        let refusal = (!verdict.may_run()).then(|| verdict.message().map(str::to_owned));
        self.remember(identity, refusal.flatten());
        verdict
    }

    fn remember(&mut self, identity: Option<Fingerprint>, refusal: Option<String>) {
        let Some(call) = identity else { return };
        while self.judged.len() >= JUDGED_MAX {
            self.judged.pop_front();
        }
        self.judged.push_back(Judged { call, refusal });
    }

    /// A tool answered.
    pub(crate) fn after(&mut self, rules: &CallRules, at: Moment, result: &ToolResult) -> Verdict {
        self.ring.after(rules, at, result)
    }

    /// Calls in all.
    pub(crate) fn calls(&self) -> u64 {
        self.ring.status().calls
    }

    /// The context window is this full: advice for later when a step was crossed (A8).
    pub(crate) fn context(&mut self, permille: u16) {
        if let Some(notice) = self.ring.context(permille) {
            self.defer_advice(Advice {
                message: notice.message,
                guard: Some(GuardKind::ContextFill),
            });
        }
    }

    /// Keeps advice until it can be given; the oldest is forgotten when there is too much.
    fn defer_advice(&mut self, advice: Advice) {
        while self.deferred.len() >= DEFERRED_MAX {
            self.deferred.pop_front();
        }
        self.deferred.push_back(advice);
    }

    /// What the ring found: advice waits for its occasion, all else is done now.
    fn note(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Pass => {}
            Verdict::Nudge { message, trip } => {
                self.defer_advice(Advice { message: message.clone(), guard: Some(trip.guard) });
            }
            Verdict::Refuse { trip, .. } | Verdict::Halt { trip, .. } => {
                self.guards.note(trip.guard, verdict.rung());
            }
        }
    }

    fn known(&self, identity: Option<Fingerprint>) -> Option<&Judged> {
        let identity = identity?;
        self.judged.iter().rev().find(|judged| judged.call == identity)
    }

    /// The answer to a call; advice the client has no place for is deferred.
    fn reply_before(&mut self, verdict: &Verdict, advises: Advises) -> Reply {
        self.note(verdict);
        let rung = verdict.rung();
        match verdict {
            Verdict::Refuse { message, .. } | Verdict::Halt { message, .. } => {
                let mut words = self.take_deferred();
                words.push(message.clone());
                let message = format!("{REFUSAL_MARK} {}", words.join("\n"));
                Reply { rung, message, replaces: false }
            }
            Verdict::Pass | Verdict::Nudge { .. } => self.advice(advises),
        }
    }

    /// The advice that was deferred, if it reaches the agent now.
    fn advice(&mut self, advises: Advises) -> Reply {
        match advises {
            Advises::Now if !self.deferred.is_empty() => {
                Reply::nudge(self.take_deferred().join("\n"))
            }
            Advises::Now | Advises::Later => Reply::pass(),
        }
    }

    /// Hands out what was deferred: it reaches the agent now, and so it counts as given.
    fn take_deferred(&mut self) -> Vec<String> {
        let Self { deferred, guards, .. } = self;
        let give = |advice: Advice| {
            if let Some(guard) = advice.guard {
                guards.note(guard, Rung::Nudge);
            }
            advice.message
        };
        deferred.drain(..).map(give).collect()
    }
}

/// Whether advice reaches the agent on this occasion.
#[derive(Clone, Copy)]
enum Advises {
    Now,
    Later,
}

impl Advises {
    fn of(asked: &Asked<'_>) -> Self {
        if asked.dialect.advises(asked.occasion) { Self::Now } else { Self::Later }
    }
}

/// What a call is known by; none when its client has no ids.
fn identity(call: &ToolCall) -> Option<Fingerprint> {
    let named = !call.id.as_str().is_empty();
    named.then(|| Fingerprint::of_text(&format!("{}\n{}", call.agent, call.id)))
}

/// What one asking is known by where calls have no ids; none when nothing tells askings apart.
fn stamped(heard: &Heard, occasion: Occasion) -> Option<Fingerprint> {
    let HeardCall { tool, args, .. } = &heard.call;
    let stamp = &heard.stamp;
    (!stamp.is_empty())
        .then(|| Fingerprint::of_text(&format!("{occasion:?}\n{stamp}\n{tool}\n{args}")))
}

/// A call is about to run: may it?
pub(super) fn before(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    journal: &mut Journal,
) -> Result<Reply, CliError> {
    let rules = &context.policy.calls;
    if let Some(failure) = &heard.invalid {
        return step(asked, context, heard, journal, |state| {
            let verdict = state.ring.invalid(rules, asked.at, failure);
            (state.reply_before(&verdict, Advises::of(asked)), verdict.trip().cloned())
        });
    }
    let call = ring_input::call(asked, context, heard);
    let identity = identity(&call).or_else(|| stamped(heard, asked.occasion));
    step(asked, context, heard, journal, |state| {
        if let Some(judged) = state.known(identity) {
            let reply = judged.refusal.as_ref().map_or_else(Reply::pass, |refusal| {
                Reply::refuse(format!("{REFUSAL_MARK} {refusal}"))
            });
            return (reply, None);
        }
        let verdict = state.before_as(rules, asked.at, &call, identity);
        (state.reply_before(&verdict, Advises::of(asked)), verdict.trip().cloned())
    })
}

/// A tool answered: is there something the agent should be told with it?
pub(super) fn after(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    journal: &mut Journal,
) -> Result<Reply, CliError> {
    let rules = &context.policy.calls;
    let key = context.key(asked.dialect, heard);
    let result = ring_input::result(heard);
    let large = heard
        .result
        .as_ref()
        .filter(|_| context.configured)
        .and_then(|result| spilled(rules, (&context.loop_dir, &key), &result.text));
    if large.is_some() {
        // Not every client tells when a session begins.
        context.loop_dir.sweep_responses(asked.at);
    }
    let identity = stamped(heard, asked.occasion);
    step(asked, context, heard, journal, |state| {
        if state.known(identity).is_some() {
            return (Reply::pass(), None);
        }
        state.remember(identity, None);
        let verdict = match (&heard.invalid, &result) {
            (Some(failure), _) => state.ring.invalid(rules, asked.at, failure),
            (None, Some(result)) => state.after(rules, asked.at, result),
            (None, None) => Verdict::Pass,
        };
        state.note(&verdict);
        if let Verdict::Refuse { message, .. } | Verdict::Halt { message, .. } = &verdict {
            state.defer_advice(Advice { message: message.clone(), guard: None });
        }
        let mut reply = state.advice(Advises::of(asked));
        reply.rung = reply.rung.max(verdict.rung());
        if let Some(large) = large {
            with_large(&mut reply, large, asked);
        }
        (reply, verdict.trip().cloned())
    })
}

/// A human said something: a new beginning.
pub(super) fn human(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    journal: &mut Journal,
) -> Result<Reply, CliError> {
    step(asked, context, heard, journal, |state| {
        if heard.human {
            state.ring.human(asked.at);
        }
        (Reply::pass(), None)
    })
}

/// Something happened that needs no answer: it is noted.
pub(super) fn note(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    journal: &mut Journal,
) -> Result<Reply, CliError> {
    let key = context.key(asked.dialect, heard);
    let step = context.step(&key, asked.at);
    let report = HookReport::new(asked, heard, context);
    journal.hook_step(&step, |_| (HookChange { state: None, report: report.to_json() }, ()))?;
    Ok(Reply::pass())
}

fn step(
    asked: &Asked<'_>,
    context: &HookContext,
    heard: &Heard,
    journal: &mut Journal,
    judge: impl FnOnce(&mut CallState) -> (Reply, Option<flyball_core::guard::Trip>),
) -> Result<Reply, CliError> {
    let key = context.key(asked.dialect, heard);
    let step = context.step(&key, asked.at);
    let report = HookReport::new(asked, heard, context);
    let reply = journal.hook_step(&step, |bytes| {
        let mut state = CallState::read(bytes);
        if let Some(permille) = heard.context {
            state.context(permille);
        }
        let (reply, trip) = judge(&mut state);
        let report = report.answered_with(&reply, trip.as_ref());
        (HookChange { state: state.write(), report: report.to_json() }, reply)
    })?;
    Ok(reply)
}
