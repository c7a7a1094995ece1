//! A draft with faults goes back to whoever drafted it, a few times, with what was wrong; then the best of
//! what came is taken.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Draft, DraftError};

/// How often an agent is asked for a draft in all.
pub const TRIES_MAX: usize = 3;
/// The most faults that are named at once.
const NAMED_MAX: usize = 20;

/// What came of one try.
pub type Try = Result<Draft, DraftError>;

/// What was wrong with the latest of the tries, one sentence each, when the agent shall try again.
pub fn what_was_wrong(tries: &[Try]) -> Option<Vec<String>> {
    let latest = tries.last().filter(|_| tries.len() < TRIES_MAX)?;
    let mut wrong = faults(latest);
    wrong.truncate(NAMED_MAX);
    Some(wrong).filter(|wrong| !wrong.is_empty())
}

fn faults(of: &Try) -> Vec<String> {
    match of {
        Ok(draft) => draft.refused.iter().chain(&draft.doubts).cloned().collect(),
        Err(error) => [error.to_string()].into(),
    }
}

/// The place of the best try: most stories that can be written, then fewest faults, then the latest.
pub fn best(tries: &[Try]) -> Option<usize> {
    let worth = |one: &Try| {
        let stories = one.as_ref().map_or(0, |draft| draft.stories.len());
        (stories, usize::MAX - faults(one).len())
    };
    tries.iter().enumerate().max_by_key(|(_, one)| worth(one)).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use std::prelude::rust_2024::*;

    use super::*;
    use crate::tasklist::Story;

    #[expect(clippy::unnecessary_wraps, reason = "a try may fail, and those beside it do")]
    fn draft(stories: usize, refused: usize, doubts: usize) -> Try {
        let words = |count| (0..count).map(|n| format!("fault {n}")).collect();
        let stories = (0..stories).map(|_| Story::default()).collect();
        Ok(Draft { stories, refused: words(refused), doubts: words(doubts) })
    }

    #[test]
    fn a_draft_with_faults_goes_back_a_few_times() {
        let none = || Err(DraftError::NoStories);
        assert_eq!(what_was_wrong(&[]), None);
        assert_eq!(what_was_wrong(&[draft(2, 0, 0)]), None);
        assert_eq!(what_was_wrong(&[draft(2, 1, 1)]).map(|wrong| wrong.len()), Some(2));
        let wrong = what_was_wrong(&[draft(2, 1, 0), none()]).unwrap();
        assert!(wrong[0].contains("no list of stories"), "{wrong:?}");
        assert_eq!(what_was_wrong(&[none(), draft(1, 0, 0)]), None);
        assert_eq!(what_was_wrong(&[none(), none(), none()]), None, "enough is enough");
        assert_eq!(what_was_wrong(&[draft(0, 90, 0)]).map(|wrong| wrong.len()), Some(NAMED_MAX));
    }

    #[test]
    fn the_best_of_what_came_is_taken() {
        let none = || Err(DraftError::NoStories);
        for (tries, place) in [
            (Vec::new(), None),
            ([none(), none()].into(), Some(1)),
            ([draft(2, 1, 0), none()].into(), Some(0)),
            ([draft(5, 1, 0), draft(1, 0, 0)].into(), Some(0)),
            ([draft(2, 1, 0), draft(3, 1, 0)].into(), Some(1)),
            ([draft(2, 1, 0), draft(2, 0, 1), draft(2, 0, 2)].into(), Some(1)),
            ([draft(2, 0, 1), draft(2, 0, 1)].into(), Some(1)),
        ] {
            assert_eq!(best(&tries), place, "{tries:?}");
        }
    }
}
