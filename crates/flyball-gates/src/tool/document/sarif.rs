//! SARIF 2.1.

use crate::{Finding, FindingKind};
use serde::Deserialize;

use crate::report::Report;

#[derive(Deserialize)]
struct Document {
    runs: Vec<SarifRun>,
}

#[derive(Deserialize)]
struct SarifRun {
    #[serde(default)]
    results: Vec<SarifResult>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    #[serde(default)]
    rule_id: Option<String>,
    #[serde(default)]
    level: Option<String>,
    message: Message,
    #[serde(default)]
    locations: Vec<Location>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(default)]
    physical_location: Option<Physical>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    #[serde(default)]
    artifact_location: Option<Artifact>,
    #[serde(default)]
    region: Option<Region>,
}

#[derive(Deserialize)]
struct Artifact {
    #[serde(default)]
    uri: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    #[serde(default)]
    start_line: Option<u32>,
    #[serde(default)]
    start_column: Option<u32>,
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let document: Document = serde_json::from_str(document).ok()?;
    let mut report = Report { tool: "sarif", ..Report::default() };
    for outcome in document.runs.into_iter().flat_map(|run| run.results) {
        let mut finding = Finding::new(FindingKind::Lint, outcome.message.text);
        finding.name = outcome.rule_id;
        let place = outcome.locations.into_iter().find_map(|location| location.physical_location);
        if let Some(place) = place
            && let Some(file) = place.artifact_location.and_then(|artifact| artifact.uri)
        {
            let line = place.region.as_ref().and_then(|region| region.start_line);
            let column = place.region.as_ref().and_then(|region| region.start_column);
            finding = finding.at(file, line, column);
        }
        match outcome.level.as_deref() {
            Some("error") => report.findings.push(number, finding),
            Some("note" | "none") => {}
            // The standard's default is a warning.
            _ => report.warnings.push(number, finding),
        }
    }
    Some(report)
}
