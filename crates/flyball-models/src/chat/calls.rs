//! To which call a piece belongs. The format says `index`; servers leave it out, leave the id out,
//! count everything as 0, or invent a new id for every piece.

use crate::assembly::Assembly;

/// What a piece says of the call it belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
}

/// The calls of an answer, as their server names them.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<Place>);

#[derive(Debug)]
struct Place {
    index: Option<u64>,
    id: String,
}

impl Places {
    /// The key of the call a piece belongs to; a new call is begun when it belongs to none.
    pub(super) fn of(&mut self, piece: Piece<'_>, into: &mut Assembly<'_>) -> Option<u64> {
        let found = self.find(piece, into);
        let place = match found {
            Some(place) => place,
            // A piece without a name cannot begin a call.
            None if piece.name.is_empty() && piece.id.is_empty() => return None,
            None => {
                self.0.push(Place { index: piece.index, id: piece.id.to_owned() });
                let place = self.0.len() - 1;
                into.call_began(key(place), piece.id, piece.name);
                place
            }
        };
        into.call_named(key(place), piece.name);
        Some(key(place))
    }

    fn find(&self, piece: Piece<'_>, into: &Assembly<'_>) -> Option<usize> {
        let last = self.0.len().checked_sub(1);
        let is_whole = |place: usize| into.call_is_whole(key(place));
        let is_same = |place: &Place| {
            let agrees =
                place.index.is_none() || piece.index.is_none() || place.index == piece.index;
            place.id == piece.id && agrees
        };
        if !piece.id.is_empty()
            && let Some(place) = self.0.iter().rposition(is_same)
        {
            return Some(place);
        }
        let begins = !piece.name.is_empty();
        let by_index = match piece.index {
            Some(_) => self.0.iter().rposition(|place| place.index == piece.index),
            None => last,
        }?;
        let known = self.0.get(by_index)?;
        let differs = !piece.id.is_empty() && !known.id.is_empty();
        // A name with another id, or behind whole arguments, is another call in the same place.
        let is_another = begins && (differs || is_whole(by_index));
        (!is_another).then_some(by_index)
    }
}

fn key(place: usize) -> u64 {
    u64::try_from(place).unwrap_or(u64::MAX)
}
