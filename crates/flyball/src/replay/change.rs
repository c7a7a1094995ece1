//! Limits set otherwise: one by its name, or all of them.

use std::borrow::Cow;

use flyball_core::policy::{Policy, PolicyError, Rules};
use flyball_core::{Event, Millis, text};
use serde::Serialize;
use serde_json::Value;

use crate::config::schema::{Kind, SETTINGS};
use crate::config::{duration, suggest};

/// A limit set otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    key: String,
    value: Value,
}

/// Why a limit cannot be set so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// It names no limit, or is no value for it.
    #[error("{0}")]
    Wrong(String),
    /// It does not go together with another limit.
    #[error("{0}")]
    Together(String),
}

impl Change {
    /// `KEY=VALUE`, such as `limits.stuck=2` or `limits.stall_after=5m`.
    pub fn parse(text: &str) -> Result<Self, ChangeError> {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            ChangeError::Wrong(format!("`{text}` is not KEY=VALUE, such as limits.stuck=2"))
        })?;
        let text = value.trim();
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        let change = Self { key: key.trim().to_owned(), value };
        let change = match duration::parse(text).filter(|_| change.is_time()) {
            // A time is written with its unit, and decided on in milliseconds.
            Some(span) => Self { value: Value::from(span.get()), ..change },
            None => change,
        };
        match applied(std::slice::from_ref(&change), &Policy::default()) {
            // Together with other changes it may be right.
            Err(ChangeError::Together(_)) | Ok(_) => Ok(change),
            Err(error) => Err(error),
        }
    }

    fn is_time(&self) -> bool {
        SETTINGS.iter().any(|one| one.key == self.key && one.kind == Kind::Duration)
    }

    /// One of the limits that are tried.
    pub(crate) fn to(key: &str, value: u32) -> Self {
        Self { key: key.to_owned(), value: Value::from(value) }
    }

    /// Its name.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Puts the value in its place among all limits.
    fn put(&self, rules: &mut Value) -> Result<(), ChangeError> {
        let known = names(rules);
        let place = self.key.split('.').try_fold(rules, |at, part| at.get_mut(part));
        let place = place.ok_or_else(|| {
            let meant = suggest::nearest(&self.key, known.iter().map(String::as_str));
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            self.wrong(&format!("no limit the governor knows{meant}"))
        })?;
        if place.is_object() {
            return Err(self.wrong("names a group of limits, not one"));
        }
        *place = self.value.clone();
        Ok(())
    }

    fn wrong(&self, why: &str) -> ChangeError {
        ChangeError::Wrong(format!("`{}`: {why}", self.key))
    }

    /// As it is written in `flyball.toml`.
    pub fn toml(&self) -> String {
        match self.value.as_u64().filter(|_| self.is_time()) {
            Some(ms) => format!("{} = \"{}\"", self.key, duration::format(Millis::new(ms))),
            None => format!("{} = {}", self.key, self.value),
        }
    }
}

/// The policy with all these changes: each is looked at by itself, what they make together.
fn applied(changes: &[Change], policy: &Policy) -> Result<Policy, ChangeError> {
    let wrong = |error: &dyn std::fmt::Display| ChangeError::Wrong(error.to_string());
    let mut rules = serde_json::to_value(policy).map_err(|error| wrong(&error))?;
    for change in changes {
        change.put(&mut rules)?;
        serde_json::from_value::<Rules>(rules.clone())
            .map_err(|error| change.wrong(&text::head(&error.to_string(), 300)))?;
    }
    let rules: Rules = serde_json::from_value(rules).map_err(|error| wrong(&error))?;
    Policy::new(rules).map_err(|error| match (&error, changes) {
        (PolicyError::RefuseBeforeNudge { .. } | PolicyError::ForceNextBeforePattern { .. }, _) => {
            ChangeError::Together(error.to_string())
        }
        (_, [change]) => change.wrong(&error.to_string()),
        (_, _) => wrong(&error),
    })
}

/// The names of all limits.
fn names(rules: &Value) -> Vec<String> {
    let groups = rules.as_object().into_iter().flatten();
    let of = |(group, keys): (&String, &Value)| {
        let keys = keys.as_object().into_iter().flatten();
        keys.map(|(key, _)| format!("{group}.{key}")).collect::<Vec<String>>()
    };
    groups.flat_map(of).collect()
}

/// The limits a run is decided under again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// All of them, in place of the run's own.
    pub policy: Option<Policy>,
    /// Then these.
    pub changes: Vec<Change>,
}

impl Limits {
    /// One limit set otherwise.
    pub fn with(change: &Change) -> Self {
        Self { policy: None, changes: vec![change.clone()] }
    }

    /// Whether nothing is set otherwise.
    pub const fn is_as_it_was(&self) -> bool {
        self.policy.is_none() && self.changes.is_empty()
    }

    /// These limits upon others.
    pub fn upon(&self, own: &Policy) -> Result<Policy, ChangeError> {
        applied(&self.changes, self.policy.as_ref().unwrap_or(own))
    }

    /// The event under these limits; none where they do not go together with the run's others.
    pub(super) fn event<'e>(&self, event: &'e Event) -> Option<Cow<'e, Event>> {
        // Only these two carry limits.
        let own = if let Event::RunStarted(start) = event {
            &start.policy
        } else if let Event::RunResumed(resume) = event {
            &resume.policy
        } else {
            return Some(Cow::Borrowed(event));
        };
        let policy = self.upon(own).ok()?;
        let mut changed = event.clone();
        if let Event::RunStarted(start) = &mut changed {
            start.policy = policy;
        } else if let Event::RunResumed(resume) = &mut changed {
            resume.policy = policy;
        }
        Some(Cow::Owned(changed))
    }
}
