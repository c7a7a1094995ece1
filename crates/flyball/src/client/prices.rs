//! What tokens cost, by model, for agents that do not tell their cost.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

static TABLE: &str = include_str!("prices.toml");

/// Price of one model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read from a cache; as input where absent.
    #[serde(default)]
    pub cache_read: Option<f64>,
    /// Tokens written to a cache; as input where absent.
    #[serde(default)]
    pub cache_write: Option<f64>,
    /// Size of the context window in tokens, where known.
    #[serde(default)]
    pub window: Option<u64>,
}

#[derive(Deserialize)]
struct Table {
    as_of: String,
    models: BTreeMap<String, Price>,
}

fn table() -> &'static Table {
    static READ: OnceLock<Table> = OnceLock::new();
    READ.get_or_init(|| {
        toml::from_str(TABLE)
            .unwrap_or_else(|_| Table { as_of: String::new(), models: BTreeMap::new() })
    })
}

/// The list price of a model, by the longest known prefix of its name.
pub fn price(model: &str) -> Option<Price> {
    Prices::default().price(model)
}

/// The maker's name for the kind of model this is: the longest known prefix of its name.
pub fn family(model: &str) -> Option<&'static str> {
    let bare = model.rsplit('/').next().unwrap_or(model);
    let known = table().models.keys().filter(|prefix| bare.starts_with(prefix.as_str()));
    known.max_by_key(|prefix| prefix.len()).map(String::as_str)
}

/// The day the built-in table was last compared with the makers' lists.
pub fn as_of() -> &'static str {
    &table().as_of
}

/// The built-in prices with the config's own on top.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    own: Option<Arc<BTreeMap<String, Price>>>,
}

impl Prices {
    /// Puts the config's prices, by prefix of the model's name, on top of the built-in ones.
    pub fn with(own: BTreeMap<String, Price>) -> Self {
        Self { own: Some(Arc::new(own)) }
    }

    /// The price of a model: the config's by the longest prefix, else the built-in one.
    pub fn price(&self, model: &str) -> Option<Price> {
        let own = self.own.as_deref().and_then(|own| longest(own, model));
        own.or_else(|| longest(&table().models, model))
    }
}

fn longest(prices: &BTreeMap<String, Price>, model: &str) -> Option<Price> {
    let bare = model.rsplit('/').next().unwrap_or(model);
    prices
        .iter()
        .filter(|(prefix, _)| {
            model.starts_with(prefix.as_str()) || bare.starts_with(prefix.as_str())
        })
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(_, price)| *price)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_of_the_model_name_wins() {
        assert!(!table().models.is_empty(), "the built-in table is readable");
        assert_eq!(as_of().len(), 10);
        let cases = [
            ("claude-sonnet-4-5-20250929", Some(3.0)),
            ("claude-opus-4-1", Some(15.0)),
            ("claude-opus-4-5", Some(5.0)),
            ("anthropic/claude-haiku-4-5", Some(1.0)),
            ("gpt-5.5", Some(1.25)),
            ("gpt-5-mini", Some(0.25)),
            ("openai/gpt-4o", Some(2.5)),
            ("gemini-2.5-flash", Some(0.3)),
            ("mock-model", None),
        ];
        for (model, input) in cases {
            assert_eq!(price(model).map(|price| price.input), input, "{model}");
        }
        assert_eq!(family("openai/gpt-5-mini-of-acme"), Some("gpt-5-mini"));
        assert_eq!(family("mock-model"), None);
    }

    #[test]
    fn the_config_has_the_last_word() {
        let own = Price { input: 9.0, output: 9.0, ..Price::default() };
        let prices = Prices::with(BTreeMap::from([("gpt-5".to_owned(), own)]));
        assert_eq!(prices.price("gpt-5-mini").map(|price| price.input), Some(9.0));
        assert_eq!(prices.price("gemini-2.5-pro").map(|price| price.input), Some(1.25));
    }
}
