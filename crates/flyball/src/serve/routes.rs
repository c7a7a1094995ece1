//! Every address there is, and who answers.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde::Deserialize;

use super::access::Visitor;
use super::admit::admit;
use super::api::{self, EventsQuery, RunsQuery, StatsQuery};
use super::pages::{self, CompareQuery, ListQuery, LogQuery};
use super::window::{Problem, Window, answer, html, typed};
use super::{WINDOW_STYLE, acts, metrics};
use crate::http::{is_local, name_in};
use crate::run_report::{ReportFormat, report};
use crate::{clock, page};

/// The script of all pages.
const SCRIPT: &str = include_str!("../../assets/page.js");

/// Every address, with the methods it is answered for: what the tests go through.
#[cfg(test)]
pub(super) const ROUTES: [(&str, &str); 32] = [
    ("GET", "/runs/RUN/tamper"),
    ("POST", "/api/runs/RUN/answer"),
    ("POST", "/api/runs/RUN/unblock"),
    ("POST", "/api/runs/RUN/accept-tamper"),
    ("POST", "/api/runs/RUN/restore-tamper"),
    ("POST", "/api/runs/RUN/stop"),
    ("POST", "/api/runs/RUN/resume"),
    ("POST", "/api/runs/RUN/tell"),
    ("POST", "/api/runs/RUN/limits"),
    ("POST", "/api/tasks/retry"),
    ("GET", "/"),
    ("GET", "/runs/RUN"),
    ("GET", "/runs/RUN/events"),
    ("GET", "/runs/RUN/report"),
    ("GET", "/compare?a=RUN&b=RUN"),
    ("GET", "/tasks"),
    ("GET", "/guards"),
    ("GET", "/page.css"),
    ("GET", "/page.js"),
    ("GET", "/favicon.ico"),
    ("GET", "/metrics"),
    ("GET", "/api/runs"),
    ("GET", "/api/runs/RUN"),
    ("GET", "/api/runs/RUN/iterations"),
    ("GET", "/api/runs/RUN/matrix"),
    ("GET", "/api/runs/RUN/story"),
    ("GET", "/api/runs/RUN/acts"),
    ("GET", "/api/runs/RUN/events"),
    ("GET", "/api/asks"),
    ("GET", "/api/stats"),
    ("GET", "/api/live"),
    ("GET", "/open/CODE"),
];

/// All of it, behind what stands before it.
pub(super) fn router(window: Arc<Window>) -> Router {
    Router::new()
        .route("/", get(overview))
        .route("/runs/{run}", get(run_page))
        .route("/runs/{run}/events", get(log_page))
        .route("/runs/{run}/report", get(report_page))
        .route("/compare", get(compare_page))
        .route("/tasks", get(tasks_page))
        .route("/guards", get(guards_page))
        .route("/page.css", get(style))
        .route("/page.js", get(async || typed("text/javascript; charset=utf-8", SCRIPT)))
        .route("/favicon.ico", get(icon))
        .route("/healthz", get(health))
        .route("/open/{code}", get(open))
        .route("/metrics", get(figures))
        .route("/api/runs", get(api_runs))
        .route("/api/runs/{run}", get(api_run))
        .route("/runs/{run}/tamper", get(tamper_page))
        .route("/api/runs/{run}/{act}", get(api_part).post(acts::on_run))
        .route("/api/tasks/retry", post(acts::on_task))
        .route("/api/asks", get(api_asks))
        .route("/api/stats", get(api_stats))
        .route("/api/live", get(live))
        .layer(from_fn_with_state(Arc::clone(&window), admit))
        .with_state(window)
}

type Shared = State<Arc<Window>>;
type Asked<T> = Result<Query<T>, QueryRejection>;

/// What was asked behind the question mark; an unknown word is refused.
fn asked<T>(query: Asked<T>) -> Result<T, Problem> {
    query.map(|Query(query)| query).map_err(|rejection| {
        Problem::new(StatusCode::BAD_REQUEST, &rejection.body_text(), "leave out what is unknown")
    })
}

async fn overview(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    query: Asked<ListQuery>,
) -> Response {
    answer(window, visitor, |look, books| Ok(html(pages::overview(look, books, &asked(query)?)?)))
        .await
}

async fn run_page(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(run): Path<String>,
) -> Response {
    answer(window, visitor, move |look, books| Ok(html(pages::run(look, books, &run)?))).await
}

async fn log_page(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(run): Path<String>,
    query: Asked<LogQuery>,
) -> Response {
    answer(window, visitor, move |look, books| {
        Ok(html(pages::log(look, books, &run, &asked(query)?)?))
    })
    .await
}

async fn tamper_page(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(run): Path<String>,
) -> Response {
    answer(window, visitor, move |look, books| Ok(html(pages::tamper(look, books, &run)?))).await
}

