//! Linters that were asked to fail because of warnings: then these are what is wrong as much as errors are.

/// Whether a tool can be asked so.
pub(super) fn has_limit(tool: &str) -> bool {
    matches!(tool, "eslint" | "stylelint" | "oxlint" | "biome" | "yamllint")
}

/// Whether a command asks for it: one that was called, or one that was printed as it was started.
pub(super) fn is_asked(command: &str) -> bool {
    // A cheap question first: this looks at lines of the output, too.
    if !command.contains("warnings") && !command.contains("yamllint") {
        return false;
    }
    let words = || command.split_whitespace();
    let has = |word: &str| words().any(|own| own == word);
    let is_none = |(word, next): (&str, &str)| word == "--max-warnings" && next == "0";
    has("--max-warnings=0")
        || words().zip(words().skip(1)).any(is_none)
        || has("--deny-warnings")
        || has("--error-on-warnings")
        || (has("yamllint") && (has("-s") || has("--strict")))
}

#[cfg(test)]
mod tests {
    use super::is_asked;
    use crate::{Finding, Parser};

    #[test]
    fn a_command_says_whether_warnings_count() {
        for command in [
            "eslint . --max-warnings 0",
            "> eslint --max-warnings=0 src",
            "oxlint --deny-warnings",
            "biome ci --error-on-warnings",
            "yamllint -s .",
        ] {
            assert!(is_asked(command), "{command}");
        }
        for command in ["eslint --max-warnings 10 .", "2 warnings", "yamllint .", "eslint -s"] {
            assert!(!is_asked(command), "{command}");
        }
    }

    #[test]
    fn warnings_stand_beside_errors_only_where_they_count() {
        let output = "\n/repo/a.js\n  1:1  error    no  semi\n  2:1  warning  oh  no-console\n\n\u{2716} 2 problems (1 error, 1 warning)\n";
        let rules = |command: &str| -> Vec<String> {
            let mut parser = Parser::new(command);
            parser.feed(output.as_bytes());
            let name = |found: Finding| found.name.unwrap_or_default();
            parser.finish(Some(1)).findings.into_iter().map(name).collect()
        };
        assert_eq!(rules("eslint ."), ["semi"]);
        assert_eq!(rules("eslint . --max-warnings 0"), ["semi", "no-console"]);
    }
}
