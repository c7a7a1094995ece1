//! The prefixes that runners of several programs put before every line, one line at a time.
//!
//! `web-1  | text` (docker compose, foreman, honcho, act), `[api] text` (concurrently, yarn),
//! `pkg:test: text` (turbo), `packages/a test: text` (pnpm), `pkg: text` (lerna, nx), `#7 1.23 text`
//! (docker build), `job<TAB>text` (GitHub's logs, GNU parallel), and times of all sorts.

mod time;

use self::time::{seconds, time};

/// A line that may have a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefixed<'a> {
    /// What sort of prefix.
    pub shape: Shape,
    /// Whose line it is; empty where the prefix names nobody.
    pub key: &'a str,
    /// The line without it.
    pub rest: &'a str,
}

/// The sorts of prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// A time: `[2026-11-15 16:30:22] text`.
    Time,
    /// A step of a container build: `#7 1.23 text`.
    Step,
    /// A name and a bar.
    Bar,
    /// A bar alone.
    BareBar,
    /// A name in brackets.
    Bracket,
    /// Names joined by colons, and a colon.
    Colons,
    /// A name and a colon.
    Colon,
    /// A name and a tab.
    Tab,
    /// A name with the number of its process.
    Tag,
    /// The number of a process alone.
    Number,
}

/// The longest name.
const KEY_MAX: usize = 48;

/// Words before a colon or in brackets that say how grave a line is, or how a test went.
const NOT_NAMES: &[&str] = &[
    "error",
    "errors",
    "err",
    "warning",
    "warn",
    "note",
    "info",
    "debug",
    "trace",
    "fatal",
    "notice",
    "critical",
    "severe",
    "hint",
    "help",
    "fail",
    "failed",
    "failure",
    "pass",
    "passed",
    "ok",
    "skip",
    "skipped",
    "run",
    "done",
    "todo",
    "x",
    "e",
    "usage",
    "caused by",
    "ld",
    "make",
    "npm",
    "verbose",
    "success",
    "log",
    "elifecycle",
    "internalerror",
];

/// The prefix of a line, by its shape alone: whether it is one, others must say.
pub(crate) fn of(text: &str) -> Option<Prefixed<'_>> {
    let first = *text.as_bytes().first()?;
    match first {
        b'0'..=b'9' => time(text)
            .or_else(|| seconds(text))
            .or_else(|| numbered(text))
            .or_else(|| process(text)),
        b'(' => time(text),
        // What doctest begins its own lines with names no stream.
        b'[' if text.starts_with("[doctest] ") => None,
        b'[' => time(text).or_else(|| bracket(text)),
        b'#' => step(text),
        b'|' | 0xe2 => bare_bar(text),
        b' ' => of_ant(text),
        b'A'..=b'Z' | b'a'..=b'z' | b'@' | b'_' | b'.' | b'+' => named(text),
        _ => None,
    }
}

/// The prefix of a line whose stream has prefixes of this shape, where a line may be read in two ways.
pub(crate) fn as_shape(text: &str, shape: Shape) -> Option<Prefixed<'_>> {
    let prefixed = of(text)?;
    // The gutter of quoted source behind a name in brackets looks like a bar.
    let is_gutter = shape == Shape::Bracket && prefixed.shape == Shape::Bar;
    if is_gutter && text.starts_with('[') { in_brackets(text) } else { Some(prefixed) }
}

/// The rest of a line after its mark: one blank belongs to the mark, and nothing at all is a blank.
fn after_blank(rest: &str) -> Option<&str> {
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

/// pm2: `0|web  | text`.
fn numbered(text: &str) -> Option<Prefixed<'_>> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let inner = named(text.get(digits..)?.strip_prefix('|')?)?;
    let key = text.get(..digits + 1 + inner.key.len())?;
    (inner.shape == Shape::Bar).then_some(Prefixed { key, ..inner })
}

