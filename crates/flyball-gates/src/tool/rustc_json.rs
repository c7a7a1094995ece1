//! rustc and clippy with `--message-format=json`: one diagnostic per line.

use crate::{Finding, FindingKind};
use serde::Deserialize;

use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Report};

/// Reads cargo's `compiler-message` lines and rustc's own.
#[derive(Clone, Default)]
pub(super) struct RustcJson {
    spoke: bool,
    findings: Findings,
    warnings: Findings,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    level: String,
    #[serde(default)]
    code: Option<Code>,
    #[serde(default)]
    spans: Vec<Span>,
    #[serde(default)]
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u32,
    column_start: u32,
    #[serde(default)]
    is_primary: bool,
}

impl Recogniser for RustcJson {
    fn name(&self) -> &'static str {
        "rustc"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["{\""], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if text.starts_with("{\"reason\":") {
            self.spoke |= text.starts_with("{\"reason\":\"build-finished\"");
            if text.starts_with("{\"reason\":\"compiler-message\"")
                && let Ok(message) = serde_json::from_str::<Message>(text)
                && let Some(diagnostic) = message.message
            {
                self.diagnostic(diagnostic, line.number);
            }
        } else if text.starts_with("{\"$message_type\":\"diagnostic\"")
            && let Ok(diagnostic) = serde_json::from_str(text)
        {
            self.diagnostic(diagnostic, line.number);
        }
        Attention::Idle
    }

    fn finish(&mut self) -> Option<Report> {
        self.spoke.then(|| Report {
            tool: "rustc",
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
            ..Report::default()
        })
    }
}

impl RustcJson {
    fn diagnostic(&mut self, diagnostic: Diagnostic, number: u64) {
        self.spoke = true;
        if diagnostic.message.starts_with("aborting due to") {
            return;
        }
        let code = diagnostic.code.map(|code| code.code);
        let is_lint = code.as_deref().is_some_and(|code| !is_error_code(code));
        let kind = if is_lint { FindingKind::Lint } else { FindingKind::Compile };
        let mut finding = Finding::new(kind, diagnostic.message);
        finding.name = code;
        finding.excerpt = diagnostic.rendered;
        let primary = diagnostic.spans.iter().find(|span| span.is_primary);
        if let Some(span) = primary.or(diagnostic.spans.first()) {
            finding = finding.at(span.file_name.as_str(), span.line_start, span.column_start);
        }
        match diagnostic.level.as_str() {
            "warning" => self.warnings.push(number, finding),
            "error" | "error: internal compiler error" => self.findings.push(number, finding),
            _ => {}
        }
    }
}

fn is_error_code(code: &str) -> bool {
    code.strip_prefix('E').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}
