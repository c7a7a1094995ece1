//! Where telemetry goes, by the variables every OpenTelemetry program reads. Nothing is sent unless one
//! of them names a place.

use std::time::Duration;

use crate::error::CliError;

/// How long a collector may take, unless told otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Where telemetry goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The address of spans.
    pub(super) traces: Option<String>,
    /// The address of metrics.
    pub(super) metrics: Option<String>,
    /// Sent with each: often a key.
    pub(super) headers: Vec<(String, String)>,
    pub(super) timeout: Duration,
    pub(super) about: About,
}

/// What is told of the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct About {
    pub(super) service: String,
    pub(super) attributes: Vec<(String, String)>,
}

impl Target {
    /// As the environment says; none where it names no place.
    pub(crate) fn of_environment() -> Result<Option<Self>, CliError> {
        Self::read(|name| std::env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, CliError> {
        let variable = |name: &str| {
            let value = variable(&format!("OTEL_{name}"))?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        if variable("SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let base = variable("EXPORTER_OTLP_ENDPOINT");
        let base = base.as_deref().map(|base| base.trim_end_matches('/'));
        let place = |signal: &str, own: &str| {
            let below = base.map(|base| format!("{base}/v1/{signal}"));
            variable(own).or(below).map(checked).transpose()
        };
        let traces = place("traces", "EXPORTER_OTLP_TRACES_ENDPOINT")?;
        let metrics = place("metrics", "EXPORTER_OTLP_METRICS_ENDPOINT")?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        let headers = pairs(&variable("EXPORTER_OTLP_HEADERS").unwrap_or_default());
        let timeout = variable("EXPORTER_OTLP_TIMEOUT").and_then(|text| text.parse().ok());
        let timeout = timeout.map_or(TIMEOUT, Duration::from_millis);
        let about = About::read(variable);
        Ok(Some(Self { traces, metrics, headers, timeout, about }))
    }
}

impl Target {
    /// Where it goes, for people: what stands before a host may be a key.
    pub(crate) fn place(&self) -> String {
        let place = self.traces.as_ref().or(self.metrics.as_ref());
        let place = place.map_or("", |place| place.rsplit('@').next().unwrap_or(place));
        place.to_owned()
    }
}

impl About {
    /// As the environment says.
    pub(crate) fn of_environment() -> Self {
        Self::read(|name| std::env::var(format!("OTEL_{name}")).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut attributes = pairs(&variable("RESOURCE_ATTRIBUTES").unwrap_or_default());
        let named = attributes.iter().position(|(name, _)| name == super::names::SERVICE_NAME);
        let named = named.map(|at| attributes.remove(at).1);
        let service = variable("SERVICE_NAME").filter(|name| !name.is_empty()).or(named);
        Self { service: service.unwrap_or_else(|| "flyball".to_owned()), attributes }
    }
}

/// An address that can be sent to.
fn checked(address: String) -> Result<String, CliError> {
    if address.starts_with("http://") || address.starts_with("https://") {
        return Ok(address);
    }
    let message = format!("`{address}` is no address telemetry can be sent to");
    Err(CliError::config(message).hint(
        "OTLP over HTTP is spoken, such as OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318",
    ))
}

/// `a=b,c=d`, with what stands for other characters put back.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name.to_owned(), unescaped(value.trim())))
    };
    text.split(',').filter_map(pair).collect()
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digit = |at: usize| tail.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        if let (b'%', Some(high), Some(low)) = (*first, digit(0), digit(1)) {
            bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            rest = tail.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(set: &[(&str, &str)]) -> Result<Option<Target>, CliError> {
        Target::read(|name| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_is_sent_unless_a_place_is_named() {
        assert_eq!(target(&[]).unwrap(), None);
        assert_eq!(target(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).unwrap(), None);
        let named = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318/");
        assert_eq!(target(&[named, ("OTEL_SDK_DISABLED", "TRUE")]).unwrap(), None);
        let found = target(&[named]).unwrap().unwrap();
        assert_eq!(found.traces.as_deref(), Some("http://localhost:4318/v1/traces"));
        assert_eq!(found.metrics.as_deref(), Some("http://localhost:4318/v1/metrics"));
        assert_eq!((found.about.service.as_str(), found.timeout), ("flyball", TIMEOUT));
        let grpc = target(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317")]);
        assert!(grpc.unwrap_err().message.contains("localhost:4317"));
    }

    #[test]
    fn the_variables_of_the_standard_are_read() {
        let found = target(&[
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://host.example/own"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20a%3Db, x-one = 1,,=bad"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=shop,team=one%2Ctwo"),
        ]);
        let found = found.unwrap().unwrap();
        assert_eq!(
            (found.traces.as_deref(), found.metrics),
            (Some("https://host.example/own"), None)
        );
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found.headers, [pair("Authorization", "Bearer a=b"), pair("x-one", "1")]);
        assert_eq!(found.timeout, Duration::from_millis(250));
        assert_eq!(found.about.service, "shop");
        assert_eq!(found.about.attributes, [pair("team", "one,two")]);
    }
}