/// The number of a process, which has a few digits: `29915 text`.
fn process(text: &str) -> Option<Prefixed<'_>> {
    let digits = text.bytes().take(9).take_while(u8::is_ascii_digit).count();
    let (key, rest) = text.split_at_checked(digits)?;
    let rest = after_blank(rest).filter(|_| (3..8).contains(&digits))?;
    Some(Prefixed { shape: Shape::Number, key, rest })
}

/// The log of a system: `host name[412]: text`, `name[412]: text`.
fn tag(text: &str) -> Option<Prefixed<'_>> {
    let near = text.get(..KEY_MAX).unwrap_or(text);
    memchr::memchr(b']', near.as_bytes())?;
    let end = near.find("]: ").or_else(|| text.strip_suffix("]:").map(str::len))?;
    let key = text.get(..=end)?;
    let (name, process) = key.strip_suffix(']')?.rsplit_once('[')?;
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.@/-".contains(&b))
    };
    // make tells so how deep it is.
    let is_tag = process.bytes().all(|byte| byte.is_ascii_digit())
        && !process.is_empty()
        && !is_word(name)
        && name.split(' ').count() <= 2
        && name.split(' ').all(is_name);
    let rest = text.get(end + 2..).map(|rest| rest.strip_prefix(' ').unwrap_or(rest))?;
    is_tag.then_some(Prefixed { shape: Shape::Tag, key, rest })
}

fn bracket(text: &str) -> Option<Prefixed<'_>> {
    let end = text.bytes().take(KEY_MAX).position(|byte| byte == b']')?;
    let (key, rest) = (text.get(1..end)?, text.get(end + 1..)?);
    // The gutter of quoted source has a bar as well: only act's names have a slash.
    if let Some(bar) = bar(rest).filter(|_| key.contains('/')) {
        return Some(Prefixed { shape: Shape::Bar, key, rest: bar });
    }
    in_brackets(text)
}

/// What a command printed of a line of act, which has a bar before it; what act says itself has none:
/// `[CI/test] ⭐ Run`, `[CI/test]   | text`.
pub(crate) fn printed_below<'a>(line: &str, rest: &'a str) -> Option<&'a str> {
    let printed = after_blank(rest.strip_prefix("  |")?)?;
    let (name, _) = line.strip_prefix('[')?.split_once(']')?;
    name.contains('/').then_some(printed)
}

/// Ant puts the names of its tasks into a column: `    [junit] text`.
fn of_ant(text: &str) -> Option<Prefixed<'_>> {
    const COLUMN: usize = 11;
    let own = text.trim_start_matches(' ');
    let end = own.bytes().take(COLUMN).position(|byte| byte == b']')?;
    let is_in_column = text.len() - own.len() + end + 1 == COLUMN;
    let prefixed = in_brackets(own).filter(|_| own.starts_with('[') && is_in_column)?;
    let is_task = prefixed.key.bytes().all(|byte| byte.is_ascii_lowercase());
    is_task.then_some(prefixed)
}

fn in_brackets(text: &str) -> Option<Prefixed<'_>> {
    let end = text.bytes().take(KEY_MAX).position(|byte| byte == b']')?;
    let (key, rest) = (text.get(1..end)?, text.get(end + 1..)?);
    let rest = match rest.strip_prefix('\t') {
        Some(rest) => rest,
        None => after_blank(rest.strip_prefix(':').unwrap_or(rest))?,
    };
    // Some make all names of one length, some number the lines of each.
    let key = key.trim_end_matches(' ');
    let is_line = |(name, line): &(&str, &str)| {
        line.parse::<u32>().is_ok() && !name.contains(['.', '/', ':'])
    };
    let numbered = key.rsplit_once(':').filter(is_line);
    let key = numbered.or_else(|| of_woodpecker(key)).map_or(key, |(name, _)| name);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.@/:#- ".contains(&byte);
    let is_progress = key.bytes().next()?.is_ascii_digit() && key.contains(['/', '%', '.']);
    let is_worker = key.strip_prefix("gw").is_some_and(|n| n.parse::<u32>().is_ok());
    let is_name = key.bytes().all(plain) && key.trim() == key && !is_progress && !is_worker;
    (is_name && !is_word(key)).then_some(Prefixed { shape: Shape::Bracket, key, rest })
}

