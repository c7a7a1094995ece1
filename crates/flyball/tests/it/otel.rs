//! Telemetry of real runs, received by a collector that reads what it is sent: over HTTP, as protobuf.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::{Metric, MetricsData};
use opentelemetry_proto::tonic::trace::v1::{Span, TracesData};
use prost::Message;

use crate::scenario::{LONG, Scenario};

/// What a collector does with those who come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    /// Takes everything; answers in JSON, as some do.
    Takes,
    /// Takes spans, and knows no metrics.
    SpansOnly,
    /// Accepts, and never answers.
    Hangs,
    /// Answers that it cannot.
    Refuses,
}

/// A collector.
struct Collector {
    address: String,
    spans: Arc<Mutex<Vec<Span>>>,
    metrics: Arc<Mutex<Vec<Metric>>>,
    heads: Arc<Mutex<Vec<String>>>,
    came: Arc<AtomicUsize>,
}

impl Collector {
    fn start(mood: Mood) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let collector = Self {
            address: format!("http://{}", socket.local_addr().unwrap()),
            spans: Arc::default(),
            metrics: Arc::default(),
            heads: Arc::default(),
            came: Arc::default(),
        };
        let (spans, metrics) = (Arc::clone(&collector.spans), Arc::clone(&collector.metrics));
        let (heads, came) = (Arc::clone(&collector.heads), Arc::clone(&collector.came));
        thread::spawn(move || {
            let mut held = Vec::new();
            for stream in socket.incoming() {
                let Ok(mut stream) = stream else { return };
                came.fetch_add(1, Ordering::SeqCst);
                if mood == Mood::Hangs {
                    held.push(stream);
                    continue;
                }
                let (spans, metrics, heads) =
                    (Arc::clone(&spans), Arc::clone(&metrics), Arc::clone(&heads));
                thread::spawn(move || {
                    // One connection carries many messages.
                    while let Some((head, body)) = request(&mut stream) {
                        let is_traces = head.starts_with("POST /v1/traces ");
                        let status = match mood {
                            Mood::Refuses => "503 Busy",
                            Mood::SpansOnly if !is_traces => "404 Nothing here",
                            Mood::Takes | Mood::SpansOnly | Mood::Hangs => "200 OK",
                        };
                        if status == "200 OK" && is_traces {
                            let data = TracesData::decode(&body[..]).unwrap();
                            let of =
                                data.resource_spans.into_iter().flat_map(|one| one.scope_spans);
                            lock(&spans).extend(of.flat_map(|one| one.spans));
                        } else if status == "200 OK" {
                            let data = MetricsData::decode(&body[..]).unwrap();
                            let of =
                                data.resource_metrics.into_iter().flat_map(|one| one.scope_metrics);
                            lock(&metrics).extend(of.flat_map(|one| one.metrics));
                        }
                        lock(&heads).push(head);
                        let answer = format!(
                            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
                        );
                        if stream.write_all(answer.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        collector
    }

    /// Waits until the span of the run itself has come.
    #[track_caller]
    fn until_root(&self) -> Vec<Span> {
        let limit = Deadline::after(LONG);
        loop {
            let spans = lock(&self.spans).clone();
            if spans.iter().any(|span| span.parent_span_id.is_empty()) {
                return spans;
            }
            let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
            assert!(!limit.passed(), "no root among {names:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One request, head and body; none when the other side has gone.
fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut seen = Vec::new();
    let mut piece = [0; 8192];
    loop {
        let end = seen.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&seen[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
            });
            let length: usize = length.unwrap_or(0);
            if seen.len() >= end + 4 + length {
                return Some((head, seen[end + 4..end + 4 + length].to_vec()));
            }
        }
        let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
        seen.extend_from_slice(&piece[..read]);
    }
}

fn told(attributes: &[KeyValue], name: &str) -> String {
    let found = attributes.iter().find(|one| one.key == name);
    let value = found.and_then(|one| one.value.as_ref()).and_then(|value| value.value.as_ref());
    match value {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(count)) => count.to_string(),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// An agent that calls a tool, tells what it used, works, and is done the second time.
fn scenario() -> Scenario {
    Scenario::bare()
        .config("[[gates.check]]\nname = \"tests\"\ncommand = \"test -e work-2\"\n")
        .committed()
        .speaker(
            r#"echo "$TRACEPARENT" >> "$OUT/parents"
call 1 Bash '{"command":"deploy --to production"}'
result 1 'answer of the tool' false
usage 1000 0.25
work something
text '<promise>COMPLETE</promise>'"#,
        )
}

/// Every span has the parent it should have, and tells nothing that was said.
#[track_caller]
fn hang_together(spans: &[Span]) {
    let by_id: BTreeMap<&[u8], &Span> =
        spans.iter().map(|span| (&span.span_id[..], span)).collect();
    let names: BTreeSet<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(
        names,
        BTreeSet::from([
            "execute_tool Bash",
            "gate tests",
            "invoke_agent sh",
            "invoke_workflow flyball"
        ])
    );
    for span in spans {
        let parent = by_id.get(&span.parent_span_id[..]);
        let expected = match span.name.split(' ').next().unwrap() {
            "invoke_workflow" => None,
            "invoke_agent" => Some("invoke_workflow flyball"),
            "gate" if parent.is_some_and(|one| one.parent_span_id.is_empty()) => {
                Some("invoke_workflow flyball")
            }
            _ => Some("invoke_agent sh"),
        };
        assert_eq!(parent.map(|one| one.name.as_str()), expected, "{}", span.name);
        // Without being asked, nothing that was said is told.
        let all = format!("{span:?}");
        assert!(!all.contains("deploy") && !all.contains("answer of the tool"), "{all}");
    }
}

#[test]
fn a_run_is_sent_while_it_goes_on_and_again_the_same_at_any_later_time() {
    let collector = Collector::start(Mood::Takes);
    let scenario = scenario()
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b")
        .env("OTEL_SERVICE_NAME", "nightly");
    let ran = scenario.run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains("telemetry"), "{}", ran.stderr);
    let spans = collector.until_root();
    hang_together(&spans);
    let iterations: Vec<&Span> =
        spans.iter().filter(|span| span.name.starts_with("invoke_agent")).collect();
    assert_eq!(iterations.len(), 2);
    assert_eq!(told(&iterations[0].attributes, "gen_ai.usage.input_tokens"), "1000");
    let claims: Vec<String> = iterations
        .iter()
        .flat_map(|span| &span.events)
        .filter(|event| event.name == "flyball.claim")
        .map(|event| told(&event.attributes, "flyball.verdict"))
        .collect();
    assert_eq!(claims, ["refused", "accepted"]);
    // Each agent was told the span of its own iteration.
    let parents = scenario.told("parents");
    for (parent, span) in parents.lines().zip(&iterations) {
        let expected = format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id));
        assert_eq!(parent, expected);
    }
    let root = spans.iter().find(|span| span.parent_span_id.is_empty()).unwrap();
    assert_eq!(told(&root.attributes, "flyball.outcome"), "complete");
    assert!(root.status.is_none());
    scenario.until_quiet();
    let heads = lock(&collector.heads).clone();
    let is_key = |head: &String| head.to_lowercase().contains("x-key: a b");
    assert!(heads.iter().all(is_key), "{heads:?}");
    let metrics: BTreeSet<String> =
        lock(&collector.metrics).iter().map(|metric| metric.name.clone()).collect();
    for name in ["gen_ai.client.token.usage", "flyball.cost", "flyball.gate.duration"] {
        assert!(metrics.contains(name), "{name} among {metrics:?}");
    }

    lock(&collector.spans).clear();
    let said = scenario.flyball(&["export", "otel"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stdout.starts_with(&format!("{} spans and ", spans.len())), "{}", said.stdout);
    let mut again = collector.until_root();
    let mut first = spans.clone();
    first.sort_by(|one, other| one.span_id.cmp(&other.span_id));
    again.sort_by(|one, other| one.span_id.cmp(&other.span_id));
    assert_eq!(first, again);
}

#[test]
fn what_was_said_is_told_where_the_settings_ask_for_it_and_a_file_can_be_had() {
    let scenario = scenario().env("FLYBALL_OTEL__CONTENT", "true");
    assert_eq!(scenario.run().code, 0);
    let said = scenario.flyball(&["export", "otel"]);
    assert_eq!(said.code, 64, "{}", said.stderr);
    assert!(said.stderr.contains("OTEL_EXPORTER_OTLP_ENDPOINT="), "{}", said.stderr);
    let path = scenario.outside("run.jsonl").to_string_lossy().into_owned();
    let said = scenario.flyball(&["export", "otel", "--output", &path, "--json"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let summary: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(summary["runs"].as_array().unwrap().len(), 1);
    let text = scenario.told("run.jsonl");
    assert!(
        text.contains("deploy --to production") && text.contains("answer of the tool"),
        "{text}"
    );
    let same = scenario.flyball(&["export", "otel", "--output", "-"]);
    assert_eq!(same.stdout, text);
}

#[test]
fn a_collector_of_spans_alone_is_no_failure() {
    let collector = Collector::start(Mood::SpansOnly);
    let scenario = scenario().env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address);
    let ran = scenario.run();
    assert_eq!(ran.code, 0);
    collector.until_root();
    scenario.until_quiet();
    assert_eq!(scenario.flyball(&["export", "otel"]).code, 0);
}

#[test]
fn an_address_nothing_can_be_sent_to_is_said_and_stops_no_run() {
    let scenario = scenario().env("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317");
    let ran = scenario.run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let said = "telemetry is not sent: `localhost:4317/v1/traces` is no address telemetry";
    assert_eq!(ran.stderr.matches(said).count(), 1, "{}", ran.stderr);
}

/// Whether who sends beside the run has something to say.
fn has_spoken(scenario: &Scenario) -> bool {
    let Ok(files) = fs::read_dir(scenario.state().join("runs")) else { return false };
    let mut files = files.filter_map(Result::ok);
    files.any(|file| {
        let is_said = file.file_name().to_string_lossy().ends_with(".otel.out");
        is_said && file.metadata().is_ok_and(|about| about.len() > 0)
    })
}

/// A collector that is missing, hangs or refuses: the run is the same, and says one word at most.
#[test]
fn a_collector_that_takes_nothing_costs_a_run_nothing() {
    let (hangs, refuses) = (Collector::start(Mood::Hangs), Collector::start(Mood::Refuses));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody_at = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    for (address, is_said) in
        [(&hangs.address, false), (&refuses.address, true), (&nobody_at, true)]
    {
        let scenario = scenario()
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", address)
            .env("OTEL_EXPORTER_OTLP_TIMEOUT", "2000")
            .speaker(
                "while [ ! -e \"$OUT/tried\" ]; do sleep 0.05; done\n\
                 work something; text '<promise>COMPLETE</promise>'",
            );
        let running = scenario.spawn();
        let limit = Deadline::after(LONG);
        while !(if is_said { has_spoken(&scenario) } else { hangs.came.load(Ordering::SeqCst) > 0 })
        {
            assert!(!limit.passed(), "{address} was not tried");
            thread::sleep(Duration::from_millis(10));
        }
        fs::write(scenario.outside("tried"), "").unwrap();
        let ran = running.wait();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let words = ran.stderr.matches("telemetry was not sent").count();
        assert!(words <= 1, "{}", ran.stderr);
        assert!(words == 1 || !is_said, "{address}: {}", ran.stderr);
        if words == 1 {
            assert!(ran.stderr.contains("`flyball export otel "), "{}", ran.stderr);
        }
        let said = scenario.flyball(&["export", "otel"]);
        assert_eq!(said.code, 74, "{address}: {}", said.stderr);
    }
}

#[test]
fn a_run_that_is_taken_up_again_sends_what_is_new_and_its_own_span_anew() {
    let collector = Collector::start(Mood::Takes);
    let scenario = scenario()
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address)
        .flags(&["--max-iterations", "1"]);
    let ran = scenario.run();
    assert_ne!(ran.code, 0);
    let first = collector.until_root();
    scenario.until_quiet();
    lock(&collector.spans).clear();
    let ran = scenario.resume(&["--max-iterations", "5"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let second = collector.until_root();
    let root =
        |spans: &[Span]| spans.iter().find(|span| span.parent_span_id.is_empty()).unwrap().clone();
    assert_eq!(root(&first).span_id, root(&second).span_id);
    assert!(root(&first).end_time_unix_nano < root(&second).end_time_unix_nano);
    assert_eq!(told(&root(&second).attributes, "flyball.outcome"), "complete");
    let ids = |spans: &[Span]| -> BTreeSet<Vec<u8>> {
        let below = spans.iter().filter(|span| !span.parent_span_id.is_empty());
        below.map(|span| span.span_id.clone()).collect()
    };
    assert!(ids(&first).is_disjoint(&ids(&second)), "what was sent is not sent again");
}
