//! The rules as data: every line of `vectors/rules.jsonl` is one case of one rule.
//!
//! One check per rule, each in its own file under `vectors/`; add a rule by adding its file and its
//! line in `CHECKS`. A rule without a check fails unless it stands in `NOT_YET`, which shrinks until
//! it is empty.

#[cfg(test)]
#[path = "vectors/a1.rs"]
mod a1;
#[cfg(test)]
#[path = "vectors/a2.rs"]
mod a2;
#[cfg(test)]
#[path = "vectors/a4.rs"]
mod a4;
#[cfg(test)]
#[path = "vectors/a5.rs"]
mod a5;
#[cfg(test)]
#[path = "vectors/a6.rs"]
mod a6;
#[cfg(test)]
#[path = "vectors/a7.rs"]
mod a7;
#[cfg(test)]
#[path = "vectors/a8.rs"]
mod a8;
#[cfg(test)]
#[path = "vectors/b1.rs"]
mod b1;
#[cfg(test)]
#[path = "vectors/session.rs"]
mod session;
#[cfg(test)]
#[path = "vectors/vector.rs"]
mod vector;

use std::collections::BTreeSet;

use self::vector::Vector;

/// A rule and the function that checks one case of it; it panics when the case does not hold.
type Check = (&'static str, fn(&Vector));

const CHECKS: &[Check] = &[
    ("A1", a1::check),
    ("A2", a2::check),
    ("A4", a4::check),
    ("A5", a5::check),
    ("A6", a6::check),
    ("A7", a7::check),
    ("A8", a8::check),
    ("B1", b1::check),
];

/// Rules that have vectors and no check yet.
const NOT_YET: &[&str] = &["B3", "B4", "B6", "B7", "B8", "B9", "B10", "C2"];

#[test]
fn every_vector_holds() {
    for vector in Vector::all() {
        if NOT_YET.contains(&vector.rule.as_str()) {
            continue;
        }
        let check = CHECKS.iter().find(|(rule, _)| *rule == vector.rule);
        let (_, check) = check.unwrap_or_else(|| panic!("no check for rule {}", vector.rule));
        println!("{} {}", vector.rule, vector.id);
        check(&vector);
    }
}

#[test]
fn no_rule_is_checked_and_put_off_or_checked_for_nothing() {
    let vectors = Vector::all();
    let used: BTreeSet<&str> = vectors.iter().map(|vector| vector.rule.as_str()).collect();
    for (rule, _) in CHECKS {
        assert!(used.contains(rule), "{rule} has a check and no vector");
        assert!(!NOT_YET.contains(rule), "{rule} has a check: take it out of NOT_YET");
    }
    for rule in NOT_YET {
        assert!(used.contains(rule), "{rule} has no vector: take it out of NOT_YET");
    }
}

#[test]
fn every_vector_has_a_name_of_its_own() {
    let vectors = Vector::all();
    let names: BTreeSet<_> = vectors.iter().map(|v| (v.rule.as_str(), v.id.as_str())).collect();
    assert_eq!(names.len(), vectors.len());
}
