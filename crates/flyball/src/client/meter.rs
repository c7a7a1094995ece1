//! Counting what a session uses, so that every token is told once: early where the stream allows,
//! corrected when the client gives its own total.

use flyball_core::event::Spend;

use super::prices::{Price, Prices};
use super::reading::ReadRequest;

/// Tokens of one or more model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    /// Read, not from a cache.
    pub(crate) fresh: u64,
    /// Read from a cache.
    pub(crate) cache_read: u64,
    /// Written to a cache.
    pub(crate) cache_write: u64,
    /// Written.
    pub(crate) output: u64,
    /// US dollars, where the client says so.
    pub(crate) cost_usd: Option<f64>,
}

impl Usage {
    /// From a count of input tokens that includes the cached ones.
    pub(crate) fn with_cached(input: u64, cached: u64, output: u64) -> Self {
        let cache_read = cached.min(input);
        Self { fresh: input - cache_read, cache_read, output, ..Self::default() }
    }

    /// What this says beyond what was told before, of the same model call.
    pub(crate) fn beyond(&self, told: &Self) -> Self {
        Self {
            fresh: self.fresh.saturating_sub(told.fresh),
            cache_read: self.cache_read.saturating_sub(told.cache_read),
            cache_write: self.cache_write.saturating_sub(told.cache_write),
            output: self.output.saturating_sub(told.output),
            cost_usd: None,
        }
    }

    /// The most of what was told of one model call.
    pub(crate) fn most(&self, other: &Self) -> Self {
        Self {
            fresh: self.fresh.max(other.fresh),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
            output: self.output.max(other.output),
            cost_usd: self.cost_usd,
        }
    }

    /// All tokens that were read.
    pub(crate) fn input(&self) -> u64 {
        self.fresh.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Tokens in the context window after this call.
    pub(crate) fn context(&self) -> u64 {
        self.input().saturating_add(self.output)
    }
}

/// Tells what was used since it last told.
#[derive(Debug)]
pub(crate) struct Meter {
    prices: Prices,
    /// Of the model at work: asked for at nearly every event.
    price: Option<Price>,
    /// Told since the client's last own total.
    open: Spend,
    /// Told before that.
    settled: Spend,
}

impl Meter {
    pub(crate) fn new(request: &ReadRequest) -> Self {
        Self {
            prices: request.prices.clone(),
            price: request.model.as_deref().and_then(|model| request.prices.price(model)),
            open: Spend::default(),
            settled: Spend::default(),
        }
    }

    pub(crate) fn model(&mut self, model: &str) {
        self.price = self.prices.price(model);
    }

    pub(crate) const fn price(&self) -> Option<Price> {
        self.price
    }

    /// One more model call was used.
    pub(crate) fn add(&mut self, usage: &Usage) -> Option<Spend> {
        let more = self.spend_of(usage);
        self.open = plus(self.open, more);
        (more != Spend::default()).then_some(more)
    }

    /// The client's total since its last one: what is still missing.
    pub(crate) fn settle(&mut self, total: &Usage) -> Option<Spend> {
        let missing = minus(self.spend_of(total), self.open);
        self.settled = plus(self.settled, plus(self.open, missing));
        self.open = Spend::default();
        (missing != Spend::default()).then_some(missing)
    }

    /// The client's total over the whole session, every earlier total included.
    pub(crate) fn settle_cumulative(&mut self, total: &Usage) -> Option<Spend> {
        let mut run = *total;
        // What was read before is taken off where it can be: fresh tokens first.
        let fresh_off = self.settled.input_tokens.min(run.fresh);
        run.fresh -= fresh_off;
        run.cache_read = run.cache_read.saturating_sub(self.settled.input_tokens - fresh_off);
        run.output = run.output.saturating_sub(self.settled.output_tokens);
        self.settle_tokens(&run)
    }

