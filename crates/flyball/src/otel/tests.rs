//! Simulated runs, exported: every span has a parent that is known, a second export is the same, and
//! nothing that was said is told unless it was asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use flyball_core::{Event, Moment, RunId};
use flyball_testkit::sim::Sim;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{Metric, MetricsData};
use opentelemetry_proto::tonic::trace::v1::{Span, TracesData};
use tempfile::TempDir;

use super::target::About;
use super::{FileSink, Sink, export, names};
use crate::journal::{Journal, NewRun, RunSummary};
use crate::view::{Builder, RunView};

const RUN: &str = "20261115-100000-aaaa";

#[derive(Debug, Default)]
struct Kept {
    spans: Vec<Span>,
    metrics: Vec<Metric>,
}

impl Sink for Kept {
    fn spans(&mut self, _: &RunId, spans: Vec<Span>) -> Result<(), String> {
        self.spans.extend(spans);
        Ok(())
    }

    fn metrics(&mut self, _: &RunId, metrics: Vec<Metric>) -> Result<(), String> {
        self.metrics.extend(metrics);
        Ok(())
    }
}

/// A simulated run in a journal of its own.
fn simulated(seed: u64) -> (Journal, RunSummary, TempDir) {
    let state = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(state.path()).unwrap();
    let run = RunId::new(RUN);
    let (_, events) = Sim::new(seed).run_with_journal();
    let new = NewRun {
        run: run.clone(),
        root: PathBuf::from("/nowhere/shop"),
        agent: "claude".to_owned(),
        pid: u32::MAX - 1,
        started: events.first().unwrap().0,
        max_iterations: 15,
    };
    journal.start_run(&new).unwrap();
    let rows: Vec<(Moment, &Event)> = events.iter().map(|(at, event)| (*at, event)).collect();
    journal.append_all(&run, &rows).unwrap();
    let mut builder = Builder::new(&journal.run(&run).unwrap());
    for (at, event) in &events {
        builder.step(*at, event);
    }
    if let Some(ending) = builder.ending() {
        journal.finish_run(&run, events.last().unwrap().0, ending).unwrap();
    }
    let row = journal.run(&run).unwrap();
    (journal, row, state)
}

#[expect(clippy::fn_params_excessive_bools, reason = "a setting")]
fn exported((journal, run): (&Journal, &RunSummary), with_content: bool) -> Kept {
    let mut kept = Kept::default();
    let told = export(journal, run, with_content, &mut kept).unwrap();
    assert_eq!((told.spans, told.metrics), (kept.spans.len(), kept.metrics.len()));
    kept
}

fn told<'a>(attributes: &'a [KeyValue], name: &str) -> Option<&'a Value> {
    let found = attributes.iter().find(|one| one.key == name)?;
    found.value.as_ref()?.value.as_ref()
}

