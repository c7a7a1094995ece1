//! Undoing illegal changes on the raw JSON, story by story. Works on the values as they stand in the
//! file, so that unknown fields, and the agent's other edits, survive.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::graph::{Tangle, arrows};
use super::judge::{Move, is_blank, judge};
use super::read::{Document, TaskListError, as_id, read_story, shown};
use super::transition::{AUTO_APPROVED_MARK, Transition, Undo, Violation, lay_out};
use super::{ReviewStatus, Story, TaskList};
use crate::id::TaskId;

/// Rounds of untangling dependencies before all of them are put back.
const UNTANGLE_ROUNDS: usize = 8;

/// One story, as written and as read.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) raw: Map<String, Value>,
    pub(super) story: Story,
}

impl Entry {
    fn read(element: Value, number: usize) -> Result<Self, TaskListError> {
        let story = read_story(&element, number)?;
        match element {
            Value::Object(raw) => Ok(Self { raw, story }),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Ok(Self { raw: Map::new(), story }),
        }
    }

    /// Writes the field as it was in `origin`, or takes it out where it was not there.
    pub(super) fn put_back(&mut self, field: &str, origin: &Self) {
        match origin.raw.get(field) {
            Some(value) => self.set(field, value.clone()),
            // `retain` and not `remove`: the latter may change the order of the others.
            None => self.raw.retain(|key, _| key != field),
        }
    }

    fn set(&mut self, field: &str, value: Value) {
        self.raw.insert(field.to_owned(), value);
    }
}

/// The list from before the iteration; empty when there was none or it could not be read.
#[derive(Default)]
pub(super) struct Origin {
    entries: Vec<Entry>,
    index: BTreeMap<TaskId, usize>,
    pub(super) value: Option<Value>,
    verify_commands: Vec<String>,
}

impl Origin {
    /// Reads the text from before.
    pub(super) fn read(text: &str) -> Self {
        // A text that is no list as a whole has nothing in it that could be put back.
        if TaskList::parse(text).is_err() {
            return Self::default();
        }
        let Ok(document) = Document::read(text) else { return Self::default() };
        let numbered = document.elements.iter().cloned().zip(1..);
        let entries: Vec<Entry> =
            numbered.filter_map(|(element, number)| Entry::read(element, number).ok()).collect();
        let index =
            entries.iter().enumerate().map(|(at, entry)| (entry.story.id.clone(), at)).collect();
        let verify_commands = document.verify_commands().to_vec();
        Self { entries, index, value: Some(document.into_value()), verify_commands }
    }

    /// The commands that verified the work.
    pub(super) fn verify_commands(&self) -> &[String] {
        &self.verify_commands
    }

    pub(super) fn get(&self, id: &TaskId) -> Option<&Entry> {
        self.entries.get(*self.index.get(id)?)
    }
}

/// The list after the iteration, being put right.
pub(super) struct Draft {
    pub(super) document: Document,
    pub(super) entries: Vec<Entry>,
    /// Known stories that were dropped for being malformed; already named in a violation.
    malformed: BTreeSet<TaskId>,
    /// What was not legal.
    pub(super) violations: Vec<Violation>,
    /// What was approved for reaching the cap.
    pub(super) auto_approved: Vec<TaskId>,
}

impl Draft {
    /// A draft of this document; its stories are still to be admitted.
    pub(super) fn new(document: Document) -> Self {
        Self {
            document,
            entries: Vec::new(),
            malformed: BTreeSet::new(),
            violations: Vec::new(),
            auto_approved: Vec::new(),
        }
    }

    pub(super) fn blame(&mut self, what: String, undo: Undo) {
        self.violations.push(Violation { what, undo });
    }

    /// Takes in every story that can be read and was not there yet; new ones must be fresh.
    pub(super) fn admit(&mut self, origin: &Origin) {
        let mut seen = BTreeSet::new();
        for (element, number) in core::mem::take(&mut self.document.elements).into_iter().zip(1..) {
            let id = element.get("id").and_then(as_id);
            match Entry::read(element, number) {
                Err(error) => {
                    let known = id.filter(|id| origin.get(id).is_some());
                    let undo = if known.is_some() { Undo::Story } else { Undo::Drop };
                    self.malformed.extend(known);
                    self.blame(format!("{error}"), undo);
                }
                Ok(entry) if !seen.insert(entry.story.id.clone()) => {
                    let what = format!("story `{}` stands there twice", shown(&entry.story.id));
                    self.blame(what, Undo::Drop);
                }
                Ok(mut entry) => {
                    if origin.get(&entry.story.id).is_none() {
                        self.freshen(&mut entry);
                    }
                    self.entries.push(entry);
                }
            }
        }
    }

