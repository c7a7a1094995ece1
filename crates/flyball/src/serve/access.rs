//! Who may look and who may act: judged by the head of a request, before anything is routed.
//!
//! A cookie of 127.0.0.1 is sent to every port of 127.0.0.1, so to any server an agent starts. The
//! page therefore lives under a name of its own, random for each start; a link that works once brings
//! the cookie; and a name that was pointed at this machine from outside is not answered.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flyball_core::Millis;
use flyball_core::Moment;

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

/// Why a request is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
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
    pub(super) const fn status(self) -> u16 {
        match self {
            Self::Host | Self::Origin | Self::ReadOnly => 403,
            Self::Unknown | Self::WrongToken { .. } => 401,
            Self::Method => 405,
            Self::Form => 415,
            Self::TooLarge => 413,
        }
    }

    /// What was wrong, and what helps.
    pub(super) const fn words(self) -> (&'static str, &'static str) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment::from_millis(1_000_000);

    fn access(rules: Rules) -> (Access, String) {
        let access = Access::new(rules).unwrap();
        let code = access.new_code(NOW).unwrap();
        let cookie = access.exchange(&code, NOW).unwrap().unwrap();
        let pair = cookie.split(';').next().unwrap().to_owned();
        (access, pair)
    }

    #[test]
    fn a_link_works_once_and_for_a_minute() {
        let access = Access::new(Rules::default()).unwrap();
        let code = access.new_code(NOW).unwrap();
        assert!(code.len() >= 32, "128 bits at least");
        assert!(access.exchange("k0", NOW).unwrap().is_none());
        let cookie = access.exchange(&code, NOW).unwrap().unwrap();
        for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        for part in ["Domain", "Max-Age", "Expires"] {
            assert!(!cookie.contains(part), "{cookie}");
        }
        assert!(access.exchange(&code, NOW).unwrap().is_none(), "used twice");
        let code = access.new_code(NOW).unwrap();
        assert!(access.exchange(&code, NOW.plus(LINK_MAX)).unwrap().is_none(), "too old");
    }

    #[test]
    fn only_the_page_itself_acts() {
        let (access, cookie) = access(Rules::default());
        let host = format!("{}:8791", access.host());
        let origin = format!("http://{host}");
        let right = Head {
            method: "POST",
            path: "/api/runs/a/stop",
            host: Some(&host),
            origin: Some(&origin),
            cookie: Some(&cookie),
            content_type: Some("application/x-www-form-urlencoded"),
            content_length: Some("10"),
            authorization: None,
        };
        assert_eq!(access.judge(right), Ok(Visitor::Page(1)));
        let tunnel = format!("{}:9999", access.host());
        let tunnel_origin = format!("http://{tunnel}");
        let other = Head { host: Some(&tunnel), origin: Some(&tunnel_origin), ..right };
        assert_eq!(access.judge(other), Ok(Visitor::Page(1)), "ssh -L at another port");
        let foreign = format!("http://{}:1", access.host());
        let cases = [
            (Head { host: None, ..right }, Refusal::Host),
            (Head { host: Some("evil.example"), ..right }, Refusal::Host),
            (Head { host: Some("other.localhost:8791"), ..right }, Refusal::Host),
            (Head { origin: None, ..right }, Refusal::Origin),
            (Head { origin: Some("http://evil.example"), ..right }, Refusal::Origin),
            (Head { origin: Some(&foreign), ..right }, Refusal::Origin),
            (Head { origin: Some("null"), ..right }, Refusal::Origin),
            (Head { cookie: None, ..right }, Refusal::Unknown),
            (Head { cookie: Some("flyball=x"), ..right }, Refusal::Unknown),
            (Head { method: "PUT", ..right }, Refusal::Method),
            (Head { method: "DELETE", ..right }, Refusal::Method),
            (Head { content_type: Some("text/plain"), ..right }, Refusal::Form),
            (Head { content_type: None, ..right }, Refusal::Form),
            (Head { content_length: Some("1048577"), ..right }, Refusal::TooLarge),
            (Head { content_length: Some("x"), ..right }, Refusal::TooLarge),
            (
                Head { authorization: Some("Bearer x"), ..right },
                Refusal::WrongToken { slow: false },
            ),
        ];
        for (head, refusal) in cases {
            assert_eq!(access.judge(head), Err(refusal), "{head:?}");
        }
        // The same machine under its usual name has no cookie of ours, whatever it sends.
        let (local, local_origin) = ("127.0.0.1:8791", "http://127.0.0.1:8791");
        let local = Head { host: Some(local), origin: Some(local_origin), ..right };
        assert_eq!(access.judge(local), Err(Refusal::Unknown));
    }

    #[test]
    fn scripts_look_and_act_only_when_they_were_allowed_to() {
        let rules = |token_writes| Rules {
            token: Some(Token::of("0123456789abcdef")),
            token_writes,
            ..Rules::default()
        };
        let head = |method| Head {
            method,
            path: "/api/runs",
            host: Some("127.0.0.1:1"),
            authorization: Some("Bearer 0123456789abcdef"),
            content_type: Some("application/json"),
            ..Head::default()
        };
        let (reads, _) = access(rules(false));
        assert_eq!(reads.judge(head("GET")), Ok(Visitor::Script));
        assert_eq!(reads.judge(head("POST")), Err(Refusal::ReadOnly));
        let (acts, _) = access(rules(true));
        assert_eq!(acts.judge(head("POST")), Ok(Visitor::Script));
        let (none, _) = access(Rules { read_only: true, ..rules(true) });
        assert_eq!(none.judge(head("POST")), Err(Refusal::ReadOnly));
        let guess = Head { authorization: Some("Bearer x"), ..head("GET") };
        let slow = (0..12).map(|_| acts.judge(guess)).last();
        assert_eq!(slow, Some(Err(Refusal::WrongToken { slow: true })));
    }

    #[test]
    fn a_token_of_one_page_is_no_token_of_another() {
        let (access, _) = access(Rules::default());
        let code = access.new_code(NOW).unwrap();
        access.exchange(&code, NOW).unwrap().unwrap();
        let (first, second) = (Visitor::Page(1), Visitor::Page(2));
        let token = access.page_token(first, "run-a");
        assert!(access.is_page_token(first, "run-a", &token));
        assert!(!access.is_page_token(first, "run-b", &token));
        assert!(!access.is_page_token(second, "run-a", &token));
        assert!(!access.is_page_token(Visitor::Page(9), "run-a", ""));
        assert!(!access.is_page_token(Visitor::Anybody, "run-a", &token));
    }

    #[test]
    fn two_starts_have_two_names() {
        let one = Access::new(Rules::default()).unwrap();
        let two = Access::new(Rules::default()).unwrap();
        assert_ne!(one.host(), two.host());
        assert!(one.host().ends_with(".localhost") && one.host().len() > 18);
    }
}
