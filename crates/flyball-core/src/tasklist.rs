//! The task list (B11): reading it, choosing mode and story, and checking what an agent did to it.
//!
//! A [`TaskList`] is only made by [`TaskList::parse`], so its ids are unique, its dependencies exist
//! and do not go round in a circle. It is a reading of the text and never writes it: what an
//! iteration may change is decided by [`check_transition`], on the text itself, so that fields
//! flyball does not know survive.

pub mod draft;
pub mod edit;
mod graph;
mod judge;
mod plan;
mod read;
mod repair;
mod standing;
mod transition;
mod wanted;

#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use self::read::{TASK_LIST_BYTES_MAX, TaskListError};
pub use self::standing::Standing;
pub use self::transition::{
    AUTO_APPROVED_MARK, Transition, TransitionCheck, check_at_stop, check_before_change,
    check_transition,
};
use crate::id::TaskId;
use crate::policy::ReviewRules;

/// The task list as it stands in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TasksSnapshot {
    /// There is no file.
    #[default]
    Absent,
    /// The file cannot be read.
    Unreadable {
        /// Why.
        error: String,
    },
    /// Its text, not yet parsed.
    Found {
        /// The whole text.
        text: String,
    },
}

/// What an iteration is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Work on an open story.
    #[default]
    Implement,
    /// Review a story that claims to be done.
    Review,
    /// Mend what the review asked for.
    ReviewFix,
}

impl Mode {
    /// The word used in prompts, CSV and the environment.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Implement => "implement",
            Self::Review => "review",
            Self::ReviewFix => "review-fix",
        }
    }
}

/// The stories of a project, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskList {
    project: String,
    description: String,
    verify_commands: Vec<String>,
    user_stories: Vec<Story>,
}

impl TaskList {
    /// Reads the text of a task list; the first thing wrong with it is named in the error.
    ///
    /// ```
    /// use flyball_core::tasklist::TaskList;
    ///
    /// let list = TaskList::parse(r#"{"userStories": [{"id": "a", "title": "x", "passes": false}]}"#)?;
    /// assert_eq!(list.stories().len(), 1);
    ///
    /// let error = TaskList::parse(r#"{"userStories": [{"id": "a", "dependsOn": ["b"]}]}"#).unwrap_err();
    /// assert!(error.to_string().contains("story `a` depends on `b`"));
    /// # Ok::<(), flyball_core::tasklist::TaskListError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, TaskListError> {
        read::parse(text)
    }

    /// The project's name; empty when the file has none.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// What the project is about; empty when the file does not say.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Commands that are gates besides the configured ones.
    pub fn verify_commands(&self) -> &[String] {
        &self.verify_commands
    }

    /// The stories, in file order.
    pub fn stories(&self) -> &[Story] {
        &self.user_stories
    }

    /// The story with this id.
    pub fn story(&self, id: &TaskId) -> Option<&Story> {
        self.user_stories.iter().find(|story| story.id == *id)
    }

    /// Whether every story is done; a list without stories never is.
    pub fn complete(&self, review: &ReviewRules) -> bool {
        !self.user_stories.is_empty() && self.user_stories.iter().all(|story| story.is_done(review))
    }

    /// How many stories are done, and how many there are.
    pub fn counts(&self, review: &ReviewRules) -> (u32, u32) {
        let done = self.user_stories.iter().filter(|story| story.is_done(review)).count();
        let saturated = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (saturated(done), saturated(self.user_stories.len()))
    }
}

/// One story of the task list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Story {
    /// Its name, unique in the list; a number in the file counts as its digits.
    pub id: TaskId,
    /// What it is called; its id when the file has no title.
    pub title: String,
    /// What is wanted.
    pub description: String,
    /// What must hold in the end.
    pub acceptance_criteria: Vec<String>,
    /// The smallest is worked on first; none comes last.
    pub priority: Option<i64>,
    /// Stories that must be done before.
    pub depends_on: Vec<TaskId>,
    /// Whether it claims to be finished.
    pub passes: bool,
    /// Where its review stands; none before the first.
    pub review_status: Option<ReviewStatus>,
    /// How many reviews it had.
    pub review_count: u32,
    /// What the last review wants; empty when nothing.
    pub review_feedback: String,
    /// What was done, in the agent's words.
    pub notes: String,
    /// Paths this story may change, whatever they check.
    #[serde(default)]
    pub may_change: Vec<String>,
}

/// The title of the story `flyball init` writes to be replaced.
pub const EXAMPLE_TITLE: &str = "Replace this example with your first story";

impl Story {
    /// Whether it is the example that stands in a new task list, and nobody has written it yet.
    pub fn is_example(&self) -> bool {
        !self.passes && self.title.trim() == EXAMPLE_TITLE
    }

    /// Whether it is finished: it passes and, with reviews, was approved.
    pub fn is_done(&self, review: &ReviewRules) -> bool {
        self.passes && (!review.enabled || self.review_status == Some(ReviewStatus::Approved))
    }
}

/// Where the review of a story stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStatus {
    /// Someone has to look at it.
    NeedsReview,
    /// Someone looked and wants something else.
    ChangesRequested,
    /// Someone looked and is content.
    Approved,
}

impl ReviewStatus {
    /// The word used in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NeedsReview => "needs_review",
            Self::ChangesRequested => "changes_requested",
            Self::Approved => "approved",
        }
    }
}
