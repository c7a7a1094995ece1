//! Terraform and `OpenTofu`: errors in a box, or without one where colours are off.

use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Block, Findings, Report};
use crate::{Finding, FindingKind, text};

/// Reads `Error: Unsupported argument` with `  on main.tf line 3, in …:` below it.
#[derive(Clone, Default)]
pub(super) struct Terraform {
    in_box: bool,
    open: Option<Open>,
    findings: Findings,
    warnings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    is_warning: bool,
    in_box: bool,
    title: String,
    place: Option<(String, u32)>,
    detail: Block,
    excerpt: Block,
    lines: usize,
}

impl Recogniser for Terraform {
    fn name(&self) -> &'static str {
        "terraform"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["Erro", "Warn"],
            also: &[(b"\xe2", Trait::Sign(&['╷', '│', '╵']))],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text.trim_end();
        if text == "╷" {
            self.close();
            self.in_box = true;
            return Attention::Busy;
        }
        if text == "╵" {
            // Only now: in its box an error needs no place.
            self.close();
            self.in_box = false;
            return Attention::Idle;
        }
        let own = if let Some(own) = text.strip_prefix('│').filter(|_| self.in_box) {
            own.strip_prefix(' ').unwrap_or(own)
        } else {
            self.in_box = false;
            text
        };
        let head = own.strip_prefix("Error: ").map(|title| (false, title));
        let head = head.or_else(|| own.strip_prefix("Warning: ").map(|title| (true, title)));
        if let Some((is_warning, title)) = head {
            self.close();
            self.open = Some(Open {
                number: line.number,
                is_warning,
                in_box: self.in_box,
                title: title.to_owned(),
                place: None,
                detail: Block::default(),
                excerpt: Block::default(),
                lines: 0,
            });
        } else if let Some(open) = &mut self.open
            && !open.line(own)
        {
            self.close();
        }
        if self.open.is_some() || self.in_box { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        let warnings = std::mem::take(&mut self.warnings);
        (!findings.is_empty() || !warnings.is_empty()).then(|| Report {
            tool: "terraform",
            findings,
            warnings,
            ..Report::default()
        })
    }
}

impl Terraform {
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        // Without a box only the place makes it sure that this is the tool.
        if open.place.is_none() && !open.in_box {
            return;
        }
        let detail = open.detail.take();
        let detail = text::trim_lines(&detail);
        let message = format!("{}\n{detail}", open.title);
        let finding = Finding::new(FindingKind::Compile, message);
        let finding = finding.with_excerpt(open.excerpt.take());
        let finding = match open.place {
            Some((file, line)) => finding.at(file, line, None),
            None => finding,
        };
        let list = if open.is_warning { &mut self.warnings } else { &mut self.findings };
        list.push(open.number, finding);
    }
}

impl Open {
    /// Takes a line; false when it cannot belong here.
    fn line(&mut self, own: &str) -> bool {
        self.lines += 1;
        self.excerpt.push(own);
        if self.place.is_none() {
            self.place = on(own);
            if self.place.is_some() || own.is_empty() {
                return true;
            }
            if self.in_box {
                self.detail.push(own);
            }
            return self.in_box;
        }
        let is_source = own.starts_with("  ");
        if !is_source {
            self.detail.push(own);
        }
        self.in_box || self.lines < 12
    }
}

/// File and line of `  on main.tf line 3, in resource "x" "y":`.
fn on(own: &str) -> Option<(String, u32)> {
    let (file, rest) = own.strip_prefix("  on ")?.rsplit_once(" line ")?;
    let (line, _) = text::small(rest)?;
    Some((file.to_owned(), line))
}
