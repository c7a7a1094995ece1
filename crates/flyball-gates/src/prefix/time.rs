//! Times before lines, of all sorts.

use super::{Prefixed, Shape, after_blank};

/// A time, bare or in brackets.
pub(super) fn time(text: &str) -> Option<Prefixed<'_>> {
    let (open, inner) = match text.as_bytes().first()? {
        b'[' => (Some(']'), text.get(1..)?),
        b'(' => (Some(')'), text.get(1..)?),
        _ => (None, text),
    };
    let mut rest = clock(inner)?;
    if let Some(close) = open {
        rest = rest.strip_prefix(close)?;
    }
    let rest = after_time(rest)?;
    Some(Prefixed { shape: Shape::Time, key: "", rest })
}

/// How long it has been running, or since 1970: `01.331333 text`, `1763500447.510 text`.
pub(super) fn seconds(text: &str) -> Option<Prefixed<'_>> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let rest = text.get(whole..)?.strip_prefix('.')?;
    let parts = digits(rest);
    let rest = after_blank(rest.get(parts..)?)?;
    let is_time = (whole >= 1 && parts >= 4) || (whole == 10 && parts == 3);
    is_time.then_some(Prefixed { shape: Shape::Time, key: "", rest })
}

/// What follows a time: blanks alone, or one of the marks some put behind it.
fn after_time(rest: &str) -> Option<&str> {
    // TeamCity: `[12:30:01] : text`, `[12:30:01]W: text`, `[12:30:01] :\t [Step 2/3] text`.
    if let Some(text) = rest.get(1..).and_then(|text| text.strip_prefix(':'))
        && let Some(text) = text.strip_prefix(' ').or_else(|| text.strip_prefix("\t "))
    {
        let step = text.strip_prefix("[Step ").and_then(|step| step.split_once("] "));
        let text = step.map_or(text, |(_, text)| text);
        return rest.starts_with([' ', 'i', 'W', 'E', 'F']).then_some(text);
    }
    // GitLab: which stream it was, and whether the line goes on.
    let bytes = rest.as_bytes();
    if let [b' ', b'0'..=b'9', b'0'..=b'9', b'O' | b'E', b' ' | b'+', ..] = bytes {
        return rest.get(5..);
    }
    if let [b' ', b'0'..=b'9', b'0'..=b'9', b'O' | b'E'] = bytes {
        return Some("");
    }
    after_blank(rest)
}

/// What follows a date with a time, or a time with seconds.
fn clock(text: &str) -> Option<&str> {
    let text = match pattern(text, "0000-00-00").or_else(|| pattern(text, "0000/00/00")) {
        Some(rest) => rest.strip_prefix(['T', ' '])?,
        None => match month(text) {
            Some(rest) => rest,
            None => text,
        },
    };
    let rest = pattern(text, "00:00:00")?;
    let rest = match rest.strip_prefix(['.', ',']) {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    if let Some(rest) = rest.strip_prefix('Z') {
        return Some(rest);
    }
    let zone = pattern(rest, "+00:00").or_else(|| pattern(rest, "-00:00"));
    let zone = zone.or_else(|| pattern(rest, "+0000")).or_else(|| pattern(rest, "-0000"));
    Some(zone.unwrap_or(rest))
}

/// What follows `Nov 15 `.
fn month(text: &str) -> Option<&str> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if text.as_bytes().get(3) != Some(&b' ') {
        return None;
    }
    let name = text.get(..3)?;
    let at = MONTHS.find(name)?;
    if at % 3 != 0 {
        return None;
    }
    let rest = text.get(3..)?;
    pattern(rest, " 00 ").or_else(|| pattern(rest, "  0 "))
}

/// What follows a text of this shape, where `0` stands for a digit.
fn pattern<'a>(text: &'a str, shape: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(shape.len())?;
    let fits =
        |(have, want): (u8, u8)| if want == b'0' { have.is_ascii_digit() } else { have == want };
    head.bytes().zip(shape.bytes()).all(fits).then_some(rest)
}
