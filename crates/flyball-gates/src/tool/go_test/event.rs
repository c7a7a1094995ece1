//! One event of `go test -json`.

use std::borrow::Cow;

use serde::Deserialize;

/// What one line says.
#[derive(Debug, Deserialize, PartialEq, Eq)]
pub(super) struct Event<'a> {
    #[serde(rename = "Action", borrow)]
    pub(super) action: Cow<'a, str>,
    #[serde(rename = "Package", borrow, default)]
    pub(super) package: Cow<'a, str>,
    #[serde(rename = "Test", borrow, default)]
    pub(super) test: Cow<'a, str>,
    /// What was printed; a line end at its end may be missing.
    #[serde(rename = "Output", borrow, default)]
    pub(super) output: Cow<'a, str>,
}

impl<'a> Event<'a> {
    /// The event in a line, if it is one.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        if !is_event(line) {
            return None;
        }
        Self::as_usual(line).or_else(|| serde_json::from_str(line).ok())
    }

    /// An event just as Go writes it: its fields in their order, nothing between them. Whatever
    /// looks different in any way is left to the JSON parser.
    pub(super) fn as_usual(line: &'a str) -> Option<Self> {
        let has_control = line.bytes().fold(0, |found, byte| found | u8::from(byte < b' ')) != 0;
        let rest = line.strip_prefix("{\"Time\":\"")?;
        let (_, rest) = plain(rest)?;
        let (action, mut rest) = plain(rest.strip_prefix(",\"Action\":\"")?)?;
        let mut event = Self {
            action: Cow::Borrowed(action),
            package: Cow::Borrowed(""),
            test: Cow::Borrowed(""),
            output: Cow::Borrowed(""),
        };
        if let Some(value) = rest.strip_prefix(",\"Package\":\"") {
            let (package, after) = plain(value)?;
            (event.package, rest) = (Cow::Borrowed(package), after);
        }
        if let Some(value) = rest.strip_prefix(",\"Test\":\"") {
            let (test, after) = plain(value)?;
            (event.test, rest) = (Cow::Borrowed(test), after);
        }
        if let Some(value) = rest.strip_prefix(",\"Elapsed\":") {
            rest = after_number(value)?;
        }
        if let Some(value) = rest.strip_prefix(",\"Output\":") {
            (event.output, rest) = (printed(value.strip_suffix('}')?)?, "}");
        }
        (rest == "}" && !has_control).then_some(event)
    }
}

/// Whether a line of JSON is an event of `go test -json`.
fn is_event(text: &str) -> bool {
    text.starts_with("{\"Time\":")
        || text.starts_with("{\"Action\":")
        || text.starts_with("{\"ImportPath\":")
}

/// A string without escapes whose opening quote is behind us, and what follows its closing one.
fn plain(text: &str) -> Option<(&str, &str)> {
    let end = memchr::memchr2(b'"', b'\\', text.as_bytes())?;
    let rest = text.get(end..)?.strip_prefix('"')?;
    Some((text.get(..end)?, rest))
}

/// What follows a number at the start.
fn after_number(text: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    if whole == 0 || (whole > 1 && text.starts_with('0')) {
        return None;
    }
    let rest = text.get(whole..)?;
    let Some(fraction) = rest.strip_prefix('.') else { return Some(rest) };
    let length = digits(fraction);
    if length == 0 { None } else { fraction.get(length..) }
}

/// The text in a string of JSON.
fn printed(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    let line = inner.strip_suffix("\\n").unwrap_or(inner);
    if memchr::memchr2(b'"', b'\\', line.as_bytes()).is_none() {
        return Some(Cow::Borrowed(line));
    }
    serde_json::from_str::<Text<'_>>(json).ok().map(|text| text.0)
}

/// A string, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::Event;

    #[test]
    fn what_is_read_quickly_is_what_the_json_parser_reads() {
        let start = r#"{"Time":"2026-01-01T00:00:00Z","Action":"output","Package":"p""#;
        let ends = [
            "}",
            r#","Test":"TestA","Output":"plain\n"}"#,
            r#","Test":"TestA","Output":"a \"b\"\tc \u003c\n"}"#,
            r#","Test":"TestA","Output":"a\\n"}"#,
            r#","Test":"TestA","Output":"a\\"}"#,
            r#","Test":"TestA","Output":""}"#,
            r#","Test":"Test\u0041","Output":"x\n"}"#,
            r#","Test":"TestA","Elapsed":0.01}"#,
            r#","Test":"TestA","Elapsed":12}"#,
            r#","Test":"TestA","Elapsed":1e3}"#,
            r#","Test":"TestA","Elapsed":0.5,"Output":"x","FailedBuild":"p"}"#,
        ];
        for end in ends {
            let line = format!("{start}{end}");
            let mut slow: Event<'_> = serde_json::from_str(&line).expect("an event");
            slow.output = slow.output.trim_end_matches('\n').to_owned().into();
            let mut fast = Event::read(&line).expect("an event");
            fast.output = fast.output.trim_end_matches('\n').to_owned().into();
            assert_eq!(fast, slow, "{line}");
        }
    }

    #[test]
    fn what_is_no_json_is_no_event() {
        let start = r#"{"Time":"2026-01-01T00:00:00Z","Action":"output","Package":"p""#;
        for end in [
            "",
            "}}",
            r#","Test":"a"#,
            r#","Test":"TestA","Output":"x"y"}"#,
            r#","Test":"TestA","Output":"x\"}"#,
            r#","Test":"TestA","Output":"x\q"}"#,
            ",\"Test\":\"Test\tA\"}",
            r#","Test":"TestA","Elapsed":01}"#,
            r#","Test":"TestA","Elapsed":1.}"#,
            r#","Test":"TestA","Elapsed":}"#,
            r#","Package":"again"}"#,
        ] {
            assert_eq!(Event::read(&format!("{start}{end}")), None, "{end}");
        }
    }
}
