//! The coverage rule: the share of covered lines in an lcov, JSON or Cobertura report.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Judged, content};
use crate::mcp::site::Site;

/// What kind of report it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::mcp) enum CoverageFormat {
    /// lcov's `.info`.
    Lcov,
    /// A JSON summary: istanbul's, coverage.py's, llvm-cov's.
    Json,
    /// Cobertura's XML.
    Cobertura,
}

impl CoverageFormat {
    fn recognise(text: &str) -> Self {
        match text.trim_start().chars().next() {
            Some('{') => Self::Json,
            Some('<') => Self::Cobertura,
            Some(_) | None => Self::Lcov,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Lcov => "lcov",
            Self::Json => "JSON",
            Self::Cobertura => "Cobertura",
        }
    }
}

pub(super) fn run(site: &Site, path: &str, format: Option<CoverageFormat>, minimum: f64) -> Judged {
    let text = match content::read_bounded(&site.path(path)) {
        Ok(text) => text,
        Err(error) => {
            return Judged::failed(format!("the report `{path}` could not be read: {error}"));
        }
    };
    let format = format.unwrap_or_else(|| CoverageFormat::recognise(&text));
    let Some(covered) = percent(&text, format) else {
        let name = format.name();
        return Judged::failed(format!("`{path}` says no line coverage as a {name} report does"));
    };
    let told = format!("{covered:.2}% of the lines are covered, {minimum}% are wanted");
    if covered >= minimum {
        return Judged::passed(told);
    }
    Judged::partly(covered / minimum, told)
}

/// The share of covered lines in percent.
fn percent(text: &str, format: CoverageFormat) -> Option<f64> {
    let percent = match format {
        CoverageFormat::Lcov => lcov(text),
        CoverageFormat::Json => json(text),
        CoverageFormat::Cobertura => cobertura(text),
    };
    percent.filter(|percent| percent.is_finite())
}

fn share(covered: f64, all: f64) -> Option<f64> {
    (all > 0.0).then(|| covered / all * 100.0)
}

/// The sums of `LH` and `LF`; of a report without them, its `DA` lines.
fn lcov(text: &str) -> Option<f64> {
    let sum = |mark: &str| -> f64 {
        let numbers = text.lines().filter_map(|line| line.trim().strip_prefix(mark));
        numbers.filter_map(|number| number.trim().parse::<f64>().ok()).sum()
    };
    if let Some(found) = share(sum("LH:"), sum("LF:")) {
        return Some(found);
    }
    let hits = text.lines().filter_map(|line| {
        let (_, count) = line.trim().strip_prefix("DA:")?.split_once(',')?;
        count.split(',').next()?.trim().parse::<f64>().ok()
    });
    let (covered, all) = hits.fold((0.0, 0.0), |(covered, all), count| {
        (if count > 0.0 { covered + 1.0 } else { covered }, all + 1.0)
    });
    share(covered, all)
}

fn json(text: &str) -> Option<f64> {
    let report: Value = serde_json::from_str(text).ok()?;
    let places = ["/total/lines/pct", "/totals/percent_covered", "/data/0/totals/lines/percent"];
    places.iter().find_map(|place| report.pointer(place).and_then(Value::as_f64))
}

/// `line-rate` of the outermost element, or `lines-covered` and `lines-valid`.
fn cobertura(text: &str) -> Option<f64> {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element))
                if element.name().as_ref() == b"coverage" =>
            {
                let number = |name: &str| attribute(&element, name);
                let counted = number("lines-covered").zip(number("lines-valid"));
                return counted
                    .and_then(|(covered, all)| share(covered, all))
                    .or_else(|| number("line-rate").map(|rate| rate * 100.0));
            }
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<f64> {
    let value = element.try_get_attribute(name).ok().flatten()?;
    std::str::from_utf8(&value.value).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reports_of_many_tools_are_read() {
        let cases = [
            ("TN:\nSF:a\nLF:10\nLH:8\nend_of_record\nSF:b\nLF:10\nLH:1\n", Some(45.0)),
            ("SF:a\nDA:1,3\nDA:2,0\nDA:3,1,hash\nDA:4,0\n", Some(50.0)),
            (r#"{"total":{"lines":{"total":4,"covered":3,"pct":75}}}"#, Some(75.0)),
            (r#"{"totals":{"percent_covered":91.5}}"#, Some(91.5)),
            (r#"{"data":[{"totals":{"lines":{"percent":12.5}}}]}"#, Some(12.5)),
            (r#"<?xml version="1.0"?><!DOCTYPE c><coverage line-rate="0.5"/>"#, Some(50.0)),
            (r#"<coverage lines-covered="1" lines-valid="4" line-rate="1">"#, Some(25.0)),
            (r#"{"total":{"lines":{"pct":"Unknown"}}}"#, None),
            ("<report/>", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(percent(text, CoverageFormat::recognise(text)), expected, "{text}");
        }
    }
}
