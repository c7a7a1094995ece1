//! What is wanted is the human's: the prompt is read once, and a change of it or of the requirements
//! during the run is noticed.

use std::fs;
use std::path::Path;

use crate::loopdir::LoopDir;

/// The largest file that is compared.
const FILE_MAX: u64 = 4 * 1024 * 1024;
/// Files of the loop folder that say what is wanted.
const FILES: [&str; 3] = ["prompt.md", "PROMPT.md", "prd.md"];

/// What the files that say what is wanted looked like when the run began.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    files: Vec<(String, Option<blake3::Hash>)>,
}

impl Wanted {
    /// Looks at them now.
    pub(super) fn of(loop_dir: &LoopDir) -> Self {
        let file = |name: &str| (name.to_owned(), digest(&loop_dir.file(name)));
        Self { files: FILES.iter().map(|name| file(name)).collect() }
    }

    /// Those that are no longer as they were, as the repository knows them.
    pub(super) fn changed(&self, loop_dir: &LoopDir) -> Vec<String> {
        let differs = |(name, before): &&(String, Option<blake3::Hash>)| {
            digest(&loop_dir.file(name)) != *before
        };
        let changed = self.files.iter().filter(differs);
        changed.map(|(name, _)| format!("{}/{name}", loop_dir.relative())).collect()
    }
}

/// A digest of a plain file of a size to be read; none for anything else.
fn digest(path: &Path) -> Option<blake3::Hash> {
    let meta = fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > FILE_MAX {
        return None;
    }
    crate::files::read(path, FILE_MAX).ok().map(|bytes| blake3::hash(&bytes))
}
