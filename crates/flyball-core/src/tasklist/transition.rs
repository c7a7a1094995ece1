//! Checking what an iteration did to the task list against the text from before it (B11). An illegal
//! change is undone in that story alone; whatever else the agent did stays.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::TasksSnapshot;
use super::read::{Document, TASK_LIST_BYTES_MAX, TaskListError};
use super::repair::{Draft, Origin};
use super::{Mode, TaskList};
use crate::id::TaskId;
use crate::policy::ReviewRules;

/// What stands before the feedback of a story that was approved only for reaching the cap.
pub const AUTO_APPROVED_MARK: &str = "[AUTO-APPROVED AT CAP] ";

/// Sentences handed out at most; the last one says how many more there are.
const SENTENCES_MAX: usize = 50;

/// What the iteration was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Its mode.
    pub mode: Mode,
    /// The story it was given.
    pub story: Option<TaskId>,
    /// The rules of review.
    pub review: ReviewRules,
}

/// What became of the task list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitionCheck {
    /// The whole text to write; none when the file can stay as it is.
    pub text: Option<String>,
    /// The list after repair.
    pub list: TaskList,
    /// What was not legal, one sentence each, naming the story and what was done about it.
    pub violations: Vec<String>,
    /// Stories approved only for reaching the cap of reviews.
    pub auto_approved: Vec<TaskId>,
}

/// Compares the task list after an iteration with its text from before, and undoes what was not
/// legal. A blank `before_text` means that there was no list.
///
/// ```
/// use flyball_core::tasklist::TasksSnapshot;
/// use flyball_core::policy::Policy;
/// use flyball_core::tasklist::{Mode, Transition, check_transition};
///
/// let before = r#"{"userStories": [{"id": "a", "title": "login"}]}"#;
/// // The agent implements `a` and simply declares it done.
/// let text = r#"{"userStories": [{"id": "a", "title": "login", "passes": true,
///     "reviewStatus": "approved", "notes": "works"}]}"#;
/// let given =
///     Transition { mode: Mode::Implement, story: None, review: Policy::default().review.clone() };
///
/// let check = check_transition(before, &TasksSnapshot::Found { text: text.into() }, &given);
///
/// assert!(!check.list.complete(&given.review));
/// assert!(check.violations[0].starts_with("story `a` went from null to `approved`"));
/// assert!(check.text.unwrap().contains("works")); // its notes stay
/// ```
pub fn check_transition(
    before_text: &str,
    after: &TasksSnapshot,
    given: &Transition,
) -> TransitionCheck {
    let inspection = inspect(before_text, after, given);
    let violations = sentences(&inspection.violations, Violation::undone);
    let TransitionCheck { text, list, auto_approved, .. } = inspection.check;
    TransitionCheck { text, list, violations, auto_approved }
}

/// The same check while the agent still runs and can put things right itself: what is not legal,
/// one sentence each, saying what to do about it. Empty when the agent may stop.
pub fn check_at_stop(before_text: &str, after: &TasksSnapshot, given: &Transition) -> Vec<String> {
    sentences(&inspect(before_text, after, given).violations, Violation::asked)
}

/// The same check of a change that is not made yet: what is not legal, one clause each. Empty when it
/// may be made.
pub fn check_before_change(
    before_text: &str,
    after: &TasksSnapshot,
    given: &Transition,
) -> Vec<String> {
    sentences(&inspect(before_text, after, given).violations, |violation| violation.what.clone())
}

/// Something that was not legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    /// The sentence without its end.
    pub(super) what: String,
    /// What is done about it.
    pub(super) undo: Undo,
}

/// What is done about a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undo {
    /// The review fields are put back.
    Fields,
    /// `passes` is put back.
    Passes,
    /// The feedback is put back.
    Feedback,
    /// The whole story is put back.
    Story,
    /// The element is taken out.
    Drop,
    /// The review fields of a new story are reset.
    Reset,
    /// `dependsOn` is put back.
    Dependencies,
    /// What the story asks for is put back.
    Wanted,
    /// The commands that verify the work are put back.
    VerifyCommands,
    /// What a new story says may change is taken out.
    MayChange,
    /// The whole file is put back.
    File,
}

