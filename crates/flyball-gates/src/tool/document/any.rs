//! Any other JSON of problems, known by its shape: things with a text, a line and a file, which may
//! stand with them or with what they are in. mypy, bandit, rubocop, htmlhint, markdownlint,
//! sqlfluff, rdjson, `go vet`, staticcheck and many more.

use serde_json::{Map, Value};

use crate::report::Report;
use crate::{Finding, FindingKind, place};

const MESSAGES: &[&str] = &[
    "message",
    "msg",
    "description",
    "ruleDescription",
    "issue_text",
    "text",
    "Text",
    "reason",
    "details",
];
const FILES: &[&str] =
    &["file", "path", "filename", "fileName", "filePath", "filepath", "file_path", "source", "uri"];
const LINES: &[&str] = &[
    "line",
    "Line",
    "lineNumber",
    "line_number",
    "line_no",
    "start_line_no",
    "row",
    "startLine",
    "start_line",
];
const COLUMNS: &[&str] = &[
    "column",
    "Column",
    "col",
    "col_offset",
    "columnNumber",
    "start_line_pos",
    "startColumn",
    "start_column",
];
const RULES: &[&str] = &[
    "ruleId",
    "rule_id",
    "rule",
    "code",
    "cop_name",
    "check_name",
    "test_id",
    "symbol",
    "ruleNames",
    "ruleName",
    "messageId",
];
const LEVELS: &[&str] = &["severity", "level", "type", "issue_severity", "annotation_level"];
/// What holds the place of a problem.
const HOLDERS: &[&str] =
    &["location", "range", "start", "begin", "loc", "pos", "Pos", "position", "span", "lines"];
const DEPTH_MAX: usize = 24;

/// Whether these words can hold a problem at all; asked of every object a program logs.
pub(super) fn may_be(has: impl Fn(&str) -> bool) -> bool {
    (has("\"message\"")
        || has("\"description\"")
        || has("_text\"")
        || has("\"text\"")
        || has("Description\""))
        && (has("ine\"") || has("line_n") || has("_line\"") || has("Number\"") || has("\"posn\""))
        && (has("ile\"")
            || has("ath\"")
            || has("name\"")
            || has("Name\"")
            || has("\"source\"")
            || has("\"posn\""))
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let value: Value = serde_json::from_str(document).ok()?;
    let mut report = Report { tool: "json", ..Report::default() };
    walk(&value, None, number, &mut report, 0);
    // Some linters are red whatever the level: rubocop, pylint.
    if has_levels_of_its_own(document) {
        report.findings.append(std::mem::take(&mut report.warnings));
    }
    (!report.findings.is_empty() || !report.warnings.is_empty()).then_some(report)
}

/// Whether what warns makes these linters red as well.
fn has_levels_of_its_own(document: &str) -> bool {
    ["\"convention\"", "\"cop_name\"", "\"issue_severity\""]
        .iter()
        .any(|mark| memchr::memmem::find(document.as_bytes(), mark.as_bytes()).is_some())
}

