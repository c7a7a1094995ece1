//! Which test of before is which test of now: the same name in the same file, then anywhere, then
//! a similar body under another name, then one that took it in. What is left is gone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::source::{Language, words};
use super::tests_of::Test;

/// How alike two bodies are that count as one test under two names.
const ALIKE: f64 = 0.6;
/// How much of a test must be found in another one that took it in.
const TAKEN_IN: f64 = 0.8;
/// How many tests without a partner are compared by body.
const COMPARED_MAX: usize = 400;

/// A test and the file it is in.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) file: String,
    pub(super) test: Test,
}

/// Which test became which.
#[derive(Debug, Default)]
pub(super) struct Paired<'a> {
    pub(super) pairs: Vec<(&'a Placed, &'a Placed)>,
    pub(super) gone: Vec<&'a Placed>,
}

/// Finds the test of now for each test of before.
pub(super) fn pair<'a>(before: &'a [Placed], after: &'a [Placed]) -> Paired<'a> {
    let mut paired = Paired::default();
    let by_place = |p: &'a Placed| (p.test.language, p.test.name.as_str(), p.file.as_str());
    let by_name = |p: &'a Placed| (p.test.language, p.test.name.as_str(), "");
    let (open, free) = by_key(before.iter(), after.iter(), by_place, &mut paired);
    let (open, free) = by_key(open.into_iter(), free.into_iter(), by_name, &mut paired);
    let (open, free) = by_body(open, free, &mut paired);
    let grown: Vec<(&Placed, BTreeSet<&str>)> = paired
        .pairs
        .iter()
        .filter(|(before, after)| before.test.whole != after.test.whole)
        .filter(|(before, after)| tokens(after).len() > tokens(before).len())
        .map(|(_, after)| *after)
        .chain(free)
        .filter(|larger| !larger.test.skipped)
        .take(COMPARED_MAX)
        .map(|larger| (larger, tokens(larger)))
        .collect();
    paired.gone = open.into_iter().filter(|test| !taken_in(test, &grown)).collect();
    paired
}

type Key<'a> = (Language, &'a str, &'a str);

/// Pairs what has the same key, in order; the rest of both sides.
fn by_key<'a>(
    before: impl Iterator<Item = &'a Placed>,
    after: impl Iterator<Item = &'a Placed>,
    key: impl Fn(&'a Placed) -> Key<'a>,
    paired: &mut Paired<'a>,
) -> (Vec<&'a Placed>, Vec<&'a Placed>) {
    let mut waiting: BTreeMap<Key<'a>, VecDeque<(usize, &'a Placed)>> = BTreeMap::new();
    for (order, test) in after.enumerate() {
        waiting.entry(key(test)).or_default().push_back((order, test));
    }
    let mut open = Vec::new();
    for test in before {
        match waiting.get_mut(&key(test)).and_then(VecDeque::pop_front) {
            Some((_, partner)) => paired.pairs.push((test, partner)),
            None => open.push(test),
        }
    }
    let mut free: Vec<(usize, &Placed)> = waiting.into_values().flatten().collect();
    free.sort_by_key(|(order, _)| *order);
    (open, free.into_iter().map(|(_, test)| test).collect())
}

/// Pairs what is alike, the most alike first; the rest of both sides.
fn by_body<'a>(
    open: Vec<&'a Placed>,
    free: Vec<&'a Placed>,
    paired: &mut Paired<'a>,
) -> (Vec<&'a Placed>, Vec<&'a Placed>) {
    let free_tokens: Vec<BTreeSet<&str>> =
        free.iter().take(COMPARED_MAX).map(|test| tokens(test)).collect();
    let mut likely: Vec<(f64, usize, usize)> = Vec::new();
    for (a, test) in open.iter().enumerate().take(COMPARED_MAX) {
        let own = tokens(test);
        for (b, (other, others)) in free.iter().zip(&free_tokens).enumerate() {
            let alike = likeness(&own, others);
            if test.test.language == other.test.language && alike >= ALIKE {
                likely.push((alike, a, b));
            }
        }
    }
    likely.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)).then(x.2.cmp(&y.2)));
    let (mut taken_open, mut taken_free) = (BTreeSet::new(), BTreeSet::new());
    for (_, a, b) in likely {
        if taken_open.contains(&a) || taken_free.contains(&b) {
            continue;
        }
        if let (Some(test), Some(partner)) = (open.get(a), free.get(b)) {
            paired.pairs.push((test, partner));
            taken_open.insert(a);
            taken_free.insert(b);
        }
    }
    let left = |all: Vec<&'a Placed>, taken: &BTreeSet<usize>| {
        let rest = all.into_iter().enumerate().filter(|(index, _)| !taken.contains(index));
        rest.map(|(_, test)| test).collect()
    };
    (left(open, &taken_open), left(free, &taken_free))
}

/// The different words of a test, but not its name.
fn tokens(placed: &Placed) -> BTreeSet<&str> {
    let own = &placed.test.name;
    words(&placed.test.whole).map(|(_, word)| word).filter(|word| word != own).collect()
}

fn likeness(one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> f64 {
    share(one.intersection(other).count().saturating_mul(2), one.len().saturating_add(other.len()))
}

/// Whether one of the tests that grew holds what this one held.
fn taken_in(smaller: &Placed, grown: &[(&Placed, BTreeSet<&str>)]) -> bool {
    if grown.is_empty() {
        return false;
    }
    let own = tokens(smaller);
    own.len() > 3
        && grown.iter().any(|(larger, inside)| {
            larger.test.language == smaller.test.language
                && share(own.intersection(inside).count(), own.len()) >= TAKEN_IN
        })
}

#[expect(clippy::cast_precision_loss, reason = "a share of two small counts")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