    /// The client's total since its last one in tokens, but over the whole session in money.
    pub(crate) fn settle_tokens(&mut self, total: &Usage) -> Option<Spend> {
        let before = dollars(self.settled.cost_micro_usd);
        let cost_usd = total.cost_usd.map(|cost| (cost - before).max(0.0));
        self.settle(&Usage { cost_usd, ..*total })
    }

    /// Everything that was told.
    pub(crate) fn told(&self) -> Spend {
        plus(self.settled, self.open)
    }

    fn spend_of(&self, usage: &Usage) -> Spend {
        let cost = usage.cost_usd.or_else(|| self.price().map(|price| cost_of(usage, &price)));
        Spend {
            input_tokens: usage.input(),
            output_tokens: usage.output,
            cost_micro_usd: cost.map_or(0, micro),
        }
    }
}

/// What was paid, in millionths of a US dollar: the client's word, else by the price.
pub(crate) fn cost_micro_usd(usage: &Usage, price: Option<&Price>) -> Option<u64> {
    usage.cost_usd.or_else(|| price.map(|price| cost_of(usage, price))).map(micro)
}

#[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
fn cost_of(usage: &Usage, price: &Price) -> f64 {
    let million = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
    million(usage.fresh, price.input)
        + million(usage.cache_read, price.cache_read.unwrap_or(price.input))
        + million(usage.cache_write, price.cache_write.unwrap_or(price.input))
        + million(usage.output, price.output)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which is right for an amount from outside"
)]
fn micro(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "amounts of money stay far below 2^53")]
fn dollars(micro: u64) -> f64 {
    micro as f64 / 1e6
}

fn plus(a: Spend, b: Spend) -> Spend {
    Spend {
        input_tokens: a.input_tokens.saturating_add(b.input_tokens),
        output_tokens: a.output_tokens.saturating_add(b.output_tokens),
        cost_micro_usd: a.cost_micro_usd.saturating_add(b.cost_micro_usd),
    }
}

fn minus(a: Spend, b: Spend) -> Spend {
    Spend {
        input_tokens: a.input_tokens.saturating_sub(b.input_tokens),
        output_tokens: a.output_tokens.saturating_sub(b.output_tokens),
        cost_micro_usd: a.cost_micro_usd.saturating_sub(b.cost_micro_usd),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(fresh: u64, output: u64, cost_usd: Option<f64>) -> Usage {
        Usage { fresh, output, cost_usd, ..Usage::default() }
    }

    fn spend(input_tokens: u64, output_tokens: u64, cost_micro_usd: u64) -> Spend {
        Spend { input_tokens, output_tokens, cost_micro_usd }
    }

    #[test]
    fn a_total_tells_only_what_was_not_told_before() {
        let mut meter = Meter::new(&ReadRequest::default());
        assert_eq!(meter.add(&usage(100, 1, None)), Some(spend(100, 1, 0)));
        assert_eq!(meter.settle(&usage(100, 20, Some(0.0006))), Some(spend(0, 19, 600)));
        assert_eq!(meter.settle(&usage(0, 0, None)), None);
        assert_eq!(meter.told().output_tokens, 20);
    }

    #[test]
    fn a_total_over_the_whole_session_is_not_counted_twice() {
        let mut meter = Meter::new(&ReadRequest::default());
        let total = usage(1100, 70, Some(0.75));
        assert_eq!(meter.settle_cumulative(&total), Some(spend(1100, 70, 750_000)));
        assert_eq!(meter.settle_cumulative(&total), None);
        let next = usage(1200, 90, Some(1.0));
        assert_eq!(meter.settle_cumulative(&next), Some(spend(100, 20, 250_000)));
        assert_eq!(meter.told().input_tokens, 1200);
    }

    #[test]
    fn an_untold_cost_comes_from_the_price_table() {
        let request =
            ReadRequest { model: Some("gemini-2.5-flash".to_owned()), ..ReadRequest::default() };
        let mut meter = Meter::new(&request);
        let calls = Usage { fresh: 400, cache_read: 200, output: 50, ..Usage::default() };
        assert_eq!(meter.add(&calls), Some(spend(600, 50, 251)));
    }
}
