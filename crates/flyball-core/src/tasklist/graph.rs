//! The dependencies between stories: which are unknown, and which go round in a circle.
//! Linear in stories and links, and without recursion, so that no file can make it slow or deep.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Story;
use super::read::{TaskListError, shown};
use crate::id::TaskId;

/// Stories of a circle that are named in a sentence.
const NAMED: usize = 10;

/// Every dependency is a story, and none waits for itself in the end.
pub(super) fn check(stories: &[Story]) -> Result<(), TaskListError> {
    let known: BTreeSet<&TaskId> = stories.iter().map(|story| &story.id).collect();
    for story in stories {
        if let Some(unknown) = story.depends_on.iter().find(|id| !known.contains(id)) {
            let (story, dependency) = (story.id.clone(), unknown.clone());
            return Err(TaskListError::UnknownDependency { story, dependency });
        }
    }
    let links: Vec<_> =
        stories.iter().map(|story| (&story.id, story.depends_on.as_slice())).collect();
    match Tangle::find(&links) {
        None => Ok(()),
        Some(tangle) => Err(TaskListError::Cycle { stories: tangle.circle }),
    }
}

/// `a → b → a`, with the way back to the start written out.
pub(super) fn arrows(circle: &[TaskId]) -> String {
    let mut names: Vec<String> =
        circle.iter().take(NAMED).map(|id| format!("`{}`", shown(id))).collect();
    if circle.len() > NAMED {
        names.push(format!("… ({} more)", circle.len() - NAMED));
    }
    names.extend(circle.first().map(|id| format!("`{}`", shown(id))));
    names.join(" → ")
}

/// What is left when everything that can be worked off in some order is taken away.
pub(super) struct Tangle {
    /// Every story on a circle or on the way from one circle to another.
    pub(super) stories: BTreeSet<TaskId>,
    /// One of the circles, each story once.
    pub(super) circle: Vec<TaskId>,
}

impl Tangle {
    /// The tangle in these links (story, what it depends on), if there is any. Unknown ids are
    /// no links.
    pub(super) fn find(links: &[(&TaskId, &[TaskId])]) -> Option<Self> {
        let known: BTreeSet<&TaskId> = links.iter().map(|(id, _)| *id).collect();
        let mut needs: Adjacent<'_> = BTreeMap::new();
        let mut needed_by: Adjacent<'_> = BTreeMap::new();
        for &(id, dependencies) in links {
            for dependency in dependencies.iter().filter(|one| known.contains(one)) {
                needs.entry(id).or_default().insert(dependency);
                needed_by.entry(dependency).or_default().insert(id);
            }
        }
        let unfinished = trim(known, &needs, &needed_by);
        let stories = trim(unfinished, &needed_by, &needs);
        let circle = walk(&stories, &needs)?;
        Some(Self { stories: stories.into_iter().cloned().collect(), circle })
    }
}

type Adjacent<'a> = BTreeMap<&'a TaskId, BTreeSet<&'a TaskId>>;

/// Takes stories away that have no link `out` to one that is left, until there are none.
fn trim<'a>(
    mut left: BTreeSet<&'a TaskId>,
    out: &Adjacent<'a>,
    back: &Adjacent<'a>,
) -> BTreeSet<&'a TaskId> {
    let degree = |id: &TaskId| {
        out.get(id).map_or(0, |links| links.iter().filter(|one| left.contains(*one)).count())
    };
    let mut open: BTreeMap<&TaskId, usize> = left.iter().map(|id| (*id, degree(id))).collect();
    let mut free: Vec<&TaskId> =
        open.iter().filter(|(_, links)| **links == 0).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        left.remove(id);
        for &other in back.get(id).into_iter().flatten() {
            if let Some(links) = open.get_mut(other).filter(|links| **links > 0) {
                *links -= 1;
                if *links == 0 {
                    free.push(other);
                }
            }
        }
    }
    left
}

/// Follows links among the stories left until one comes up again.
fn walk(left: &BTreeSet<&TaskId>, needs: &Adjacent<'_>) -> Option<Vec<TaskId>> {
    let mut at = *left.first()?;
    let mut path: Vec<&TaskId> = Vec::new();
    let mut places: BTreeMap<&TaskId, usize> = BTreeMap::new();
    loop {
        if let Some(&start) = places.get(at) {
            return Some(path.into_iter().skip(start).cloned().collect());
        }
        places.insert(at, path.len());
        path.push(at);
        let next = needs.get(at)?.iter().find(|one| left.contains(*one))?;
        at = left.get(*next)?;
    }
}
