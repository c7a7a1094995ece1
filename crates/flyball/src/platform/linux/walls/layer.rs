//! The second layer of a sandbox: the kernel's own list of folders that may be written to, which
//! holds whatever is mounted. Programs behind it cannot mount anything themselves.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};

use crate::platform::Walls;

/// What is asked for; an older kernel gives as much of it as it has.
const WANTED: ABI = ABI::V6;

/// Devices and the system's own files are spoken to by everybody.
const SPOKEN_TO: [&str; 2] = ["/dev", "/proc"];

/// Puts this process and all it will start behind the list.
pub(super) fn put_on(walls: &Walls) -> io::Result<()> {
    let all = AccessFs::from_all(WANTED);
    let islands = walls.writable.iter().flatten().map(AsRef::as_ref);
    let open = SPOKEN_TO.map(Path::new).into_iter().chain(islands);
    let rules = Ruleset::default()
        .handle_access(all)
        .and_then(|rules| rules.scope(Scope::from_all(WANTED)))
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    let everywhere = PathFd::new("/").map_err(io::Error::other)?;
    let mut rules = rules
        .add_rule(PathBeneath::new(everywhere, AccessFs::from_read(WANTED)))
        .map_err(io::Error::other)?;
    for place in open {
        let file = AccessFs::from_file(WANTED);
        let rights = if place.is_dir() { all } else { file };
        let place = PathFd::new(place).map_err(io::Error::other)?;
        rules = rules.add_rule(PathBeneath::new(place, rights)).map_err(io::Error::other)?;
    }
    rules.restrict_self().map(|_| ()).map_err(io::Error::other)
}

/// From now on this thread, and all it will start, can send signals only to each other. Takes no
/// other right away: mounts and namespaces stay possible, and so does becoming another user.
pub fn keep_signals_inside() -> io::Result<()> {
    let rules = Ruleset::default()
        .scope(Scope::Signal)
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    rules.no_new_privs(false).restrict_self().map(|_| ()).map_err(io::Error::other)
}

/// Whether this kernel can do that.
pub fn can_keep_signals_inside() -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    strict.scope(Scope::Signal).and_then(Ruleset::create).is_ok()
}
