//! A run on its way out: its events are read once, and what they close is handed on in small parcels.

use flyball_core::RunId;
use opentelemetry_proto::tonic::trace::v1::Span;

use super::sink::Sink;
use super::trace::Trace;
use crate::desk::{Life, life};
use crate::error::CliError;
use crate::journal::{Journal, JournalError, RunSummary};
use crate::run_record::sends_content;

/// Spans in one message.
pub(super) const PARCEL: usize = 512;

/// A run that is being read.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) trace: Trace,
    seq: u64,
    is_broken: bool,
}

impl Outgoing {
    #[expect(clippy::fn_params_excessive_bools, reason = "a setting")]
    pub(super) fn new(run: &RunSummary, with_content: bool) -> Self {
        Self { trace: Trace::new(run, with_content), seq: 0, is_broken: false }
    }

    /// Reads what is new, a parcel at most; whether that was all.
    pub(super) fn read(
        &mut self,
        journal: &Journal,
        run: &RunId,
    ) -> Result<(Vec<Span>, bool), JournalError> {
        let mut spans = self.trace.take_closed();
        if self.is_broken {
            return Ok((spans, true));
        }
        for recorded in journal.events_after(run, self.seq)? {
            match recorded {
                Ok(recorded) => {
                    self.trace.step(&recorded);
                    self.seq = recorded.seq;
                }
                // What comes after it cannot be told either.
                Err(JournalError::BadEvent { .. } | JournalError::Corrupt { .. }) => {
                    self.is_broken = true;
                    break;
                }
                Err(error) => return Err(error),
            }
            spans.append(&mut self.trace.take_closed());
            if spans.len() >= PARCEL {
                return Ok((spans, false));
            }
        }
        Ok((spans, true))
    }

    /// Reads what was sent before: all up to this event.
    pub(super) fn skip(
        &mut self,
        journal: &Journal,
        run: &RunId,
        after: u64,
    ) -> Result<(), JournalError> {
        for recorded in journal.events(run)?.take(usize::try_from(after).unwrap_or(usize::MAX)) {
            match recorded {
                Ok(recorded) => {
                    self.trace.step(&recorded);
                    self.seq = recorded.seq;
                }
                Err(JournalError::BadEvent { .. } | JournalError::Corrupt { .. }) => {
                    self.is_broken = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.trace.take_closed();
        Ok(())
    }

    /// What is sent when the run goes on no longer: what was lost with it, and its own span.
    pub(super) fn rest(&mut self, run: &RunSummary) -> Vec<Span> {
        if life(run) == Life::Lost || self.is_broken {
            self.trace.lost(run.last_at);
        }
        let mut spans = self.trace.take_closed();
        spans.append(&mut self.trace.take_rest());
        spans
    }
}

/// What was handed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exported {
    pub(crate) spans: usize,
    pub(crate) metrics: usize,
}

/// Hands a whole run on, as far as it has come.
#[expect(clippy::fn_params_excessive_bools, reason = "a flag of the command line")]
pub(crate) fn export(
    journal: &Journal,
    run: &RunSummary,
    with_content: bool,
    sink: &mut dyn Sink,
) -> Result<Exported, CliError> {
    let mut outgoing = Outgoing::new(run, with_content || sends_content(&run.run));
    let mut told = Exported::default();
    let failed = |why: String| {
        CliError::io(format!("run `{}` could not be handed on: {why}", run.run))
            .hint("OTLP over HTTP is spoken: usually port 4318, not 4317")
    };
    loop {
        let (mut spans, is_all) = outgoing.read(journal, &run.run)?;
        if is_all && life(run) != Life::Running {
            spans.append(&mut outgoing.rest(run));
        }
        told.spans += spans.len();
        if !spans.is_empty() {
            sink.spans(&run.run, spans).map_err(failed)?;
        }
        if is_all {
            break;
        }
    }
    let metrics = outgoing.trace.metrics(run);
    told.metrics = metrics.len();
    sink.metrics(&run.run, metrics).map_err(failed)?;
    Ok(told)
}
