//! The session's own tools as a model is told of them: names, what they do, and the schemas their
//! arguments are checked against.

use flyball_models::Tool;
use serde_json::{Value, json};

/// Runs a line of the shell.
pub(crate) const RUN: &str = "run";
pub(super) const READ: &str = "read";
pub(super) const EDIT: &str = "edit";
pub(super) const WRITE: &str = "write";
pub(super) const LIST: &str = "list";
pub(super) const SEARCH: &str = "search";
/// Has a part of the work done by another conversation.
pub(crate) const TASK: &str = "task";

/// The longest a command may be asked to run.
const COMMAND_SECS_MAX: u64 = 1800;

/// The session's own tools.
pub(super) fn definitions() -> Vec<Tool> {
    let path =
        json!({ "type": "string", "minLength": 1, "description": "relative to the top folder" });
    vec![
        tool(
            RUN,
            "Runs a line of bash in the top folder and waits for it. Everything it starts is ended with it, \
             background processes too. Gives its output and, if not 0, its exit code.",
            &json!({
                "command": { "type": "string", "minLength": 1 },
                "timeout_secs": { "type": "integer", "minimum": 1, "maximum": COMMAND_SECS_MAX,
                    "description": "how long it may take" },
                "description": { "type": "string", "description": "what it is for, in a few words" },
            }),
            &["command"],
        ),
        tool(
            READ,
            "Reads a text file, with line numbers.",
            &json!({
                "path": path,
                "from": { "type": "integer", "minimum": 1, "description": "the first line" },
                "lines": { "type": "integer", "minimum": 1, "description": "how many; 2000 without it" },
            }),
            &["path"],
        ),
        tool(
            EDIT,
            "Replaces a text in a file by another. The old text must stand there exactly, and once, unless \
             `all` is true.",
            &json!({
                "path": path,
                "old": { "type": "string", "minLength": 1 },
                "new": { "type": "string" },
                "all": { "type": "boolean" },
            }),
            &["path", "old", "new"],
        ),
        tool(
            WRITE,
            "Writes a whole file, in place of what is there; folders are made.",
            &json!({ "path": path, "content": { "type": "string" } }),
            &["path", "content"],
        ),
        tool(
            LIST,
            "Lists a folder.",
            &json!({ "path": { "type": "string", "description": "the top folder without it" } }),
            &[],
        ),
        tool(
            SEARCH,
            "Searches the files of the project, those git ignores left out, for a regular expression.",
            &json!({
                "pattern": { "type": "string", "minLength": 1 },
                "path": { "type": "string", "description": "a file or folder to search in" },
                "ignore_case": { "type": "boolean" },
            }),
            &["pattern"],
        ),
        tool(
            TASK,
            "Has another agent do a part of the work, with the same tools and a conversation of its own. It \
             sees nothing of this one: say everything it needs. Gives its last words.",
            &json!({ "prompt": { "type": "string", "minLength": 1 } }),
            &["prompt"],
        ),
    ]
}

fn tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> Tool {
    let schema = json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false,
    });
    Tool { name: name.to_owned(), description: description.to_owned(), schema }
}
