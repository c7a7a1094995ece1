//! Acts from the page and from scripts: the same deeds as the commands of the same names, each written
//! down. Of two who want the same, one is first and the other is told.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flyball_core::human::{HumanReply, HumanWish};
use serde::Deserialize;
use serde_json::{Value, json};

use super::access::Visitor;
use super::given::Given;
use super::routes::see_other;
use super::window::{Problem, Window, data};
use crate::desk::{self, AskKind, Meant, Site, TamperDesk, Workplace};
use crate::error::CliError;
use crate::gate::tamper::Force;
use crate::journal::{Door, Journal, RunSummary};

/// Every act on a run, with the words it may be given.
pub(super) const ACTS: [(&str, &[&str]); 8] = [
    ("answer", &["text", "about", "then"]),
    ("unblock", &["about", "then"]),
    ("accept-tamper", &["finding", "findings", "then"]),
    ("restore-tamper", &["finding", "findings"]),
    ("stop", &["after_iteration"]),
    ("resume", &[]),
    ("tell", &["text"]),
    (
        "limits",
        &[
            "iterations",
            "stuck",
            "runtime",
            "tokens",
            "cost_usd",
            "iteration_timeout",
            "stall_after",
            "wait",
            "stop_grace",
        ],
    ),
];
/// The run and what is done to it.
#[derive(Debug, Deserialize)]
pub(super) struct Deed {
    run: String,
    act: String,
}

/// `POST /api/runs/RUN/ACT`.
pub(super) async fn on_run(
    State(window): State<Arc<Window>>,
    Extension(visitor): Extension<Visitor>,
    Path(Deed { run, act }): Path<Deed>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = move || {
        let given = Given::read(&headers, &body)?;
        let known = ACTS.iter().find(|(name, _)| *name == act);
        let (_, words) =
            known.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "there is no such act", ""))?;
        refuse_foreign(&window, visitor, &run, &headers, &given)?;
        given.refuse_unknown(words)?;
        let row = window.books().run(&run)?;
        let _first = window.act();
        let done = acted(&window, &row, &act, &given)?;
        told(&headers, &given, &row, &done)
    };
    finished(tokio::task::spawn_blocking(work).await)
}

/// `POST /api/tasks/retry`.
pub(super) async fn on_task(
    State(window): State<Arc<Window>>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = move || {
        let given = Given::read(&headers, &body)?;
        let (root, task) = (given.get("root").unwrap_or(""), given.get("task").unwrap_or(""));
        refuse_foreign(&window, visitor, root, &headers, &given)?;
        given.refuse_unknown(&["root", "task"])?;
        // Not a path, but the name of one that is in the journal.
        let row = window.books().journal.latest_run(std::path::Path::new(root))?;
        let row = row.ok_or_else(|| {
            Problem::new(StatusCode::NOT_FOUND, "no run worked there", "name the root of a run")
        })?;
        let _first = window.act();
        let mut journal = Journal::open(&window.state_dir)?;
        let place = Workplace::at(&row.root)?;
        let rules = &place.config.policy.tasks;
        let site = Site { root: &place.root, human_files: &place.human_files, rules };
        let stood = desk::retry(&site, &mut journal, task);
        let body = json!({ "task": task });
        let stood =
            desk::recorded(&mut journal, (&row.run, "tasks retry", Door::Page), &body, stood)?;
        let Some(stood) = stood else {
            return Err(Problem::new(StatusCode::CONFLICT, "it stands open already", ""));
        };
        let done =
            format!("{task} was {} and stands open again", crate::view::words::standing(stood));
        if wants_data(&headers) { data(&json!({ "done": done })) } else { Ok(see_other("/tasks")) }
    };
    finished(tokio::task::spawn_blocking(work).await)
}

fn finished(done: Result<Result<Response, Problem>, tokio::task::JoinError>) -> Response {
    match done {
        Ok(Ok(response)) => response,
        Ok(Err(problem)) => problem.into_response(),
        Err(_) => Problem::internal("it could not be done").into_response(),
    }
}

/// The page's own token, besides the cookie: a page that was not given it does not act.
fn refuse_foreign(
    window: &Window,
    visitor: Visitor,
    about: &str,
    headers: &HeaderMap,
    given: &Given,
) -> Result<(), Problem> {
    let header = headers.get("x-flyball-page").and_then(|token| token.to_str().ok());
    let offered = given.get("page").or(header).unwrap_or("");
    if window.access.is_page_token(visitor, about, offered) {
        return Ok(());
    }
    let error = "this page may not act: it was not given by this server, or has ended";
    Err(Problem::new(StatusCode::FORBIDDEN, error, "load the page again"))
}

fn wants_data(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
    text(header::ACCEPT).contains("application/json")
        || text(header::CONTENT_TYPE).starts_with("application/json")
}

/// What was done, as data or by leading back to the page.
fn told(
    headers: &HeaderMap,
    given: &Given,
    run: &RunSummary,
    done: &str,
) -> Result<Response, Problem> {
    if wants_data(headers) {
        return data(&json!({ "done": done, "run": run.run }));
    }
    let back = if given.get("from") == Some("overview") {
        "/".to_owned()
    } else {
        format!("/runs/{}", run.run)
    };
    Ok(see_other(&back))
}

fn acted(window: &Window, run: &RunSummary, act: &str, given: &Given) -> Result<String, Problem> {
    let mut journal = Journal::open(&window.state_dir)?;
    let done = done(window, &mut journal, run, (act, given));
    let body = given.record();
    let done = desk::recorded(&mut journal, (&run.run, act, Door::Page), &body, done)?;
    if given.get("then") != Some("resume") {
        return Ok(done);
    }
    let resumed = desk::resume(&journal, &window.state_dir, run);
    let resumed =
        desk::recorded(&mut journal, (&run.run, "resume", Door::Page), &Value::Null, resumed);
    Ok(match resumed {
        Ok(()) => format!("{done}; the run goes on"),
        Err(error) => format!("{done}; but it does not go on: {error}"),
    })
}

