//! The name of a setting: the path to it in the file.

use std::fmt;

/// A path such as `limits.stuck`, or `prices."m-4.1".input_usd_per_mtok`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Vec<String>);

impl Key {
    /// The key made of these parts.
    pub fn from_parts(parts: &[&str]) -> Self {
        Self(parts.iter().map(|part| (*part).to_owned()).collect())
    }

    /// A key whose parts hold no dots.
    pub fn dotted(text: &str) -> Self {
        Self(text.split('.').map(str::to_owned).collect())
    }

    /// The parts, outermost first.
    pub fn parts(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    /// The last part.
    pub fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    /// Everything before the last part.
    #[must_use]
    pub fn section(&self) -> Self {
        Self(self.0.iter().take(self.0.len().saturating_sub(1)).cloned().collect())
    }

    /// The last part as it is written in a file.
    pub fn written_last(&self) -> String {
        written(self.last())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|part| written(part)).collect();
        f.write_str(&parts.join("."))
    }
}

/// A part with quotes where TOML needs them.
fn written(part: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !part.is_empty() && part.chars().all(bare) {
        part.to_owned()
    } else {
        toml::Value::String(part.to_owned()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_with_a_dot_is_quoted() {
        assert_eq!(Key::dotted("limits.stuck").to_string(), "limits.stuck");
        let price = Key::from_parts(&["prices", "m-4.1", "input_usd_per_mtok"]);
        assert_eq!(price.to_string(), "prices.\"m-4.1\".input_usd_per_mtok");
        assert_eq!(price.section().to_string(), "prices.\"m-4.1\"");
    }
}
