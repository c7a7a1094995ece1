//! Calls in the words of the model: `<read_file><path>a.rs</path></read_file>`, and what is said to them.

use flyball_core::call::ToolOutcome;
use serde_json::{Map, Value};

/// The tools that are called so.
const TOOLS: [&str; 18] = [
    "access_mcp_resource",
    "apply_diff",
    "attempt_completion",
    "browser_action",
    "codebase_search",
    "execute_command",
    "insert_content",
    "list_code_definition_names",
    "list_files",
    "new_task",
    "read_file",
    "replace_in_file",
    "search_and_replace",
    "search_files",
    "switch_mode",
    "use_mcp_tool",
    "web_fetch",
    "write_to_file",
];

/// A call in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tagged<'a> {
    pub(super) tool: &'static str,
    inside: &'a str,
}

impl<'a> Tagged<'a> {
    /// The first call in some words.
    pub(super) fn first_in(words: &'a str) -> Option<Self> {
        let found = TOOLS.iter().filter_map(|tool| {
            let (before, behind) = words.split_once(&*format!("<{tool}>"))?;
            let (inside, _) = behind.split_once(&*format!("</{tool}>"))?;
            Some((before.len(), Self { tool, inside }))
        });
        found.min_by_key(|(at, _)| *at).map(|(_, call)| call)
    }

    /// Its arguments as JSON.
    pub(super) fn arguments(&self) -> String {
        let mut members = Map::new();
        let mut rest = self.inside;
        while let Some((_, begun)) = rest.split_once('<') {
            let Some((name, behind)) = begun.split_once('>') else { break };
            let Some((value, behind)) = behind.split_once(&*format!("</{name}>")) else { break };
            members.insert(name.to_owned(), Value::String(value.trim().to_owned()));
            rest = behind;
        }
        Value::Object(members).to_string()
    }
}

/// What was answered to a call of this tool: `[read_file for 'a.rs'] Result:` and the text behind it.
pub(super) fn answer_to(tool: &str, words: &str, rest: &str) -> Option<(ToolOutcome, String)> {
    let head = words.strip_prefix('[')?;
    let (_, behind) = head.strip_prefix(tool)?.split_once("] Result:")?;
    let text = [behind, rest].concat().trim().to_owned();
    let outcome = if text.starts_with("The user denied this operation") {
        ToolOutcome::Refused
    } else if text.starts_with("The tool execution failed with the following error:")
        || text.starts_with("<error>")
    {
        ToolOutcome::Tool
    } else {
        ToolOutcome::Ok
    };
    Some((outcome, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_in_words_is_found_with_its_arguments_and_its_answer() {
        let words = "I look.\n<read_file>\n<path>a.rs</path>\n<n>1</n>\n</read_file>";
        let call = Tagged::first_in(words).unwrap();
        assert_eq!(call.tool, "read_file");
        assert_eq!(call.arguments(), r#"{"path":"a.rs","n":"1"}"#);
        assert_eq!(Tagged::first_in("<read_file> without an end"), None);
        let answer = answer_to("read_file", "[read_file for 'a.rs'] Result:", "fn main() {}");
        assert_eq!(answer, Some((ToolOutcome::Ok, "fn main() {}".to_owned())));
        let denied = "[write_to_file for 'a'] Result:\n\nThe user denied this operation.";
        let answer = answer_to("write_to_file", denied, "");
        assert!(matches!(answer, Some((ToolOutcome::Refused, _))), "{answer:?}");
        assert_eq!(answer_to("read_file", "go on", ""), None);
    }
}
