//! The key of a service. It is never printed, and taken out of every text that might repeat it.

use std::env;
use std::fmt;

/// What a key may be replaced by in a text.
const HIDDEN: &str = "[key]";

/// Shorter keys are not looked for in texts: a local server's `x` would be found everywhere.
const HIDE_FROM: usize = 8;

/// A key. `Debug` shows nothing of it; it can be neither printed nor serialised.
#[derive(Clone, Default)]
pub struct Key {
    text: Option<String>,
    origin: String,
}

/// Why there is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// None of the variables is set.
    #[error("no key: {} is not set", .0.join(" or "))]
    NotSet(Vec<String>),
    /// There is a text, but an empty one.
    #[error("no key: {0} is empty")]
    Empty(String),
    /// A key is one line of visible ASCII; this was something else.
    #[error("no key: {0} holds a character no key has")]
    Malformed(String),
}

impl Key {
    /// For servers that ask for none.
    pub fn none() -> Self {
        Self::default()
    }

    /// A key and where it came from, in words for errors: `the command …`.
    pub fn new(text: &str, origin: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(KeyError::Empty(origin.to_owned()));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::Malformed(origin.to_owned()));
        }
        Ok(Self { text: Some(text.to_owned()), origin: origin.to_owned() })
    }

    /// The first of these environment variables that is set and not empty.
    pub fn from_environment(variables: &[&str]) -> Result<Self, KeyError> {
        let set = variables
            .iter()
            .filter_map(|name| Some((*name, env::var(name).ok()?)))
            .find(|(_, text)| !text.trim().is_empty());
        match set {
            Some((name, text)) => Self::new(&text, name),
            None => Err(KeyError::NotSet(variables.iter().map(|&name| name.to_owned()).collect())),
        }
    }

    /// What a command printed: the first line that is not empty.
    pub fn from_output(command: &str, output: &[u8]) -> Result<Self, KeyError> {
        let origin = format!("the output of `{command}`");
        let text = String::from_utf8_lossy(output);
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Self::new(line, &origin)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Where it came from, in words; none when there is no key.
    pub(crate) fn origin(&self) -> Option<&str> {
        self.text.as_ref().map(|_| self.origin.as_str())
    }

    /// The text without the key in it.
    pub(crate) fn hide(&self, text: String) -> String {
        match &self.text {
            Some(key) if key.len() >= HIDE_FROM && text.contains(key.as_str()) => {
                text.replace(key.as_str(), HIDDEN)
            }
            Some(_) | None => text,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_nothing_of_itself_and_leaves_no_text_with_it() {
        let key = Key::new(" sk-secret-123\n", "TEST_KEY").unwrap();
        assert_eq!(format!("{key:?}"), "Key(..)");
        assert_eq!(key.text(), Some("sk-secret-123"));
        let told = "Incorrect API key provided: sk-secret-123.".to_owned();
        assert_eq!(key.hide(told), "Incorrect API key provided: [key].");
    }

    #[test]
    fn what_is_no_key_is_told_apart() {
        let cases: [(&[u8], &str); 4] = [
            (b"\n\n  abc \nrest", ""),
            (b"  \n", "no key: the output of `pass` is empty"),
            (b"a b", "no key: the output of `pass` holds a character no key has"),
            ("schlüssel".as_bytes(), "no key: the output of `pass` holds a character no key has"),
        ];
        for (output, words) in cases {
            let told = Key::from_output("pass", output).map(|_| String::new());
            assert_eq!(told.unwrap_or_else(|error| error.to_string()), words);
        }
        let missing = Key::from_environment(&["FLYBALL_NO_SUCH_A", "FLYBALL_NO_SUCH_B"]);
        let words = missing.unwrap_err().to_string();
        assert_eq!(words, "no key: FLYBALL_NO_SUCH_A or FLYBALL_NO_SUCH_B is not set");
    }
}
