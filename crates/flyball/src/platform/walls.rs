//! What holds a program that is started: places it cannot change, places it cannot see, and whether
//! it reaches the network. What is written here is what is wanted; how it is had is the system's.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What stands between a program and its surroundings. Paths are absolute, free of links, and there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// How they are put up.
    pub means: Means,
    /// Only below these places anything can be written; none leaves everything as it is.
    pub writable: Option<Vec<PathBuf>>,
    /// Places that can be read and not be changed, be they below a writable one or not.
    pub read_only: Vec<PathBuf>,
    /// Places that look empty.
    pub hidden: Vec<PathBuf>,
    /// Folders or files shown in place of others.
    pub in_place: Vec<InPlace>,
    /// No network but a loopback of its own, with these ports forwarded; none leaves the network.
    pub network: Option<Vec<Forward>>,
    /// The kernel's own allow-list on top, for programs that make no namespaces themselves.
    pub second_layer: bool,
}

/// One thing shown in place of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InPlace {
    /// What is shown, read-only.
    pub shown: PathBuf,
    /// Where.
    pub at: PathBuf,
}

/// A port of the program's own loopback that leads to a socket outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forward {
    /// The port.
    pub port: u16,
    /// Where it leads.
    pub socket: PathBuf,
}

/// How walls are put up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// By the keeper itself.
    #[default]
    Namespaces,
    /// By the program `bwrap`, where the system lets only some programs do so.
    Bubblewrap,
}

impl Means {
    /// In one word, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Bubblewrap => "bubblewrap",
        }
    }
}
