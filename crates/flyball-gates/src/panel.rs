//! Hands each line to the recognisers that may care for it.

use crate::hints::{Hints, Number};
use crate::owner::{Owner, Part};
use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::Report;
use crate::tool::{self, Documents};
use crate::{place, text};

/// All recognisers, and which of them want which line.
pub(crate) struct Panel {
    members: Vec<Box<dyn Recogniser>>,
    wants: Wants,
    /// The members in the middle of something.
    busy: u64,
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
        for (index, member) in members.iter().enumerate().take(64) {
            wants.add(1_u64 << index, &member.cues());
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
        if place.is_some() {
            wanted |= self.wants.place;
        }
        if self.in_document == Attention::Busy || text.starts_with(['{', '[']) {
            self.in_document = self.documents.line(&line);
        }
        if let Some(folder) = folder(text) {
            self.folder = Some(folder.to_owned());
        }
        while wanted != 0 {
            let index = wanted.trailing_zeros() as usize;
            wanted &= !(1_u64 << index);
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
        let bit = 1_u64 << index;
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

/// Which members want which lines while they are idle, one bit each.
struct Wants {
    by_first: Table,
    /// By the first byte, of lines with a slash.
    slash: Table,
    /// By the first byte, of lines with a colon and a number.
    number: Table,
    /// By the first byte, of lines that end as `by_last` says.
    ending: Table,
    by_last: Table,
    /// By the last byte of a sign of three bytes that the line begins with.
    by_sign: Table,
    any_sign: u64,
    /// Lines that begin with a place.
    place: u64,
}

type Table = [u64; 256];

/// The first byte of all the signs that test runners put before a result.
const SIGN: u8 = 0xe2;

impl Default for Wants {
    fn default() -> Self {
        let none = [0; 256];
        Self {
            by_first: none,
            slash: none,
            number: none,
            ending: none,
            by_last: none,
            by_sign: none,
            any_sign: 0,
            place: 0,
        }
    }
}

impl Wants {
    fn add(&mut self, member: u64, cues: &Cues) {
        mark(&mut self.by_first, cues.first, member);
        if cues.place {
            self.place |= member;
        }
        match cues.also {
            None => {}
            Some((first, Trait::Slash)) => mark(&mut self.slash, first, member),
            Some((first, Trait::ColonNumber)) => mark(&mut self.number, first, member),
            Some((first, Trait::EndsWith(last))) => {
                mark(&mut self.ending, first, member);
                mark(&mut self.by_last, &[last], member);
            }
            Some((_, Trait::Sign(signs))) => {
                self.any_sign |= member;
                for sign in signs {
                    let last = sign.encode_utf8(&mut [0; 4]).bytes().next_back();
                    mark(&mut self.by_sign, last.as_slice(), member);
                }
            }
        }
    }

    /// The members that want this line.
    fn of(&self, text: &str, hints: Hints) -> u64 {
        let bytes = text.as_bytes();
        let own = bytes.get(text::indent(text)..).unwrap_or_default();
        let first = own.first().unwrap_or(&b'\n');
        let last = bytes.last().unwrap_or(&b'\n');
        // A clock or a date begins no line of a tool, and many lines of programs that log.
        let mut wanted = if is_time(own) { 0 } else { at(&self.by_first, *first) };
        wanted |= at(&self.ending, *first) & at(&self.by_last, *last);
        let (slash, number) = (at(&self.slash, *first), at(&self.number, *first));
        if slash != 0 && hints.slash && memchr::memchr(b'/', bytes).is_some() {
            wanted |= slash;
        }
        if number != 0 && hints.number == Number::Colon && has_number(bytes) {
            wanted |= number;
        }
        if *first == SIGN {
            wanted |= self.of_sign(own);
        }
        wanted
    }

    /// The members that want a line that begins with this sign.
    fn of_sign(&self, sign: &[u8]) -> u64 {
        match sign {
            // White space of a rare kind: the sign comes behind it.
            [SIGN, 0x80 | 0x81, ..] => self.any_sign,
            [SIGN, _, last, ..] => at(&self.by_sign, *last),
            _ => 0,
        }
    }
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

/// Whether digits are followed as in `2026-11-15` or `12:30:01`.
fn is_time(own: &[u8]) -> bool {
    matches!(
        own,
        [b'0'..=b'9', b'0'..=b'9', b':', b'0'..=b'9', b'0'..=b'9', b':', ..]
            | [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'-' | b'/', b'0'..=b'9', ..]
    )
}

fn mark(table: &mut Table, bytes: &[u8], member: u64) {
    for byte in bytes {
        if let Some(members) = table.get_mut(usize::from(*byte)) {
            *members |= member;
        }
    }
}

fn at(table: &Table, byte: u8) -> u64 {
    table.get(usize::from(byte)).copied().unwrap_or(0)
}

/// Whether a colon has a digit after it.
fn has_number(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b':', bytes)
        .any(|colon| bytes.get(colon + 1).is_some_and(u8::is_ascii_digit))
}
