//! What stands before every route: who may ask, what every answer carries, and how a refusal looks.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access::{BODY_MAX, Head, Refusal};
use super::pages;
use super::window::{Problem, Window};
use crate::clock;
use crate::http::{Ends, SLOW, in_time};
use crate::journal::{ActResult, Door, NewAct};
use crate::{platform, process};

/// How long a body may take to come.
const BODY_TIME: Duration = Duration::from_secs(30);

/// On every answer. Agent output is hostile input: nothing of a page may fetch, frame or run anything
/// that is not ours.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
         form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Lets a request in, or turns it away.
pub(super) async fn admit(
    State(window): State<Arc<Window>>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path().to_owned();
    let response = match judged(&window, request).await {
        Ok(request) => next.run(request).await,
        Err(response) => response,
    };
    finished(&path, response)
}

async fn judged(window: &Arc<Window>, mut request: Request) -> Result<Request, Response> {
    let visitor = window.access.judge(head(&request));
    let visitor = match visitor {
        Ok(visitor) => visitor,
        Err(refusal) => {
            if refusal == (Refusal::WrongToken { slow: true }) {
                tokio::time::sleep(SLOW).await;
            }
            return Err(refused(refusal));
        }
    };
    if request.method() == axum::http::Method::POST {
        let ends = request.extensions().get::<Ends>().copied();
        if let Some(run) = asks_from_inside(ends).await {
            record(Arc::clone(window), request.uri().path().to_owned(), run).await;
            let error = "what a run has started does not act here";
            let problem = Problem::new(StatusCode::FORBIDDEN, error, "acts are for humans");
            return Err(problem.into_response());
        }
        let most = usize::try_from(BODY_MAX).unwrap_or(usize::MAX);
        request = in_time(request, most, BODY_TIME).await.map_err(IntoResponse::into_response)?;
    }
    request.extensions_mut().insert(visitor);
    Ok(request)
}

fn head(request: &Request) -> Head<'_> {
    let headers: &HeaderMap = request.headers();
    // What is no text is no name, no site and no token of ours.
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    // Two of one kind are none: whoever looks at the other one would decide otherwise.
    let one = |name: HeaderName| match headers.get_all(&name).iter().count() {
        0 => None,
        1 => text(name),
        _ => Some("?"),
    };
    Head {
        method: request.method().as_str(),
        path: request.uri().path(),
        host: one(header::HOST),
        origin: one(header::ORIGIN),
        authorization: text(header::AUTHORIZATION),
        cookie: text(header::COOKIE),
        content_type: one(header::CONTENT_TYPE),
        content_length: one(header::CONTENT_LENGTH),
    }
}

/// The run whose process tree asks, by the system's own table: the guarded does not hold the keys,
/// whatever it has got hold of.
async fn asks_from_inside(ends: Option<Ends>) -> Option<String> {
    let ends = ends?;
    let look = move || {
        let pid = platform::tcp_peer(ends.here, ends.there)?;
        process::run_around(pid)
    };
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

/// An act from inside of a run is written down as an attempt.
async fn record(window: Arc<Window>, path: String, run: String) {
    let record = move || {
        let act = NewAct {
            at: clock::wall(),
            run: &run,
            act: "attempt",
            by: Door::Page,
            result: ActResult::Refused,
            body: serde_json::json!({ "path": path }).to_string(),
        };
        window.books().journal.record_act(&act).ok();
    };
    tokio::task::spawn_blocking(record).await.ok();
}

fn refused(refusal: Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::FORBIDDEN);
    let (error, hint) = refusal.words();
    Problem::new(status, error, hint).into_response()
}

/// The answer with what every answer carries; a problem in the form that was asked for.
fn finished(path: &str, mut response: Response) -> Response {
    let problem = response.extensions_mut().remove::<Problem>();
    // What no route knows has no words yet.
    let problem = problem.or_else(|| match response.status() {
        StatusCode::NOT_FOUND => {
            Some(Problem::new(StatusCode::NOT_FOUND, "there is no such page", "begin at /"))
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            let (error, hint) = ("this is not answered that way", "acts are POST, all else is GET");
            Some(Problem::new(StatusCode::METHOD_NOT_ALLOWED, error, hint))
        }
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT => {
            let error = "what was sent did not come whole";
            Some(Problem::new(response.status(), error, "at most 1 MiB, within 30 s"))
        }
        _ => None,
    });
    if let Some(problem) = problem {
        let is_page = !path.starts_with("/api/") && path != "/metrics";
        let (kind, text) = if is_page {
            ("text/html; charset=utf-8", pages::problem(&problem).into_string())
        } else {
            ("application/json", problem.json())
        };
        response =
            (problem.status, [(header::CONTENT_TYPE, kind)], Body::from(text)).into_response();
        if problem.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
    }
    for (name, value) in HEADERS {
        let name = HeaderName::from_static(name);
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
