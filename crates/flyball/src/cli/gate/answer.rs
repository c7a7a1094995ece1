//! What `flyball gate` says: for people and agents, for programs, and for GitHub.

use std::collections::BTreeSet;

use flyball_core::gate::blocking::Refusal;
use flyball_core::gate::{BlockingEvent, Check, CheckStatus, Finding, GateResult};
use flyball_core::text;
use serde_json::json;

use super::GateFormat;
use crate::gate::{GateProgress, why_known};
use crate::terminal::Paint;

/// The longest message of an annotation, in characters.
const MESSAGE_MAX: usize = 2_000;

/// The whole answer for standard output.
pub(super) fn render(result: &GateResult, format: GateFormat) -> String {
    match format {
        GateFormat::Text if result.is_green() => lines(&result.status_lines()),
        GateFormat::Text => {
            let text = blocking_event(result).to_text_under("Gates");
            if text.ends_with('\n') { text } else { text + "\n" }
        }
        GateFormat::Json => {
            let green = result.is_green();
            let mut answer = json!({ "green": green, "gate_result": result });
            if let (false, Some(answer)) = (green, answer.as_object_mut()) {
                answer.insert("blocking_event".to_owned(), json!(blocking_event(result)));
            }
            format!("{answer}\n")
        }
        GateFormat::Github => {
            let mut all: Vec<String> = result.red().flat_map(annotations).collect();
            all.extend(result.status_lines());
            lines(&all)
        }
    }
}

/// The line that tells of progress.
pub(in crate::cli) fn progress_line(progress: &GateProgress, paint: Paint) -> String {
    match progress {
        GateProgress::Started { name, index, of } => format!("[{index}/{of}] {name} …\n"),
        GateProgress::Cached(check) => {
            let word = status_word(&check.status, paint);
            format!("{}: {word} {}\n", check.gate, paint.dim(&format!("({})", why_known(check))))
        }
        GateProgress::Finished(check) => {
            let word = status_word(&check.status, paint);
            match &check.status {
                CheckStatus::Skipped { reason } => format!("{}: {word} ({reason})\n", check.gate),
                CheckStatus::Passed | CheckStatus::Failed | CheckStatus::TimedOut => {
                    let took = paint.dim(&format!("({})", check.duration));
                    let flaky = if check.flaky.is_some() { ", flaky" } else { "" };
                    format!("{}: {word}{flaky} {took}\n", check.gate)
                }
            }
        }
    }
}

fn status_word(status: &CheckStatus, paint: Paint) -> String {
    match status {
        CheckStatus::Passed => paint.green(status.as_str()),
        CheckStatus::Failed | CheckStatus::TimedOut => paint.red(status.as_str()),
        CheckStatus::Skipped { .. } => paint.yellow(status.as_str()),
    }
}

fn blocking_event(result: &GateResult) -> BlockingEvent {
    BlockingEvent::new(Refusal {
        request: "",
        now: result,
        before: None,
        baseline: &BTreeSet::new(),
        missing: &[],
    })
}

fn lines(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// One annotation per finding, or one for a red gate without any.
fn annotations(check: &Check) -> Vec<String> {
    if check.findings.is_empty() {
        let said = text::tail(check.tail.trim_end(), MESSAGE_MAX);
        let finding = format!("{}\n{said}", check.status.as_str());
        return vec![format!(
            "::error title={}::{}",
            property(check.gate.as_str()),
            message(finding.trim_end())
        )];
    }
    check.findings.iter().map(|finding| annotation(check, finding)).collect()
}

fn annotation(check: &Check, finding: &Finding) -> String {
    let mut properties = Vec::new();
    if let Some(file) = &finding.file {
        properties.push(format!("file={}", property(file)));
        properties.extend(finding.line.map(|line| format!("line={line}")));
        properties.extend(finding.column.map(|column| format!("col={column}")));
    }
    let title = match &finding.name {
        Some(name) if name != check.gate.as_str() => format!("{}: {name}", check.gate),
        Some(_) | None => check.gate.to_string(),
    };
    properties.push(format!("title={}", property(&text::head(&title, 200))));
    let said = text::head(&finding.message, MESSAGE_MAX);
    format!("::error {}::{}", properties.join(","), message(&said))
}

/// A text as the message of a workflow command.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A text as a property of a workflow command.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use flyball_core::gate::FindingKind;

    use super::*;

    fn red(findings: Vec<Finding>) -> GateResult {
        let check = Check { findings, tail: "last\nwords\n".to_owned(), ..Check::failed("tests") };
        GateResult { tree: "t".to_owned(), checks: vec![Check::passed("lint"), check] }
    }

    #[test]
    fn annotations_are_escaped_where_github_would_misread_them() {
        let finding = Finding::new(FindingKind::Test, "50% off:\r\nleft, 1").named("a::b, c").at(
            "src/a,b:c.rs",
            7,
            3,
        );
        let said = render(&red(vec![finding]), GateFormat::Github);
        assert_eq!(
            said,
            "::error file=src/a%2Cb%3Ac.rs,line=7,col=3,title=tests%3A a%3A%3Ab%2C c::50%25 off:%0D%0Aleft, 1\n\
             [x] lint: passed\n[ ] tests: failed\n"
        );
    }

    #[test]
    fn a_red_gate_without_findings_is_annotated_with_its_last_words() {
        let said = render(&red(Vec::new()), GateFormat::Github);
        assert!(said.starts_with("::error title=tests::failed%0Alast%0Awords\n"), "{said}");
    }

    #[test]
    fn no_line_of_a_finding_can_pass_for_a_command_of_its_own() {
        let finding =
            Finding::new(FindingKind::Other, "x\n::stop-commands::y").at("a\n::b", 1, None);
        let said = render(&red(vec![finding]), GateFormat::Github);
        let commands = said.lines().filter(|line| line.starts_with("::")).count();
        assert_eq!(commands, 1, "{said}");
    }

    #[test]
    fn green_is_said_in_status_lines_and_red_as_a_blocking_event() {
        let green = GateResult { tree: "t".to_owned(), checks: vec![Check::passed("tests")] };
        assert_eq!(render(&green, GateFormat::Text), "[x] tests: passed\n");
        let said = render(&red(vec![]), GateFormat::Text);
        assert!(said.starts_with("# Gates: tests failed\n") && said.ends_with('\n'), "{said}");
        let json: serde_json::Value =
            serde_json::from_str(&render(&red(vec![]), GateFormat::Json)).unwrap();
        assert_eq!(json["green"], false);
        assert_eq!(json["blocking_event"]["blocked_by"][0], "tests");
        assert_eq!(json["gate_result"]["checks"][0]["status"], "passed");
        let json: serde_json::Value =
            serde_json::from_str(&render(&green, GateFormat::Json)).unwrap();
        assert_eq!((json["green"].as_bool(), json.get("blocking_event")), (Some(true), None));
    }
}
