//! Why a request is turned away, in numbers and in words.

/// Why a request is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::serve) enum Refusal {
    /// It was sent to a name that is not ours.
    Host,
    /// A page of another site sent it, or nobody says which page did.
    Origin,
    /// Nothing says who asks.
    Unknown,
    /// Its token is wrong; when that has happened often, the answer takes its time.
    WrongToken { slow: bool },
    /// There is no such way to ask.
    Method,
    /// What it sends is neither a form nor JSON.
    Form,
    /// More is announced than is taken.
    TooLarge,
    /// Nobody acts here, or scripts do not.
    ReadOnly,
}

impl Refusal {
    pub(in crate::serve) const fn status(self) -> u16 {
        match self {
            Self::Host | Self::Origin | Self::ReadOnly => 403,
            Self::Unknown | Self::WrongToken { .. } => 401,
            Self::Method => 405,
            Self::Form => 415,
            Self::TooLarge => 413,
        }
    }

    /// What was wrong, and what helps.
    pub(in crate::serve) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Host => (
                "this name is not answered",
                "open the link that `flyball serve` printed; another name needs --allow-host NAME",
            ),
            Self::Origin => {
                ("pages of other sites are not answered", "act from flyball's own page")
            }
            Self::Unknown => (
                "nobody knows who asks",
                "open the link that `flyball serve` prints: press Enter there for a new one; scripts \
                 send `Authorization: Bearer TOKEN` (--token-file)",
            ),
            Self::WrongToken { .. } => {
                ("this is not the token", "it is in the file of --token-file")
            }
            Self::Method => ("only GET, HEAD and POST are answered", "acts are POST"),
            Self::Form => (
                "what was sent is neither a form nor JSON",
                "Content-Type: application/json or application/x-www-form-urlencoded",
            ),
            Self::TooLarge => ("the message is too large", "at most 1 MiB"),
            Self::ReadOnly => (
                "nothing can be changed here",
                "serve without --read-only; scripts act with --token-writes",
            ),
        }
    }
}
