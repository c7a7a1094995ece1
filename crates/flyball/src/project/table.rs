//! Kinds whose tool is the same for every project: a table of commands, each where a file speaks for it.

use super::{Look, Proposal};

/// The file that makes a folder a project of the kind, and what its tool runs.
struct Kind {
    marker: &'static str,
    gates: &'static [Row],
}

/// What a gate is for, its command, and the files of which one must be there.
type Row = (&'static str, &'static str, &'static [&'static str]);

const ELIXIR: Kind = Kind {
    marker: "mix.exs",
    gates: &[
        // An umbrella has its tests in `apps`.
        ("tests", "mix test", &["test", "apps"]),
        ("lint", "mix credo", &[".credo.exs"]),
        ("build", "mix compile --warnings-as-errors", &["mix.exs"]),
        ("format", "mix format --check-formatted", &[".formatter.exs"]),
    ],
};

const SWIFT: Kind = Kind {
    marker: "Package.swift",
    gates: &[
        ("tests", "swift test", &["Tests"]),
        ("lint", "swiftlint lint", &[".swiftlint.yml"]),
        ("build", "swift build", &["Package.swift"]),
    ],
};

pub(super) fn detect_elixir(look: &Look<'_>) -> Option<Vec<Proposal>> {
    detect(look, &ELIXIR)
}

pub(super) fn detect_swift(look: &Look<'_>) -> Option<Vec<Proposal>> {
    detect(look, &SWIFT)
}

fn detect(look: &Look<'_>, kind: &Kind) -> Option<Vec<Proposal>> {
    if !look.has(kind.marker) {
        return None;
    }
    let proposals = kind.gates.iter().filter_map(|(role, command, files)| {
        Some(Proposal::new(role, command, look.first(files)?))
    });
    Some(proposals.collect())
}