/// The name in Woodpecker's `test:L10:0s`: a step, its line, and how long it had been running.
fn of_woodpecker(key: &str) -> Option<(&str, &str)> {
    let (name, at) = key.rsplit_once(":L")?;
    let (line, time) = at.strip_suffix('s')?.split_once(':')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(line) && is_number(time)).then_some((name, at))
}

/// Whether it says how grave a line is, or how a test went, and is no name.
pub(crate) fn is_word(key: &str) -> bool {
    NOT_NAMES.iter().any(|word| word.eq_ignore_ascii_case(key))
}

fn step(text: &str) -> Option<Prefixed<'_>> {
    let digits = text.bytes().skip(1).take_while(u8::is_ascii_digit).count();
    let (key, rest) = text.split_at_checked(1 + digits)?;
    let rest = rest.strip_prefix(' ')?;
    let whole = rest.bytes().take_while(u8::is_ascii_digit).count();
    let rest = rest.get(whole..)?.strip_prefix('.')?;
    let parts = rest.bytes().take_while(u8::is_ascii_digit).count();
    let rest = after_blank(rest.get(parts..)?)?;
    (digits > 0 && whole > 0 && parts > 0).then_some(Prefixed { shape: Shape::Step, key, rest })
}

/// What follows blanks and a bar.
fn bar(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(' ');
    after_blank(rest.strip_prefix(['|', '\u{2502}'])?)
}

/// What follows a blank and an arrow. A sign that is no arrow of its own only counts behind small letters: Gradle writes
/// `CartTest > adds()`.
fn arrow<'a>(name: &str, text: &'a str) -> Option<&'a str> {
    let rest = text.trim_start_matches(' ');
    let is_script = || name.bytes().all(|byte| !byte.is_ascii_uppercase());
    let after = rest
        .strip_prefix(['\u{2192}', '\u{bb}', '\u{25b8}', '\u{25b6}', '\u{276f}'])
        .or_else(|| rest.strip_prefix('>').filter(|_| is_script()));
    after_blank(after?)
}

/// A package and its script, as bun writes them: `web test: text`.
fn script<'a>(text: &'a str, name: &'a str) -> Option<Prefixed<'a>> {
    let after = text.get(name.len()..)?.strip_prefix(' ')?;
    let part =
        |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_:-".contains(byte);
    let length = after.bytes().take(KEY_MAX).take_while(part).count();
    let word = after.get(..length)?.strip_suffix(':')?;
    let rest = after_blank(after.get(length..)?)?;
    let key = text.get(..name.len() + 1 + word.len())?;
    let is_named = name.bytes().all(|byte| !byte.is_ascii_uppercase()) && !word.is_empty();
    (is_named && !is_word(name) && !is_word(word)).then_some(Prefixed {
        shape: Shape::Colon,
        key,
        rest,
    })
}

/// `packages/a test` of `packages/a test$ jest`.
pub(crate) fn announced(text: &str) -> Option<&str> {
    let dollar = memchr::memchr(b'$', text.as_bytes())?;
    let (key, command) = (text.get(..dollar)?, text.get(dollar + 1..)?.strip_prefix(' ')?);
    let (path, script) = key.split_once(' ')?;
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() < 120
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.@/:+-".contains(&b))
    };
    (is_name(path) && is_name(script) && !command.is_empty()).then_some(key)
}

/// Whether this is the rest of a row of a table.
fn is_row(rest: &str) -> bool {
    rest.ends_with('|') && rest.matches('|').count() > 2
}

fn bare_bar(text: &str) -> Option<Prefixed<'_>> {
    let rest = bar(text)?;
    (!is_row(rest)).then_some(Prefixed { shape: Shape::BareBar, key: "", rest })
}

