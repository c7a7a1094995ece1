//! Hands each line to the recognisers that may care for it.

mod member;

use std::sync::Arc;

use self::member::Member;
use crate::hints::{Hints, Number};
use crate::owner::{Owner, Part};
use crate::place;
use crate::recogniser::{Attention, Line};
use crate::report::Report;
use crate::skim::Skimmed;
use crate::tool::{self, Documents, MEMBERS};
use crate::wants::{Set, Wants};

/// All recognisers, and which of them want which line.
#[derive(Clone)]
pub(crate) struct Panel {
    members: [Member; MEMBERS],
    /// The same for all streams of an output.
    wants: Arc<Wants>,
    /// The members in the middle of something.
    busy: Set,
    /// The members whom the routine of others does not concern.
    patient: Set,
    /// The members who take lines for routine at all.
    taking: Set,
    /// Who took the last line that was routine, and in whose part of the output: once for lines in
    /// nobody's part, and once for those in somebody's, because the two take turns.
    routine: [Option<(usize, Option<Part>)>; 2],
    /// JSON documents, of which one output may hold several.
    documents: Documents,
    in_document: Attention,
    owner: Owner,
    owning: Option<(Part, Option<usize>)>,
    folder: Option<String>,
    /// Whether every line is handed to everybody who wants it.
    #[cfg(test)]
    is_thorough: bool,
}

impl Panel {
    /// All recognisers, with the command as a hint.
    pub(crate) fn new(command: &str) -> Self {
        let members = tool::members(command).map(Member::new);
        let mut wants = Wants::default();
        for (index, member) in members.iter().enumerate() {
            wants.add(bit(index), &member.get().cues());
        }
        Self::of(members, Arc::new(wants))
    }

    /// One for another stream of the same output.
    pub(crate) fn beside(&self) -> Self {
        Self::of(self.members.each_ref().map(Member::again), Arc::clone(&self.wants))
    }

    /// From now on copies share what the members have, until these get more.
    pub(crate) fn share(&mut self) {
        self.members.iter_mut().for_each(Member::share);
    }

    fn of(members: [Member; MEMBERS], wants: Arc<Wants>) -> Self {
        let (mut patient, mut taking, mut busy) = (0, 0, 0);
        for (index, member) in members.iter().enumerate() {
            let member = member.get();
            patient |= if member.is_patient() { bit(index) } else { 0 };
            taking |= if member.has_routine() { bit(index) } else { 0 };
            busy |= if member.after_routine() == Attention::Busy { bit(index) } else { 0 };
        }
        Self {
            members,
            wants,
            busy,
            patient,
            taking,
            routine: [None; 2],
            documents: Documents::default(),
            in_document: Attention::Idle,
            owner: Owner::default(),
            owning: None,
            folder: None,
            #[cfg(test)]
            is_thorough: false,
        }
    }

    /// Takes the lines at the start of these that are routine for who took the last one that was;
    /// the first is the `number`th.
    pub(crate) fn skim(&mut self, lines: &[u8], number: u64) -> Skimmed {
        let Some((index, part)) = self.asked_first() else { return Skimmed::default() };
        if !self.is_alone(index, part) {
            return Skimmed::default();
        }
        let Some(member) = self.members.get_mut(index) else { return Skimmed::default() };
        let skimmed = member.get_mut().skim(lines, number);
        if skimmed.lines > 0 {
            self.took_routine(index);
        }
        skimmed
    }

    /// Whether the line is routine for who took the last one that was, and done with.
    pub(crate) fn is_routine(&mut self, line: &[u8], number: u64) -> bool {
        let Some((index, part)) = self.asked_first() else { return false };
        if !self.is_alone(index, part) {
            return false;
        }
        let is_taken =
            self.members.get_mut(index).is_some_and(|own| own.get_mut().routine(line, number));
        if is_taken {
            self.took_routine(index);
        }
        is_taken
    }

    /// Who took the last line that was routine in such a part of the output.
    fn asked_first(&self) -> Option<(usize, Option<Part>)> {
        let [nobodys, somebodys] = self.routine;
        if self.owner.part().is_some() { somebodys } else { nobodys }
    }

    fn took_routine(&mut self, index: usize) {
        self.owner.pass();
        match self.members.get(index).map(|member| member.get().after_routine()) {
            Some(Attention::Busy) => self.busy |= bit(index),
            _ => self.busy &= !bit(index),
        }
    }

    /// Whether lines in this part are for nobody but this member: it is the member's own, or nobody
    /// else is in the middle of something.
    fn is_alone(&self, index: usize, part: Option<Part>) -> bool {
        let others = self.busy & !self.patient & !bit(index);
        let is_quiet = others == 0 && matches!(self.in_document, Attention::Idle);
        self.owner.part() == part && (part.is_some() || is_quiet)
    }

    /// Whether the line is routine for this member, who from now on is asked first.
    fn becomes_routine(&mut self, index: usize, part: Option<Part>, line: &Line<'_>) -> bool {
        #[cfg(test)]
        if self.is_thorough {
            return false;
        }
        let is_asked = self.asked_first() == Some((index, part));
        if is_asked || !self.is_alone(index, part) {
            return false;
        }
        let member = self.members.get_mut(index);
        let is_taken =
            member.is_some_and(|own| own.get_mut().routine(line.text.as_bytes(), line.number));
        if is_taken {
            let [nobodys, somebodys] = &mut self.routine;
            *(if part.is_some() { somebodys } else { nobodys }) = Some((index, part));
            self.took_routine(index);
        }
        is_taken
    }

    /// Hands over one line that is not routine for who took the last one that was.
    pub(crate) fn line(&mut self, text: &str, number: u64, hints: Hints) {
        let place = if hints.number == Number::Nothing { None } else { place::prefix(text) };
        let line = Line { text, number, place };
        if let Some(part) = self.owner.of(text) {
            if !part.is_printed()
                && let Some(index) = self.index_of(part)
                && !self.becomes_routine(index, Some(part), &line)
            {
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
        // Nobody takes lines for routine while another is in the middle of something.
        let busy = self.busy & !self.patient;
        let mut asked = match busy.count_ones() {
            0 => wanted & self.taking,
            1 => wanted & self.taking & busy,
            _ => 0,
        };
        while asked != 0 {
            let index = asked.trailing_zeros() as usize;
            asked &= !bit(index);
            if self.becomes_routine(index, None, &line) {
                return;
            }
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
        let index = self.members.iter().position(|member| member.get().name() == part.runner());
        self.owning = Some((part, index));
        index
    }

    fn hand(&mut self, index: usize, line: &Line<'_>) {
        let bit = bit(index);
        let Some(member) = self.members.get_mut(index) else { return };
        match member.get_mut().line(line) {
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
        let told = self.members.iter_mut().filter_map(|member| {
            let report = member.get_mut().finish();
            // A copy that was only made for this is not needed any more.
            member.forget();
            report
        });
        let mut reports: Vec<Report> = told.collect();
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

#[cfg(test)]
mod tests;
