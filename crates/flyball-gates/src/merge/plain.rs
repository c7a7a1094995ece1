//! Output nobody understands, read as a person would: an error with its place below it or its stack,
//! things that are marked as failed, places in words. Only a few lines are looked at, and only at the
//! end, when no tool has found anything.

mod shape;
mod table;
mod verdict;

use std::collections::BTreeSet;

use self::shape::{bare_place, error_head, file_of, is_frame, worded};
use self::verdict::{Marked, is_passed, verdict};
use crate::report::Findings;
use crate::{Finding, FindingKind, place, text};

/// How far below an error its place may stand.
const BELOW_MAX: usize = 12;
/// How far above its stack an error may begin.
const ABOVE_MAX: usize = 24;
/// How many lines below a failed thing are about it, and how many of them say why.
const ABOUT_MAX: usize = 60;
const WHY_MAX: usize = 6;
/// How long the name of a failed thing may be.
const NAME_MAX: usize = 160;

/// What was understood, and the lines it was told in.
#[derive(Default)]
pub(super) struct Plain {
    pub(super) findings: Findings,
    pub(super) taken: BTreeSet<u64>,
}

/// Reads the lines that were kept, in the order of the output.
pub(super) fn read(lines: &[(u64, &str)]) -> Plain {
    let mut plain = Plain::default();
    plain.verdicts(lines);
    plain.stacks(lines);
    plain.pointed(lines);
    plain.changed(lines);
    plain.worded(lines);
    plain
}

impl Plain {
    fn add(&mut self, number: u64, finding: Finding) {
        self.findings.push(number, finding);
        self.taken.insert(number);
    }

    /// Whether a thing of this name has failed before: some say so again at the end.
    fn is_told(&self, name: &str) -> bool {
        let name = text::clip(name, NAME_MAX);
        self.findings.kept().any(|found| found.name.as_deref() == Some(name))
    }

    /// Errors above the frames of a stack.
    fn stacks(&mut self, lines: &[(u64, &str)]) {
        let mut at = 0;
        while let Some((number, line)) = lines.get(at) {
            if !is_frame(line) {
                at += 1;
                continue;
            }
            let above = at.saturating_sub(ABOVE_MAX)..at;
            // Between the first lines and the last ones many may be missing.
            let is_near = |line: u64| number.saturating_sub(line) <= ABOVE_MAX as u64;
            let is_free = |line: u64| !self.taken.contains(&line);
            let heads = lines.get(above).unwrap_or_default().iter().rev();
            let head = heads
                .take_while(|(line, _)| is_near(*line) && is_free(*line))
                .find(|(_, line)| error_head(line));
            let frames =
                lines.iter().skip(at).take_while(|(_, line)| is_frame(line) || between(line));
            let frames: Vec<(u64, &str)> = frames.copied().collect();
            at += frames.len().max(1);
            let Some((head, said)) = head.copied() else {
                let before = number.saturating_sub(1);
                let is_headed =
                    |(at, line): &&(u64, &str)| *at == before && line.ends_with(" traceback:");
                if lines.iter().any(|line| is_headed(&line)) {
                    self.taken.extend(frames.iter().map(|(line, _)| *line));
                }
                continue;
            };
            // What is marked as failed above already.
            let is_told =
                |found: &Finding| found.name.as_deref().is_some_and(|name| said.contains(name));
            if self.findings.kept().any(is_told) {
                self.taken.extend(head..=*number);
                self.taken.extend(frames.iter().map(|(line, _)| *line));
                continue;
            }
            let own = frames.iter().filter(|(_, line)| !place::is_foreign(line));
            let place =
                own.clone().find_map(|(_, line)| place::mention(line).or_else(|| bracketed(line)));
            let message = said.trim().trim_start_matches("Exception in thread \"main\" ");
            let finding = Finding::new(FindingKind::Other, message);
            let finding = match place {
                Some(place) => finding.at(place::tidy(place.file), place.line, place.column),
                None => finding,
            };
            self.taken.extend(frames.iter().map(|(line, _)| *line));
            self.taken.extend(head..=*number);
            self.add(head, finding);
        }
    }

