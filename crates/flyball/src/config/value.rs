//! The value of one setting: read from TOML or from plain text by its [`Kind`], written as TOML or
//! JSON. The same rules hold wherever the value came from.

use std::fmt;
use std::ops::Range;
use std::path::{Component, Path};

use flyball_core::Millis;
use serde_json::json;
use toml::Spanned;
use toml::de::DeValue;

use super::check::{self, GateCheck};
use super::command_line::CommandLine;
use super::schema::Kind;
use super::{bytes, duration, suggest};

/// A value that fits its setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Number(u64),
    /// A size.
    Bytes(u64),
    /// A span of time.
    Duration(Millis),
    /// US dollars.
    Money(f64),
    /// Yes or no.
    Flag(bool),
    /// A string.
    Text(String),
    /// Strings.
    Words(Vec<String>),
    /// A command.
    Command(CommandLine),
    /// Numbers of ports.
    Ports(Vec<u16>),
    /// Gates.
    Checks(Vec<GateCheck>),
}

/// A value that does not fit: where it stands in its text, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The bytes of the value.
    pub(crate) span: Range<usize>,
    /// What is wrong, with the setting's name.
    pub(crate) message: String,
    /// What would be right, when it can be guessed.
    pub(crate) hint: Option<String>,
}

impl Wrong {
    pub(crate) fn new(span: Range<usize>, message: String) -> Self {
        Self { span, message, hint: None }
    }
}

impl Value {
    /// Reads a value out of a TOML file. `key` is how the setting is called in messages.
    pub(crate) fn from_toml(
        kind: Kind,
        key: &impl fmt::Display,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Self, Wrong> {
        let read = match value.get_ref() {
            DeValue::String(text) if kind == Kind::Command => {
                Some(Self::Command(CommandLine::Shell(text.to_string())))
            }
            DeValue::String(text) => from_word(kind, text),
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix())
                .ok()
                .and_then(|number| from_number(kind, number)),
            DeValue::Float(number) if kind == Kind::Money => from_word(kind, number.as_str()),
            DeValue::Boolean(flag) => (kind == Kind::Flag).then_some(Self::Flag(*flag)),
            DeValue::Array(_) if kind == Kind::Checks => {
                return check::read(&key.to_string(), value).map(Self::Checks);
            }
            DeValue::Array(items) if kind == Kind::Words => words(items).map(Self::Words),
            DeValue::Array(items) if kind == Kind::Ports => ports(items).map(Self::Ports),
            DeValue::Array(items) if kind == Kind::Command => {
                words(items).map(|words| Self::Command(CommandLine::Argv(words)))
            }
            DeValue::Float(_) | DeValue::Array(_) | DeValue::Datetime(_) | DeValue::Table(_) => {
                None
            }
        };
        read.ok_or_else(|| {
            let found = shown(value.get_ref());
            let mut wrong = Wrong::new(
                value.span(),
                format!("`{key}` must be {}, not {found}", kind.expected()),
            );
            wrong.hint = value.get_ref().as_str().and_then(|text| kind.suggestion(text));
            wrong
        })
    }

    /// Reads a value out of plain text: the environment. Lists are written as in TOML.
    pub(crate) fn from_text(kind: Kind, key: &str, text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.starts_with('[')
            && matches!(kind, Kind::Words | Kind::Ports | Kind::Command | Kind::Checks)
        {
            let parsed = DeValue::parse(text)
                .map_err(|error| format!("`{key}` is no TOML array: {}", error.message()))?;
            return Self::from_toml(kind, &key, &parsed).map_err(|wrong| wrong.message);
        }
        let read = match kind {
            Kind::Count | Kind::Size => text.parse().ok().and_then(|n| from_number(kind, n)),
            Kind::Flag => flag(text),
            Kind::Command => Some(Self::Command(CommandLine::Shell(text.to_owned()))),
            Kind::Words | Kind::Ports | Kind::Checks => None,
            Kind::Bytes
            | Kind::Duration
            | Kind::Money
            | Kind::Text
            | Kind::Name
            | Kind::InnerPath
            | Kind::Address
            | Kind::Choice(_) => from_word(kind, text),
        };
        read.ok_or_else(|| format!("`{key}` must be {}, not `{text}`", kind.expected()))
    }

    /// The value as the core's rules hold it: durations are milliseconds.
    pub(crate) fn to_rules_json(&self) -> serde_json::Value {
        if let Self::Duration(span) = self { json!(span.get()) } else { self.to_json() }
    }

