//! `[[gates.check]]`: the gates a user has written down.

use std::ops::Range;
use std::path::Path;

use flyball_core::Millis;
use serde_json::json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::command_line::CommandLine;
use super::schema::Kind;
use super::value::{Value, Wrong, stays_inside, string, strings};
use super::{duration, suggest};

/// One gate: a command flyball runs to see for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateCheck {
    /// Its name, unique.
    pub name: String,
    /// What is run.
    pub command: CommandLine,
    /// The folder it runs in, inside the repository; empty for its root.
    pub cwd: String,
    /// Variables that are set for it.
    pub env: Vec<(String, String)>,
    /// The files it is about: between iterations it runs only when one of them was touched.
    pub paths: Vec<String>,
    /// How often it is tried again when it is red.
    pub retry: u32,
    /// How long it may take.
    pub timeout: Millis,
    /// Gates that must be green first.
    pub needs: Vec<String>,
    /// Whether it takes part.
    pub enabled: bool,
}

const FIELDS: [(&str, Kind); 9] = [
    ("name", Kind::Name),
    ("command", Kind::Command),
    ("timeout", Kind::Duration),
    ("needs", Kind::Words),
    ("enabled", Kind::Flag),
    ("cwd", Kind::InnerPath),
    ("paths", Kind::Words),
    ("retry", Kind::Count),
    // A table of strings, which is read here.
    ("env", Kind::Text),
];

/// More tries than these only hide what is wrong.
const RETRY_MAX: u32 = 10;

/// The time limit of a gate that names none: 120 s for lints, 300 s for everything else.
pub fn default_timeout(name: &str) -> Millis {
    Millis::from_secs(if name.starts_with("lint") { 120 } else { 300 })
}

impl GateCheck {
    /// As JSON, with the words of the file.
    pub fn to_json(&self) -> serde_json::Value {
        json!({
            "name": self.name,
            "command": self.command.to_json(),
            "timeout": duration::format(self.timeout),
            "needs": self.needs,
            "enabled": self.enabled,
            "cwd": self.cwd,
            "env": self.env.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            "paths": self.paths,
            "retry": self.retry,
        })
    }

    /// A check with nothing but what every check has.
    pub fn new(name: impl Into<String>, command: CommandLine, timeout: Millis) -> Self {
        Self {
            name: name.into(),
            command,
            cwd: String::new(),
            env: Vec::new(),
            paths: Vec::new(),
            retry: 0,
            timeout,
            needs: Vec::new(),
            enabled: true,
        }
    }

    /// The fields as lines of a `[[gates.check]]` table.
    pub fn to_toml_lines(&self) -> Vec<String> {
        let command = Value::Command(self.command.clone()).to_toml();
        let mut lines = vec![
            format!("name = {}", string(&self.name)),
            format!("command = {command}"),
            format!("timeout = {}", string(&duration::format(self.timeout))),
        ];
        if !self.needs.is_empty() {
            lines.push(format!("needs = {}", strings(&self.needs)));
        }
        if !self.enabled {
            lines.push("enabled = false".to_owned());
        }
        if !self.cwd.is_empty() {
            lines.push(format!("cwd = {}", string(&self.cwd)));
        }
        if !self.env.is_empty() {
            let set =
                |(name, value): &(String, String)| format!("{} = {}", string(name), string(value));
            let all: Vec<String> = self.env.iter().map(set).collect();
            lines.push(format!("env = {{ {} }}", all.join(", ")));
        }
        if !self.paths.is_empty() {
            lines.push(format!("paths = {}", strings(&self.paths)));
        }
        if self.retry > 0 {
            lines.push(format!("retry = {}", self.retry));
        }
        lines
    }

    pub(crate) fn to_toml_inline(&self) -> String {
        format!("{{ {} }}", self.to_toml_lines().join(", "))
    }
}