/// Cloud Build: `Step #2 - "test": text`, `Step #0: text`.
fn build_step(text: &str) -> Option<Prefixed<'_>> {
    let rest = text.strip_prefix("Step #")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let rest = rest.get(digits..).filter(|_| digits > 0)?;
    let named = rest.strip_prefix(" - \"").and_then(|name| name.split_once('"'));
    let rest = named.map_or(rest, |(_, rest)| rest).strip_prefix(':')?;
    let key = text.get(..text.len().checked_sub(rest.len() + 1)?)?;
    Some(Prefixed { shape: Shape::Tag, key, rest: after_blank(rest)? })
}

/// A name and its mark: a bar, a colon or a tab.
fn named(text: &str) -> Option<Prefixed<'_>> {
    let bytes = text.as_bytes();
    // Only the name of a month may begin a time, and has three letters.
    if bytes.get(3) == Some(&b' ')
        && let Some(prefixed) = time(text)
    {
        return Some(prefixed);
    }
    if let Some(prefixed) = build_step(text) {
        return Some(prefixed);
    }
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.@/:#+-".contains(byte);
    let length = bytes.iter().take(KEY_MAX + 1).take_while(|byte| part(byte)).count();
    if length > KEY_MAX {
        return None;
    }
    let (name, rest) = text.split_at_checked(length)?;
    if rest.starts_with([' ', '['])
        && let Some(tagged) = tag(text)
    {
        return Some(tagged);
    }
    if let Some(key) = name.strip_suffix(':') {
        let rest = after_blank(rest)?;
        return colon(key, rest);
    }
    match rest.as_bytes().first() {
        Some(b' ') => {
            let Some(rest) = bar(rest).or_else(|| arrow(name, rest)) else {
                return tab(text).or_else(|| script(text, name));
            };
            (!is_row(rest)).then_some(Prefixed { shape: Shape::Bar, key: name, rest })
        }
        Some(b'>') if !is_word(name) && !name.is_empty() => {
            let rest = after_blank(rest.strip_prefix('>')?)?;
            Some(Prefixed { shape: Shape::Bar, key: name, rest })
        }
        Some(b'|') => Some(Prefixed { shape: Shape::Bar, key: name, rest: bar(rest)? }),
        Some(b'\t') => tab(text),
        _ => None,
    }
}

fn colon<'a>(key: &'a str, rest: &'a str) -> Option<Prefixed<'a>> {
    if !key.contains(':') {
        let lower = key.bytes().all(|byte| !byte.is_ascii_uppercase());
        let is_name = lower && !key.is_empty() && !is_word(key);
        return is_name.then_some(Prefixed { shape: Shape::Colon, key, rest });
    }
    let is_part = |part: &str| {
        !part.is_empty() && !part.starts_with('/') && !part.bytes().all(|b| b.is_ascii_digit())
    };
    let first = key.split(':').next()?;
    (key.split(':').all(is_part) && !is_word(first)).then_some(Prefixed {
        shape: Shape::Colons,
        key,
        rest,
    })
}

/// A name before a tab; unlike the others it may have blanks in it.
fn tab(text: &str) -> Option<Prefixed<'_>> {
    let near = text.as_bytes().get(..KEY_MAX).unwrap_or(text.as_bytes());
    let end = memchr::memchr(b'\t', near)?;
    let (key, rest) = text.split_at_checked(end)?;
    let rest = rest.get(1..)?;
    (key.trim() == key && !is_word(key)).then_some(Prefixed { shape: Shape::Tab, key, rest })
}

#[cfg(test)]
mod tests {
    use super::{Shape, of};

