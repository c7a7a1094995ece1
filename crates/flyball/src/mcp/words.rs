//! The words of the core's types as the tools use them.

use flyball_core::task::{Remedy, Standing};

/// A remedy in one word.
pub(super) const fn remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Advise => "advise",
        Remedy::ForceNext => "force_next",
        Remedy::UnblockAuthority => "unblock_authority",
        Remedy::Escalate => "escalate",
    }
}

/// A standing in one word.
pub(super) const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Open => "open",
        Standing::Blocked => "blocked",
        Standing::Asked => "asked",
        Standing::SetAside => "set_aside",
        Standing::Escalated => "escalated",
        Standing::ForcedDone => "forced_done",
    }
}
