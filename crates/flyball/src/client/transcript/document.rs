//! JSON documents of any size, taken apart on the way: the elements of the lists that hold records,
//! and the other members, one by one. Nothing larger than one of them is held.

use super::format::Kept;

/// The longest record that is kept.
const RECORD_MAX: usize = 8 * 1024 * 1024;
/// How much memory is kept after a short one.
const KEPT: usize = 256 * 1024;
/// How deep lists that hold records may stand.
const DEPTH_MAX: usize = 16;

/// What comes out of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// A record, or a member that is none: its bytes, and the list it stands in or its name.
    Value { list: &'a str, bytes: &'a [u8] },
    /// A value that is too long.
    Overlong,
    /// A document begins.
    Begin,
    /// What stands here is no JSON.
    Broken,
}

/// A place inside the document that was entered.
#[derive(Debug)]
enum Level {
    /// An object: the name of the member at hand, and what is expected next.
    Object { name: String, next: Next },
    /// A list of this name.
    List { name: String, kept: Kept },
}

/// What may come next in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Name,
    Colon,
    Value,
    Comma,
}

/// What is being read.
#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Between values.
    Between,
    /// A member's name.
    Name { escaped: bool },
    /// A value that is kept: how deep it is nested, and whether inside a text.
    Value { depth: usize, text: bool, escaped: bool },
    /// Something that is no JSON; until a line begins like a document.
    Lost { line_begins: bool },
}

/// Takes documents apart.
#[derive(Debug)]
pub(crate) struct Documents {
    lists: &'static [(&'static str, Kept)],
    levels: Vec<Level>,
    state: State,
    value: Vec<u8>,
    overlong: bool,
}

