//! Who may look and who may act: judged by the head of a request, before anything is routed.
//!
//! A cookie of 127.0.0.1 is sent to every port of 127.0.0.1, so to any server an agent starts. The
//! page therefore lives under a name of its own, random for each start; a link that works once brings
//! the cookie; and a name that was pointed at this machine from outside is not answered.

mod refusal;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flyball_core::Millis;
use flyball_core::Moment;

pub(super) use self::refusal::Refusal;
use crate::http::{Token, Tries, bearer, is_local, is_own_origin, name_in};
use crate::platform;

/// How long a link works.
pub(super) const LINK_MAX: Millis = Millis::from_secs(60);
/// Links and sessions at a time; the oldest go first.
const LINKS_MAX: usize = 8;
const SESSIONS_MAX: usize = 16;
/// The largest body that is taken.
pub(super) const BODY_MAX: u64 = 1 << 20;
/// The name of the cookie.
const COOKIE: &str = "flyball";

/// How the server was started, as far as it decides who may do what.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// The page is at this name instead of a random one.
    pub(super) host: Option<String>,
    /// Further names the page may be asked for under.
    pub(super) allowed: Vec<String>,
    /// For scripts.
    pub(super) token: Option<Token>,
    /// Whether scripts may act.
    pub(super) token_writes: bool,
    /// Nobody may act.
    pub(super) read_only: bool,
}

/// Who may look and who may act.
#[derive(Debug)]
pub(super) struct Access {
    host: String,
    rules: Rules,
    links: Mutex<VecDeque<(blake3::Hash, Moment)>>,
    sessions: Mutex<VecDeque<Browser>>,
    tries: Tries,
}

/// A browser that came through a link. Only in memory: whoever runs as the same user can read files,
/// environments and arguments.
#[derive(Clone, Debug)]
struct Browser {
    number: u64,
    digest: blake3::Hash,
    key: [u8; 32],
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visitor {
    /// A browser that came through a link.
    Page(u64),
    /// A program that knows the token.
    Script,
    /// Anybody: what is asked for says nothing.
    Anybody,
}

/// What the head of a request says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) host: Option<&'a str>,
    pub(super) origin: Option<&'a str>,
    pub(super) authorization: Option<&'a str>,
    pub(super) cookie: Option<&'a str>,
    pub(super) content_type: Option<&'a str>,
    pub(super) content_length: Option<&'a str>,
}

/// Whether a method changes anything.
fn writes(method: &str) -> bool {
    method == "POST"
}

impl Access {
    /// With a name of its own, unless one is given.
    pub(super) fn new(rules: Rules) -> io::Result<Self> {
        let host = match &rules.host {
            Some(host) => host.clone(),
            None => format!("{}.localhost", secret(10)?),
        };
        let (links, sessions) = (Mutex::default(), Mutex::default());
        Ok(Self { host, rules, links, sessions, tries: Tries::default() })
    }

    /// The name the page is at.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Whether anybody may act.
    pub(super) const fn is_read_only(&self) -> bool {
        self.rules.read_only
    }

    /// A code that works once, within a minute.
    pub(super) fn new_code(&self, now: Moment) -> io::Result<String> {
        let code = secret(32)?;
        let mut links = lock(&self.links);
        if links.len() == LINKS_MAX {
            links.pop_front();
        }
        links.push_back((blake3::hash(code.as_bytes()), now));
        Ok(code)
    }

    /// Takes a code for a cookie; none when it is wrong, used or too old.
    pub(super) fn exchange(&self, code: &str, now: Moment) -> io::Result<Option<String>> {
        let digest = blake3::hash(code.as_bytes());
        {
            let mut links = lock(&self.links);
            links.retain(|(_, made)| now.since(*made) < LINK_MAX);
            let Some(at) = links.iter().position(|(known, _)| *known == digest) else {
                self.tries.wrong();
                return Ok(None);
            };
            links.remove(at);
        }
        let (secret, key) = (secret(32)?, platform::random_bytes()?);
        let mut sessions = lock(&self.sessions);
        let number = sessions.back().map_or(1, |last| last.number + 1);
        if sessions.len() == SESSIONS_MAX {
            sessions.pop_front();
        }
        sessions.push_back(Browser { number, digest: blake3::hash(secret.as_bytes()), key });
        Ok(Some(format!("{COOKIE}={secret}; HttpOnly; SameSite=Strict; Path=/")))
    }

    /// Whether a browser is still known.
    pub(super) fn knows(&self, session: u64) -> bool {
        lock(&self.sessions).iter().any(|one| one.number == session)
    }

