//! `prettier --check` and `prettier -l`.

use crate::{Finding, FindingKind};

use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Report};
use crate::text;

/// Reads `[warn] path` and `[error] path: SyntaxError: … (1:7)`.
#[derive(Clone)]
pub(super) struct Prettier {
    said: Said,
    lists_paths: bool,
    findings: Findings,
}

/// What was heard of prettier so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Nothing,
    Checking,
    AllWell,
}

impl Prettier {
    pub(super) fn new(command: &str) -> Self {
        let lists = ["-l", "--list-different"];
        let is_prettier = command.contains("prettier");
        Self {
            said: if is_prettier { Said::Checking } else { Said::Nothing },
            lists_paths: is_prettier && command.split(' ').any(|word| lists.contains(&word)),
            findings: Findings::default(),
        }
    }

    fn unformatted(&mut self, file: &str, number: u64) {
        let finding = Finding::new(FindingKind::Format, "not formatted the way prettier does");
        self.findings.push(number, finding.at(file, None, None));
    }
}

impl Recogniser for Prettier {
    fn name(&self) -> &'static str {
        "prettier"
    }

    fn cues(&self) -> Cues {
        let paths = b"./abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let first: &[u8] = if self.lists_paths { paths } else { b"" };
        Cues { first, starts: &["[war", "[err", "Chec", "All "], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if text == "Checking formatting..." {
            self.said = Said::Checking;
        } else if text == "All matched files use Prettier code style!" {
            self.said = Said::AllWell;
        } else if self.said == Said::Nothing {
            return Attention::Idle;
        } else if let Some(file) = text.strip_prefix("[warn] ") {
            if is_path(file) {
                self.unformatted(file, line.number);
            }
        } else if let Some(rest) = text.strip_prefix("[error] ") {
            if let Some((file, message)) = rest.split_once(": ")
                && is_path(file)
            {
                self.findings.push(line.number, syntax(file, message));
            }
        } else if self.lists_paths && is_path(text) {
            self.unformatted(text, line.number);
        }
        Attention::Idle
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        (self.said == Said::AllWell || !findings.is_empty()).then(|| Report {
            tool: "prettier",
            findings,
            ..Report::default()
        })
    }
}

fn is_path(text: &str) -> bool {
    !text.starts_with(' ')
        && text.rsplit('/').next().is_some_and(|name| name.contains('.'))
        && !text.ends_with('.')
        && text.matches(' ').count() <= 2
}

fn syntax(file: &str, message: &str) -> Finding {
    let at = message.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    if let Some((_, at)) = at
        && let Some((line, rest)) = text::small(at)
        && let Some((column, _)) = rest.strip_prefix(':').and_then(text::small)
    {
        return Finding::new(FindingKind::Compile, message).at(file, line, column);
    }
    Finding::new(FindingKind::Compile, message).at(file, None, None)
}
