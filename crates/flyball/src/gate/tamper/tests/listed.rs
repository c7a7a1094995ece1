//! Files without a repository.

use super::super::{Edited, Files};

/// The files of a test: those that differ, and no others.
pub(in crate::gate::tamper) struct Listed<'a>(pub(in crate::gate::tamper) &'a [Edited]);

impl Files for Listed<'_> {
    fn before(&self, path: &str) -> Option<String> {
        self.0.iter().find(|file| file.path == path)?.before.clone()
    }

    fn after(&self, path: &str) -> Option<String> {
        self.0.iter().find(|file| file.path == path)?.after.clone()
    }

    fn mentioning(&self, word: &str) -> Vec<String> {
        let holds = |file: &&Edited| file.before.as_deref().is_some_and(|text| text.contains(word));
        self.0.iter().filter(holds).map(|file| file.path.clone()).collect()
    }

    fn ending(&self, parts: &str) -> Vec<String> {
        let ends = |file: &&Edited| file.path == parts || file.path.ends_with(&format!("/{parts}"));
        self.0.iter().filter(ends).map(|file| file.path.clone()).collect()
    }
}