    /// What a page shows besides the cookie to act on something; empty for who needs none.
    pub(super) fn page_token(&self, visitor: Visitor, about: &str) -> String {
        let Visitor::Page(number) = visitor else { return String::new() };
        let sessions = lock(&self.sessions);
        let Some(session) = sessions.iter().find(|one| one.number == number) else {
            return String::new();
        };
        let digest = blake3::keyed_hash(&session.key, about.as_bytes()).to_hex();
        digest.as_str().chars().take(32).collect()
    }

    /// Whether this is what the page was given; scripts need none.
    pub(super) fn is_page_token(&self, visitor: Visitor, about: &str, offered: &str) -> bool {
        match visitor {
            Visitor::Script => true,
            Visitor::Anybody => false,
            Visitor::Page(_) => {
                let expected = self.page_token(visitor, about);
                !expected.is_empty()
                    && blake3::hash(expected.as_bytes()) == blake3::hash(offered.as_bytes())
            }
        }
    }

    /// Whether a name is one the page is at.
    pub(super) fn is_page_host(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(&self.host)
            || self.rules.allowed.iter().any(|allowed| name.eq_ignore_ascii_case(allowed))
    }

    /// Whether a request with this head is let in, and as whom.
    pub(super) fn judge(&self, head: Head<'_>) -> Result<Visitor, Refusal> {
        let host = head.host.ok_or(Refusal::Host)?;
        let name = name_in(host);
        if !self.is_page_host(name) && !is_local(name) {
            return Err(Refusal::Host);
        }
        if !matches!(head.method, "GET" | "HEAD" | "POST") {
            return Err(Refusal::Method);
        }
        if head.origin.is_some_and(|origin| !self.is_own(origin, host)) {
            return Err(Refusal::Origin);
        }
        let is_open = head.path == "/healthz" || head.path.starts_with("/open/");
        if is_open && !writes(head.method) {
            return Ok(Visitor::Anybody);
        }
        let visitor = self.visitor(head, name)?;
        if writes(head.method) {
            self.judge_write(head, visitor)?;
        }
        Ok(visitor)
    }

    fn visitor(&self, head: Head<'_>, name: &str) -> Result<Visitor, Refusal> {
        if let Some(authorization) = head.authorization {
            let token = self.rules.token.as_ref();
            if token.is_some_and(|token| token.is(bearer(authorization))) {
                return Ok(Visitor::Script);
            }
            return Err(Refusal::WrongToken { slow: self.tries.wrong() });
        }
        let cookie = head.cookie.filter(|_| self.is_page_host(name));
        let cookie = cookie.and_then(cookie_of).ok_or(Refusal::Unknown)?;
        let digest = blake3::hash(cookie.as_bytes());
        let sessions = lock(&self.sessions);
        let found = sessions.iter().find(|session| session.digest == digest);
        found.map(|session| Visitor::Page(session.number)).ok_or(Refusal::Unknown)
    }

    fn judge_write(&self, head: Head<'_>, visitor: Visitor) -> Result<(), Refusal> {
        let is_script = visitor == Visitor::Script;
        // A browser says where a page came from; what does not say it is no page of ours.
        if head.origin.is_none() && !is_script {
            return Err(Refusal::Origin);
        }
        if self.rules.read_only || (is_script && !self.rules.token_writes) {
            return Err(Refusal::ReadOnly);
        }
        if !head.content_type.is_some_and(is_form_or_json) {
            return Err(Refusal::Form);
        }
        let length = head.content_length.map_or(Ok(0), str::parse::<u64>);
        if length.is_ok_and(|length| length <= BODY_MAX) { Ok(()) } else { Err(Refusal::TooLarge) }
    }

    /// Whether a page comes from the very host it asks; a name that was allowed may be behind a
    /// tunnel with a certificate.
    fn is_own(&self, origin: &str, host: &str) -> bool {
        let name = name_in(host);
        let is_allowed = self.rules.allowed.iter().any(|one| name.eq_ignore_ascii_case(one));
        let behind_tunnel = is_allowed && origin.strip_prefix("https://") == Some(host);
        is_own_origin(origin, host) || behind_tunnel
    }
}

fn is_form_or_json(content_type: &str) -> bool {
    let (kind, parameter) = match content_type.split_once(';') {
        Some((kind, parameter)) => (kind, Some(parameter.trim())),
        None => (content_type, None),
    };
    let is_text = parameter.is_none_or(|one| one.eq_ignore_ascii_case("charset=utf-8"));
    is_text && matches!(kind.trim(), "application/json" | "application/x-www-form-urlencoded")
}

/// The value of our cookie.
fn cookie_of(header: &str) -> Option<&str> {
    let mut pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// Letters and digits nobody can guess; a name of a host may have them too.
fn secret(length: usize) -> io::Result<String> {
    let hash = blake3::hash(&platform::random_bytes()?).to_hex();
    // The first is a letter: a name of digits alone would be an address.
    Ok(std::iter::once('k').chain(hash.as_str().chars().take(length)).collect())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
