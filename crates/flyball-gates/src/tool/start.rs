//! A check that could not start at all, in the words of shells and package managers.

use crate::{Finding, FindingKind};

use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::SHELL;
use crate::report::{Findings, Report};

/// Reads `command not found`, missing scripts and missing modules of the checker itself.
#[derive(Default)]
pub(super) struct Start {
    findings: Findings,
}

impl Recogniser for Start {
    fn name(&self) -> &'static str {
        SHELL
    }

    fn cues(&self) -> Cues {
        Cues { first: b"bsznyEmM/e.", place: false, also: None }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if could_not_start(line.text) {
            self.findings.push(line.number, Finding::new(FindingKind::Crash, line.text.trim()));
        }
        Attention::Idle
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        (!findings.is_empty()).then(|| Report { tool: SHELL, findings, ..Report::default() })
    }
}

fn could_not_start(text: &str) -> bool {
    let text = text.trim_end();
    let shells = ["bash: ", "sh: ", "zsh: ", "/bin/sh: ", "/bin/bash: "];
    let by_shell = shells.iter().any(|shell| text.starts_with(shell))
        && (text.ends_with(": not found")
            || text.contains("command not found")
            || text.ends_with("Permission denied"));
    let by_script = text.ends_with(": command not found") && text.contains(": line ");
    by_shell
        || by_script
        || (text.starts_with("npm") && text.contains("issing script:"))
        || (text.starts_with("error: ") && text.contains("ommand") && text.contains("not found"))
        || (text.starts_with('/') && text.contains("python") && text.contains(": No module named "))
        || (text.starts_with("make: ") && text.contains("No rule to make target"))
}
