//! How the proposals of the detectors become gates: under which name, in which folder, and what keeps
//! one from being run.

use super::folders::Share;
use super::{
    DETECTORS, Detected, DetectedGate, Hindrance, Look, NotInstalled, NotRunnable, ProjectKind,
    Proposal, install, not_there,
};
use crate::config::{default_timeout, quoted};

/// Where a proposal comes from, for its name and its command.
pub(super) enum Folder<'a> {
    Root,
    Only(&'a str),
    OneOf(&'a str),
}

impl Folder<'_> {
    /// A line to be typed in the folder, as one for the repository's root.
    fn at_root(&self, line: &str) -> String {
        match self {
            Self::Root => line.to_owned(),
            Self::Only(dir) | Self::OneOf(dir) => format!("(cd {} && {line})", quoted(dir)),
        }
    }
}

/// Adds what one folder holds, of each kind as much as is nobody else's.
pub(super) fn add_folder(
    detected: &mut Detected,
    look: &Look<'_>,
    folder: &Folder<'_>,
    share: impl Fn(ProjectKind) -> Share,
) {
    let found = DETECTORS.iter().filter_map(|(kind, detect)| Some((*kind, detect(look)?)));
    let mut found: Vec<_> = found.map(|(kind, all)| (kind, share(kind), all)).collect();
    // A makefile counts where the project beside it does.
    if found.iter().any(|(_, share, _)| *share == Share::Everything) {
        let lists = found.iter_mut().filter(|(kind, ..)| kind.lists_commands());
        lists.for_each(|(_, share, _)| *share = Share::Everything);
    }
    for (_, share, proposals) in &mut found {
        proposals.retain(|proposal| share.takes(proposal));
    }
    found.retain(|(_, share, proposals)| *share == Share::Everything || !proposals.is_empty());
    if found.is_empty() {
        return;
    }
    for (what, line) in install::missing(look) {
        let what = match folder {
            Folder::Root => what.to_owned(),
            Folder::Only(dir) | Folder::OneOf(dir) => format!("{what} in {dir}/"),
        };
        let remedy = folder.at_root(&line);
        detected.not_installed.push(NotInstalled { what, remedy });
    }
    let mut taken: Vec<(&str, String)> = Vec::new();
    for (kind, _, proposals) in found {
        detected.know(kind);
        for proposal in proposals {
            if taken.iter().any(|gate| proposal.wraps(gate)) {
                continue;
            }
            if add(detected, look, folder, (kind, &proposal)) {
                let program = proposal.command.split_whitespace().next().unwrap_or("");
                taken.push((proposal.role, program.to_owned()));
            }
        }
    }
}

/// Adds a proposal as a gate, or as something that cannot run; says whether it became a gate.
pub(super) fn add(
    detected: &mut Detected,
    look: &Look<'_>,
    folder: &Folder<'_>,
    (kind, proposal): (ProjectKind, &Proposal),
) -> bool {
    let (command, why) = match folder {
        Folder::Root => (proposal.command.clone(), proposal.why.clone()),
        Folder::Only(dir) | Folder::OneOf(dir) => (
            format!("cd {} && {}", quoted(dir), proposal.command),
            format!("{dir}/{}", proposal.why),
        ),
    };
    let missing = || hindrance(look, folder, proposal);
    if let Some(hindrance) = proposal.unfit.clone().or_else(missing) {
        let role = proposal.role;
        if !detected.not_runnable.iter().any(|known| known.command == command) {
            detected.not_runnable.push(NotRunnable { role, command, hindrance, why });
        }
        return false;
    }
    let name = unique_name(&detected.gates, folder, kind, proposal);
    detected.gates.push(DetectedGate { timeout: default_timeout(&name), name, command, why });
    true
}

/// What keeps a proposal from being started here, and what brings it.
fn hindrance(look: &Look<'_>, folder: &Folder<'_>, proposal: &Proposal) -> Option<Hindrance> {
    let program = proposal.program.as_str();
    let remedy = proposal.remedy.as_deref();
    if let Some(what) = proposal.unready.clone() {
        let remedy = folder.at_root(remedy.unwrap_or_default());
        return Some(Hindrance::Unready { what, remedy });
    }
    if look.runnable(program) {
        return None;
    }
    if program.contains('/') && look.has(program) {
        let file = quoted(program.trim_start_matches("./"));
        let line = format!("chmod +x {file} && git add --chmod=+x {file}");
        let what = format!("`{program}` is not executable");
        return Some(Hindrance::Unready { what, remedy: folder.at_root(&line) });
    }
    Some(match remedy {
        Some(line) => Hindrance::Unready { what: not_there(program), remedy: folder.at_root(line) },
        None => Hindrance::NoProgram(program.to_owned()),
    })
}

fn unique_name(
    gates: &[DetectedGate],
    folder: &Folder<'_>,
    kind: ProjectKind,
    proposal: &Proposal,
) -> String {
    let dir = match folder {
        Folder::Root | Folder::Only(_) => None,
        Folder::OneOf(dir) => Some(*dir),
    };
    let places = [dir, proposal.part.as_deref()].into_iter().flatten();
    let words = places.map(|place| place.replace(|c: char| !c.is_alphanumeric(), "-"));
    // `tests-integration` says it all of `tests/integration`.
    let words = words.map(|word| match word.strip_prefix(&format!("{}-", proposal.role)) {
        Some(rest) => rest.to_owned(),
        None => word,
    });
    let first =
        std::iter::once(proposal.role.to_owned()).chain(words).collect::<Vec<_>>().join("-");
    let second = format!("{first}-{}", kind.word());
    let free = |name: &String| gates.iter().all(|gate| gate.name != *name);
    let numbered = (2..).map(|number| format!("{second}-{number}"));
    [first, second.clone()].into_iter().chain(numbered).find(free).unwrap_or_default()
}