impl Violation {
    fn undone(&self) -> String {
        let end = match self.undo {
            Undo::Fields => "its review state was put back",
            Undo::Passes => "its `passes` was put back",
            Undo::Feedback => "its feedback was put back",
            Undo::Story => "the story was put back as it was",
            Undo::Drop => "it was taken out",
            Undo::Reset => "it was reset to open",
            Undo::Dependencies => "its `dependsOn` was put back",
            Undo::Wanted => "what is wanted is a human's to say, and was put back",
            Undo::VerifyCommands => "they are a human's to say, and were put back",
            Undo::MayChange => "that is a human's to say, and was taken out",
            Undo::File => "the file was put back as it was before the iteration",
        };
        format!("{}; {end}", self.what)
    }

    fn asked(&self) -> String {
        let end = match self.undo {
            Undo::Fields => "put its `passes`, `reviewStatus` and `reviewCount` back",
            Undo::Passes => "write its `notes` or put its `passes` back",
            Undo::Feedback => "put its `reviewFeedback` back",
            Undo::Story => "put the story back as it was",
            Undo::Drop => "take it out",
            Undo::Reset => "give it `passes` false, `reviewStatus` null and `reviewCount` 0",
            Undo::Dependencies => "put its `dependsOn` back",
            Undo::Wanted => "what is wanted is a human's to say: put it back",
            Undo::VerifyCommands => "they are a human's to say: put them back",
            Undo::MayChange => "that is a human's to say: take it out",
            Undo::File => "put the file back as it was",
        };
        format!("{}; {end}", self.what)
    }
}

fn sentences(violations: &[Violation], say: fn(&Violation) -> String) -> Vec<String> {
    let mut sentences: Vec<String> = violations.iter().take(SENTENCES_MAX).map(say).collect();
    if violations.len() > SENTENCES_MAX {
        sentences.push(format!("and {} more of this kind", violations.len() - SENTENCES_MAX));
    }
    sentences
}

/// A check whose violations are not yet sentences.
struct Inspection {
    check: TransitionCheck,
    violations: Vec<Violation>,
}

fn inspect(before_text: &str, after: &TasksSnapshot, given: &Transition) -> Inspection {
    let what = match after {
        TasksSnapshot::Found { text } => match Document::read(text) {
            Ok(document) => return compare(before_text, text, document, given),
            Err(error) => error.to_string(),
        },
        TasksSnapshot::Unreadable { error } => {
            format!("the task list cannot be read: {}", crate::text::head(error, 200))
        }
        TasksSnapshot::Absent if before_text.trim().is_empty() => {
            return Inspection { check: unchanged(TaskList::default()), violations: Vec::new() };
        }
        TasksSnapshot::Absent => "the task list was removed".to_owned(),
    };
    restored(before_text, alloc::vec![Violation { what, undo: Undo::File }])
}

fn compare(before_text: &str, text: &str, document: Document, given: &Transition) -> Inspection {
    let origin = Origin::read(before_text);
    let mut draft = Draft::new(document);
    draft.admit(&origin);
    draft.bring_back(&origin);
    draft.keep_wanted(&origin);
    draft.judge(&origin, given);
    draft.untangle(&origin);
    let Draft { violations, auto_approved, .. } = &draft;
    let (mut violations, auto_approved) = (violations.clone(), auto_approved.clone());
    if violations.is_empty() && auto_approved.is_empty() {
        return match TaskList::parse(text) {
            Ok(list) => Inspection { check: unchanged(list), violations },
            Err(error) => restored(before_text, alloc::vec![whole_file(&error)]),
        };
    }
    match draft.write(&origin, before_text) {
        Ok((text, list)) => {
            let check =
                TransitionCheck { text: Some(text), list, violations: Vec::new(), auto_approved };
            Inspection { check, violations }
        }
        Err(error) => {
            violations.push(whole_file(&error));
            restored(before_text, violations)
        }
    }
}

fn whole_file(error: &TaskListError) -> Violation {
    Violation { what: error.to_string(), undo: Undo::File }
}

fn unchanged(list: TaskList) -> TransitionCheck {
    TransitionCheck { text: None, list, violations: Vec::new(), auto_approved: Vec::new() }
}

/// The whole text from before. Where that is no task list either, nothing is written and nothing
/// counts as done.
fn restored(before_text: &str, violations: Vec<Violation>) -> Inspection {
    let list = TaskList::parse(before_text).ok();
    let text = list.is_some().then(|| before_text.to_owned());
    let check = TransitionCheck { text, ..unchanged(list.unwrap_or_default()) };
    Inspection { check, violations }
}

/// The text of a document: laid out over lines, or close together where that would be too long.
pub(super) fn lay_out(value: &serde_json::Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    if pretty.len() < TASK_LIST_BYTES_MAX {
        return format!("{pretty}\n");
    }
    serde_json::to_string(value).unwrap_or_default()
}
