//! What a session uses: tokens, money, and how full its context is.

use flyball_core::AgentFact;
use flyball_core::event::Spend;

use super::super::UsageEntry;
use super::super::meter::Usage;
use super::StreamSession;

/// Where tokens are known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// What the stream tells on the way, if anything.
    OnTheWay,
    /// The client's own usage file.
    UsageFile,
    /// The stream's own total, which holds everything before it.
    Total,
}

impl StreamSession {
    /// One model call's tokens; also how full the context is.
    pub(crate) fn used(&mut self, usage: &Usage) {
        if let Some(spend) = self.meter.add(usage) {
            self.fact(AgentFact::Spent(spend));
        }
    }

    /// What the client's own usage file says. A total of the stream's holds all of it.
    pub(crate) fn used_by_file(&mut self, entry: &UsageEntry) {
        if self.counting == Counting::Total {
            return;
        }
        self.counting = Counting::UsageFile;
        if let Some(model) = &entry.model {
            self.model(model);
        }
        if let Some(window) = entry.window {
            self.window(window);
        }
        self.used(&entry.usage);
        if let Some(context) = entry.context {
            self.context(context);
        }
    }

    /// The client's own total since its last one.
    pub(crate) fn settled(&mut self, total: &Usage) {
        self.counting = Counting::Total;
        if let Some(spend) = self.meter.settle(total) {
            self.fact(AgentFact::Spent(spend));
        }
    }

    /// The client's own total over the whole session, every earlier total included.
    pub(crate) fn settled_cumulative(&mut self, total: &Usage) {
        self.counting = Counting::Total;
        if let Some(spend) = self.meter.settle_cumulative(total) {
            self.fact(AgentFact::Spent(spend));
        }
    }

    /// The client's own total since its last one in tokens, over the whole session in money.
    pub(crate) fn settled_tokens(&mut self, total: &Usage) {
        self.counting = Counting::Total;
        if let Some(spend) = self.meter.settle_tokens(total) {
            self.fact(AgentFact::Spent(spend));
        }
    }

    /// Everything that was told.
    pub(crate) fn told(&self) -> Spend {
        self.meter.told()
    }

    /// The client says how large the context window is.
    pub(crate) fn window(&mut self, tokens: u64) {
        if tokens > 0 {
            self.window = Some(tokens);
        }
    }

    /// So many tokens are in the context window.
    pub(crate) fn context(&mut self, used: u64) {
        let priced = || self.meter.price().and_then(|price| price.window);
        let Some(window) = self.window.or_else(priced).filter(|&window| window > 0) else { return };
        let permille = used.saturating_mul(1000) / window;
        let permille = u16::try_from(permille.min(1000)).unwrap_or(1000);
        // A step of one percent: nobody acts on less.
        if permille >= self.permille.saturating_add(10) {
            self.permille = permille;
            self.fact(AgentFact::FilledContext { permille });
        }
    }

    /// The client condensed the context: it fills anew.
    pub(crate) fn condensed(&mut self) {
        self.permille = 0;
    }

    /// The context by what was seen, for clients that do not count.
    pub(crate) fn context_by_size(&mut self) {
        if self.counting != Counting::UsageFile {
            self.context(self.seen / 4);
        }
    }
}
