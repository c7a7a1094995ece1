//! Who is who inside a user namespace.

use std::fs;
use std::io;

use rustix::process::{getegid, geteuid};

/// This process' user and group, as they were outside.
pub(super) struct OwnMaps {
    uid: u32,
    gid: u32,
}

impl OwnMaps {
    pub(super) fn read() -> Self {
        Self { uid: geteuid().as_raw(), gid: getegid().as_raw() }
    }

    /// Maps this user to itself, and nobody else: all that may be done without rights.
    pub(super) fn write(&self) -> io::Result<()> {
        let Self { uid, gid } = self;
        write("/proc/self/setgroups", "deny")?;
        write("/proc/self/uid_map", &format!("{uid} {uid} 1\n"))?;
        write("/proc/self/gid_map", &format!("{gid} {gid} 1\n"))
    }
}

/// Maps in the namespace of that process everybody who is known in this one to himself.
pub fn map_like_own(pid: u32) -> io::Result<()> {
    for name in ["uid_map", "gid_map"] {
        let own = fs::read_to_string(format!("/proc/self/{name}"))?;
        write(&format!("/proc/{pid}/{name}"), &to_itself(&own))?;
    }
    Ok(())
}

/// A map that leads each of the ids on the left of `own` to itself.
fn to_itself(own: &str) -> String {
    let line = |line: &str| {
        let mut numbers = line.split_ascii_whitespace();
        let (inside, _outside, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some(format!("{inside} {inside} {count}\n"))
    };
    own.lines().filter_map(line).collect()
}

fn write(path: &str, text: &str) -> io::Result<()> {
    fs::write(path, text)
        .map_err(|error| io::Error::new(error.kind(), format!("write {path}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_known_here_is_the_same_inside() {
        assert_eq!(to_itself("         0          0 4294967295\n"), "0 0 4294967295\n");
        let container = "         0       1000          1\n         1     100000      65536\n";
        assert_eq!(to_itself(container), "0 0 1\n1 1 65536\n");
    }
}
