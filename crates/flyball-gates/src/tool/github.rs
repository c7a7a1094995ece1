//! Annotations for a workflow, which many linters can print: `::error file=…,line=…::text`, and in
//! Azure's words `##vso[task.logissue type=error;sourcepath=…;linenumber=…;]text`.

use crate::{Finding, FindingKind};

use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{ANNOTATIONS, Findings, Report};

/// Reads `::error` and `::warning` lines.
#[derive(Clone, Default)]
pub(super) struct Github {
    findings: Findings,
    warnings: Findings,
}

impl Recogniser for Github {
    fn name(&self) -> &'static str {
        ANNOTATIONS
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["::", "##vs"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(rest) = line.text.strip_prefix("::error ") {
            if let Some(finding) = finding(rest) {
                self.findings.push(line.number, finding);
            }
        } else if let Some(rest) = line.text.strip_prefix("::warning ")
            && let Some(finding) = finding(rest)
        {
            self.warnings.push(line.number, finding);
        } else if let Some(rest) = line.text.strip_prefix("##vso[task.logissue ")
            && let Some((is_warning, finding)) = issue(rest)
        {
            let list = if is_warning { &mut self.warnings } else { &mut self.findings };
            list.push(line.number, finding);
        }
        Attention::Idle
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        let warnings = std::mem::take(&mut self.warnings);
        (!findings.is_empty() || !warnings.is_empty()).then(|| Report {
            tool: ANNOTATIONS,
            findings,
            warnings,
            ..Report::default()
        })
    }
}

/// Whether it is a warning, and what `type=error;sourcepath=a.py;linenumber=3;code=E1;]text` says.
fn issue(rest: &str) -> Option<(bool, Finding)> {
    let (properties, message) = rest.split_once(']')?;
    let mut finding = Finding::new(FindingKind::Lint, message.trim());
    let mut is_warning = false;
    for property in properties.split(';') {
        let Some((name, value)) = property.split_once('=') else { continue };
        match name.trim() {
            "type" => is_warning = value == "warning",
            "sourcepath" => finding.file = Some(value.to_owned()),
            "linenumber" => finding.line = value.parse().ok(),
            "columnnumber" => finding.column = value.parse().ok(),
            "code" => finding.name = Some(value.to_owned()),
            _ => {}
        }
    }
    finding.file.is_some().then_some((is_warning, finding))
}

fn finding(rest: &str) -> Option<Finding> {
    let (properties, message) = rest.split_once("::")?;
    let message = message.replace("%0A", "\n").replace("%0D", "").replace("%25", "%");
    let mut finding = Finding::new(FindingKind::Lint, message);
    for property in properties.split(',') {
        let Some((name, value)) = property.split_once('=') else { continue };
        let value = value.replace("%3A", ":").replace("%2C", ",").replace("%25", "%");
        match name.trim() {
            "file" => finding.file = Some(value),
            "line" => finding.line = value.parse().ok(),
            "col" => finding.column = value.parse().ok(),
            "title" => finding.name = Some(value),
            _ => {}
        }
    }
    finding.file.is_some().then_some(finding)
}
