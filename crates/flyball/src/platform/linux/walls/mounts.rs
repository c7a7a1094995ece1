//! What is mounted where, and how walls are made of it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};

use super::step;
use crate::platform::Walls;

/// Folders the system itself is spoken to through: programs that make namespaces write here.
const SYSTEM: &str = "/proc";
/// What root could change the whole machine by.
const SYSTEM_SETTINGS: [&str; 2] = ["/proc/sys", "/proc/sysrq-trigger"];

/// One line of a mount table.
pub(super) struct Mount {
    /// Which folder of its file system is shown.
    pub(super) root: String,
    /// Where it is shown.
    pub(super) at: PathBuf,
    /// How.
    flags: MsFlags,
}

/// A mount table.
pub(super) fn table(path: &str) -> io::Result<Vec<Mount>> {
    Ok(fs::read_to_string(path)?.lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<Mount> {
    let mut fields = line.split(' ').skip(3);
    let (root, at, options) = (fields.next()?, fields.next()?, fields.next()?);
    let flags = options.split(',').fold(MsFlags::empty(), |flags, option| flags | flag(option));
    Some(Mount { root: unescaped(root), at: unescaped(at).into(), flags })
}

fn flag(option: &str) -> MsFlags {
    match option {
        "ro" => MsFlags::MS_RDONLY,
        "nosuid" => MsFlags::MS_NOSUID,
        "nodev" => MsFlags::MS_NODEV,
        "noexec" => MsFlags::MS_NOEXEC,
        "noatime" => MsFlags::MS_NOATIME,
        "nodiratime" => MsFlags::MS_NODIRATIME,
        "relatime" => MsFlags::MS_RELATIME,
        _ => MsFlags::empty(),
    }
}

/// Blanks and the like stand as `\040` in a mount table.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let octal = after
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        if let Some(byte) = octal {
            bytes.push(byte);
            rest = after.get(3..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Makes the file system of this process what the walls say.
pub(super) fn put_up(walls: &Walls) -> io::Result<()> {
    let nothing = None::<&str>;
    let apart = MsFlags::MS_SLAVE | MsFlags::MS_REC;
    mount(nothing, "/", nothing, apart, nothing).map_err(step("make mounts our own"))?;
    if let Some(writable) = &walls.writable {
        for place in writable {
            bind(place, place)?;
        }
        close_all_but(writable)?;
    }
    for folder in &walls.read_only {
        bind(folder, folder)?;
        close(folder)?;
    }
    for replaced in &walls.in_place {
        bind(&replaced.shown, &replaced.at)?;
        close(&replaced.at)?;
    }
    walls.hidden.iter().try_for_each(|place| hide(place))
}

fn bind(shown: &Path, at: &Path) -> io::Result<()> {
    let nothing = None::<&str>;
    mount(Some(shown), at, nothing, MsFlags::MS_BIND | MsFlags::MS_REC, nothing)
        .map_err(at_place("show", at))
}

/// Makes everything that is mounted at or below a place read-only.
fn close(place: &Path) -> io::Result<()> {
    for found in table("/proc/self/mountinfo")?.iter().filter(|found| found.at.starts_with(place)) {
        make_read_only(found).map_err(at_place("make read-only", &found.at))?;
    }
    Ok(())
}

/// Makes everything read-only that is not at or below one of these places.
fn close_all_but(writable: &[PathBuf]) -> io::Result<()> {
    let is_open = |at: &Path| at == Path::new(SYSTEM) || writable.iter().any(|w| at.starts_with(w));
    let mut closed = BTreeSet::new();
    for found in table("/proc/self/mountinfo")?.iter().filter(|found| !is_open(&found.at)) {
        if closed.insert(found.at.clone())
            && let Err(errno) = make_read_only(found)
            && !is_out_of_reach(errno)
        {
            return Err(at_place("make read-only", &found.at)(errno));
        }
    }
    for settings in SYSTEM_SETTINGS.map(Path::new).into_iter().filter(|path| path.exists()) {
        bind(settings, settings)?;
        close(settings)?;
    }
    Ok(())
}

/// A mount that something else lies over, or that this user cannot even get to: nobody inside can.
fn is_out_of_reach(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::ENOENT
            | Errno::EACCES
            | Errno::EINVAL
            | Errno::ENOTDIR
            | Errno::ELOOP
            | Errno::ENODEV
    )
}

/// Flags a mount has must be kept, or the kernel refuses the change.
fn make_read_only(found: &Mount) -> Result<(), Errno> {
    let nothing = None::<&str>;
    let flags = found.flags | MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    mount(nothing, &found.at, nothing, flags, nothing)
}

/// An empty folder over a folder, nothing over anything else.
fn hide(place: &Path) -> io::Result<()> {
    if !place.is_dir() {
        return bind(Path::new("/dev/null"), place);
    }
    let flags = MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), place, Some("tmpfs"), flags, Some("mode=0555,size=4k"))
        .map_err(at_place("hide", place))
}

fn at_place<'p>(doing: &'p str, place: &'p Path) -> impl FnOnce(Errno) -> io::Error + 'p {
    move |errno| {
        let text = format!("{doing} {}: {}", place.display(), errno.desc());
        io::Error::new(io::Error::from(errno).kind(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table_gives_place_source_and_flags() {
        let line = r"35 25 254:0 /home/a\040b /mnt/a\134\040b ro,nosuid,nodev,relatime shared:1 - ext4 /dev/vda rw";
        let found = parse(line).unwrap();
        assert_eq!((found.root.as_str(), found.at.to_str()), ("/home/a b", Some("/mnt/a\\ b")));
        let flags =
            MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_RELATIME;
        assert_eq!(found.flags, flags);
        assert!(parse("35 25 254:0 /").is_none());
    }

    #[test]
    fn this_process_has_a_root() {
        let own = table("/proc/self/mountinfo").unwrap();
        assert!(own.iter().any(|mount| mount.at == Path::new("/")));
    }
}
