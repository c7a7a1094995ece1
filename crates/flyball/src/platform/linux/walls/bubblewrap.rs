//! The same walls by another program: `bwrap`, which some distributions let make namespaces while
//! they let nobody else.

use std::path::Path;

use crate::platform::Walls;

/// The program and the arguments to put before a command.
pub fn bubblewrap(walls: &Walls) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut words: Vec<String> = vec!["bwrap".to_owned()];
    let mut say = |parts: &[&str]| words.extend(parts.iter().map(|part| (*part).to_owned()));
    match &walls.writable {
        None => say(&["--dev-bind", "/", "/"]),
        Some(writable) => {
            say(&["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc"]);
            for place in writable {
                say(&["--bind", &text(place), &text(place)]);
            }
        }
    }
    for folder in &walls.read_only {
        say(&["--ro-bind", &text(folder), &text(folder)]);
    }
    for replaced in &walls.in_place {
        say(&["--ro-bind", &text(&replaced.shown), &text(&replaced.at)]);
    }
    for place in &walls.hidden {
        if place.is_dir() {
            say(&["--tmpfs", &text(place), "--remount-ro", &text(place)]);
        } else {
            say(&["--ro-bind", "/dev/null", &text(place)]);
        }
    }
    if walls.network.is_some() {
        say(&["--unshare-net"]);
    }
    say(&["--"]);
    words
}