    fn freshen(&mut self, entry: &mut Entry) {
        if !entry.story.may_change.is_empty() {
            entry.raw.retain(|key, _| key != "mayChange");
            entry.story.may_change.clear();
            let what =
                format!("story `{}` is new and says what it may change", shown(&entry.story.id));
            self.blame(what, Undo::MayChange);
        }
        let Story { passes, review_status, review_count, .. } = entry.story;
        if !passes && review_status.is_none() && review_count == 0 {
            return;
        }
        let fresh = [
            ("passes", Value::Bool(false)),
            ("reviewStatus", Value::Null),
            ("reviewCount", 0.into()),
        ];
        for (field, value) in fresh {
            if entry.raw.contains_key(field) {
                entry.set(field, value);
            }
        }
        if entry.raw.contains_key("reviewFeedback") {
            entry.set("reviewFeedback", Value::Null);
        }
        let what = format!("story `{}` is new and not open", shown(&entry.story.id));
        self.blame(what, Undo::Reset);
    }

    /// Puts vanished stories back, each behind the one it stood behind.
    pub(super) fn bring_back(&mut self, origin: &Origin) {
        let here: BTreeSet<TaskId> =
            self.entries.iter().map(|entry| entry.story.id.clone()).collect();
        // What has to follow each story that is here; `None` is the top of the list.
        let mut behind: BTreeMap<Option<TaskId>, Vec<Entry>> = BTreeMap::new();
        let mut last = None;
        for entry in &origin.entries {
            let id = &entry.story.id;
            if here.contains(id) {
                last = Some(id.clone());
                continue;
            }
            behind.entry(last.clone()).or_default().push(entry.clone());
            if !self.malformed.contains(id) {
                self.blame(format!("story `{}` was removed", shown(id)), Undo::Story);
            }
        }
        if behind.is_empty() {
            return;
        }
        let mut entries = behind.remove(&None).unwrap_or_default();
        for entry in core::mem::take(&mut self.entries) {
            let followers = behind.remove(&Some(entry.story.id.clone()));
            entries.push(entry);
            entries.extend(followers.into_iter().flatten());
        }
        self.entries = entries;
    }

    /// Judges every story that was there before, and undoes what was not legal.
    pub(super) fn judge(&mut self, origin: &Origin, given: &Transition) {
        let mut entries = core::mem::take(&mut self.entries);
        let mut moves: Vec<Move> = entries
            .iter()
            .map(|entry| match origin.get(&entry.story.id) {
                Some(before) => judge(&before.story, &entry.story, given),
                None => Move::Fine,
            })
            .collect();
        keep_one(&entries, &mut moves, given);
        for (entry, judged) in entries.iter_mut().zip(moves) {
            if let Some(before) = origin.get(&entry.story.id) {
                self.carry_out(entry, before, judged);
            }
        }
        self.entries = entries;
    }

    fn carry_out(&mut self, entry: &mut Entry, before: &Entry, judged: Move) {
        let name = format!("story `{}`", shown(&entry.story.id));
        match judged {
            Move::Fine | Move::OnlyOne => {}
            Move::AtCap => {
                entry.set("passes", Value::Bool(true));
                entry.set("reviewStatus", ReviewStatus::Approved.as_str().into());
                let feedback = &entry.story.review_feedback;
                let plain = feedback.strip_prefix(AUTO_APPROVED_MARK).unwrap_or(feedback);
                let marked = format!("{AUTO_APPROVED_MARK}{plain}");
                entry.set("reviewFeedback", marked.into());
                self.auto_approved.push(entry.story.id.clone());
                return;
            }
            Move::Illegal(why) => {
                undo_review(entry, before);
                entry.put_back("passes", before);
                self.blame(format!("{name} {why}"), Undo::Fields);
            }
            Move::ReviewIsOff { passes, review } => {
                if let Some(why) = review {
                    undo_review(entry, before);
                    self.blame(format!("{name} {why}"), Undo::Fields);
                }
                if let Some(why) = passes {
                    entry.put_back("passes", before);
                    self.blame(format!("{name} {why}"), Undo::Passes);
                }
            }
        }
        self.keep_feedback(entry, before, &name);
    }

