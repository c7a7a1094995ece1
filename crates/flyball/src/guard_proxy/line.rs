//! One message a line, of any length, in bounded memory: short lines are held, long ones go through
//! a file that has no name, and what is longer than any message can be is dropped and reported.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::clock;

/// The longest line that is kept at all.
const SPOOLED_MAX: u64 = 1024 * 1024 * 1024;
/// How far into a long line its kind is looked for.
const LEADING: u64 = 4096;

/// A whole line, its end included.
#[derive(Debug)]
pub(crate) enum Line {
    /// Short enough to be held.
    Held(Vec<u8>),
    /// Too long to be held: in a file that is gone once this is dropped.
    Spooled(Spool),
}

/// A long line.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    length: u64,
    /// How much more there was than can be kept.
    dropped: u64,
}

/// What a message says of itself, without its contents.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Head {
    /// Its id; a notification has none.
    #[serde(default)]
    pub(crate) id: Option<Value>,
    /// What is asked; a response has none.
    #[serde(default)]
    pub(crate) method: Option<String>,
    /// What is asked about.
    #[serde(default)]
    pub(crate) params: Option<HeadParams>,
}

impl Head {
    /// What a message says of itself; none when it is no JSON object.
    pub(crate) fn of(message: &[u8]) -> Option<Self> {
        if first(message) != Some(b'{') {
            return None;
        }
        serde_json::from_slice(message).ok()
    }
}

/// The part of `params` that is looked at. Whatever else stands there is passed over unread.
#[derive(Debug, Default)]
pub(crate) struct HeadParams {
    /// The request that is cancelled.
    pub(crate) request_id: Option<Value>,
}

impl<'de> Deserialize<'de> for HeadParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyParams)
    }
}

/// Takes parameters of any kind.
struct AnyParams;

