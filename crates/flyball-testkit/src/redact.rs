//! What differs from run to run, replaced by something of the same width: run ids, times, spans,
//! hashes and folders. Whole outputs can then be compared.

/// Makes two outputs of the same run equal. `folders` are paths with the name that stands for them.
///
/// ```
/// use flyball_testkit::redact::redact;
/// let text = "RUN 20261115-104512-k3f9 in /tmp/x/repo took 1m 04s at 2026-11-15T10:45:12Z";
/// assert_eq!(
///     redact(text, &[("/tmp/x", "<FOLDER>")]),
///     "RUN 00000000-000000-runs in <FOLDER>/repo took <SPAN> at 0000-00-00T00:00:00Z"
/// );
/// ```
pub fn redact(text: &str, folders: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut line = line.to_owned();
        for (folder, name) in folders {
            line = line.replace(folder, name);
        }
        out.push_str(&words(&line));
    }
    out
}

/// Replaces word by word; what separates words stays.
fn words(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        // A hash may look like days: `1234567d`.
        if let Some(length) = span(rest).filter(|_| !is_hash(word)) {
            out.push_str("<SPAN>");
            rest = rest.get(length..).unwrap_or("");
            continue;
        }
        out.push_str(&replaced(word));
        let gap = tail.find(is_word).unwrap_or(tail.len());
        let (between, tail) = tail.split_at(gap);
        out.push_str(between);
        rest = tail;
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == ':' || c == '_'
}

fn replaced(word: &str) -> String {
    if is_run(word) {
        return "00000000-000000-runs".to_owned();
    }
    if is_time(word) {
        return "0000-00-00T00:00:00Z".to_owned();
    }
    if is_day(word) {
        return "0000-00-00".to_owned();
    }
    if is_time_of_day(word) {
        return "00:00:00".to_owned();
    }
    if is_hash(word) {
        return "0".repeat(word.len());
    }
    word.to_owned()
}

/// `20261115-104512-k3f9`
fn is_run(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let digits = |part: &str, width: usize| {
        part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    match parts.as_slice() {
        [day, time, tail] => digits(day, 8) && digits(time, 6) && tail.len() == 4,
        _ => false,
    }
}

/// `2026-11-15`
fn is_day(word: &str) -> bool {
    is_pattern(word, "dddd-dd-dd")
}

/// `10:45:12`
fn is_time_of_day(word: &str) -> bool {
    is_pattern(word, "dd:dd:dd")
}

/// Digits where the pattern has a `d`, and the pattern itself elsewhere.
fn is_pattern(word: &str, pattern: &str) -> bool {
    let fits = |(byte, wanted): (u8, u8)| match wanted {
        b'd' => byte.is_ascii_digit(),
        other => byte == other,
    };
    word.len() == pattern.len() && word.bytes().zip(pattern.bytes()).all(fits)
}

/// `2026-11-15T10:45:12Z`
fn is_time(word: &str) -> bool {
    word.len() == 20 && word.ends_with('Z') && word.get(10..11) == Some("T")
}

/// Eight or more hexadecimal digits with at least one of each sort.
fn is_hash(word: &str) -> bool {
    let is_hex = word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    word.len() >= 8 && is_hex
}

/// The length of a span of time at the beginning: `12ms`, `3s`, `1m 04s`, `2h 03m`.
fn span(text: &str) -> Option<usize> {
    let mut length = 0;
    loop {
        let rest = text.get(length..)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        if digits == 0 {
            break;
        }
        let unit = ["ms", "s", "m", "h", "d"].into_iter().find(|unit| {
            let after = rest.get(digits..).unwrap_or("");
            let next = after.get(unit.len()..).and_then(|tail| tail.chars().next());
            after.starts_with(unit) && !next.is_some_and(is_word)
        });
        let Some(unit) = unit else { break };
        length += digits + unit.len();
        match text.get(length..) {
            Some(tail) if tail.starts_with(' ') && starts_span(tail) => length += 1,
            Some(_) | None => break,
        }
    }
    (length > 0).then_some(length)
}

fn starts_span(tail: &str) -> bool {
    tail.get(1..)
        .is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()) && span(tail).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_replaced() {
        for (text, wanted) in [
            ("took 12ms, then 1m 04s.", "took <SPAN>, then <SPAN>."),
            ("score 0.50 · 3 / 15", "score 0.50 · 3 / 15"),
            ("commit dd73079b · tree 2923c6ba80", "commit 00000000 · tree 0000000000"),
            ("commit 2484293d · 3d 04h", "commit 00000000 · <SPAN>"),
            ("added defaced decades", "added defaced decades"),
            ("iteration-001.log 15s", "iteration-001.log <SPAN>"),
            ("(flyball log 20261115-111215-evzm)", "(flyball log 00000000-000000-runs)"),
        ] {
            assert_eq!(redact(text, &[]), wanted);
        }
    }
}
