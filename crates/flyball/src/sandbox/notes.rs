//! What people should know of a shield: what it breaks, and what goes round it.

use std::path::Path;

use rustix::fs::{Access, access};

/// Where Docker's door is.
const DOCKER: &str = "/run/docker.sock";

/// The note that the agent can leave through Docker, where it can.
pub(crate) fn docker_note(hidden: &[std::path::PathBuf]) -> Option<String> {
    let socket = Path::new(DOCKER);
    let is_hidden = hidden.iter().any(|place| socket.starts_with(place));
    (!is_hidden && access(socket, Access::WRITE_OK).is_ok()).then(|| {
        format!(
            "the agent can use Docker, and through it change anything; hide it with sandbox.hide = \
             [\"{DOCKER}\"]"
        )
    })
}

/// Sees the agent's first failing `sudo`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SudoWatch {
    told: bool,
}

impl SudoWatch {
    /// The note about it, once, when it stands in what was printed.
    pub(crate) fn look(&mut self, printed: &[u8]) -> Option<&'static str> {
        if self.told || !is_failing_sudo(printed) {
            return None;
        }
        self.told = true;
        Some(
            "sudo does not work under the shield; set [sandbox] shield = \"off\" if the agent needs it",
        )
    }
}

/// Whether sudo complains that it is not root's, as it does behind walls.
fn is_failing_sudo(printed: &[u8]) -> bool {
    const COMPLAINTS: [&str; 4] = [
        "must be owned by uid 0 and have the setuid bit set",
        "effective uid is not 0",
        "is owned by uid 65534, should be 0",
        "\"no new privileges\" flag is set",
    ];
    let has = |part: &str| memchr::memmem::find(printed, part.as_bytes()).is_some();
    has("sudo: ") && COMPLAINTS.iter().any(|complaint| has(complaint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_sudo_is_told_once_and_a_working_one_never() {
        let mut watch = SudoWatch::default();
        assert_eq!(watch.look(b"sudo: a password is required\n"), None);
        assert_eq!(watch.look(b"the effective uid is not 0\n"), None);
        let text = b"sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set\n";
        assert!(watch.look(text).unwrap().starts_with("sudo does not work under the shield"));
        assert_eq!(watch.look(text), None);
    }
}
