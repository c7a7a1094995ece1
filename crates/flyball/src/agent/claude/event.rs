//! The events of Claude Code's `stream-json`, as far as flyball reads them. qwen speaks the same.

use serde::Deserialize;

use crate::agent::lax::{Content, Flag, List, Maybe, Num, Raw, Text};
use crate::agent::meter::Usage;

/// One line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    #[serde(borrow)]
    pub(crate) subtype: Text<'a>,
    #[serde(borrow)]
    pub(crate) session_id: Text<'a>,
    #[serde(borrow)]
    pub(crate) parent_tool_use_id: Text<'a>,
    /// Of `system/init`.
    #[serde(borrow)]
    pub(crate) model: Text<'a>,
    #[serde(borrow)]
    pub(crate) message: Maybe<Message<'a>>,
    /// A word in `assistant` and `system/api_retry`, an object in qwen's `result`.
    #[serde(borrow)]
    pub(crate) error: Option<Raw<'a>>,
    pub(crate) error_status: Num,
    /// Of `system/notification`.
    #[serde(borrow)]
    pub(crate) key: Text<'a>,
    #[serde(borrow)]
    pub(crate) text: Text<'a>,
    /// Of qwen's `system/retry`.
    #[serde(borrow)]
    pub(crate) data: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(crate) rate_limit_info: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(crate) tool_result_meta: Option<Raw<'a>>,
    /// Of `result`.
    pub(crate) is_error: Flag,
    #[serde(borrow)]
    pub(crate) result: Text<'a>,
    #[serde(borrow)]
    pub(crate) errors: List<Text<'a>>,
    #[serde(borrow)]
    pub(crate) terminal_reason: Text<'a>,
    pub(crate) api_error_status: Num,
    pub(crate) usage: Maybe<Counts>,
    pub(crate) total_cost_usd: Num,
    #[serde(borrow, rename = "modelUsage")]
    pub(crate) model_usage: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(crate) model_usage_since_last_result: Option<Raw<'a>>,
}

/// A message of the model or to it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    #[serde(borrow)]
    pub(crate) model: Text<'a>,
    #[serde(borrow)]
    pub(crate) content: List<Block<'a>>,
    #[serde(borrow)]
    pub(crate) stop_reason: Text<'a>,
    pub(crate) usage: Maybe<Counts>,
}

/// A block of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    #[serde(borrow)]
    pub(crate) text: Text<'a>,
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    #[serde(borrow)]
    pub(crate) name: Text<'a>,
    #[serde(borrow)]
    pub(crate) input: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(crate) tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub(crate) content: Content<'a>,
    pub(crate) is_error: Flag,
}

/// Token counts of a model call.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Counts {
    #[serde(rename = "input_tokens")]
    input: Num,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: Num,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: Num,
    #[serde(rename = "output_tokens")]
    output: Num,
}

impl Counts {
    /// Claude's way: cached tokens are not part of `input_tokens`.
    pub(crate) fn apart(self) -> Usage {
        Usage {
            fresh: self.input.count(),
            cache_read: self.cache_read.count(),
            cache_write: self.cache_write.count(),
            output: self.output.count(),
            cost_usd: None,
        }
    }

    /// qwen's way: cached tokens are part of `input_tokens`.
    pub(crate) fn together(self) -> Usage {
        Usage::with_cached(self.input.count(), self.cache_read.count(), self.output.count())
    }
}

/// Totals of one model in a `result`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ModelUsage {
    input_tokens: Num,
    output_tokens: Num,
    cache_read_input_tokens: Num,
    cache_creation_input_tokens: Num,
    #[serde(rename = "costUSD")]
    cost_usd: Num,
    pub(crate) context_window: Num,
}

impl ModelUsage {
    /// The sum over all models.
    pub(crate) fn sum(models: impl IntoIterator<Item = Self>) -> Usage {
        let mut sum = Usage { cost_usd: Some(0.0), ..Usage::default() };
        for model in models {
            sum.fresh += model.input_tokens.count();
            sum.cache_read += model.cache_read_input_tokens.count();
            sum.cache_write += model.cache_creation_input_tokens.count();
            sum.output += model.output_tokens.count();
            sum.cost_usd = Some(sum.cost_usd.unwrap_or(0.0) + model.cost_usd.0.unwrap_or(0.0));
        }
        sum
    }
}

/// Why a call did not run, beside its result.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResultMeta<'a> {
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    #[serde(borrow)]
    pub(crate) non_execution_kind: Text<'a>,
}

/// A subscription's limit.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RateLimit<'a> {
    #[serde(borrow)]
    pub(crate) status: Text<'a>,
    #[serde(rename = "resetsAt")]
    pub(crate) resets_at: Num,
}
