//! How a call is judged and where it is booked.

use alloc::vec::Vec;

use super::CallRing;
use super::failures::FailedRound;
use super::known::{self, Answer, Door, Known, Place, Refusal};
use super::last::LastCall;
use super::tracks::beside;
use crate::call::detect::{Allowed, Answered, Detection, Mark, ResultSeen, Severity};
use crate::call::verdict::Verdict;
use crate::call::{ToolCall, ToolOutcome, ToolResult, texts};
use crate::guard::{GuardKind, Trip};
use crate::policy::CallRules;

impl CallRing {
    /// A call that is new: judged, and booked on the track of its sub-agent.
    pub(super) fn judge(
        &mut self,
        rules: &CallRules,
        agent: Mark,
        call: &ToolCall,
        door: Door,
    ) -> Verdict {
        let mut known = self.begin(agent, call, door);
        if let Some(twin) = self.known.twin(agent, known.round, known.call) {
            // Identical calls of one round are one call, with one verdict.
            (known.place, known.refused) = (Place::Twin, twin.refused);
            let verdict = remembered(rules, &known);
            self.known.add(known);
            return verdict;
        }
        if let Some(forgotten) = self.tracks.make_room(agent) {
            self.known.forget(forgotten);
        }
        let track = self.tracks.get_or_begin(agent, self.tally.calls());
        track.shown |= door == Door::Stream;
        known.number = track.next_number();
        let seen = known.seen();
        let finding = track.detectors.judge(rules, &seen);
        track.detectors.book(&seen, allowed(finding.as_ref()));
        known.refused = finding.map(|finding| self.refuse(&finding));
        self.finish(rules, known)
    }

    /// A call asked about of a sub-agent whose calls the stream shows: judged against what was shown
    /// and against what never was; booked when it is shown.
    pub(super) fn judge_unshown(
        &mut self,
        rules: &CallRules,
        agent: Mark,
        call: &ToolCall,
    ) -> Verdict {
        let mut known = self.begin(agent, call, Door::Hook);
        known.place = Place::Held;
        let seen = known.seen();
        let judged = |name: Mark| self.tracks.get(name)?.detectors.judge(rules, &seen);
        let (shown, unshown) = (judged(agent), judged(beside(agent)));
        if let (None, Some(_), Some(track)) = (shown, unshown, self.tracks.get_mut(beside(agent))) {
            known.number = track.next_number();
            track.detectors.book(&known.seen(), Allowed::No);
            known.place = Place::Beside;
        }
        known.refused = shown.or(unshown).map(|finding| self.refuse(&finding));
        self.finish(rules, known)
    }

    /// The stream shows a call that was asked about: the verdict is the one given.
    pub(super) fn show(&mut self, rules: &CallRules, mut known: Known, call: &ToolCall) -> Verdict {
        known.id = known::mark(&call.id).or(known.id);
        known.door = Door::Stream;
        known.round = round(call);
        known.mutating |= call.mutating;
        let verdict = remembered(rules, &known);
        let (mut overtaken, mut failed) = (None, None);
        if let Some(forgotten) = self.tracks.make_room(known.agent) {
            self.known.forget(forgotten);
        }
        let track = self.tracks.get_or_begin(known.agent, self.tally.calls());
        track.shown = true;
        match known.place {
            Place::Held | Place::Beside => {
                let twin = self.known.twin(known.agent, known.round, known.call).is_some();
                known.place = if twin { Place::Twin } else { Place::Track };
                if let (false, Some(track)) = (twin, self.tracks.get_mut(known.agent)) {
                    known.number = track.next_number();
                    let may_run = if known.refused.is_some() { Allowed::No } else { Allowed::Yes };
                    track.detectors.book(&known.seen(), may_run);
                    if let Answer::Ran(answer) = known.answer {
                        let result = ResultSeen { of: known.seen(), answer };
                        overtaken = track.detectors.answered(rules, &result, may_run);
                        if may_run == Allowed::Yes {
                            self.tally.count_answer(answer.outcome);
                            failed = self.count_failures(rules, &[known.clone()], None);
                        }
                    }
                }
            }
            Place::Track | Place::Twin | Place::Late => {}
        }
        let overtaken = overtaken.map(|finding| found(&finding, &known.name, None));
        if known.answer == Answer::Pending {
            self.known.add(known);
        }
        firmer(verdict, failed.or(overtaken))
    }