impl Documents {
    /// The lists that hold records, by name; the empty name is a list that is the document.
    pub(crate) fn new(lists: &'static [(&'static str, Kept)]) -> Self {
        let (levels, value) = (Vec::new(), Vec::new());
        Self { lists, levels, state: State::Between, value, overlong: false }
    }

    /// Takes more bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Piece<'_>)) {
        let mut rest = bytes;
        while let Some((&byte, behind)) = rest.split_first() {
            if let State::Value { text: true, escaped: false, .. } = self.state {
                // Most bytes are the inside of a long text.
                let plain = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                if plain > 0 {
                    let (inside, behind) = rest.split_at(plain);
                    self.keep(inside);
                    rest = behind;
                    continue;
                }
            }
            rest = behind;
            self.byte(byte, &mut each);
        }
    }

    /// There is no more: whether a document was cut off.
    pub(crate) fn end(&mut self, mut each: impl FnMut(Piece<'_>)) {
        if !self.levels.is_empty() && !matches!(self.state, State::Lost { .. }) {
            each(Piece::Broken);
        }
        self.levels.clear();
        self.state = State::Between;
    }

    fn byte(&mut self, byte: u8, each: &mut impl FnMut(Piece<'_>)) {
        match &mut self.state {
            State::Between => self.between(byte, each),
            State::Name { escaped } => match (*escaped, byte) {
                (false, b'"') => self.named(each),
                (was, _) => {
                    *escaped = !was && byte == b'\\';
                    self.keep(&[byte]);
                }
            },
            State::Value { depth, text, escaped } => {
                let mut over = false;
                match (*text, *escaped, byte) {
                    (true, true, _) => *escaped = false,
                    (true, false, b'\\') => *escaped = true,
                    (true, false, b'"') => {
                        *text = false;
                        over = *depth == 0;
                    }
                    (false, _, b'"') => *text = true,
                    (false, _, b'{' | b'[') => *depth += 1,
                    (false, _, b'}' | b']' | b',' | b' ' | b'\n' | b'\r' | b'\t')
                        if *depth == 0 =>
                    {
                        self.whole(each);
                        return self.between(byte, each);
                    }
                    (false, _, b'}' | b']') => {
                        *depth -= 1;
                        over = *depth == 0;
                    }
                    _ => {}
                }
                self.keep(&[byte]);
                if over {
                    self.whole(each);
                }
            }
            State::Lost { line_begins } => {
                let resumes = *line_begins && matches!(byte, b'{' | b'[');
                *line_begins = byte == b'\n';
                if resumes {
                    self.state = State::Between;
                    self.between(byte, each);
                }
            }
        }
    }

    /// A byte that is in no value.
    fn between(&mut self, byte: u8, each: &mut impl FnMut(Piece<'_>)) {
        if byte.is_ascii_whitespace() {
            return;
        }
        let depth = self.levels.len();
        match (self.levels.last_mut(), byte) {
            (None, b'{') => {
                each(Piece::Begin);
                self.enter_object();
            }
            (None, b'[') => {
                each(Piece::Begin);
                let kept = self.kept("").unwrap_or(Kept::Records);
                self.levels.push(Level::List { name: String::new(), kept });
            }
            (Some(Level::Object { next, .. }), b'"') if *next == Next::Name => {
                self.state = State::Name { escaped: false };
                self.value.clear();
            }
            (Some(Level::Object { next, .. }), b':') if *next == Next::Colon => *next = Next::Value,
            (Some(Level::Object { next, .. }), b',') if *next == Next::Comma => *next = Next::Name,
            (Some(Level::Object { next, .. }), b'}') if *next != Next::Value => self.leave(),
            (Some(Level::Object { name, next }), _) if *next == Next::Value => {
                *next = Next::Comma;
                let list = if byte == b'[' && depth < DEPTH_MAX {
                    self.lists.iter().find(|(list, _)| *list == name.as_str())
                } else {
                    None
                };
                match list {
                    Some((name, kept)) => {
                        let name = (*name).to_owned();
                        self.levels.push(Level::List { name, kept: *kept });
                    }
                    None => self.begin_value(byte, each),
                }
            }
            (Some(Level::List { .. }), b',') => {}
            (Some(Level::List { .. }), b']') => self.leave(),
            (Some(Level::List { kept: Kept::Lists, .. }), b'{') if depth < DEPTH_MAX => {
                self.enter_object();
            }
            (Some(Level::List { .. }), _) => self.begin_value(byte, each),
            (Some(Level::Object { .. }) | None, _) => self.lose(byte, each),
        }
    }

    fn kept(&self, name: &str) -> Option<Kept> {
        self.lists.iter().find(|(list, _)| *list == name).map(|(_, kept)| *kept)
    }

    fn enter_object(&mut self) {
        self.levels.push(Level::Object { name: String::new(), next: Next::Name });
    }

    fn leave(&mut self) {
        self.levels.pop();
    }

    fn begin_value(&mut self, byte: u8, each: &mut impl FnMut(Piece<'_>)) {
        let (depth, text) = match byte {
            b'{' | b'[' => (1, false),
            b'"' => (0, true),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => (0, false),
            _ => return self.lose(byte, each),
        };
        self.value.clear();
        self.keep(&[byte]);
        self.state = State::Value { depth, text, escaped: false };
    }

    fn lose(&mut self, byte: u8, each: &mut impl FnMut(Piece<'_>)) {
        self.levels.clear();
        self.state = State::Lost { line_begins: byte == b'\n' };
        each(Piece::Broken);
    }

    /// A member's name is whole.
    fn named(&mut self, each: &mut impl FnMut(Piece<'_>)) {
        self.state = State::Between;
        let read = std::str::from_utf8(&self.value).ok().map(str::to_owned);
        if let (Some(Level::Object { name, next }), Some(read)) = (self.levels.last_mut(), read) {
            *name = read;
            *next = Next::Colon;
        } else {
            self.lose(b'"', each);
        }
        self.tidy();
    }

    /// A value is whole.
    fn whole(&mut self, each: &mut impl FnMut(Piece<'_>)) {
        self.state = State::Between;
        let list = match self.levels.last() {
            Some(Level::Object { name, .. } | Level::List { name, .. }) => name.as_str(),
            None => "",
        };
        each(if self.overlong {
            Piece::Overlong
        } else {
            Piece::Value { list, bytes: &self.value }
        });
        self.tidy();
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = RECORD_MAX.saturating_sub(self.value.len());
        self.overlong |= bytes.len() > room;
        self.value.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or(&[]));
    }

    fn tidy(&mut self) {
        self.value.clear();
        self.value.shrink_to(KEPT);
        self.overlong = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LISTS: &[(&str, Kept)] =
        &[("outer", Kept::Lists), ("records", Kept::Records), ("", Kept::Records)];

    fn pieces(parts: &[&[u8]]) -> Vec<String> {
        let mut documents = Documents::new(LISTS);
        let mut out = Vec::new();
        let mut take = |piece: Piece<'_>| {
            out.push(match piece {
                Piece::Value { list, bytes } => {
                    format!("{list}={}", String::from_utf8_lossy(bytes))
                }
                other @ (Piece::Overlong | Piece::Begin | Piece::Broken) => format!("{other:?}"),
            });
        };
        for part in parts {
            documents.feed(part, &mut take);
        }
        documents.end(&mut take);
        out
    }

    #[test]
    fn records_and_members_come_out_however_the_bytes_are_split() {
        let text = br#" {"id": "a\"b", "records" : [ {"x":[1,"]"]} , 7, "s" ], "n":1,
            "outer":[{"name":"y","records":[{"z":{}}]}],"last":null}
            [1,{"records":[2]}]"#;
        let whole = [
            "Begin",
            r#"id="a\"b""#,
            r#"records={"x":[1,"]"]}"#,
            "records=7",
            r#"records="s""#,
            "n=1",
            r#"name="y""#,
            r#"records={"z":{}}"#,
            "last=null",
            "Begin",
            "=1",
            r#"={"records":[2]}"#,
        ];
        for cut in 0..=text.len() {
            let (first, second) = text.split_at(cut);
            assert_eq!(pieces(&[first, second]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_json_is_said_once_and_the_next_document_is_read() {
        assert_eq!(pieces(&[b"nonsense\nmore\n{\"n\":1}"]), ["Broken", "Begin", "n=1"]);
        assert_eq!(pieces(&[b"{\"n\" 1}\n{\"n\":2}"]), ["Begin", "Broken", "Begin", "n=2"]);
        assert_eq!(
            pieces(&[b"{\"records\":[{\"a\":1},{\"b\""]),
            ["Begin", r#"records={"a":1}"#, "Broken"]
        );
        assert_eq!(pieces(&[b""]), [""; 0]);
    }

    #[test]
    fn a_value_without_end_is_not_held() {
        let mut documents = Documents::new(LISTS);
        let mut said = Vec::new();
        documents.feed(b"{\"records\":[\"", |_| {});
        for _ in 0..9 {
            documents.feed(&vec![b'x'; 1024 * 1024], |_| {});
            assert!(documents.value.len() <= RECORD_MAX);
        }
        documents.feed(b"\",{}]}", |piece| said.push(piece == Piece::Overlong));
        assert_eq!(said, [true, false]);
        assert!(documents.value.capacity() <= KEPT);
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same(bytes in "[\\[\\]{}\",:a0 \\\\\n]{0,80}", cut in 0usize..80) {
            let bytes = bytes.as_bytes();
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(pieces(&[first, second]), pieces(&[bytes]));
        }
    }
}
