//! A tool call as a person would say it: `Bash  cargo test --lib`, `Edit  src/cart.rs`.
//!
//! Ten clients name the same few tools in ten ways; those are called by one name here. A tool that
//! nobody knows keeps its own, with the argument that tells most.

use serde_json::{Map, Value};

use super::words;

/// Tools by what they do, their names in small letters without blanks, dashes and underscores.
const TOOLS: &[(&str, &[&str])] = &[
    (
        "Bash",
        &[
            "bash",
            "shell",
            "runshellcommand",
            "runcommands",
            "runcommand",
            "execcommand",
            "exec",
            "executecommand",
            "localshell",
            "localshellcall",
            "commandexecution",
            "terminal",
            "runinterminal",
            "runterminalcommand",
            "sh",
            "developershell",
            "developerbash",
            "run",
        ],
    ),
    (
        "Read",
        &[
            "read",
            "readfile",
            "readfiles",
            "view",
            "viewfile",
            "cat",
            "openfile",
            "readmanyfiles",
            "readimage",
            "viewimage",
            "readtextfile",
        ],
    ),
    (
        "Write",
        &["write", "writefile", "createfile", "create", "writetofile", "savefile", "newfile"],
    ),
    (
        "Edit",
        &[
            "edit",
            "editfile",
            "multiedit",
            "strreplace",
            "strreplaceeditor",
            "replace",
            "replaceinfile",
            "searchreplace",
            "applypatch",
            "applydiff",
            "patch",
            "filechange",
            "texteditor",
            "editblock",
            "insert",
            "editor",
            "notebookedit",
            "strreplacebasededittool",
        ],
    ),
    (
        "Grep",
        &[
            "grep",
            "grepsearch",
            "search",
            "searchfiles",
            "searchfilecontent",
            "rg",
            "ripgrep",
            "searchcodebase",
        ],
    ),
    ("Glob", &["glob", "find", "findfiles", "filesearch"]),
    ("List", &["list", "ls", "listdirectory", "listfiles", "listdir", "tree"]),
    ("Fetch", &["fetch", "webfetch", "fetchurl", "fetchwebcontent", "openurl"]),
    ("Web search", &["websearch", "googlewebsearch", "searchweb"]),
    ("Todo", &["todo", "todowrite", "todoread", "writetodos", "updateplan", "todolist"]),
    ("Task", &["task", "agent", "subagent", "delegate"]),
];

/// Arguments that say what a call is about, the first that is there.
const TELLING: &[&str] = &[
    "command",
    "cmd",
    "commands",
    "script",
    "file_path",
    "filePath",
    "filepath",
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "absolute_path",
    "notebook_path",
    "target_file",
    "dir_path",
    "directory",
    "changes",
    "pattern",
    "query",
    "regex",
    "url",
    "uri",
    "source",
    "description",
    "prompt",
    "task",
    "name",
    "id",
    "text",
    "message",
];

/// What a search looks for.
const WANTED: &[&str] = &["pattern", "query", "regex", "glob"];

/// Two blanks between the tool and what it is used on: they are two things.
const GAP: &str = "  ";
/// How many of a call's several subjects are named.
const SUBJECTS: usize = 3;
/// The longest that is kept of a call.
const CALL_MAX: usize = 400;

/// The call in words, paths as seen from the repository.
pub(crate) fn call_words(tool: &str, arguments: &str, root: &str) -> String {
    let name = tool_words(tool);
    let about = about(&name, arguments, root);
    let said = if about.is_empty() { name } else { format!("{name}{GAP}{about}") };
    // `words::line` would take the two blanks for one.
    flyball_core::text::prefix(&said, CALL_MAX).to_owned()
}

/// The tool's name as people call it.
fn tool_words(tool: &str) -> String {
    let bare: String =
        tool.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let known = TOOLS.iter().find(|(_, names)| names.contains(&bare.as_str()));
    if let Some((name, _)) = known {
        return (*name).to_owned();
    }
    // `mcp__server__tool`, `server__tool`: the server, then its tool.
    let parts: Vec<&str> = tool.split("__").filter(|part| !part.is_empty()).collect();
    let parts = if parts.first() == Some(&"mcp") { parts.get(1..).unwrap_or(&[]) } else { &parts };
    words::line(&parts.join(" "), 60)
}

/// What the call is about.
fn about(name: &str, arguments: &str, root: &str) -> String {
    let arguments = arguments.trim();
    let Some(value) = read(arguments) else {
        // A text that is no JSON is the argument itself: a patch, a line of a shell.
        return line(arguments, root);
    };
    let Value::Object(members) = value else { return line(&subject(&value), root) };
    if ["Grep", "Glob", "Web search"].contains(&name)
        && let Some(wanted) = WANTED.iter().find_map(|name| told(&members, name))
    {
        let place = told(&members, "path").map(|path| format!(" in {path}")).unwrap_or_default();
        return line(&format!("{wanted}{place}"), root);
    }
    if let Some(value) = TELLING.iter().find_map(|name| told(&members, name)) {
        return line(&value, root);
    }
    if let Some(patch) =
        members.get("input").or_else(|| members.get("patch")).and_then(Value::as_str)
    {
        return line(patched(patch).unwrap_or(patch), root);
    }
    // Nothing that is known: all of it.
    let pairs = members.iter().map(|(name, value)| format!("{name}={}", subject(value)));
    line(&pairs.collect::<Vec<_>>().join(" "), root)
}

/// An argument that says something, in words.
fn told(members: &Map<String, Value>, name: &str) -> Option<String> {
    let text = subject(members.get(name)?);
    (!text.trim().is_empty()).then_some(text)
}