async fn report_page(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(run): Path<String>,
) -> Response {
    answer(window, visitor, move |look, books| {
        let row = books.run(&run)?;
        let view = books.views.view(&books.journal, &row)?;
        let text = report(&view, ReportFormat::Html, look.now);
        // Handed over as a file: with its style inside it is no page of this server's.
        let mut response = typed("text/html; charset=utf-8", text);
        let name = format!("attachment; filename=\"flyball-{}.html\"", row.run);
        if let Ok(name) = HeaderValue::from_str(&name) {
            response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
        }
        Ok(response)
    })
    .await
}

async fn compare_page(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    query: Asked<CompareQuery>,
) -> Response {
    answer(window, visitor, |look, books| Ok(html(pages::compare(look, books, &asked(query)?)?)))
        .await
}

async fn tasks_page(State(window): Shared, Extension(visitor): Extension<Visitor>) -> Response {
    answer(window, visitor, |look, books| Ok(html(pages::tasks(look, books)?))).await
}

async fn guards_page(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    query: Asked<StatsQuery>,
) -> Response {
    answer(window, visitor, |look, books| Ok(html(pages::guards(look, books, &asked(query)?)?)))
        .await
}

async fn style() -> Response {
    typed("text/css; charset=utf-8", [page::STYLE, WINDOW_STYLE].concat())
}

async fn icon() -> Response {
    typed("image/svg+xml", pages::icon().into_string())
}

async fn health() -> Response {
    typed("text/plain; charset=utf-8", concat!("ok flyball ", env!("CARGO_PKG_VERSION"), "\n"))
}

async fn figures(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
) -> Response {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let grammar = metrics::Grammar::asked(accept);
    answer(window, visitor, move |look, books| {
        Ok(typed(grammar.kind(), metrics::text(books, look.now, grammar)?))
    })
    .await
}

/// The link: once, for a cookie. Under a usual name of this machine it leads to the page's own name.
async fn open(State(window): Shared, Path(code): Path<String>, headers: HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
    let name = name_in(host);
    if !window.access.is_page_host(name) && is_local(name) {
        let port = host.get(name.len()..).unwrap_or("");
        let link = format!("http://{}{port}/open/{code}", window.access.host());
        return see_other(&link);
    }
    match window.access.exchange(&code, clock::wall()) {
        Err(error) => Problem::internal(&error.to_string()).into_response(),
        Ok(None) => {
            let error = "this link was used, or is older than a minute";
            let hint = "press Enter where `flyball serve` runs for a new one";
            Problem::new(StatusCode::UNAUTHORIZED, error, hint).into_response()
        }
        Ok(Some(cookie)) => {
            let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
            // A cookie this strict is not sent along a way that began in a file: there the page
            // itself goes on.
            let goes_on = site.is_some_and(|site| site != "none" && site != "same-origin");
            let mut response = if goes_on { html(pages::goes_on()) } else { see_other("/") };
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
    }
}

/// Goes on elsewhere, by looking.
pub(super) fn see_other(to: &str) -> Response {
    let Ok(to) = HeaderValue::from_str(to) else {
        return Problem::internal("this address cannot be gone to").into_response();
    };
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

async fn live(State(window): Shared, Extension(visitor): Extension<Visitor>) -> Response {
    if let Some(body) = window.streams.open(visitor) {
        return typed("text/event-stream", body);
    }
    let error = "too many listen already";
    let hint = "close some pages; they are right without the stream, too";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, error, hint).into_response()
}

async fn api_runs(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    query: Asked<RunsQuery>,
) -> Response {
    answer(window, visitor, |_, books| api::runs(books, &asked(query)?)).await
}

async fn api_run(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(run): Path<String>,
) -> Response {
    answer(window, visitor, move |_, books| api::run(books, &run)).await
}

/// The run and the part of it.
#[derive(Debug, Deserialize)]
struct Part {
    run: String,
    act: String,
}

async fn api_part(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(Part { run, act: part }): Path<Part>,
    headers: HeaderMap,
    query: Asked<EventsQuery>,
) -> Response {
    let accept = headers.get(header::ACCEPT).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let is_lines = accept.contains("application/x-ndjson");
    let form = if is_lines { api::Form::Lines } else { api::Form::List };
    answer(window, visitor, move |_, books| match part.as_str() {
        "events" => api::events(books, &run, &asked(query)?, form),
        other => api::part(books, &run, other),
    })
    .await
}

async fn api_asks(State(window): Shared, Extension(visitor): Extension<Visitor>) -> Response {
    answer(window, visitor, |_, books| api::asks(books)).await
}

async fn api_stats(
    State(window): Shared,
    Extension(visitor): Extension<Visitor>,
    query: Asked<StatsQuery>,
) -> Response {
    answer(window, visitor, |look, books| api::stats(books, look.now, &asked(query)?)).await
}
