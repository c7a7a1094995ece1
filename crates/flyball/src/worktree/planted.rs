//! What an agent leaves in the repository for the user's own git to run: settings in `.git/config`
//! and hooks. flyball's own calls run none of it, but people's would.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::index::FileStamp;
use super::{Worktree, WorktreeError};

/// The most settings and hooks that are compared.
const MANY: usize = 10_000;

/// The settings and hooks of a repository at one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Planted {
    /// The files of settings, as they were when they were read.
    files: [Option<FileStamp>; 2],
    /// By file and key; the values in their order.
    settings: BTreeMap<(&'static str, String), Vec<Vec<u8>>>,
    /// By name: size, inode and time of change.
    hooks: BTreeMap<String, (u64, u64, i64, i64)>,
}

impl Worktree {
    /// The settings and hooks that are new or other ones since this was asked last, in words; none
    /// when it is asked first.
    pub fn newly_planted(&mut self) -> Result<Vec<String>, WorktreeError> {
        let before = self.planted.take();
        let now = self.plant(before.as_ref())?;
        let words = before.map(|before| now.since(&before)).unwrap_or_default();
        self.planted = Some(now);
        Ok(words)
    }

    #[expect(clippy::unnecessary_wraps, reason = "the shape its callers share")]
    fn plant(&self, before: Option<&Planted>) -> Result<Planted, WorktreeError> {
        let files = [
            (".git/config", self.git.common_dir.join("config")),
            (".git/config.worktree", self.git.git_dir.join("config.worktree")),
        ];
        let stamps = [&files[0], &files[1]].map(|(_, file)| FileStamp::of(file));
        let hooks = hooks(&self.git.common_dir.join("hooks"));
        if let Some(before) = before.filter(|before| before.files == stamps) {
            return Ok(Planted { files: stamps, settings: before.settings.clone(), hooks });
        }
        let mut settings = BTreeMap::new();
        for (name, file) in files {
            if !fs::metadata(&file).is_ok_and(|meta| meta.is_file()) {
                continue;
            }
            let call = self.git.call(["config", "--list", "-z", "--file"]).arg(&file);
            // A file that is no configuration (any more) is told by every other git.
            let Ok(answer) = call.run() else { continue };
            for part in answer.raw_parts().take(MANY) {
                let (key, value) = match memchr::memchr(b'\n', part) {
                    Some(end) => part.split_at(end),
                    None => (part, &b""[..]),
                };
                let key = String::from_utf8_lossy(key).into_owned();
                settings.entry((name, key)).or_insert_with(Vec::new).push(value.to_vec());
            }
        }
        Ok(Planted { files: stamps, settings, hooks })
    }
}

impl Planted {
    /// What is new or another since, in words.
    fn since(&self, before: &Self) -> Vec<String> {
        let mut words = Vec::new();
        for ((file, key), values) in &self.settings {
            if before.settings.get(&(*file, key.clone())) != Some(values) {
                let value = values.last().map(Vec::as_slice).unwrap_or_default();
                let runs = if is_run(key, value) { "; your own git would run it" } else { "" };
                words.push(format!("the agent set {key} in {file}{runs}"));
            }
        }
        for (name, stamp) in &self.hooks {
            if before.hooks.get(name) != Some(stamp) {
                words.push(format!("the agent wrote .git/hooks/{name}; your own git would run it"));
            }
        }
        words
    }
}

fn hooks(folder: &Path) -> BTreeMap<String, (u64, u64, i64, i64)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(MANY) {
        let is_sample = entry.file_name().as_bytes().ends_with(b".sample");
        if !is_sample && let Ok(meta) = entry.metadata() {
            let stamp = (meta.size(), meta.ino(), meta.ctime(), meta.ctime_nsec());
            found.insert(entry.file_name().to_string_lossy().into_owned(), stamp);
        }
    }
    found
}

/// Whether git would start a program for this setting.
fn is_run(key: &str, value: &[u8]) -> bool {
    const WHOLE: [&str; 14] = [
        "core.fsmonitor",
        "core.hookspath",
        "core.sshcommand",
        "core.editor",
        "core.pager",
        "core.askpass",
        "core.gitproxy",
        "core.alternaterefscommand",
        "sequence.editor",
        "gpg.program",
        "diff.external",
        "include.path",
        "init.templatedir",
        "uploadpack.packobjectshook",
    ];
    const ENDS: [(&str, &[&str]); 13] = [
        ("filter.", &[".clean", ".smudge", ".process"]),
        ("diff.", &[".command", ".textconv"]),
        ("merge.", &[".driver"]),
        ("difftool.", &[".cmd", ".path"]),
        ("mergetool.", &[".cmd", ".path"]),
        ("credential.", &["helper"]),
        ("gpg.", &[".program"]),
        ("browser.", &[".cmd", ".path"]),
        ("man.", &[".cmd", ".path"]),
        ("includeif.", &[".path"]),
        ("remote.", &[".uploadpack", ".receivepack", ".vcs"]),
        ("trailer.", &[".command", ".cmd"]),
        ("interactive.", &["difffilter"]),
    ];
    let key = key.to_ascii_lowercase();
    WHOLE.contains(&key.as_str())
        || key.starts_with("pager.")
        || (key.starts_with("alias.")
            && value.strip_prefix(b"\n").unwrap_or(value).starts_with(b"!"))
        || ENDS.iter().any(|(start, ends)| {
            key.starts_with(start) && ends.iter().any(|end| key.ends_with(end))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(keys: &[(&str, &str)]) -> Planted {
        let mut planted = Planted::default();
        for (key, value) in keys {
            let at = (".git/config", (*key).to_owned());
            planted.settings.entry(at).or_default().push(value.as_bytes().to_vec());
        }
        planted
    }

    #[test]
    fn what_would_be_run_is_said_to_be() {
        for key in ["filter.x.clean", "core.fsmonitor", "core.hooksPath", "merge.a.b.driver"] {
            let words = with(&[(key, "x")]).since(&Planted::default());
            let expected = format!("the agent set {key} in .git/config; your own git would run it");
            assert_eq!(words, [expected]);
        }
        let harmless = with(&[("user.name", "x"), ("alias.st", "\nstatus")]);
        let words = harmless.since(&Planted::default());
        assert_eq!(words.len(), 2);
        assert!(words.iter().all(|word| !word.contains("run it")), "{words:?}");
        let words = with(&[("alias.st", "\n!evil")]).since(&harmless);
        assert_eq!(words, ["the agent set alias.st in .git/config; your own git would run it"]);
    }

    #[test]
    fn what_was_there_before_is_not_said() {
        let before = with(&[("filter.x.clean", "x"), ("user.name", "y")]);
        assert!(before.since(&before).is_empty());
        let fewer = with(&[("user.name", "y")]);
        assert!(fewer.since(&before).is_empty(), "what is gone runs nothing");
    }
}