    #[test]
    fn known_prefixes_are_seen() {
        let table = [
            ("web-1  | text", Shape::Bar, "web-1", "text"),
            ("web_1      |   text", Shape::Bar, "web_1", "  text"),
            ("test.1 |", Shape::Bar, "test.1", ""),
            ("[CI/test]   | text", Shape::Bar, "CI/test", "text"),
            ("web \u{2502} text", Shape::Bar, "web", "text"),
            ("| text", Shape::BareBar, "", "text"),
            ("\u{2502} text", Shape::BareBar, "", "text"),
            ("[0] text", Shape::Bracket, "0", "text"),
            ("[@a/b]: text", Shape::Bracket, "@a/b", "text"),
            ("[api]", Shape::Bracket, "api", ""),
            ("a:test: ", Shape::Colons, "a:test", ""),
            ("@x/a:test: text", Shape::Colons, "@x/a:test", "text"),
            ("pkg-a: text", Shape::Colon, "pkg-a", "text"),
            ("#7 12.34 text", Shape::Step, "#7", "text"),
            ("16:44:56 test.1 | x", Shape::Time, "", "test.1 | x"),
            ("[2026-11-15 16:30:22] x", Shape::Time, "", "x"),
            ("2026-11-15T16:30:22.1234567Z x", Shape::Time, "", "x"),
            ("2026-11-15T16:30:22+00:00 x", Shape::Time, "", "x"),
            ("Nov 15 16:30:22 x", Shape::Time, "", "x"),
            ("(16:30:22) x", Shape::Time, "", "x"),
            ("build\tRun tests\tx", Shape::Tab, "build", "Run tests\tx"),
            ("[16:30:22] : x", Shape::Time, "", "x"),
            ("[16:30:22]W:   x", Shape::Time, "", "  x"),
            ("[16:30:22] :\t [Step 2/3]   x", Shape::Time, "", "  x"),
            ("Step #2 - \"unit\":   x", Shape::Tag, "Step #2 - \"unit\"", "  x"),
            ("Step #0:", Shape::Tag, "Step #0", ""),
            ("[unit:17]   x", Shape::Bracket, "unit", "  x"),
            ("2026-11-15T16:30:22.123456Z 01O x", Shape::Time, "", "x"),
            ("2026-11-15T16:30:22.123456Z 00E", Shape::Time, "", ""),
            ("0|web  | x", Shape::Bar, "0|web", "x"),
            ("+test | x", Shape::Bar, "+test", "x"),
            ("29915   x", Shape::Number, "29915", "  x"),
            ("[test ] x", Shape::Bracket, "test", "x"),
            ("build-7 runner[412]: x", Shape::Tag, "build-7 runner[412]", "x"),
            ("runner[412]:", Shape::Tag, "runner[412]", ""),
            ("unit:a>   text", Shape::Bar, "unit:a", "  text"),
            ("test \u{2192} text", Shape::Bar, "test", "text"),
            ("test:unit >   text", Shape::Bar, "test:unit", "  text"),
            ("web test: text", Shape::Colon, "web test", "text"),
            ("[1]\ttext", Shape::Bracket, "1", "text"),
            ("01.331333 text", Shape::Time, "", "text"),
            ("    [junit]   text", Shape::Bracket, "junit", "  text"),
        ];
        for (text, shape, key, rest) in table {
            let prefixed = of(text).unwrap_or_else(|| panic!("nothing in {text}"));
            assert_eq!((prefixed.shape, prefixed.key, prefixed.rest), (shape, key, rest), "{text}");
        }
    }

    #[test]
    fn what_tools_print_themselves_is_no_prefix() {
        for text in [
            "[ERROR] a.java:[1,2] x",
            "[warn] a.js",
            "[ 50%] Building",
            "[1/8] cc a.c",
            "[gw0] PASSED x",
            "[  FAILED  ] A.B",
            "error: x",
            "warning: x",
            "a.c:3:4: error: x",
            "http://localhost:80: x",
            "std::vec: x",
            "test a::b ... ok",
            "FAIL\tpkg\t0.1s",
            "ok  \tpkg\t0.1s",
            "    > 4 |   expect",
            "| a | b | c |",
            "10:15 x",
            "  [junit] x",
            "make[1]: Entering directory 'x'",
            "CartTest > adds() PASSED",
            "E   assert",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
