//! An error that ended a node program: a missing module, a syntax error, an uncaught throw.

use crate::{Finding, FindingKind};

use super::js_frame;
use crate::place;
use crate::recogniser::{Attention, CAPITALS, Cues, Line, Places, Recogniser, Trait};
use crate::report::{Block, Findings, Report};

/// Reads an error with its stack at the left margin, up to `Node.js v20`.
#[derive(Clone, Default)]
pub(super) struct NodeError {
    /// The place printed above the error.
    above: Option<(u64, String, u32)>,
    open: Option<(u64, Block)>,
    last: Option<(u64, Finding)>,
    findings: Findings,
}

impl Recogniser for NodeError {
    fn name(&self) -> &'static str {
        "node"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["Node", "Unca", "file"],
            places: Places::Of(&["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"]),
            also: &[(CAPITALS, Trait::ErrorName)],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some((_, block)) = &mut self.open {
            let goes_on = text.starts_with("    at ")
                || text.starts_with("Require stack:")
                || text.starts_with("- ")
                || text.starts_with("  ");
            if goes_on {
                block.push(text);
                return Attention::Busy;
            }
            self.close();
        }
        if text.starts_with("Node.js v") {
            if let Some((number, finding)) = self.last.take() {
                self.findings.push(number, finding);
            }
        } else if is_error(text) {
            let mut block = Block::default();
            block.push(text);
            self.open = Some((line.number, block));
            return Attention::Busy;
        } else if let Some(place) = line.place.or_else(|| in_url(text))
            && place.rest.is_empty()
            && place.has_extension(&["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"])
        {
            self.above = Some((line.number, place.file.to_owned(), place.line));
        }
        Attention::Idle
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        (!findings.is_empty()).then(|| Report { tool: "node", findings, ..Report::default() })
    }
}

impl NodeError {
    fn close(&mut self) {
        let Some((number, mut block)) = self.open.take() else { return };
        let text = block.take();
        if !text.lines().any(|line| line.starts_with("    at ")) {
            return;
        }
        let message = text.lines().next().unwrap_or_default();
        let is_compile = js_frame::kind(message) == FindingKind::Compile;
        let kind = if is_compile { FindingKind::Compile } else { FindingKind::Crash };
        let mut finding = Finding::new(kind, message).with_excerpt(text.as_str());
        let above = self.above.take().filter(|(at, _, _)| number.saturating_sub(*at) < 10);
        if let Some(place) = text.lines().find_map(js_frame::own) {
            finding = finding.at(place.file, place.line, place.column);
        } else if let Some((_, file, line)) = above {
            finding = finding.at(place::tidy(&file), line, None);
        }
        self.last = Some((number, finding));
    }
}

/// The place a module is named by: `file:///repo/a.mjs:2`.
fn in_url(text: &str) -> Option<place::Place<'_>> {
    place::prefix(text.strip_prefix("file://")?)
}

/// `TypeError: text`, `Error [CODE]: text`, `Uncaught Error: text`.
fn is_error(text: &str) -> bool {
    let text = text.strip_prefix("Uncaught ").unwrap_or(text);
    let length = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let Some((name, rest)) = text.split_at_checked(length) else { return false };
    name.ends_with("Error")
        && (rest.starts_with(": ") || (rest.starts_with(" [") && rest.contains("]: ")))
}