fn done(
    window: &Window,
    journal: &mut Journal,
    run: &RunSummary,
    (act, given): (&str, &Given),
) -> Result<String, CliError> {
    let text = given.get("text").unwrap_or("");
    match act {
        "answer" => answer(journal, run, text, given.get("about")),
        "unblock" => unblock(journal, run, given.get("about")),
        "accept-tamper" => {
            let mut desk = tamper(window, run)?;
            desk.accept(Some(&given.findings()))?;
            Ok("accepted as it stands now".to_owned())
        }
        "restore-tamper" => restore(window, run, &given.findings()),
        "stop" if given.is("after_iteration") => {
            let reply = desk::wish(journal, run, &HumanWish::StopAfterIteration)?;
            Ok(if let HumanReply::StopsAfter { iteration } = reply {
                format!("it ends once iteration {iteration} is over")
            } else {
                "it ends now: no iteration was under way".to_owned()
            })
        }
        "stop" => {
            desk::ask_to_end(journal, run)?;
            Ok("it was asked to end".to_owned())
        }
        "resume" => {
            desk::resume(journal, &window.state_dir, run)?;
            Ok("it goes on".to_owned())
        }
        "tell" => tell(journal, run, text),
        _ => limits(journal, run, given),
    }
}

/// The mark of what is asked: the one that was shown, or the present one for a script that shows none.
fn marked(
    journal: &Journal,
    run: &RunSummary,
    about: Option<&str>,
    kinds: &[AskKind],
) -> Result<String, CliError> {
    let gone = || {
        CliError::already_running("it is not asked any more")
            .hint("somebody was faster, or the run went on")
    };
    let latest = journal.latest_run(&run.root)?;
    if latest.is_none_or(|latest| latest.run != run.run) {
        return Err(gone());
    }
    let ask =
        desk::ask_of(journal, run)?.filter(|ask| kinds.contains(&ask.kind)).ok_or_else(gone)?;
    Ok(about.map_or(ask.about, str::to_owned))
}

fn answer(
    journal: &Journal,
    run: &RunSummary,
    text: &str,
    about: Option<&str>,
) -> Result<String, CliError> {
    let mark = marked(journal, run, about, &[AskKind::Decide, AskKind::Tamper])?;
    let place = Workplace::at(&run.root)?;
    let answered = desk::answer(&place.human_files, text, Meant::Marked(&mark))?;
    Ok(if answered.about_tamper {
        "answered; what was weakened is not accepted by that".to_owned()
    } else {
        "answered".to_owned()
    })
}

fn unblock(
    journal: &mut Journal,
    run: &RunSummary,
    about: Option<&str>,
) -> Result<String, CliError> {
    let mark = marked(journal, run, about, &[AskKind::Blocked])?;
    let place = Workplace::at(&run.root)?;
    let done = desk::unblock(&place, journal, Some(&mark), crate::clock::wall())?;
    Ok(match done.brought_back.len() {
        0 => "the block is cleared".to_owned(),
        1 => "the block is cleared, and 1 task stands open again".to_owned(),
        many => format!("the block is cleared, and {many} tasks stand open again"),
    })
}

/// What is weakened where a run worked.
pub(super) fn tamper(window: &Window, run: &RunSummary) -> Result<TamperDesk, CliError> {
    let journal = Journal::open(&window.state_dir)?;
    TamperDesk::look(journal, Workplace::for_restoring(&run.root)?, Some(&run.run))
}

fn restore(window: &Window, run: &RunSummary, shown: &[String]) -> Result<String, CliError> {
    let mut desk = tamper(window, run)?;
    let mut told = desk.restore(Some(shown), Force::No)?;
    tamper(window, run)?.settle(&mut told)?;
    let left = if told.left.is_empty() {
        String::new()
    } else {
        format!("; left alone: {}", told.left.join(", "))
    };
    Ok(format!("brought back {}{left}; look at it, commit it, then resume", told.done.len()))
}

fn tell(journal: &mut Journal, run: &RunSummary, text: &str) -> Result<String, CliError> {
    let text = desk::word(text)?;
    match desk::wish(journal, run, &HumanWish::Tell { text })? {
        HumanReply::Steered => Ok("its agent has been told".to_owned()),
        HumanReply::AtItsDoor => {
            Ok("its agent is told with the next answer of its hooks".to_owned())
        }
        HumanReply::NextBriefing => Ok("the next briefing says it".to_owned()),
        HumanReply::Refused { why } => Err(CliError::usage(why)),
        HumanReply::Changed | HumanReply::StopsAfter { .. } | HumanReply::EndsNow => {
            Ok("it has answered".to_owned())
        }
    }
}

fn limits(journal: &mut Journal, run: &RunSummary, given: &Given) -> Result<String, CliError> {
    let typed = given.own().filter(|(_, value)| !value.is_empty());
    let typed: Vec<String> = typed.map(|(name, value)| format!("{name}={value}")).collect();
    let limits =
        typed.iter().map(|text| desk::limit_change(text)).collect::<Result<Vec<_>, _>>()?;
    if limits.is_empty() {
        return Err(CliError::usage("no limit is named").hint("such as iterations=30"));
    }
    let reply = desk::wish(journal, run, &HumanWish::ChangeLimits { limits })?;
    if let HumanReply::Refused { why } = reply {
        return Err(CliError::config(why).hint("nothing was changed"));
    }
    Ok(format!("changed: {}", typed.join(", ")))
}
