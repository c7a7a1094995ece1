//! One line of `rules.jsonl`.

use std::fmt::Debug;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One case of one rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vector {
    pub(crate) rule: String,
    pub(crate) id: String,
    pub(crate) config: Value,
    pub(crate) input: Value,
    pub(crate) expect: Value,
    /// Why the case is as it is, for people.
    #[serde(default, rename = "note")]
    pub(crate) _note: Option<String>,
}

impl Vector {
    /// All cases, in the order of the file.
    pub(crate) fn all() -> Vec<Self> {
        include_str!("rules.jsonl")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    /// The settings of the case, typed; an unknown one fails.
    pub(crate) fn config<T: DeserializeOwned>(&self) -> T {
        self.typed("config", &self.config)
    }

    /// What goes in.
    pub(crate) fn input<T: DeserializeOwned>(&self) -> T {
        self.typed("input", &self.input)
    }

    /// What should come out; an expectation nobody checks fails.
    pub(crate) fn expect<T: DeserializeOwned>(&self) -> T {
        self.typed("expect", &self.expect)
    }

    /// Compares, naming the case.
    #[expect(clippy::needless_pass_by_value, reason = "callers compare what they just made")]
    pub(crate) fn same<T: PartialEq + Debug>(&self, found: T, wanted: T) {
        assert_eq!(found, wanted, "{} {}", self.rule, self.id);
    }

    fn typed<T: DeserializeOwned>(&self, part: &str, value: &Value) -> T {
        serde_json::from_value(value.clone())
            .unwrap_or_else(|e| panic!("{} {} {part}: {e}", self.rule, self.id))
    }
}