fn word(attributes: &[KeyValue], name: &str) -> String {
    match told(attributes, name) {
        Some(Value::StringValue(text)) => text.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn what_holds_of_every_exported_run() {
    let mut kinds: BTreeSet<String> = BTreeSet::new();
    for seed in 0..150 {
        let (journal, row, _state) = simulated(seed);
        let kept = exported((&journal, &row), false);
        let ids: BTreeSet<&[u8]> = kept.spans.iter().map(|span| &span.span_id[..]).collect();
        assert_eq!(ids.len(), kept.spans.len(), "{seed}: an id stands twice");
        let roots: Vec<&Span> =
            kept.spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
        assert_eq!(roots.len(), 1, "{seed}");
        assert_eq!(
            kept.spans.last().unwrap().span_id,
            roots[0].span_id,
            "{seed}: the root is last"
        );
        assert_eq!(word(&roots[0].attributes, names::RUN), RUN);
        for span in &kept.spans {
            let parent = &span.parent_span_id[..];
            assert!(
                parent.is_empty() || ids.contains(parent),
                "{seed}: {} hangs in the air",
                span.name
            );
            assert_eq!((span.trace_id.len(), span.span_id.len()), (16, 8));
            assert_eq!(span.trace_id, roots[0].trace_id);
            assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{seed}: {}", span.name);
            kinds.insert(span.name.split(' ').next().unwrap().to_owned());
            let failed = span.status.is_some();
            assert_eq!(
                failed,
                told(&span.attributes, names::ERROR_TYPE).is_some(),
                "{}",
                span.name
            );
        }
        let again = exported((&journal, &row), false);
        assert_eq!((kept.spans, kept.metrics), (again.spans, again.metrics), "{seed}");
    }
    let all = ["execute_tool", "gate", "invoke_agent", "invoke_workflow"];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

#[test]
fn spans_and_figures_say_what_the_run_s_own_page_says() {
    for seed in 0..60 {
        let (journal, row, _state) = simulated(seed);
        let view = RunView::read(&journal, &row).unwrap();
        let kept = exported((&journal, &row), false);
        let of =
            |name: &'static str| kept.spans.iter().filter(move |span| span.name.starts_with(name));
        let closed = view.iterations.iter().filter(|one| one.result.is_some()).count();
        assert_eq!(of("invoke_agent").count(), view.iterations.len(), "{seed}");
        let tokens = |name: &str| -> i64 {
            let of = of("invoke_agent").filter_map(|span| told(&span.attributes, name));
            of.map(|value| if let Value::IntValue(count) = value { *count } else { 0 }).sum()
        };
        let used = tokens(names::INPUT_TOKENS) + tokens(names::OUTPUT_TOKENS);
        assert!(u64::try_from(used).unwrap() <= view.tally.tokens, "{seed}");
        let root = kept.spans.last().unwrap();
        if let Some(outcome) = view.outcome() {
            assert_eq!(word(&root.attributes, names::OUTCOME), outcome.as_str());
            assert_eq!(root.status.is_some(), outcome != flyball_core::Outcome::Complete);
        }
        let trips: usize = kept
            .spans
            .iter()
            .flat_map(|span| &span.events)
            .filter(|event| event.name == names::GUARD)
            .count();
        let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
        for metric in &kept.metrics {
            let Some(Data::Sum(sum)) = &metric.data else { continue };
            assert!(sum.is_monotonic && sum.aggregation_temporality == 2, "{}", metric.name);
            for point in &sum.data_points {
                use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
                if let Some(Value::AsInt(count)) = point.value {
                    *sums.entry(&metric.name).or_default() += count;
                }
            }
        }
        let counted = sums.get("flyball.guard.trips").copied().unwrap_or(0);
        assert_eq!(i64::try_from(trips).unwrap(), counted, "{seed}");
        let counted = sums.get("flyball.iterations").copied().unwrap_or(0);
        assert_eq!(i64::try_from(closed).unwrap(), counted, "{seed}");
    }
}

#[test]
fn what_was_said_is_told_only_when_it_was_asked_for() {
    const SAID: [&str; 5] = [
        names::TOOL_ARGUMENTS,
        names::TOOL_RESULT,
        names::INPUT_MESSAGES,
        names::OUTPUT_MESSAGES,
        names::EVIDENCE,
    ];
    let said = |kept: &Kept| -> BTreeSet<String> {
        let of_spans = kept.spans.iter().flat_map(|span| &span.attributes);
        let of_events = kept.spans.iter().flat_map(|span| &span.events).flat_map(|e| &e.attributes);
        let names = of_spans.chain(of_events).map(|one| one.key.clone());
        names.filter(|name| SAID.contains(&name.as_str())).collect()
    };
    let mut seen = BTreeSet::new();
    for seed in 0..60 {
        let (journal, row, _state) = simulated(seed);
        assert!(said(&exported((&journal, &row), false)).is_empty(), "{seed}");
        seen.extend(said(&exported((&journal, &row), true)));
    }
    for name in [names::INPUT_MESSAGES, names::EVIDENCE] {
        assert!(seen.contains(name), "{name} was never told: {seen:?}");
    }
}

#[test]
fn a_file_has_a_line_of_json_for_each_message_and_can_be_read_back() {
    let (journal, row, _state) = simulated(3);
    let about = About { service: "shop".to_owned(), attributes: Vec::new() };
    let mut sink = FileSink { file: Vec::new(), about };
    let told = export(&journal, &row, false, &mut sink).unwrap();
    let text = String::from_utf8(sink.file).unwrap();
    let (mut spans, mut metrics) = (0, 0);
    for line in text.lines() {
        if line.starts_with("{\"resourceSpans\":") {
            let data: TracesData = serde_json::from_str(line).unwrap();
            let resource = data.resource_spans[0].resource.as_ref().unwrap();
            assert_eq!(word(&resource.attributes, names::SERVICE_NAME), "shop");
            assert_eq!(data.resource_spans[0].schema_url, names::SCHEMA);
            spans += data.resource_spans[0].scope_spans[0].spans.len();
        } else {
            let data: MetricsData = serde_json::from_str(line).unwrap();
            metrics += data.resource_metrics[0].scope_metrics[0].metrics.len();
        }
    }
    assert_eq!((spans, metrics), (told.spans, told.metrics));
    let id = "\"traceId\":\"";
    let hex = text.split(id).nth(1).unwrap().split('"').next().unwrap();
    assert!(hex.len() == 32 && hex.chars().all(|c| c.is_ascii_hexdigit()), "{hex}");
}

#[test]
fn a_run_whose_process_is_gone_is_told_as_lost() {
    let (mut journal, row, _state) = simulated(3);
    // As `kill -9` leaves it: no ending, and events up to some point.
    let cut = "20261115-100000-lost";
    let new = NewRun {
        run: RunId::new(cut),
        root: row.root.clone(),
        agent: "claude".to_owned(),
        pid: u32::MAX - 1,
        started: row.started,
        max_iterations: 15,
    };
    journal.start_run(&new).unwrap();
    let events: Vec<(Moment, Event)> = journal
        .events(&row.run)
        .unwrap()
        .map(|one| one.map(|one| (one.at, one.event)).unwrap())
        .collect();
    let is_start = |(_, event): &(Moment, Event)| matches!(event, Event::Agent { .. });
    let first = events.iter().position(is_start).unwrap();
    let rows: Vec<(Moment, &Event)> =
        events[..=first].iter().map(|(at, event)| (*at, event)).collect();
    journal.append_all(&RunId::new(cut), &rows).unwrap();
    let row = journal.run(&RunId::new(cut)).unwrap();
    let kept = exported((&journal, &row), false);
    let of_run = kept.spans.iter().filter(|span| !span.name.starts_with("gate "));
    let errors: Vec<String> =
        of_run.map(|span| word(&span.attributes, names::ERROR_TYPE)).collect();
    assert_eq!(errors, [names::LOST, names::LOST], "its iteration, and the run");
}
