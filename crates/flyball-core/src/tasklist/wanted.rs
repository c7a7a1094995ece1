//! What is wanted is the human's (B11): what an agent changed of it is put back.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;

use super::Story;
use super::read::shown;
use super::repair::{Draft, Entry, Origin};
use super::transition::Undo;

/// What a story asks for: a human's to say.
const WANTED: [&str; 6] =
    ["title", "description", "acceptanceCriteria", "dependsOn", "priority", "mayChange"];

impl Draft {
    /// What is wanted is the human's: it is put back wherever the agent changed it. Only the
    /// meaning counts, not how it is written down.
    pub(super) fn keep_wanted(&mut self, origin: &Origin) {
        let mut entries = core::mem::take(&mut self.entries);
        for entry in &mut entries {
            let Some(before) = origin.get(&entry.story.id) else { continue };
            let changed: Vec<&str> =
                WANTED.into_iter().filter(|field| asks_otherwise(field, before, entry)).collect();
            if changed.is_empty() {
                continue;
            }
            for field in &changed {
                entry.put_back(field, before);
            }
            let Story { title, description, acceptance_criteria, .. } = before.story.clone();
            let Story { depends_on, priority, may_change, .. } = before.story.clone();
            let now = core::mem::take(&mut entry.story);
            entry.story = Story {
                title,
                description,
                acceptance_criteria,
                priority,
                depends_on,
                may_change,
                ..now
            };
            let fields = changed.join("`, `");
            let id = shown(&entry.story.id);
            self.blame(format!("story `{id}` had its `{fields}` changed"), Undo::Wanted);
        }
        self.entries = entries;
        let old = origin.verify_commands();
        if origin.value.is_some() && old != self.document.verify_commands() {
            self.document.put_back_verify_commands(origin.value.as_ref());
            self.blame("`verifyCommands` were changed".to_owned(), Undo::VerifyCommands);
        }
    }
}

/// Whether a field says something else than before.
fn asks_otherwise(field: &str, before: &Entry, now: &Entry) -> bool {
    let (old, new) = (&before.story, &now.story);
    match field {
        "title" => old.title != new.title,
        "description" => old.description != new.description,
        "acceptanceCriteria" => old.acceptance_criteria != new.acceptance_criteria,
        "dependsOn" => old.depends_on != new.depends_on,
        "priority" => old.priority != new.priority,
        _ => old.may_change != new.may_change,
    }
}
