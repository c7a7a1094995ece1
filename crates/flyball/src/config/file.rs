//! One TOML file as a layer. Every error names file, line and key, and shows the place.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::Key;
use super::layer::{Entry, Layer, Origin, Source};
use super::schema::{self, Place};
use super::suggest;
use super::value::{Value, Wrong};
use crate::error::CliError;

/// A file's text and the name it is shown by; no name for the embedded defaults.
pub(crate) struct SourceText<'a> {
    /// How the file is called in messages.
    pub(crate) path: Option<&'a str>,
    /// What it holds.
    pub(crate) text: &'a str,
}

impl SourceText<'_> {
    /// Reads the file as a layer.
    pub(crate) fn layer(&self) -> Result<Layer, CliError> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let first = error.message().lines().next().unwrap_or("no valid TOML").to_owned();
            self.error(&Wrong::new(error.span().unwrap_or(0..0), first))
        })?;
        let mut reading = Reading { source: self, layer: Layer::default() };
        reading.table(None, &[], table.get_ref()).map_err(|wrong| self.error(&wrong))?;
        Ok(reading.layer)
    }

    fn error(&self, wrong: &Wrong) -> CliError {
        let (line, column) = self.position(wrong.span.start);
        let path = self.path.unwrap_or("default.toml");
        let shown = self.text.lines().nth(line - 1).unwrap_or("").replace('\t', " ");
        let number = line.to_string();
        let room = shown.chars().count().saturating_sub(column - 1).max(1);
        let width = self.text.get(wrong.span.clone()).map_or(1, |text| text.chars().count());
        let carets = "^".repeat(width.clamp(1, room));
        let (gutter, before) = (" ".repeat(number.len()), " ".repeat(column - 1));
        let message = format!(
            "{path}:{line}:{column}: {}\n  {number} | {shown}\n  {gutter} | {before}{carets}",
            wrong.message
        );
        let error = CliError::config(message);
        match &wrong.hint {
            Some(hint) => error.hint(hint.clone()),
            None => error,
        }
    }

    /// Line and column of a byte, both from 1.
    fn position(&self, byte: usize) -> (usize, usize) {
        let before = self.text.get(..byte).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
        (line, column)
    }
}

struct Reading<'a> {
    source: &'a SourceText<'a>,
    layer: Layer,
}

impl Reading<'_> {
    fn table(
        &mut self,
        profile: Option<&str>,
        path: &[&str],
        table: &DeTable<'_>,
    ) -> Result<(), Wrong> {
        for (name, value) in table {
            let here: Vec<&str> = path.iter().copied().chain([name.get_ref().as_ref()]).collect();
            if profile.is_none() && here == ["profile"] {
                self.profiles(value)?;
                continue;
            }
            match schema::place(&here) {
                Place::Setting(setting) => {
                    let key = Key::from_parts(&here);
                    let value = Value::from_toml(setting.kind, &key, value)?;
                    self.keep(profile, key, value, &name.span());
                }
                Place::Section => {
                    let inner = section(&here, value)?;
                    self.table(profile, &here, inner)?;
                }
                Place::Unknown => return Err(unknown(&here, name.span())),
            }
        }
        Ok(())
    }

    fn profiles(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
        for (name, value) in section(&["profile"], value)? {
            let inner = section(&["profile", name.get_ref().as_ref()], value)?;
            self.layer.profiles.entry(name.get_ref().to_string()).or_default();
            self.table(Some(name.get_ref().as_ref()), &[], inner)?;
        }
        Ok(())
    }

    fn keep(&mut self, profile: Option<&str>, key: Key, value: Value, span: &Range<usize>) {
        let source = match self.source.path {
            Some(path) => {
                let (line, _) = self.source.position(span.start);
                Source::File { path: path.to_owned(), line }
            }
            None => Source::Default,
        };
        let mut origin = Origin::of(source);
        let settings = match profile {
            Some(name) => {
                origin.profile = Some(name.to_owned());
                self.layer.profiles.entry(name.to_owned()).or_default()
            }
            None => &mut self.layer.settings,
        };
        settings.insert(key, Entry { value, origin });
    }
}

fn section<'a, 'i>(
    path: &[&str],
    value: &'a Spanned<DeValue<'i>>,
) -> Result<&'a DeTable<'i>, Wrong> {
    value.get_ref().as_table().ok_or_else(|| {
        let key = Key::from_parts(path);
        let message = format!("`{key}` is a section, not a setting: it must be a table, [{key}]");
        Wrong::new(value.span(), message)
    })
}

fn unknown(path: &[&str], span: Range<usize>) -> Wrong {
    let key = Key::from_parts(path);
    let section = key.section();
    let above = section.parts();
    let mut wrong = Wrong::new(span, format!("unknown setting `{key}`"));
    let names = schema::names_below(&above);
    let full = |name: &str| Key::from_parts(&[above.as_slice(), &[name]].concat()).to_string();
    let elsewhere = || {
        let same = |key: &&str| key.rsplit('.').next() == path.last().copied();
        schema::SETTINGS.iter().map(|s| s.key).find(same).map(str::to_owned)
    };
    let meant = suggest::nearest(key.last(), names.iter().copied()).map(full).or_else(elsewhere);
    wrong.hint = Some(match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if names.is_empty() => "`flyball config` shows every setting".to_owned(),
        None => format!("known here: {}", names.join(", ")),
    });
    wrong
}
