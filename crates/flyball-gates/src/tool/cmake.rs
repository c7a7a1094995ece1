//! `CMake` while it configures: `CMake Error at CMakeLists.txt:3 (command):` and a text below.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{Finding, FindingKind, text};

/// Reads errors of the configuration; without it nothing can be built or tested.
#[derive(Clone, Default)]
pub(super) struct Cmake {
    open: Option<Open>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    at: Option<(String, u32)>,
    text: Block,
}

impl Recogniser for Cmake {
    fn name(&self) -> &'static str {
        "cmake"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["CMak"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(rest) = line.text.strip_prefix("CMake Error") {
            self.close();
            let mut block = Block::default();
            let at = place_of(rest);
            if at.is_none() {
                block.push(rest.trim_start_matches(':').trim());
            }
            self.open = Some(Open { number: line.number, at, text: block });
        } else if let Some(Open { text: block, .. }) = &mut self.open {
            if line.text.is_empty() || line.text.starts_with("  ") {
                block.push(text::dedent(line.text, 2));
            } else {
                self.close();
            }
        }
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        (!findings.is_empty()).then(|| Report { tool: "cmake", findings, ..Report::default() })
    }
}

impl Cmake {
    fn close(&mut self) {
        let Some(Open { number, at, text: mut block }) = self.open.take() else { return };
        if block.is_blank() {
            return;
        }
        let text = block.take();
        let message = text::trim_lines(&text);
        let message = message.split("\nCall Stack (").next().unwrap_or(message).trim_end();
        let finding = Finding::new(FindingKind::Compile, message).with_excerpt(message);
        let finding = match at {
            Some((file, line)) => finding.at(file, line, None),
            None => finding,
        };
        self.findings.push(number, finding);
    }
}

/// The place of ` at CMakeLists.txt:3 (find_package):`.
fn place_of(rest: &str) -> Option<(String, u32)> {
    let rest = rest.strip_prefix(" at ").or_else(|| rest.strip_prefix(" in "))?;
    let file = rest.rsplit_once(" (").map_or(rest.trim_end_matches(':'), |(file, _)| file);
    let (file, line) = file.rsplit_once(':')?;
    Some((place::tidy(file).to_owned(), line.parse().ok()?))
}
