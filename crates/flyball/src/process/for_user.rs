//! What is started for the person at the machine, and left to itself: a browser.

use std::path::Path;
use std::process::{Command, Stdio};

use super::orphans::start_own;

/// The programs that open a file in what the user prefers.
const OPENERS: [&str; 3] = ["xdg-open", "wslview", "sensible-browser"];

/// Opens a file in the user's browser: `BROWSER`, or what the desktop prefers.
pub fn open_for_user(path: &Path) -> Result<(), String> {
    let named = std::env::var("BROWSER").ok().filter(|name| !name.trim().is_empty());
    let programs = named.into_iter().chain(OPENERS.map(str::to_owned));
    for program in programs {
        let mut command = Command::new(&program);
        command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Ok(mut child) = start_own(&mut command) {
            // It ends when it likes; somebody waits for it so that it leaves nothing behind.
            std::thread::spawn(move || child.wait());
            return Ok(());
        }
    }
    Err(format!("neither BROWSER nor {} is there", OPENERS.join(", ")))
}
