//! Real agent programs for end-to-end tests: pinned versions from npm, in a folder of their own,
//! with a home of their own, a key that is none, and the scripted model on loopback.

mod known;

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use self::known::{clients, surroundings};

/// One agent program at one version.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// The adapter's name.
    pub name: &'static str,
    /// The npm package.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The program, below `node_modules`.
    pub program: &'static str,
    /// The model to ask for; none when the surroundings name it.
    pub model: Option<&'static str>,
    /// The name of its shell tool and of that tool's argument.
    pub shell: (&'static str, &'static str),
}

/// What a client finds around it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Arguments that bring it to the scripted model.
    pub args: Vec<String>,
}

/// Why a client could not be installed.
#[derive(Debug)]
pub struct InstallError {
    package: String,
    why: String,
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot install `{}`: {}", self.package, self.why)
    }
}

impl std::error::Error for InstallError {}

/// The client of this name.
pub fn client(name: &str) -> Option<&'static Client> {
    clients().iter().find(|client| client.name == name)
}

/// Where clients are kept: `FLYBALL_E2E_CACHE`, else `e2e-clis` in the build folder.
pub fn cache() -> PathBuf {
    let target = || std::env::var_os("CARGO_TARGET_DIR").map_or_else(default_target, PathBuf::from);
    std::env::var_os("FLYBALL_E2E_CACHE").map_or_else(|| target().join("e2e-clis"), PathBuf::from)
}

fn default_target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

/// Installs clients by name, for a build step that prepares the cache.
pub fn install_all(names: &[&str], cache: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let one = |name: &&str| match client(name) {
        Some(client) => client.install(cache),
        None => Err(InstallError { package: (*name).to_owned(), why: "no such client".to_owned() }),
    };
    names.iter().map(one).collect()
}

impl Client {
    /// Installs the client unless it is there already; the path of its program.
    pub fn install(&self, cache: &Path) -> Result<PathBuf, InstallError> {
        if self.package.is_empty() {
            let why = "it is part of flyball".to_owned();
            return Err(InstallError { package: self.name.to_owned(), why });
        }
        let folder = cache.join(format!("{}-{}", self.name, self.version));
        let program = folder.join("node_modules").join(self.program);
        if program.exists() {
            return Ok(program);
        }
        let failed = |why: String| InstallError {
            package: format!("{}@{}", self.package, self.version),
            why,
        };
        std::fs::create_dir_all(&folder)
            .map_err(|error| failed(format!("`{}`: {error}", folder.display())))?;
        let output = self.npm(&folder).map_err(|error| failed(format!("`npm`: {error}")))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        if !program.exists() {
            return Err(failed(format!("npm left no `{}`", program.display())));
        }
        Ok(program)
    }

    fn npm(&self, folder: &Path) -> io::Result<std::process::Output> {
        let package = format!("{}@{}", self.package, self.version);
        let args = ["install", "--no-audit", "--no-fund", "--no-save", "--prefix"].map(OsStr::new);
        Command::new("npm").args(args).arg(folder).arg(package).current_dir(folder).output()
    }
}
