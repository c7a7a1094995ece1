//! The loop folder: the one asked for, the one configured, one of another loop, or a new one.

use std::path::{Path, PathBuf};

use crate::config::{FILE_NAME, stays_inside};

/// Folders other loops keep their files in.
const FOREIGN: [&str; 3] = ["ralph", ".ralph", "scripts/ralph"];

/// What makes such a folder a loop's.
const SIGNS: [&str; 7] =
    ["prompt.md", "PROMPT.md", "tasks.json", "prd.json", "prd.md", "progress.txt", "ralph.sh"];

/// The loop folder of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoopFolder {
    /// Relative to the root.
    pub(super) dir: PathBuf,
    /// Whether it is another loop's, whose prompt stays.
    pub(super) adopted: bool,
}

impl LoopFolder {
    pub(super) fn choose(root: &Path, asked: Option<&Path>) -> Self {
        let foreign = |name: &str| {
            let folder = root.join(name);
            folder.is_dir() && SIGNS.iter().any(|sign| folder.join(sign).exists())
        };
        let is_foreign =
            |dir: &Path| FOREIGN.iter().any(|name| Path::new(name) == dir && foreign(name));
        let dir = asked
            .map(Path::to_owned)
            .or_else(|| configured(root))
            .or_else(|| FOREIGN.into_iter().find(|name| foreign(name)).map(PathBuf::from))
            .unwrap_or_else(|| PathBuf::from(".flyball"));
        Self { adopted: is_foreign(&dir), dir }
    }
}

/// The folder an existing `flyball.toml` names, if it can be read at all.
fn configured(root: &Path) -> Option<PathBuf> {
    let dir = PathBuf::from(settings(root)?.get("loop")?.get("dir")?.as_str()?);
    stays_inside(&dir).then_some(dir)
}

/// Whether an existing `flyball.toml` does without reviews.
pub(super) fn has_no_review(root: &Path) -> bool {
    let enabled = settings(root).and_then(|table| table.get("review")?.get("enabled")?.as_bool());
    enabled == Some(false)
}

fn settings(root: &Path) -> Option<toml::Table> {
    let text = crate::files::read_text(&root.join(FILE_NAME), crate::config::FILE_MAX).ok()?;
    text.parse().ok()
}
