//! The machine as a client would find it: variables, files, and the client itself.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::place;
use crate::client::login::Surroundings;
use crate::config::AgentSettings;
use crate::files;
use crate::process;

/// How long a client may take to say whether it is logged in.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest file of settings that is looked into.
const FILE_MAX: u64 = 16 * 1024 * 1024;
/// How much of a program is looked at to tell what it is.
const HEAD: u64 = 128;

/// What an agent of these settings finds.
pub(super) struct Machine<'a> {
    pub(super) agent: &'a AgentSettings,
    pub(super) root: &'a Path,
}

impl Machine<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        let own = self.agent.env.get(name).cloned();
        own.or_else(|| std::env::var(name).ok()).filter(|value| !value.is_empty())
    }

    fn path(&self, place: &str) -> Option<PathBuf> {
        match place.strip_prefix("~/") {
            Some(below) => self.variable("HOME").map(|home| Path::new(&home).join(below)),
            None => Some(self.root.join(place)),
        }
    }
}

impl Surroundings for Machine<'_> {
    fn has_variable(&self, name: &str) -> bool {
        self.variable(name).is_some()
    }

    fn has_variable_ending(&self, end: &str) -> bool {
        let of_agent = self.agent.env.keys().any(|name| name.ends_with(end));
        of_agent || std::env::vars_os().any(|(name, _)| name.to_string_lossy().ends_with(end))
    }

    fn has_file(&self, place: &str) -> bool {
        self.path(place).is_some_and(|path| path.exists())
    }

    fn mentions(&self, place: &str, word: &str) -> bool {
        let text = self.path(place).and_then(|path| files::read_text(&path, FILE_MAX).ok());
        text.is_some_and(|text| text.contains(word))
    }

    fn has_argument(&self, word: &str) -> bool {
        self.agent.args.iter().any(|argument| argument.contains(word))
    }

    /// A script of another interpreter is somebody's wrapper, which may do anything when it is
    /// started.
    fn is_client_itself(&self) -> bool {
        let program = place(self.agent, self.root).and_then(|path| path.canonicalize().ok());
        let head = program.and_then(|path| files::read_start(&path, HEAD).ok());
        head.is_some_and(|head| {
            let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
            is_binary(&head) || line.starts_with(b"#!") && line.ends_with(b"node")
        })
    }

    fn ask(&self, arguments: &[&str]) -> Option<String> {
        let program = place(self.agent, self.root)?;
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let env: Vec<(&str, String)> =
            self.agent.env.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        process::ask_briefly(&program.to_string_lossy(), &arguments, &env, PATIENCE)
    }
}

/// Whether a file begins like a program of the machine's own.
fn is_binary(head: &[u8]) -> bool {
    let magic: [&[u8]; 4] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"];
    magic.iter().any(|magic| head.starts_with(magic))
}