    /// A story whose changes are requested may not lose the words that say which.
    fn keep_feedback(&mut self, entry: &mut Entry, before: &Entry, name: &str) {
        let requested = Some(ReviewStatus::ChangesRequested.as_str());
        let asks = |one: &Entry| one.raw.get("reviewStatus").and_then(Value::as_str) == requested;
        let says = |one: &Entry| {
            one.raw.get("reviewFeedback").and_then(Value::as_str).is_some_and(|it| !is_blank(it))
        };
        if asks(before) && asks(entry) && says(before) && !says(entry) {
            entry.put_back("reviewFeedback", before);
            let what = format!("{name} lost its `reviewFeedback` while changes are requested");
            self.blame(what, Undo::Feedback);
        }
    }

    /// Undoes dependencies that name no story or go round in a circle.
    pub(super) fn untangle(&mut self, origin: &Origin) {
        let known: BTreeSet<TaskId> =
            self.entries.iter().map(|entry| entry.story.id.clone()).collect();
        self.release(origin, |story| {
            let unknown = story.depends_on.iter().find(|id| !known.contains(*id))?;
            Some(format!("depends on `{}`, which is no story of this list", shown(unknown)))
        });
        for round in 0..=UNTANGLE_ROUNDS {
            let links: Vec<_> = self
                .entries
                .iter()
                .map(|entry| (&entry.story.id, entry.story.depends_on.as_slice()))
                .collect();
            let Some(tangle) = Tangle::find(&links) else { return };
            let way = arrows(&tangle.circle);
            // The list from before has no circle: when all else fails, all of it comes back.
            let all = round == UNTANGLE_ROUNDS;
            self.release(origin, |story| {
                let tangled = all || tangle.stories.contains(&story.id);
                tangled.then(|| format!("depends on itself in the end ({way})"))
            });
        }
    }

    /// Puts `dependsOn` back where it was changed and `why` finds fault with it.
    fn release(&mut self, origin: &Origin, why: impl Fn(&Story) -> Option<String>) {
        let mut entries = core::mem::take(&mut self.entries);
        for entry in &mut entries {
            let before = origin.get(&entry.story.id);
            let old = before.map_or(&[][..], |before| &before.story.depends_on);
            if entry.story.depends_on == old {
                continue;
            }
            let Some(why) = why(&entry.story) else { continue };
            entry.story.depends_on = old.to_vec();
            match before {
                Some(before) => entry.put_back("dependsOn", before),
                None => entry.set("dependsOn", Value::Array(Vec::new())),
            }
            self.blame(format!("story `{}` {why}", shown(&entry.story.id)), Undo::Dependencies);
        }
        self.entries = entries;
    }

    /// The text of the draft, and the list in it. The very text from before when that is the same.
    pub(super) fn write(
        self,
        origin: &Origin,
        before_text: &str,
    ) -> Result<(String, TaskList), TaskListError> {
        let mut document = self.document;
        document.elements =
            self.entries.into_iter().map(|entry| Value::Object(entry.raw)).collect();
        let value = document.into_value();
        let text = if origin.value.as_ref() == Some(&value) {
            before_text.to_owned()
        } else {
            lay_out(&value)
        };
        let list = TaskList::parse(&text)?;
        Ok((text, list))
    }
}

/// Of the moves that only one story may make, keeps the given story's, else the first.
fn keep_one(entries: &[Entry], moves: &mut [Move], given: &Transition) {
    let single = |one: &Move| matches!(one, Move::OnlyOne | Move::AtCap);
    let is_given = |entry: &Entry| given.story.as_ref() == Some(&entry.story.id);
    let pairs = || entries.iter().zip(moves.iter()).enumerate();
    let first = pairs().find(|(_, (_, one))| single(one));
    let chosen = pairs().find(|(_, (entry, one))| single(one) && is_given(entry)).or(first);
    let Some((chosen, _)) = chosen else { return };
    for (at, one) in moves.iter_mut().enumerate() {
        if at != chosen && single(one) {
            let why = "moved on in its review as a second story; an iteration moves one";
            *one = Move::Illegal(why.to_owned());
        }
    }
}

/// Puts the review fields back, and the feedback where it came with their change.
fn undo_review(entry: &mut Entry, before: &Entry) {
    let Story { review_status, review_count, .. } = before.story;
    let moved =
        (review_status, review_count) != (entry.story.review_status, entry.story.review_count);
    if moved && entry.story.review_feedback != before.story.review_feedback {
        entry.put_back("reviewFeedback", before);
    }
    entry.put_back("reviewStatus", before);
    entry.put_back("reviewCount", before);
}
