//! What can be read without calling a tool: status, tasks, and the last blocking event.

use std::collections::BTreeSet;

use flyball_core::Event;
use flyball_core::gate::blocking::Refusal;
use flyball_core::gate::{BlockingEvent, GateResult};
use serde_json::{Value, json};

use super::refused::Refused;
use super::site::{self, Call};
use super::tools::{plan_next, task_list};
use crate::journal::RunFilter;

/// How many runs are shown.
const RUNS_SHOWN: u32 = 5;

/// One resource.
pub(super) struct Readable {
    pub(super) uri: &'static str,
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Status,
    Tasks,
    BlockingEvent,
}

/// Every resource.
pub(super) static ALL: [Readable; 3] = [
    Readable {
        uri: "flyball://status",
        name: "status",
        title: "Status",
        description: "The latest runs and iteration sessions here, and what waits for a human",
        what: What::Status,
    },
    Readable {
        uri: "flyball://tasks",
        name: "tasks",
        title: "Tasks",
        description: "The tasks with where each stands, and the next one",
        what: What::Tasks,
    },
    Readable {
        uri: "flyball://blocking-event",
        name: "blocking-event",
        title: "Last blocking event",
        description: "Why the work did not count as done the last time the gates ran",
        what: What::BlockingEvent,
    },
];

/// The resource of this address.
pub(super) fn named(uri: &str) -> Option<&'static Readable> {
    ALL.iter().find(|one| one.uri == uri)
}

impl Readable {
    pub(super) fn read(&self, call: Call<'_>) -> Result<Value, Refused> {
        match self.what {
            What::Status => status(call),
            What::Tasks => tasks(call),
            What::BlockingEvent => blocking_event(call),
        }
    }
}

fn status(call: Call<'_>) -> Result<Value, Refused> {
    let site = call.site;
    let filter =
        RunFilter { root: Some(site.root.clone()), limit: RUNS_SHOWN, ..RunFilter::default() };
    let runs = site.journal()?.runs(&filter)?;
    let human_files =
        site.loop_dir.human_files().map_err(|error| Refused::io("read the loop folder", &error))?;
    Ok(json!({
        "repository": site.root.to_string_lossy(),
        "runs": runs,
        "iteration_sessions": site.sessions()?,
        "blocked": human_files.blocked,
        "question": human_files.question,
        "answer": human_files.answer,
    }))
}

fn tasks(call: Call<'_>) -> Result<Value, Refused> {
    let Some(list) = call.site.tasks_if_any() else {
        return Ok(json!({ "tasks": [], "note": "there is no task list that can be read" }));
    };
    let next = plan_next::plan(call)?;
    Ok(json!({ "tasks": task_list::rows(call.site, &list)?, "next": next }))
}

/// The one `gate_run` left, else the one the latest run's gates came to.
fn blocking_event(call: Call<'_>) -> Result<Value, Refused> {
    let site = call.site;
    let journal = site.journal()?;
    let kept = site.scratch()?.with_session(&site.key("blocking"), site::now(), |state| {
        (state.map(<[u8]>::to_vec), state.map(<[u8]>::to_vec))
    })?;
    let kept = kept.and_then(|bytes| serde_json::from_slice::<BlockingEvent>(&bytes).ok());
    if let Some(event) = kept {
        return Ok(json!({ "blocking_event": event, "text": event.to_text() }));
    }
    let Some(run) = journal.latest_run(&site.root)? else {
        return Ok(json!({ "blocking_event": null, "text": "nothing was blocked" }));
    };
    let mut last: Option<Box<GateResult>> = None;
    for recorded in journal.events(&run.run)? {
        if let Event::GatesFinished { result, .. } = recorded?.event {
            last = Some(result);
        }
    }
    let Some(result) = last.filter(|result| !result.is_green()) else {
        return Ok(json!({ "blocking_event": null, "text": "nothing is blocked" }));
    };
    let event = BlockingEvent::new(Refusal {
        request: "",
        now: &result,
        before: None,
        baseline: &BTreeSet::new(),
        missing: &[],
    });
    Ok(json!({ "blocking_event": event, "text": event.to_text() }))
}
