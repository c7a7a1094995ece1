//! Hands each line to the recognisers that may care for it.

use crate::hints::{Hints, Number};
use crate::owner::{Owner, Part};
use crate::place;
use crate::recogniser::{Attention, Line, Recogniser};
use crate::report::Report;
use crate::tool::{self, Documents, MEMBERS};
use crate::wants::{Set, Wants};

/// All recognisers, and which of them want which line.
pub(crate) struct Panel {
    members: [Box<dyn Recogniser>; MEMBERS],
    wants: Wants,
    /// The members in the middle of something.
    busy: Set,
    /// JSON documents, of which one output may hold several.
    documents: Documents,
    in_document: Attention,
    owner: Owner,
    owning: Option<(Part, Option<usize>)>,
    folder: Option<String>,
}

impl Panel {
    /// All recognisers, with the command as a hint.
    pub(crate) fn new(command: &str) -> Self {
        let members = tool::members(command);
        let mut wants = Wants::default();
        for (index, member) in members.iter().enumerate() {
            wants.add(bit(index), &member.cues());
        }
        Self {
            members,
            wants,
            busy: 0,
            documents: Documents::default(),
            in_document: Attention::Idle,
            owner: Owner::default(),
            owning: None,
            folder: None,
        }
    }

    /// Hands over one line.
    pub(crate) fn line(&mut self, text: &str, number: u64, hints: Hints) {
        let place = if hints.number == Number::Nothing { None } else { place::prefix(text) };
        let line = Line { text, number, place };
        if let Some(part) = self.owner.of(text) {
            if let Some(index) = self.index_of(part) {
                self.hand(index, &line);
            }
            return;
        }
        let mut wanted = self.busy | self.wants.of(text, hints);
        if let Some(place) = place {
            wanted |= self.wants.at(&place);
        }
        if self.in_document == Attention::Busy || text.starts_with(['{', '[']) {
            self.in_document = self.documents.line(&line);
        }
        if let Some(folder) = folder(text) {
            self.folder = Some(folder.to_owned());
        }
        while wanted != 0 {
            let index = wanted.trailing_zeros() as usize;
            wanted &= !bit(index);
            self.hand(index, &line);
        }
    }

    /// The member a part of the output belongs to; the same as for the line before, nearly always.
    fn index_of(&mut self, part: Part) -> Option<usize> {
        if let Some((known, index)) = self.owning
            && known == part
        {
            return index;
        }
        let index = self.members.iter().position(|member| member.name() == part.runner());
        self.owning = Some((part, index));
        index
    }

    fn hand(&mut self, index: usize, line: &Line<'_>) {
        let bit = bit(index);
        let Some(member) = self.members.get_mut(index) else { return };
        match member.line(line) {
            Attention::Busy => self.busy |= bit,
            Attention::Idle => self.busy &= !bit,
        }
    }

    /// The folder the program said it runs in, if it did.
    pub(crate) fn folder(&mut self) -> Option<String> {
        self.folder.take()
    }

    /// What each of them has understood.
    pub(crate) fn finish(&mut self) -> Vec<Report> {
        let mut reports: Vec<Report> =
            self.members.iter_mut().filter_map(|member| member.finish()).collect();
        reports.extend(std::mem::take(&mut self.documents).finish());
        reports
    }
}

/// The set of one member.
const fn bit(index: usize) -> Set {
    const { assert!(MEMBERS <= Set::BITS as usize, "a set has no room for all recognisers") };
    1 << index
}

/// The folder in `> a@1.0.0 test /repo/packages/a` and `npm error path /repo/packages/a`.
fn folder(text: &str) -> Option<&str> {
    let path = if let Some(script) = text.strip_prefix("> ") {
        let (head, path) = script.rsplit_once(' ')?;
        (head.contains('@') && head.contains(' ')).then_some(path)?
    } else {
        text.strip_prefix("npm error path ").or_else(|| text.strip_prefix("npm ERR! path "))?
    };
    (path.starts_with('/') && !path.contains(' ')).then_some(path)
}
