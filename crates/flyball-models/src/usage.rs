//! What an answer used.

use serde::{Deserialize, Serialize};

/// What an answer used, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Read anew, neither from the cache nor into it.
    pub input: u64,
    /// Read from the service's cache.
    pub cache_read: u64,
    /// Read anew and put into the cache.
    pub cache_write: u64,
    /// Written, thoughts included.
    pub output: u64,
    /// The thoughts among them, where the service tells.
    pub reasoning: u64,
    /// US dollars, where the service itself tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Usage {
    /// All that was read: what fills the context window.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// A count of all that was read, told apart into new and cached.
    pub(crate) fn of_prompt(prompt: u64, cache_read: u64, cache_write: u64) -> Self {
        let input = prompt.saturating_sub(cache_read).saturating_sub(cache_write);
        Self { input, cache_read, cache_write, ..Self::default() }
    }
}