    /// Errors with their place on a line of its own: below them, as most compilers do, or above.
    fn pointed(&mut self, lines: &[(u64, &str)]) {
        let mut error: Option<(usize, u64, &str)> = None;
        for (at, (number, line)) in lines.iter().enumerate() {
            if self.taken.contains(number) {
                error = None;
                continue;
            }
            let is_near = |from: &usize| at.saturating_sub(*from) <= BELOW_MAX;
            if let Some(place) = bare_place(line) {
                let before = at.checked_sub(1).and_then(|before| lines.get(before));
                let before = before
                    .filter(|(before, said)| before.saturating_add(1) == *number && is_said(said))
                    .map(|(before, said)| (at - 1, *before, *said));
                let above = error.take().filter(|(from, ..)| is_near(from));
                let Some((_, told, said)) = before.or(above) else {
                    continue;
                };
                let finding = Finding::new(FindingKind::Other, said.trim());
                self.taken.insert(*number);
                self.add(told, finding.at(place::tidy(place.file), place.line, place.column));
            } else if shape::is_error_start(line) && place::mention(line).is_none() {
                error = Some((at, *number, line));
            }
        }
    }

    /// Things that are marked as failed, beside others that may be marked as well.
    fn verdicts(&mut self, lines: &[(u64, &str)]) {
        let mut heading = "";
        for (at, (number, line)) in lines.iter().enumerate() {
            if self.taken.contains(number) {
                continue;
            }
            let known = verdict(line).filter(|one| !self.is_told(one.name));
            let below = table::listed(line).filter(|_| !heading.is_empty() && known.is_none());
            if let Some((place, said)) = below {
                let more = lines.iter().skip(at + 1).map_while(|(_, next)| table::continued(next));
                let said: Vec<&str> = std::iter::once(said).chain(more.take(WHY_MAX)).collect();
                let finding = Finding::new(FindingKind::Other, said.join(" "));
                self.add(*number, finding.at(place::tidy(heading), place, None));
                continue;
            }
            let Some(Marked { name, why }) = known else {
                let path = line.trim().trim_start_matches("FILE: ");
                if shape::is_path(path) {
                    heading = path;
                } else if let Some(path) = table::headed(line) {
                    heading = path;
                } else if text::indent(line) == 0 && !shape::is_rule(line) {
                    heading = "";
                }
                continue;
            };
            let indent = text::indent(line);
            let below = lines.iter().skip(at + 1).zip(1..).take(ABOUT_MAX);
            let below: Vec<(u64, &str)> = below
                .take_while(|((below, said), more)| {
                    number.saturating_add(*more) == *below
                        && (text::indent(said) > indent || is_ruled(said))
                        && verdict(said).is_none()
                        && !is_passed(said)
                })
                .map(|(line, _)| *line)
                .collect();
            let mut said: Vec<&str> = Vec::new();
            said.extend(Some(why).filter(|why| !why.is_empty()));
            let words = below.iter().map(|(_, said)| said.trim()).filter(|said| !is_ruled(said));
            said.extend(words.take_while(|said| !said.starts_with("at ")).take(WHY_MAX));
            // A bare place below says where, not why.
            let is_placed = said.first().is_some_and(|said| bare_place(said).is_some());
            if said.is_empty() || is_placed {
                said.insert(0, name);
            }
            let message = said.join("\n");
            let mut finding = Finding::new(FindingKind::Other, message);
            let place = std::iter::once(*line).chain(below.iter().map(|(_, said)| *said));
            let mut own = place.clone().filter(|said| !place::is_foreign(said));
            if let Some(place) = own.find_map(place::mention) {
                finding = finding.at(place::tidy(place.file), place.line, place.column);
            } else if let Some(file) = file_of(name).or_else(|| file_of(line)) {
                finding = finding.at(file, None, None);
            } else if !heading.is_empty() {
                finding = finding.at(place::tidy(heading), None, None);
            }
            finding.name = Some(text::clip(name, NAME_MAX).to_owned());
            self.taken.extend(below.iter().map(|(line, _)| *line));
            self.add(*number, finding);
        }
    }

