//! Rust's examples in comments, which are tests too: those that are no longer run, and red ones that
//! check less.

use super::Edited;
use super::excerpt::Side;
use super::expected::only_if_red;
use super::source::Language;
use super::suspicion::Suspicion;

/// Words behind a fence with which its code is run. With `should_panic` it is too, and expects the
/// opposite: that is no better than not run.
const RUN: [&str; 5] = ["rust", "test_harness", "standalone_crate", "standalone", "allow_fail"];

/// One piece of code in a comment.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    /// What the comment is about; nothing for a module's own.
    item: String,
    line: u32,
    is_run: bool,
    code: Vec<String>,
}

/// Every example that is run no more, or was red and says less.
pub(super) fn weakened(edited: &[Edited]) -> Vec<Suspicion> {
    let rust = edited.iter().filter(|edit| Language::of(&edit.path) == Some(Language::Rust));
    rust.flat_map(in_file).collect()
}

fn in_file(edit: &Edited) -> Vec<Suspicion> {
    let (Some(before), Some(after)) = (&edit.before, &edit.after) else { return Vec::new() };
    let (was, is) = (examples(before), examples(after));
    let mut found = Vec::new();
    for old in was.iter().filter(|old| old.is_run) {
        let of = if old.item.is_empty() { "the module" } else { old.item.as_str() };
        let same = is.iter().filter(|new| new.code == old.code);
        let same: Vec<&Example> = same.collect();
        if same.iter().any(|new| new.is_run) {
            continue;
        }
        let path = &edit.path;
        // As cargo names it: `src/lib.rs - parse (line 3)`.
        let file = path.rsplit('/').next().unwrap_or(path);
        let name = match old.item.as_str() {
            "" => format!("{file} - (line"),
            item => format!("{item} (line"),
        };
        if let Some(new) = same.first() {
            let message = format!("the example of `{of}` in `{path}` is no longer run");
            let mut one = Suspicion::new(of, message, Side::Now).at(path, new.line);
            one = one.about(format!("example:{path}:{of}"));
            one.found.tests = 1;
            found.push(one);
        } else if checks_less(old, &is) && holds(after, &old.item) {
            let message = format!("the example of `{of}` was red and was made to check less");
            let one = Suspicion::of_file(path, of, message).at(path, old.line);
            found.push(only_if_red(one, vec![name], Vec::new()));
        }
    }
    found
}

/// Whether what an example checked is checked by none of these.
fn checks_less(old: &Example, all: &[Example]) -> bool {
    let checks = old.code.iter().filter(|line| line.contains("assert"));
    let mut checks = checks.filter(|check| {
        !all.iter().any(|new| new.is_run && new.code.iter().any(|line| line == *check))
    });
    checks.next().is_some()
}

/// Whether what a comment was about is still there.
fn holds(text: &str, item: &str) -> bool {
    item.is_empty() || super::source::words(text).any(|(_, word)| word == item)
}

fn examples(text: &str) -> Vec<Example> {
    let mut all: Vec<Example> = Vec::new();
    let mut open: Option<(Example, &str)> = None;
    // Examples whose item is yet to come.
    let mut waiting = 0_usize;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line = line.trim();
        let outer = line.strip_prefix("///").filter(|rest| !rest.starts_with('/'));
        let inner = line.strip_prefix("//!");
        let Some(said) = outer.or(inner) else {
            open = None;
            let is_between = line.is_empty() || line.starts_with("#[") || line.starts_with("//");
            if waiting > 0 && !is_between {
                let from = all.len().saturating_sub(waiting);
                let item = item_of(line);
                for example in all.iter_mut().skip(from) {
                    example.item.clone_from(&item);
                }
                waiting = 0;
            }
            continue;
        };
        let said = said.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| said.starts_with(mark));
        match (&mut open, mark) {
            (None, Some(mark)) => {
                let words = said.trim_start_matches(['`', '~', ' ']);
                let is_run = words.split([',', ' ']).all(is_run);
                let (item, code) = (String::new(), Vec::new());
                open = Some((Example { item, line: number, is_run, code }, mark));
            }
            (Some((_, mark)), Some(other)) if *mark == other => {
                if let Some((example, _)) = open.take() {
                    all.push(example);
                    waiting += usize::from(outer.is_some());
                }
            }
            (Some((example, _)), _) if !said.is_empty() => example.code.push(said.to_owned()),
            (Some(_) | None, _) => {}
        }
    }
    all
}

/// Whether code with this word behind its fence is run.
fn is_run(word: &str) -> bool {
    let word = word.trim();
    word.is_empty() || RUN.contains(&word) || word.starts_with("edition")
}

/// The name of what begins on a line: `pub fn parse(` is about `parse`.
fn item_of(line: &str) -> String {
    const KINDS: [&str; 10] =
        ["fn", "struct", "enum", "trait", "mod", "macro_rules", "type", "const", "static", "union"];
    let mut words = super::source::words(line).map(|(_, word)| word);
    let mut last = "";
    for word in words.by_ref() {
        if KINDS.contains(&last) && !KINDS.contains(&word) {
            return word.to_owned();
        }
        last = word;
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use flyball_core::gate::Weight;

    use super::*;

    const BEFORE: &str = "//! ```\n//! assert!(true);\n//! ```\n\n/// Counts.\n///\n/// ```\n/// assert_eq!(x::f(), 1);\n/// ```\n\
                          #[must_use]\npub const fn f() -> u8 {\n    0\n}\n";

    fn said(after: &str) -> Vec<(String, Weight)> {
        let edit = Edited {
            path: "src/lib.rs".to_owned(),
            before: Some(BEFORE.to_owned()),
            after: Some(after.to_owned()),
        };
        let found = weakened(&[edit]);
        found.into_iter().map(|one| (one.found.finding.message, one.found.weight)).collect()
    }

    #[test]
    fn an_example_that_is_no_longer_run_is_seen() {
        for word in ["ignore", "no_run", "text", "should_panic", "rust,ignore", "console"] {
            let after = BEFORE.replace("///\n/// ```\n", &format!("///\n/// ```{word}\n"));
            let message = "the example of `f` in `src/lib.rs` is no longer run".to_owned();
            assert_eq!(said(&after), [(message, Weight::Firm)], "{word}");
        }
        let module = BEFORE.replacen("//! ```\n", "//! ```ignore\n", 1);
        assert!(said(&module)[0].0.contains("the example of `the module`"));
    }

    #[test]
    fn a_red_one_that_checks_less_is_seen_and_other_work_on_examples_is_not() {
        for after in [
            BEFORE.replace("/// assert_eq!(x::f(), 1);\n", ""),
            BEFORE.replace("x::f(), 1", "x::f(), 0"),
            BEFORE.replace("/// ```\n/// assert_eq!(x::f(), 1);\n/// ```\n", ""),
        ] {
            let message = "the example of `f` was red and was made to check less".to_owned();
            assert_eq!(said(&after), [(message, Weight::IfRedFirst)], "{after}");
        }
        for (what, after) in [
            ("named", BEFORE.replace("///\n/// ```\n", "///\n/// ```rust\n")),
            ("longer", BEFORE.replace("/// assert_eq", "/// use x;\n/// assert_eq")),
            ("moved", BEFORE.replace("/// Counts.\n", "").replace("fn f()", "fn f() ")),
            ("gone with what it is about", BEFORE[..BEFORE.find("/// Counts").unwrap()].to_owned()),
        ] {
            assert_eq!(said(&after), [], "{what}");
        }
    }
}
