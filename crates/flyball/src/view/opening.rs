//! How a run is announced.

use flyball_core::event::{RunStart, TasksSnapshot};
use flyball_core::tasklist::TaskList;
use flyball_core::{GateName, Moment, RunId};

use super::line::{Line, Severity, Verb};

/// What is known of a run when it is announced.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The run.
    pub run: RunId,
    /// The repository.
    pub root: String,
    /// The agent and how it is started.
    pub agent: String,
    /// Whether it asks before it acts; none for a program of the user's own.
    pub permissions: Option<&'static str>,
    /// The gates by name.
    pub gates: Vec<String>,
    /// Stories passed and in all; none without a task list.
    pub stories: Option<(u32, u32)>,
    /// The one task it was given on the command line.
    pub request: Option<String>,
    /// Things worth saying at the start.
    pub notes: Vec<String>,
}

impl Opening {
    /// The announcement of a run that was journalled.
    pub fn journalled(start: &RunStart, root: &str, agent: &str) -> Self {
        let stories = match &start.snapshot.tasks {
            TasksSnapshot::Found { text } => TaskList::parse(text).ok(),
            TasksSnapshot::Absent | TasksSnapshot::Unreadable { .. } => None,
        };
        Self {
            run: start.run.clone(),
            root: root.to_owned(),
            agent: agent.to_owned(),
            permissions: None,
            gates: start.gates.iter().map(GateName::as_str).map(str::to_owned).collect(),
            stories: stories.map(|list| list.counts(&start.policy.review)),
            request: start.request.clone(),
            notes: Vec::new(),
        }
    }

    /// In lines: the run, then what is worth saying of it.
    pub fn lines(&self, at: Moment) -> Vec<Line> {
        let gates = match self.gates.as_slice() {
            [] => "no gate".to_owned(),
            gates => format!("gates {}", gates.join(", ")),
        };
        let stories = match (&self.request, self.stories) {
            (Some(request), _) => format!("task: {}", super::words::line(request, 60)),
            (None, Some((done, total))) => format!("{done}/{total} stories passed"),
            (None, None) => "no task list".to_owned(),
        };
        let permissions = self.permissions.map(|words| format!(" · {words}")).unwrap_or_default();
        let (run, agent) = (&self.run, &self.agent);
        let text = format!("{run} · {agent}{permissions} · {gates} · {stories}");
        let mut lines = vec![Line::new(at, Verb::Run, Severity::Turn, text)];
        let note = |note: &String| Line::new(at, Verb::Note, Severity::Warn, note);
        lines.extend(self.notes.iter().map(note));
        lines
    }
}
