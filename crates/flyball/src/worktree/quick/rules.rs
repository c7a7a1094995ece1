//! Whether git takes files in byte by byte here: no attributes, no line ends that are changed.

use std::path::{Path, PathBuf};

use crate::worktree::WorktreeError;
use crate::worktree::git::Git;
use crate::worktree::index::FileStamp;

/// What git's settings say, as long as the files they stand in are the same.
#[derive(Debug)]
pub(super) struct Rules {
    read: Vec<(PathBuf, Option<FileStamp>)>,
    allow: bool,
    /// Whether git believes the file system that a file is a program.
    believes_modes: bool,
}

impl Rules {
    pub(super) fn of(git: &Git) -> Result<Self, WorktreeError> {
        let mut places = vec![
            git.common_dir.join("config"),
            git.git_dir.join("config.worktree"),
            git.common_dir.join("info/attributes"),
        ];
        let variables = git.call(["var", "-l"]).answer()?;
        let settings = git.call(["config", "--list", "--show-origin", "-z"]).run()?;
        let text = String::from_utf8_lossy(&variables.stdout).into_owned();
        let (config, attributes) = named(&text);
        // A git that does not tell where its attributes are may have some anywhere.
        let mut allow = variables.ok() && !attributes.is_empty();
        let (mut parts, mut believes_modes) = (settings.parts(), true);
        while let (Some(origin), Some(setting)) = (parts.next(), parts.next()) {
            allow &= leaves_alone(&setting);
            if let Some((key, value)) = setting.split_once('\n')
                && key.eq_ignore_ascii_case("core.filemode")
            {
                believes_modes = !is_off(value);
            }
            places.extend(origin.strip_prefix("file:").map(|file| git.root.join(file)));
        }
        places.extend(config);
        places.extend(attributes.iter().cloned());
        places.sort_unstable();
        places.dedup();
        let read: Vec<_> = places.into_iter().map(|place| (FileStamp::of(&place), place)).collect();
        let of_attributes = |path: &Path| {
            attributes.iter().any(|one| one == path) || path.ends_with("info/attributes")
        };
        allow &= !read.iter().any(|(stamp, path)| stamp.is_some() && of_attributes(path));
        let read = read.into_iter().map(|(stamp, path)| (path, stamp)).collect();
        Ok(Self { read, allow, believes_modes })
    }

    /// Whether nothing was changed since.
    pub(super) fn still_hold(&self) -> bool {
        self.read.iter().all(|(path, stamp)| FileStamp::of(path) == *stamp)
    }

    pub(super) const fn allow(&self) -> bool {
        self.allow
    }

    /// The mode of a file git has never been told of.
    pub(super) fn mode(&self, of: u32) -> String {
        if self.believes_modes && of & 0o100 != 0 { "100755" } else { "100644" }.to_owned()
    }
}

/// The files of settings and of attributes that git names. A setting may look like such a line; then
/// there is one file more to look at.
fn named(variables: &str) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let of = |names: [&str; 2]| {
        let lines = variables.lines().filter_map(|line| line.split_once('='));
        lines.filter(|(name, _)| names.contains(name)).map(|(_, path)| path.into()).collect()
    };
    (of(["GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"]), of(["GIT_ATTR_SYSTEM", "GIT_ATTR_GLOBAL"]))
}

/// Whether git takes a word for no.
fn is_off(value: &str) -> bool {
    ["false", "no", "off", "0", ""].contains(&value.to_ascii_lowercase().as_str())
}

/// Whether files are taken in as they are under this setting.
fn leaves_alone(setting: &str) -> bool {
    let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
    let key = key.to_ascii_lowercase();
    match key.as_str() {
        "core.autocrlf" => is_off(value),
        "core.attributesfile" | "attr.tree" => false,
        // What else is read, and when, is git's to say.
        _ => !key.starts_with("include"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_change_files_and_settings_of_elsewhere_are_gits_affair() {
        for setting in ["core.bare\nfalse", "core.autocrlf\nfalse", "user.name\nx", "core.bare"] {
            assert!(leaves_alone(setting), "{setting}");
        }
        for setting in [
            "core.autocrlf\ninput",
            "core.autoCRLF\ntrue",
            "core.autocrlf",
            "core.attributesfile\n/x",
            "include.path\nx",
            "includeIf.gitdir:/x.path\ny",
        ] {
            assert!(!leaves_alone(setting), "{setting}");
        }
    }

    #[test]
    fn a_setting_that_looks_like_a_place_hides_none() {
        let (config, attributes) =
            named("a.b=x\nGIT_ATTR_GLOBAL=/fake\nGIT_ATTR_GLOBAL=/real\nGIT_CONFIG_GLOBAL=/c\n");
        assert_eq!(attributes, [PathBuf::from("/fake"), PathBuf::from("/real")]);
        assert_eq!(config, [PathBuf::from("/c")]);
    }
}
