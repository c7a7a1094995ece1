//! A model that can be asked.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue, Uri};

use crate::answer::Answer;
use crate::cancel::Cancel;
use crate::dialect;
use crate::exchange::{Arrived, Exchange, Post, Waited, now};
use crate::failure::{Failure, FailureKind};
use crate::families::context_window;
use crate::message::Origin;
use crate::reply::{Event, Reply};
use crate::request::Request;
use crate::retries::Retries;
use crate::settings::Settings;
use crate::trouble::Told;
use crate::words::{Stage, Words};

/// The longest error that is read.
const ERROR_BYTES: usize = 64 * 1024;

/// How many connections are kept for the next request: one, and a few for sub-agents.
const AGENTS_MAX: usize = 4;

/// How long they are kept.
const IDLE_MAX: Duration = Duration::from_mins(1);

/// A model that can be asked, from several threads at once too.
#[derive(Debug)]
pub struct Model {
    settings: Settings,
    address: String,
    words: Words,
    /// Each serves one request at a time, so that ending it ends no other.
    agents: Mutex<Vec<Agent>>,
}

impl Model {
    /// A model as the settings name it. Nothing is sent yet.
    pub fn new(settings: Settings) -> Result<Self, Failure> {
        let url = &settings.url;
        let wrong = |why: &str| Failure::new(FailureKind::Rejected, format!("`{url}` {why}"));
        let uri: Uri = url.parse().map_err(|_| wrong("is no address"))?;
        let authority = uri.authority().ok_or_else(|| wrong("is no address: it names no host"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong("is no address of the web: it begins with neither http nor https"));
        }
        if authority.as_str().contains('@') {
            let why = "an address holds a password: give it as the key or in a header instead";
            return Err(Failure::new(FailureKind::Rejected, why));
        }
        for (name, value) in &settings.headers {
            if HeaderName::try_from(name).is_err() || HeaderValue::try_from(value).is_err() {
                let words = format!("the header `{name}` cannot be sent");
                return Err(Failure::new(FailureKind::Rejected, words));
            }
        }
        let words = Words::new(&settings, authority.as_str().to_owned());
        let address = dialect::address(&settings);
        Ok(Self { settings, address, words, agents: Mutex::default() })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.settings.model
    }

    /// How many tokens its context window has, where its family is known.
    pub fn window(&self) -> Option<u64> {
        context_window(&self.settings.model)
    }

    /// Asks it once, and tells what comes while it comes. Returns at once when it is cancelled.
    pub fn ask(
        &self,
        request: &Request<'_>,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<Reply, Failure> {
        if cancel.is_cancelled() {
            return Err(self.words.cancelled());
        }
        let asked = Origin { wire: self.settings.wire, model: self.settings.model.clone() };
        let body = dialect::body(&self.settings, request, &asked)
            .map_err(|error| self.words.failure(FailureKind::Rejected, error.to_string()))?;
        let headers = dialect::headers(&self.settings, request);
        let post = Post { url: self.address.clone(), headers, body };
        let exchange = Exchange::begin(self.agent(), post, (cancel, request.within))
            .map_err(|error| self.words.failure(FailureKind::Unreachable, error.to_string()))?;
        let mut answer = Answer::new(asked, request.messages, &self.settings.limits, on_event);
        match self.read(&exchange, &mut answer) {
            Ok(()) => {
                self.keep(exchange.finish());
                Ok(answer.finish())
            }
            // Everything was said; only the farewell is missing.
            Err(failure) if answer.has_stopped() && is_late(failure.kind) => {
                exchange.abandon();
                Ok(answer.finish())
            }
            Err(failure) => {
                exchange.abandon();
                Err(Failure { partial: answer.partial(), ..failure })
            }
        }
    }