    /// Files that would be changed, with what would be: `from a.ts:` and numbered lines below.
    fn changed(&mut self, lines: &[(u64, &str)]) {
        for pair in lines.windows(2) {
            if let [(number, heading), (_, below)] = pair
                && let Some(file) =
                    heading.strip_prefix("from ").and_then(|rest| rest.strip_suffix(':'))
                && shape::is_path(file)
                && let Some((line, rest)) = text::small(below.trim_start())
                && (rest.starts_with(" | -") || rest.starts_with(" | +"))
            {
                let finding = Finding::new(FindingKind::Format, format!("{file} would be changed"));
                self.add(*number, finding.at(place::tidy(file), line, None));
            }
        }
        if self.findings.kept().any(|found| found.kind == FindingKind::Format) {
            let counts = lines.iter().filter(|(_, line)| shape::is_error_start(line));
            self.taken.extend(counts.map(|(number, _)| *number));
        }
    }

    /// Places in words, errors that name a file, and lists of complaints about files.
    fn worded(&mut self, lines: &[(u64, &str)]) {
        let free: Vec<(u64, &str)> = lines
            .iter()
            .filter(|(number, line)| !self.taken.contains(number) && !line.trim().is_empty())
            .copied()
            .collect();
        let is_listed = |line: &&str| shape::complains(line).is_some();
        let listed = free.iter().filter(|(_, line)| is_listed(line)).count();
        let is_list = self.findings.is_empty() && listed > 0 && listed * 3 >= free.len();
        let has_errors = free.iter().any(|(_, line)| shape::is_error_start(line));
        for (number, line) in free {
            let is_warning = shape::is_warning(line) && has_errors;
            let whole = line.trim();
            if self.taken.contains(&number) {
                continue;
            }
            if let Some(place) = shape::odd_place(whole) {
                let finding = Finding::new(FindingKind::Other, whole);
                self.add(number, finding.at(place::tidy(place.file), place.line, place.column));
                continue;
            }
            let is_frame = whole.starts_with("File \"") && whole.contains(", in ");
            if is_frame || place::is_foreign(whole) || place::mention(whole).is_some() {
                continue;
            }
            let named = worded(whole).map(|(file, line)| (file, Some(line)));
            let place = named.filter(|_| !is_warning).or_else(|| {
                let file = file_of(whole).filter(|_| shape::is_error_start(whole));
                file.map(|file| (file, None))
            });
            let place = place.or_else(|| {
                let file = shape::complains(whole).filter(|_| is_list && !is_warning);
                file.map(|file| (file, None))
            });
            if let Some((file, line)) = place {
                // A heading says nothing without the error below it, or what follows it.
                let below = lines.iter().filter(|(at, _)| (number + 1..=number + 8).contains(at));
                let mut below = below.filter(|(_, said)| shape::is_error_start(said));
                let said = below.next().filter(|_| whole.ends_with(':'));
                self.taken.extend(said.map(|(at, _)| *at));
                let message = said.map_or(whole, |(_, said)| said.trim());
                let next =
                    lines.iter().find(|(at, _)| *at == number + 1).map(|(_, next)| next.trim());
                let next =
                    next.filter(|next| line.is_some() && is_said(next) && shape::is_bare(whole));
                let message =
                    next.map_or_else(|| message.to_owned(), |next| format!("{message}\n{next}"));
                let finding = Finding::new(FindingKind::Other, message);
                self.add(number, finding.at(place::tidy(file), line, None));
            }
        }
    }
}

/// Whether a line is empty, or a rule below a heading.
fn is_ruled(line: &str) -> bool {
    line.trim().bytes().all(|byte| matches!(byte, b'-' | b'='))
}

/// What stands between frames: the names of goroutines and functions, causes.
fn between(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || (line.starts_with("goroutine ") && line.ends_with(':'))
        || line.starts_with("Caused by: ")
        || line.starts_with("... ")
        || (line.ends_with(')') && !line.contains(' '))
        || line.starts_with("created by ")
}

/// The place in `at a.B.c(B.java:13)` is found by its name alone.
fn bracketed(line: &str) -> Option<place::Place<'_>> {
    let (_, inner) = line.rsplit_once('(')?;
    place::prefix(inner.trim_end().trim_end_matches(')'))
}

