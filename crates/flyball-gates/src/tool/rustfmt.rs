//! `rustfmt --check`: which files are not formatted.

use crate::{Finding, FindingKind};

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::text;

/// Reads `Diff in path:line:` with the difference below it, and the bare paths of `-l`.
#[derive(Clone)]
pub(super) struct Rustfmt {
    lists_paths: bool,
    open: Option<(u64, String, u32, Block)>,
    last_file: String,
    findings: Findings,
}

const WHY: &str = "not formatted the way rustfmt does";

impl Rustfmt {
    pub(super) fn new(command: &str) -> Self {
        let is_fmt = command.contains("cargo fmt") || command.contains("rustfmt");
        Self {
            lists_paths: is_fmt && command.split_whitespace().any(|word| word == "-l"),
            open: None,
            last_file: String::new(),
            findings: Findings::default(),
        }
    }

    fn close(&mut self) {
        if let Some((number, file, line, mut block)) = self.open.take() {
            let message = format!("Diff in {file}:{line}: {WHY}");
            let finding = Finding::new(FindingKind::Format, message)
                .at(file, line, None)
                .with_excerpt(block.take());
            self.findings.push(number, finding);
        }
    }
}

impl Recogniser for Rustfmt {
    fn name(&self) -> &'static str {
        "rustfmt"
    }

    fn cues(&self) -> Cues {
        let paths = b"/abcdefghijklmnopqrstuvwxyz.";
        let first: &[u8] = if self.lists_paths { paths } else { b"" };
        Cues { first, starts: &["Diff"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(rest) = line.text.strip_prefix("Diff in ") {
            self.close();
            if let Some((file, number)) = diff_place(rest)
                && file != self.last_file
            {
                file.clone_into(&mut self.last_file);
                self.open = Some((line.number, file.to_owned(), number, Block::default()));
            }
        } else if let Some((_, _, _, block)) = &mut self.open {
            if line.text.is_empty() || line.text.starts_with([' ', '+', '-']) {
                block.push(line.text);
            } else {
                self.close();
            }
        } else if self.lists_paths && is_rust_path(line.text) {
            let finding = Finding::new(FindingKind::Format, format!("{}: {WHY}", line.text));
            self.findings.push(line.number, finding.at(line.text, None, None));
        }
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        (!findings.is_empty()).then(|| Report { tool: "rustfmt", findings, ..Report::default() })
    }
}

/// `path:8:` or, before 2024, `path at line 8:`.
fn diff_place(rest: &str) -> Option<(&str, u32)> {
    if let Some((file, line)) = rest.split_once(" at line ") {
        return Some((file, text::small(line)?.0));
    }
    place::prefix(rest).map(|place| (place.file, place.line))
}

fn is_rust_path(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(_, end)| end == "rs") && !text.contains(' ')
}