    /// The value for people and programs: durations as they are written.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Duration(span) => json!(duration::format(*span)),
            Self::Bytes(bytes) => json!(bytes::format(*bytes)),
            Self::Money(money) => json!(money),
            Self::Flag(flag) => json!(flag),
            Self::Text(text) => json!(text),
            Self::Words(words) => json!(words),
            Self::Ports(ports) => json!(ports),
            Self::Command(command) => command.to_json(),
            Self::Checks(checks) => checks.iter().map(GateCheck::to_json).collect(),
        }
    }

    /// The value as it is written in a file. Gates are written on one line.
    pub fn to_toml(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Duration(span) if span.is_zero() => "0".to_owned(),
            Self::Duration(span) => string(&duration::format(*span)),
            Self::Bytes(bytes) => string(&bytes::format(*bytes)),
            Self::Money(money) => money.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Text(text) | Self::Command(CommandLine::Shell(text)) => string(text),
            Self::Words(words) | Self::Command(CommandLine::Argv(words)) => strings(words),
            Self::Ports(ports) => {
                let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
                format!("[{}]", ports.join(", "))
            }
            Self::Checks(checks) => {
                let checks: Vec<String> = checks.iter().map(GateCheck::to_toml_inline).collect();
                format!("[{}]", checks.join(", "))
            }
        }
    }
}

impl Kind {
    /// What may stand there, in words.
    pub fn expected(self) -> String {
        match self {
            Self::Count => "a whole number from 0 to 4294967295".to_owned(),
            Self::Size => "a whole number, 0 or more".to_owned(),
            Self::Bytes => r#"a size such as "50MB" or "1.5GB", or a number of bytes"#.to_owned(),
            Self::Duration => r#"a duration such as "90s", "1h30m" or "250ms", or 0"#.to_owned(),
            Self::Money => r#"a sum in US dollars such as 5 or "5.00""#.to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Text => "a string".to_owned(),
            Self::Name => "a string that is not empty".to_owned(),
            Self::InnerPath => "a relative path that stays inside, without `..`".to_owned(),
            Self::Address => "an http:// or https:// address, or empty".to_owned(),
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Words => r#"an array of strings such as ["a", "b"]"#.to_owned(),
            Self::Ports => "an array of ports such as [5432]".to_owned(),
            Self::Command => "a string for the shell or an array of strings".to_owned(),
            Self::Checks => "an array of tables, [[gates.check]]".to_owned(),
        }
    }

    fn suggestion(self, text: &str) -> Option<String> {
        let Self::Choice(words) = self else { return None };
        suggest::nearest(text, words.iter().copied()).map(|word| format!("did you mean `{word}`?"))
    }
}

/// A string as TOML.
pub(crate) fn string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// An array of strings as TOML.
pub(crate) fn strings(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| string(word)).collect();
    format!("[{}]", words.join(", "))
}

fn from_number(kind: Kind, number: u64) -> Option<Value> {
    match kind {
        Kind::Count => u32::try_from(number).ok().map(|number| Value::Number(number.into())),
        Kind::Size => Some(Value::Number(number)),
        Kind::Bytes => Some(Value::Bytes(number)),
        Kind::Duration => (number == 0).then_some(Value::Duration(Millis::ZERO)),
        Kind::Money => from_word(kind, &number.to_string()),
        Kind::Flag
        | Kind::Text
        | Kind::Name
        | Kind::InnerPath
        | Kind::Address
        | Kind::Choice(_)
        | Kind::Words
        | Kind::Ports
        | Kind::Command
        | Kind::Checks => None,
    }
}

fn from_word(kind: Kind, text: &str) -> Option<Value> {
    let own = || Value::Text(text.to_owned());
    match kind {
        Kind::Bytes => bytes::parse(text).map(Value::Bytes),
        Kind::Duration => duration::parse(text).map(Value::Duration),
        Kind::Money => {
            let money = text.trim().parse::<f64>().ok()?;
            (money.is_finite() && money >= 0.0).then_some(Value::Money(money))
        }
        Kind::Text => Some(own()),
        Kind::Name => (!text.trim().is_empty()).then(own),
        Kind::InnerPath => stays_inside(Path::new(text)).then(own),
        Kind::Address => {
            let known = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme));
            (text.is_empty() || known).then(own)
        }
        Kind::Choice(words) => words.contains(&text).then(own),
        Kind::Count
        | Kind::Size
        | Kind::Flag
        | Kind::Words
        | Kind::Ports
        | Kind::Command
        | Kind::Checks => None,
    }
}

fn flag(text: &str) -> Option<Value> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(Value::Flag(true)),
        "false" | "0" | "no" | "off" => Some(Value::Flag(false)),
        _ => None,
    }
}

/// Whether a path leads somewhere below where it starts.
pub(crate) fn stays_inside(path: &Path) -> bool {
    let named = path.components().any(|part| matches!(part, Component::Normal(_)));
    named && path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn words(items: &[Spanned<DeValue<'_>>]) -> Option<Vec<String>> {
    items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
}

fn ports(items: &[Spanned<DeValue<'_>>]) -> Option<Vec<u16>> {
    let port = |item: &Spanned<DeValue<'_>>| {
        let DeValue::Integer(number) = item.get_ref() else { return None };
        let port = u16::from_str_radix(number.as_str(), number.radix()).ok()?;
        (port > 0).then_some(port)
    };
    items.iter().map(port).collect()
}

/// A value as it is named in a message, cut short.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => {
            let cut: String = text.chars().take(40).collect();
            let dots = if cut.len() < text.len() { "…" } else { "" };
            format!("{:?}", format!("{cut}{dots}"))
        }
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
