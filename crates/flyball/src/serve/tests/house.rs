//! A journal of its own, and a window on it that is asked without a socket.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use flyball_core::{Effect, Event, Moment, RunId};
use flyball_testkit::sim::Sim;
use tempfile::TempDir;
use tower::ServiceExt;

use crate::http::Token;
use crate::journal::{Journal, NewRun, RunProgress};
use crate::serve::access::{Access, Rules};
use crate::serve::routes::router;
use crate::serve::window::Window;
use crate::view::Builder;

pub(super) const TOKEN: &str = "0123456789abcdef0123";

/// A state folder with a window on it.
pub(super) struct House {
    pub(super) window: Arc<Window>,
    pub(super) router: Router,
    pub(super) cookie: String,
    _state: TempDir,
}

/// What was answered.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
}

impl House {
    /// With a journal that was written before.
    pub(super) fn with(fill: impl FnOnce(&mut Journal)) -> Self {
        Self::ruled(Rules::default(), fill)
    }

    /// The same, under other rules; scripts know the token.
    pub(super) fn ruled(rules: Rules, fill: impl FnOnce(&mut Journal)) -> Self {
        let state = tempfile::tempdir().unwrap();
        fill(&mut Journal::open(state.path()).unwrap());
        let rules = Rules { token: Some(Token::of(TOKEN)), ..rules };
        let access = Access::new(rules).unwrap();
        let window = Arc::new(Window::open(state.path().to_path_buf(), access).unwrap());
        let router = router(Arc::clone(&window));
        let mut house = Self { window, router, cookie: String::new(), _state: state };
        house.cookie = house.new_cookie();
        house
    }

    /// The cookie of one more browser.
    pub(super) fn new_cookie(&self) -> String {
        let now = crate::clock::wall();
        let code = self.window.access.new_code(now).unwrap();
        let cookie = self.window.access.exchange(&code, now).unwrap().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    pub(super) fn host(&self) -> String {
        format!("{}:8791", self.window.access.host())
    }

    /// A request as the page's own browser makes it.
    pub(super) fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.host())
            .header(header::COOKIE, &self.cookie)
    }

    /// Asks.
    pub(super) fn ask(&self, request: Request<Body>) -> Said {
        runtime().block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (status, headers) = (response.status(), response.headers().clone());
            let bytes = to_bytes(response.into_body(), 50 << 20).await.unwrap();
            Said { status, headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
        })
    }

    /// A page, which must be there.
    #[track_caller]
    pub(super) fn get(&self, path: &str) -> String {
        let said = self.ask(self.request("GET", path).body(Body::empty()).unwrap());
        assert_eq!(said.status, StatusCode::OK, "{path}: {}", said.text);
        said.text
    }
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Writes a simulated run down; its row is that of a real one. Changed events may no longer lead where
/// the simulation ended: then it is told as stopped.
pub(super) fn simulated(
    journal: &mut Journal,
    (name, root): (&str, &str),
    seed: u64,
    change: impl Fn(Event) -> Event,
) -> RunId {
    let run = RunId::new(name);
    let (_, events) = Sim::new(seed).run_with_journal();
    let events: Vec<(Moment, Event)> =
        events.into_iter().map(|(at, event)| (at, change(event))).collect();
    let started = events.first().unwrap().0;
    journal
        .start_run(&NewRun {
            run: run.clone(),
            root: PathBuf::from(root),
            agent: "claude".to_owned(),
            pid: 1,
            started,
            max_iterations: 15,
        })
        .unwrap();
    let row = journal.run(&run).unwrap();
    let mut builder = Builder::new(&row);
    for (at, event) in &events {
        for effect in builder.step(*at, event) {
            if let Effect::CloseIteration(report) = effect {
                journal.close_iteration(&run, &report).unwrap();
            }
        }
    }
    let rows: Vec<(Moment, &Event)> = events.iter().map(|(at, event)| (*at, event)).collect();
    journal.append_all(&run, &rows).unwrap();
    let view = builder.view(&row);
    let state = RunProgress {
        tokens: view.tally.tokens,
        cost_micro_usd: view.tally.cost_micro_usd,
        stories_complete: view.tally.stories_complete,
        stories_total: view.tally.stories_total,
        ..RunProgress::default()
    };
    journal.update_run(&run, &state).unwrap();
    if let Some(ending) = builder.ending() {
        journal.finish_run(&run, events.last().unwrap().0, ending).unwrap();
    }
    run
}

/// The seed of a run with at least so many iterations.
pub(super) fn seed_with(iterations: usize) -> u64 {
    let count = |seed: u64| {
        let (_, events) = Sim::new(seed).run_with_journal();
        let row = crate::journal::RunSummary {
            run: RunId::new("r"),
            root: PathBuf::new(),
            agent: String::new(),
            pid: None,
            started: Moment::from_millis(0),
            last_at: Moment::from_millis(0),
            ended: None,
            outcome: None,
            max_iterations: 0,
            events: 0,
            state: RunProgress::default(),
            ending: None,
            damaged: None,
        };
        let mut builder = Builder::new(&row);
        for (at, event) in &events {
            builder.step(*at, event);
        }
        builder.view(&row).iterations.len()
    };
    (0..2_000).find(|seed| count(*seed) >= iterations).unwrap()
}
