//! What is derived from the first characters of a recorded answer: whether it says anything, and
//! whether the call ran.

use super::Step;

/// What clients say of a call that did not run.
const NOT_RUN: [&str; 3] =
    ["Sibling tool call errored", "The user doesn't want to", "Request interrupted by user"];
/// What clients write around an answer, up to the end of the line.
const AROUND: [&str; 5] =
    ["(Open file:", "(Current directory:", "bash-$", "[The command completed", "[Current working"];
/// …and without the rest of the line.
const TAGS: [&str; 3] = ["<output>", "</output>", "</returncode>"];
const CODE: &str = "<returncode>";
/// Answers that only say that they came.
const ACKNOWLEDGEMENTS: [&str; 7] = ["ok", "done", "success", "null", "none", "[]", "{}"];
const NO_OUTPUT: &str = "did not produce any output";

/// An answer this long says something.
const LONG: u64 = 200;
/// One this long does too, where its beginning is not known.
const KNOWN_BY_LENGTH: u64 = 80;
/// Fewer characters say nothing.
const SHORT: usize = 12;

impl Step {
    /// Whether the answer says nothing.
    pub(super) fn is_empty(&self) -> bool {
        let Some(length) = self.result_len else { return true };
        let Some(head) = &self.result_head else { return length < KNOWN_BY_LENGTH };
        length < LONG && says_nothing(head)
    }

    /// Whether it ran at all.
    pub(super) fn ran(&self) -> bool {
        let head = self.result_head.as_deref().unwrap_or("");
        let denied = || self.error && NOT_RUN.iter().any(|words| head.contains(words));
        self.ran.unwrap_or_else(|| !denied())
    }
}

fn says_nothing(head: &str) -> bool {
    let mut bare = alloc::string::String::new();
    for (number, line) in head.split('\n').enumerate() {
        if number > 0 {
            bare.push('\n');
        }
        bare.push_str(&without_frame(line));
    }
    let bare = bare.trim();
    let lower = bare.to_ascii_lowercase();
    let acknowledges =
        |word: &&str| lower.strip_prefix(*word).is_some_and(|rest| !rest.chars().any(is_word));
    bare.chars().count() < SHORT
        || lower.contains(NO_OUTPUT)
        || !bare.chars().any(is_word)
        || ACKNOWLEDGEMENTS.iter().any(acknowledges)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A line without what clients write around an answer.
fn without_frame(line: &str) -> alloc::string::String {
    let cut = AROUND.iter().filter_map(|frame| line.find(frame)).min().unwrap_or(line.len());
    let mut line = alloc::string::String::from(line.get(..cut).unwrap_or(line));
    while let Some(start) = line.find(CODE) {
        let digits = line.get(start + CODE.len()..).unwrap_or("");
        let end = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        let kept = digits.len() - end.len();
        line.replace_range(start..start + CODE.len() + kept, "");
    }
    for tag in TAGS {
        line = line.replace(tag, "");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(length: Option<u64>, head: Option<&str>) -> Step {
        Step { result_len: length, result_head: head.map(Into::into), ..Step::default() }
    }

    #[test]
    fn an_answer_says_nothing_when_it_is_bare_or_only_acknowledges() {
        let cases = [
            (None, None, true),
            (Some(79), None, true),
            (Some(80), None, false),
            (Some(20), Some("ok"), true),
            (Some(20), Some("Success!!!!!!!!!!!!"), true),
            (Some(40), Some("[]  ............"), true),
            (Some(60), Some("Your command ran and did not produce any output."), true),
            (Some(60), Some("done with the first of three"), false),
            (Some(90), Some("<returncode>0</returncode>\n<output>\n</output>"), true),
            (
                Some(90),
                Some("<returncode>1</returncode>\n<output>\nno such file here</output>"),
                false,
            ),
            (Some(90), Some("(Open file: a.py)\n(Current directory: /a)\nbash-$"), true),
            (
                Some(90),
                Some("<returncode>127</returncode>\n<output>\n-------------</output>"),
                true,
            ),
            (Some(500), Some("ok"), false),
            (Some(90), Some("three failed, one passed"), false),
        ];
        for (length, head, empty) in cases {
            assert_eq!(step(length, head).is_empty(), empty, "{length:?} {head:?}");
        }
    }

    #[test]
    fn a_call_that_was_denied_or_cancelled_did_not_run() {
        let head = Some("Sibling tool call errored");
        assert!(step(Some(30), head).ran(), "no error, no denial");
        assert!(!Step { error: true, ..step(Some(30), head) }.ran());
        assert!(Step { error: true, ran: Some(true), ..step(Some(30), head) }.ran());
        assert!(!Step { ran: Some(false), ..Step::default() }.ran());
    }
}
