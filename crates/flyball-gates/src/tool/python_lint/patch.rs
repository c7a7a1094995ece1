//! Where the first change of each file in a patch is.

use crate::text;

/// So many files are remembered.
const FILES_MAX: usize = 200;

/// The patches so far.
#[derive(Clone, Default)]
pub(super) struct Patches {
    /// The file whose first change has not come, and the number of its next line once that is known.
    open: Option<(String, Option<u32>)>,
    first: Vec<(String, u32)>,
}

impl Patches {
    /// Takes a line; whether a patch is open after it.
    pub(super) fn line(&mut self, text: &str) -> bool {
        if let Some(file) = text.strip_prefix("+++ ") {
            let file = file.split('\t').next().unwrap_or(file).trim();
            self.open = (self.first.len() < FILES_MAX).then(|| (file.to_owned(), None));
        } else if let Some((file, next)) = self.open.take() {
            self.open = match (next, text.as_bytes().first()) {
                (None, Some(b'@')) => {
                    let start = text.strip_prefix("@@ -").and_then(text::small);
                    start.map(|(start, _)| (file, Some(start)))
                }
                (Some(next), Some(b'-' | b'+')) => {
                    self.first.push((file, next));
                    None
                }
                (Some(next), Some(b' ') | None) => Some((file, Some(next.saturating_add(1)))),
                _ => None,
            };
        }
        self.open.is_some()
    }

    /// The first line that would be changed in a file.
    pub(super) fn of(&self, file: &str) -> Option<u32> {
        let is_same = |own: &str| own == file || own.ends_with(file) || file.ends_with(own);
        self.first.iter().find(|(own, _)| is_same(own)).map(|(_, line)| *line)
    }
}

#[cfg(test)]
mod tests {
    use super::Patches;

    #[test]
    fn the_first_change_of_a_file_is_counted_from_its_hunk() {
        let mut patches = Patches::default();
        let lines = ["--- a.py\t2026", "+++ a.py\t2026", "@@ -29,7 +29,7 @@", " one", " two"];
        assert!(lines.into_iter().map(|line| patches.line(line)).last().expect("one"));
        assert!(!patches.line("-three"));
        assert!(!patches.line("+four"));
        assert_eq!((patches.of("/repo/a.py"), patches.of("b.py")), (Some(31), None));
    }
}
