//! What tools are for: whether a call changes files (A3).
//!
//! Each client names its own tools; tools of MCP servers are known by what they are usually called.

use flyball_core::call::mutates;
use serde_json::Value;

/// What a tool is for, as far as that tells whether it changes files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// It changes files.
    Edits,
    /// It runs a line of the shell, or several, that this argument holds.
    Runs(&'static str),
    /// It has several uses: with one of these words in this argument it changes files.
    EditsWhen(&'static str, &'static [&'static str]),
}

/// A client's tools that may change files, by name.
pub type Tools = &'static [(&'static str, ToolKind)];

/// Names under which servers offer to change files, without blanks and in small letters.
const USUAL: [&str; 26] = [
    "applydiff",
    "applypatch",
    "appendfile",
    "copyfile",
    "createdirectory",
    "createfile",
    "deletefile",
    "edit",
    "editblock",
    "editfile",
    "fileedit",
    "filewrite",
    "insert",
    "insertcontent",
    "movefile",
    "multiedit",
    "notebookedit",
    "patch",
    "removefile",
    "renamefile",
    "replaceinfile",
    "searchreplace",
    "strreplace",
    "write",
    "writefile",
    "writetofile",
];

/// Whether a call changes files. Arguments are asked for only where they tell.
pub(crate) fn changes_files(tools: Tools, tool: &str, args: impl FnOnce() -> Value) -> bool {
    match tools.iter().find(|(name, _)| *name == tool) {
        Some((_, ToolKind::Edits)) => true,
        Some((_, ToolKind::Runs(argument))) => args()
            .get(argument)
            .is_some_and(|lines| lines_of(lines).iter().any(|line| mutates(line))),
        Some((_, ToolKind::EditsWhen(argument, words))) => {
            let args = args();
            let word = args.get(argument).and_then(Value::as_str).unwrap_or_default();
            words.contains(&word)
        }
        None => is_usual(tool),
    }
}

/// A tool of a server, by the last part of its name: `mcp__files__write_file`.
fn is_usual(tool: &str) -> bool {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    let own = own.rsplit(['.', '/', ':']).next().unwrap_or(own);
    let bare: String =
        own.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect();
    USUAL.contains(&bare.as_str())
}

/// The lines of a shell: a string, the words of one command, or several of either.
fn lines_of(value: &Value) -> Vec<String> {
    match value {
        Value::String(line) => vec![line.clone()],
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                // The line is the last word: `["bash", "-lc", "…"]`.
                [shell, flag, line] if is_shell(shell) && flag.starts_with('-') => {
                    vec![(*line).to_owned()]
                }
                _ => items.iter().flat_map(lines_of).collect(),
            }
        }
        Value::Object(members) => members.get("command").map(lines_of).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn is_shell(program: &str) -> bool {
    ["bash", "sh", "zsh"].contains(&program.rsplit('/').next().unwrap_or(program))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TOOLS: Tools = &[
        ("Edit", ToolKind::Edits),
        ("Bash", ToolKind::Runs("command")),
        ("file", ToolKind::EditsWhen("do", &["write"])),
    ];

    #[test]
    fn a_call_changes_files_by_its_tool_or_by_what_it_is_told_to_do() {
        let cases = [
            ("Edit", json!({}), true),
            ("Read", json!({}), false),
            ("Bash", json!({ "command": "cat a" }), false),
            ("Bash", json!({ "command": "echo x > a" }), true),
            ("Bash", json!({ "command": ["bash", "-lc", "rm a"] }), true),
            ("Bash", json!({ "command": ["ls", "rm a"] }), true),
            ("Bash", json!({ "command": [{ "command": "touch a" }] }), true),
            ("Bash", json!({ "command": 7 }), false),
            ("Bash", json!("rm a"), false),
            ("file", json!({ "do": "write" }), true),
            ("file", json!({ "do": "read" }), false),
            ("mcp__files__write_file", json!({}), true),
            ("files.editFile", json!({}), true),
            ("mcp__files__read_file", json!({}), false),
            ("rewrite_history", json!({}), false),
        ];
        for (tool, args, changes) in cases {
            assert_eq!(changes_files(TOOLS, tool, || args.clone()), changes, "{tool} {args}");
        }
    }
}