impl<'de> Visitor<'de> for AnyParams {
    type Value = HeadParams;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HeadParams, A::Error> {
        let mut params = HeadParams::default();
        while let Some(name) = map.next_key::<String>()? {
            if name == "requestId" {
                params.request_id = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(params)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<HeadParams, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(HeadParams::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<HeadParams, E> {
        Ok(HeadParams::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<HeadParams, E> {
        Ok(HeadParams::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<HeadParams, E> {
        Ok(HeadParams::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<HeadParams, E> {
        Ok(HeadParams::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<HeadParams, E> {
        Ok(HeadParams::default())
    }

    fn visit_unit<E>(self) -> Result<HeadParams, E> {
        Ok(HeadParams::default())
    }
}

impl Line {
    /// Its length in bytes.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Held(bytes) => bytes.len() as u64,
            Self::Spooled(spool) => spool.length.saturating_add(spool.dropped),
        }
    }

    /// What it says of itself; none when it is no JSON object.
    pub(crate) fn head(&mut self) -> Option<Head> {
        match self {
            Self::Held(bytes) => Head::of(bytes),
            Self::Spooled(spool) => spool.read(),
        }
    }

    /// Whether it is an array: a batch of messages.
    pub(crate) fn is_batch(&mut self) -> bool {
        match self {
            Self::Held(bytes) => first(bytes) == Some(b'['),
            Self::Spooled(spool) => {
                spool.beginning(LEADING).is_ok_and(|begun| first(&begun) == Some(b'['))
            }
        }
    }

    /// What the messages of a long batch say of themselves.
    pub(crate) fn heads(&mut self) -> Vec<Head> {
        match self {
            Self::Held(bytes) => serde_json::from_slice(bytes).unwrap_or_default(),
            Self::Spooled(spool) => spool.read().unwrap_or_default(),
        }
    }

    /// Whether all of it is here.
    pub(crate) const fn is_whole(&self) -> bool {
        match self {
            Self::Held(_) => true,
            Self::Spooled(spool) => spool.dropped == 0,
        }
    }

    /// Writes it as it came.
    pub(crate) fn write_to(&mut self, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Held(bytes) => to.write_all(bytes)?,
            Self::Spooled(spool) => {
                spool.file.seek(SeekFrom::Start(0))?;
                io::copy(&mut spool.file, to)?;
            }
        }
        to.flush()
    }
}

impl Spool {
    fn read<T: DeserializeOwned>(&mut self) -> Option<T> {
        self.file.seek(SeekFrom::Start(0)).ok()?;
        // Fails for a cut line, and for one that is no object.
        serde_json::from_reader(BufReader::new(&self.file)).ok()
    }

    /// Its first bytes.
    pub(crate) fn beginning(&mut self, bytes: u64) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut begun = Vec::new();
        (&self.file).take(bytes).read_to_end(&mut begun)?;
        Ok(begun)
    }
}

/// The first byte that says something.
fn first(line: &[u8]) -> Option<u8> {
    line.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

/// Cuts what comes in into lines.
#[derive(Debug)]
pub(crate) struct LineCutter {
    held: Vec<u8>,
    held_max: usize,
    spool: Option<Spool>,
}

impl LineCutter {
    /// Holds lines up to this length in memory.
    pub(crate) const fn new(held_max: usize) -> Self {
        Self { held: Vec::new(), held_max, spool: None }
    }

    /// Takes in some bytes and hands on every line that they complete.
    pub(crate) fn take(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(Line) -> io::Result<()>,
    ) -> io::Result<()> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) =
                bytes.split_at_checked(end.saturating_add(1)).unwrap_or((bytes, &[]));
            bytes = rest;
            self.put(line)?;
            if let Some(line) = self.finish() {
                each(line)?;
            }
        }
        self.put(bytes)
    }

    /// The line that was begun and not ended, when the stream has ended.
    pub(crate) fn finish(&mut self) -> Option<Line> {
        if let Some(spool) = self.spool.take() {
            return Some(Line::Spooled(spool));
        }
        let held = std::mem::take(&mut self.held);
        (!held.is_empty()).then_some(Line::Held(held))
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.spool.is_none() && self.held.len().saturating_add(bytes.len()) <= self.held_max {
            self.held.extend_from_slice(bytes);
            return Ok(());
        }
        if self.spool.is_none() {
            let mut file = nameless_file()?;
            let held = std::mem::take(&mut self.held);
            file.write_all(&held)?;
            self.spool = Some(Spool { file, length: held.len() as u64, dropped: 0 });
        }
        let Some(spool) = &mut self.spool else { return Ok(()) };
        let more = bytes.len() as u64;
        if spool.dropped > 0 || spool.length.saturating_add(more) > SPOOLED_MAX {
            spool.dropped = spool.dropped.saturating_add(more);
            return Ok(());
        }
        spool.file.write_all(bytes)?;
        spool.length = spool.length.saturating_add(more);
        Ok(())
    }
}

/// A file for this process alone, which ends with it.
fn nameless_file() -> io::Result<File> {
    let name = format!(".flyball-{}-{}", std::process::id(), clock::unique_nanos());
    let path = std::env::temp_dir().join(name);
    let file = crate::files::create_private(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&[u8]], held_max: usize) -> Vec<Vec<u8>> {
        let mut cutter = LineCutter::new(held_max);
        let mut lines = Vec::new();
        let mut keep = |mut line: Line| {
            let mut bytes = Vec::new();
            line.write_to(&mut bytes)?;
            assert_eq!(line.length(), bytes.len() as u64);
            lines.push(bytes);
            Ok(())
        };
        for piece in pieces {
            cutter.take(piece, &mut keep).unwrap();
        }
        if let Some(rest) = cutter.finish() {
            keep(rest).unwrap();
        }
        lines
    }

    #[test]
    fn lines_come_out_as_they_went_in_whatever_their_length() {
        for held_max in [0, 1, 3, 100] {
            let lines = cut(&[b"a\nbc", b"", b"defg\n\n", b"rest"], held_max);
            let expected: [&[u8]; 4] = [b"a\n", b"bcdefg\n", b"\n", b"rest"];
            assert_eq!(lines, expected, "{held_max}");
        }
    }

    #[test]
    fn a_long_line_says_who_it_is_without_being_held() {
        let text = format!(
            "{{\"params\":{{\"arguments\":{{\"x\":\"{}\"}},\"name\":\"t\"}},\"method\":\"tools/call\",\"id\":7}}\n",
            "y".repeat(5000)
        );
        let mut cutter = LineCutter::new(64);
        let mut heads = Vec::new();
        cutter
            .take(text.as_bytes(), |mut line| {
                assert!(matches!(line, Line::Spooled(_)) && line.is_whole());
                heads.extend(line.head());
                Ok(())
            })
            .unwrap();
        let [head] = heads.as_slice() else { panic!("one line") };
        assert_eq!(head.method.as_deref(), Some("tools/call"));
        assert_eq!(head.id, Some(Value::from(7)));
        assert!(head.params.is_some());
    }

    #[test]
    fn parameters_of_any_kind_are_passed_over() {
        let kinds = ["7", "-7", "7.5", "\"x\"", "null", "true", "[1,{}]", "{\"requestId\":3}"];
        for kind in kinds {
            let text = format!(r#"{{"id":1,"params":{kind},"method":"m"}}"#);
            let head = Line::Held(text.into()).head().unwrap_or_else(|| panic!("{kind}"));
            assert_eq!(head.method.as_deref(), Some("m"));
        }
    }

    #[test]
    fn what_is_no_object_has_no_head() {
        for text in ["[1]", "", "nonsense", "{\"id\":"] {
            assert!(Line::Held(text.into()).head().is_none(), "{text}");
        }
    }
}
