//! Where spans and metrics end up: a collector, or a file with a line of OTLP JSON each.

use std::io::Write;

use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::metrics::v1::{Metric, MetricsData, ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, TracesData};
use serde::Serialize;

use flyball_core::RunId;

use super::attribute::text;
use super::names;
use super::send::{SendError, Sender};
use super::target::{About, Target};

/// Where spans and metrics end up.
pub(crate) trait Sink {
    /// Takes spans; why not, in words.
    fn spans(&mut self, run: &RunId, spans: Vec<Span>) -> Result<(), String>;
    /// Takes metrics; why not, in words.
    fn metrics(&mut self, run: &RunId, metrics: Vec<Metric>) -> Result<(), String>;
}

/// A collector.
pub(crate) struct HttpSink {
    target: Target,
    sender: Sender,
    /// A collector of spans alone is asked once.
    takes_metrics: bool,
}

impl HttpSink {
    pub(crate) fn new(target: Target) -> Self {
        Self { sender: Sender::new(&target), target, takes_metrics: true }
    }
}

impl Sink for HttpSink {
    fn spans(&mut self, run: &RunId, spans: Vec<Span>) -> Result<(), String> {
        let Some(address) = &self.target.traces else { return Ok(()) };
        let message = traces(&self.target.about, run, spans);
        self.sender.send(address, &message).map_err(|error| error.words(address))
    }

    fn metrics(&mut self, run: &RunId, metrics: Vec<Metric>) -> Result<(), String> {
        let Some(address) = self.target.metrics.as_ref().filter(|_| self.takes_metrics) else {
            return Ok(());
        };
        let message = figures(&self.target.about, run, metrics);
        match self.sender.send(address, &message) {
            Err(SendError::Unwanted(_)) if self.target.traces.is_some() => {
                self.takes_metrics = false;
                Ok(())
            }
            sent => sent.map_err(|error| error.words(address)),
        }
    }
}

/// A file.
pub(crate) struct FileSink<W> {
    pub(crate) file: W,
    pub(crate) about: About,
}

impl<W: Write> FileSink<W> {
    fn line(&mut self, value: &impl Serialize) -> Result<(), String> {
        let line = serde_json::to_string(value).map_err(|error| error.to_string())?;
        writeln!(self.file, "{line}").map_err(|error| error.to_string())
    }
}

impl<W: Write> Sink for FileSink<W> {
    fn spans(&mut self, run: &RunId, spans: Vec<Span>) -> Result<(), String> {
        let data = traces(&self.about, run, spans);
        self.line(&data)
    }

    fn metrics(&mut self, run: &RunId, metrics: Vec<Metric>) -> Result<(), String> {
        let data = figures(&self.about, run, metrics);
        self.line(&data)
    }
}

/// Who sends. Each run is an instance of its own: its figures are no other's.
fn resource(about: &About, run: &RunId) -> Resource {
    let own = [
        text(names::SERVICE_NAME, &about.service),
        text(names::SERVICE_VERSION, env!("CARGO_PKG_VERSION")),
        text(names::SERVICE_INSTANCE, run.as_str()),
    ];
    let given = about.attributes.iter().map(|(name, value)| text(name, value));
    Resource { attributes: own.into_iter().chain(given).collect(), ..Resource::default() }
}

fn scope() -> InstrumentationScope {
    let (name, version) = (names::SCOPE.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    InstrumentationScope { name, version, ..InstrumentationScope::default() }
}

fn traces(about: &About, run: &RunId, spans: Vec<Span>) -> TracesData {
    let schema_url = names::SCHEMA.to_owned();
    let scope_spans =
        vec![ScopeSpans { scope: Some(scope()), spans, schema_url: schema_url.clone() }];
    let resource = Some(resource(about, run));
    TracesData { resource_spans: vec![ResourceSpans { resource, scope_spans, schema_url }] }
}

fn figures(about: &About, run: &RunId, metrics: Vec<Metric>) -> MetricsData {
    let schema_url = names::SCHEMA.to_owned();
    let scope_metrics =
        vec![ScopeMetrics { scope: Some(scope()), metrics, schema_url: schema_url.clone() }];
    let resource = Some(resource(about, run));
    MetricsData { resource_metrics: vec![ResourceMetrics { resource, scope_metrics, schema_url }] }
}