/// Reads the array of gates and checks that they fit together.
pub(crate) fn read(key: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<GateCheck>, Wrong> {
    let items = value.get_ref().as_array().into_iter().flat_map(|items| items.iter());
    let mut checks: Vec<(GateCheck, Range<usize>)> = Vec::new();
    for item in items {
        let Some(table) = item.get_ref().as_table() else {
            let message = format!("`{key}` must be {}", Kind::Checks.expected());
            return Err(Wrong::new(item.span(), message));
        };
        let check = read_one(key, item.span(), table)?;
        if checks.iter().any(|(other, _)| other.name == check.name) {
            let message = format!("two gates are called `{}`", check.name);
            return Err(Wrong::new(place(table, "name", item.span()), message));
        }
        checks.push((check, place(table, "needs", item.span())));
    }
    fit_together(&checks)?;
    Ok(checks.into_iter().map(|(check, _)| check).collect())
}

fn read_one(key: &str, span: Range<usize>, table: &DeTable<'_>) -> Result<GateCheck, Wrong> {
    let mut name = None;
    let mut command = None;
    let mut timeout = None;
    let mut rest = GateCheck::new("", CommandLine::Shell(String::new()), Millis::ZERO);
    for (field, value) in table {
        let Some((field_name, kind)) = FIELDS.iter().find(|(name, _)| *name == field.get_ref())
        else {
            return Err(unknown_field(key, field.get_ref(), field.span()));
        };
        if *field_name == "env" {
            rest.env = variables(key, value)?;
            continue;
        }
        // The root, said in so many words.
        if *field_name == "cwd" && matches!(value.get_ref().as_str(), Some("" | "." | "./")) {
            continue;
        }
        match (*field_name, Value::from_toml(*kind, &format!("{key}.{field_name}"), value)?) {
            ("name", Value::Text(text)) => name = Some(text),
            ("command", Value::Command(line)) if !line.is_empty() => command = Some(line),
            ("timeout", Value::Duration(span)) if !span.is_zero() => timeout = Some(span),
            ("needs", Value::Words(words)) => rest.needs = words,
            ("enabled", Value::Flag(flag)) => rest.enabled = flag,
            ("cwd", Value::Text(folder)) => rest.cwd = folder,
            ("paths", Value::Words(words)) => {
                if let Some(outside) = words.iter().find(|path| !stays_inside(Path::new(path))) {
                    let expected = Kind::InnerPath.expected();
                    let message = format!("`{key}.paths`: `{outside}` must be {expected}");
                    return Err(Wrong::new(value.span(), message));
                }
                rest.paths = words;
            }
            ("retry", Value::Number(times)) if times <= u64::from(RETRY_MAX) => {
                rest.retry = u32::try_from(times).unwrap_or(RETRY_MAX);
            }
            ("retry", _) => {
                let message = format!("`{key}.retry` must not be more than {RETRY_MAX}");
                return Err(Wrong::new(value.span(), message));
            }
            (other, _) => {
                let message = format!("`{key}.{other}` must not be empty or 0");
                return Err(Wrong::new(value.span(), message));
            }
        }
    }
    let missing = |field| Wrong::new(span.clone(), format!("a gate needs a `{field}`"));
    let name = name.ok_or_else(|| missing("name"))?;
    let command = command.ok_or_else(|| missing("command"))?;
    let timeout = timeout.unwrap_or_else(|| default_timeout(&name));
    Ok(GateCheck { name, command, timeout, ..rest })
}

/// `env = { NAME = "value" }`.
fn variables(key: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<(String, String)>, Wrong> {
    let expected = || format!("`{key}.env` must be a table of strings: {{ NAME = \"value\" }}");
    let table = value.get_ref().as_table().ok_or_else(|| Wrong::new(value.span(), expected()))?;
    let mut set = Vec::new();
    for (name, value) in table {
        let text = value.get_ref().as_str().ok_or_else(|| Wrong::new(value.span(), expected()))?;
        let name = name.get_ref();
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("`{name}` is no name of a variable");
            return Err(Wrong::new(value.span(), message));
        }
        set.push((name.to_string(), text.to_owned()));
    }
    set.sort();
    Ok(set)
}

fn unknown_field(key: &str, field: &str, span: Range<usize>) -> Wrong {
    let mut wrong = Wrong::new(span, format!("unknown setting `{key}.{field}`"));
    let names = FIELDS.map(|(name, _)| name);
    wrong.hint = Some(suggest::nearest(field, names).map_or_else(
        || format!("a gate has {}", names.join(", ")),
        |name| format!("did you mean `{name}`?"),
    ));
    wrong
}

fn place(table: &DeTable<'_>, field: &str, otherwise: Range<usize>) -> Range<usize> {
    table.get(field).map_or(otherwise, Spanned::span)
}

/// Every gate that is needed exists, and none waits for itself.
fn fit_together(checks: &[(GateCheck, Range<usize>)]) -> Result<(), Wrong> {
    for (check, span) in checks {
        let known = |need: &&String| checks.iter().any(|(other, _)| other.name == **need);
        if let Some(need) = check.needs.iter().find(|need| !known(need)) {
            let message =
                format!("gate `{}` needs `{need}`, and there is no such gate", check.name);
            return Err(Wrong::new(span.clone(), message));
        }
    }
    let mut settled: Vec<&str> = Vec::new();
    while settled.len() < checks.len() {
        let ready = |check: &GateCheck| check.needs.iter().all(|n| settled.contains(&n.as_str()));
        let waiting = || checks.iter().filter(|(c, _)| !settled.contains(&c.name.as_str()));
        let Some(next) = waiting().find(|(check, _)| ready(check)).map(|(c, _)| c.name.as_str())
        else {
            let names: Vec<String> = waiting().map(|(c, _)| format!("`{}`", c.name)).collect();
            let message = format!("gates wait for each other: {}", names.join(", "));
            let span = waiting().next().map_or(0..0, |(_, span)| span.clone());
            return Err(Wrong::new(span, message));
        };
        settled.push(next);
    }
    Ok(())
}