    /// A call that the stream had not shown when its answer came: booked beside.
    pub(super) fn book_unshown(&mut self, at: usize) {
        let Some(known) = self.known.get_mut(at) else { return };
        if known.place != Place::Held || !matches!(known.answer, Answer::Ran(_)) {
            return;
        }
        known.place = Place::Beside;
        let name = beside(known.agent);
        // Nothing of the forgotten track is known by id: calls beside are over.
        self.tracks.make_room(name);
        let track = self.tracks.get_or_begin(name, self.tally.calls());
        known.number = track.next_number();
        track.detectors.book(&known.seen(), Allowed::Yes);
    }

    /// Closes the rounds before this one: whatever of them has no answer stays without.
    pub(super) fn close_rounds(
        &mut self,
        rules: &CallRules,
        agent: Mark,
        round: Option<Mark>,
    ) -> Option<Verdict> {
        let closed = self.known.close_rounds(agent, round);
        self.book(rules, &closed, None)
    }

    /// Books the answers of a round, in the order its calls were announced.
    pub(super) fn book(
        &mut self,
        rules: &CallRules,
        calls: &[Known],
        result: Option<&ToolResult>,
    ) -> Option<Verdict> {
        let mut strongest: Option<(Detection, &Known)> = None;
        for known in calls {
            let name = match known.place {
                Place::Track => known.agent,
                Place::Beside => beside(known.agent),
                Place::Held | Place::Twin | Place::Late => continue,
            };
            let Some(track) = self.tracks.get_mut(name) else { continue };
            let may_run = if known.refused.is_some() { Allowed::No } else { Allowed::Yes };
            let finding = match known.answer {
                Answer::Ran(answer) => {
                    let seen = ResultSeen { of: known.seen(), answer };
                    track.detectors.answered(rules, &seen, may_run)
                }
                Answer::Pending if may_run == Allowed::Yes => {
                    track.detectors.unanswered();
                    None
                }
                Answer::Pending | Answer::NotRun => None,
            };
            if let Some(finding) = finding
                && strongest.is_none_or(|(best, _)| finding.severity > best.severity)
            {
                strongest = Some((finding, known));
            }
        }
        let failed = self.count_failures(rules, calls, result);
        let strongest = strongest.map(|(finding, known)| found(&finding, &known.name, result));
        failed.or(strongest)
    }

    /// An answer to a call nobody told of: it still succeeded or failed.
    pub(super) fn count_stranger(&mut self, rules: &CallRules, result: &ToolResult) -> Verdict {
        self.tally.count_answer(result.outcome);
        if result.outcome != ToolOutcome::Tool {
            return Verdict::Pass;
        }
        let errors = [Mark::of(result.result); 2];
        let round = FailedRound { is_first: false, errors };
        self.failed(rules, &round, "", Some(result)).unwrap_or(Verdict::Pass)
    }

    /// A round of which every call that ran has failed counts once (A5).
    fn count_failures(
        &mut self,
        rules: &CallRules,
        calls: &[Known],
        result: Option<&ToolResult>,
    ) -> Option<Verdict> {
        let ran: Vec<(&Known, Answered)> = calls
            .iter()
            .filter(|known| known.refused.is_none() && known.place != Place::Beside)
            .filter_map(|known| match known.answer {
                Answer::Ran(answer) => Some((known, answer)),
                Answer::Pending | Answer::NotRun => None,
            })
            .collect();
        let ((_, first), (known, last)) = (ran.first()?, ran.last()?);
        if ran.iter().any(|(_, answer)| answer.outcome != ToolOutcome::Tool) {
            return None;
        }
        let is_first = ran.iter().all(|(known, _)| known.is_first);
        let round = FailedRound { is_first, errors: [first.result, last.result] };
        self.failed(rules, &round, &known.name, result)
    }