/// A value in words: a list by its first members, an object by the argument that tells most.
fn subject(value: &Value) -> String {
    match value {
        Value::String(text) => patched(text).unwrap_or(text).to_owned(),
        Value::Array(items) => list(items),
        Value::Object(members) => TELLING
            .iter()
            .find_map(|name| told(members, name))
            .or_else(|| members.values().find_map(Value::as_str).map(str::to_owned))
            .unwrap_or_default(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn list(items: &[Value]) -> String {
    let words: Vec<String> = items.iter().map(subject).collect();
    match words.as_slice() {
        // The line is the last word: `["bash", "-lc", "cargo test"]`.
        [shell, flag, line] if is_shell(shell) && flag.starts_with('-') => line.clone(),
        // A program and its words, or several paths.
        _ if items.iter().all(Value::is_string)
            && words.first().is_some_and(|w| !w.contains([' ', '/'])) =>
        {
            words.join(" ")
        }
        _ if words.len() > SUBJECTS => {
            let more = words.len() - SUBJECTS;
            format!("{} and {more} more", words.get(..SUBJECTS).unwrap_or(&[]).join(", "))
        }
        _ => words.join(", "),
    }
}

fn is_shell(program: &str) -> bool {
    ["bash", "sh", "zsh"].contains(&program.rsplit('/').next().unwrap_or(program))
}

/// The first file a patch in the usual form names.
fn patched(text: &str) -> Option<&str> {
    let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    if !text.trim_start().starts_with("*** Begin Patch") {
        return None;
    }
    text.lines().find_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)))
}

/// On one line, without the way to the repository.
fn line(text: &str, root: &str) -> String {
    let text = words::line(text, CALL_MAX);
    if root.len() < 2 {
        return text;
    }
    let inside = format!("{}/", root.trim_end_matches('/'));
    if text == root { ".".to_owned() } else { text.replace(&inside, "") }
}

/// Arguments that may have been cut: what is there of an object is read as if it ended there.
fn read(text: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    if !text.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(&completed(text)).ok()
}

/// A cut text of JSON with what is open closed.
fn completed(text: &str) -> String {
    let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
    // Where the text was whole up to a member's end.
    let mut safe = None;
    for (at, character) in text.char_indices() {
        if in_string {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match character {
            '"' => in_string = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                open.pop();
            }
            ',' => safe = Some((at, open.clone())),
            _ => {}
        }
    }
    let close = |open: &[char]| open.iter().rev().collect::<String>();
    if in_string {
        // Half an escape says nothing.
        let kept = text
            .rfind('\\')
            .filter(|at| text.len() - at < 7)
            .map_or(text, |at| text.get(..at).unwrap_or(""));
        let ended = format!("{kept}\"{}", close(&open));
        if serde_json::from_str::<Value>(&ended).is_ok() {
            return ended;
        }
    }
    // A name without its value, or half a number: the members before it.
    match safe {
        Some((at, open)) => format!("{}{}", text.get(..at).unwrap_or(""), close(&open)),
        None => format!("{text}{}", close(&open)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_said_as_a_person_would() {
        let cases = [
            (
                "Bash",
                r#"{"command":"cargo test --lib","description":"run"}"#,
                "Bash  cargo test --lib",
            ),
            ("bash", r#"{"command":["bash","-lc","cargo test"]}"#, "Bash  cargo test"),
            ("exec_command", r#"{"cmd":"ls\n-la"}"#, "Bash  ls -la"),
            ("shell", r#"{"command":["git","status"]}"#, "Bash  git status"),
            ("run_commands", r#"{"commands":["sleep 1; ls","pwd"]}"#, "Bash  sleep 1; ls, pwd"),
            ("run_shell_command", r#"{"command":"exit 3","is_background":false}"#, "Bash  exit 3"),
            ("Edit", r#"{"file_path":"/shop/src/cart.rs","old_string":"a"}"#, "Edit  src/cart.rs"),
            ("read", r#"{"filePath":"/shop"}"#, "Read  ."),
            ("write_file", r#"{"content":"x","file_path":"/other/a"}"#, "Write  /other/a"),
            (
                "apply_patch",
                r#"{"changes":[{"path":"/shop/new.txt","kind":"add"}]}"#,
                "Edit  new.txt",
            ),
            (
                "apply_patch",
                r#"{"input":"*** Begin Patch\n*** Update File: a.rs\n@@"}"#,
                "Edit  a.rs",
            ),
            ("grep", r#"{"pattern":"fn main","path":"src"}"#, "Grep  fn main in src"),
            ("mcp__flyball__gate_status", r#"{"gate":"tests"}"#, "flyball gate_status  gate=tests"),
            ("no_such_tool", r#"{"x":1}"#, "no_such_tool  x=1"),
            ("no_such", "{}", "no_such"),
            ("NoSuchTool", "not json", "NoSuchTool  not json"),
            ("Bash", r#"{"command":"cargo te"#, "Bash  cargo te"),
            ("Edit", r#"{"file_path":"a.rs","old_string":"fn \"x"#, "Edit  a.rs"),
            ("Edit", r#"{"file_path":"a.rs","old_s"#, "Edit  a.rs"),
            ("Bash", r#"{"command":"echo \u00"#, "Bash  echo"),
            ("Bash", "", "Bash"),
        ];
        for (tool, arguments, said) in cases {
            assert_eq!(call_words(tool, arguments, "/shop"), said, "{tool} {arguments}");
        }
    }

    #[test]
    fn nothing_in_a_call_drives_the_terminal() {
        let said = call_words("e\u{1b}[2Jvil\u{9b}2J", "{\"a\":\"\\u001b]0;X\\u0007\"}", "");
        assert!(!said.chars().any(char::is_control), "{said:?}");
    }
}
