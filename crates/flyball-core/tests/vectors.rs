//! The rules as data: every line of `vectors/rules.jsonl` is one case of one rule.
//!
//! One check per rule, each in its own file under `vectors/`; add a rule by adding its file and its
//! line in `CHECKS`. A rule without a check fails unless it stands in `ELSEWHERE`.

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
#[path = "vectors/b10.rs"]
mod b10;
#[cfg(test)]
#[path = "vectors/b3.rs"]
mod b3;
#[cfg(test)]
#[path = "vectors/b4.rs"]
mod b4;
#[cfg(test)]
#[path = "vectors/b6.rs"]
mod b6;
#[cfg(test)]
#[path = "vectors/b7.rs"]
mod b7;
#[cfg(test)]
#[path = "vectors/b8.rs"]
mod b8;
#[cfg(test)]
#[path = "vectors/b9.rs"]
mod b9;
#[cfg(test)]
#[path = "vectors/history.rs"]
mod history;
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
    ("B3", b3::check),
    ("B4", b4::check),
    ("B6", b6::check),
    ("B7", b7::check),
    ("B8", b8::check),
    ("B9", b9::check),
    ("B10", b10::check),
];

/// Rules whose vectors another test file checks, with those of its own: `vectors_c2.rs`.
const ELSEWHERE: &[&str] = &["C2"];

#[test]
fn every_vector_holds() {
    for vector in Vector::all() {
        if ELSEWHERE.contains(&vector.rule.as_str()) {
            continue;
        }
        let check = CHECKS.iter().find(|(rule, _)| *rule == vector.rule);
        let (_, check) = check.unwrap_or_else(|| panic!("no check for rule {}", vector.rule));
        println!("{} {}", vector.rule, vector.id);
        check(&vector);
    }
}

#[test]
fn no_rule_is_checked_twice_or_for_nothing() {
    let vectors = Vector::all();
    let used: BTreeSet<&str> = vectors.iter().map(|vector| vector.rule.as_str()).collect();
    for (rule, _) in CHECKS {
        assert!(used.contains(rule), "{rule} has a check and no vector");
        assert!(!ELSEWHERE.contains(rule), "{rule} has a check: take it out of ELSEWHERE");
    }
    let elsewhere = include_str!("vectors_c2.rs");
    for rule in ELSEWHERE {
        assert!(elsewhere.contains(&format!("vectors(\"{rule}\")")), "{rule} is not checked there");
        assert!(used.contains(rule), "{rule} has no vector: take it out of ELSEWHERE");
    }
}

#[test]
fn every_vector_has_a_name_of_its_own() {
    let vectors = Vector::all();
    let names: BTreeSet<_> = vectors.iter().map(|v| (v.rule.as_str(), v.id.as_str())).collect();
    assert_eq!(names.len(), vectors.len());
}