    /// Asks it, and asks again when that can help, as often and as late as `retries` and the service
    /// allow. Before each wait `on_event` gets [`Event::Again`].
    pub fn ask_patiently(
        &self,
        request: &Request<'_>,
        cancel: &Cancel,
        patience: &Patience<'_>,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<Reply, Failure> {
        let seed = request.conversation.unwrap_or(&self.settings.model);
        let seed = seed.bytes().fold(0, |seed: u64, byte| {
            seed.rotate_left(5).wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        let mut attempt = 1;
        loop {
            let failure = match self.ask(request, cancel, on_event) {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let now = (patience.now)();
            let Some(wait) = patience.retries.wait(&failure, attempt, seed, now) else {
                return Err(failure);
            };
            on_event(Event::Again { failure: &failure, wait, attempt });
            if cancel.wait(wait) {
                return Err(self.words.cancelled());
            }
            attempt += 1;
        }
    }

    /// Reads an answer to its end.
    fn read(&self, exchange: &Exchange<'_>, answer: &mut Answer<'_>) -> Result<(), Failure> {
        let limits = &self.settings.limits;
        let begun = now();
        let (status, headers) = match self.next(exchange, limits.first_byte, Stage::Before)? {
            Arrived::Head(status, headers) => (status, headers),
            Arrived::Broken(error) => return Err(self.words.broken(&error, Stage::Before)),
            Arrived::Bytes(_) | Arrived::End | Arrived::Wake => return Err(self.words.cut("")),
        };
        answer.alive();
        if !(200..300).contains(&status) {
            let body = self.collect(exchange, ERROR_BYTES, Body::Cut)?;
            return Err(self.words.told(&Told::in_answer(status, &headers, &body)));
        }
        let is_json = headers
            .iter()
            .any(|(name, value)| name == "content-type" && value.contains("application/json"));
        if is_json {
            let body = self.collect(exchange, limits.line_bytes, Body::Whole)?;
            return answer.whole(&body).map_err(|trouble| self.words.trouble(&trouble));
        }
        let first = limits.first_byte.saturating_sub(begun.elapsed());
        self.stream(exchange, first, answer)
    }

    fn stream(
        &self,
        exchange: &Exchange<'_>,
        first: Duration,
        answer: &mut Answer<'_>,
    ) -> Result<(), Failure> {
        while !answer.is_whole() {
            let (limit, stage) = if answer.has_begun() {
                (self.settings.limits.between_bytes, Stage::Within)
            } else {
                (first, Stage::Before)
            };
            match self.next(exchange, limit, stage)? {
                Arrived::Bytes(bytes) => {
                    answer.feed(&bytes).map_err(|trouble| self.words.trouble(&trouble))?;
                }
                Arrived::End => {
                    let is_whole = answer.end().map_err(|trouble| self.words.trouble(&trouble))?;
                    return if is_whole { Ok(()) } else { Err(self.words.cut("")) };
                }
                Arrived::Broken(error) => return Err(self.words.broken(&error, Stage::Within)),
                Arrived::Head(..) | Arrived::Wake => {}
            }
        }
        Ok(())
    }

    /// A body that is no stream.
    fn collect(
        &self,
        exchange: &Exchange<'_>,
        max: usize,
        wanted: Body,
    ) -> Result<Vec<u8>, Failure> {
        let must_be_whole = wanted == Body::Whole;
        let mut body = Vec::new();
        while body.len() < max {
            match self.next(exchange, self.settings.limits.between_bytes, Stage::Within) {
                Ok(Arrived::Bytes(bytes)) => body.extend_from_slice(&bytes),
                Ok(Arrived::End) => return Ok(body),
                Ok(Arrived::Broken(error)) if must_be_whole => {
                    return Err(self.words.broken(&error, Stage::Within));
                }
                Err(failure) if must_be_whole || failure.kind == FailureKind::Cancelled => {
                    return Err(failure);
                }
                // The status alone says enough.
                Ok(Arrived::Broken(_) | Arrived::Head(..) | Arrived::Wake) | Err(_) => {
                    return Ok(body);
                }
            }
        }
        if must_be_whole {
            let words = format!("the answer has more than {max} bytes");
            return Err(self.words.failure(FailureKind::TooLarge, words));
        }
        body.truncate(max);
        Ok(body)
    }

    fn next(
        &self,
        exchange: &Exchange<'_>,
        limit: Duration,
        stage: Stage,
    ) -> Result<Arrived, Failure> {
        exchange.next(limit).map_err(|waited| match waited {
            Waited::Cancelled => self.words.cancelled(),
            Waited::TooLong if stage == Stage::Within => self.words.silent(limit, stage),
            Waited::TooLong => self.words.silent(self.settings.limits.first_byte, stage),
        })
    }

    fn agent(&self) -> Agent {
        if let Some(agent) = self.agents().pop() {
            return agent;
        }
        let connect = self.settings.limits.connect;
        let mut config = Agent::config_builder();
        if self.words.is_local() {
            // The environment's proxy is the way out of this machine.
            config = config.proxy(None);
        }
        let config = config
            .http_status_as_error(false)
            // A key goes to nobody but the one it was meant for.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(connect))
            .timeout_connect(Some(connect))
            .max_idle_age(IDLE_MAX)
            .user_agent(concat!("flyball-models/", env!("CARGO_PKG_VERSION")))
            .build();
        Agent::new_with_config(config)
    }

    fn keep(&self, agent: Option<Agent>) {
        let mut agents = self.agents();
        if agents.len() < AGENTS_MAX {
            agents.extend(agent);
        }
    }

    fn agents(&self) -> MutexGuard<'_, Vec<Agent>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much of a body is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// All of it.
    Whole,
    /// As much as there is room for.
    Cut,
}

/// How patiently a model is asked.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// How often, and after which time.
    pub retries: Retries,
    /// The clock: services name moments.
    pub now: &'a dyn Fn() -> SystemTime,
}

impl std::fmt::Debug for Patience<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Patience").field("retries", &self.retries).finish_non_exhaustive()
    }
}

/// Whether the end of a connection, and not of an answer, is what failed.
fn is_late(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Cut | FailureKind::Silent)
}
