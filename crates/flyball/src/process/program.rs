//! Which program a keeper is started from: flyball, or whatever program links this library.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use super::clerk::{CLERK_ARGUMENT, clerk_main};
use super::keeper::{KEEPER_ARGUMENT, keeper_main};
use crate::platform;

/// Whether this program has said that it serves as keeper. Without that, starting it anew would run
/// it a second time, as whatever it is.
static SERVES: AtomicBool = AtomicBool::new(false);

/// The program keepers are started from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeeperProgram {
    /// The one that runs here, exactly as it was started, be its file replaced or not. It must have
    /// called [`serve_keeper_if_asked`].
    #[default]
    Own,
    /// The one at this path: `flyball`, or another one that calls [`serve_keeper_if_asked`].
    At(PathBuf),
}

impl KeeperProgram {
    pub(super) fn find(&self) -> io::Result<PathBuf> {
        match self {
            Self::At(path) => Ok(path.clone()),
            Self::Own if SERVES.load(Ordering::Acquire) => platform::own_program(),
            Self::Own => Err(io::Error::other(
                "this program does not serve as keeper: call `serve_keeper_if_asked` first in its \
                 `main`, or name a program that does",
            )),
        }
    }
}

/// Makes this program one that keepers can be started from. To be called first in `main`, before
/// anything is read, written or started: when this process was started to be a keeper, it is one
/// until its program has ended, and `main` returns what is answered here.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     if let Some(code) = flyball::process::serve_keeper_if_asked() {
///         return code;
///     }
///     // … what the program is for
///     ExitCode::SUCCESS
/// }
/// ```
#[must_use = "a keeper that has ended must not go on as something else"]
pub fn serve_keeper_if_asked() -> Option<ExitCode> {
    SERVES.store(true, Ordering::Release);
    let first = std::env::args_os().nth(1)?;
    if first == OsStr::new(KEEPER_ARGUMENT) {
        return Some(keeper_main());
    }
    (first == OsStr::new(CLERK_ARGUMENT)).then(clerk_main)
}

/// Whether this program has said that it serves as keeper.
pub(crate) fn serves_as_keeper() -> bool {
    SERVES.load(Ordering::Acquire)
}

#[cfg(test)]
mod tests {
    use crate::process::{Spec, StartError, Supervised};

    /// The test program is such a one: its `main` is not ours.
    #[test]
    fn a_program_that_does_not_serve_is_never_started_anew() {
        let spec = Spec::new("true", std::env::temp_dir());
        let error = Supervised::start(&spec, |_| {}).unwrap_err();
        let StartError::Keeper { source, .. } = &error else { panic!("{error}") };
        assert!(source.to_string().contains("serve_keeper_if_asked"), "{source}");
    }
}
