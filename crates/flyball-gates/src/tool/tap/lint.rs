//! Linters that print TAP: a test per file, and below it all that is wrong there.

use crate::{Finding, FindingKind, place, text};

/// The problems below one file.
#[derive(Clone, Default)]
pub(super) struct Problems {
    open: Option<Open>,
    /// The text of the open problem goes on in the next line.
    is_folded: bool,
    found: Vec<Finding>,
}

#[derive(Clone, Default)]
struct Open {
    message: String,
    is_warning: bool,
    line: Option<u32>,
    column: Option<u32>,
    rule: Option<String>,
}

/// More than this are not told of one file.
const PROBLEMS_MAX: usize = 200;

impl Problems {
    /// Takes a line below a test with this name.
    pub(super) fn line(&mut self, file: &str, line: &str) {
        if self.found.len() >= PROBLEMS_MAX || !is_file(file) {
            return;
        }
        let own = line.trim();
        if std::mem::take(&mut self.is_folded)
            && let Some(open) = &mut self.open
        {
            own.clone_into(&mut open.message);
            return;
        }
        if let Some(comment) = own.strip_prefix("# ") {
            self.comment(comment);
            return;
        }
        let Some((key, value)) = own.strip_prefix("- ").unwrap_or(own).split_once(':') else {
            return;
        };
        let value = value.trim();
        if key == "message" {
            self.close(file);
            self.is_folded = value.starts_with(['>', '|']);
            self.open = Some(Open { message: unquoted(value), ..Open::default() });
            return;
        }
        let Some(open) = &mut self.open else { return };
        match key {
            "severity" => open.is_warning = value == "warning",
            "line" => open.line = value.parse().ok(),
            "column" => open.column = value.parse().ok(),
            "ruleId" | "rule" => open.rule = Some(unquoted(value)).filter(|rule| !rule.is_empty()),
            _ => {}
        }
    }

    /// `a.rb:1:1: C: text` in a comment.
    fn comment(&mut self, comment: &str) {
        let Some(place) = place::prefix(comment).filter(|place| place.rest.contains(' ')) else {
            return;
        };
        // rubocop's letters for how grave it is.
        let message = match place.rest.split_once(": ") {
            Some((level, message)) if level.len() == 1 => message,
            _ => place.rest,
        };
        let message = message.strip_prefix("[Correctable] ").unwrap_or(message);
        let finding = Finding::new(FindingKind::Lint, message);
        self.found.push(finding.at(place.file, place.line, place.column));
    }

    fn close(&mut self, file: &str) {
        let Some(open) = self.open.take().filter(|open| open.line.is_some()) else { return };
        if open.is_warning || self.found.len() >= PROBLEMS_MAX {
            return;
        }
        let mut finding = Finding::new(FindingKind::Lint, open.message);
        finding.name = open.rule;
        self.found.push(finding.at(file, open.line, open.column));
    }

    /// All that was told of the file.
    pub(super) fn take(&mut self, file: &str) -> Vec<Finding> {
        self.close(file);
        std::mem::take(self).found
    }
}

/// Whether a test is named after a file.
fn is_file(name: &str) -> bool {
    let end = name.rsplit('/').next().and_then(|last| last.rsplit_once('.'));
    !name.contains(' ')
        && end.is_some_and(|(stem, end)| {
            !stem.is_empty()
                && (1..=6).contains(&end.len())
                && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// A text of YAML without its quotes.
fn unquoted(value: &str) -> String {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let text = match (inner('\''), inner('"')) {
        (Some(inner), _) => inner.replace("''", "'"),
        (None, Some(inner)) => inner.replace("\\\"", "\""),
        (None, None) => value.to_owned(),
    };
    text::clip(&text, 2_000).to_owned()
}

#[cfg(test)]
mod tests {
    use super::Problems;

    fn told(lines: &[&str]) -> Vec<String> {
        let mut problems = Problems::default();
        for line in lines {
            problems.line("src/a.js", line);
        }
        let tell = |f: crate::Finding| {
            let name = f.name.as_deref().unwrap_or("-");
            format!("{name} {} {}", f.place().unwrap_or_default(), f.message)
        };
        problems.take("src/a.js").into_iter().map(tell).collect()
    }

    #[test]
    fn every_problem_of_a_file_is_told() {
        let yaml = [
            "  ---",
            "  message: 'it''s bad'",
            "  severity: error",
            "  data:",
            "    line: 2",
            "    column: 3",
            "    ruleId: r",
            "  messages:",
            "    - message: two",
            "      severity: error",
            "      data:",
            "        line: 4",
            "        column: 1",
            "        ruleId: ''",
            "    - message: only a warning",
            "      severity: warning",
            "      data:",
            "        line: 5",
        ];
        assert_eq!(told(&yaml), ["r src/a.js:2:3 it's bad", "- src/a.js:4:1 two"]);
        assert_eq!(
            told(&["# a.rb:1:2: C: [Correctable] no way", "# class A"]),
            ["- a.rb:1:2 no way"]
        );
        assert!(told(&["  ---", "  message: a test says so", "  ..."]).is_empty());
    }
}
