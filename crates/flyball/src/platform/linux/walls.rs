//! Walls on Linux: a user and a mount namespace, entered twice. What is mounted in the first is
//! locked in the second, for root inside too; without the second entry root would simply remount.

mod bubblewrap;
mod layer;
mod loopback;
mod maps;
mod mounts;

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use rustix::process::{
    DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal,
};

use crate::platform::{Means, Walls};

pub use self::bubblewrap::bubblewrap;
pub use self::layer::{can_keep_signals_inside, keep_signals_inside};
pub use self::maps::map_like_own;

/// Puts this process, and all it will start, behind walls. It must have one thread. `map` has
/// somebody outside call [`map_like_own`] for this process; it is asked only where this process may
/// not do so itself.
pub fn enter(walls: &Walls, map: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    if walls.means == Means::Namespaces {
        let here = std::env::current_dir()?;
        enter_namespaces(walls, map)?;
        // What is mounted over the folder does not hold for those who stand in it already.
        std::env::set_current_dir(here)?;
    }
    if walls.second_layer {
        layer::put_on(walls)?;
    }
    Ok(())
}

fn enter_namespaces(walls: &Walls, map: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let inner = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
    // Who may mount without a user namespace of his own (root) keeps all users inside: their map
    // is written from outside. Everybody else maps himself alone, twice.
    let is_privileged = unshare(CloneFlags::CLONE_NEWNS).is_ok();
    let own = maps::OwnMaps::read();
    if !is_privileged {
        unshare(inner).map_err(step("unshare"))?;
        own.write()?;
    }
    if walls.network.is_some() {
        unshare(CloneFlags::CLONE_NEWNET).map_err(step("unshare the network"))?;
        loopback::bring_up()?;
    }
    mounts::put_up(walls)?;
    unshare(inner).map_err(step("unshare"))?;
    if is_privileged { map() } else { own.write() }
}

/// What a keeper is from now on: nobody it keeps can look into it, and it is woken, should somebody
/// have stopped it, when the process dies that started it.
pub fn become_keeper() {
    // Both are second lines of defence: a system that refuses them leaves the first.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
    set_parent_process_death_signal(Some(Signal::CONT)).ok();
}

/// The same file, opened anew by its path: what was opened outside could be opened for writing
/// through the descriptor. Something else than a file, or one that is gone, stays what it is.
pub fn opened_inside(handed: OwnedFd) -> OwnedFd {
    let outside = File::from(handed);
    let inside = || {
        let known = outside.metadata().ok().filter(fs::Metadata::is_file)?;
        let path = fs::read_link(own_descriptor(&outside)).ok()?;
        let opened = File::open(path).ok()?;
        let found = opened.metadata().ok()?;
        ((found.dev(), found.ino()) == (known.dev(), known.ino())).then_some(opened)
    };
    inside().unwrap_or(outside).into()
}

fn own_descriptor(file: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
}

/// Why namespaces cannot be had, as far as the system itself says so.
pub fn namespaces_need_profile() -> bool {
    fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
        .is_ok_and(|text| text.trim() == "1")
}

/// What tells one boot of this machine from the next.
pub fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// What tells the user namespace of this process from others: what can be had differs between them.
pub fn user_namespace() -> String {
    fs::read_link("/proc/self/ns/user")
        .map_or_else(|_| String::new(), |link| link.to_string_lossy().into_owned())
}

/// Whether a folder whose path ends like this is shown somewhere in what a process sees of the file
/// system, which is how the walls of a run are told from others. What may not be looked at is not
/// ours.
pub fn sees_mounted(pid: u32, ending: &str) -> bool {
    mounts::table(&format!("/proc/{pid}/mountinfo"))
        .is_ok_and(|table| table.iter().any(|mount| mount.root.ends_with(ending)))
}

/// The folders that are shown somewhere in what this process sees of the file system, as their file
/// systems name them, and where.
pub fn mounted_folders_of(pid: u32) -> Vec<(String, PathBuf)> {
    let table = mounts::table(&format!("/proc/{pid}/mountinfo")).unwrap_or_default();
    table.into_iter().map(|mount| (mount.root, mount.at)).collect()
}

/// An error that says at which step.
fn step(name: &str) -> impl FnOnce(Errno) -> io::Error + '_ {
    move |errno| io::Error::new(io::Error::from(errno).kind(), format!("{name}: {}", errno.desc()))
}
