//! By which means walls can be put up here: tried once for this boot and this program, and
//! remembered. That none can be had is not remembered: what helps may have been installed since.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::write_whole;
use crate::platform::{self, Means, Walls};
use crate::process::Supervised;

/// Why walls cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lack {
    /// At which step, in the system's words.
    pub(super) why: String,
    kind: LackKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LackKind {
    /// The system lets only some programs make user namespaces.
    NeedsProfile,
    /// There are none.
    NoNamespaces,
}

impl Lack {
    fn new(why: String) -> Self {
        let needs_profile = platform::namespaces_need_profile();
        let kind = if needs_profile { LackKind::NeedsProfile } else { LackKind::NoNamespaces };
        Self { why, kind }
    }

    /// What is said when a run begins without.
    pub(super) fn text(&self) -> String {
        match self.kind {
            LackKind::NeedsProfile => {
                "shield: off: this system lets only some programs make user namespaces. Install \
                 bubblewrap (Ubuntu 25.04+), or load its profile: see flyball doctor. The run goes \
                 on; what the agent does to flyball's state folder is watched, not prevented."
            }
            LackKind::NoNamespaces => {
                "shield: off: no user namespaces here (container?). Start the container with \
                 --security-opt seccomp=unconfined, or let the container be the sandbox."
            }
        }
        .to_owned()
    }

    /// What to type.
    pub(super) fn remedy(&self) -> &'static str {
        match self.kind {
            LackKind::NeedsProfile => {
                "sudo apt install bubblewrap apparmor-profiles && sudo cp \
                 /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && sudo \
                 apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"
            }
            LackKind::NoNamespaces => {
                "start the container with --security-opt seccomp=unconfined, or let the container \
                 be the sandbox"
            }
        }
    }
}

/// What was found, and for what it holds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    boot: String,
    program: String,
    user: u32,
    namespace: String,
    means: Means,
}

/// The first means that works, own namespaces before those of another program.
pub(super) fn find(state_dir: &Path) -> Result<Means, Lack> {
    let place = state_dir.join("shield").join("means.json");
    let program = program();
    let here = |means| Remembered {
        boot: platform::boot(),
        program: program.clone(),
        user: platform::own_user(),
        namespace: platform::user_namespace(),
        means,
    };
    let known = fs::read_to_string(&place).ok();
    let known = known.and_then(|text| serde_json::from_str::<Remembered>(&text).ok());
    // Another program may be gone since.
    let holds = |means| means == Means::Namespaces || tried(state_dir, means).is_ok();
    if let Some(known) = known.filter(|known| *known == here(known.means) && holds(known.means)) {
        return Ok(known.means);
    }
    let means = attempt(state_dir)?;
    // Not being able to remember costs a moment next time. What only looks makes no folder.
    if let (Some(folder), Ok(text), true) =
        (place.parent(), serde_json::to_string(&here(means)), state_dir.is_dir())
    {
        super::private_folder(folder).and_then(|()| write_whole(&place, &text)).ok();
    }
    Ok(means)
}

fn attempt(state_dir: &Path) -> Result<Means, Lack> {
    tried(state_dir, Means::Namespaces)
        .or_else(|why| tried(state_dir, Means::Bubblewrap).map_err(|_| Lack::new(why)))
}

fn tried(state_dir: &Path, means: Means) -> Result<Means, String> {
    let read_only = state_dir.canonicalize().into_iter().collect();
    Supervised::try_walls(&Walls { means, read_only, ..Walls::default() }).map(|()| means)
}

/// What tells this program from another version of it.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("flyball"));
    let file = fs::metadata(&path).map(|file| (file.dev(), file.ino(), file.mtime()));
    format!("{} {file:?}", path.display())
}
