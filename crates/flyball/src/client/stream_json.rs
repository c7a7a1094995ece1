//! The events of Claude Code's `stream-json`, as far as flyball reads them. qwen speaks the same.

use super::lenient::{Content, Flag, List, Maybe, Num, Raw, Text, object};
use super::meter::Usage;

object! {
    /// One line.
    #[derive(Debug)]
    pub(crate) struct Event<'a> {
        "type" => pub(crate) kind: Text<'a>,
        "subtype" => pub(crate) subtype: Text<'a>,
        "session_id" => pub(crate) session_id: Text<'a>,
        "parent_tool_use_id" => pub(crate) parent_tool_use_id: Text<'a>,
        /// Of `system/init`.
        "model" => pub(crate) model: Text<'a>,
        "message" => pub(crate) message: Maybe<Message<'a>>,
        /// A word in `assistant` and `system/api_retry`, an object in qwen's `result`.
        "error" => pub(crate) error: Option<Raw<'a>>,
        "error_status" => pub(crate) error_status: Num,
        /// Of `system/notification`.
        "key" => pub(crate) key: Text<'a>,
        "text" => pub(crate) text: Text<'a>,
        /// Of qwen's `system/retry`.
        "data" => pub(crate) data: Option<Raw<'a>>,
        "rate_limit_info" => pub(crate) rate_limit_info: Option<Raw<'a>>,
        "tool_result_meta" => pub(crate) tool_result_meta: Option<Raw<'a>>,
        /// Of `result`.
        "is_error" => pub(crate) is_error: Flag,
        "result" => pub(crate) result: Text<'a>,
        "errors" => pub(crate) errors: List<Text<'a>>,
        "terminal_reason" => pub(crate) terminal_reason: Text<'a>,
        "api_error_status" => pub(crate) api_error_status: Num,
        "usage" => pub(crate) usage: Maybe<Counts>,
        "total_cost_usd" => pub(crate) total_cost_usd: Num,
        "modelUsage" => pub(crate) model_usage: Option<Raw<'a>>,
        "model_usage_since_last_result" => pub(crate) model_usage_since_last_result: Option<Raw<'a>>,
    }
}

object! {
    /// A message of the model or to it.
    #[derive(Debug)]
    pub(crate) struct Message<'a> {
        "id" => pub(crate) id: Text<'a>,
        "model" => pub(crate) model: Text<'a>,
        "content" => pub(crate) content: List<Block<'a>>,
        "stop_reason" => pub(crate) stop_reason: Text<'a>,
        "usage" => pub(crate) usage: Maybe<Counts>,
    }
}

object! {
    /// A block of a message.
    #[derive(Debug)]
    pub(crate) struct Block<'a> {
        "type" => pub(crate) kind: Text<'a>,
        "text" => pub(crate) text: Text<'a>,
        "id" => pub(crate) id: Text<'a>,
        "name" => pub(crate) name: Text<'a>,
        "input" => pub(crate) input: Option<Raw<'a>>,
        "tool_use_id" => pub(crate) tool_use_id: Text<'a>,
        "content" => pub(crate) content: Content<'a>,
        "is_error" => pub(crate) is_error: Flag,
    }
}

object! {
    /// Token counts of a model call.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Counts {
        "input_tokens" => input: Num,
        "cache_creation_input_tokens" => cache_write: Num,
        "cache_read_input_tokens" => cache_read: Num,
        "output_tokens" => output: Num,
    }
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

object! {
    /// Totals of one model in a `result`.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct ModelUsage {
        "inputTokens" => input_tokens: Num,
        "outputTokens" => output_tokens: Num,
        "cacheReadInputTokens" => cache_read_input_tokens: Num,
        "cacheCreationInputTokens" => cache_creation_input_tokens: Num,
        "costUSD" => cost_usd: Num,
        "contextWindow" => pub(crate) context_window: Num,
    }
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

object! {
    /// Why a call did not run, beside its result.
    #[derive(Debug)]
    pub(crate) struct ResultMeta<'a> {
        "id" => pub(crate) id: Text<'a>,
        "non_execution_kind" => pub(crate) non_execution_kind: Text<'a>,
    }
}

object! {
    /// A subscription's limit.
    #[derive(Debug)]
    pub(crate) struct RateLimit<'a> {
        "status" => pub(crate) status: Text<'a>,
        "resetsAt" => pub(crate) resets_at: Num,
    }
}
