//! The task list (B11): reading it, choosing mode and story, and checking what an agent did to it.

use serde::{Deserialize, Serialize};

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
