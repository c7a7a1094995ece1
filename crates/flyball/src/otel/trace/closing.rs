//! The end of an iteration, and of the run: what is only known then.

use flyball_core::effect::{Ending, IterationReport};
use flyball_core::{Moment, Outcome};

use super::super::attribute::{count, dollars, message, number, text};
use super::super::names;
use super::Trace;
use crate::view::{ClaimVerdict, ClaimView};

impl Trace {
    pub(super) fn close_iteration(&mut self, at: Moment, report: &IterationReport) {
        let Some(mut open) = self.iteration.take_if(|open| open.number == report.iteration) else {
            return;
        };
        self.close_calls(open.exited.unwrap_or(at));
        let result = crate::stats::result_word(report.result);
        let span = &mut open.span;
        span.attributes.extend([
            count(names::INPUT_TOKENS, open.spent.input_tokens),
            count(names::OUTPUT_TOKENS, open.spent.output_tokens),
            dollars(names::COST, report.cost_micro_usd),
            text(names::RESULT, result),
            count(names::STUCK, u64::from(report.stuck)),
        ]);
        span.attributes.extend(report.score.map(|score| number(names::SCORE, score)));
        if let Some(column) = self.builder.column(report.iteration) {
            span.attributes.extend(column.failing.map(|failing| count(names::FAILING, failing)));
            span.attributes.push(count(names::FIXED, column.fixed));
            span.attributes.push(count(names::BROKEN, column.broken));
        }
        if let Some(view) = self.builder.iteration(report.iteration) {
            let claimed = open.exited.unwrap_or(at);
            for (claim, verdict) in view.claim.iter().flat_map(claims) {
                let told = vec![text(names::CLAIM, claim), text(names::VERDICT, verdict)];
                span.happened(claimed, names::CLAIM, told);
            }
            if self.with_content && !view.last_words.is_empty() {
                let said = message(names::OUTPUT_MESSAGES, "assistant", &view.last_words);
                span.attributes.push(said);
            }
        }
        let took = at.since(open.span.began);
        self.meter.closed((&open.agent, self.model.as_deref()), open.spent, took);
        let is_bad = !matches!(result, "passed" | "unchecked" | "improved");
        self.close(open.span, at, is_bad.then_some(result));
    }

    pub(super) fn finish(&mut self, at: Moment, ending: &Ending) {
        let outcome = ending.outcome.as_str();
        self.close_calls(at);
        let Some(root) = &mut self.root else { return };
        let tally = &ending.tally;
        let told = [
            text(names::OUTCOME, outcome),
            count(names::ITERATIONS, u64::from(tally.iterations)),
            count(names::STORIES_PASSED, u64::from(tally.stories_complete)),
            count(names::STORIES_TOTAL, u64::from(tally.stories_total)),
            dollars(names::COST, tally.cost_micro_usd),
        ];
        // One that was taken up again ends anew.
        root.attributes.retain(|one| told.iter().all(|new| new.key != one.key));
        root.attributes.extend(told);
        self.ended = Some((at, (ending.outcome != Outcome::Complete).then_some(outcome)));
    }
}

/// What was claimed, and what was made of it.
fn claims(claim: &ClaimView) -> impl Iterator<Item = (&'static str, &'static str)> {
    let complete = claim.complete.map(|verdict| {
        let word = match verdict {
            ClaimVerdict::Accepted => "accepted",
            ClaimVerdict::Refused => "refused",
            ClaimVerdict::Open => "open",
        };
        ("complete", word)
    });
    let blocked = claim.blocked.as_ref().map(|_| ("blocked", "accepted"));
    let decide = claim.decide.as_ref().map(|_| ("decide", "accepted"));
    complete.into_iter().chain(blocked).chain(decide)
}
