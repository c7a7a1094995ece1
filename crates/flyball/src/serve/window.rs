//! What every request shares: who may ask, the journal, and the runs as they were told so far.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flyball_core::{Moment, RunId};
use maud::Markup;
use serde::Serialize;
use serde_json::json;

use super::access::{Access, Visitor};
use super::figures::FigureCache;
use super::stream::{Shared, Streams};
use super::totals::Totals;
use super::views::Views;
use crate::clock;
use crate::desk::{self, Ask};
use crate::error::{CliError, ErrorKind};
use crate::journal::{Journal, JournalError, RunFilter, RunSummary};

/// How much of the journal's file is held for pages: the way to a row, which the system holds anyway.
const BOOKS_KIB: i64 = 128;

/// What every request shares.
pub(super) struct Window {
    pub(super) access: Access,
    pub(super) streams: Shared,
    pub(super) state_dir: PathBuf,
    books: Mutex<Books>,
    /// Held around each act: of two who want the same, one is first.
    acting: Mutex<()>,
}

/// What is read from.
pub(super) struct Books {
    pub(super) journal: Journal,
    pub(super) views: Views,
    pub(super) figures: FigureCache,
    pub(super) totals: Totals,
}

/// Why something cannot be answered.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) error: String,
    pub(super) hint: String,
}

impl Window {
    /// Over the journal in a state folder.
    pub(super) fn open(state_dir: PathBuf, access: Access) -> Result<Self, CliError> {
        let journal = Journal::open(&state_dir)?.holding_at_most(BOOKS_KIB)?;
        let (views, figures) = (Views::default(), FigureCache::default());
        let books = Mutex::new(Books { journal, views, figures, totals: Totals::default() });
        let streams = Arc::new(Streams::default());
        Ok(Self { access, streams, state_dir, books, acting: Mutex::default() })
    }

    /// The books, for one reader at a time.
    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to act.
    pub(super) fn act(&self) -> MutexGuard<'_, ()> {
        self.acting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    /// The runs that have not ended, the latest first.
    pub(super) fn open_runs(&self) -> Result<Vec<RunSummary>, Problem> {
        let unfinished = RunFilter { unfinished: true, ..RunFilter::default() };
        Ok(self.journal.runs(&unfinished)?)
    }

    /// What needs a human, the oldest first: only the latest run of a worktree can.
    pub(super) fn asks(&self) -> Result<Vec<Ask>, Problem> {
        Ok(desk::asks(&self.journal, &self.journal.latest_runs()?)?)
    }

    /// The run with exactly this name: nothing else is taken from an address.
    pub(super) fn run(&self, name: &str) -> Result<RunSummary, Problem> {
        Ok(self.journal.run(&RunId::new(name))?)
    }

    /// What the run asks of a human, where it is the latest of its worktree.
    pub(super) fn ask(&self, run: &RunSummary) -> Result<Option<Ask>, Problem> {
        let latest = self.journal.latest_run(&run.root)?;
        let is_latest = latest.is_some_and(|latest| latest.run == run.run);
        Ok(if is_latest { desk::ask_of(&self.journal, run)? } else { None })
    }
}

/// Who looks, and when.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) window: &'a Window,
    pub(super) visitor: Visitor,
    pub(super) now: Moment,
}

impl Look<'_> {
    /// What a form needs besides the cookie.
    pub(super) fn token(&self, about: &str) -> String {
        self.window.access.page_token(self.visitor, about)
    }

    /// Whether acts are offered.
    pub(super) const fn may_act(&self) -> bool {
        matches!(self.visitor, Visitor::Page(_)) && !self.window.access.is_read_only()
    }
}

/// Answers from the books, away from the thread that serves connections.
pub(super) async fn answer<F>(window: Arc<Window>, visitor: Visitor, work: F) -> Response
where
    F: FnOnce(Look<'_>, &mut Books) -> Result<Response, Problem> + Send + 'static,
{
    let work = move || {
        let look = Look { window: &window, visitor, now: clock::wall() };
        work(look, &mut window.books())
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(response)) => response,
        Ok(Err(problem)) => problem.into_response(),
        Err(_) => Problem::internal("the answer could not be made").into_response(),
    }
}

/// A page.
pub(super) fn html(page: Markup) -> Response {
    typed("text/html; charset=utf-8", page.into_string())
}

/// Data.
pub(super) fn data(value: &impl Serialize) -> Result<Response, Problem> {
    let text = serde_json::to_string(value)
        .map_err(|error| Problem::internal(&format!("JSON could not be written: {error}")))?;
    Ok(typed("application/json", text))
}

/// Text of a kind.
pub(super) fn typed(kind: &'static str, text: impl Into<axum::body::Body>) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], text.into()).into_response()
}

impl Problem {
    pub(super) fn new(status: StatusCode, error: &str, hint: &str) -> Self {
        Self { status, error: error.to_owned(), hint: hint.to_owned() }
    }

    pub(super) fn internal(error: &str) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error, "")
    }

    /// As data.
    pub(super) fn json(&self) -> String {
        json!({ "error": self.error, "hint": self.hint }).to_string()
    }
}

impl IntoResponse for Problem {
    /// The page around it is made by who knows whether a page was asked for.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        let status = match &error {
            JournalError::UnknownRun { .. } => StatusCode::NOT_FOUND,
            JournalError::Busy { .. } => StatusCode::SERVICE_UNAVAILABLE,
            JournalError::NoPlace
            | JournalError::Io { .. }
            | JournalError::Corrupt { .. }
            | JournalError::Newer { .. }
            | JournalError::Gone { .. }
            | JournalError::BadEvent { .. }
            | JournalError::BadRow { .. }
            | JournalError::Sql { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, &error.to_string(), error.hint().unwrap_or(""))
    }
}

impl From<CliError> for Problem {
    fn from(error: CliError) -> Self {
        let status = match error.kind {
            ErrorKind::Usage | ErrorKind::Data | ErrorKind::Config => StatusCode::BAD_REQUEST,
            ErrorKind::NoInput | ErrorKind::AlreadyRunning | ErrorKind::Agent => {
                StatusCode::CONFLICT
            }
            ErrorKind::Internal | ErrorKind::Io => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let told = std::iter::once(&error.message).chain(&error.causes);
        let told: Vec<&str> = told.map(String::as_str).collect();
        Self::new(status, &told.join(": "), &error.hints.join("; "))
    }
}
