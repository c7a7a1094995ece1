//! What a program nobody knows says of its own failure.

use crate::report::Findings;
use crate::{Finding, FindingKind, place, reason, text};

/// The gravest lines that speak of an error, as far as they begin alike; failing these the last line
/// with a place in the words of a shell or of Perl. Anything else is for the tail to say.
pub(super) fn findings(errors: &[(u64, &str)], lines: &[(u64, &str)]) -> Findings {
    const GRAVE: &[&str] = &["fatal", "panic", "critical", "emerg", "uncaught", "unhandled"];
    let is_grave = |word: &str| GRAVE.iter().any(|grave| word.starts_with(grave));
    let is_own = |line: &str| !place::is_foreign(line) && !reason::is_relay(line);
    let own = || errors.iter().filter(|(_, line)| is_own(line));
    let words: Vec<String> = own().map(|(_, line)| first_word(line)).collect();
    let first = words.iter().find(|word| is_grave(word)).or(words.first());
    let mut said = Findings::default();
    for ((number, line), _) in own().zip(&words).filter(|(_, word)| Some(*word) == first) {
        let line = line.trim();
        // A bare heading says nothing without what stands below it.
        let below = lines.iter().find(|(at, _)| *at == number.saturating_add(1));
        let message = match below {
            Some((_, below)) if line.ends_with(':') => format!("{line} {}", below.trim()),
            _ => line.to_owned(),
        };
        said.push(*number, finding(&message));
    }
    if said.is_empty() {
        said = files(lines);
    }
    if said.is_empty() {
        let is_telling = |line: &str| {
            at(line).is_some()
                || [" differ: ", " is below ", " exceeds "].iter().any(|word| line.contains(word))
        };
        let last = lines.iter().rev().find(|(_, line)| is_telling(line.trim()));
        if let Some((number, line)) = last {
            said.push(*number, finding(line.trim()));
        }
    }
    said
}

/// The files of a patch, as formatters and generators print what they would change; or of an output
/// that is nothing but a list of paths.
fn files(lines: &[(u64, &str)]) -> Findings {
    let mut said = Findings::default();
    let mut add = |number: u64, file: &str| {
        let finding = Finding::new(FindingKind::Format, format!("{file} would be changed"));
        said.push(number, finding.at(file, None, None));
    };
    for pair in lines.windows(2) {
        if let [(number, before), (next, after)] = pair
            && *next == number.saturating_add(1)
            && let (Some(before), Some(after)) =
                (before.strip_prefix("--- "), after.strip_prefix("+++ "))
            && let Some(file) = patched(after).or_else(|| patched(before))
        {
            add(*number, file);
        }
    }
    let words = || lines.iter().filter(|(_, line)| !line.trim().is_empty());
    if words().count() <= LISTED_MAX && words().all(|(_, line)| is_path(line)) {
        words().for_each(|(number, line)| add(*number, place::tidy(line.trim())));
    }
    said
}

/// More lines than this are no list somebody reads.
const LISTED_MAX: usize = 60;

/// The path behind `--- ` or `+++ ` of a patch, without what marks its two sides.
fn patched(side: &str) -> Option<&str> {
    let path = side.split('\t').next().unwrap_or(side).trim_end();
    let path = path.split("  (").next().unwrap_or(path).trim_end();
    let marks = ["a/", "b/", "original/", "fixed/", "before/", "after/"];
    let path = marks.iter().find_map(|mark| path.strip_prefix(mark)).unwrap_or(path);
    let path = path.split(":before").next().unwrap_or(path).trim_end_matches(":after");
    // What was made only to be compared is not the project's.
    let is_own = !path.starts_with("/tmp/") && !path.starts_with("/dev/");
    (is_own && is_path(path)).then(|| place::tidy(path))
}

/// Whether a text is nothing but the path of a file.
fn is_path(text: &str) -> bool {
    let text = text.trim();
    let end = text.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    text.len() < 300
        && !text.contains([' ', ':', '(', '"', '=', ','])
        && end.is_some_and(|(stem, end)| {
            !stem.is_empty()
                && (1..=8).contains(&end.len())
                && end.starts_with(|c: char| c.is_ascii_alphabetic())
                && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// The first word of a line in small letters.
fn first_word(line: &str) -> String {
    let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = bare.find(|c: char| !c.is_alphabetic()).unwrap_or(bare.len());
    bare.get(..end).unwrap_or(bare).to_lowercase()
}

fn finding(message: &str) -> Finding {
    let finding = Finding::new(FindingKind::Other, message);
    match at(message) {
        Some((file, line)) => finding.at(file, line, None),
        None => finding,
    }
}

fn at(message: &str) -> Option<(&str, u32)> {
    perl_place(message).or_else(|| place::of_shell(message))
}

/// The place in `no luck at check.pl line 3.`
pub(super) fn perl_place(message: &str) -> Option<(&str, u32)> {
    let (before, line) = message.lines().next()?.rsplit_once(" line ")?;
    let (_, file) = before.rsplit_once(" at ")?;
    (file.contains('.') && !file.contains(' ')).then_some((file, text::small(line)?.0))
}

#[cfg(test)]
mod tests {
    use super::findings;

    fn told(errors: &[(u64, &str)], lines: &[(u64, &str)]) -> Vec<(String, String)> {
        let (kept, _) = findings(errors, lines).take();
        let tell =
            |found: &crate::Finding| (found.place().unwrap_or_default(), found.message.clone());
        kept.iter().map(|(_, found)| tell(found)).collect()
    }

    #[test]
    fn the_gravest_lines_are_told_and_those_like_them() {
        let errors = [(3, "error: a"), (5, "FATAL: b"), (9, "error: c"), (12, "fatal: d")];
        let want = [(String::new(), "FATAL: b".to_owned()), (String::new(), "fatal: d".to_owned())];
        assert_eq!(told(&errors, &[]), want);
        let errors = [(3, "ERROR: a"), (4, "cannot b"), (9, "ERROR: c")];
        assert_eq!(told(&errors, &[]).len(), 2);
        let headed = told(&[(3, "Error:")], &[(3, "Error:"), (4, "  the reason")]);
        assert_eq!(headed, [(String::new(), "Error: the reason".to_owned())]);
    }

    #[test]
    fn a_patch_and_a_bare_list_name_their_files() {
        let patch = [
            (4, "--- original/./a.py"),
            (5, "+++ fixed/./a.py"),
            (6, "@@ -1 +1 @@"),
            (9, "--- sub/b.go.orig\t2026-01-01"),
            (10, "+++ sub/b.go\t2026-01-01"),
        ];
        let places = |lines: &[(u64, &str)]| -> Vec<String> {
            told(&[], lines).into_iter().map(|(place, _)| place).collect()
        };
        assert_eq!(places(&patch), ["a.py", "sub/b.go"]);
        assert_eq!(places(&[(1, "./a.py"), (2, "b/c.ts"), (3, "")]), ["a.py", "b/c.ts"]);
        assert!(places(&[(1, "./a.py"), (2, "done")]).is_empty());
    }

    #[test]
    fn without_such_a_line_only_a_place_speaks() {
        let perl = [(1, "no luck at boom.pl line 3."), (2, "bye")];
        assert_eq!(told(&[], &perl), [("boom.pl:3".to_owned(), perl[0].1.to_owned())]);
        let shell = [(1, "a.sh: line 2: NOPE: unbound variable")];
        assert_eq!(told(&[], &shell)[0].0, "a.sh:2");
        assert!(told(&[], &[(1, "boom"), (2, "step 3 failed")]).is_empty());
    }
}
