//! Tests in languages whose tests are not told apart here: only their absence is noticed, and that they
//! state less.

use super::Edited;
use super::excerpt::Side;
use super::source::Language;
use super::strength;
use super::suspicion::Suspicion;
use super::tests_of::{may_hold_tests, tests_of};

/// A test file in a language whose tests are not told apart here: only its absence is noticed, and
/// that it states less.
pub(super) fn is_foreign_test(path: &str) -> bool {
    const ENDINGS: [&str; 17] = [
        "bats", "c", "cc", "cpp", "cs", "cxx", "dart", "ex", "exs", "lua", "php", "pl", "scala",
        "sh", "swift", "t", "zig",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let lower = stem.to_ascii_lowercase();
    let says_so = lower.starts_with("test_")
        || ["_test", "-test", "_tests", ".test", ".spec"].iter().any(|end| lower.ends_with(end))
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || matches!(ending, "bats" | "t");
    ENDINGS.contains(&ending) && says_so
}

/// A deleted test file of another language, unless a file of its name or content came elsewhere.
pub(super) fn foreign_deletion(file: &Edited, edited: &[Edited]) -> Option<Suspicion> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    if !is_foreign_test(&file.path) || file.before.is_none() || file.after.is_some() {
        return None;
    }
    let came = |other: &Edited| {
        other.before.is_none()
            && (other.after == file.before || name(&other.path) == name(&file.path))
    };
    let message = format!("test file {} was deleted", file.path);
    let mut suspicion = Suspicion::of_file(&file.path, &file.path, message);
    suspicion.side = Side::Before;
    suspicion.found.tests = 1;
    (!edited.iter().any(came)).then_some(suspicion)
}

/// A file of checks without tests that are known by name: what it states is counted.
pub(super) fn stated_less(file: &Edited) -> Option<Suspicion> {
    let (before, after) = (file.before.as_deref()?, file.after.as_deref()?);
    let language =
        Language::of(&file.path).filter(|language| may_hold_tests(*language, &file.path));
    let is_known = language.is_some_and(|language| {
        matches!(language, Language::Rust | Language::Jvm)
            || !tests_of(language, before).is_empty()
            || !tests_of(language, after).is_empty()
    });
    if is_known || (language.is_none() && !is_foreign_test(&file.path)) {
        return None;
    }
    let (was, is) = (strength::statements(before), strength::statements(after));
    (is < was).then(|| {
        let message = format!("`{}` states less than before: {was} checks became {is}", file.path);
        Suspicion::of_file(&file.path, &file.path, message)
    })
}