fn walk(value: &Value, file: Option<&str>, number: u64, report: &mut Report, depth: usize) {
    if depth > DEPTH_MAX {
        return;
    }
    match value {
        Value::Array(items) => {
            for item in items {
                walk(item, file, number, report, depth + 1);
            }
        }
        Value::Object(object) => {
            if let Some((finding, is_warning)) = problem(object, file) {
                let list = if is_warning { &mut report.warnings } else { &mut report.findings };
                list.push(number, finding);
                return;
            }
            let file = text(object, FILES).or(file);
            for (key, inner) in object {
                // What was switched off in the sources is no problem.
                if inner.is_object() || inner.is_array() && !key.starts_with("suppressed") {
                    walk(inner, file, number, report, depth + 1);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The problem an object is, and whether it only warns.
fn problem(object: &Map<String, Value>, above: Option<&str>) -> Option<(Finding, bool)> {
    let message = text(object, MESSAGES)
        .or_else(|| text(object.get("message")?.as_object()?, &["text", "markdown"]))?;
    let (file, line, column) = match text(object, &["posn", "position"]).and_then(place::prefix) {
        Some(place) => (place.file, place.line, place.column),
        None => (
            text(object, FILES).or_else(|| held(object, 0, &|o| text(o, FILES))).or(above)?,
            held(object, 0, &|o| count(o, LINES))?,
            held(object, 0, &|o| count(o, COLUMNS)),
        ),
    };
    let level = text(object, LEVELS).unwrap_or_default().to_ascii_lowercase();
    // eslint's levels are numbers.
    let is_slight = object.contains_key("ruleId") && count(object, &["severity"]) == Some(1);
    let is_note = matches!(level.as_str(), "note" | "help" | "none");
    if is_note || file.contains('\n') || file.is_empty() {
        return None;
    }
    let message = match text(object, &["errorDetail", "detail"]) {
        Some(detail) => format!("{} [{detail}]", message.trim()),
        None => message.trim().to_owned(),
    };
    let mut finding = Finding::new(FindingKind::Lint, message);
    finding.name = RULES.iter().find_map(|key| rule(object.get(*key)?));
    let is_warning = is_slight || matches!(level.as_str(), "warning" | "warn");
    let file = file.strip_prefix("file://").unwrap_or(file);
    Some((finding.at(file, (line > 0).then_some(line), column), is_warning))
}

/// What is asked for, of an object or of what in it holds a place.
fn held<'a, T>(
    object: &'a Map<String, Value>,
    depth: usize,
    ask: &dyn Fn(&'a Map<String, Value>) -> Option<T>,
) -> Option<T> {
    let inner =
        || HOLDERS.iter().find_map(|key| held(object.get(*key)?.as_object()?, depth + 1, ask));
    ask(object).or_else(|| if depth < 4 { inner() } else { None })
}

fn text<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| object.get(*key)?.as_str().filter(|text| !text.is_empty()))
}

fn count(object: &Map<String, Value>, keys: &[&str]) -> Option<u32> {
    keys.iter().find_map(|key| u32::try_from(object.get(*key)?.as_u64()?).ok())
}

/// `no-undef`, `{"id": "no-undef"}`, `{"value": "F401"}`, `["MD041", …]`.
fn rule(value: &Value) -> Option<String> {
    match value {
        Value::String(rule) if !rule.is_empty() => Some(rule.clone()),
        Value::Object(object) => text(object, &["id", "value", "name"]).map(str::to_owned),
        Value::Array(items) => items.first().and_then(rule),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::report;

    fn told(document: &str) -> Vec<String> {
        let Some(report) = report(document, 1) else { return Vec::new() };
        let tell = |f: &crate::Finding| {
            let name = f.name.as_deref().unwrap_or("-");
            format!("{name} {} {}", f.place().unwrap_or_default(), f.message)
        };
        report.findings.kept().chain(report.warnings.kept()).map(tell).collect()
    }

    #[test]
    fn problems_are_known_by_their_shape() {
        let table = [
            r#"{"file": "a.py", "line": 8, "column": 2, "message": "no", "code": "r", "severity": "error"}"#,
            r#"[{"file":"a.py","messages":[{"type":"error","message":"no","line":8,"col":2,"rule":{"id":"r"}}]}]"#,
            r#"{"diagnostics":[{"code":{"value":"r"},"location":{"path":"a.py","range":{"start":{"column":2,"line":8}}},"message":"no"}]}"#,
            r#"{"x.com/p": {"r": [{"posn": "a.py:8:2", "message": "no", "code": "r"}]}}"#,
            r#"{"files":[{"path":"a.py","offenses":[{"message":"no","cop_name":"r","location":{"line":8,"column":2}}]}]}"#,
            r#"[{"fileName":"a.py","lineNumber":8,"col":2,"ruleNames":["r","x"],"ruleDescription":"no"}]"#,
        ];
        for document in table {
            assert_eq!(told(document), ["r a.py:8:2 no"], "{document}");
        }
    }

    #[test]
    fn what_has_no_file_no_line_or_no_text_is_no_problem() {
        for document in [
            r#"{"message": "started", "line": 3}"#,
            r#"{"message": "x", "file": "a.py"}"#,
            r#"{"file": "a.py", "line": 3}"#,
            r#"{"file": "a.py", "line": 3, "message": "x", "level": "note"}"#,
            "[1, 2]",
        ] {
            assert!(told(document).is_empty(), "{document}");
        }
    }
}