    fn failed(
        &mut self,
        rules: &CallRules,
        round: &FailedRound,
        tool: &str,
        result: Option<&ToolResult>,
    ) -> Option<Verdict> {
        let allowed = rules.max_consecutive_failures.max(1);
        let measured = self.tally.failures.failed(round);
        (measured >= allowed).then(|| {
            let evidence = texts::failures_evidence(measured, tool);
            let answer = result.map_or("", |result| result.preview.as_str());
            let message = texts::tool_failures(&evidence, answer);
            let trip = Trip::new(GuardKind::ToolFailures, measured, allowed, evidence);
            Verdict::Halt { message, trip }
        })
    }

    /// What is known of a call when it is first told of.
    fn begin(&mut self, agent: Mark, call: &ToolCall, door: Door) -> Known {
        self.tally.count_call(&call.tool);
        let id = Mark::of_text(call.id.as_str());
        self.last = Some(LastCall::new(&call.tool, &call.preview, id));
        let mark = Mark::of(call.call);
        Known {
            id: known::mark(&call.id),
            agent,
            round: round(call),
            name: texts::stored_name(&call.tool),
            call: mark,
            number: 0,
            mutating: call.mutating,
            is_first: self.tally.failures.made(mark),
            door,
            place: Place::Track,
            refused: None,
            answer: Answer::Pending,
        }
    }

    fn refuse(&mut self, finding: &Detection) -> Refusal {
        Refusal::new(finding, self.tally.count_refusal())
    }

    fn finish(&mut self, rules: &CallRules, known: Known) -> Verdict {
        let verdict = remembered(rules, &known);
        if let (Some(last), Some(_)) = (&mut self.last, known.refused) {
            last.outcome = Some(ToolOutcome::Refused);
        }
        self.known.add(known);
        verdict
    }
}

/// Identity of a call's round, where it has one.
pub(super) fn round(call: &ToolCall) -> Option<Mark> {
    (!call.round.as_str().is_empty()).then(|| Mark::of_text(call.round.as_str()))
}

/// The verdict that was given on a call.
pub(super) fn remembered(rules: &CallRules, known: &Known) -> Verdict {
    let Some(refusal) = known.refused else { return Verdict::Pass };
    let (refusals, max) = (refusal.number, rules.max_refusals.max(1));
    let what = texts::seen(refusal.seen, &known.name);
    let message = texts::refusal(&what, refusals, max);
    if refusals >= max {
        let message = texts::refusal_halt(&message, refusals);
        let trip = Trip::new(refusal.guard, refusals, max, what);
        return Verdict::Halt { message, trip };
    }
    let trip = Trip::new(refusal.guard, refusal.measured, refusal.allowed, what);
    Verdict::Refuse { message, trip }
}

/// The verdict on what was found in an answer.
fn found(finding: &Detection, tool: &str, result: Option<&ToolResult>) -> Verdict {
    let what = texts::seen(finding.seen, tool);
    let last = result.map(|result| LastCall::answered(tool, result));
    let trip = Trip::new(finding.guard, finding.measured, finding.allowed, what.clone());
    match finding.severity {
        Severity::Nudge | Severity::Refuse => {
            Verdict::Nudge { message: texts::nudge(&what, last.as_ref()), trip }
        }
        Severity::Halt => Verdict::Halt { message: texts::halt(&what), trip },
    }
}

/// The verdict on what was found in words without a call.
pub(super) fn found_in_words(finding: &Detection) -> Verdict {
    let what = texts::seen(finding.seen, "");
    let trip = Trip::new(finding.guard, finding.measured, finding.allowed, what.clone());
    Verdict::Nudge { message: texts::nudge_words(&what), trip }
}

/// The firmer of two verdicts, the first of equal ones.
pub(super) fn firmer(first: Verdict, second: Option<Verdict>) -> Verdict {
    match second {
        Some(second) if second.rung() > first.rung() => second,
        Some(_) | None => first,
    }
}

const fn allowed(finding: Option<&Detection>) -> Allowed {
    match finding {
        Some(_) => Allowed::No,
        None => Allowed::Yes,
    }
}
