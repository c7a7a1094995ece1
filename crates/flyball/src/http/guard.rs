//! Who may ask at all: judged by the head of a request, before anything is routed.

use std::sync::atomic::{AtomicU32, Ordering};

use super::Token;

/// After so many wrong tokens each further one is answered slowly.
const WRONG_MAX: u32 = 10;
/// Names of this machine.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What stands before a server.
#[derive(Debug)]
pub(crate) struct Guard {
    token: Token,
    body_max: u64,
    tries: Tries,
}

/// How often who asked did not know the token.
#[derive(Debug, Default)]
pub(crate) struct Tries(AtomicU32);

impl Tries {
    /// Once more; whether the answer should take its time by now.
    pub(crate) fn wrong(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) >= WRONG_MAX
    }
}

/// What the head of a request says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) origin: Option<&'a str>,
    pub(crate) authorization: Option<&'a str>,
    pub(crate) content_length: Option<&'a str>,
}

/// Why a request is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It was sent to a name that is not this machine's: a name may be pointed anywhere.
    Host,
    /// A page of another site sent it.
    Origin,
    /// More is announced than is taken.
    TooLarge,
    /// It comes without the token.
    NoToken,
    /// Its token is wrong; when that has happened often, the answer takes its time.
    WrongToken {
        /// Whether it does.
        slow: bool,
    },
}

impl Refusal {
    /// The status it is answered with.
    pub(crate) const fn status(self) -> u16 {
        match self {
            Self::Host | Self::Origin => 403,
            Self::TooLarge => 413,
            Self::NoToken | Self::WrongToken { .. } => 401,
        }
    }

    /// What is said about it.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Host => "flyball: ask for localhost or 127.0.0.1; no other name is answered\n",
            Self::Origin => "flyball: pages of other sites are not answered\n",
            Self::TooLarge => "flyball: the message is too large\n",
            Self::NoToken => {
                "flyball: send `Authorization: Bearer TOKEN`; the server said at its start which \
                 file holds the token\n"
            }
            Self::WrongToken { .. } => "flyball: this is not the token\n",
        }
    }
}

impl Guard {
    /// How much of a body is taken, announced or not.
    pub(super) fn body_max(&self) -> usize {
        usize::try_from(self.body_max).unwrap_or(usize::MAX)
    }

    /// A guard that lets in who knows this token, with messages up to this size.
    pub(crate) fn new(token: Token, body_max: u64) -> Self {
        Self { token, body_max, tries: Tries::default() }
    }

    /// Whether a request with this head is let in.
    pub(crate) fn judge(&self, head: Head<'_>) -> Result<(), Refusal> {
        let host = head.host.filter(|host| is_local(name_in(host))).ok_or(Refusal::Host)?;
        // A browser says where a page came from; other programs say nothing.
        if head.origin.is_some_and(|origin| !is_own_origin(origin, host)) {
            return Err(Refusal::Origin);
        }
        let offered = head.authorization.ok_or(Refusal::NoToken)?;
        if self.token.is(bearer(offered)) {
            // A body without a length is counted as it comes, by who reads it.
            let length = head.content_length.map_or(Ok(0), str::parse::<u64>);
            let fits = length.is_ok_and(|length| length <= self.body_max);
            return if fits { Ok(()) } else { Err(Refusal::TooLarge) };
        }
        Err(Refusal::WrongToken { slow: self.tries.wrong() })
    }
}

/// The token in an `Authorization` header; empty where there is none.
pub(crate) fn bearer(authorization: &str) -> &str {
    authorization
        .split_once(' ')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map_or("", |(_, token)| token.trim())
}

/// The name in a Host header, at whatever port: the port may be a tunnel's.
pub(crate) fn name_in(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

/// Whether a name is this machine's.
pub(crate) fn is_local(name: &str) -> bool {
    LOCAL.iter().any(|local| name.eq_ignore_ascii_case(local))
}

/// Whether a page comes from the very host it asks.
pub(crate) fn is_own_origin(origin: &str, host: &str) -> bool {
    origin.strip_prefix("http://") == Some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_names_this_machine_comes_from_no_other_site_and_knows_the_token_is_let_in() {
        let guard = Guard::new(Token::of("right"), 10);
        let right = Some("Bearer right");
        let cases = [
            (Some("127.0.0.1:8790"), None, right, Ok(())),
            (Some("localhost"), None, Some("bearer  right "), Ok(())),
            (Some("[::1]:1"), None, right, Ok(())),
            (Some("localhost:80"), Some("http://localhost:80"), right, Ok(())),
            (None, None, right, Err(Refusal::Host)),
            (Some("evil.example"), None, right, Err(Refusal::Host)),
            (Some("localhost.evil.example"), None, right, Err(Refusal::Host)),
            (Some("127.0.0.1.evil.example:80"), None, right, Err(Refusal::Host)),
            (Some("localhost:80:80"), None, right, Err(Refusal::Host)),
            (Some("localhost:80"), Some("http://evil.example"), right, Err(Refusal::Origin)),
            (Some("localhost:80"), Some("http://localhost:3000"), right, Err(Refusal::Origin)),
            (Some("localhost:80"), Some("https://localhost:80"), right, Err(Refusal::Origin)),
            (Some("localhost:80"), Some("null"), right, Err(Refusal::Origin)),
            (Some("localhost"), None, None, Err(Refusal::NoToken)),
        ];
        for (host, origin, authorization, expected) in cases {
            let head = Head { host, origin, authorization, content_length: Some("10") };
            assert_eq!(guard.judge(head), expected, "{head:?}");
        }
        for length in ["11", "99999999999999999999", "x"] {
            let (host, content_length) = (Some("localhost"), Some(length));
            let head = Head { host, authorization: right, content_length, origin: None };
            assert_eq!(guard.judge(head), Err(Refusal::TooLarge), "{length}");
        }
    }

    #[test]
    fn who_guesses_is_slowed_down() {
        let guard = Guard::new(Token::of("right"), 10);
        let (host, authorization) = (Some("localhost"), Some("Bearer x"));
        let guess = Head { host, authorization, ..Head::default() };
        for tried in 0..=WRONG_MAX {
            let slow = tried == WRONG_MAX;
            assert_eq!(guard.judge(guess), Err(Refusal::WrongToken { slow }), "{tried}");
        }
        for other in ["", "Bearer", "Basic right", "right", "Bearer righ", "Bearer rightt"] {
            let head = Head { authorization: Some(other), ..guess };
            assert!(matches!(guard.judge(head), Err(Refusal::WrongToken { .. })), "{other:?}");
        }
    }
}