/// Whether a line says something in words.
fn is_said(line: &str) -> bool {
    line.split_whitespace().count() > 2 && line.starts_with(|c: char| !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::read;

    fn told(output: &str) -> Vec<(String, String, String)> {
        let lines: Vec<(u64, &str)> = (1..).zip(output.lines()).collect();
        let (kept, _) = read(&lines).findings.take();
        let tell = |found: &crate::Finding| {
            let place = found.place().unwrap_or_default();
            (found.name.clone().unwrap_or_default(), place, found.message.clone())
        };
        kept.iter().map(|(_, found)| tell(found)).collect()
    }

    fn one(output: &str) -> (String, String, String) {
        told(output).into_iter().next().unwrap_or_default()
    }

    #[test]
    fn an_error_is_where_its_stack_or_its_pointer_says() {
        let go = "checking\npanic: no luck\n\ngoroutine 1 [running]:\nmain.load(...)\n\t/repo/main.go:5\nmain.main()\n\t/repo/main.go:9 +0xcd\nexit status 2";
        assert_eq!(
            told(go),
            [(String::new(), "/repo/main.go:5".to_owned(), "panic: no luck".to_owned())]
        );
        let java = "Exception in thread \"main\" java.lang.RuntimeException: bad\n\tat Check.main(Check.java:13)\nCaused by: x\n\tat Check.f(Check.java:5)";
        assert_eq!(one(java).1, "Check.java:13");
        for pointed in [
            "error: bad word\n  ╭▸ docs/a.md:1:9\n  │\n1 │ text",
            "ERROR bad word [rule]\n  --> docs/a.md:1:9\n   |",
            "Error: bad word\n  ╷\n1 │ .a\n  ╵\n  docs/a.md 1:9  root stylesheet",
            "E3002 a bad word\ndocs/a.md:1:9\n",
        ] {
            let (_, place, message) = one(pointed);
            assert_eq!(place, "docs/a.md:1:9", "{pointed}");
            assert!(message.contains("bad word"), "{message}");
        }
    }

    #[test]
    fn what_is_marked_as_failed_is_told_with_its_reason() {
        let marks = "✓ one\n✗ two things\n    a.js:3 says why\n✗ three\n\n2 of 3 checks failed";
        let want = [("two things", "a.js:3", "a.js:3 says why"), ("three", "", "three")];
        let told_ = told(marks);
        let have: Vec<(&str, &str, &str)> =
            told_.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str())).collect();
        assert_eq!(have, want);
        assert_eq!(one("login ... OK\nsearch ... FAIL: got 0").0, "search");
        assert_eq!(one("[ OK ] a\n[FAIL] b.sql: no key").1, "b.sql");
        assert_eq!(one("app.js   212 kB  200 kB  FAIL").0, "app.js   212 kB  200 kB");
        for nothing in
            ["RESULTS: PASS 1 | FAIL 2", "✖ 3 problems", "FAILED (failures=4)", "0 FAILED"]
        {
            assert_eq!(told(nothing), [], "{nothing}");
        }
    }

    #[test]
    fn places_in_words_are_places() {
        for (line, place) in [
            ("error in a/b.html on line 7: unclosed", "a/b.html:7"),
            ("docs/guide.md: broken link: ./x.html (line 14)", "docs/guide.md:14"),
            ("Warning 18 in a.tex line 3: text", "a.tex:3"),
            ("possible bashism in a.sh line 2 (text):", "a.sh:2"),
            ("awk: sum.awk: line 2: syntax error", "sum.awk:2"),
            ("File \"a.ml\", line 3, characters 22-31:", "a.ml:3"),
            ("\"a.tex\", line 3: text", "a.tex:3"),
            ("a.desktop: error: required key", "a.desktop"),
            ("2026-01-01 ERROR migrate: b/0011.sql: no column", "b/0011.sql"),
        ] {
            assert_eq!(one(line).1, place, "{line}");
        }
        assert_eq!(told("all is well\nread line 3 of the manual"), []);
    }
}
