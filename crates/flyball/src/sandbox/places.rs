//! Which places can be written and which look empty in a sandbox. Only what is there counts; nothing
//! is made for it but the folders of the agent itself.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::Ground;
use crate::client::needs;
use crate::config::SandboxSettings;
use crate::platform;

/// Places everybody writes to.
const SHARED: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "$TMPDIR"];

/// Caches of build tools.
const CACHES: [&str; 10] = [
    "~/.cache",
    "~/.cargo/registry",
    "~/.cargo/git",
    "$CARGO_TARGET_DIR",
    "~/.npm",
    "~/.pnpm-store",
    "~/.local/share/pnpm",
    "~/go/pkg",
    "~/.gradle",
    "~/.m2",
];

/// Secrets, and doors to those who have some.
const SECRETS: [&str; 28] = [
    "~/.ssh",
    "~/.aws",
    "~/.azure",
    "~/.config/gh",
    "~/.config/gcloud",
    "~/.config/op",
    "~/.config/hub",
    "~/.kube",
    "~/.docker/config.json",
    "~/.netrc",
    "~/.npmrc",
    "~/.pypirc",
    "~/.git-credentials",
    "~/.cargo/credentials.toml",
    "~/.cargo/credentials",
    "~/.gnupg",
    "~/.password-store",
    "~/.local/share/keyrings",
    "~/.mozilla",
    "~/.config/google-chrome",
    "~/.config/chromium",
    "~/.config/BraveSoftware",
    "/run/docker.sock",
    "$XDG_RUNTIME_DIR/bus",
    "$XDG_RUNTIME_DIR/podman",
    "$XDG_RUNTIME_DIR/gnupg",
    "$XDG_RUNTIME_DIR/keyring",
    "$XDG_RUNTIME_DIR/systemd",
];

/// Makes the folders that clients keep things in, where they are not there yet: one that is started for
/// the first time could not make them from inside. What cannot be made, the client will tell.
pub(super) fn make_own(clients: &[&str]) {
    let own = clients.iter().flat_map(|client| needs::of(client).folders);
    for place in own.filter_map(|place| expanded(place)) {
        DirBuilder::new().recursive(true).mode(0o700).create(place).ok();
    }
}

/// The places that can be written.
pub(super) fn writable(settings: &SandboxSettings, ground: &Ground<'_>) -> Vec<PathBuf> {
    let own = std::iter::once(ground.root.to_path_buf()).chain(ground.git_dirs.iter().cloned());
    let folders = ground.clients.iter().flat_map(|client| needs::of(client).folders);
    let named = SHARED.iter().chain(&CACHES).chain(folders).copied();
    let named = named.chain(settings.write.iter().map(String::as_str)).filter_map(expanded);
    let mut places: Vec<PathBuf> =
        own.chain(named).filter_map(|place| place.canonicalize().ok()).collect();
    places.sort();
    places.dedup();
    // One that lies in another is open already.
    let all = places.clone();
    places.retain(|place| !all.iter().any(|other| other != place && place.starts_with(other)));
    places
}

/// The places that look empty, beside those the settings name.
pub(super) fn hidden(settings: &SandboxSettings, ground: &Ground<'_>) -> Vec<PathBuf> {
    let shown = existing(&settings.show);
    let others = needs::all().filter(|(name, _)| !ground.clients.contains(name));
    let theirs = others.flat_map(|(_, needs)| needs.credentials);
    let user = platform::own_user();
    let runtime = SECRETS.iter().filter_map(|place| place.strip_prefix("$XDG_RUNTIME_DIR/"));
    let runtime = runtime.map(|rest| format!("/run/user/{user}/{rest}"));
    // A terminal that goes on without its window runs what it is told, outside of the run.
    let terminals = ["/tmp/tmux-", "$TMUX_TMPDIR/tmux-"].map(|place| format!("{place}{user}"));
    let terminals = terminals.into_iter().chain(["/run/screen".to_owned(), "~/.screen".to_owned()]);
    let named = SECRETS.iter().chain(theirs).map(|place| (*place).to_owned()).chain(runtime);
    let named = named.chain(terminals);
    let found = named.filter_map(|place| expanded(&place)?.canonicalize().ok());
    found.filter(|place| !shown.contains(place)).collect()
}

/// Those of these places that are there.
pub(super) fn existing(places: &[String]) -> Vec<PathBuf> {
    places.iter().filter_map(|place| expanded(place)?.canonicalize().ok()).collect()
}

/// A place with the user's home, or a variable, at its beginning; none when that is not known.
fn expanded(place: &str) -> Option<PathBuf> {
    let variable = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    if let Some(rest) = place.strip_prefix("~/") {
        return Some(variable("HOME")?.join(rest));
    }
    if let Some(rest) = place.strip_prefix('$') {
        let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
        return Some(variable(name)?.join(rest));
    }
    Some(PathBuf::from(place)).filter(|path| Path::new(path).is_absolute())
}
